"""Collecting by tracers around pydevd's, up to Python 3.11.

Whatever pydevd sets as the tracer of a thread, or of a frame, is wrapped. A frame with a point tells ours each of its lines, and
then pydevd's. About other code pydevd's alone decides, and where it has decided to skip it is not asked again.
"""

from __future__ import annotations

import importlib
import sys
import threading
from typing import TYPE_CHECKING, Any

from .. import guard, patching
from ..stops import watching
from . import points, tracers

if TYPE_CHECKING:
    # Python 3.8 cannot make this type.
    Plan = Any
    """What is recorded of a code: `points.CodePlan`."""


SET = "pydevd_tracing:SetTrace"
SET_IN_THREADS = "pydevd_tracing:set_trace_to_threads"
SET_IN_FRAMES = "pydevd:PyDB.set_trace_for_frame_and_parents"
CLEAR = "pydevd:PyDB._clear_caches"
TRACERS = patching.Row(
    "collecting-tracers",
    "debugpy",
    "Up to Python 3.11 nothing is collected from threads and frames that the debugger begins to trace later.",
    replaces={
        SET: "tracing_func",
        SET_IN_THREADS: "tracing_func thread_idents= create_dummy_thread=",
        SET_IN_FRAMES: "self thread_ident frame **kwargs",
        CLEAR: "self",
    },
)


class TracingHooks:
    """Calls recorders at lines and calls, by trace functions around pydevd's; up to Python 3.11."""

    def __init__(self) -> None:
        """Import what pydevd traces by; nothing is traced yet.

        Raises:
            ImportError: pydevd is not the one we know.
        """
        self._tracing: Any = importlib.import_module("pydevd_tracing")
        self._pydevd: Any = importlib.import_module("pydevd")
        TRACERS(self._wrap)
        self._bound: Any = None
        self._codes: dict[int, tuple[Any, Plan]] = {}
        self.skipped: dict[int, Any] = {}
        """Codes that pydevd skips, by number; they are kept, or others might get their numbers."""

    def begin(self, bound: Any) -> str:
        """Record at these points from now on, in all threads and frames.

        Return what is not reached, empty: all is. `bound` is a `points.Bound`, which replaces an earlier one.
        """
        again = self._bound is not None
        self._bound = bound
        self._forget()
        problem = "" if again else self._wrap_all()
        of_python: Any = sys
        for frame in of_python._current_frames().values():
            self.adopt(frame)
        return problem

    def end(self) -> None:
        """Record nothing more, and set pydevd's own trace functions again; nothing if it has not begun."""
        if self._bound is None:
            return
        self._bound = None
        self._forget()
        TRACERS.undo()
        tracer: Any = sys.gettrace()
        debugger = self._pydevd.get_global_debugger()
        if debugger is not None and not debugger.pydb_disposed:
            idents = threads_of_program(debugger)
            self._tracing.set_trace_to_threads(debugger.trace_dispatch, idents, False)  # noqa: FBT003
        if tracers.is_made_by(tracer, tracers.thread_tracer):
            self._tracing.SetTrace(tracers.inner_of(tracer))

    def _forget(self) -> None:
        """Clear all plans, so that the tracers of running frames record nothing more."""
        for _code, plan in list(self._codes.values()):
            plan.clear()
        self._codes.clear()
        self.skipped.clear()

    def _wrap_all(self) -> str:
        """Replace the trace functions of pydevd in all threads by ours around them, now and in the future.

        Return as text what is not reached, such as threads that ran before; empty: all is.
        """
        untraced: Any = sys.modules.get("dapeer_debuggee.process.untraced")
        if untraced is not None:
            untraced.tracing.begin()
        TRACERS.apply()
        tracer = sys.gettrace()
        debugger = self._pydevd.get_global_debugger()
        idents = threads_of_program(debugger)
        wrapped = self._wrapped(debugger.trace_dispatch)
        result = self._tracing.set_trace_to_threads(wrapped, idents, False)  # noqa: FBT003
        if tracer is not None:
            self._tracing.SetTrace(self._wrapped(tracer))
        return "" if result == 0 else "threads that ran before are not collected from"

    def _wrap(self, row: Any) -> None:
        """Replace the functions of pydevd that set trace functions by ones that wrap these.

        `row` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
        """

        @row.replace(SET)
        def set_trace(stock: Any, tracing_func: Any, *rest: Any, **named: Any) -> Any:
            return stock(self._wrapped(tracing_func), *rest, **named)

        @row.replace(SET_IN_THREADS)
        def set_trace_to_threads(stock: Any, tracing_func: Any, *rest: Any, **named: Any) -> Any:
            return stock(self._wrapped(tracing_func), *rest, **named)

        @row.replace(SET_IN_FRAMES)
        def set_trace_for_frame_and_parents(
            stock: Any, debugger: Any, thread_ident: Any, frame: Any, *rest: Any, **named: Any
        ) -> Any:
            result = stock(debugger, thread_ident, frame, *rest, **named)
            guard.hook(self.adopt)(frame)
            return result

        @row.replace(CLEAR)
        def clear_caches(stock: Any, *given: Any, **named: Any) -> Any:
            result = stock(*given, **named)
            guard.hook(self.skipped.clear)()
            return result

    def _wrapped(self, tracer: Any) -> Any:
        """Return a thread's trace function around `tracer`; `tracer` itself if it is one, or this fails."""
        return guard.hook(self._wrapper)(tracer) or tracer

    def _wrapper(self, tracer: Any) -> Any:
        """Return a thread's trace function around `tracer`; None if it is None or already one of ours."""
        known = tracer is None or tracers.is_made_by(tracer, tracers.thread_tracer)
        return None if known else tracers.thread_tracer(self, tracer)

    def adopt(self, frame: Any) -> None:
        """Set the trace function of a running frame and of its callers, where they have points."""
        suspended = False
        while frame is not None:
            plan = self.plan(frame)
            inner = innermost(frame.f_trace)
            if plan.records and suspended:
                frame.f_trace = Later(frame, plan, inner)
            elif plan.records:
                frame.f_trace = tracers.running_tracer(plan, inner, frame)
            suspended = watching.is_own(frame)
            frame = frame.f_back

    def plan(self, frame: Any) -> Plan:
        """Return the `points.CodePlan` of a frame's code, which is made once and kept."""
        code = frame.f_code
        known = self._codes.get(id(code))
        if known is None:
            made = self._bound.plan(frame) if self._bound is not None else points.CodePlan()
            known = self._codes[id(code)] = (code, made)
        return known[1]


def innermost(tracer: Any) -> Any:
    """Return the trace function that a frame would have without ours."""
    while tracers.is_made_by(tracer, *tracers.FRAMES):
        tracer = tracers.inner_of(tracer)
    return innermost(tracer.inner) if type(tracer) is Later else tracer


class Later:
    """The trace function of a frame that pydevd has suspended, which goes on recording after the resume.

    Python puts what pydevd's tracer returns in its place then; when this object is deleted, it puts a recording one around that.
    """

    def __init__(self, frame: Any, plan: Any, inner: Any) -> None:
        self._frame = frame
        self._plan = plan
        self.inner = inner
        self._replaced = False

    def __call__(self, frame: Any, event: str, argument: Any) -> Any:
        """Call the trace function that records and then pydevd's; return what that returns."""
        trace = guard.hook(self._tracer)() or self.inner
        return None if trace is None else trace(frame, event, argument)

    def _tracer(self) -> Any:
        self._replaced = True
        return tracers.frame_tracer(self._plan, self.inner)

    def __del__(self) -> None:
        """Set a trace function on the frame that does as what has replaced this one, and records."""
        guard.hook(self._trace_again)()

    def _trace_again(self) -> None:
        """Set a recording trace function around the one that the frame has now.

        Nothing happens if the plan has become empty, the frame is no longer traced, or an event of the frame has done it.
        """
        now = self._frame.f_trace
        if self._plan and now is not None and not self._replaced:
            self._frame.f_trace = tracers.running_tracer(self._plan, innermost(now), self._frame)


def is_pydevds(tracer: Any) -> bool:
    """Return whether pydevd has made a trace function.

    True also for one of ours that has nothing left to do.
    """
    if getattr(tracer, "is_over", False):
        return True
    made: Any = getattr(tracer, "__self__", None) or getattr(tracer, "func", None) or tracer
    of_object, of_class = getattr(made, "__module__", None), made.__class__.__module__
    return any(
        str(each).startswith(("_pydevd_bundle.", "pydevd")) for each in (of_object, of_class)
    )


def traced_frames() -> list[Any]:
    """Return the frames of this thread that have a tracer of their own."""
    found: list[Any] = []
    of_python: Any = sys
    frame: Any = of_python._getframe(1)
    while frame is not None:
        if frame.f_trace is not None:
            found.append(frame)
        frame = frame.f_back
    return found


def threads_of_program(debugger: Any) -> list[int]:
    """Return the numbers of all running threads but the debugger's.

    `debugger` is pydevd's `PyDB`. `threading.enumerate` would leave out some of the program's.
    """
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
