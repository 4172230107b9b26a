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
    "CapacityLimiter",
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
    """Return whether a frame runs code of Python's library, of trio or anyio, or of a file without folder."""
    if (frame.f_globals.get("__name__") or "").startswith(("trio.", "anyio.")):
        return True
    folder = os.path.dirname(frame.f_code.co_filename)
    is_inside = os.path.join(folder, "").startswith(LIBRARY)
    return (is_inside and "-packages" not in folder) or folder == ""


def waits_in(frame: Any) -> bool:
    """Return whether a frame is one of the library's methods that wait, as `METHODS` lists them."""
    file = os.path.basename(frame.f_code.co_filename)
    return is_library(frame) and frame.f_code.co_name in METHODS.get(file, ())


def waited_for(frame: Any) -> tuple[Any, str, bool]:
    """Return the lock that a frame takes now in C code, its name there, and whether the wait has a limit.

    The lock is None if there is none, or nobody holds it.
    """
    node, limited = taking.taking_now(frame)
    lock = lock_at(node, frame)
    if lock is None or "unlocked" in repr(lock):
        return None, "", False
    return lock, name_of(lock, frame) or symbols.text(node).lstrip("?"), limited


def holds(frames: list[Any], steps: dict[int, Any]) -> Iterator[tuple[Any, str]]:
    """Yield the locks that the calls of some frames have taken, each with `FILE:LINE` where it was taken.

    `steps` has the coroutines of suspended frames, by the id of the frame: these keep what ends their `with`.
    """
    for frame in itertools.filterfalse(is_library, frames):
        yield from held_in(frame, steps.get(id(frame)))


def held_in(frame: Any, step: Any) -> Iterator[tuple[Any, str]]:
    """Yield the locks that the call of one frame holds, each with `FILE:LINE` where it was taken.

    `step` is the suspended coroutine or generator of the frame, or None.
    """
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
    """Return the bound exit methods of the `with` items that a suspended coroutine has entered.

    `step` may be a generator, too.
    """
    names = ("__exit__", "__aexit__")
    methods = (types.MethodType, types.BuiltinMethodType)
    parts = awaiting.referents(step)
    # Up to Python 3.10 the frame has them.
    frame = awaiting.frame_of(step)
    parts += [] if taking.HAS_TABLE else awaiting.referents(frame)
    return [each for each in parts if type(each) in methods and each.__name__ in names]


def held_by(manager: Any, place: str) -> Iterator[tuple[Any, str]]:
    """Yield the lock that the object of a `with` is, or those that the generator behind it has taken.

    Each has the place where it was taken: `place`, or that in the generator. `manager` is that object; one of `contextlib.contextmanager`
    has such a generator.
    """
    module, kind = paths.kind_of(manager)
    if module == "contextlib" and kind.endswith("GeneratorContextManager"):
        step = awaiting.raw_attribute(manager, "gen")
        frame = awaiting.frame_of(step)
        if frame is not None:
            yield from held_in(frame, step)
    elif (lock := as_lock(manager)) is not None:
        yield lock, place


def lock_at(node: Any, frame: Any) -> Any:
    """Return the lock that an expression stands for in a frame, or that of its condition.

    It is None if it is none. `node` is a tree of `ast` or None; no code of the program runs.
    """
    try:
        found = paths.resolved(node, frame) if node is not None else None
    except LookupError:
        return None
    if type(found) is types.BuiltinMethodType and found.__name__ in ("acquire", "__enter__"):
        found = found.__self__
    return as_lock(found)


def as_lock(found: Any) -> Any:
    """Return a lock or semaphore of a known library itself, or the lock of a condition; None for all else."""
    module, kind = paths.kind_of(found)
    if not module.startswith(MODULES) or kind not in LOCKS:
        return None
    return raw_attributes(found).get("_lock", found) if kind == "Condition" else found


def is_of_tasks(lock: Any) -> bool:
    """Return whether tasks, not threads, wait for a lock."""
    return not paths.kind_of(lock)[0].startswith(("_thread", "threading"))


def waits_for_condition_of(frames: list[Any], lock: Any) -> bool:
    """Return whether one of the frames waits for the condition of a lock, and so has released that lock."""
    for frame in frames:
        own = frame.f_locals.get("self") if frame.f_code.co_name == "wait" else None
        if (
            own is not None
            and paths.kind_of(own)[1] == "Condition"
            and raw_attributes(own).get("_lock") is lock
        ):
            return True
    return False


def owner_of(lock: Any) -> Any:
    """Return the task, or the number of the thread, that Python knows to hold a lock; None: it knows none."""
    module, kind = paths.kind_of(lock)
    if module == "_thread":
        owner = OWNER.search(repr(lock))
        return int(owner[1]) if owner else None
    if kind == "_RLock" or module.startswith("trio"):
        return awaiting.raw_attribute(lock, "_owner")
    return awaiting.raw_attribute(lock, "_owner_task") if module.startswith("anyio") else None


def limit_of(lock: Any) -> Any:
    """Return how many may hold a semaphore at once; None if it does not tell."""
    for name in ("_initial_value", "_bound_value", "_max_value"):
        limit = awaiting.raw_attribute(lock, name)
        if limit is not None:
            return limit
    return None


def borrowers_of(limiter: Any) -> list[Any]:
    """Return the tasks, and what stands for threads, that have a token of a limiter."""
    found: Any = awaiting.raw_attribute(limiter, "_borrowers")
    kind: Any = type(found)  # pyright: ignore[reportUnknownVariableType]
    return [*found] if kind is set else []


def total_of(limiter: Any) -> Any:
    """Return how many tokens a limiter of trio or anyio has."""
    return awaiting.raw_attribute(limiter, "_total_tokens")


# -- objects of Python's library


def raw_attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object by name, without code of its class."""
    return held.attributes(value, type(value))


def name_of(value: Any, frame: Any) -> str:
    """Return an expression by which a frame's code may name a value; empty if none is found.

    It is looked for among variables, attributes of variables, and their items.
    """
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
    """Yield name and value of each attribute of some variables, named as `VARIABLE.ATTRIBUTE`.

    `space` is a dict of variables; modules, functions and classes are left out.
    """
    for name, each in [*space.items()]:
        if paths.kind_of(each) in NOT_SEARCHED:
            continue
        for inner, one in raw_attributes(each).items():
            # A library's object around it is known by its own name.
            yield (name if f"{type(each).__name__}__" in inner else f"{name}.{inner}"), one


def is_or_has(one: Any, value: Any) -> bool:
    """Return whether `one` is the value that is looked for, or a condition whose lock that is."""
    return one is value or (type(one).__name__ == "Condition" and as_lock(one) is value)


def keys_of(value: Any, container: Any) -> Iterator[str]:
    """Yield the index or key, as text, of each place at which a list, tuple or dictionary has a value.

    It yields nothing for other containers, or those of more than `MAX_SEARCHED_ITEMS`.
    """
    kind: Any = type(container)  # pyright: ignore[reportUnknownVariableType]
    if kind not in (list, tuple, dict) or len(container) > MAX_SEARCHED_ITEMS:
        return
    items = [*container.items()] if kind is dict else enumerate(container)
    yield from (held.text(key, 40, ()) for key, each in items if each is value)


def size_of(queue: dict[str, Any]) -> int:
    """Return how many items a queue has; `queue` are the attributes of it; 0 also if unknown."""
    items: Any = queue.get("queue", queue.get("_queue", queue.get("data")))
    kind: Any = type(items)  # pyright: ignore[reportUnknownVariableType]
    return len(items) if kind is list or kind is collections.deque else 0


def state_of(kind: str, function: str, mine: dict[str, Any]) -> str:
    """Return in words why one waits for an object of a library; empty if it does not show.

    `kind` is the name of its class, `function` the method in which one waits, `mine` its attributes.
    """
    if "Queue" in kind or "Channel" in kind:
        queue = raw_attributes(mine["_state"]) if "_state" in mine else mine
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


def function_name(function: Any) -> str:
    """Return the qualified name of a function of Python; `a function` for anything else."""
    known = type(function) is types.FunctionType
    return function.__qualname__ if known else "a function"
