"""A second user of this machine, without any rights: programs of theirs."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pytest

UID = 65534

needed = pytest.mark.skipif(
    os.geteuid() != 0, reason="plays a second user of the machine: run the tests as root"
)

# Becomes the user when the interpreter is loaded, whose files may be out of their reach.
PRELUDE = f"""
import encodings.idna, json, os, socket, sys
os.setgroups([])
os.setgid({UID})
os.setuid({UID})
"""


@contextmanager
def runs(code: str, *arguments: object) -> Generator["subprocess.Popen[str]"]:
    """Run Python code as the second user, and end it."""
    command = [sys.executable, "-I", "-c", PRELUDE + code, *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def folder_for_all() -> Generator[Path]:
    """Make a folder that every user may write to; those of pytest are ours only."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


def says(process: "subprocess.Popen[str]") -> str:
    """Wait for the next line that it prints."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "the second user's program has failed"
    return line.strip()


def go_on(process: "subprocess.Popen[str]") -> None:
    """Have it pass its next `sys.stdin.readline()`."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


THIEF = """
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print(s.getsockname()[1], flush=True)
got = b""
while True:
    c, _ = s.accept()
    while data := c.recv(65536):
        got += data
    print(repr(got), flush=True)
"""
"""Listens at a port (0: any), tells which, and what has been sent there when a connection ends."""


# Says how much it is told.
HEARS = """
kind, where = sys.argv[1:3]
server = socket.socket(socket.AF_UNIX if kind == "unix" else socket.AF_INET)
server.bind(where if kind == "unix" else ("127.0.0.1", 0))
if kind == "unix":
    os.chmod(where, 0o777)
server.listen()
print(where if kind == "unix" else "127.0.0.1:%d" % server.getsockname()[1], flush=True)
while True:
    connection, _ = server.accept()
    print(len(connection.recv(100)), flush=True)
"""


@contextmanager
def hears(
    kind: Literal["unix", "tcp"], where: object = ""
) -> Generator[tuple[str, "subprocess.Popen[str]"]]:
    """Listen as the second user; give the address, and what says how much each caller has told."""
    with runs(HEARS, kind, where) as process:
        yield says(process), process


INTRUDER = """
for port in map(int, sys.argv[1].split(",")):
    c = socket.create_connection(("127.0.0.1", port))
    body = json.dumps({"seq": 1, "type": "request", "command": "initialize", "arguments": {"adapterID": "x"}})
    try:
        c.sendall(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body.encode()))
        print(repr(c.recv(65536)), flush=True)
    except ConnectionError:
        print("refused", flush=True)
"""
"""Says something at ports, and tells for each what was answered; nothing, if it was hung up on."""
