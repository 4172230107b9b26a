"""Collecting by tracers around pydevd's, up to Python 3.11.

Whatever pydevd sets as the tracer of a thread, or of a frame, is wrapped. A frame with a point tells ours each of its lines, and
then pydevd's. About other code pydevd's alone decides, and where it has decided to skip it is not asked again.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

contexts: Any = importlib.import_module("in_debuggee.dapeer_contexts")

if TYPE_CHECKING:
    # Python 3.8 cannot make this type.
    Recorders = dict[int, Callable[[Any, str], Any]]
    """What records at a line; it returns True when it has recorded enough."""

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
        self._codes: dict[int, tuple[Any, Recorders]] = {}
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
        for _code, recorders in self._codes.values():
            recorders.clear()
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
            recorders = self.recorders(frame)
            inner = frame.f_trace
            if is_made_by(inner, frame_tracer):
                inner = inner_of(inner)
            if recorders:
                frame.f_trace = frame_tracer(recorders, inner)
            frame = frame.f_back

    def recorders(self, frame: Any) -> Recorders:
        """Return what records in a frame's code, by line."""
        code = frame.f_code
        known = self._codes.get(id(code))
        if known is None:
            found: Recorders = self._bound.recorders(frame) if self._bound is not None else {}
            known = self._codes[id(code)] = (code, found)
        return known[1]


def thread_tracer(tracing: Road, inner: Any) -> Any:
    """Return a tracer of threads that calls another one."""
    skipped, recorders_of = tracing.skipped, tracing.recorders
    arguments: Any = getattr(inner, "_args", None)
    thread: Any = arguments[2] if arguments else None
    skips: Any = arguments[3] if arguments else ()

    def trace(frame: Any, event: str, argument: Any) -> Any:
        code = id(frame.f_code)
        if code in skipped and thread.pydev_step_cmd == RUNS_ON:
            return None
        recorders = recorders_of(frame)
        local = inner(frame, event, argument)
        if recorders:
            return frame_tracer(recorders, local)
        if thread is None:
            # pydevd has begun with this thread, and has set the tracer of its outermost frame.
            tracing.adopt(frame.f_back)
        elif local is None and thread.pydev_step_cmd == RUNS_ON and frame.f_code in skips:
            skipped[code] = frame.f_code
        return local

    return trace


def frame_tracer(recorders: Recorders, inner: Any) -> Any:
    """Return a tracer of a frame that records, and calls another one."""
    context = ""
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


def made_code(maker: Any) -> types.CodeType:
    """Return the code of the tracers that a function makes."""
    return next(each for each in maker.__code__.co_consts if isinstance(each, types.CodeType))


MADE = {maker: made_code(maker) for maker in (thread_tracer, frame_tracer)}


def is_made_by(tracer: Any, maker: Any) -> bool:
    """Whether a tracer is one of ours."""
    return getattr(tracer, "__code__", None) is MADE[maker]


def inner_of(tracer: Any) -> Any:
    """Return the tracer that one of ours calls."""
    return tracer.__closure__[tracer.__code__.co_freevars.index("inner")].cell_contents
