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
    """Return a tracer of threads that calls another one."""
    skipped, plan_of, adopt = tracing.skipped, guard.hook(tracing.plan), guard.hook(tracing.adopt)
    arguments = arguments_of(inner)
    thread: Any = arguments[2] if arguments else None
    skips: Any = arguments[3] if arguments else ()

    def trace(frame: Any, event: str, argument: Any) -> Any:
        code = id(frame.f_code)
        if thread is not None and code in skipped and thread.pydev_step_cmd == RUNS_ON:
            return None
        plan = plan_of(frame)
        if plan:
            begins(plan, frame)
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
    """Return what pydevd's tracer of a thread holds, with its state and codes to skip; None: another's."""
    wrapped: Any = getattr(tracer, "get_method_object", None)
    found: Any = tracer if wrapped is None else wrapped()
    return getattr(getattr(found, "__self__", found), "_args", None)


@guard.hook
def begins(plan: Any, frame: Any) -> None:
    """Record that a frame begins, unless it is a generator's or coroutine's that goes on."""
    if frame.f_code.co_flags & SUSPENDS and frame.f_lasti > first_of(frame.f_code):
        return
    plan.enter(frame)


@functools.lru_cache(maxsize=10000)
def first_of(code: Any) -> int:
    """Return the place up to which a generator's or coroutine's frame has not begun."""
    resumes = [each.offset for each in dis.get_instructions(code) if each.opname == "RESUME"]
    return resumes[0] if resumes else NOT_STARTED


@guard.hook
def traced(plan: Any, inner: Any) -> Any:
    """Return the tracer of a frame that begins; None: there is none."""
    return frame_tracer(plan, inner)


def frame_tracer(plan: Any, inner: Any) -> Any:
    """Return a tracer of a frame that records, and calls another one."""
    made = call_tracer(plan, inner) if plan.calls else line_tracer(plan, inner)
    return watch_tracer(plan, made) if plan.watching is not None else made


def running_tracer(plan: Any, inner: Any, frame: Any) -> Any:
    """Return a tracer of a frame that has begun already."""
    if plan.watching is None:
        return frame_tracer(plan, inner)
    made = call_tracer(plan, inner) if plan.calls else line_tracer(plan, inner)
    return watch_tracer(plan, made, *plan.watching.begin(frame))


def line_tracer(plan: Any, inner: Any) -> Any:
    """Return one that records at lines."""
    context: Any = 0
    recorders, context_of = plan.lines, guard.hook(plan.context)
    find = recorders.get

    def trace(frame: Any, event: str, argument: Any) -> Any:
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
    """Return one that records a call, too."""
    lines = line_tracer(plan, None)
    raised: list[Any] = [None]

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal inner
        if not plan:
            # Nothing is collected any more.
            frame.f_trace = inner
            return inner(frame, event, argument) if inner is not None else None
        if event == "line" and plan.lines:
            lines(frame, event, argument)
        called(plan, raised, frame, event, argument)
        if inner is not None:
            inner = inner(frame, event, argument)
        return trace

    return trace


@guard.hook
def called(plan: Any, raised: list[Any], frame: Any, event: str, argument: Any) -> None:
    """Record a call that is over; keep what was raised in it."""
    if event == "line":
        raised[0] = remembered(raised[0])
    elif event == "exception":
        raised[0] = argument[1]
    elif event == "return" and not is_suspended(frame):
        error = raised[0] if argument is None and not returns(frame) else None
        raised[0] = None
        plan.leave(frame, argument, error)


def remembered(raised: Any) -> Any:
    """Return the cell of an exception that may leave a function later; to hold it would keep it alive."""
    return raised if raised is None or type(raised) is str else cells.failed(raised)


def watch_tracer(plan: Any, inner: Any, before: int = 0, known: Any = None) -> Any:
    """Return one that looks after each line whether something has changed.

    Args:
        plan: What is watched.
        inner: The tracer that is called, too.
        before: The line that the frame is at; 0: it has just begun.
        known: What is known of what is watched.
    """
    seen: dict[Any, Any] = known or {}

    def trace(frame: Any, event: str, argument: Any) -> Any:
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
    """Look for changes, and stop there if that is due; return whether the thread has stopped."""
    look = plan.watching
    if not look.look(frame, before, seen, event):
        return False
    plan.watching = None if look.over else look
    watching.suspend(frame, event, argument)
    return True


def is_suspended(frame: Any) -> bool:
    """Whether a frame that gives a value back goes on later."""
    if not frame.f_code.co_flags & SUSPENDS:
        return False
    names, place = operations(frame.f_code), frame.f_lasti
    return names.get(place) == "YIELD_VALUE" or names.get(place + 2) == "YIELD_FROM"


def returns(frame: Any) -> bool:
    """Whether a frame that gives a value back returns it, and has not raised an exception."""
    return str(operations(frame.f_code).get(frame.f_lasti)).startswith("RETURN")


@functools.lru_cache(maxsize=1000)
def operations(code: Any) -> Any:
    """Return the names of a code's instructions by place."""
    return {each.offset: each.opname for each in dis.get_instructions(code)}


def made_code(maker: Any) -> types.CodeType:
    """Return the code of the tracers that a function makes."""
    return next(each for each in maker.__code__.co_consts if isinstance(each, types.CodeType))


FRAMES = (line_tracer, call_tracer, watch_tracer)
MADE = {maker: made_code(maker) for maker in (thread_tracer, *FRAMES)}


def is_made_by(tracer: Any, *makers: Any) -> bool:
    """Whether a tracer is one of ours."""
    code = getattr(tracer, "__code__", None)
    return code is not None and any(code is MADE[each] for each in makers)


def inner_of(tracer: Any) -> Any:
    """Return the tracer that one of ours calls."""
    return tracer.__closure__[tracer.__code__.co_freevars.index("inner")].cell_contents
