"""Start the debugpy adapter, patched: faster messages, ports for one user, no unused descriptions.

The debug server in the debuggee writes each message as two segments, with Nagle's algorithm on. So each
message waits until the adapter's kernel acknowledges the first segment, which Linux delays by 40 ms.
`TCP_QUICKACK` switches the delay off until the kernel switches it on again, so it is set before every
message that the adapter reads. `debugpy_launcher` explains the descriptions, `debugpy_ports` the ports.
A debugpy of another structure runs unpatched.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import runpy
import socket
import sys
import warnings
from collections.abc import Callable
from typing import Any

from dapeer.companions.python import (
    debugpy_attaches,
    debugpy_ends,
    debugpy_launcher,
    debugpy_output,
    debugpy_ports,
)
from dapeer.companions.python.debugpy_launcher import patching

STREAM = "debugpy.common.messaging:JsonIOStream"
LAUNCHERS = "debugpy.adapter.launchers"
SPAWN = f"{LAUNCHERS}:spawn_debuggee"
REPORTS = "debugpy.adapter.sessions:report_sockets"
WAITS = "debugpy.adapter.servers:wait_for_connection"

PROMPT = patching.Row(
    "acknowledgements",
    "debugpy",
    "Each message takes 40 ms longer.",
    replaces={f"{STREAM}.from_socket": "sock name=", f"{STREAM}._read_line": "self reader"},
)
BENEATH = patching.Row(
    "launcher-beneath",
    "debugpy",
    "Programs are debugged without dapeer's changes in them: values are cut, and log messages come late.",
    replaces={SPAWN: debugpy_ends.SPAWNS},
)
NO_REPORTS = patching.Row(
    "ports-not-reported",
    "debugpy",
    "debugpy's adapter may end where a program starts at the same moment as another one.",
    replaces={REPORTS: ""},
)
NEWEST = patching.Row(
    "replaced-processes",
    "debugpy",
    "A process that replaces itself by another program (exec) may be debugged no more.",
    replaces={WAITS: "session predicate timeout="},
)


@PROMPT
def acknowledge_promptly(patch: Any) -> None:
    """Patch debugpy's adapter so that a stream sets `TCP_QUICKACK` before each line that it reads.

    Nothing changes on systems without that option. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its
    `undo` puts back what was replaced by it.
    """
    option = getattr(socket, "TCP_QUICKACK", None)
    if option is None:
        return

    @patch.replace(f"{STREAM}.from_socket")
    def from_socket(stock: Any, cls: type, sock: socket.socket, *rest: Any, **named: Any) -> Any:
        stream = stock(cls, sock, *rest, **named)
        stream.dapeer_socket = sock
        return stream

    @patch.replace(f"{STREAM}._read_line")
    def read_line(stock: Any, self: Any, *rest: Any, **named: Any) -> Any:
        """Set the option on the stream's socket, and read a line as debugpy does."""
        sock = getattr(self, "dapeer_socket", None)
        if sock is not None:
            # The socket may be closed by now; the stock function reports that.
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, option, 1)
        return stock(self, *rest, **named)


@BENEATH
def launch_beneath(patch: Any) -> None:
    """Patch debugpy's adapter so that it starts debugpy's launcher by `debugpy_launcher.py`.

    It uses the launcher that `debugLauncherPath` names as it is; if there is no such path, the request fails at once. `patch` is this patch's
    `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    folder = os.path.dirname(str(importlib.import_module("debugpy.launcher").__file__))
    script = debugpy_launcher.__file__

    @patch.replace(SPAWN)
    def spawn_debuggee(
        stock: Any,
        session: Any,
        start_request: Any,
        python: list[str],
        launcher_path: str,
        *rest: Any,
        **named: Any,
    ) -> Any:
        """Do as debugpy's `spawn_debuggee`, but have our script start the launcher.

        `python` is the command of the interpreter, `launcher_path` the launcher. Set `session.of_dapeer` to whether the launcher is started
        by our script: not if the user names another one. Where there is no such path, the start request fails.
        """
        if not os.path.exists(launcher_path):
            # debugpy would report that only after 30 seconds.
            problem = f"`debugLauncherPath`: {launcher_path} does not exist"
            raise patching.Meant(start_request.isnt_valid(problem, silent=True))
        session.of_dapeer = launcher_path == folder
        command = [*python, script] if session.of_dapeer else python
        return stock(session, start_request, command, launcher_path, *rest, **named)


@NO_REPORTS
def report_no_ports(patch: Any) -> None:
    """Patch debugpy's adapter so that it no longer reports its ports, which it does for editors.

    Its first thread reports them once more when others serve the client already. It ends the adapter if a launcher has connected by then,
    whose port is closed and still to be reported. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its
    `undo` puts back what was replaced by it.
    """

    @patch.replace(REPORTS)
    def report_sockets(stock: Any, *given: Any, **named: Any) -> None:
        pass


@NEWEST
def find_the_newest(patch: Any) -> None:
    """Patch debugpy's adapter so that it finds a process after an `exec` by its new connection.

    It keeps the old one until another thread has noticed its end, and prefers the oldest: a client that attaches by then is rejected. `patch`
    is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """

    @patch.replace(WAITS)
    def wait_for_connection(
        stock: Any, session: Any, predicate: Callable[..., bool], *rest: Any, **named: Any
    ) -> Any:
        def fits(connection: Any, *more: Any) -> bool:
            replaced = getattr(connection, "process_replaced", False)
            return not replaced and predicate(connection, *more)

        return stock(session, fits, *rest, **named)


def apply_rows() -> None:
    """Apply `ROWS`, the patches of debugpy's adapter, in this process; those that do not fit stay off.

    debugpy's modules are imported, and raise nothing here. A row that does not fit is reported by `patching.reporters`.
    """
    debugpy_launcher.describe_little()
    # The adapter's modules import each other, in this order only.
    with contextlib.suppress(Exception):
        importlib.import_module("debugpy.adapter.clients")
    for row in ROWS:
        row.apply()


ROWS = (
    debugpy_ends.FAILS,
    debugpy_ends.ENDS,
    BENEATH,
    NO_REPORTS,
    NEWEST,
    debugpy_output.PASSED_ON,
    debugpy_attaches.AGAIN,
    debugpy_ports.ADMITTED,
    debugpy_ports.CHILDREN_ONLY,
    debugpy_ports.NO_TOKEN_SHOWN,
    PROMPT,
)
"""The rows of the adapter, in the order in which they are applied."""


def refuse_insecure_version() -> None:
    """Exit with a message if a row that secures debugpy does not fit this untried version of it.

    Nothing happens if the user has switched that row off, or debugpy tells no version: then it is none that anybody has released.

    Raises:
        SystemExit: A row of `ROWS` that `secures` is off, in such a version.
    """
    version = patching.versions["debugpy"]()
    for row in ROWS if version else ():
        is_off = row.off and not patching.is_switched_off(row.name)
        if row.secures and is_off and not row.is_tried():
            last = patching.tried["debugpy"][1]
            sys.exit(
                f"dapeer does not start debugpy {version}, which it has not been tried with, for its patch "
                f"`{row.name}` does not fit: {row.lost} Install the version that works: pip install debugpy=={last}"
            )


def main() -> None:
    """Run `python -m debugpy.adapter` in this process with those patches that fit.

    Those that do not are reported on stderr. Warnings of Python are ignored in this process. It exits as the adapter does, or with a
    message where `refuse_insecure_version` does.
    """
    # The program may want its warnings to be errors; what debugpy warns of in its adapter is none of them.
    warnings.simplefilter("ignore")
    patching.reporters.append(patching.to_stderr)
    apply_rows()
    refuse_insecure_version()
    sys.argv[0] = "debugpy.adapter"
    runpy.run_module("debugpy.adapter", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
