"""Connections of other processes that send at once: by a program of ours, and one of a user without rights."""

import subprocess
import sys

import pytest

from dapeer.adapters.process import children
from tests import second_user
from tests.processes import LIMIT
from tests.sockets import needs_tables

HASTENS = """
import ctypes, encodings.ascii, encodings.idna, os, socket, sys
from dapeer.adapters.process.children import set_nodelay_between

user = int(sys.argv[1])
if user:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    # PR_SET_DUMPABLE: as a program is that this user has started.
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
us = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
program = os.fork()
if not program:
    alone = socket.create_server(("127.0.0.1", 0))
    sockets = [socket.create_connection(("127.0.0.1", s.getsockname()[1])) for s in (us, alone)]
    other = alone.accept()
    sockets[0].send(b"connected")
    sockets[0].recv(1)
    print([bool(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)) for s in sockets], flush=True)
    os._exit(0)
connection = us.accept()[0]
connection.recv(9)
print(set_nodelay_between(program, [os.getpid()]), flush=True)
connection.send(b".")
os.waitpid(program, 0)
"""

pytestmark = pytest.mark.skipif(
    bool(children.why_not_allowed()),
    reason="the system does not let a process reach into its child: needs Linux 5.6 and kernel.yama.ptrace_scope below 2",
)


@needs_tables
@pytest.mark.parametrize("user", [0, pytest.param(second_user.UID, marks=second_user.needed)])
def test_only_the_connection_to_the_named_process_sends_at_once(user: int) -> None:
    command = [sys.executable, "-c", HASTENS, str(user)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
    assert done.stdout == "1\n[True, False]\n"


def test_a_connection_that_was_closed_meanwhile_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def connected(*_: object) -> dict[int, int]:
        return {1: 1000, 2: 0}

    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        monkeypatch.setattr(children, "sockets_connected_to", connected)
        assert children.set_nodelay_between(program.pid, []) == 0
