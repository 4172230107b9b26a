"""Finds work items of process pools, and queues between processes. Runs no code of the program."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from .. import held
from . import awaiting, paths

UNBOUNDED = 2**15
"""The bound of a queue between processes from which on it counts as none; theirs is the system's then."""


class WorkItem:
    """Where the work item of a future is in its process pool."""

    def __init__(self, pool: Any, pids: list[int], place: str) -> None:
        self.pool = pool
        """The pool's table of items, by which two of them are one."""
        self.pids = pids
        self.place = place
        """`running`, or `queued behind N` items of the pool that have not ended; empty: it does not show."""


def work_item(future: Any, members: list[Any]) -> Any:
    """Return the `WorkItem` of a future of concurrent.futures; None: it is in no process pool.

    A future that has a result is in none. `members` are all `ThreadOrTask`s: the thread that manages a pool has its
    tables. `pids` of the result is empty where the pool's processes do not show.
    """
    for mine in pool_variables(members):
        items: Any = mine["pending_work_items"]
        futures = [awaiting.raw_attribute(each, "future") for each in [*items.values()]]
        number = next((n for n, each in enumerate(futures) if each is future), None)
        if number is not None:
            processes: Any = mine["processes"]
            kind: Any = type(processes)  # pyright: ignore[reportUnknownVariableType]
            pids = [*processes] if kind is dict else []
            return WorkItem(items, pids, work_item_state(number, futures, mine["call_queue"]))
    return None


def pool_variables(members: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield for each process pool a dict with its `pending_work_items`, `processes` and `call_queue`.

    The dict has more than these: all attributes of the thread that manages the pool; up to Python 3.8, all variables of its function.
    `members` are `ThreadOrTask`s, of which only threads are looked at (`kind`, `frames` and `own`). Nothing is yielded unless the program
    has imported `concurrent.futures.process`.
    """
    for each in members if "concurrent.futures.process" in sys.modules else ():
        if each.kind != "thread":
            continue
        local = next((f for f in each.frames if f.f_code.co_name.startswith("_queue_manag")), None)
        mine = held.attributes(each.own, type(each.own)) if local is None else local.f_locals
        if type(mine.get("pending_work_items")) is dict and {"processes", "call_queue"} <= {*mine}:
            yield mine


def work_item_state(number: int, futures: list[Any], queue: Any) -> str:
    """Return where a pool's work item is: `running`, or `queued behind N`; empty: it is not known.

    `number` is the item's index among the pool's unfinished `futures`, which are in the order in which they
    were submitted. N is that index, so the items that run are counted, too. A future has the state of
    running as soon as it is in `queue`, the `multiprocessing.Queue` of the processes, which take the oldest
    first; those that are still in the queue count as queued.
    """
    states = [awaiting.raw_attribute(each, "_state") for each in futures]
    if states[number] == "PENDING":
        return f"queued behind {number}"
    size = size_of(held.attributes(queue, type(queue)))
    given = [n for n, each in enumerate(states) if each == "RUNNING"]
    if size is None or number not in given:
        return ""
    in_queue = given[max(len(given) - size, 0) :]
    return f"queued behind {number}" if number in in_queue else "running"


def size_of(queue: dict[str, Any]) -> Any:
    """Return how many items a `multiprocessing.Queue` holds; None if that cannot be told.

    `queue` is a dict of the queue's attributes by name. An item counts from `put` until it is taken, also while
    it is on its way into the pipe. None: the dict is not that of such a queue, or the system does not tell the
    number. No code of the program runs.
    """
    lock = awaiting.raw_attribute(queue.get("_sem"), "_semlock")
    if paths.kind_of(lock) != ("_multiprocessing", "SemLock"):
        return None
    try:
        left = lock._get_value()  # written in C, and it only reads
    except NotImplementedError:
        return None
    return queue["_maxsize"] - left


def bound_of(queue: dict[str, Any]) -> int:
    """Return the bound of a `multiprocessing.Queue` with these attributes; 0: it has none."""
    bound = queue.get("_maxsize")
    return bound if type(bound) is int and 0 < bound < UNBOUNDED else 0


def is_shared(queue: dict[str, Any]) -> bool:
    """Return whether these are the attributes of a queue between processes."""
    return "_writer" in queue and "_reader" in queue


def pipe_of(queue: dict[str, Any]) -> str:
    """Return what names the pipe of a `multiprocessing.Queue` in all processes that have it: `8:1234`.

    It is the device and the inode of its reading end. `queue` are its attributes. Empty: the queue is closed, or has no such pipe.
    """
    number = awaiting.raw_attribute(queue.get("_reader"), "_handle")
    try:
        known = os.fstat(number) if type(number) is int else None
    except OSError:
        known = None
    return f"{known.st_dev}:{known.st_ino}" if known is not None else ""
