"""Sourced by GDB: a program that GDB runs only to evaluate a call stays stopped for DAP's clients.

GDB's DAP reports a function that an expression calls as a resume, with a stop when that returns. It counts calls within
a call wrongly (GDB puts a literal into the program's memory by a call of `malloc`), and takes a call for one that runs for
ever if its arguments have an error: every later request fails then. Here such a call is no resume: the stop lasts, with its
frames and variables. Only where the program stops in the called function, that is a stop of its own.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

sys.path.extend(str(Path(__file__).absolute().parents[1] / each) for each in ("native", "python"))
patching: Any = importlib.import_module("dapeer_debuggee.patching")
gdb: Any = sys.modules.get("gdb")
"""GDB's own module, inside of GDB."""

Listener: TypeAlias = Callable[[Any], None]

REQUEST = "gdb.dap.server:Cancellable.__init__"
RESUMED = (
    "gdb.dap.events:_cont(event)",
    "gdb.dap.frames:_clear_frame_ids(evt)",
    "gdb.dap.varref:clear_vars(event)",
    "gdb.dap.scopes:clear_scopes(event)",
    "gdb.dap.globalvars:clear(event)",
)
"""What hears of a resume: the first one reports it, the others forget frames and variables."""
STOPPED = "gdb.dap.events:_on_stop(event)"
CALLED = "gdb.dap.events:_on_inferior_call(event)"
RETURNED = "function call"
"""The reason of a stop at the end of a function in which the program has stopped."""

CALLS = patching.Row(
    "gdb-calls",
    "GDB",
    "After an evaluation that calls a function, the program may count as running for ever.",
    replaces={REQUEST: "self fn result_q="},
    uses=(*RESUMED, STOPPED, CALLED, "gdb.dap.events:expect_stop(reason)"),
)


class CallCount:
    """Stands between GDB's events and its DAP, and knows whether the program runs for a call only."""

    def __init__(self, events: Any, forget: list[Listener]) -> None:
        """`events` is GDB's module of DAP's events; `forget` are its listeners that drop frames and variables."""
        self._events = events
        self._forget = forget
        self._depth = 0
        """Calls that have begun; one whose arguments have an error never ends."""
        self._abandoned = False
        """Whether the program has stopped in a called function since it was last resumed to its end."""

    def on_call(self, event: Any) -> None:
        """Count a call that begins or ends while the program is stopped."""
        if not isinstance(event, gdb.InferiorCallPreEvent):
            self._depth = max(self._depth - 1, 0)
        elif self._depth or not self._events.inferior_running:
            self._depth += 1

    def on_resume(self, event: Any) -> None:
        """Report a resume that is no call."""
        if self._depth:
            return
        for forget in self._forget:
            forget(event)
        self._events._cont(event)

    def on_stop(self, event: Any) -> None:
        """Report a stop; one within a called function has frames and variables of its own."""
        if self._depth:
            for forget in self._forget:
                forget(event)
            self._depth, self._abandoned = 0, True
        elif self._abandoned and "reason" not in event.details:
            self._abandoned = False
            self._events.expect_stop(RETURNED)
        self._events._on_stop(event)

    def around(self, request: Callable[[], object]) -> Callable[[], object]:
        """Return a request that leaves `inferior_running` true only where a thread runs, also if it raises."""

        def run() -> object:
            was_running, self._depth = self._events.inferior_running, 0
            try:
                return request()
            finally:
                self._depth = 0
                # A thread that a called function has started counts as a resume.
                if self._events.inferior_running and not was_running:
                    self._events.inferior_running = is_running()

        return run


def is_running() -> bool:
    """Whether a thread of the program runs."""
    return any(each.is_running() for each in gdb.selected_inferior().threads())


@CALLS
def keep_stopped(row: Any) -> None:
    """Hear calls, resumes and stops in place of GDB's DAP."""
    events: Any = importlib.import_module("gdb.dap.events")
    report, *forget = map(listener, RESUMED)
    calls = CallCount(events, forget)
    instead(row, gdb.events.inferior_call, calls.on_call, [listener(CALLED)])
    instead(row, gdb.events.cont, calls.on_resume, [report, *forget])
    instead(row, gdb.events.stop, calls.on_stop, [listener(STOPPED)])

    def create(stock: Any, self: Any, fn: Callable[[], object], *rest: Any, **named: Any) -> object:
        return stock(self, calls.around(fn), *rest, **named)

    row.replace(REQUEST)(create)


def listener(target: str) -> Listener:
    """Return a function of GDB's DAP by its name, as `uses` has it."""
    module, _, name = target.partition("(")[0].partition(":")
    found: Listener = getattr(importlib.import_module(module), name)
    return found


def instead(row: Any, event: Any, ours: Listener, stock: list[Listener]) -> None:
    """Have a function hear an event in place of others, until the row is undone."""

    def pass_to_stock(emitted: Any) -> None:
        for each in stock:
            each(emitted)

    guarded = row.guard(ours, pass_to_stock)
    for each in stock:
        event.disconnect(each)
    event.connect(guarded)

    def put_back() -> None:
        event.disconnect(guarded)
        for each in stock:
            event.connect(each)

    row.and_undo(put_back)


if gdb is not None:
    importlib.import_module("gdb_telling").report_by_dap()
    CALLS.apply()
