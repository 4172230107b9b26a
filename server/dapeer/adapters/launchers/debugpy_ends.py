"""Has debugpy's adapter tell at once when the program, or its launcher, has ended before the program is debugged.

The adapter would wait for 30 seconds then, and say nothing of the reason: the launcher's errors go nowhere, and the program's output is
kept until `launch` is answered. It happens where a module of the user's hides one that debugpy imports, such as a `queue.py` in a folder
of PYTHONPATH.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

KEPT = 100
"""Lines of the launcher's errors that are told at most: the last ones."""


def tell(launchers: Any) -> None:
    """Watch programs, and those launchers that the adapter starts itself: not one in a terminal.

    Args:
        launchers: The module of debugpy that starts launchers.

    Raises:
        AttributeError: The module has another structure; it stays unchanged.
    """
    popen: Callable[..., subprocess.Popen[bytes]] = launchers.subprocess.Popen
    spawn: Callable[..., Any] = launchers.spawn_debuggee
    exited: Callable[..., Any] = launchers.Launcher.exited_event
    launchers.Launcher.output_event  # is it there?

    def output_event(self: Any, event: Any) -> None:
        # The stock one waits for a lock that the handler of `launch` holds, then keeps the output.
        self.client.channel.propagate(event)

    def exited_event(self: Any, event: Any) -> Any:
        # One that is not debugged may have ended before `launch` is answered.
        if not self.session.no_debug:
            over(self.client, event("exitCode", int))
        return exited(self, event)

    def spawn_debuggee(session: Any, *rest: Any) -> Any:
        def start(command: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
            launcher = popen(command, **{**how, "stderr": subprocess.PIPE})
            threading.Thread(target=watch, args=(launcher, session.client), daemon=True).start()
            return launcher

        launchers.subprocess = SimpleNamespace(**{**vars(subprocess), "Popen": start})
        return spawn(session, *rest)

    launchers.Launcher.output_event, launchers.Launcher.exited_event = output_event, exited_event
    launchers.spawn_debuggee = spawn_debuggee


def watch(launcher: subprocess.Popen[bytes], client: Any) -> None:
    """Wait for the end of a launcher, and tell it; the exit code of one that a signal has killed is not the program's."""
    said = b"".join(deque(launcher.stderr or (), KEPT)).decode("utf-8", "replace")
    code = launcher.wait()
    over(client, code if code >= 0 else None, said)


def over(client: Any, code: int | None, said: str = "") -> None:
    """Tell the client that the program has ended, and what was said, if it is not debugged yet; later the adapter does."""
    # The client may have gone.
    with contextlib.suppress(Exception):
        if not client.has_started:
            if said:
                client.channel.send_event("output", {"category": "stderr", "output": said})
            if code is not None:
                client.channel.send_event("exited", {"exitCode": code})
            client.channel.send_event("terminated")
