"""What becomes of an attached program is read from its process."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from dapeer.adapters.choice.choice import check_process
from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.base.errors import ArgumentError
from dapeer.base.system.process_table import pending_signals
from dapeer.sessions.core.direct import RUNS_ON, AttachedProgram
from tests.processes import LIMIT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "1000"]) as one:
        yield one
        one.kill()


async def test_a_program_runs_on_is_stopped_or_has_ended_by_a_signal(
    process: subprocess.Popen[bytes],
) -> None:
    program = AttachedProgram(process.pid)
    assert program.fate() == RUNS_ON
    stop(process)
    assert f"stopped (state T): `kill -CONT {process.pid}`" in program.fate()
    assert not pending_signals(process.pid)
    process.send_signal(signal.SIGTRAP)
    assert pending_signals(process.pid) == 1 << (signal.SIGTRAP - 1)
    process.send_signal(signal.SIGCONT)
    assert await program.wait_for_end(LIMIT)
    assert program.fate() == "the program has ended, killed by SIGTRAP"
    program.close()


@pytest.mark.skipif(shutil.which("gdb") is None, reason="needs gdb")
def test_a_stopped_process_is_refused_where_the_debugger_needs_its_code(
    process: subprocess.Popen[bytes],
) -> None:
    stop(process)
    with pytest.raises(ArgumentError, match=r"is stopped \(state T"):
        check_process(load_all(shipped())["debugpy"], process.pid)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a process, and wait until it has stopped."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
