"""Exceptions that event loops catch: asyncio's are reported, Twisted's without an errback stop.

Twisted logs an error of a Deferred when the Deferred is collected. In older versions its frames are gone by then, and their places are left.
"""

from __future__ import annotations

import gc
import importlib
import importlib.abc
import inspect
import sys
from collections.abc import Callable
from types import FunctionType, TracebackType
from typing import Any

from .. import guard, patching
from ..process import showing
from . import tracebacks

ASYNCIO = patching.Row(
    "errors-in-asyncio",
    "Python",
    "An exception that asyncio catches is not told.",
    # A loop is looked at once the program has imported it.
    adds=True,
)
TWISTED = patching.Row(
    "errors-in-twisted",
    "Twisted",
    "The program does not stop at an error that no errback of Twisted handles.",
    adds=True,
)
PASSED = ("twisted.logger", __name__, guard.__name__, patching.__name__)
"""How the modules begin that lie between Twisted's logger and what logs, and around what we run."""


NO_VALUES = f"no errback handles it; its values are gone: {tracebacks.STOPS_THERE}"
NOT_RAISED = (
    "no errback handles it; it was not raised by this line, nor by other code of the program"
)


class Finder(importlib.abc.MetaPathFinder):
    """An import finder that finds nothing, but patches a method once the program has imported its module."""

    def __init__(self, patch: Any, method: str, takes: str, ours: Callable[..., Any]) -> None:
        """Put itself first into `sys.meta_path`, until the row is undone.

        Args:
            patch: The row of the patch.
            method: The method, as `module:Class.method`.
            takes: The `shape` that it must have.
            ours: What replaces it; it gets the stock one first.
        """
        self._row, self._expected_arguments, self._replacement = patch, takes, ours
        self._module, _, path = method.partition(":")
        self._class, self._method = path.split(".")
        self._is_done = False
        self._guarded_patch = patch.guard(self._patch, lambda: None)
        patch.and_undo(self.leave)
        sys.meta_path.insert(0, self)

    def find_spec(self, *_: object) -> None:
        """Return None, so that others import; patch the module if it was imported since the last call."""
        # It stays in the list: Python looks through that just now, and would pass by the next finder.
        if not self._is_done:
            guard.hook(self._guarded_patch)()

    def leave(self) -> None:
        """Remove itself from `sys.meta_path`."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def _patch(self) -> None:
        """Replace the method (see `__init__`) by ours if its module, imported by now, has it; else do nothing.

        This must not be called again once the method was found, even if an error was raised.

        Raises:
            Misfit: The method has other parameters; it is not replaced.
            ValueError, TypeError: The method's parameters are unknown.
        """
        owner: Any = getattr(sys.modules.get(self._module), self._class, None)
        stock = getattr(owner, self._method, None)
        if stock is None:
            return
        self._is_done = True
        takes = patching.shape(stock)
        if takes != self._expected_arguments:
            raise patching.Misfit(f"{self._method} takes ({takes})")
        self._row.set_in(owner, self._method, patching.guarded(self._row, stock, self._replacement))


@ASYNCIO
def report_what_asyncio_catches(patch: Any) -> None:
    """Have exceptions reported that asyncio's event loops handle, once asyncio is imported.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    method = "asyncio.base_events:BaseEventLoop.call_exception_handler"
    Finder(patch, method, "self context", call_exception_handler)


@TWISTED
def stop_where_nobody_handles(patch: Any) -> None:
    """Have the program stop at errors that no errback of Twisted handles, once Twisted is imported.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    Finder(patch, "twisted.logger._logger:Logger.failure", FAILURE, failure)
    Finder(patch, "twisted.internet.base:ReactorBase.fireSystemEvent", "self eventType", fire)


def call_exception_handler(
    stock: Callable[..., Any], self: Any, context: Any, *rest: Any, **named: Any
) -> Any:
    """Report the exception of `context`, then do as asyncio's event loop (`stock`)."""
    report(context)
    return stock(self, context, *rest, **named)


@guard.hook
def report(context: Any) -> None:
    """Report the exception that an event loop handles; `context` is asyncio's, its key `exception` has it.

    Nothing is reported without one, or where a library has raised it.
    """
    error = context.get("exception")
    if isinstance(error, Exception):
        kind = "task" if {"future", "task"} & set(context) else "callback"
        report_error(f"asyncio {kind}", error, error.__traceback__)


def report_error(kind: str, error: Exception, trace: TracebackType | None) -> None:
    """Report an exception as a failure, without a stop, if its traceback has a frame of the user's code.

    The failure is counted in `breaking.failures`, at the innermost such frame, even if a library raised the
    exception; the first, second, fourth, eighth … alike is sent to the client. Nothing is reported if all frames are
    those of libraries, or if there are none. `kind` says what has raised it, such as `asyncio task`; `trace` is its
    traceback, None if it has none. The text of `error` is made, which may run code of its class.
    """
    frames = tracebacks.frames_of(trace)
    if frames and tracebacks.is_users(frames[-1][0]):
        from ..stops import breaking

        hint = f"{breaking.error_text(error)}; {tracebacks.STOPS_THERE}"
        breaking.failures.add(frames[-1][:2], kind, "", hint)


FAILURE = "self format failure= level= **kwargs"


def failure(stock: Callable[..., Any], self: Any, *given: Any, **named: Any) -> Any:
    """Stop at the failure that Twisted logs, then log it as Twisted does (`stock`)."""
    show_logged_error(named.get("failure", given[1] if len(given) > 1 else None))
    return stock(self, *given, **named)


def fire(stock: Callable[..., Any], self: Any, event: Any, *rest: Any, **named: Any) -> Any:
    """Fire an event of a reactor as Twisted does (`stock`); at `shutdown` also run the garbage collector.

    A Deferred of `inlineCallbacks` that has failed is in a circle, and logs its error when it is collected.
    """
    result = stock(self, event, *rest, **named)
    if event == "shutdown" and gc.isenabled():
        gc.collect()
    return result


@guard.hook
def show_logged_error(failure: Any) -> None:
    """Stop at an exception of the program that Twisted itself is about to log.

    `failure` is Twisted's `Failure`, or None for the exception that is being handled. Nothing happens where the
    program itself logs one, for an exception that is no `Exception` (such as `SystemExit`) or where there is
    none, or where the exception is not the one that is being handled, or has no frame of the program; but an
    `Exception` that a collected Deferred logs is always passed to `show_collected`, which stops or reports it.
    The function returns when the user resumes, or at once where the debugger does not stop at uncaught
    exceptions. It raises only what `guard.hook` lets out, such as Ctrl+C.
    """
    frame: Any = inspect.currentframe()
    while frame is not None and is_passed(frame):
        frame = frame.f_back
    if frame is None or not name_of(frame).startswith("twisted.internet."):
        return
    caught = sys.exc_info()[1]
    error = caught if failure is None else failure.value
    if not isinstance(error, Exception):
        return
    if failure is not None and frame.f_code.co_name == "__del__":
        show_collected(error, failure.frames, frame)
    elif error is caught and tracebacks.is_in_program(error.__traceback__):
        stop_at_error(error, error.__traceback__)


def show_collected(error: Exception, frames: Any, frame: Any) -> None:
    """Stop at an exception that a Deferred had when it was collected; report it where no frame can stop.

    It is reported (`report_error`) if the stack has no frame of the program, or a frame of the debugger inside of
    the innermost one, or if the program is stopped already. A remark is shown with a stop where the exception's
    traceback has no frame of the program: then it gets frames of the places in `frames`, without variables, or, if
    none of these is the program's either, the program's innermost frame on the stack. The function returns when the
    user resumes; where the debugger does not stop at uncaught exceptions, it returns at once instead of stopping,
    and reports nothing.

    Args:
        error: The exception.
        frames: The frames that Twisted kept of it, the outermost first: function, file, line, and more.
        frame: The frame of what collects the Deferred.
    """
    trace, remark = error.__traceback__, ""
    steps = [make_generator_at(*each[:3]) for each in frames]
    if not tracebacks.is_in_program(trace):
        for each in reversed(steps):
            trace, remark = (
                TracebackType(trace, each.gi_frame, 0, each.gi_frame.f_lineno),
                NO_VALUES,
            )
    around = innermost_own_frame(frame)
    if around is None:
        report_error("Twisted Deferred", error, trace)
        return
    if not tracebacks.is_in_program(trace):
        trace, remark = TracebackType(None, around, 0, around.f_lineno), NOT_RAISED
    stop_at_error(error, trace, remark)


def stop_at_error(error: Exception, trace: TracebackType | None, remark: str = "") -> None:
    """Stop this thread at an exception, as if it had the traceback `trace`, and return when it is resumed.

    During the stop the exception has that traceback, and `remark` (empty: none) is shown with its message; afterwards its own one again. It
    does not stop where the debugger does not stop at uncaught exceptions.
    """
    before = error.__traceback__
    tracebacks.remarks[id(error)] = remark
    try:
        error.__traceback__ = trace
        showing.show((type(error), error, trace))
    finally:
        error.__traceback__ = before
        del tracebacks.remarks[id(error)]


def name_of(frame: Any) -> str:
    """Return the name of the module whose code a frame runs."""
    return str(frame.f_globals.get("__name__"))


def is_passed(frame: Any) -> bool:
    """Return whether a frame is of Twisted's logger, or of this package."""
    return name_of(frame).startswith(PASSED)


def innermost_own_frame(frame: Any) -> Any:
    """Return the innermost frame of the program's code among `frame` and its callers.

    Frames of Twisted's logger and of this package are passed over. None: there are only frames of libraries, or
    none; a frame of the debugger is met before one of the program; or the program is stopped and something is
    evaluated in it.
    """
    found = None
    while frame is not None:
        code = frame.f_code
        if code.co_name == "do_wait_suspend":
            # The program is stopped: something is evaluated.
            return None
        if found is None and not is_passed(frame):
            if tracebacks.OF_DEBUGGER.search(code.co_filename):
                return None
            found = frame if tracebacks.is_programs(code.co_filename) else None
        frame = frame.f_back
    return found


def make_generator_at(function: str, file: str, line: int) -> Any:
    """Return a new generator, which is not begun, whose frame is at a line of a file; nothing runs.

    `function` is the name that the frame shows.
    """
    text = "\n" * (line - 1) + "def step(): yield"
    module = compile(text, file, "exec")
    code = next(each for each in module.co_consts if hasattr(each, "co_code"))
    return FunctionType(code.replace(co_name=function), {})()
