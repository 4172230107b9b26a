"""Programs that run already, for a debugger to attach to."""

import asyncio
import os
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from dapeer.adapters.process import streams
from dapeer.base.system.process_table import ptrace_scope


def free_port() -> int:
    return streams.free_port("127.0.0.1")


@asynccontextmanager
async def started(*command: str, says: bytes = b"") -> AsyncGenerator[Process]:
    """Run a program of ours until the test is over; wait until a line of its stderr `says` that it listens."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE if says else None,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        if process.stderr is not None:
            while says not in await process.stderr.readline():
                pass
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@contextmanager
def not_of_the_event_loop(*command: str) -> Generator[subprocess.Popen[bytes]]:
    """Run a program of ours whose end no event loop waits for.

    Since Python 3.12 an event loop waits in its thread for a child that a debugger holds, and so for that debugger.
    """
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@asynccontextmanager
async def listening(path: Path) -> AsyncGenerator[tuple[Process, int]]:
    """Run a Python program that waits for a debugger at a port."""
    port = free_port()
    command = [sys.executable, "-Xfrozen_modules=off", "-m", "debugpy"]
    command += ["--listen", f"127.0.0.1:{port}", str(path)]
    async with started(*command) as process:
        assert process.stdout is not None
        # It listens before it runs the program, which says so by its first line.
        await process.stdout.readline()
        yield process, port


def go_built(source: Path, folder: Path) -> str:
    """Compile a Go program for a debugger; return its path."""
    target = folder / source.stem
    subprocess.run(["go", "build", "-gcflags=all=-N -l", "-o", target, source], check=True)
    return str(target)


def ptrace_allowed() -> bool:
    return os.geteuid() == 0 or ptrace_scope() == 0


needs_ptrace = pytest.mark.skipif(
    not ptrace_allowed(), reason="needs ptrace: sysctl kernel.yama.ptrace_scope=0"
)
