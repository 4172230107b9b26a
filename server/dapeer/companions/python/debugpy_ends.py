"""Has debugpy's adapter report at once an end of program or launcher before the program is debugged.

The adapter would wait for 30 seconds then, and say nothing of the reason: the launcher's errors go nowhere, and the program's output is
kept until `launch` is answered. It happens where a module of the user's hides one that debugpy imports, such as a `queue.py` in a folder
of PYTHONPATH. Nor would the adapter end where it fails itself, such as for want of memory: the thread that ends it waits for another one,
which reads its stdin.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from dapeer.base.text.tracebacks import cause
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


@FAILS
def exit_on_failure(patch: Any) -> None:
    """Patch debugpy's adapter so that it prints an error and exits with code 1 where a request fails.

    Only an unexpected error of the adapter itself counts. debugpy means to do so, but first closes what another thread reads. `patch` is this
    patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
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

    It passes on output of the program before `launch` is answered, and watches each launcher that it starts itself, not one in a terminal.
    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
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
        given = {"stderr": subprocess.PIPE, "env": patching.with_word(how.get("env"))}
        launcher = stock(args, *rest, **{**how, **given})
        threading.Thread(target=watch, args=(launcher, client), daemon=True).start()
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


def watch(launcher: subprocess.Popen[bytes], client: Any) -> None:
    """Read a launcher's stderr until it ends, then report the launcher's end to the client.

    The output that is reported with it is what it has read. Lines about patches that are off go to this process's stderr, the last
    `MAX_KEPT_LINES` others are reported. A negative exit code (a signal killed the launcher) is not the program's, and is not reported.
    `client` is debugpy's `Client`.
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

    `output` is sent if `printed` is not empty, `exited` if `code` is known. `client` is debugpy's `Client`. Nothing is sent once debugging
    has started, since the adapter does it then, nor to a client that has gone.
    """
    # The client may have gone.
    with contextlib.suppress(Exception):
        if not client.has_started:
            if printed:
                client.channel.send_event("output", {"category": "stderr", "output": printed})
            if code is not None:
                client.channel.send_event("exited", {"exitCode": code})
            client.channel.send_event("terminated")
