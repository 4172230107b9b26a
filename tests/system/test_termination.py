"""A process that SIGTERM or SIGINT ends, whatever its first thread does as the signal arrives."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import LIMIT

PROGRAM = """
import os, pathlib, signal, sys
from dapeer.base.system.termination import end_at_signals, removing

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), getattr(signal, sys.argv[2]))

end_at_signals()
with removing(pathlib.Path(sys.argv[1])):
    Finalized()
    while True:
        signal.pause()
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_during_a_finalizer_ends_the_process_and_removes_its_files(
    name: str, tmp_path: Path
) -> None:
    file = tmp_path / "removed.sock"
    file.touch()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(file), name], timeout=LIMIT, check=False
    )
    assert done.returncode == 0
    assert not file.exists()


OTHER_SIGNAL = """
import os, signal
from dapeer.base.system.termination import end_at_signals

end_at_signals()
signal.signal(signal.SIGUSR1, lambda *_: print("handled", flush=True))
os.kill(os.getpid(), signal.SIGUSR1)
input()
print("runs", flush=True)
os.kill(os.getpid(), signal.SIGTERM)
signal.pause()
"""


def test_a_signal_that_others_handle_does_not_end_the_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OTHER_SIGNAL],
        input="\n",
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("handled\nruns\n", 0)
