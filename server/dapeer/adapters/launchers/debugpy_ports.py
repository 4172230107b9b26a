"""Close debugpy's ports to other users of the machine, who could run code through them.

The adapter listens at three local ports: for the debug server in the program, for its own launcher, and for
clients that debug child processes. The last one accepts every request: `attach` with `processId` and
`debugpyArgs` runs code in any process of the user. And the access token of the debug server is passed on a
command line, which all users can read.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from dapeer.adapters.launchers.debugpy_launching import NO_TOKEN
from dapeer.base.errors import Stranger
from dapeer.base.system.ownership import check_peer, peer_processes, tells


def admit_only_us(sockets: Any, servers: Any) -> None:
    """Make debugpy close connections of other users of the machine.

    A process that the program has started under another user is admitted.

    Raises:
        AttributeError: A module has another structure; both stay unchanged.
    """
    stock: Callable[..., socket.socket] = sockets.serve
    programs: Callable[[], list[Any]] = servers.connections

    def serve(
        name: str, handler: Callable[[socket.socket], Any], *rest: object, **named: object
    ) -> socket.socket:
        def admit(connection: socket.socket) -> None:
            pids = [os.getpid(), *(each.pid for each in programs() if each.pid)]
            if is_ours(connection) or (name == "Server" and is_among(connection, pids)):
                handler(connection)
            else:
                connection.close()

        return stock(name, admit, *rest, **named)

    sockets.serve = serve


def is_ours(connection: socket.socket) -> bool:
    """Whether an accepted connection comes from this user, or from another machine."""
    try:
        host = str(connection.getpeername()[0]).partition("%")[0]
        check_peer(connection, host, here=ipaddress.ip_address(host).is_loopback)
    except (OSError, Stranger):
        return False
    return True


def is_among(connection: socket.socket, pids: list[int]) -> bool:
    """Whether a connection comes from a process in the same POSIX session as one of these processes.

    A process is in a session only by descent, so no stranger can join one.
    """
    try:
        ours = {os.getsid(pid) for pid in pids if Path(f"/proc/{pid}").exists()}
        return any(os.getsid(pid) in ours for pid in peer_processes(connection))
    except OSError:
        return False


def show_no_token(adapter: Any, launchers: Any, servers: Any) -> None:
    """Pass no access token on command lines, where the system tells the user of a connection.

    The adapter creates its own token later, so that is dropped when the first port is opened.

    Raises:
        AttributeError: A module has another structure; all stay unchanged.
    """
    stock: Callable[..., Any] = servers.serve
    known = (adapter.access_token, launchers.adapter.access_token, launchers.spawn_debuggee)
    if not tells() or known[:2] != (None, None):
        return

    def serve(*arguments: Any, **named: Any) -> Any:
        adapter.access_token = None
        return stock(*arguments, **named)

    servers.serve = serve
    # The launcher needs a string.
    launchers.adapter = SimpleNamespace(access_token=NO_TOKEN)


def serve_children_only(client_class: Any) -> None:
    """Let clients that connect to the port debug only child processes of the program.

    Raises:
        AttributeError: The class has another structure; it stays unchanged.
    """
    launch: Callable[..., Any] = client_class.launch_request
    attach: Callable[..., Any] = client_class.attach_request

    def launch_request(self: Any, request: Any) -> Any:
        if not self.using_stdio:
            raise request.isnt_valid("This port serves only child processes of the program")
        return launch(self, request)

    def attach_request(self: Any, request: Any) -> Any:
        if not self.using_stdio and "subProcessId" not in request.arguments:
            raise request.isnt_valid("This port serves only child processes of the program")
        return attach(self, request)

    client_class.launch_request = launch_request
    client_class.attach_request = attach_request
