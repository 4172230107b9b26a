"""Finds where the threads and asyncio tasks of the debuggee are, and which task awaits which. Runs no code of it.

In a program that was attached to, the text of this module is evaluated (`places()`), in Python 3.6 or newer.
"""

import contextlib
import functools
import gc
import json
import operator
import re
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

TASKS = 20
"""Tasks in a chain of awaiting tasks, at most."""
FRAMES = 60
"""Frames of a thread that are returned."""
KINDS = {
    types.CoroutineType: ("cr_frame", "cr_await"),
    types.GeneratorType: ("gi_frame", "gi_yieldfrom"),
    types.AsyncGeneratorType: ("ag_frame", "ag_await"),
}
"""Kinds of awaitables: the attributes of their frame, and of what they await themselves."""
OWN = re.compile(r"[/\\](debugpy|in_debuggee)[/\\]|[/\\]debugpy_launcher\.py$")
"""Substrings of the paths of the debugger's files."""
STEPS = ("async_generator_asend", "async_generator_athrow", "anext_awaitable", "coroutine_wrapper")
"""Built-in types for a single step of an awaitable, which have no public name."""


def frames_of(awaited: Any) -> "list[types.FrameType]":
    """Return the frames of a coroutine and of those that it awaits, the innermost first."""
    frames: list[types.FrameType] = []
    while type(awaited) in KINDS:
        frame, inner = KINDS[type(awaited)]
        if getattr(awaited, frame) is None:
            break
        frames.insert(0, getattr(awaited, frame))
        awaited = stepping(getattr(awaited, inner))
    return frames


def stepping(awaited: Any) -> Any:
    """Return the generator or coroutine behind a single step; any other awaitable unchanged."""
    while type(awaited).__module__ == "builtins" and type(awaited).__name__ in STEPS:
        held = gc.get_referents(awaited)
        awaited = next((each for each in held if type(each) in KINDS), next(iter(held), None))
    return awaited


def awaiter(future: Any, asyncio: Any, depth: int = 0) -> Any:
    """Return the task that waits for a future, also through `gather`, `shield` or a task group; None: none does."""
    callbacks: list[Any] = asyncio.Future._callbacks.__get__(future) or []
    for each in callbacks:
        # Python 3.6 has no contexts.
        callback: Any = each[0] if isinstance(each, tuple) else each  # pyright: ignore[reportUnknownVariableType]
        for one in behind(callback):
            if one is future:
                continue
            found = parent(one, asyncio)
            if found is None and isinstance(one, asyncio.Future) and depth < TASKS:
                found = awaiter(one, asyncio, depth + 1)
            if found is not None:
                return found
    return None


def parent(one: Any, asyncio: Any) -> Any:
    """Return a task, or the task that has opened a task group; None for all else."""
    kind: Any = type(one)  # pyright: ignore[reportUnknownVariableType]
    if issubclass(kind, asyncio.Task):
        return one
    if kind.__module__ == "asyncio.taskgroups":
        return one._parent_task
    if (kind.__module__, kind.__name__) == ("anyio._backends._asyncio", "TaskGroup"):
        return one.cancel_scope._host_task
    return None


def behind(callback: Any) -> "Iterator[Any]":
    """Yield the objects behind a callback: those that it is bound to, or has in its closure."""
    if type(callback) is functools.partial:
        yield from callback.args
        callback = callback.func
    if isinstance(callback, (types.MethodType, types.BuiltinMethodType)):
        yield callback.__self__
        callback = getattr(callback, "__func__", None)
    for cell in getattr(callback, "__closure__", None) or ():
        with contextlib.suppress(ValueError):  # it is empty
            yield cell.cell_contents


def name_of(task: Any) -> str:
    """Return the name of a task; empty before Python 3.8."""
    get_name = getattr(sys.modules["asyncio"].Task, "get_name", None)
    return get_name(task) if get_name else "Task"


def coroutine_of(task: Any) -> Any:
    """Return the coroutine that a task runs."""
    get_coro = getattr(sys.modules["asyncio"].Task, "get_coro", None)
    return get_coro(task) if get_coro else task._coro


def awaiting(task: Any) -> "Iterator[Any]":
    """Yield a label and the frames of the task that awaits a task; then the same for that task, and so on."""
    asyncio: Any = sys.modules["asyncio"]
    seen: list[Any] = []
    while len(seen) < TASKS and task not in seen:
        seen.append(task)
        waits = awaiter(task, asyncio)
        if waits is None or waits in seen:
            if len(seen) == 1:
                yield f"task {name_of(task)}"
            return
        yield f"task {name_of(task)}, awaited by task {name_of(waits)}"
        yield from frames_of(coroutine_of(waits))
        task = waits


# -- where all threads and tasks are


def places() -> str:
    """Return, as JSON, the frames of each thread and of each unfinished task, the innermost first."""
    of_python: Any = sys
    now: dict[int, types.FrameType] = of_python._current_frames()
    known: Any = threading
    threads: list[dict[str, Any]] = [
        {"name": each.name, "frames": stack(now.get(ident))[:FRAMES]}
        for ident, each in list(known._active.items())
    ]
    tasks: list[dict[str, Any]] = []
    for task in pending():
        # A class of the program may raise anything.
        with contextlib.suppress(Exception):
            tasks.append(place_of(task, now.values()))
    tasks.sort(key=operator.itemgetter("name"))
    return json.dumps({"threads": threads, "tasks": tasks})


def pending() -> "Iterator[Any]":
    """Yield the unfinished tasks of all event loops."""
    asyncio: Any = sys.modules.get("asyncio.tasks")
    for kind in ("_all_tasks", "_scheduled_tasks", "_eager_tasks"):
        yield from (each for each in list(getattr(asyncio, kind, ())) if not each.done())


def place_of(task: Any, running: Any) -> "dict[str, Any]":
    """Return where a task is, and which task awaits it. A task that runs now is where its thread is."""
    coroutine = coroutine_of(task)
    frames = frames_of(coroutine)
    for innermost in running if frames else ():
        known = up(innermost)
        if frames[-1] in known:
            frames = known[: known.index(frames[-1]) + 1]
    waits = awaiter(task, sys.modules["asyncio"])
    told = {
        "name": f"{name_of(task)} {getattr(coroutine, '__qualname__', '')}()",
        "frames": [*map(place, frames)][:FRAMES],
    }
    return told if waits is None else {**told, "awaited_by": name_of(waits)}


def up(frame: Any) -> "list[types.FrameType]":
    """Return a frame and its callers, without frames of the debugger and those called by them."""
    frames: list[types.FrameType] = []
    while frame is not None:
        code = frame.f_code
        if code.co_name == "do_wait_suspend":
            frames.clear()
        elif not OWN.search(code.co_filename):
            frames.append(frame)
        frame = frame.f_back
    return frames


def stack(frame: Any) -> "list[list[Any]]":
    """Return the locations of a frame and of its callers."""
    return [*map(place, up(frame))]


def place(frame: Any) -> "list[Any]":
    """Return function, file and line."""
    return [frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno]
