"""Collecting by tracers around pydevd's, up to Python 3.11.

Whatever pydevd sets as the tracer of a thread, or of a frame, is wrapped. A frame with a point tells ours each of its lines, and
then pydevd's. About other code pydevd's alone decides, and where it has decided to skip it is not asked again.
"""

from __future__ import annotations

import dis
import functools
import importlib
import sys
import threading
import types
from typing import TYPE_CHECKING, Any

from .. import guard, patching
from ..stops import watching
from ..values import cells, forms
from . import points
from .points import SUSPENDS

# Tracers around pydevd's: of a thread, and of a frame of which lines, calls or changes are recorded.
#
# What they do themselves cannot fail: they call hooks (`guard`), recorders, which are guarded, too, and pydevd's own tracer.

RUNS_ON = -1
"""pydevd's command of a thread that does not step."""


def thread_tracer(tracing: Any, inner: Any) -> Any:
    """Return a thread's trace function that records and calls `inner`, pydevd's own.

    `tracing` is the `tracing.TracingHooks` that has the plans (what is recorded in which code). The trace
    function calls the recorders of a frame that begins, and returns a trace function of ours for a frame in
    which lines or ends are recorded, else what `inner` returns. It returns None, without calling `inner`, for
    code that pydevd has skipped before, while the thread does not step. The thread is not changed here: the
    caller sets the function.
    """
    skipped, plan_of, adopt = tracing.skipped, guard.hook(tracing.plan), guard.hook(tracing.adopt)
    arguments = arguments_of(inner)
    thread: Any = arguments[2] if arguments else None
    skips: Any = arguments[3] if arguments else ()

    def trace(frame: Any, event: str, argument: Any) -> Any:
        """Record that a frame begins; return the frame's trace function, or what pydevd's (`inner`) returns.

        Return None for code of which pydevd has said that it skips it, while the thread does not step.
        """
        code = id(frame.f_code)
        if thread is not None and code in skipped and thread.pydev_step_cmd == RUNS_ON:
            return None
        plan = plan_of(frame)
        if plan:
            record_begin(plan, frame)
            local = inner(frame, event, argument)
            return (begin_frame_tracer(plan, local) or local) if plan.records else local
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
    if frame.f_code.co_flags & SUSPENDS and frame.f_lasti > forms.first_of(frame.f_code):
        return
    plan.enter(frame)


@guard.hook
def begin_frame_tracer(plan: Any, inner: Any) -> Any:
    """Return the trace function of a frame that begins, around `inner`; None: making it has failed."""
    return frame_tracer(plan, inner)


def frame_tracer(plan: Any, inner: Any) -> Any:
    """Return a frame's trace function that records as its `plan` says, and calls `inner`.

    `inner` is pydevd's trace function, or None. `plan` is the `points.CodePlan` of the frame's code. The function sets `inner` in its own
    place once nothing is collected or watched any more.
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

    `plan` is the `points.CodePlan` of the frame's code; its `lines` have, by line number, what records there for
    the points (places that collect). `inner` gets every event, and what it returns takes its place. A line whose
    points want no more hits is removed from `plan.lines`. At the first line event after `plan.lines` has become
    empty, the function sets `frame.f_trace` to `inner`, and returns what `inner` returns, or None without it.
    """
    context: Any = 0
    recorders, context_of = plan.lines, guard.hook(plan.context)
    find = recorders.get

    def trace(frame: Any, event: str, argument: Any) -> Any:
        """Record at a line; when nothing is collected any more, set `inner` in its own place.

        Return itself, for the next event of the frame, or then what `inner` returns, None without it.
        """
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

    `plan` is the `points.CodePlan` of the frame's code, `inner` pydevd's trace function or None: it gets every event, and what it returns
    takes its place. At the first event after `plan` has become false, since nothing is collected any more, the function sets
    `frame.f_trace` to `inner`, and returns what `inner` returns, or None without it.
    """
    lines = line_tracer(plan, None)
    raised: list[Any] = [None]

    def trace(frame: Any, event: str, argument: Any) -> Any:
        """Record a line or the call's end; when nothing is collected any more, set `inner` in its own place.

        Return itself, for the next event of the frame, or then what `inner` returns, None without it.
        """
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

    The thread may stop then, until it is resumed. `raised` is a list of one, which is changed: an exception, from
    the next `line` event on only its cell (the text that a row has for it), or None; at the end of the call it
    becomes None. `event` and `argument` are those of a trace function. A generator's or coroutine's suspension is
    no end. `plan` is the `points.CodePlan` of the frame's code.
    """
    if event == "line":
        raised[0] = exception_cell(raised[0])
    elif event == "exception":
        raised[0] = argument[1]
    elif event == "return" and not is_suspended(frame):
        error = raised[0] if argument is None and not returns(frame) else None
        raised[0] = None
        plan.leave(frame, argument, error)


def exception_cell(raised: Any) -> Any:
    """Return the cell of an exception, since keeping the exception itself would keep its frames alive.

    A cell or None is returned as it is.
    """
    return raised if raised is None or type(raised) is str else cells.error_cell(raised)


def watch_tracer(plan: Any, inner: Any, before: int = 0, known: Any = None) -> Any:
    """Return a frame's trace function that looks after each line whether something watched has changed.

    That function may stop the thread, if the watch wants that; it then returns when the thread is resumed. It
    returns itself, or the trace function that was set in the frame while the thread was stopped. At the first event
    after `plan.watching` has become None, it sets `frame.f_trace` to `inner`, and returns what `inner` returns, or
    None.

    Args:
        plan: The `points.CodePlan` of the frame's code; its `watching` looks.
        inner: The trace function that is called behind it, or None.
        before: The line that the frame is at; 0: it has just begun.
        known: What was seen of the watched things when watching began, as `plan.watching.begin` returns it; the
            trace function may change it. None or empty: nothing yet.
    """
    seen: dict[Any, Any] = known or {}

    def trace(frame: Any, event: str, argument: Any) -> Any:
        """Look for changes; when nothing is watched any more, set `inner` in its own place.

        Return itself, for the next event of the frame, or then what `inner` returns. Where the thread has stopped and the user steps on, it
        returns the trace function that pydevd has set.
        """
        nonlocal inner, before
        if plan.watching is None:
            # Nothing is watched any more.
            frame.f_trace = inner
            return inner(frame, event, argument) if inner is not None else None
        if event != "exception":
            stopped = look_for_changes(plan, before, seen, frame, event, argument)
            if stopped and frame.f_trace is not trace:
                # Whoever looked at the stop wants to see more of this frame.
                return frame.f_trace
            before = frame.f_lineno
        if inner is not None:
            inner = inner(frame, event, argument)
        return trace

    return trace


@guard.hook
def look_for_changes(
    plan: Any, before: int, seen: dict[Any, Any], frame: Any, event: str, argument: Any
) -> bool:
    """Look for changes, and stop the thread if a watch wants that; return whether a watch wanted it.

    A stop lasts until the user resumes. None: looking has failed (`guard.hook`). `before` is the line before,
    `seen` what is known of what is watched in this call; `event` and `argument` are a trace function's. `plan` is
    the `points.CodePlan` of the frame's code, which must have a `watching`: that becomes None if it is over with
    this stop.
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
        self._bound_points: Any = None
        self._codes: dict[int, tuple[Any, Plan]] = {}
        self.skipped: dict[int, Any] = {}
        """Codes that pydevd skips, by number; they are kept, or others might get their numbers."""

    def begin(self, bound: Any) -> str:
        """Record at the points of `bound` from now on, in all threads and in the frames on their stacks.

        `bound` is a `points.BoundPoints`, which replaces that of an earlier call. The first call, also after `end`,
        wraps pydevd's trace functions in all threads, and returns a sentence if threads that ran before cannot be
        reached, else an empty text. Later calls only wrap the trace functions of the frames on the stacks, and always
        return an empty text.
        """
        again = self._bound_points is not None
        self._bound_points = bound
        self._clear_plans()
        problem = "" if again else self._wrap_all()
        of_python: Any = sys
        for frame in of_python._current_frames().values():
            self.adopt(frame)
        return problem

    def end(self) -> None:
        """Record nothing more, and give the program's threads pydevd's own trace function again.

        Nothing happens if the recording has not begun. If pydevd has ended, only the
        caller's thread gets its function back.
        """
        if self._bound_points is None:
            return
        self._bound_points = None
        self._clear_plans()
        TRACERS.undo()
        tracer: Any = sys.gettrace()
        debugger = self._pydevd.get_global_debugger()
        if debugger is not None and not debugger.pydb_disposed:
            idents = threads_of_program(debugger)
            self._tracing.set_trace_to_threads(debugger.trace_dispatch, idents, False)  # noqa: FBT003
        if is_made_by(tracer, thread_tracer):
            self._tracing.SetTrace(inner_of(tracer))

    def _clear_plans(self) -> None:
        """Clear all plans, so that the tracers of running frames record nothing more."""
        for _code, plan in list(self._codes.values()):
            plan.clear()
        self._codes.clear()
        self.skipped.clear()

    def _wrap_all(self) -> str:
        """Replace pydevd's trace functions in all threads, now and in future, by dapeer's around them.

        dapeer's trace functions collect, and call pydevd's. Return as text what is not reached, such as threads
        that ran before; empty: all threads are. A program that ran without tracing is traced from now on. If the
        calling thread has another trace function, it keeps that one, wrapped, too.
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

    def _wrap(self, patch: Any) -> None:
        """Replace the functions of pydevd that set trace functions, so that ours are set around them.

        Those that get a trace function get ours around it; after the one that sets trace functions in the
        frames of a thread, `adopt` sets ours in the frames with points. When pydevd clears its caches,
        `self.skipped` is emptied. `patch` is this patch's `patching.Row`, which calls this function when it
        is applied; its `undo` puts back what was replaced.

        Raises:
            Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
        """

        @patch.replace(SET)
        def set_trace(stock: Any, tracing_func: Any, *rest: Any, **named: Any) -> Any:
            return stock(self._wrapped(tracing_func), *rest, **named)

        @patch.replace(SET_IN_THREADS)
        def set_trace_to_threads(stock: Any, tracing_func: Any, *rest: Any, **named: Any) -> Any:
            return stock(self._wrapped(tracing_func), *rest, **named)

        @patch.replace(SET_IN_FRAMES)
        def set_trace_for_frame_and_parents(
            stock: Any, debugger: Any, thread_ident: Any, frame: Any, *rest: Any, **named: Any
        ) -> Any:
            result = stock(debugger, thread_ident, frame, *rest, **named)
            guard.hook(self.adopt)(frame)
            return result

        @patch.replace(CLEAR)
        def clear_caches(stock: Any, *given: Any, **named: Any) -> Any:
            result = stock(*given, **named)
            guard.hook(self.skipped.clear)()
            return result

    def _wrapped(self, tracer: Any) -> Any:
        """Return a thread's trace function around `tracer`; `tracer` itself if it is one, or this fails."""
        return guard.hook(self._wrapper)(tracer) or tracer

    def _wrapper(self, tracer: Any) -> Any:
        """Return a thread's trace function around `tracer`; None if it is None or already one of ours."""
        known = tracer is None or is_made_by(tracer, thread_tracer)
        return None if known else thread_tracer(self, tracer)

    def adopt(self, frame: Any) -> None:
        """Set the trace function of a running frame and of its callers, where they have points.

        A point is a place at which values are recorded. `frame` is any frame of a thread; with None nothing
        happens. In a frame that pydevd has suspended the recording trace function takes effect when the frame
        goes on. pydevd's own trace function is called within the new one.
        """
        suspended = False
        while frame is not None:
            plan = self.plan(frame)
            inner = innermost(frame.f_trace)
            if plan.records and suspended:
                frame.f_trace = ResumedFrameTracer(frame, plan, inner)
            elif plan.records:
                frame.f_trace = running_tracer(plan, inner, frame)
            suspended = watching.is_own(frame)
            frame = frame.f_back

    def plan(self, frame: Any) -> Plan:
        """Return the `points.CodePlan` of a frame's code, which is made once and kept.

        It is an empty one, which is false, where there is nothing to do.
        """
        code = frame.f_code
        known = self._codes.get(id(code))
        if known is None:
            made = (
                self._bound_points.plan(frame)
                if self._bound_points is not None
                else points.CodePlan()
            )
            known = self._codes[id(code)] = (code, made)
        return known[1]


def innermost(tracer: Any) -> Any:
    """Return the trace function that a frame would have without ours."""
    while is_made_by(tracer, *FRAMES):
        tracer = inner_of(tracer)
    return innermost(tracer.inner) if type(tracer) is ResumedFrameTracer else tracer


class ResumedFrameTracer:
    """The trace function of a frame that pydevd has suspended, which goes on recording after the resume.

    Python puts what pydevd's tracer returns in its place then; when this object is deleted, it puts a recording one around that.
    """

    def __init__(self, frame: Any, plan: Any, inner: Any) -> None:
        self._frame = frame
        self._plan = plan
        self.inner = inner
        self._is_replaced = False

    def __call__(self, frame: Any, event: str, argument: Any) -> Any:
        """Call the trace function that records and then pydevd's; return what that returns."""
        trace = guard.hook(self._tracer)() or self.inner
        return None if trace is None else trace(frame, event, argument)

    def _tracer(self) -> Any:
        self._is_replaced = True
        return frame_tracer(self._plan, self.inner)

    def __del__(self) -> None:
        """Set a trace function on the frame that does as what has replaced this one, and records."""
        guard.hook(self._trace_again)()

    def _trace_again(self) -> None:
        """Set a recording trace function around the one that the frame has now.

        Nothing happens if the plan has become empty, the frame is no longer traced, or an event of the frame has done it.
        """
        now = self._frame.f_trace
        if self._plan and now is not None and not self._is_replaced:
            self._frame.f_trace = running_tracer(self._plan, innermost(now), self._frame)


def is_pydevds(tracer: Any) -> bool:
    """Return whether a trace function is pydevd's.

    That is so if the function, or the object or function to which it is bound, is of a module of pydevd's. The result
    is also True for a trace function of dapeer's that has nothing left to do (`is_over`). For None it is False.
    """
    if getattr(tracer, "is_over", False):
        return True
    made: Any = getattr(tracer, "__self__", None) or getattr(tracer, "func", None) or tracer
    of_object, of_class = getattr(made, "__module__", None), made.__class__.__module__
    return any(
        str(each).startswith(("_pydevd_bundle.", "pydevd")) for each in (of_object, of_class)
    )


def traced_frames() -> list[Any]:
    """Return the frames of this thread that have a trace function of their own, the innermost first."""
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

    The numbers are those of `threading.get_ident`; threads that run no Python code are not among them.
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
