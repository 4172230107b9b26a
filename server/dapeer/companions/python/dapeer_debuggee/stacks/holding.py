"""Finds which lock a frame waits for, and which locks its lines hold. Runs no code of the program.

Python does not tell who holds a lock. Who is inside of `with lock:`, or past `lock.acquire()` on every way, holds it.
"""

from __future__ import annotations

import collections
import itertools
import os
import re
import threading
import types
from collections.abc import Iterator
from typing import Any

from .. import held
from . import awaiting, paths, symbols, taking

LIBRARY = os.path.join(os.path.dirname(threading.__file__), "")
LOCKS = (
    "lock",
    "RLock",
    "_RLock",
    "Lock",
    "StrictFIFOLock",
    "Condition",
    "Semaphore",
    "BoundedSemaphore",
)
MODULES = ("_thread", "threading", "asyncio.locks", "trio", "anyio")
MAX_SEARCHED_ATTRIBUTES = 2000
"""Attributes of a frame's variables among which a value is looked for."""
MAX_SEARCHED_ITEMS = 1000
"""Items of a container in which a value is looked for."""
OWNER = re.compile(r"owner=(\d+)")
METHODS = {
    "threading.py": ("acquire", "__enter__", "wait", "wait_for", "join"),
    "queue.py": ("get", "put", "join"),
    "_base.py": ("result", "exception"),
    "subprocess.py": ("wait", "communicate"),
    "process.py": ("join",),
    "queues.py": ("get", "put", "join"),
    "locks.py": ("acquire", "wait", "wait_for"),
    "_sync.py": ("acquire", "acquire_on_behalf_of", "wait"),
    "_synchronization.py": ("acquire", "acquire_on_behalf_of", "wait"),
    "_asyncio.py": ("acquire", "acquire_on_behalf_of", "wait"),
    "_channel.py": ("send", "receive"),
    "_run.py": ("_nested_child_finished",),
    "_threads.py": ("to_thread_run_sync",),
    "_timeouts.py": ("sleep_until", "sleep_forever"),
    "tasks.py": ("sleep",),
}
"""Methods of Python's library in which a thread or a coroutine waits, by their files."""
NOT_SEARCHED = (("builtins", "module"), ("builtins", "function"), ("builtins", "type"))
"""Kinds of values in whose attributes no value is looked for."""
AWAITED_BY_METHOD = {"get": "an item", "receive": "an item", "put": "room", "send": "room"}
"""What one waits for in methods of queues and channels."""


def is_library(frame: Any) -> bool:
    """Whether a frame runs code of Python's library, or of a library of tasks."""
    if (frame.f_globals.get("__name__") or "").startswith(("trio.", "anyio.")):
        return True
    folder = os.path.dirname(frame.f_code.co_filename)
    is_inside = os.path.join(folder, "").startswith(LIBRARY)
    return (is_inside and "-packages" not in folder) or folder == ""


def waits_in(frame: Any) -> bool:
    """Whether a frame is one of a method of Python's library that waits."""
    file = os.path.basename(frame.f_code.co_filename)
    return is_library(frame) and frame.f_code.co_name in METHODS.get(file, ())


def waited_for(frame: Any) -> tuple[Any, str, bool]:
    """Return the lock that a frame takes now in C code, its name, whether it has a limit; None: none."""
    node, limited = taking.taking_now(frame)
    lock = lock_at(node, frame)
    if lock is None or "unlocked" in repr(lock):
        return None, "", False
    return lock, name_of(lock, frame) or symbols.text(node).lstrip("?"), limited


def holds(frames: list[Any], steps: dict[int, Any]) -> Iterator[tuple[Any, str]]:
    """Yield the locks that calls have taken, each with the file and line that has taken it.

    `steps` has the coroutines of suspended frames, by the id of the frame: these keep what ends their `with`.
    """
    for frame in itertools.filterfalse(is_library, frames):
        yield from held_in(frame, steps.get(id(frame)))


def held_in(frame: Any, step: Any) -> Iterator[tuple[Any, str]]:
    """Yield the locks that one call has taken, each with the file and line."""
    file = os.path.basename(frame.f_code.co_filename)
    inside, acquired = taking.takings(frame)
    exits = exits_of(step) if step is not None and inside else []
    # It may be entering one more.
    kept = len(exits) in (len(inside), len(inside) + 1)
    for number, one in enumerate(inside):
        place = f"{file}:{one.line}"
        if kept:
            yield from held_by(exits[number].__self__, place)
        elif (lock := lock_at(one.node, frame)) is not None:
            yield lock, place
    for one in acquired:
        lock = lock_at(one.node, frame)
        if lock is not None and one.awaited == is_of_tasks(lock):
            yield lock, f"{file}:{one.line}"


def exits_of(step: Any) -> list[Any]:
    """Return what ends the `with` items that a suspended coroutine or generator has entered."""
    names = ("__exit__", "__aexit__")
    methods = (types.MethodType, types.BuiltinMethodType)
    parts = awaiting.referents(step)
    # Up to Python 3.10 the frame has them.
    frame = awaiting.frame_of(step)
    parts += [] if taking.HAS_TABLE else awaiting.referents(frame)
    return [each for each in parts if type(each) in methods and each.__name__ in names]


def held_by(manager: Any, place: str) -> Iterator[tuple[Any, str]]:
    """Yield the lock that an object of a `with` is, or those that the generator behind it has taken."""
    module, kind = paths.kind_of(manager)
    if module == "contextlib" and kind.endswith("GeneratorContextManager"):
        step = awaiting.own(manager, "gen")
        frame = awaiting.frame_of(step)
        if frame is not None:
            yield from held_in(frame, step)
    elif (lock := as_lock(manager)) is not None:
        yield lock, place


def lock_at(node: Any, frame: Any) -> Any:
    """Return the lock that an expression stands for, or the one of its condition; None if it is none."""
    try:
        found = paths.resolved(node, frame) if node is not None else None
    except LookupError:
        return None
    if type(found) is types.BuiltinMethodType and found.__name__ in ("acquire", "__enter__"):
        found = found.__self__
    return as_lock(found)


def as_lock(found: Any) -> Any:
    """Return a lock or a semaphore, or the lock of a condition; None for all else."""
    module, kind = paths.kind_of(found)
    if not module.startswith(MODULES) or kind not in LOCKS:
        return None
    return plain(found).get("_lock", found) if kind == "Condition" else found


def is_of_tasks(lock: Any) -> bool:
    """Whether tasks wait for a lock, not threads."""
    return not paths.kind_of(lock)[0].startswith(("_thread", "threading"))


def leaves(frames: list[Any], lock: Any) -> bool:
    """Whether one of the frames has left a lock to wait for its condition."""
    for frame in frames:
        own = frame.f_locals.get("self") if frame.f_code.co_name == "wait" else None
        if (
            own is not None
            and paths.kind_of(own)[1] == "Condition"
            and plain(own).get("_lock") is lock
        ):
            return True
    return False


def owner_of(lock: Any) -> Any:
    """Return the task, or the thread's number, that Python knows to hold a lock; None: none is known."""
    module, kind = paths.kind_of(lock)
    if module == "_thread":
        owner = OWNER.search(repr(lock))
        return int(owner[1]) if owner else None
    if kind == "_RLock" or module.startswith("trio"):
        return awaiting.own(lock, "_owner")
    return awaiting.own(lock, "_owner_task") if module.startswith("anyio") else None


def limit_of(lock: Any) -> Any:
    """Return how many may hold a semaphore; None if it does not tell."""
    for name in ("_initial_value", "_bound_value", "_max_value"):
        limit = awaiting.own(lock, name)
        if limit is not None:
            return limit
    return None


# -- objects of Python's library


def plain(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, without code of its class."""
    return held.attributes(value, type(value))


def name_of(value: Any, frame: Any) -> str:
    """Return how a frame's code may call a value: a variable, an attribute, or an item with its key."""
    local = {**frame.f_locals}
    named = [*local.items(), *[*frame.f_globals.items()]]
    attributes = [*itertools.islice(attributes_of(local), MAX_SEARCHED_ATTRIBUTES)]
    found = next((name for name, each in named if each is value), "")
    found = found or next((name for name, each in attributes if is_or_has(each, value)), "")
    if not found or found in local:
        items = (
            f"{name}[{key}]" for name, each in [*named, *attributes] for key in keys_of(value, each)
        )
        found = next(items, found)
    if not found:
        others = itertools.islice(attributes_of(frame.f_globals), MAX_SEARCHED_ATTRIBUTES)
        found = next((name for name, each in others if is_or_has(each, value)), "")
    return found


def attributes_of(space: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of variables, each with its name behind the variable's."""
    for name, each in [*space.items()]:
        if paths.kind_of(each) in NOT_SEARCHED:
            continue
        for inner, one in plain(each).items():
            # A library's object around it is known by its own name.
            yield (name if f"{type(each).__name__}__" in inner else f"{name}.{inner}"), one


def is_or_has(one: Any, value: Any) -> bool:
    """Whether a value is what is looked for, or a condition whose lock that is."""
    return one is value or (type(one).__name__ == "Condition" and as_lock(one) is value)


def keys_of(value: Any, container: Any) -> Iterator[str]:
    """Yield the indices or keys at which a list, a tuple or a dictionary has a value."""
    kind: Any = type(container)  # pyright: ignore[reportUnknownVariableType]
    if kind not in (list, tuple, dict) or len(container) > MAX_SEARCHED_ITEMS:
        return
    items = [*container.items()] if kind is dict else enumerate(container)
    yield from (held.text(key, 40, ()) for key, each in items if each is value)


def size_of(queue: dict[str, Any]) -> int:
    """Return how many items the attributes of a queue hold."""
    items: Any = queue.get("queue", queue.get("_queue", queue.get("data")))
    kind: Any = type(items)  # pyright: ignore[reportUnknownVariableType]
    return len(items) if kind is list or kind is collections.deque else 0


def state_of(kind: str, function: str, mine: dict[str, Any]) -> str:
    """Return why one waits for an object of a library, as far as it shows."""
    if "Queue" in kind or "Channel" in kind:
        queue = plain(mine["_state"]) if "_state" in mine else mine
        size, limits = size_of(queue), ("maxsize", "_maxsize", "max_buffer_size")
        limit = next((queue[each] for each in limits if each in queue), 0)
        what = AWAITED_BY_METHOD.get(function, "its items to be done")
        return f"for {what}; it holds {size}" + (
            f" of {limit}" if limit or "_state" in mine else ""
        )
    if "Semaphore" in kind:
        return f"its value is {mine.get('_value')}"
    if kind == "CapacityLimiter":
        return f"all of its {mine.get('_total_tokens')} tokens are borrowed"
    if kind == "Barrier":
        return f"{mine.get('_count')} of {mine.get('_parties')} have come"
    if kind == "Popen":
        return f"for the end of process {mine.get('pid')}"
    return {"Event": "it is not set", "Condition": "to be notified"}.get(kind, "")


def called(function: Any) -> str:
    """Return the name of a function; `a function` where it has none of its own."""
    known = type(function) is types.FunctionType
    return function.__qualname__ if known else "a function"
