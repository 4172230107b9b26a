"""Start the debugpy adapter, patched: faster messages, ports for one user, early ends, attaches again.

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
import subprocess
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from dapeer.base.text.tracebacks import cause
from dapeer.companions.python import (
    debugpy_injector,
    debugpy_launcher,
    debugpy_output,
    debugpy_ports,
)
from dapeer.companions.python.debugpy_launcher import patching

LOGGED = "Stack where logged:"
MAX_KEPT_LINES = 100
"""Lines of the launcher's errors that are told at most: the last ones."""
LAUNCHERS = "debugpy.adapter.launchers"
SPAWN = f"{LAUNCHERS}:spawn_debuggee"
OUTPUT = f"{LAUNCHERS}:Launcher.output_event"
EXITED = f"{LAUNCHERS}:Launcher.exited_event"
SPAWNS = (
    "session start_request python launcher_path adapter_host args shell_expand_args cwd console "
    "console_title sudo"
)
HANDLES = "debugpy.common.messaging:Request._handle"
FAILS = patching.Row(
    "failed-requests",
    "debugpy",
    "An adapter that fails, such as for want of memory, is noticed after 30 seconds.",
    replaces={HANDLES: "self"},
)
ENDS = patching.Row(
    "early-ends",
    "debugpy",
    "A program that ends before it is debugged is noticed after 30 seconds, without its errors.",
    replaces={SPAWN: SPAWNS, OUTPUT: "self event", EXITED: "self event"},
    uses=(f"{LAUNCHERS}:subprocess",),
)
SECONDS_TO_CONNECT = 3.0
"""Seconds for a process to connect once the injector, which runs the debugger's code, succeeded."""
MAX_CONNECT_TRIES = 3
SERVERS = "debugpy.adapter.servers"
INJECT = f"{SERVERS}:inject"
AGAIN = patching.Row(
    "attach-again",
    "debugpy",
    "An attach to a process that another debugger has just left may wait for a minute, and fail.",
    replaces={INJECT: "pid debugpy_args on_output"},
    uses=(
        f"{SERVERS}:wait_for_connection(session predicate timeout=)",
        f"{SERVERS}:subprocess",
    ),
)
STREAM = "debugpy.common.messaging:JsonIOStream"
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
    replaces={SPAWN: SPAWNS},
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

    Nothing changes on systems without that option. `patch` is this patch's `patching.Row`, which calls this
    function when it is applied; its `undo` puts back what was replaced.

    Raises:
        Misfit: debugpy has no such class of streams; `Row.apply` catches this.
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

    A launcher that the user names by `debugLauncherPath` is started as it is, without that script; if that path
    does not exist, the launch request fails at once. The attribute `of_dapeer` of debugpy's session is set to
    whether the script starts the launcher. `patch` is this patch's `patching.Row`: it calls this function when
    it is applied, and its `undo` puts back what was replaced here.

    Raises:
        AttributeError: debugpy lacks the function that is replaced; `Row.apply` catches this.
        ImportError: debugpy lacks the module of that function, or its launcher; likewise.
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
            raise patching.IntendedError(start_request.isnt_valid(problem, silent=True))
        session.of_dapeer = launcher_path == folder
        command = [*python, script] if session.of_dapeer else python
        return stock(session, start_request, command, launcher_path, *rest, **named)


@NO_REPORTS
def report_no_ports(patch: Any) -> None:
    """Patch debugpy's adapter so that it no longer reports its ports, which it does for editors.

    Its first thread reports them once more when others serve the client already. It ends the adapter if a launcher has
    connected by then, whose port is closed and still to be reported. `patch` is this patch's `patching.Row`: it calls
    this function when it is applied, and its `undo` puts back what was replaced by it.
    """

    @patch.replace(REPORTS)
    def report_sockets(stock: Any, *given: Any, **named: Any) -> None:
        pass


@NEWEST
def find_the_newest(patch: Any) -> None:
    """Patch debugpy's adapter so that after an `exec` it finds a process by the new connection.

    The stock adapter keeps the old connection of the process until another thread has noticed its end, and
    prefers the oldest connection; a client that attaches in the meantime is rejected. With the patch,
    connections of a replaced process are passed over. `patch` is this patch's `patching.Row`: it calls this
    function when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: debugpy lacks what is to be replaced; `Row.apply` catches this.
    """

    @patch.replace(WAITS)
    def wait_for_connection(
        stock: Any, session: Any, predicate: Callable[..., bool], *rest: Any, **named: Any
    ) -> Any:
        def fits(connection: Any, *more: Any) -> bool:
            replaced = getattr(connection, "process_replaced", False)
            return not replaced and predicate(connection, *more)

        return stock(session, fits, *rest, **named)


# The ends of programs and launchers before a program is debugged.
#
# The adapter would wait for 30 seconds then, and say nothing of the reason: the launcher's errors go nowhere, and the program's output is
# kept until `launch` is answered. It happens where a module of the user's hides one that debugpy imports, such as a `queue.py` in a folder
# of PYTHONPATH. Nor would the adapter end where it fails itself, such as for want of memory: the thread that ends it waits for another one,
# which reads its stdin.


@FAILS
def exit_on_failure(patch: Any) -> None:
    """Patch debugpy's adapter so that it prints an error and exits with code 1 where a request fails.

    Only an unexpected error of the adapter itself counts. debugpy means to do so, but first closes what another thread
    reads. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back
    what was replaced by it.
    """

    @patch.replace(HANDLES)
    def handle(stock: Any, self: Any, *rest: Any, **named: Any) -> None:
        try:
            stock(self, *rest, **named)
        except Exception as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)


@ENDS
def report_ends(patch: Any) -> None:
    """Patch debugpy's adapter so that it reports at once an end of program or launcher before debugging.

    The patched adapter also passes on output of the program before `launch` is answered, and a thread of it
    watches each launcher that it starts itself; a launcher in a terminal is not watched. The end of a program
    that is not debugged is not reported by this patch. `patch` is this patch's `patching.Row`: it calls this
    function when it is applied, and its `undo` puts back what was replaced here.

    Raises:
        Misfit, ImportError, AttributeError: debugpy lacks what is to be replaced; `Row.apply` catches this.
    """
    popen = importlib.import_module(LAUNCHERS).subprocess.Popen
    starting = threading.local()

    def start(stock: Any, args: Sequence[str], *rest: Any, **how: Any) -> Any:
        """Do as `subprocess.Popen` (`stock`), also for the launcher that a `spawn_debuggee` here starts.

        That one gets a pipe as stderr, a word in its environment by which it marks its lines about patches, and a thread that watches it.
        """
        client, starting.client = getattr(starting, "client", None), None
        if client is None:
            return stock(args, *rest, **how)
        given = {"stderr": subprocess.PIPE, "env": patching.environment_for_reports(how.get("env"))}
        launcher = stock(args, *rest, **{**how, **given})
        threading.Thread(target=report_launcher_end, args=(launcher, client), daemon=True).start()
        return launcher

    @patch.replace(OUTPUT)
    def output_event(stock: Any, self: Any, event: Any, *rest: Any, **named: Any) -> None:
        # The stock one waits for a lock that the handler of `launch` holds, then keeps the output.
        self.client.channel.propagate(event)

    @patch.replace(EXITED)
    def exited_event(stock: Any, self: Any, event: Any, *rest: Any, **named: Any) -> Any:
        """Report the end of a program that is to be debugged and is not yet; then do as debugpy (`stock`)."""
        # One that is not debugged may have ended before `launch` is answered.
        if not self.session.no_debug:
            send_end(self.client, event("exitCode", int))
        return stock(self, event, *rest, **named)

    @patch.replace(SPAWN)
    def spawn_debuggee(stock: Any, session: Any, *rest: Any, **named: Any) -> Any:
        starting.client = session.client
        return stock(session, *rest, **named)

    ours = patching.guarded(patch, popen, start)
    patch.set(f"{LAUNCHERS}:subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": ours}))


def report_launcher_end(launcher: subprocess.Popen[bytes], client: Any) -> None:
    """Read a launcher's stderr until it ends, then report the launcher's end to the client.

    It blocks until then. Lines about patches that are off go to this process's stderr; the last
    `MAX_KEPT_LINES` others are sent to `client`, which is debugpy's `Client`, as output, and the exit code
    with them. A negative exit code (a signal killed the launcher) is not the program's: then the end is
    reported without a code. Where the output is debugpy's log of an error, only its cause is sent. Nothing is
    sent once debugging has started.
    """
    kept: deque[bytes] = deque(maxlen=MAX_KEPT_LINES)
    for line in launcher.stderr or ():
        if line.startswith(patching.MARK.encode()):
            os.write(2, line)
        else:
            kept.append(line)
    output = b"".join(kept).decode("utf-8", "replace")
    # debugpy logs the way to an error of its own, and where it logs that.
    output = cause(output) if LOGGED in output else output
    code = launcher.wait()
    send_end(client, code if code >= 0 else None, output)


def send_end(client: Any, code: int | None, printed: str = "") -> None:
    """Send `output`, `exited` and `terminated` to a client whose program is not debugged yet.

    `printed` is what was printed to stderr; without it no `output` is sent. Without the exit code `code` no
    `exited` is sent. `client` is debugpy's `Client`. Nothing is sent once debugging has started, since the
    adapter does that then, nor to a client that has gone. No error leaves this function.
    """
    # The client may have gone.
    with contextlib.suppress(Exception):
        if not client.has_started:
            if printed:
                client.channel.send_event("output", {"category": "stderr", "output": printed})
            if code is not None:
                client.channel.send_event("exited", {"exitCode": code})
            client.channel.send_event("terminated")


# One more attach to a process that has lost the first try.
#
# Where a process was left a moment ago, its debugger ends while the new one begins, and takes that for itself: nothing connects, and
# the adapter would wait for a minute. What the adapter and gdb say meanwhile would be told as the program's output: it is told only where
# the attach fails.


def hold_until_failure(
    on_output: Callable[[str, str], None], has_failed: Callable[[], bool]
) -> Callable[[str, str], None]:
    """Return a function that holds output back until an attach has failed, and then passes it on.

    The function is to be called as `on_output` is, with a category and a text. It collects the texts of all
    categories. At a text of `stderr`, it asks `has_failed` whether the injector has ended with an error; if
    so, `on_output` gets all that was held as one text of `stderr`. A text of another category waits for the
    next one of `stderr`; if the attach succeeds, nothing is ever passed on.
    """
    held: list[str] = []

    def hold(category: str, text: str) -> None:
        held.append(text)
        if category == "stderr" and has_failed():
            on_output(category, "".join(held))
            held.clear()

    return hold


@AGAIN
def try_again(patch: Any) -> None:
    """Patch debugpy's adapter so that it injects its code again, where nothing connects.

    It tries `MAX_CONNECT_TRIES` times in all, but not again once the injector has ended with an error. It also
    runs debugpy's injector by `debugpy_injector.py`, and reports the output of the injectors only if one fails.
    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back
    what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: debugpy lacks what is to be replaced; `Row.apply` catches this.
    """
    servers: Any = importlib.import_module(SERVERS)
    injectors: list[Any] = []

    def start(stock: Any, args: Sequence[str], *rest: Any, **how: Any) -> Any:
        # It runs debugpy so that this leaves nothing in the process.
        python, *others = args
        injectors.append(stock([python, "-P", debugpy_injector.__file__, *others], *rest, **how))
        return injectors[-1]

    @patch.replace(INJECT)
    def inject(
        stock: Any, pid: int, debugpy_args: Any, on_output: Any, *rest: Any, **named: Any
    ) -> None:
        """Do as debugpy's `inject`, and start a thread that repeats it while process `pid` does not connect.

        It returns at once. `on_output` gets what the injectors print, only if one fails.
        """
        on_failure = hold_until_failure(on_output, lambda: bool(injectors and injectors[-1].poll()))

        def again() -> None:
            """Repeat the injection until the process has connected, the injector has failed, or no try is left.

            Each try waits for the injector's end, then for a connection for `SECONDS_TO_CONNECT`.
            """
            for _ in range(MAX_CONNECT_TRIES - 1):
                if injectors[-1].wait() or servers.wait_for_connection(
                    f"[{pid}]", is_it, timeout=SECONDS_TO_CONNECT
                ):
                    return
                stock(pid, debugpy_args, on_failure, *rest, **named)

        def is_it(connection: Any) -> bool:
            return bool(connection.pid == pid)

        stock(pid, debugpy_args, on_failure, *rest, **named)
        watch = patch.guard(again, lambda: None)
        threading.Thread(target=watch, daemon=True).start()

    ours = patching.guarded(patch, servers.subprocess.Popen, start)
    patch.set(f"{SERVERS}:subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": ours}))


def apply_rows() -> None:
    """Apply `ROWS`, the patches of debugpy's adapter, in this process; those that do not fit stay off.

    debugpy's modules are imported, and raise nothing here. The row `ENVIRONMENT` of debugpy's launcher is
    applied first. A row that does not fit is reported by `patching.reporters`.
    """
    debugpy_launcher.describe_little()
    # The adapter's modules import each other, in this order only.
    with contextlib.suppress(Exception):
        importlib.import_module("debugpy.adapter.clients")
    for row in ROWS:
        row.apply()


ROWS = (
    FAILS,
    ENDS,
    BENEATH,
    NO_REPORTS,
    NEWEST,
    debugpy_output.PASSED_ON,
    AGAIN,
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

    Patches that do not fit are reported on stderr. Warnings of Python are ignored in this process. The call
    returns or exits as the adapter does.

    Raises:
        SystemExit: The adapter exits, or a patch that secures debugpy is off in an untried version of it (a
            message says so); then the adapter is not run.
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
