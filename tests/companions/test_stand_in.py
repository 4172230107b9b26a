"""What runs in place of a program until dapeer debugs it."""

import importlib
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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


COMMAND = [sys.executable, "-I", "-S", str(STAND_IN)]


@contextmanager
def answering(path: Path, answer: bytes = b"{}\n") -> Generator[list[bytes]]:
    """Listen at a Unix socket, take one call there, and answer it; give what the caller has said."""
    told: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()

        def take() -> None:
            connection, _ = listening.accept()
            with connection:
                told.append(connection.makefile("rb").readline())
                connection.sendall(answer)

        thread = threading.Thread(target=take)
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
    assert done.stdout == "ran\n"
    said = json.loads(told[0])
    assert (said["command"], said["executable"]) == (["echo", "ran"], "/bin/echo")
    assert said["folder"] == str(tmp_path)


def test_it_becomes_the_program_with_the_environment_that_the_answer_changes(
    tmp_path: Path,
) -> None:
    changes = b'{"environment": {"ADDED": "\\udcfe b", "CHANGED": "new", "REMOVED": null}}\n'
    with answering(tmp_path / "calls", changes) as told:
        done = subprocess.run(
            [*COMMAND, str(tmp_path / "calls"), "5", "", "/usr/bin/env", "env"],
            env={"KEPT": "\udcff", "CHANGED": "old", "REMOVED": "1"}, stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
    assert sorted(done.stdout.splitlines()) == [b"ADDED=\xfe b", b"CHANGED=new", b"KEPT=\xff"]
    assert json.loads(told[0])["environment"]["CHANGED"] == "old"


@pytest.mark.parametrize("answer", [b"\n", b"", b"{}\n", b'{"environment": {"A": 1}}\n'])
def test_an_answer_that_says_nothing_changes_nothing(tmp_path: Path, answer: bytes) -> None:
    with answering(tmp_path / "calls", answer):
        done = subprocess.run(
            [*COMMAND, str(tmp_path / "calls"), "5", "", "/usr/bin/env", "env"],
            env={"KEPT": "1"}, stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
    assert done.stdout == b"KEPT=1\n"


@pytest.mark.parametrize(
    ("place", "length"), [(2**64 - 1, 0), (64, 2**63 - 1), (64, 2**64 - 1), (2**63 - 1, 0)]
)
def test_a_malformed_program_is_started_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int, length: int
) -> None:
    children: Any = importlib.import_module("dapeer_debuggee.process.children")
    monkeypatch.setattr(children, "setting", {"names": "", "native": True})
    path = tmp_path / "malformed"
    head = struct.pack("<5sB34xQ10xHHH", b"\x7fELF\x02", 1, place, 64, 0, 0)
    path.write_bytes(head + struct.pack("<24xQQ24x", 0, length))
    assert not children.gets_stand_in(bytes(path))
