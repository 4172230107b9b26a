"""Has debugpy's adapter attach once more to a process that has lost the first try.

Where a process was left a moment ago, its debugger ends while the new one begins, and takes that for itself: nothing connects, and
the adapter would wait for a minute.

What the adapter and gdb say meanwhile would be told as the program's output: it is told only where the attach fails.
"""

from __future__ import annotations

import importlib
import subprocess
import threading
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from dapeer.companions.python import debugpy_injector
from dapeer.companions.python.debugpy_launcher import patching

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


def failures_of(on_output: Callable[[str, str], None]) -> Callable[[str, str], None]:
    """Return a function that holds text back until an attach fails, and passes all to `on_output` then.

    The function gets a category and a text, as `on_output` does; a text of `stderr` says that the attach has failed.
    """
    held: list[str] = []

    def hold(category: str, text: str) -> None:
        held.append(text)
        if category == "stderr":
            on_output(category, "".join(held))
            held.clear()

    return hold


@AGAIN
def try_again(patch: Any) -> None:
    """Patch debugpy's adapter so that it injects its code again, where nothing connects.

    It tries `MAX_CONNECT_TRIES` times in all. It also runs debugpy's injector by `debugpy_injector.py`, and reports the output of both only
    if the attach fails. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was
    replaced by it.
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
        on_failure = failures_of(on_output)

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
