"""Finds who has to end a future: its task, an executor's worker, or a loop that has yet to begin it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from . import awaiting


def dependencies(future: Any) -> list[Any]:
    """Return the futures on which one depends: those that it gathers, or itself and others.

    Others are futures of other threads or event loops, by which it ends.
    """
    children: Any = awaiting.raw_attribute(future, "_children")
    return children if type(children) is list else [future, *awaiting.sources(future)]  # pyright: ignore[reportUnknownVariableType]


def ended_by(future: Any, members: list[Any]) -> Iterator[tuple[Any, str, str]]:
    """Yield each member that has to end a future, with how in words, and an empty text.

    `members` are `ThreadOrTask`s: the task itself, a worker that runs it, a thread whose event loop has yet to begin it.
    """
    for each in members:
        if each.own is future:
            yield each, "ended by", ""
        elif is_run_by(future, each):
            yield each, "run by", ""
        elif is_begun_by(future, each):
            yield each, "to be begun by the event loop of", ""


def is_run_by(future: Any, member: Any) -> bool:
    """Return whether a thread of an executor runs what ends `future`; `member` is a `ThreadOrTask`."""
    items = [each.f_locals.get("self") for each in member.frames if is_in(each, "thread.py", "run")]
    return any(awaiting.raw_attribute(each, "future") is future for each in items)


def is_begun_by(future: Any, member: Any) -> bool:
    """Return whether the event loop that `member` runs has a ready callback that ends `future`.

    `member` is a `ThreadOrTask`.
    """
    ready = awaiting.raw_attribute(loop_of(member), "_ready") or ()
    callbacks = [awaiting.raw_attribute(each, "_callback") for each in [*ready]]
    return any(one is future for each in callbacks for one in awaiting.callback_owners(each))


def queued_for(future: Any, members: list[Any]) -> list[Any]:
    """Return the `ThreadOrTask`s of the executor's workers in whose queue a future is.

    It is empty if it is in none.
    """
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
        if any(awaiting.raw_attribute(each, "future") is future for each in items_of(queue)):
            return workers[key]
    return []


def items_of(queue: Any) -> list[Any]:
    """Return the items of a `queue.SimpleQueue`, which is written in C."""
    found: list[Any] = []
    for each in awaiting.referents(queue):
        found += each if type(each) is list else [each]
    return found


def loop_of(member: Any) -> Any:
    """Return the event loop of asyncio that a thread runs, or trio's runner.

    None: it runs none, or is a task.
    """
    found = (each for each in member.frames if is_in(each, "base_events.py", "run_forever"))
    if member.kind != "thread":
        return None
    frame = next(found, None)
    return awaiting.trio_of(member.frames[0]) if frame is None else frame.f_locals.get("self")


def is_worker(member: Any, local: Any) -> bool:
    """Return whether a thread runs a function for a trio task.

    `local` are variables of `to_thread_run_sync`.
    """
    frames = [each for each in member.frames if is_in(each, "_threads.py", "worker_fn")]
    return any(each.f_locals.get("context") is local.get("context") for each in frames)


def is_in(frame: Any, file: str, function: str) -> bool:
    """Return whether a frame runs the function of that name in a file with the base name `file`."""
    code = frame.f_code
    return (os.path.basename(code.co_filename), code.co_name) == (file, function)


def is_limited(task: Any) -> bool:
    """Return whether a task of trio is in a cancel scope, at any depth, that has a deadline."""
    status = awaiting.raw_attribute(task, "_cancel_status")
    while status is not None:
        if awaiting.raw_attribute(awaiting.raw_attribute(status, "_scope"), "_deadline") < float(
            "inf"
        ):
            return True
        status = awaiting.raw_attribute(status, "_parent")
    return False
