"""Finds who has to end a future: its task, an executor's worker, or a loop that has yet to begin it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from . import awaiting


def behind(future: Any) -> list[Any]:
    """Return the futures on which one depends: gathered ones, or itself and those of other loops.

    These belong to other threads or event loops.
    """
    children: Any = awaiting.own(future, "_children")
    return children if type(children) is list else [future, *awaiting.sources(future)]  # pyright: ignore[reportUnknownVariableType]


def ended_by(future: Any, members: list[Any]) -> Iterator[tuple[Any, str, str]]:
    """Yield the members that have to end a future, each with how, and since where, which is not known."""
    for each in members:
        if each.own is future:
            yield each, "ended by", ""
        elif is_run_by(future, each):
            yield each, "run by", ""
        elif begins(future, each):
            yield each, "to be begun by the event loop of", ""


def is_run_by(future: Any, member: Any) -> bool:
    """Whether a worker of an executor runs what ends a future."""
    items = [each.f_locals.get("self") for each in member.frames if is_in(each, "thread.py", "run")]
    return any(awaiting.own(each, "future") is future for each in items)


def begins(future: Any, member: Any) -> bool:
    """Whether the event loop of a thread has yet to begin what ends a future."""
    ready = awaiting.own(loop_of(member), "_ready") or ()
    callbacks = [awaiting.own(each, "_callback") for each in [*ready]]
    return any(one is future for each in callbacks for one in awaiting.behind(each))


def queued_for(future: Any, members: list[Any]) -> list[Any]:
    """Return the workers of the executor in whose queue a future is."""
    workers: dict[int, list[Any]] = {}
    queues: dict[int, Any] = {}
    for each in members:
        for frame in each.frames:
            queue = (
                frame.f_locals.get("work_queue") if is_in(frame, "thread.py", "_worker") else None
            )
            if queue is not None:
                queues[id(queue)] = queue
                workers.setdefault(id(queue), []).append(each)
    for key, queue in queues.items():
        if any(awaiting.own(each, "future") is future for each in items_of(queue)):
            return workers[key]
    return []


def items_of(queue: Any) -> list[Any]:
    """Return the items of a simple queue, which is written in C."""
    found: list[Any] = []
    for each in awaiting.referents(queue):
        found += each if type(each) is list else [each]
    return found


def loop_of(member: Any) -> Any:
    """Return the event loop that a thread runs, or trio's runner of tasks there; None: it runs none."""
    found = (each for each in member.frames if is_in(each, "base_events.py", "run_forever"))
    if member.kind != "thread":
        return None
    frame = next(found, None)
    return awaiting.trio_of(member.frames[0]) if frame is None else frame.f_locals.get("self")


def is_worker(member: Any, local: Any) -> bool:
    """Whether a thread runs a function for a task of trio, by the names of `to_thread_run_sync`."""
    frames = [each for each in member.frames if is_in(each, "_threads.py", "worker_fn")]
    return any(each.f_locals.get("context") is local.get("context") for each in frames)


def is_in(frame: Any, file: str, function: str) -> bool:
    """Whether a frame is one of a function of Python's library."""
    code = frame.f_code
    return (os.path.basename(code.co_filename), code.co_name) == (file, function)


def is_limited(task: Any) -> bool:
    """Whether a task of trio is in a scope that has a deadline."""
    status = awaiting.own(task, "_cancel_status")
    while status is not None:
        if awaiting.own(awaiting.own(status, "_scope"), "_deadline") < float("inf"):
            return True
        status = awaiting.own(status, "_parent")
    return False
