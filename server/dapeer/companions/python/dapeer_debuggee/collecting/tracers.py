"""Tracers around pydevd's: of a thread, and of a frame of which lines, calls or changes are recorded.

What they do themselves cannot fail: they call hooks (`guard`), recorders, which are guarded, too, and pydevd's own tracer.
"""

from __future__ import annotations

import dis
import functools
import types
from typing import Any

from .. import guard
from ..stops import watching
from ..values import cells
from .points import SUSPENDS

NOT_STARTED = -1
"""The place of a frame that has not begun, up to Python 3.10."""
RUNS_ON = -1
"""pydevd's command of a thread that does not step."""


def thread_tracer(tracing: Any, inner: Any) -> Any:
    """Return a thread's trace function that records and calls `inner`, pydevd's own.

    `tracing` is the `tracing.TracingHooks` that has the plans.
    """
    skipped, plan_of, adopt = tracing.skipped, guard.hook(tracing.plan), guard.hook(tracing.adopt)
    arguments = arguments_of(inner)
    thread: Any = arguments[2] if arguments else None
    skips: Any = arguments[3] if arguments else ()

    def trace(frame: Any, event: str, argument: Any) -> Any:
        """Record that a frame begins; return the frame's trace function, or what pydevd's returns."""
        code = id(frame.f_code)
        if thread is not None and code in skipped and thread.pydev_step_cmd == RUNS_ON:
            return None
        plan = plan_of(frame)
        if plan:
            record_begin(plan, frame)
            local = inner(frame, event, argument)
            return (traced(plan, local) or local) if plan.records else local
        local = inner(frame, event, argument)
        if thread is None:
            # pydevd has begun with this thread, and has set the tracer of its outermost frame.
            adopt(frame.f_back)
        elif local is None and thread.pydev_step_cmd == RUNS_ON and frame.f_code in skips:
            skipped[code] = frame.f_code
        return local

    return trace


def arguments_of(tracer: Any) -> Any:
    """Return the arguments that pydevd's trace function of a thread holds; None: it is not pydevd's.

    The third is the thread's state, the fourth the codes that it skips.
    """
    wrapped: Any = getattr(tracer, "get_method_object", None)
    found: Any = tracer if wrapped is None else wrapped()
    return getattr(getattr(found, "__self__", found), "_args", None)


@guard.hook
def record_begin(plan: Any, frame: Any) -> None:
    """Record that a frame begins, unless it is a generator's or coroutine's that goes on."""
    if frame.f_code.co_flags & SUSPENDS and frame.f_lasti > first_of(frame.f_code):
        return
    plan.enter(frame)


@functools.lru_cache(maxsize=10000)
def first_of(code: Any) -> int:
    """Return the last place of an instruction at which a generator's or coroutine's frame has not begun."""
    resumes = [each.offset for each in dis.get_instructions(code) if each.opname == "RESUME"]
    return resumes[0] if resumes else NOT_STARTED


@guard.hook
def traced(plan: Any, inner: Any) -> Any:
    """Return the trace function of a frame that begins, around `inner`; None: making it has failed."""
    return frame_tracer(plan, inner)


def frame_tracer(plan: Any, inner: Any) -> Any:
    """Return a frame's trace function that records as its `plan` says, and calls `inner`.

    `inner` is pydevd's, or None.
    """
    made = call_tracer(plan, inner) if plan.calls else line_tracer(plan, inner)
    return watch_tracer(plan, made) if plan.watching is not None else made


def running_tracer(plan: Any, inner: Any, frame: Any) -> Any:
    """Return a frame's trace function as `frame_tracer` does, for a frame that has begun already.

    Its watching begins now. `plan` is the `points.CodePlan` of the frame's code, `inner` pydevd's trace function or None.
    """
    if plan.watching is None:
        return frame_tracer(plan, inner)
    made = call_tracer(plan, inner) if plan.calls else line_tracer(plan, inner)
    return watch_tracer(plan, made, *plan.watching.begin(frame))


def line_tracer(plan: Any, inner: Any) -> Any:
    """Return a frame's trace function that records at lines, and calls `inner`, pydevd's or None.

    `plan` is the `points.CodePlan` of the frame's code.
    """
    context: Any = 0
    recorders, context_of = plan.lines, guard.hook(plan.context)
    find = recorders.get

    def trace(frame: Any, event: str, argument: Any) -> Any:
        """Record at a line; when nothing is collected any more, set `inner` in its own place."""
        nonlocal inner, context
        if event == "line":
            record = find(frame.f_lineno)
            if record is not None:
                context = context or context_of(frame) or ""
                if record(frame, context):
                    recorders.pop(frame.f_lineno, None)
            elif not recorders:
                # Nothing is collected any more.
                frame.f_trace = inner
                return inner(frame, event, argument) if inner is not None else None
        if inner is not None:
            inner = inner(frame, event, argument)
        return trace

    return trace


def call_tracer(plan: Any, inner: Any) -> Any:
    """Return a frame's trace function that records lines and the call's end, and calls `inner`.

    `plan` is the `points.CodePlan` of the frame's code.
    """
    lines = line_tracer(plan, None)
    raised: list[Any] = [None]

    def trace(frame: Any, event: str, argument: Any) -> Any:
        """Record; when nothing is collected any more, set `inner` in its own place."""
        nonlocal inner
        if not plan:
            # Nothing is collected any more.
            frame.f_trace = inner
            return inner(frame, event, argument) if inner is not None else None
        if event == "line" and plan.lines:
            lines(frame, event, argument)
        record_end(plan, raised, frame, event, argument)
        if inner is not None:
            inner = inner(frame, event, argument)
        return trace

    return trace


@guard.hook
def record_end(plan: Any, raised: list[Any], frame: Any, event: str, argument: Any) -> None:
    """Record the end of a call at its `return` event; keep in `raised` what was raised in it before.

    `raised` is a list of one: an exception, its cell, or None. `event` and `argument` are those of a trace function. `plan` is the
    `points.CodePlan` of the frame's code.
    """
    if event == "line":
        raised[0] = remembered(raised[0])
    elif event == "exception":
        raised[0] = argument[1]
    elif event == "return" and not is_suspended(frame):
        error = raised[0] if argument is None and not returns(frame) else None
        raised[0] = None
        plan.leave(frame, argument, error)


def remembered(raised: Any) -> Any:
    """Return the cell of an exception, since keeping the exception itself would keep its frames alive.

    A cell or None is returned as it is.
    """
    return raised if raised is None or type(raised) is str else cells.failed(raised)


def watch_tracer(plan: Any, inner: Any, before: int = 0, known: Any = None) -> Any:
    """Return a frame's trace function that looks after each line whether something watched has changed.

    Args:
        plan: The `points.CodePlan`, whose `watching` looks.
        inner: The trace function that is called behind it, or None.
        before: The line that the frame is at; 0: it has just begun.
        known: What is known of what is watched.
    """
    seen: dict[Any, Any] = known or {}

    def trace(frame: Any, event: str, argument: Any) -> Any:
        """Look for changes; when nothing is watched any more, set `inner` in its own place."""
        nonlocal inner, before
        if plan.watching is None:
            # Nothing is watched any more.
            frame.f_trace = inner
            return inner(frame, event, argument) if inner is not None else None
        if event != "exception":
            stopped = looks(plan, before, seen, frame, event, argument)
            if stopped and frame.f_trace is not trace:
                # Whoever looked at the stop wants to see more of this frame.
                return frame.f_trace
            before = frame.f_lineno
        if inner is not None:
            inner = inner(frame, event, argument)
        return trace

    return trace


@guard.hook
def looks(
    plan: Any, before: int, seen: dict[Any, Any], frame: Any, event: str, argument: Any
) -> bool:
    """Look for changes, and stop there if that is due; return whether the thread has stopped.

    `before` is the line before, `seen` what is known of what is watched in this call; `event` and `argument` are a trace function's. `plan`
    is the `points.CodePlan` of the frame's code: its `watching` becomes None when that is over.
    """
    look = plan.watching
    if not look.look(frame, before, seen, event):
        return False
    plan.watching = None if look.over else look
    watching.suspend(frame, event, argument)
    return True


def is_suspended(frame: Any) -> bool:
    """Return whether a frame at its `return` event is a generator's or coroutine's that goes on later."""
    if not frame.f_code.co_flags & SUSPENDS:
        return False
    names, place = operations(frame.f_code), frame.f_lasti
    return names.get(place) == "YIELD_VALUE" or names.get(place + 2) == "YIELD_FROM"


def returns(frame: Any) -> bool:
    """Return whether a frame at its `return` event returns a value, and has not raised an exception."""
    return str(operations(frame.f_code).get(frame.f_lasti)).startswith("RETURN")


@functools.lru_cache(maxsize=1000)
def operations(code: Any) -> Any:
    """Return the names of a code object's instructions by their offsets, kept for later calls."""
    return {each.offset: each.opname for each in dis.get_instructions(code)}


def made_code(maker: Any) -> types.CodeType:
    """Return the code object of the function `trace` that a function of this module makes."""
    return next(each for each in maker.__code__.co_consts if isinstance(each, types.CodeType))


FRAMES = (line_tracer, call_tracer, watch_tracer)
MADE = {maker: made_code(maker) for maker in (thread_tracer, *FRAMES)}


def is_made_by(tracer: Any, *makers: Any) -> bool:
    """Return whether a trace function is one that one of `makers` (functions of this module) has made."""
    code = getattr(tracer, "__code__", None)
    return code is not None and any(code is MADE[each] for each in makers)


def inner_of(tracer: Any) -> Any:
    """Return the trace function that one of ours calls, from its closure."""
    return tracer.__closure__[tracer.__code__.co_freevars.index("inner")].cell_contents
