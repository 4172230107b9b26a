"""Collecting by tracers around pydevd's, up to Python 3.11.

Whatever pydevd sets as the tracer of a thread, or of a frame, is wrapped. A frame with a point tells ours each of its lines, and
then pydevd's. About other code pydevd's alone decides, and where it has decided to skip it is not asked again.
"""

from __future__ import annotations

import importlib
import sys
import threading
from typing import TYPE_CHECKING, Any

points: Any = importlib.import_module("in_debuggee.dapeer_points")
tracers: Any = importlib.import_module("in_debuggee.dapeer_tracers")
watching: Any = importlib.import_module("in_debuggee.dapeer_watching")

if TYPE_CHECKING:
    # Python 3.8 cannot make this type.
    Plan = Any
    """What is recorded of a code: `dapeer_points.Plan`."""


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
            idents = threads_of_program(debugger)
            self._tracing.set_trace_to_threads(debugger.trace_dispatch, idents, False)  # noqa: FBT003
        if tracers.is_made_by(tracer, tracers.thread_tracer):
            self._tracing.SetTrace(tracers.inner_of(tracer))

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
        idents = threads_of_program(debugger)
        result = set_trace_to_threads(debugger.trace_dispatch, idents, False)  # noqa: FBT003
        if tracer is not None:
            set_trace(tracer)
        return "" if result == 0 else "threads that ran before are not collected from"

    def _wrapped(self, tracer: Any) -> Any:
        """Return a thread's tracer that calls another one."""
        known = tracer is None or tracers.is_made_by(tracer, tracers.thread_tracer)
        return tracer if known else tracers.thread_tracer(self, tracer)

    def adopt(self, frame: Any) -> None:
        """Trace a frame that runs already, and those that have called it, where they have points."""
        suspended = False
        while frame is not None:
            plan = self.plan(frame)
            inner = innermost(frame.f_trace)
            if plan and suspended:
                frame.f_trace = Later(frame, plan, inner)
            elif plan:
                frame.f_trace = tracers.running_tracer(plan, inner, frame)
            suspended = watching.is_own(frame)
            frame = frame.f_back

    def plan(self, frame: Any) -> Plan:
        """Return what is recorded of a frame's code."""
        code = frame.f_code
        known = self._codes.get(id(code))
        if known is None:
            made = self._bound.plan(frame) if self._bound is not None else points.Plan()
            known = self._codes[id(code)] = (code, made)
        return known[1]


def innermost(tracer: Any) -> Any:
    """Return the tracer of a frame that the frame would have without ours."""
    while tracers.is_made_by(tracer, *tracers.FRAMES):
        tracer = tracers.inner_of(tracer)
    return innermost(tracer.inner) if type(tracer) is Later else tracer


class Later:
    """The tracer of a frame that pydevd has suspended: Python replaces it when the frame goes on, by what pydevd's tracer returns.

    So it traces again when it is gone.
    """

    def __init__(self, frame: Any, plan: Any, inner: Any) -> None:
        self._frame = frame
        self._plan = plan
        self.inner = inner
        self._replaced = False

    def __call__(self, frame: Any, event: str, argument: Any) -> Any:
        """Trace, where it was not replaced."""
        self._replaced = True
        return tracers.frame_tracer(self._plan, self.inner)(frame, event, argument)

    def __del__(self) -> None:
        """Trace as what has replaced it does, and record."""
        now = self._frame.f_trace
        if self._plan and now is not None and not self._replaced:
            self._frame.f_trace = tracers.running_tracer(self._plan, innermost(now), self._frame)


def threads_of_program(debugger: Any) -> list[int]:
    """Return the numbers of the threads that run, but for the debugger's; `threading.enumerate` does not tell of those."""
    of_python: Any = sys
    known: Any = threading
    own = {each.ident for each in debugger.created_pydb_daemon_threads}
    own |= {
        ident
        for ident, each in list(known._active.items())
        if getattr(each, "pydev_do_not_trace", False)
        or getattr(each, "is_pydev_daemon_thread", False)
    }
    return [ident for ident in of_python._current_frames() if ident not in own]
