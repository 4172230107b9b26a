"""Sourced by GDB: whatever waits for its main thread gets its turn, although a program runs.

GDB takes all functions that were posted to its main thread at once, and calls one after the other. Its DAP has a program
started by such a function, which returns when the program stops. So a request that comes before the main thread has
taken that function waits for the stop, and so does every later one: `threads` and `pause`, too.
"""

from __future__ import annotations

import importlib
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

sys.path.extend(str(Path(__file__).absolute().parents[1] / each) for each in ("native", "python"))
patching: Any = importlib.import_module("dapeer_debuggee.patching")
gdb: Any = sys.modules.get("gdb")
"""GDB's own module, inside of GDB."""

Function: TypeAlias = Callable[[], object]
Post: TypeAlias = Callable[[Function], None]


def post_in_turn(post: Post) -> Post:
    """Return a function for `gdb.post_event` by which no posted function holds up the next one.

    It may be called in any thread, and does not wait. It runs them in their order, one at each call by GDB. `post` is GDB's own
    `post_event`. GDB calls all functions that were posted together one after the other, so one that lasts until the program stops would
    hold up the others: here each posts the next before it runs.
    """
    waiting: deque[Function] = deque()

    def call() -> None:
        """Run the function that waits longest, after posting itself again if more wait."""
        if not waiting:
            return
        function = waiting.popleft()
        if waiting:
            # What was posted for the next one may have been taken together with this call.
            post(call)
        function()

    def post_event(function: Function) -> None:
        waiting.append(function)
        post(call)

    return post_event


TURNS = patching.Row(
    "gdb-turns",
    "GDB",
    "A request that comes while a program starts may be answered only when the program stops.",
    uses=("gdb:post_event",),
)


@TURNS
def take_turns(patch: Any) -> None:
    """Replace `gdb.post_event` by one whose functions do not wait for the end of others.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    patch.set("gdb:post_event", post_in_turn(gdb.post_event))


if gdb is not None:
    importlib.import_module("gdb_telling").report_by_dap()
    TURNS.apply()
