"""When a process ends, and by which signal."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

from dapeer.base.system import process_end
from tests.processes import LIMIT

Run: TypeAlias = Callable[[str], subprocess.Popen[bytes]]

pytestmark = pytest.mark.skipif(
    not hasattr(os, "pidfd_open"), reason="needs descriptors of processes: Linux 5.3"
)


@pytest.fixture
def python() -> Iterator[Run]:
    """Return what runs statements in a process of their own."""
    with contextlib.ExitStack() as stack:

        def run(code: str) -> subprocess.Popen[bytes]:
            command = (sys.executable, "-c", code)
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            return stack.enter_context(process)

        yield run


@pytest.mark.parametrize(
    ("command", "killer"),
    [("os.kill(os.getpid(), 9)", "SIGKILL"), ("os.abort()", "SIGABRT"), ("sys.exit(9)", None)],
)
async def test_the_signal_that_ends_a_process_is_known_before_and_after_its_burial(
    command: str, killer: str | None, python: Run
) -> None:
    code = f"import os, sys\nsys.stdin.read()\n{command}"
    process = python(code)
    file = process_end.open_pidfd(process.pid)
    assert file is not None
    assert process.stdin
    async with asyncio.timeout(LIMIT):
        waiting = asyncio.create_task(process_end.wait_for_end(process.pid, file))
        process.stdin.close()
        assert await waiting == killer
    process.wait(LIMIT)
    assert process_end.deadly_signal(process.pid, file) in (killer, None)
    os.close(file)


async def test_a_process_whose_first_thread_has_ended_lives_on(python: Run) -> None:
    code = (
        "import ctypes, os, sys, threading\n"
        "def rest():\n    sys.stdin.read()\n    os._exit(3)\n"
        "threading.Thread(target=rest).start()\nprint(flush=True)\nctypes.CDLL(None).pthread_exit(0)"
    )
    process = python(code)
    file = process_end.open_pidfd(process.pid)
    assert file is not None
    assert process.stdin
    assert process.stdout
    async with asyncio.timeout(LIMIT):
        process.stdout.readline()
        waiting = asyncio.create_task(process_end.wait_for_end(process.pid, file))
        os.kill(process.pid, 0)
        process.stdin.close()
        assert await waiting is None
    assert process.wait(LIMIT) == 3
    os.close(file)


async def test_the_signal_that_kills_a_process_is_known_from_the_moment_it_is_sent(
    python: Run,
) -> None:
    process = python("print(flush=True)\ninput()")
    file = process_end.open_pidfd(process.pid)
    assert file is not None
    assert process.stdout
    process.stdout.readline()
    assert process_end.deadly_signal(process.pid, file) is None
    os.kill(process.pid, signal.SIGKILL)
    assert process_end.deadly_signal(process.pid, file) == "SIGKILL"
    os.close(file)


async def test_who_has_gone_is_not_waited_for(python: Run) -> None:
    process = python("")
    file = process_end.open_pidfd(process.pid)
    assert file is not None
    process.wait(LIMIT)
    async with asyncio.timeout(LIMIT):
        assert await process_end.wait_for_end(process.pid, file) is None
    os.close(file)
