"""What runs in place of a native program until dapeer debugs it."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
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


@needs_ptrace
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace: apt-get install strace")
def test_where_linux_asks_it_lets_dapeer_alone_trace_it_while_it_waits(tmp_path: Path) -> None:
    (tmp_path / "strict.py").write_text(STRICT)
    told: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "calls"))
        listening.listen()

        def answer() -> None:
            """Take the call of the stand-in, and let it go on."""
            connection, _ = listening.accept()
            with connection:
                told.append(connection.recv(4096))
                connection.sendall(b"\n")

        thread = threading.Thread(target=answer)
        thread.start()
        command = [
            "strace",
            "-e",
            "trace=prctl,connect,execve",
            "-o",
            "trace",
            sys.executable,
            "-I",
            "-S",
        ]
        options = [
            str(STAND_IN.parent),
            str(tmp_path / "calls"),
            "5",
            "",
            "/bin/echo",
            "echo",
            "ran",
        ]
        done = subprocess.run(
            [*command, "strict.py", *options],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        thread.join()
    trace = (tmp_path / "trace").read_text()
    calls = re.findall(
        r"^(?:connect|prctl\(PR_SET_PTRACER|execve\(\"/bin/echo)[^,]*(?:, \d+)?",
        trace,
        re.MULTILINE,
    )
    assert calls == [
        calls[0], f"prctl(PR_SET_PTRACER, {os.getpid()}", "prctl(PR_SET_PTRACER, 0", calls[-1],
    ]  # fmt: skip
    assert (calls[0][:7], calls[-1][:7]) == ("connect", "execve(")
    assert (done.stdout, told) == ("ran\n", [b'{"command": ["echo", "ran"]}\n'])
