"""Start the debugpy adapter, patched: faster messages, ports for one user only, no unused descriptions.

The debug server in the debuggee writes each message as two segments, with Nagle's algorithm on. So each
message waits until the adapter's kernel acknowledges the first segment, which Linux delays by 40 ms.
`TCP_QUICKACK` switches the delay off until the kernel switches it on again, so it is set before every
message that the adapter reads. `debugpy_launcher` explains the descriptions, `debugpy_ports` the ports.
A debugpy of another structure runs unpatched.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import runpy
import socket
import sys
from collections.abc import Callable
from typing import Any

from dapeer.adapters.launchers import (
    debugpy_ahead,
    debugpy_attaches,
    debugpy_ends,
    debugpy_launcher,
    debugpy_ports,
)
from dapeer.adapters.launchers.debugpy_launching import AHEAD


def acknowledge_promptly(stream_class: Any, option: int) -> None:
    """Make a stream set `option` on its socket before each line that it reads.

    Raises:
        AttributeError: The class has another structure; it stays unchanged.
    """
    stock: Callable[..., Any] = stream_class.from_socket.__func__
    read_line: Callable[..., bytes] = stream_class._read_line

    def from_socket(cls: type, sock: socket.socket, name: str | None = None) -> Any:
        stream = stock(cls, sock, name)

        def quick_read_line(reader: object) -> bytes:
            # The socket may be closed by now; `read_line` reports that.
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, option, 1)
            return read_line(stream, reader)

        stream._read_line = quick_read_line
        return stream

    stream_class.from_socket = classmethod(from_socket)


def launch_beneath(launchers: Any, folder: str, script: str) -> None:
    """Make the adapter start debugpy's launcher by a script, unless a user has named one (`debugLauncherPath`).

    Args:
        launchers: The module of debugpy that starts launchers.
        folder: The path of debugpy's own launcher.
        script: The path of the script, which runs that launcher.

    Raises:
        AttributeError: The module has another structure; it stays unchanged.
    """
    stock: Callable[..., Any] = launchers.spawn_debuggee

    def spawn_debuggee(
        session: Any,
        request: Any,
        python: list[str],
        launcher: str,
        *rest: object,
    ) -> Any:
        if not os.path.exists(launcher):
            # debugpy would report that only after 30 seconds.
            raise request.isnt_valid(f"`debugLauncherPath`: {launcher} does not exist", silent=True)
        ours = launcher == folder
        command = [*python, script] if ours else python
        session.of_dapeer = ours
        return stock(session, request, command, launcher, *rest)

    launchers.spawn_debuggee = spawn_debuggee


def close_ports() -> None:
    """Close debugpy's ports to other users of the machine.

    Raises:
        AttributeError: debugpy has another structure.
    """
    from debugpy import adapter
    from debugpy.adapter import clients, launchers, servers
    from debugpy.common import sockets

    debugpy_ports.admit_only_us(sockets, servers)
    debugpy_ports.serve_children_only(clients.Client)
    debugpy_ports.show_no_token(adapter, launchers, servers)


def report_no_ports(sessions: Any) -> None:
    """Make the adapter keep its ports to itself, which it reports to editors that list ports.

    Its first thread reports them once more when others serve the client already. It ends the adapter if a launcher has connected by
    then, whose port is closed and still to be reported.

    Raises:
        AttributeError: The module has another structure; it stays unchanged.
    """
    sessions.report_sockets  # is it there?
    sessions.report_sockets = lambda: None


def find_the_newest(servers: Any) -> None:
    """Make the adapter find a process that has replaced itself (`exec`) by its new connection.

    It keeps the old one until another thread has noticed its end, and takes the oldest: a client that attaches by then is refused.

    Raises:
        AttributeError: The module has another structure; it stays unchanged.
    """
    stock: Callable[..., Any] = servers.wait_for_connection

    def wait_for_connection(
        session: Any, predicate: Callable[[Any], bool], *rest: Any, **named: Any
    ) -> Any:
        def fits(connection: Any) -> bool:
            return not getattr(connection, "process_replaced", False) and predicate(connection)

        return stock(session, fits, *rest, **named)

    servers.wait_for_connection = wait_for_connection


def launched_ahead(arguments: list[str]) -> debugpy_ahead.Ahead | None:
    """Start a launcher ahead if the arguments say for what: `--ahead PYTHON FOLDER`; take these out."""
    if arguments[1:2] != [AHEAD]:
        return None
    python, folder = arguments[2:4]
    del arguments[1:4]
    found = importlib.util.find_spec("debugpy")
    launchers = [f"{each}/launcher" for each in (found and found.submodule_search_locations) or ()]
    script = debugpy_launcher.__file__
    return debugpy_ahead.started(python, script, launchers[0], folder) if launchers else None


def main() -> None:
    """Run `python -m debugpy.adapter` with those patches that fit."""
    ahead = launched_ahead(sys.argv)
    with contextlib.suppress(ImportError, AttributeError):
        debugpy_launcher.describe_only_what_is_logged(debugpy_launcher.import_log())
        from debugpy import launcher
        from debugpy.adapter import launchers

        if ahead is not None:
            debugpy_ahead.take_first(launchers, ahead)
        debugpy_ends.tell(launchers)
        launch_beneath(launchers, os.path.dirname(launcher.__file__), debugpy_launcher.__file__)
    with contextlib.suppress(ImportError, AttributeError):
        from debugpy.adapter import sessions

        report_no_ports(sessions)
    with contextlib.suppress(ImportError, AttributeError):
        from debugpy.adapter import clients, servers
        from debugpy.common import messaging

        from dapeer.adapters.launchers import debugpy_output

        find_the_newest(servers)
        debugpy_output.pass_on(clients.Client, servers.Server, messaging)
        debugpy_attaches.try_again(servers)
    with contextlib.suppress(ImportError, AttributeError):
        close_ports()
    option = getattr(socket, "TCP_QUICKACK", None)
    if option is not None:
        with contextlib.suppress(ImportError, AttributeError):
            from debugpy.common.messaging import JsonIOStream

            acknowledge_promptly(JsonIOStream, option)
    sys.argv[0] = "debugpy.adapter"
    runpy.run_module("debugpy.adapter", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
