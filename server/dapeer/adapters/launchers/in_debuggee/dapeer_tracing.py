"""Collecting by tracers around pydevd's, up to Python 3.11.

Whatever pydevd sets as the tracer of a thread, or of a frame, is wrapped. A frame with a point tells ours each of its lines, and
then pydevd's. About other code pydevd's alone decides, and where it has decided to skip it is not asked again.
"""

from __future__ import annotations

import dis
import functools
import importlib
import inspect
import sys
import types
from typing import TYPE_CHECKING, Any

contexts: Any = importlib.import_module("in_debuggee.dapeer_contexts")
points: Any = importlib.import_module("in_debuggee.dapeer_points")

if TYPE_CHECKING:
    # Python 3.8 cannot make this type.
    Plan = Any
    """What is recorded of a code: `dapeer_points.Plan`."""

BEFORE = -1
"""The place of a frame that has not begun, up to Python 3.10."""
SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
RUNS_ON = -1
"""pydevd's command of a thread that does not step."""


class Road:
    """Has the recorders of lines called."""

    def __init__(self) -> None:
        """Find what pydevd traces by.

        Raises:
            ImportError, AttributeError: pydevd is not the one we know.
        """
        self._tracing: Any = importlib.import_module("pydevd_tracing")
        self._pydevd: Any = importlib.import_module("pydevd")
        debugger = self._pydevd.PyDB
        self._stock: dict[tuple[Any, str], Any] = {
            (owner, name): getattr(owner, name)
            for owner, name in (
                (self._tracing, "SetTrace"),
                (self._tracing, "set_trace_to_threads"),
                (debugger, "set_trace_for_frame_and_parents"),
                (debugger, "_clear_caches"),
            )
        }
        self._bound: Any = None
        self._codes: dict[int, tuple[Any, Plan]] = {}
        self.skipped: dict[int, Any] = {}
        """Codes that pydevd skips, by number; they are kept, or others might get their numbers."""

    def begin(self, bound: Any) -> str:
        """Record at these points from now on, in all threads and frames; return what is not reached."""
        again = self._bound is not None
        self._bound = bound
        self._forget()
        problem = "" if again else self._wrap_all()
        of_python: Any = sys
        for frame in of_python._current_frames().values():
            self.adopt(frame)
        return problem

    def end(self) -> None:
        """Record nothing more, and leave pydevd's tracers as they were."""
        if self._bound is None:
            return
        self._bound = None
        self._forget()
        for (owner, name), stock in self._stock.items():
            setattr(owner, name, stock)
        tracer: Any = sys.gettrace()
        debugger = self._pydevd.get_global_debugger()
        if debugger is not None and not debugger.pydb_disposed:
            self._tracing.set_trace_to_threads(debugger.trace_dispatch, create_dummy_thread=False)
        if is_made_by(tracer, thread_tracer):
            self._tracing.SetTrace(inner_of(tracer))

    def _forget(self) -> None:
        """Have the tracers of running frames record nothing: they see that nothing is left."""
        for _code, plan in list(self._codes.values()):
            plan.clear()
        self._codes.clear()
        self.skipped.clear()

    def _wrap_all(self) -> str:
        """Wrap what pydevd has set, and what it will set; return what is not reached."""
        stock = {name: function for (_owner, name), function in self._stock.items()}

        def set_trace(tracer: Any) -> None:
            stock["SetTrace"](self._wrapped(tracer))

        def set_trace_to_threads(tracer: Any, *rest: Any, **named: Any) -> Any:
            return stock["set_trace_to_threads"](self._wrapped(tracer), *rest, **named)

        def set_trace_for_frame_and_parents(
            debugger: Any,
            thread: Any,
            frame: Any,
            **named: Any,
        ) -> None:
            stock["set_trace_for_frame_and_parents"](debugger, thread, frame, **named)
            self.adopt(frame)

        def _clear_caches(debugger: Any) -> None:
            stock["_clear_caches"](debugger)
            self.skipped.clear()

        ours = (set_trace, set_trace_to_threads, set_trace_for_frame_and_parents, _clear_caches)
        for (owner, name), function in zip(self._stock, ours):
            setattr(owner, name, function)
        tracer = sys.gettrace()
        debugger = self._pydevd.get_global_debugger()
        result = set_trace_to_threads(debugger.trace_dispatch, create_dummy_thread=False)
        if tracer is not None:
            set_trace(tracer)
        return "" if result == 0 else "threads that ran before are not collected from"

    def _wrapped(self, tracer: Any) -> Any:
        """Return a thread's tracer that calls another one."""
        known = tracer is None or is_made_by(tracer, thread_tracer)
        return tracer if known else thread_tracer(self, tracer)

    def adopt(self, frame: Any) -> None:
        """Trace a frame that runs already, and those that have called it, where they have points."""
        while frame is not None:
            plan = self.plan(frame)
            inner = frame.f_trace
            if is_made_by(inner, line_tracer, call_tracer):
                inner = inner_of(inner)
            if plan:
                frame.f_trace = frame_tracer(plan, inner)
            frame = frame.f_back

    def plan(self, frame: Any) -> Plan:
        """Return what is recorded of a frame's code."""
        code = frame.f_code
        known = self._codes.get(id(code))
        if known is None:
            made = self._bound.plan(frame) if self._bound is not None else points.Plan()
            known = self._codes[id(code)] = (code, made)
        return known[1]


def thread_tracer(tracing: Road, inner: Any) -> Any:
    """Return a tracer of threads that calls another one."""
    skipped, plan_of = tracing.skipped, tracing.plan
    arguments: Any = getattr(inner, "_args", None)
    thread: Any = arguments[2] if arguments else None
    skips: Any = arguments[3] if arguments else ()

    def trace(frame: Any, event: str, argument: Any) -> Any:
        code = id(frame.f_code)
        if code in skipped and thread.pydev_step_cmd == RUNS_ON:
            return None
        plan = plan_of(frame)
        if plan:
            begin(plan, frame)
            return frame_tracer(plan, inner(frame, event, argument))
        local = inner(frame, event, argument)
        if thread is None:
            # pydevd has begun with this thread, and has set the tracer of its outermost frame.
            tracing.adopt(frame.f_back)
        elif local is None and thread.pydev_step_cmd == RUNS_ON and frame.f_code in skips:
            skipped[code] = frame.f_code
        return local

    return trace


def begin(plan: Plan, frame: Any) -> None:
    """Record that a frame begins, unless it is a generator's or coroutine's that goes on."""
    if frame.f_code.co_flags & SUSPENDS and frame.f_lasti > first_of(frame.f_code):
        return
    plan.enter(frame, contexts.context)


@functools.lru_cache(maxsize=10000)
def first_of(code: Any) -> int:
    """Return the place up to which a generator's or coroutine's frame has not begun."""
    resumes = [each.offset for each in dis.get_instructions(code) if each.opname == "RESUME"]
    return resumes[0] if resumes else BEFORE


def frame_tracer(plan: Plan, inner: Any) -> Any:
    """Return a tracer of a frame that records, and calls another one."""
    return call_tracer(plan, inner) if plan.calls else line_tracer(plan, inner)


def line_tracer(plan: Plan, inner: Any) -> Any:
    """Return one that records at lines."""
    context = ""
    recorders = plan.lines
    find = recorders.get

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal inner, context
        if event == "line":
            record = find(frame.f_lineno)
            if record is not None:
                context = context or contexts.context(frame)
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


def call_tracer(plan: Plan, inner: Any) -> Any:
    """Return one that records a call, too."""
    lines = line_tracer(plan, None)
    raised: Any = None

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal inner, raised
        if not plan:
            # Nothing is collected any more.
            frame.f_trace = inner
            return inner(frame, event, argument) if inner is not None else None
        if event == "line":
            raised = None
            if plan.lines:
                lines(frame, event, argument)
        elif event == "exception":
            raised = argument[1]
        elif event == "return" and not is_suspended(frame):
            error = raised if argument is None and not returns(frame) else None
            plan.leave(frame, argument, error)
        if inner is not None:
            inner = inner(frame, event, argument)
        return trace

    return trace


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


MADE = {maker: made_code(maker) for maker in (thread_tracer, line_tracer, call_tracer)}


def is_made_by(tracer: Any, *makers: Any) -> bool:
    """Whether a tracer is one of ours."""
    code = getattr(tracer, "__code__", None)
    return code is not None and any(code is MADE[each] for each in makers)


def inner_of(tracer: Any) -> Any:
    """Return the tracer that one of ours calls."""
    return tracer.__closure__[tracer.__code__.co_freevars.index("inner")].cell_contents
