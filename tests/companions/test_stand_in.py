"""What runs in place of a native program until dapeer debugs it."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dapeer.launch.other_languages import STAND_IN
from tests.e2e.running import needs_ptrace

STRICT = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import stand_in
stand_in.YAMA = __file__
stand_in.main()
"""


@contextmanager
def answering(path: Path) -> Generator[list[bytes]]:
    """Listen at a Unix socket, take one call there, and let the caller go on; give what it has said."""
    told: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                told.append(connection.recv(4096))
                connection.sendall(b"\n")

        thread = threading.Thread(target=answer)
        thread.start()
        yield told
        thread.join()


@needs_ptrace
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace: apt-get install strace")
def test_where_linux_asks_it_lets_dapeer_alone_trace_it_while_it_waits(tmp_path: Path) -> None:
    (tmp_path / "strict.py").write_text(STRICT)
    command = ["strace", "-e", "trace=prctl,connect,execve", "-o", "trace", sys.executable]
    options = [str(STAND_IN.parent), str(tmp_path / "calls"), "5", "", "/bin/echo", "echo", "ran"]
    with answering(tmp_path / "calls") as told:
        done = subprocess.run(
            [*command, "-I", "-S", "strict.py", *options],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
    calls = re.findall(
        r"^(?:connect|prctl\(PR_SET_PTRACER|execve\(\"/bin/echo)[^,]*(?:, \d+)?",
        (tmp_path / "trace").read_text(),
        re.MULTILINE,
    )
    assert calls[1:-1] == [f"prctl(PR_SET_PTRACER, {os.getpid()}", "prctl(PR_SET_PTRACER, 0"]
    assert (calls[0][:7], calls[-1][:7]) == ("connect", "execve(")
    assert (done.stdout, told) == ("ran\n", [b'{"command": ["echo", "ran"]}\n'])
