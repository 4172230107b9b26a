"""Adds to exceptions what pydevd leaves out: a group's members, worker processes, chains in order.

At the recursion limit Python switches tracing off, so pydevd misses that error: it is shown to pydevd when it leaves
the program.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from .. import guard, patching
from ..process import showing
from . import tracebacks

LISTS = "_pydevd_bundle.pydevd_frame_utils"
BUILT = "_pydevd_bundle.pydevd_comm:build_exception_info_response"
BUILT_IN_ANSWERS = "_pydevd_bundle.pydevd_net_command_factory_json:build_exception_info_response"
BUILDS = "dbg thread_id thread request_seq set_additional_thread_info iter_visible_frames_info max_frames"
CAUSE = f"{LISTS}:create_frames_list_from_exception_cause"
UNHANDLED = "pydevd:PyDB.do_stop_on_unhandled_exception"
IGNORES = "pydevd:PyDB.ignore_system_exit_code"
RELOADED = ("WERKZEUG_RUN_MAIN", "RUN_MAIN")
"""Variables that the reloaders of Flask and Django set in the process that they start again."""
RELOAD = 3
"""The exit code by which that process asks for it."""

INFORM = patching.Row(
    "exception-texts",
    "debugpy",
    "The members of an exception group, the worker process of an error, and its place in a library are not shown.",
    replaces={BUILT: BUILDS, BUILT_IN_ANSWERS: BUILDS},
)
INNERMOST_FIRST = patching.Row(
    "causes-in-order",
    "debugpy",
    "The frames of an exception's cause are shown with the outermost first.",
    replaces={CAUSE: "trace_obj frame exc_type exc_desc memo"},
    uses=(f"{LISTS}:FramesList#_frames",),
)
NO_CURRENT = patching.Row(
    "exception-names",
    "debugpy",
    "The type of an exception is shown with a text of debugpy's own behind it.",
    uses=(f"{LISTS}:FramesList#current_frame", f"{LISTS}:FramesList.__init__(self)"),
)
UNTRACED = patching.Row(
    "recursion-errors",
    "debugpy",
    "The program does not stop where it exceeds Python's recursion limit.",
    replaces={UNHANDLED: "self thread frame frames_byid arg"},
    uses=(
        "_pydevd_bundle.pydevd_breakpoints:stop_on_unhandled_exception",
        "pydevd:get_global_debugger",
    ),
)
EXITS = patching.Row(
    "ends-that-are-no-errors",
    "debugpy",
    "The program stops where it ends itself by `sys.exit`, and where a reloader of Flask or Django starts the program again.",
    replaces={UNHANDLED: "self thread frame frames_byid arg", IGNORES: "self system_exit_exc"},
)


@INFORM
def inform(patch: Any) -> None:
    """Patch pydevd so that `exceptionInfo` gets the whole message of an exception, and its traceback.

    The message has lines about a group's members, the worker process and, where `justMyCode` hides libraries, the
    place in a library; the traceback has the causes in order, the latest last. `patch` is this patch's
    `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit: A function of pydevd's cannot be replaced.
    """

    def build(stock: Any, dbg: Any, thread_id: Any, thread: Any, *rest: Any, **named: Any) -> Any:
        """Return pydevd's response to `exceptionInfo`, with our message and traceback in place of its own.

        `stock` is pydevd's function. Its response is returned unchanged where the thread has no exception, and as far as it was made where
        classes of the program raise something.
        """
        response = stock(dbg, thread_id, thread, *rest, **named)
        frames: Any = dbg.suspended_frames_manager.get_frames_list(thread_id)
        error = getattr(frames, "exc_desc", None)
        if isinstance(error, BaseException):
            try:
                body = response.body
                # Of an exception without a message pydevd takes that of its cause, or has a text of its own.
                known = body.description if tracebacks.text_of(error) else ""
                message = tracebacks.message(error, known)
                if dbg.get_use_libraries_filter():
                    # `justMyCode` hides the frames of libraries.
                    message = "\n".join(filter(None, (message, tracebacks.library_place(error))))
                if not known and message:
                    message = f"\n{message}"
                body.description = body.details.message = message
                body.details.stackTrace = tracebacks.traceback_text(error)
            except Exception:  # classes of the program
                return response
        return response

    patch.replace(BUILT)(build)
    patch.replace(BUILT_IN_ANSWERS)(build)


@INNERMOST_FIRST
def innermost_first(patch: Any) -> None:
    """Patch pydevd so that the frames of an exception's causes have the order of all other stacks.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """

    @patch.replace(CAUSE, again=True)
    def create(stock: Any, *given: Any, **named: Any) -> Any:
        frames = stock(*given, **named)
        if frames is not None:
            frames._frames.reverse()
        return frames


@NO_CURRENT
def keep_names(patch: Any) -> None:
    """Patch pydevd so that no frame counts as that of an exception: it adds a text of its own there.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    patch.set(f"{LISTS}:FramesList.current_frame", property(lambda _: None, lambda _, __: None))


@UNTRACED
def show_untraced(patch: Any) -> None:
    """Replace the exception hooks, so that the program stops at uncaught exceptions that pydevd missed.

    These are `RecursionError`, at which Python ends tracing, and any `Exception` with frames of the program that
    reaches `sys.excepthook` without a stop before, such as from a loop in C (Qt's), which then goes on. The hooks
    of `sys` and `threading` first stop there, if the user wants stops at uncaught exceptions, and wait for the
    user to resume; then they do what they did before. pydevd's own stop is wrapped, to note which exception it
    has shown. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo`
    puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """
    last: list[int] = []

    def note(error: Any) -> bool:
        last[:] = [id(error[1])]
        return False

    skip_stops(patch, note)

    def show_if_unseen(error: Any, *, by_hook: bool = False) -> None:
        """Stop at an exception that pydevd has not seen; one that was shown already is passed by.

        It must be a `RecursionError`, or (`by_hook`) one with frames of the program that was given to `sys.excepthook`. `error` is type,
        exception and traceback. It returns when the user resumes.
        """
        untraced: Any = sys.modules.get("dapeer_debuggee.process.untraced")
        known = id(error[1]) in last or (untraced and untraced.tracing.was_shown(error[1]))
        # A loop in C, such as Qt's, gives what leaves a function of the program's to the hook, and goes on.
        left = by_hook and isinstance(error[1], Exception) and tracebacks.is_in_program(error[2])
        if not known and (left or isinstance(error[1], RecursionError)):
            showing.show(error)

    hook_ends(patch, show_if_unseen)


@EXITS
def pass_exits(patch: Any) -> None:
    """Patch pydevd so that it does not stop where the program ends by `SystemExit` or asks for a reload.

    pydevd still stops at `SystemExit` if the user has asked for stops at that exception. A reload is asked for by
    the exit code `RELOAD`, in a process that the reloader of Flask or Django has started. `patch` is this patch's
    `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit: pydevd lacks the class of such a function; `Row.apply` catches this.
        AttributeError: pydevd lacks such a function; `Row.apply` catches this, too.
    """

    def is_end(error: Any) -> bool:
        """Return whether an exception (type, itself, traceback) ends the program on purpose.

        It is False if the user has asked for stops at `SystemExit`.
        """
        debugger: Any = sys.modules["pydevd"].get_global_debugger()
        asked = getattr(debugger, "break_on_uncaught_exceptions", {})
        return issubclass(error[0], SystemExit) and "SystemExit" not in asked

    skip_stops(patch, is_end)

    @patch.replace(IGNORES)
    def ignores(stock: Any, self: Any, system_exit_exc: Any, *rest: Any, **named: Any) -> Any:
        code = getattr(system_exit_exc, "code", system_exit_exc)
        reloads = type(code) is int and code == RELOAD and any(map(os.environ.get, RELOADED))
        return reloads or stock(self, system_exit_exc, *rest, **named)


def skip_stops(patch: Any, is_passed: Callable[[Any], bool]) -> None:
    """Patch pydevd so that it does not stop at exceptions that leave the program, if `is_passed` says so.

    `is_passed` is called in the program at each such exception, with a tuple of the exception's type, the
    exception and its traceback, and returns True for no stop. If it raises an `Exception`, pydevd stops, and
    the row is off from then on, unless memory or stack room has run out. `patch` is the `patching.Row` for this
    change; its `replaces` must have the key `UNHANDLED`. When the row is undone, pydevd stops as before.

    Raises:
        Misfit: The row does not state `UNHANDLED`, or states other parameters, or pydevd lacks the class.
        ImportError: pydevd cannot be imported.
        AttributeError: The class does not have the function.
    """

    @patch.replace(UNHANDLED)
    def stop(
        stock: Any,
        self: Any,
        thread: Any,
        frame: Any,
        frames_byid: Any,
        arg: Any,
        *rest: Any,
        **named: Any,
    ) -> Any:
        if is_passed(arg):
            return None
        return stock(self, thread, frame, frames_byid, arg, *rest, **named)


def hook_ends(patch: Any, shown: Callable[..., None]) -> None:
    """Replace `sys.excepthook` and `threading.excepthook` by ones that first call `shown`.

    They are put back when the row `patch` is undone. `shown` gets a tuple of type, exception and traceback, and
    `by_hook=True` if the exception is not a thread's. Where `shown` raises, mostly the row is off, and the hooks
    go on. `sys.__excepthook__` and `threading.__excepthook__` are replaced, too, where they are the hooks.
    """

    def of_program(*error: Any) -> None:
        shown(error, by_hook=True)

    def of_thread(given: Any) -> None:
        shown(tuple(given)[:3])

    def nothing(*_: Any) -> None:
        pass

    # A program that reads or restores its hook finds the same as without this patch.
    stock_hook, stock_hook_of_threads = sys.excepthook, threading.excepthook
    hook = call_first(stock_hook, patch.guard(of_program, nothing))
    hook_of_threads = call_first(stock_hook_of_threads, patch.guard(of_thread, nothing))
    if sys.__excepthook__ is stock_hook:
        patch.set("sys:__excepthook__", hook)
    if getattr(threading, "__excepthook__", None) is stock_hook_of_threads:
        patch.set("threading:__excepthook__", hook_of_threads)
    patch.set("sys:excepthook", hook)
    patch.set("threading:excepthook", hook_of_threads)


def call_first(hook: Callable[..., Any], first: Callable[..., None]) -> Callable[..., Any]:
    """Return a hook that calls `first`, then returns what `hook` returns, with the same arguments.

    The returned hook takes positional arguments only, as hooks of `sys` and `threading` do. What `first` raises
    is dropped, and counts as a lost row unless it is a `RecursionError`. What a signal has caused, such as
    Ctrl+C, and on Python 3.8 a `RecursionError`, leaves the hook, and `hook` is not called.
    """
    kept = guard.hook(first)

    def both(*arguments: Any) -> Any:
        kept(*arguments)
        return hook(*arguments)

    return both
