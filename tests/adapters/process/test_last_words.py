"""What is said to the debugger of an attached program if dapeer is killed: that its breakpoints go first."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from dapeer.companions.process import last_words
from tests.processes import LIMIT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="passes a descriptor on")

REMOVAL: tuple[str, dict[str, object]] = (
    "setBreakpoints",
    {"source": {"path": "/w/a.go"}, "breakpoints": []},
)


def speaker(connection: socket.socket, *lines: str) -> subprocess.Popen[bytes]:
    """Start what speaks at a connection once its client has died, which has said these lines by then."""
    # So the client's event loop has it, for all who hold the connection.
    connection.settimeout(0)
    descriptor = connection.fileno()
    program = str(Path(last_words.__file__))
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", program, str(descriptor), str(os.getpid())],
        stdin=subprocess.PIPE,
        pass_fds=[descriptor],
    )
    assert process.stdin
    process.stdin.write("".join(lines).encode())
    process.stdin.close()
    connection.close()
    return process


def test_a_debugger_removes_breakpoints_once_its_client_has_died() -> None:
    client, debugger = socket.socketpair()
    debugger.settimeout(LIMIT)
    with debugger, speaker(client, "[]\n", f"{json.dumps([REMOVAL])}\n", "[[") as process:
        said = debugger.recv(65536)
        request = json.loads(said.partition(b"\r\n\r\n")[2])
        assert (request["command"], request["arguments"]) == REMOVAL
        # The answer may take long.
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        # The client had read the beginning of a message.
        debugger.sendall(b'"stopped"}Content-Length: 99\r\n\r\n{"request_seq":1}')
        debugger.sendall(b'{"request_seq":%d}' % request["seq"])
        # The connection ends, by which the debugger detaches.
        assert debugger.recv(65536) == b""
        assert process.wait(LIMIT) == 0


def test_nothing_is_said_where_no_breakpoint_is_set() -> None:
    client, debugger = socket.socketpair()
    debugger.settimeout(LIMIT)
    with debugger, speaker(client, f"{json.dumps([REMOVAL])}\n", "[]\n") as process:
        assert debugger.recv(65536) == b""
        assert process.wait(LIMIT) == 0
