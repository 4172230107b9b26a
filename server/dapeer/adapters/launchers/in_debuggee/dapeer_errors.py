"""Adds to exceptions what pydevd leaves out: members of a group, the worker process, chained tracebacks in order.

At the recursion limit Python switches tracing off, so pydevd misses that error: it is shown to pydevd when it leaves
the program. Exceptions that asyncio catches stop nothing, so they are reported in the output.
"""

from __future__ import annotations

import importlib
import importlib.abc
import itertools
import linecache
import os
import re
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

MEMBERS = 8
"""Members of an exception group that are shown."""
FRAMES = 50
"""Frames of one traceback that are shown."""
STOPS_THERE = 'exception_filters=["userUnhandled"] stops there'
REMOTE = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
"""A frame in a traceback that a worker process has sent as text."""
LIBRARIES = (
    str(Path(__file__).absolute().parent.parent) + os.sep,
    *(path + os.sep for name, path in sysconfig.get_paths().items() if name.endswith("lib")),
)
"""Folders without code of the user: dapeer's launchers, and Python's libraries."""
CHAINED = {
    True: "\nThe above exception was the direct cause of the following exception:\n\n",
    False: "\nDuring handling of the above exception, another exception occurred:\n\n",
}


def named(error: BaseException) -> str:
    """Return type and message of an exception."""
    try:
        text = str(error)
    except Exception:
        text = ""
    name = type(error).__qualname__
    return f"{name}: {text}" if text else name


def is_users(path: str) -> bool:
    """Whether a file is the user's: not part of Python or of a library."""
    return not path.startswith(("<", *LIBRARIES)) and "site-packages" not in path


def relative(path: str) -> str:
    """Return a path relative to the working directory, if it is inside of it."""
    here = os.getcwd() + os.sep
    return path.removeprefix(here)


def frames_of(trace: TracebackType | None) -> list[tuple[str, int, str]]:
    """Return file, line and function of the frames of a traceback, the outermost first; only the user's, if there are any."""
    frames = all_frames_of(trace)
    return [frame for frame in frames if is_users(frame[0])] or frames


def all_frames_of(trace: TracebackType | None) -> list[tuple[str, int, str]]:
    """Return file, line and function of the frames of a traceback, the outermost first, without pydevd's."""
    frames: list[tuple[str, int, str]] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith("_pydevd"):
            frames.append((code.co_filename, trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    return frames


def place(frames: list[tuple[str, int, str]]) -> str:
    """Return the location of the innermost frame."""
    if not frames:
        return ""
    path, line, function = frames[-1]
    return f" at {relative(path)}:{line} in {function}"


def written(frames: list[tuple[str, int, str]]) -> str:
    """Return frames as Python writes them."""
    runs = [(frame, len(list(same))) for frame, same in itertools.groupby(frames)]
    lines = [f"  [{len(runs) - FRAMES} more lines]\n"] if len(runs) > FRAMES else []
    for (path, line, function), times in runs[-FRAMES:]:
        lines.append(f'  File "{path}", line {line}, in {function}\n')
        text = linecache.getline(path, line).strip()
        lines += [f"    {text}\n"] if text else []
        more = f"{times - 1} more time{'s' if times > 2 else ''}"
        lines += [f"  [Previous line repeated {more}]\n"] if times > 1 else []
    return "".join(lines)


def group_of(error: BaseException) -> tuple[BaseException, ...]:
    """Return the members of an exception group; empty for other exceptions."""
    inside: Any = getattr(error, "exceptions", ())
    return inside if isinstance(inside, tuple) and hasattr(error, "derive") else ()  # pyright: ignore[reportUnknownVariableType]


def members(error: BaseException, depth: int = 1) -> Iterator[str]:
    """Yield a line for each member of a group with its location, also for nested groups."""
    inside = group_of(error)
    for member in inside[:MEMBERS]:
        yield "  " * depth + named(member) + place(frames_of(member.__traceback__))
        yield from members(member, depth + 1)
    if len(inside) > MEMBERS:
        yield "  " * depth + f"and {len(inside) - MEMBERS} more"


def remote_of(error: BaseException) -> str:
    """Return the traceback that a worker process has sent with an exception; empty if there is none."""
    cause = error.__cause__
    return str(cause).strip('"\n ') if type(cause).__name__.endswith("RemoteTraceback") else ""


def worker(error: BaseException) -> str:
    """Return where in a worker process an exception was raised; empty if not in a worker."""
    found = [(path, int(line), name) for path, line, name in REMOTE.findall(remote_of(error))]
    users = [frame for frame in found if is_users(frame[0])]
    return f"  raised in a worker process{place(users or found)}; {STOPS_THERE}" if found else ""


def inside(error: BaseException) -> str:
    """Return where in a library an exception was raised; empty if the user's code or a worker raised it."""
    frames = all_frames_of(error.__traceback__)
    users = any(is_users(path) for path, _, _ in frames)
    if not users or isinstance(error, AssertionError) or group_of(error) or remote_of(error):
        return ""
    path, line, function = frames[-1]
    if is_users(path) or path.startswith("<"):
        return ""
    folder = max((each for each in LIBRARIES if path.startswith(each)), key=len, default="")
    return f"  raised in {path[len(folder) :]}:{line} {function}"


def message(error: BaseException, known: str) -> str:
    """Return an exception's message with the members of its group and its location in a worker process."""
    more = [*members(error), worker(error)]
    return "\n".join([known, *filter(None, more)])


def trace(error: BaseException, seen: frozenset[int] = frozenset()) -> str:
    """Return the tracebacks of an exception and of its causes in Python's order: the latest last."""
    seen |= {id(error)}
    text = written(frames_of(error.__traceback__)) + named(error) + "\n"
    remote = remote_of(error)
    if remote:
        return remote + "\n" + CHAINED[True] + text
    for member in group_of(error)[:MEMBERS]:
        text += "\nIn the group:\n" + trace(member, seen)
    cause = error.__cause__
    before = cause or (None if error.__suppress_context__ else error.__context__)
    if before is None or id(before) in seen:
        return text
    return trace(before, seen) + CHAINED[cause is not None] + text


# -- pydevd


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
                told = message(error, body.description)
                if debugger.get_use_libraries_filter():
                    # `justMyCode` hides the frames of libraries.
                    told = "\n".join(filter(None, (told, inside(error))))
                body.description = body.details.message = told
                body.details.stackTrace = trace(error)
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
            frames = frames_of(error.__traceback__)
            if frames and is_users(frames[-1][0]):
                kind = "task" if {"future", "task"} & set(context) else "callback"
                hint = f"{told.described(error)}; {STOPS_THERE}"
                told.failures.add(frames[-1][:2], f"asyncio {kind}", "", hint)
        return stock(self, context)

    return call_exception_handler
