"""Collecting by `sys.monitoring`, since Python 3.12, with a tool of its own beside pydevd's.

Codes are found when they begin or go on; after that Python tells only of the lines that have a point, and the rest runs at its own speed.
"""

from __future__ import annotations

import atexit
import itertools
import sys
from typing import Any

from .. import guard
from ..stops import watching
from . import points

TOOLS = (3, 4)
"""Numbers that no kind of tool has for itself."""
NAME = "dapeer"
ROWS_BETWEEN_LOOKS = 32
"""After so many rows it is looked which line has them."""
UNKNOWN: tuple[Any, Any] = None, points.CodePlan()
"""A code that is not known, and nothing that is recorded of it."""
current: Any = sys._getframe  # pyright: ignore[reportPrivateUsage]
UP = 2
"""Frames from a function that is called by a hook to the program's."""


class MonitoringHooks:
    """Calls recorders at lines and calls, by `sys.monitoring`; from Python 3.12 on."""

    def __init__(self) -> None:
        self._tool: int | None = None
        self._bound_points: Any = None
        self._codes: dict[int, tuple[Any, Any]] = {}
        """By number: to compare codes takes as long as they are."""
        self._frames: dict[int, tuple[int, Any]] = {}
        """By number of a frame the line that it was at, and what was seen there."""
        self._last_recorder: Any = None
        """What has recorded when that was looked at."""
        of_python: Any = sys
        self._sys_monitoring: Any = of_python.monitoring
        self._at_exit: Any = guard.hook(self.end)

    def begin(self, bound: Any) -> str:
        """Record at the points of `bound` from now on, in all threads and frames, and at no others.

        `bound` is a `points.BoundPoints`, which replaces the whole earlier one. Return why nothing can be recorded, for
        a sentence; empty: all is well. The first call takes a free number of `sys.monitoring` for dapeer's tool,
        and registers its release at exit; if no number is free, nothing changes.
        """
        if self._tool is None:
            self._tool = next(
                (each for each in TOOLS if not self._sys_monitoring.get_tool(each)), None
            )
            if self._tool is None:
                return "sys.monitoring has no number left for another tool"
            self._sys_monitoring.use_tool_id(self._tool, NAME)
            # What runs later finds the names of our modules gone.
            atexit.register(self._at_exit)
        self._clear_plans()
        self._bound_points = bound
        self._listen(self._callbacks())
        events = self._sys_monitoring.events
        self._sys_monitoring.set_events(self._tool, events.PY_START | events.PY_RESUME)
        of_python: Any = sys
        for frame in of_python._current_frames().values():
            self._ensure_plans(frame)
        # What was found to have no point may have one now.
        self._sys_monitoring.restart_events()
        return ""

    def end(self) -> None:
        """Record nothing more, and give the number of our tool back; do nothing if it has not begun.

        The number is the tool id of `sys.monitoring`, of which all events are switched off and all callbacks removed.
        The plans of what to record are cleared, and nothing of this object is called any more when the program exits.
        """
        if self._tool is None:
            return
        self._clear_plans()
        self._sys_monitoring.set_events(self._tool, 0)
        self._listen(dict.fromkeys(self._callbacks()))
        atexit.unregister(self._at_exit)
        self._sys_monitoring.free_tool_id(self._tool)
        self._tool = None

    def _callbacks(self) -> dict[int, Any]:
        """Return our callbacks by the numbers of the events of `sys.monitoring` that are used.

        What they call is guarded: its errors do not reach the program. That of lines depends on whether anything is
        watched at present.
        """
        events = self._sys_monitoring.events
        watches = self._bound_points is not None and self._bound_points.watches
        return {
            events.PY_START: guard.hook(self._record_entry),
            events.PY_RESUME: guard.hook(self._plan_resumed_code),
            events.LINE: self._watching_caller() if watches else self._line_caller(),
            events.PY_RETURN: guard.hook(self._record_return),
            events.PY_UNWIND: guard.hook(self._record_unwinding),
        }

    def _listen(self, callbacks: dict[int, Any]) -> None:
        for event, callback in callbacks.items():
            self._sys_monitoring.register_callback(self._tool, event, callback)

    def _clear_plans(self) -> None:
        """Clear all plans, and switch off the events of the codes that had some.

        What was known of running frames is forgotten.
        """
        for code, plan in list(self._codes.values()):
            plan.clear()
            self._sys_monitoring.set_local_events(self._tool, code, 0)
        self._codes = {}
        self._frames = {}
        self._last_recorder = None

    def _ensure_plans(self, frame: Any) -> None:
        """Make the plans of a running frame and of its callers, and begin watching where they have that."""
        while frame is not None:
            plan = self._ensure_plan(frame)
            if plan is not None and plan.watching is not None:
                self._frames[id(frame)] = plan.watching.begin(frame)
            frame = frame.f_back

    def _ensure_plan(self, frame: Any) -> Any:
        """Return the plan of a frame's code; switch on the events of `sys.monitoring` that a new plan needs.

        A new plan is made by the `points.BoundPoints`, and kept for the code; its events are switched on only then. They
        are switched on for this code alone, except `PY_UNWIND`, which a plan with calls or watching switches on for
        all code. None: nothing is recorded of this code; that is not kept, so the next call asks again.
        """
        code = frame.f_code
        known = self._codes.get(id(code))
        if known is not None:
            return known[1]
        plan = self._bound_points.plan(frame)
        if not plan:
            return None
        self._codes[id(code)] = code, plan
        events = self._sys_monitoring.events
        events_on = events.LINE if plan.lines or plan.watching else 0
        if plan.calls or plan.watching:
            # Python has no event of one code for a call that ends by an exception.
            events_on |= events.PY_RETURN
            everywhere = self._sys_monitoring.get_events(self._tool)
            self._sys_monitoring.set_events(self._tool, everywhere | events.PY_UNWIND)
        self._sys_monitoring.set_local_events(self._tool, code, events_on)
        return plan

    def _record_entry(self, _code: Any, _place: int) -> Any:
        """Record that a function begins; return `DISABLE` if its code has no plan, else None.

        A code has no plan where nothing is recorded or watched and no breakpoint of a function stops; with
        `DISABLE`, Python does not call this method for the code again until the events are restarted. The
        method is the callback of `PY_START`; it takes the frame of the function from the stack. The first
        call for a code makes its plan, and switches on further events for it. A thread may stop here, at a
        breakpoint of the function.
        """
        frame = current(UP)
        plan = self._ensure_plan(frame)
        if plan is None:
            return self._sys_monitoring.DISABLE
        # A frame that is over may have had the same number.
        plan.cached_context = points.NOWHERE
        if plan.enters or plan.calls or plan.stops:
            plan.enter(frame)
        return None

    def _plan_resumed_code(self, _code: Any, _place: int) -> Any:
        """Make the plan of a generator's or coroutine's code that goes on; return `DISABLE`: once is enough."""
        self._ensure_plan(current(UP))
        return self._sys_monitoring.DISABLE

    def _record_return(self, code: Any, _place: int, result: Any) -> Any:
        """Record a call that has returned `result`; return `DISABLE` for a code without such a plan."""
        known = self._codes.get(id(code))
        if known is None or not (known[1].calls or known[1].watching):
            return self._sys_monitoring.DISABLE
        self._record_call_end(known[1], current(UP), result, None)
        return None

    def _record_unwinding(self, code: Any, _place: int, error: Any) -> None:
        """Record a call that ends by the exception `error`."""
        known = self._codes.get(id(code))
        if known is not None:
            self._record_call_end(known[1], current(UP), None, error)

    def _line_caller(self) -> Any:
        """Return the callback for `LINE` events of `sys.monitoring`; it records at each line with a point.

        The callback takes the code object and the line; it returns `DISABLE` for a line without a recorder, so that
        Python calls it there no more, and else None. A recorder that has enough rows is removed, so the next event of
        its line is disabled. The callback is for times when nothing is watched; what it calls catches its own errors,
        so nothing is raised into the program.
        """
        find, disable = self._codes.get, self._sys_monitoring.DISABLE
        stay, call_alone = guard.hook(points.CodePlan.cache_context), guard.hook(self._call_alone)
        latest: tuple[Any, Any] = UNKNOWN
        turns = itertools.cycle(range(ROWS_BETWEEN_LOOKS))

        def called(code: Any, line: int, up: int = 1) -> Any:
            """Record at a line with its recorder; return `DISABLE` where the line has none, else None.

            `up` is how many frames below this function's the program's frame is. A recorder that has enough is removed from the plan. Now
            and then a line that is hit again and again gets a faster callback (`_call_alone`).
            """
            nonlocal latest
            known, plan = latest
            if known is not code:
                known, plan = latest = find(id(code), UNKNOWN)
            record = plan.lines.get(line)
            if record is None:
                return disable
            frame = current(up)
            number, around = plan.cached_context
            if number != id(frame):
                around = stay(plan, frame) or ""
            if record(frame, around):
                plan.lines.pop(line, None)
            if not next(turns):
                call_alone(code, line, plan, called)
            return None

        return called

    def _call_alone(self, code: Any, line: int, plan: Any, elsewhere: Any) -> None:
        """Register a line's own recorder as the callback of lines, if the last call was for that line, too.

        The registered callback needs less time, and calls `elsewhere`, the general callback, at every other line. If the last call of this
        method was for another line, this one is only remembered for the next call; nothing is registered either if the recorder has no
        such callback or monitoring has ended. `code` is the frame's code object, `line` the line in it, and `plan` its
        `points.CodePlan`.
        """
        record = plan.lines.get(line)
        before, self._last_recorder = self._last_recorder, record
        alone = getattr(record, "called", None)
        if record is before and alone is not None and self._tool is not None:
            called = alone(code, line, plan, elsewhere, current, id)
            self._sys_monitoring.register_callback(
                self._tool, self._sys_monitoring.events.LINE, called
            )

    def _watching_caller(self) -> Any:
        """Return the callback of lines where something is watched: it looks for changes, and then records.

        Where a watched thing has changed, it may stop the thread, and returns when that is resumed. It takes a code
        object and a line, and returns `DISABLE` for a line at which nothing is watched or recorded, else None. It is
        guarded: only Ctrl+C, or what the program's signal handler raises, leaves it.
        """
        find, disable, look = self._codes.get, self._sys_monitoring.DISABLE, self._look

        def called(code: Any, line: int) -> Any:
            """Look for changes at a line, and record; return `DISABLE` where neither is wanted, else None.

            The thread may stop here until it is resumed.
            """
            _known, plan = find(id(code), UNKNOWN)
            record = plan.lines.get(line)
            if record is None and plan.watching is None:
                return disable
            frame = current(UP)
            if plan.watching is not None:
                look(plan, frame, "line", None)
            if record is not None and record(frame, plan.context(frame)):
                plan.lines.pop(line, None)
            return None

        return guard.hook(called)

    def _look(self, plan: Any, frame: Any, event: str, argument: Any) -> None:
        """Look whether something that is watched has changed, and stop the thread there if that is wanted.

        Rows of what has changed may be written, and the frame's line is remembered for the next look. If the thread is
        stopped, the call returns when it is resumed; if the watch is over by then, `plan.watching` becomes None before
        the stop. `plan` is the `points.CodePlan` of the frame's code, whose `watching` is not None. `event` and
        `argument` are those of a trace function, such as `line` and None.
        """
        look = plan.watching
        before, seen = self._frames.get(id(frame)) or (0, {})
        self._frames[id(frame)] = frame.f_lineno, seen
        if look.look(frame, before, seen, event):
            plan.watching = None if look.over else look
            watching.suspend(frame, event, argument)

    def _record_call_end(self, plan: Any, frame: Any, result: Any, error: Any) -> None:
        """Look once more and record the end of a call, which has returned `result` or raised `error`.

        `plan` is the `points.CodePlan` of the frame's code.
        """
        if plan.watching is not None:
            self._look(plan, frame, "return", result)
            self._frames.pop(id(frame), None)
        plan.leave(frame, result, error)
