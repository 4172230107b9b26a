"""The debugger of an attached program is never killed while it traces that."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from dapeer.adapters.process.owned_process import Reaper
from dapeer.base.system.process_table import tracer
from tests.processes import LIMIT, process_gone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

PROGRAM = """
import ctypes, time
PR_SET_PTRACER, ANY = 0x59616D61, -1
ctypes.CDLL(None).prctl(PR_SET_PTRACER, ANY, 0, 0, 0)
print("", flush=True)
time.sleep(1000)
"""
DEBUGGER = """
import ctypes, signal, sys, threading
_, pid, number = sys.argv
PTRACE_SEIZE = 0x4206
signal.signal(signal.SIGINT, lambda *_: ended.set())
ended = threading.Event()
if ctypes.CDLL(None, use_errno=True).ptrace(PTRACE_SEIZE, int(pid), None, None):
    sys.exit("ptrace: %d" % ctypes.get_errno())
print("", flush=True)
if int(number):
    ended.wait()
else:
    sys.stdin.read()
"""
"""It lets go of its program as it ends: at the end of its input, or at a signal only."""


@pytest.fixture
def program() -> Iterator[int]:
    """Return a process that others may trace, and check that it has outlived its debugger."""
    command = (sys.executable, "-c", PROGRAM)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        yield process.pid
        assert process.poll() is None
        process.kill()


def debugger(program: int, number: int) -> subprocess.Popen[bytes]:
    """Start a debugger, which traces a program by now."""
    process = subprocess.Popen(
        (sys.executable, "-c", DEBUGGER, str(program), str(number)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout
    process.stdout.readline()
    assert tracer(program) == process.pid
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, 0])
@pytest.mark.parametrize("whole", [True, False])
async def test_a_debugger_detaches_before_it_ends(
    program: int, number: int, *, whole: bool
) -> None:
    process, reaper = debugger(program, number), Reaper()
    reaper.watch_attached(process.pid, number)
    # Somebody has stopped it, which keeps it from hearing of anything.
    os.kill(process.pid, signal.SIGSTOP)
    assert process.stdin
    process.stdin.close()
    if whole:
        reaper.detach(process.pid)
    await reaper.aclose()
    async with asyncio.timeout(LIMIT):
        await process_gone(process.pid)
    assert process.wait() == 0
    assert tracer(program) == 0
    assert process.stdout
    process.stdout.close()
