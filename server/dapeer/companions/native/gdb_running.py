"""Sourced by GDB: requests are answered while a program starts, and an evaluated call resumes nothing.

GDB takes all functions that were posted to its main thread at once, and calls one after the other. Its DAP has a program
started by such a function, which returns when the program stops. So a request that comes before the main thread has
taken that function waits for the stop, and so does every later one: `threads` and `pause`, too. Here whatever waits for the
main thread gets its turn.

GDB's DAP reports a function that an expression calls as a resume, with a stop when that returns. It counts calls within
a call wrongly (GDB puts a literal into the program's memory by a call of `malloc`), and takes a call for one that runs for
ever if its arguments have an error: every later request fails then. Here such a call is no resume: the stop lasts, with its
frames and variables. Only where the program stops in the called function, that is a stop of its own.
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

# What waits for GDB's main thread gets its turn, although a program runs.

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


# A program that runs only for an evaluated call stays stopped for DAP's clients.

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
    """Handles GDB's events in place of its DAP, and knows whether the program runs for a call only."""

    def __init__(self, events: Any, forget: list[Listener]) -> None:
        """Create it; no event has been seen yet.

        `events` is GDB's module `gdb.dap.events`, whose private functions report to the client; `forget` are the listeners of GDB's DAP
        that drop the known frames and variables.
        """
        self._events = events
        self._forget = forget
        self._depth = 0
        """Calls that have begun; one whose arguments have an error never ends."""
        self._abandoned = False
        """Whether the program has stopped in a called function since it was last resumed to its end."""

    def on_call(self, event: Any) -> None:
        """Count a function call that begins or ends (GDB's `InferiorCallPreEvent` or its `Post` counterpart).

        A call counts only if it begins while the program is stopped, or within another such call.
        """
        if not isinstance(event, gdb.InferiorCallPreEvent):
            self._depth = max(self._depth - 1, 0)
        elif self._depth or not self._events.inferior_running:
            self._depth += 1

    def on_resume(self, event: Any) -> None:
        """Report a resume to the client, and drop frames and variables.

        Nothing happens if it is only for a call. `event` is GDB's `ContinueEvent`.
        """
        if self._depth:
            return
        for forget in self._forget:
            forget(event)
        self._events._cont(event)

    def on_stop(self, event: Any) -> None:
        """Report a stop to the client; `event` is GDB's `StopEvent` (as its DAP gets it, with `details`).

        A stop within a function that was called by an expression first makes GDB's DAP drop its known frames and
        variables, and the calls that have begun count no more. The next stop after that without a `reason` in its
        `details`, at which that function has returned, is reported with the reason `RETURNED`.
        """
        if self._depth:
            for forget in self._forget:
                forget(event)
            self._depth, self._abandoned = 0, True
        elif self._abandoned and "reason" not in event.details:
            self._abandoned = False
            self._events.expect_stop(RETURNED)
        self._events._on_stop(event)

    def wrap_request(self, request: Callable[[], object]) -> Callable[[], object]:
        """Return a function that does as `request`, and puts GDB's `inferior_running` right afterwards.

        `request` is the function of one DAP request, whose result it returns and whose exceptions it raises. If `inferior_running` was
        False before and is True at its end, it is set to whether a thread runs. The count of calls begins anew.
        """

        def run() -> object:
            """Call `request`, and return what it returns; then put `inferior_running` right, also after an error."""
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
    """Return whether a thread of GDB's selected inferior runs."""
    return any(each.is_running() for each in gdb.selected_inferior().threads())


@CALLS
def keep_stopped(patch: Any) -> None:
    """Patch GDB's DAP: connect a `CallCount` to calls, resumes and stops, in place of its listeners.

    The constructor of GDB's `Cancellable`, in which each DAP request runs, is replaced by one that passes
    `CallCount.wrap_request` of the request. `patch` is this patch's `patching.Row`: it calls this function when
    it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit: `Cancellable` cannot be replaced; `Row.apply` undoes and reports that.
        ImportError, AttributeError: GDB's DAP lacks a module or listener; likewise.
    """
    events: Any = importlib.import_module("gdb.dap.events")
    report, *forget = map(listener, RESUMED)
    calls = CallCount(events, forget)
    connect_instead(patch, gdb.events.inferior_call, calls.on_call, [listener(CALLED)])
    connect_instead(patch, gdb.events.cont, calls.on_resume, [report, *forget])
    connect_instead(patch, gdb.events.stop, calls.on_stop, [listener(STOPPED)])

    def create(stock: Any, self: Any, fn: Callable[[], object], *rest: Any, **named: Any) -> object:
        """Do as `Cancellable.__init__` (`stock`), with a request that puts `inferior_running` right."""
        return stock(self, calls.wrap_request(fn), *rest, **named)

    patch.replace(REQUEST)(create)


def listener(target: str) -> Listener:
    """Import and return the function of GDB's DAP that `target` names, as `module:name(parameters)`."""
    module, _, name = target.partition("(")[0].partition(":")
    found: Listener = getattr(importlib.import_module(module), name)
    return found


def connect_instead(patch: Any, event: Any, ours: Listener, stock: list[Listener]) -> None:
    """Connect `ours` to an event of GDB's in place of the functions `stock`, until the patch is undone.

    `patch` is the `patching.Row` of this change, a patch that can be off. `event` is GDB's registry of listeners,
    such as `gdb.events.stop`; the functions `stock` are disconnected from it. Where `ours` raises, the `stock`
    functions are called for that event. Unless it was a `RecursionError` or `MemoryError`, the patch is off from
    then on, which is reported, and they are called for each later event. Undoing the patch connects the `stock`
    functions again.
    """

    def pass_to_stock(emitted: Any) -> None:
        for each in stock:
            each(emitted)

    guarded = patch.guard(ours, pass_to_stock)
    for each in stock:
        event.disconnect(each)
    event.connect(guarded)

    def put_back() -> None:
        event.disconnect(guarded)
        for each in stock:
            event.connect(each)

    patch.and_undo(put_back)


if gdb is not None:
    importlib.import_module("gdb_telling").report_by_dap()
    TURNS.apply()
    CALLS.apply()
