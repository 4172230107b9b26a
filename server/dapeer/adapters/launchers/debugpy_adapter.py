"""Start the debugpy adapter with prompt TCP acknowledgements, for one user only, and without a description that nobody reads.

The debug server inside the debuggee writes each message as two segments and leaves Nagle's
algorithm on, so each message waits until the adapter's kernel acknowledges the first segment: 40 ms
when that is delayed, on Linux. `TCP_QUICKACK` makes it prompt, until the kernel turns it off again;
so it is set before every message that the adapter reads. What is described, `debugpy_launcher` tells; for whom the ports
are, `debugpy_ports`. If debugpy's inside is not what this knows, plain debugpy is started.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import socket
import sys
from collections.abc import Callable
from typing import Any

from dapeer.adapters.launchers import debugpy_launcher, debugpy_ports


def acknowledge_promptly(stream_class: Any, option: int) -> None:
    """Make the class's streams over a socket set `option` on it before each line they read.

    Raises:
        AttributeError: The class is not the one we know, and is left as it was.
    """
    stock: Callable[..., Any] = stream_class.from_socket.__func__
    read_line: Callable[..., bytes] = stream_class._read_line  # noqa: SLF001

    def from_socket(cls: type, sock: socket.socket, name: str | None = None) -> Any:
        stream = stock(cls, sock, name)

        def quick_read_line(reader: object) -> bytes:
            # A socket that is closed meanwhile is the reader's to report.
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, option, 1)
            return read_line(stream, reader)

        stream._read_line = quick_read_line  # noqa: SLF001
        return stream

    stream_class.from_socket = classmethod(from_socket)


def launch_beneath(launchers: Any, folder: str, script: str) -> None:
    """Make the adapter start debugpy's launcher by a script; somebody's own (`debugLauncherPath`) is left alone.

    Args:
        launchers: The module that does it.
        folder: What it runs to start debugpy's launcher.
        script: Runs that.

    Raises:
        AttributeError: The module is not the one we know, and is left as it was.
    """
    stock: Callable[..., Any] = launchers.spawn_debuggee

    def spawn_debuggee(
        session: object,
        request: Any,
        python: list[str],
        launcher: str,
        *rest: object,
    ) -> Any:
        if not os.path.exists(launcher):  # noqa: PTH110 - as debugpy says it
            # debugpy would wait for half a minute to hear of it.
            raise request.isnt_valid(f"`debugLauncherPath`: {launcher} does not exist", silent=True)
        command = [*python, script] if launcher == folder else python
        return stock(session, request, command, launcher, *rest)

    launchers.spawn_debuggee = spawn_debuggee


def close_ports() -> None:
    """Close debugpy's ports to other users of the machine.

    Raises:
        AttributeError: debugpy is not the one we know.
    """
    from debugpy import adapter  # noqa: PLC0415
    from debugpy.adapter import clients, launchers, servers  # noqa: PLC0415
    from debugpy.common import sockets  # noqa: PLC0415

    debugpy_ports.admit_only_us(sockets, servers)
    debugpy_ports.serve_children_only(clients.Client)
    debugpy_ports.show_no_token(adapter, launchers, servers)


def main() -> None:
    """Run `python -m debugpy.adapter`, improved where that is possible."""
    with contextlib.suppress(ImportError, AttributeError):
        from debugpy import launcher  # noqa: PLC0415
        from debugpy.adapter import launchers  # noqa: PLC0415
        from debugpy.common import log  # noqa: PLC0415

        debugpy_launcher.describe_only_what_is_logged(log)
        launch_beneath(launchers, os.path.dirname(launcher.__file__), debugpy_launcher.__file__)  # noqa: PTH120 - as debugpy says it
    with contextlib.suppress(ImportError, AttributeError):
        close_ports()
    option = getattr(socket, "TCP_QUICKACK", None)
    if option is not None:
        with contextlib.suppress(ImportError, AttributeError):
            from debugpy.common.messaging import JsonIOStream  # noqa: PLC0415

            acknowledge_promptly(JsonIOStream, option)
    sys.argv[0] = "debugpy.adapter"
    runpy.run_module("debugpy.adapter", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
