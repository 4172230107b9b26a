"""Lets a program run at its own speed until something in it is to be looked at.

Up to Python 3.11 pydevd traces by `sys.settrace`, which costs some 3 µs for each call of a function, needed or not. So no thread
is traced until there is a breakpoint, a step, a pause or a filter that needs it; from then on all are, as without this. A program of
one thread that goes on where nothing needs it any more is traced no longer. An exception that leaves the program, or a thread of it, is
shown when it does: its traceback still has all frames.
"""

from __future__ import annotations

import importlib
import importlib.abc
import sys
import threading
from typing import Any

from .. import patching
from ..exceptions import errors
from . import showing

ENABLE = "pydevd:PyDB.enable_tracing"
FUTURE = "pydevd:PyDB.patch_threads"
CHANGED = "pydevd:PyDB.on_breakpoints_changed"
SUSPEND = "pydevd:PyDB.set_suspend"
WAITS = "pydevd:PyDB.do_wait_suspend"
SET_TRACE = "pydevd:_locked_settrace"
EXECUTES = "pydevd:PyDB._exec"
THREAD = "_pydev_bundle.pydev_monkey:_NewThreadStartupWithTrace.__call__"
HOOK = "threading:_make_invoke_excepthook"
UNTRACED = patching.Row(
    "untraced-until-needed",
    "debugpy",
    "Up to Python 3.11 each call of a function takes about 3 µs longer, even where there is no breakpoint.",
    replaces={
        ENABLE: "self thread_trace_func= apply_to_all_threads=",
        FUTURE: "self",
        CHANGED: "self removed=",
        SUSPEND: "self thread stop_reason suspend_other_threads= is_pause= original_step_cmd= suspend_requested=",
        WAITS: "self thread frame event arg exception_type=",
        SET_TRACE: "host stdout_to_server stderr_to_server port suspend trace_only_current_thread patch_multiprocessing"
        " stop_at_frame block_until_connected wait_for_ready_to_run dont_trace_start_patterns dont_trace_end_patterns"
        " access_token client_access_token __setup_holder__ notify_stdin ppid",
        errors.UNHANDLED: "self thread frame frames_byid arg",
        EXECUTES: "self is_module entry_point_fn module_name file globals locals",
        THREAD: "self",
        HOOK: "",
    },
    uses=(
        "pydevd:PyDB#breakpoints",
        "pydevd:PyDB#function_breakpoint_name_to_breakpoint",
        "pydevd:PyDB#break_on_caught_exceptions",
        "pydevd:PyDB#break_on_user_uncaught_exceptions",
        "pydevd:PyDB#has_plugin_line_breaks",
        "pydevd:PyDB#has_plugin_exception_breaks",
        "pydevd:PyDB#thread_analyser",
        "pydevd:PyDB#frame_eval_func",
        "pydevd:PyDB#dummy_trace_dispatch",
        "pydevd:PyDB.set_tracing_for_untraced_contexts",
        "pydevd_tracing:set_trace_to_threads(tracing_func thread_idents= create_dummy_thread=)",
        "pydevd_tracing:SetTrace(tracing_func)",
        "pydevd_tracing:_load_python_helper_lib()",
        "_pydevd_bundle.pydevd_constants:STATE_SUSPEND",
        "threading:_trace_hook",
        "threading:_active",
    ),
)
NEEDS = (
    "breakpoints",
    "function_breakpoint_name_to_breakpoint",
    "break_on_caught_exceptions",
    "break_on_user_uncaught_exceptions",
    "has_plugin_line_breaks",
    "has_plugin_exception_breaks",
    "thread_analyser",
)
"""Attributes of a `PyDB`: while one is true, threads must be traced."""
OWN_STACKS = ("greenlet", "gevent", "eventlet", "PyQt5", "PyQt6", "PySide2", "PySide6")
"""Modules whose stacks or threads nothing reaches later: an importer is traced from then on."""


class Tracing:
    """Knows whether the threads of this process are traced by pydevd yet, and begins and ends that."""

    def __init__(self) -> None:
        self.is_on = True
        self.may_end = False
        """Whether there is no reason to trace all the time."""
        self._shown_exceptions: set[tuple[int, int]] = set()
        """Exceptions that were shown and still leave their threads, each by the thread and its own id."""

    def is_needed(self, debugger: Any) -> bool:
        """Return whether this thread may have to stop: it steps, pauses, or there is a breakpoint or filter.

        `debugger` is pydevd's `PyDB`; `NEEDS` has the attributes of it that count.
        """
        thread: Any = this_thread()
        known = getattr(thread, "additional_info", None)
        constants: Any = importlib.import_module("_pydevd_bundle.pydevd_constants")
        stops = constants.STATE_SUSPEND
        steps = known is not None and (known.pydev_step_cmd != -1 or known.pydev_state == stops)
        return steps or any(getattr(debugger, each) for each in NEEDS)

    def begin(self) -> None:
        """Trace all threads by pydevd from now on, if they are not traced yet and there is a debugger.

        `threading.settrace` is set for later threads, unless the program has set one. The debugger's
        threads are left alone.

        Raises:
            Misfit: Threads that ran already cannot be traced; later ones are, and `is_on` is True.
        """
        debugger: Any = importlib.import_module("pydevd").get_global_debugger()
        if self.is_on or debugger is None:
            return
        self.is_on = True
        tracing: Any = importlib.import_module("pydevd_tracing")
        from ..collecting import tracing as roads

        tracer = debugger.trace_dispatch
        if debugger.frame_eval_func is not None:
            debugger.frame_eval_func()
            tracer = debugger.dummy_trace_dispatch
        idents = roads.threads_of_program(debugger)
        known: Any = threading
        if known._trace_hook is None:
            known.settrace(debugger.trace_dispatch)
        failed = tracing.set_trace_to_threads(tracer, idents, False)  # noqa: FBT003
        debugger.set_tracing_for_untraced_contexts()
        if failed:
            raise patching.Misfit("threads that ran already cannot be traced")

    def begin_for_good(self) -> None:
        """Trace all threads by pydevd from now on, and never stop that, whether anything needs it or not."""
        self.may_end = False
        self.begin()

    def end(self) -> None:
        """Stop tracing this thread by pydevd, if it is the program's only thread and nothing needs tracing.

        Call it right before the thread is resumed. Breakpoints, steps, and exception filters other than for
        uncaught ones need tracing. Nothing happens where the program has set a trace function of its own, where
        tracing began for good, or without a debugger. Later threads are not traced either, until `begin` is
        called.
        """
        debugger: Any = importlib.import_module("pydevd").get_global_debugger()
        if not self.is_on or not self.may_end or debugger is None or self.is_needed(debugger):
            return
        from ..collecting import tracing as roads

        frames = roads.traced_frames()
        tracers = [sys.gettrace(), *(each.f_trace for each in frames)]
        if not all(map(roads.is_pydevds, tracers)) or len(roads.threads_of_program(debugger)) > 1:
            return
        for each in frames:
            each.f_trace = None
        known: Any = threading
        if known._trace_hook == debugger.trace_dispatch:
            known.settrace(None)
        importlib.import_module("pydevd_tracing").SetTrace(None)
        self.is_on = False

    def show(self) -> None:
        """Stop at the exception that is being handled, which leaves the program or a thread of it.

        Where the debugger stops at uncaught exceptions, the method blocks until the user resumes. Each exception is
        shown once in each thread. Nothing happens if no exception is being handled, while threads are traced
        (`is_on`), since pydevd itself stops then, nor in a thread of the debugger's or one that `threading` does
        not know.
        """
        error = sys.exc_info()
        if self.is_on or error[1] is None or self.was_shown(error[1]):
            return
        thread: Any = this_thread()
        if thread is None or getattr(thread, "pydev_do_not_trace", None):
            return
        showing.show(error)
        self._shown_exceptions.add((threading.get_ident(), id(error[1])))

    def was_shown(self, error: Any) -> bool:
        """Return whether `show` has shown an exception in this thread."""
        return (threading.get_ident(), id(error)) in self._shown_exceptions

    def forget(self) -> None:
        """Forget what was shown in this thread, since a new exception may get the id of one that is gone."""
        here = threading.get_ident()
        self._shown_exceptions -= {each for each in self._shown_exceptions if each[0] == here}


tracing = Tracing()


def this_thread() -> Any:
    """Return the `threading.Thread` of this thread; None if Python knows none.

    It makes none, as `threading.current_thread` would.
    """
    known: Any = threading
    return known._active.get(threading.get_ident())


@UNTRACED
def trace_when_needed(patch: Any) -> None:
    """Patch pydevd so that it traces no thread until something needs it.

    Nothing changes from Python 3.12 on, with gevent, or where pydevd has begun already. `patch` is this
    patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was
    replaced and removes the finder that is inserted at the front of `sys.meta_path`.

    Raises:
        Misfit: debugpy has no helper for this processor that traces running threads, and nothing is changed;
            or a function of pydevd that is to be replaced is missing or otherwise than expected.
    """
    pydevd: Any = importlib.import_module("pydevd")
    if sys.version_info >= (3, 12) or pydevd.get_global_debugger() is not None:
        return
    if importlib.import_module("_pydevd_bundle.pydevd_constants").SUPPORT_GEVENT:
        return
    if importlib.import_module("pydevd_tracing")._load_python_helper_lib() is None:
        raise patching.Misfit(
            "debugpy has no helper for this processor that traces running threads"
        )
    tracing.is_on, tracing.may_end = False, True
    delay_tracing_until_needed(patch)
    begin_at_stops(patch)
    show_what_leaves(patch)
    finder = OwnStacks(patch)
    patch.and_undo(finder.leave)
    sys.meta_path.insert(0, finder)


def delay_tracing_until_needed(patch: Any) -> None:
    """Replace three functions of pydevd, so that it begins to trace only once something needs it.

    Until then its `enable_tracing` does nothing, and its `patch_threads` leaves `threading.settrace` as it was; a
    change of breakpoints, or `enable_tracing`, begins the tracing of all threads where a breakpoint, step, pause or
    filter needs it. `patch` is the `patching.Row` `UNTRACED`, whose `undo` puts the functions back. The caller has
    set `tracing.is_on` to False before.

    Raises:
        Misfit: One of these functions of pydevd is not as it is known, or the row does not state it.
    """

    @patch.replace(ENABLE)
    def enable(stock: Any, self: Any, *given: Any, **named: Any) -> Any:
        if not tracing.is_on and not tracing.is_needed(self):
            return None
        tracing.begin()
        return stock(self, *given, **named)

    @patch.replace(FUTURE)
    def trace_future_threads(stock: Any, self: Any, *given: Any, **named: Any) -> Any:
        """Do as pydevd's `patch_threads`, but leave `threading.settrace` as it was while nothing is traced."""
        known: Any = threading
        before = known._trace_hook
        result = stock(self, *given, **named)
        if not tracing.is_on:
            known.settrace(before)
        return result

    @patch.replace(CHANGED)
    def changed(stock: Any, self: Any, *given: Any, **named: Any) -> Any:
        if self.ready_to_run and tracing.is_needed(self):
            tracing.begin()
        return stock(self, *given, **named)


def begin_at_stops(patch: Any) -> None:
    """Replace the functions of pydevd that stop threads, so that tracing begins before a stop.

    With these, all threads are traced from just before a thread is suspended, or the program calls
    `breakpoint()`. When the thread is resumed, tracing ends again if nothing needs it, except after a stop
    for an exception. `patch` is the `patching.Row` `UNTRACED`, whose `undo` puts the functions back.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """

    @patch.replace(SUSPEND)
    def suspend(
        stock: Any, self: Any, thread: Any, stop_reason: Any, *given: Any, **named: Any
    ) -> Any:
        # The other threads are to stop, too.
        tracing.begin()
        return stock(self, thread, stop_reason, *given, **named)

    end = patch.guard(tracing.end, lambda: None)

    @patch.replace(WAITS)
    def wait(
        stock: Any, self: Any, thread: Any, frame: Any, event: Any, *given: Any, **named: Any
    ) -> Any:
        result = stock(self, thread, frame, event, *given, **named)
        # An exception that was shown at its raise is known to pydevd's tracers until it is caught.
        if event != "exception":
            end()
        return result

    @patch.replace(SET_TRACE)
    def set_trace(stock: Any, *given: Any, **named: Any) -> Any:
        # The program itself asks for a stop: `breakpoint()`.
        tracing.begin()
        return stock(*given, **named)


def show_what_leaves(patch: Any) -> None:
    """Replace what runs the program and its threads, so that an exception that leaves them is shown.

    Shown means that the thread stops at it until it is resumed, where the debugger stops at uncaught exceptions
    (while pydevd traces, it does that itself); it is raised on after that. An exception that was shown here does
    not stop the thread again. `patch` is the `patching.Row` `UNTRACED`, whose `undo` puts back what was replaced.

    Raises:
        Misfit, ImportError, AttributeError: pydevd or Python lacks what is to be replaced; `Row.apply` catches
            this.
    """
    show = patch.guard(tracing.show, lambda: None)

    def was_shown(error: Any) -> bool:
        return tracing.was_shown(error[1])

    errors.skip_stops(patch, was_shown)

    def shows(stock: Any, *given: Any, **named: Any) -> Any:
        """Call the stock function, and show what it raises."""
        try:
            return stock(*given, **named)
        except BaseException:
            show()
            raise

    patch.replace(EXECUTES)(shows)
    patch.replace(THREAD)(shows)

    @patch.replace(HOOK)
    def make(stock: Any, *given: Any, **named: Any) -> Any:
        """Return Python's function that handles what leaves a thread, after showing that."""
        invoke = stock(*given, **named)

        def shown(*given: Any, **named: Any) -> Any:
            show()
            try:
                return invoke(*given, **named)
            finally:
                tracing.forget()

        return shown


class OwnStacks(importlib.abc.MetaPathFinder):
    """An import finder that begins tracing when the program imports one of `OWN_STACKS`."""

    def __init__(self, patch: Any) -> None:
        self._begin = patch.guard(tracing.begin_for_good, lambda: None)

    def find_spec(self, fullname: str, *_: object) -> None:
        """Return None, so that others import it; begin tracing for good if it is one of `OWN_STACKS`."""
        if fullname in OWN_STACKS:
            self._begin()

    def leave(self) -> None:
        """Remove itself from `sys.meta_path`."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
