"""Close debugpy's ports to other users of the machine, who could run code through them.

The adapter listens at three local ports: for the debug server in the program, for its own launcher, and for
clients that debug child processes. The last one accepts every request: `attach` with `processId` and
`debugpyArgs` runs code in any process of the user. And the access token of the debug server is passed on a
command line, which all users can read.
"""

from __future__ import annotations

import importlib
import ipaddress
import os
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from dapeer.base.errors import ForeignListener
from dapeer.base.system.ownership import check_peer, peer_processes, reports_port_owners
from dapeer.companions.python.debugpy_launcher import patching
from dapeer.companions.python.debugpy_launching import NO_TOKEN

SERVE = "debugpy.common.sockets:serve"
SERVE_PROGRAMS = "debugpy.adapter.servers:serve"
LAUNCH = "debugpy.adapter.clients:Client.launch_request"
ATTACH = "debugpy.adapter.clients:Client.attach_request"

ADMITTED = patching.Row(
    "ports-for-us",
    "debugpy",
    "Other users of this machine can connect to debugpy's ports while a program is debugged.",
    replaces={SERVE: "name handler host port= backlog= timeout="},
    uses=("debugpy.adapter.servers:connections()",),
    secures=True,
)
CHILDREN_ONLY = patching.Row(
    "port-for-children",
    "debugpy",
    "Whoever can connect to debugpy's port for child processes can have it debug any process of yours.",
    replaces={LAUNCH: "self request", ATTACH: "self request"},
    secures=True,
)
NO_TOKEN_SHOWN = patching.Row(
    "no-token",
    "debugpy",
    "The access token of a debugged program is on a command line, which other users of this machine can read.",
    replaces={SERVE_PROGRAMS: "host= port="},
    uses=("debugpy.adapter:access_token", "debugpy.adapter.launchers:adapter"),
    secures=True,
)


@ADMITTED
def admit_only_us(patch: Any) -> None:
    """Patch debugpy so that its listening sockets close each connection of another user of the machine.

    On the port of debug servers, a process in the POSIX session of the adapter or of a debugged program is
    admitted, too: the program may have started it under another user. `patch` is this patch's `patching.Row`:
    it calls this function when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit: debugpy's function cannot be replaced; `Row.apply` reports that as a failure.
        ImportError: debugpy's adapter has no module `servers`; likewise.
    """
    programs: Callable[[], list[Any]] = importlib.import_module(
        "debugpy.adapter.servers"
    ).connections

    @patch.replace(SERVE)
    def serve(
        stock: Any, name: str, handler: Callable[..., Any], *rest: object, **named: object
    ) -> Any:
        """Do as debugpy's `serve`, with a handler that closes connections of other users.

        `name` is the port's purpose; at `Server` processes of a debugged program's session are let in, too. `handler` gets the socket of
        each other connection.
        """

        def admit(handle: Any, sock: socket.socket, *more: object, **others: object) -> None:
            pids = [os.getpid(), *(each.pid for each in programs() if each.pid)]
            if may_connect(sock) or (name == "Server" and is_among(sock, pids)):
                handle(sock, *more, **others)
            else:
                sock.close()

        return stock(name, patching.guarded(patch, handler, admit), *rest, **named)


def may_connect(connection: socket.socket) -> bool:
    """Return whether an accepted connection comes from a process of this user or root, or another machine.

    False: it comes from another user of this machine, from a loopback address without a process that is found
    there, or it is closed already. On a system that does not tell the owners of ports, every open connection
    gets True. A process that is not found behind another address counts as one of another machine.
    """
    try:
        host = str(connection.getpeername()[0]).partition("%")[0]
        check_peer(connection, host, here=ipaddress.ip_address(host).is_loopback)
    except (OSError, ForeignListener):
        return False
    return True


def is_among(connection: socket.socket, pids: list[int]) -> bool:
    """Return whether the other end of a connection is a process in the POSIX session of one of `pids`.

    A process is in a session only by descent, so no stranger can join one. False: it is in none, or that cannot be found out.
    """
    try:
        ours = {os.getsid(pid) for pid in pids if Path(f"/proc/{pid}").exists()}
        return any(os.getsid(pid) in ours for pid in peer_processes(connection))
    except OSError:
        return False


@NO_TOKEN_SHOWN
def show_no_token(patch: Any) -> None:
    """Patch debugpy so that no access token is on the command lines of processes that it starts.

    Launchers get the word `NO_TOKEN` in its place. The adapter creates its own token later; the patch drops
    that token when the adapter opens its port for programs. Nothing changes on a system that does not report
    which user owns a port. `patch` is this patch's `patching.Row`: it calls this function when it is applied,
    and its `undo` puts back what was replaced by it.

    Raises:
        Misfit: The adapter has an access token already.
        ImportError: debugpy lacks a module.
        AttributeError: debugpy lacks the function that is replaced.
    """
    adapter: Any = importlib.import_module("debugpy.adapter")
    if not reports_port_owners():
        return
    if adapter.access_token is not None:
        raise patching.Misfit("there is an access token already")

    @patch.replace(SERVE_PROGRAMS)
    def serve(stock: Any, *given: Any, **named: Any) -> Any:
        adapter.access_token = None
        return stock(*given, **named)

    # The launcher needs a string.
    patch.set("debugpy.adapter.launchers:adapter", SimpleNamespace(access_token=NO_TOKEN))


@CHILDREN_ONLY
def serve_children_only(patch: Any) -> None:
    """Patch debugpy's adapter so that clients at its port can only attach to child processes.

    Their `launch` requests, and `attach` requests without `subProcessId`, fail; dapeer itself speaks by stdio,
    and is not limited. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its
    `undo` puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: debugpy lacks what is to be replaced; `Row.apply` catches this.
    """
    refusal = "This port serves only child processes of the program"

    @patch.replace(LAUNCH)
    def launch_request(stock: Any, self: Any, request: Any, *rest: Any, **named: Any) -> Any:
        if not self.using_stdio:
            raise patching.IntendedError(request.isnt_valid(refusal))
        return stock(self, request, *rest, **named)

    @patch.replace(ATTACH)
    def attach_request(stock: Any, self: Any, request: Any, *rest: Any, **named: Any) -> Any:
        if not self.using_stdio and "subProcessId" not in request.arguments:
            raise patching.IntendedError(request.isnt_valid(refusal))
        return stock(self, request, *rest, **named)
