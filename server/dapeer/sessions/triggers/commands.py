"""Runs a command to its end, with all that it has started."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

import anyio

from dapeer.adapters.process.child_process import ChildProcess
from dapeer.adapters.process.owned_process import Processes
from dapeer.base.errors import DapeerError
from dapeer.base.system.environment import of_starter

OwnProcesses = Callable[[], AbstractAsyncContextManager[Processes]]
"""Opens a set of processes that end with the block, or with dapeer."""
READ_BYTES = 65536
"""Bytes that are read at once."""
SECONDS_AFTER_EXIT = 0.3
"""Seconds after a command's end in which its output arrives; its children may hold the pipe."""


class CannotRun(DapeerError):
    """A command cannot be started, and why, as a clause."""


async def run_command(
    own: OwnProcesses,
    command: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    printed: Callable[[bytes], object],
) -> int:
    """Run a command, pass all that it prints to `printed` as it comes, and return its exit code.

    Standard output and errors are one stream; its input is empty. `own` makes the set of processes that it belongs to; `env` is added to
    the starter's environment. If the caller is cancelled, the command is killed with all that it has started.

    Raises:
        CannotRun: There is no such command or folder.
    """
    async with own() as processes:
        try:
            child = await ChildProcess.start(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env={**of_starter(), **env, **processes.mark},
            )
        except OSError as error:
            raise CannotRun(f"{error.filename or command[0]}: {error.strerror}") from error
        processes.add(child.pid)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_read, child, printed)
                await child.wait()
                tasks.cancel_scope.deadline = anyio.current_time() + SECONDS_AFTER_EXIT
            return await child.wait()
        finally:
            child.close_pipes()


async def _read(child: ChildProcess, printed: Callable[[bytes], object]) -> None:
    """Pass what a command prints to `printed`, until its output is closed."""
    assert child.stdout is not None  # noqa: S101 - it is a pipe
    while piece := await child.stdout.read(READ_BYTES):
        printed(piece)
