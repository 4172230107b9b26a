"""Adds to exceptions what pydevd leaves out: members of a group, the worker process, chained tracebacks in order.

At the recursion limit Python switches tracing off, so pydevd misses that error: it is shown to pydevd when it leaves
the program. Exceptions that asyncio catches stop nothing, so they are reported in the output.
"""

from __future__ import annotations

import importlib
import importlib.abc
import sys
import threading
from collections.abc import Callable
from typing import Any

tracebacks: Any = importlib.import_module("in_debuggee.dapeer_tracebacks")


def improve(*, prints: bool) -> None:
    """Patch how pydevd shows exceptions.

    Raises:
        AttributeError: pydevd has another structure.
    """
    lists: Any = importlib.import_module("_pydevd_bundle.pydevd_frame_utils")
    requests: Any = importlib.import_module("_pydevd_bundle.pydevd_comm")
    answers: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command_factory_json")
    inform(requests, answers)
    innermost_first(lists)
    # pydevd adds its own text to types and functions with this.
    lists.FramesList.current_frame = property(lambda _: None, lambda _, __: None)
    show_untraced(importlib.import_module("pydevd").PyDB)
    sys.meta_path.insert(0, Asyncio())


def inform(requests: Any, answers: Any) -> None:
    """Complete the answer to `exceptionInfo`."""
    stock = requests.build_exception_info_response

    def build(debugger: Any, thread_id: Any, *rest: Any, **more: Any) -> Any:
        response = stock(debugger, thread_id, *rest, **more)
        frames: Any = debugger.suspended_frames_manager.get_frames_list(thread_id)
        error = getattr(frames, "exc_desc", None)
        if isinstance(error, BaseException):
            try:
                body = response.body
                told = tracebacks.message(error, body.description)
                if debugger.get_use_libraries_filter():
                    # `justMyCode` hides the frames of libraries.
                    told = "\n".join(filter(None, (told, tracebacks.inside(error))))
                body.description = body.details.message = told
                body.details.stackTrace = tracebacks.trace(error)
            except Exception:
                return response
        return response

    requests.build_exception_info_response = answers.build_exception_info_response = build


def innermost_first(lists: Any) -> None:
    """Put the frames of an exception's causes into the order of all other stacks."""
    stock = lists.create_frames_list_from_exception_cause

    def create(*arguments: Any) -> Any:
        frames = stock(*arguments)
        if frames is not None:
            frames._frames.reverse()
        return frames

    lists.create_frames_list_from_exception_cause = create


def show_untraced(debugger: Any) -> None:
    """Show exceptions that leave the program after the recursion limit has switched tracing off."""
    stock = debugger.do_stop_on_unhandled_exception
    last: list[int] = []

    def stop(self: Any, thread: Any, frame: Any, frames: Any, error: Any) -> Any:
        last[:] = [id(error[1])]
        return stock(self, thread, frame, frames, error)

    def shown(error: Any) -> None:
        if isinstance(error[1], RecursionError) and id(error[1]) not in last:
            show(error)

    def of_thread(told: Any) -> None:
        shown(tuple(told)[:3])

    debugger.do_stop_on_unhandled_exception = stop
    # A program that reads or restores its hook finds the same as without this patch.
    stock_hook, stock_hook_of_threads = sys.excepthook, threading.excepthook
    hook = before(stock_hook, lambda *error: shown(error))
    hook_of_threads = before(stock_hook_of_threads, of_thread)
    if sys.__excepthook__ is stock_hook:
        sys.__excepthook__ = hook
    if getattr(threading, "__excepthook__", None) is stock_hook_of_threads:
        threading.__excepthook__ = hook_of_threads
    sys.excepthook, threading.excepthook = hook, hook_of_threads


def before(hook: Callable[..., Any], first: Callable[..., None]) -> Callable[..., Any]:
    """Return a hook that calls a function before another hook."""

    def both(*arguments: Any) -> Any:
        first(*arguments)
        return hook(*arguments)

    return both


def show(error: Any) -> None:
    """Stop as at an uncaught exception, if the debugger stops at these."""
    pydevd: Any = sys.modules["pydevd"]
    debugger = pydevd.get_global_debugger()
    if debugger is None:
        return
    breakpoints: Any = importlib.import_module("_pydevd_bundle.pydevd_breakpoints")
    thread = threading.current_thread()
    information = debugger.set_additional_thread_info(thread)
    information.is_tracing += 1
    try:
        breakpoints.stop_on_unhandled_exception(debugger, thread, information, tuple(error))
    finally:
        information.is_tracing -= 1


class Asyncio(importlib.abc.MetaPathFinder):
    """Makes asyncio report the exceptions that it catches, once the program imports it."""

    def find_spec(self, *_: object) -> None:
        """Find nothing. Patch asyncio if it was imported since the last call."""
        module: Any = sys.modules.get("asyncio.base_events")
        loop = getattr(module, "BaseEventLoop", None)
        if loop is None or not hasattr(loop, "call_exception_handler"):
            return
        sys.meta_path.remove(self)
        loop.call_exception_handler = tell_caught(loop.call_exception_handler)


def tell_caught(stock: Callable[..., Any]) -> Callable[..., Any]:
    """Return an event loop's exception handler that also reports each exception."""
    told: Any = importlib.import_module("in_debuggee.dapeer_breaking")

    def call_exception_handler(self: Any, context: Any) -> Any:
        error = context.get("exception")
        if isinstance(error, Exception):
            frames = tracebacks.frames_of(error.__traceback__)
            if frames and tracebacks.is_users(frames[-1][0]):
                kind = "task" if {"future", "task"} & set(context) else "callback"
                hint = f"{told.described(error)}; {tracebacks.STOPS_THERE}"
                told.failures.add(frames[-1][:2], f"asyncio {kind}", "", hint)
        return stock(self, context)

    return call_exception_handler
