"""Keep debugpy's ports for the user who debugs: any other user of the machine could run code by them.

The adapter listens at three ports of this machine: for the debug server in the program, for its own launcher, and for those who
debug child processes. At the last one it takes whatever its first client may ask for, so `attach` with `processId` and `debugpyArgs` runs
code in any process of the user. And the token by which the server in the program proves who it is stands on a command line.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from dapeer.adapters.launchers.debugpy_launcher import NO_TOKEN
from dapeer.errors import Stranger
from dapeer.system.ownership import check_peer, peer_processes, tells


def admit_only_us(sockets: Any, servers: Any) -> None:
    """Make debugpy hang up on connections of other users of the machine.

    A process that the program has started, and that has become another user, is none of these.

    Raises:
        AttributeError: A module is not the one we know, and both are left as they were.
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
    """Whether a connection that was accepted comes from no other user of the machine."""
    try:
        host = str(connection.getpeername()[0]).partition("%")[0]
        check_peer(connection, host, here=ipaddress.ip_address(host).is_loopback)
    except (OSError, Stranger):
        return False
    return True


def is_among(connection: socket.socket, pids: list[int]) -> bool:
    """Whether a connection comes from a process in the system's session of one of these; there one is by birth only."""
    try:
        ours = {os.getsid(pid) for pid in pids if Path(f"/proc/{pid}").exists()}
        return any(os.getsid(pid) in ours for pid in peer_processes(connection))
    except OSError:
        return False


def show_no_token(adapter: Any, launchers: Any, servers: Any) -> None:
    """Have no token on command lines, which all users can read, where connections are known by their user.

    The adapter's own one is made after this, so it is forgotten when the first port is opened.

    Raises:
        AttributeError: A module is not the one we know, and all are left as they were.
    """
    stock: Callable[..., Any] = servers.serve
    known = (adapter.access_token, launchers.adapter.access_token, launchers.spawn_debuggee)
    if not tells() or known[:2] != (None, None):
        return

    def serve(*arguments: Any, **named: Any) -> Any:
        adapter.access_token = None
        return stock(*arguments, **named)

    servers.serve = serve
    # A launcher wants a text.
    launchers.adapter = SimpleNamespace(access_token=NO_TOKEN)


def serve_children_only(client_class: Any) -> None:
    """Make a client that connects to the port debug child processes of the program, and nothing else.

    Raises:
        AttributeError: The class is not the one we know, and is left as it was.
    """
    launch: Callable[..., Any] = client_class.launch_request
    attach: Callable[..., Any] = client_class.attach_request

    def launch_request(self: Any, request: Any) -> Any:
        if not self.using_stdio:
            raise request.isnt_valid("Only child processes are debugged here")
        return launch(self, request)

    def attach_request(self: Any, request: Any) -> Any:
        if not self.using_stdio and "subProcessId" not in request.arguments:
            raise request.isnt_valid("Only child processes are debugged here")
        return attach(self, request)

    client_class.launch_request = launch_request
    client_class.attach_request = attach_request
