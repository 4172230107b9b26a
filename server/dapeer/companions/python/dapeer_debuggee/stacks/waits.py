"""Finds what blocked threads and tasks wait for, and who holds that. Runs no code of the program."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

from . import awaiting, holding, paths, pools

# Finds who has to end a future: its task, an executor's worker, or a loop that has yet to begin it.


def dependencies(future: Any) -> list[Any]:
    """Return the futures on which one depends: those that it gathers, or itself and others.

    Others are futures of other threads or event loops, by which it ends.
    """
    children: Any = awaiting.raw_attribute(future, "_children")
    return children if type(children) is list else [future, *awaiting.chained_futures(future)]  # pyright: ignore[reportUnknownVariableType]


def members_ending(future: Any, members: list[Any]) -> Iterator[tuple[Any, str, str]]:
    """Yield each member that has to end a future, as (member, how in words, an empty text).

    The last is where a `Wait` has the place since which a lock is held. `members` are `ThreadOrTask`s: those meant are the task itself, a
    worker that runs it, a thread whose event loop has yet to begin it. There may be none.
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
    items = [
        each.f_locals.get("self") for each in member.frames if is_frame_of(each, "thread.py", "run")
    ]
    return any(awaiting.raw_attribute(each, "future") is future for each in items)


def is_begun_by(future: Any, member: Any) -> bool:
    """Return whether the event loop that `member` runs has a ready callback that ends `future`.

    `member` is a `ThreadOrTask`.
    """
    ready = awaiting.raw_attribute(loop_of(member), "_ready") or ()
    callbacks = [awaiting.raw_attribute(each, "_callback") for each in [*ready]]
    return any(one is future for each in callbacks for one in awaiting.callback_owners(each))


def workers_queueing(future: Any, members: list[Any]) -> list[Any]:
    """Return the worker threads (`ThreadOrTask`s) of the thread pool in whose queue a future is.

    It is empty if it is in none, such as when a worker runs it already. `members` are all threads and tasks.
    """
    workers: dict[int, list[Any]] = {}
    queues: dict[int, Any] = {}
    for each in members:
        for frame in each.frames:
            queue = (
                frame.f_locals.get("work_queue")
                if is_frame_of(frame, "thread.py", "_worker")
                else None
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
    found = (each for each in member.frames if is_frame_of(each, "base_events.py", "run_forever"))
    if member.kind != "thread":
        return None
    frame = next(found, None)
    return awaiting.trio_of(member.frames[0]) if frame is None else frame.f_locals.get("self")


def is_worker(member: Any, local: Any) -> bool:
    """Return whether a thread runs a function for a trio task.

    `local` are variables of `to_thread_run_sync`.
    """
    frames = [each for each in member.frames if is_frame_of(each, "_threads.py", "worker_fn")]
    return any(each.f_locals.get("context") is local.get("context") for each in frames)


def is_frame_of(frame: Any, file: str, function: str) -> bool:
    """Return whether a frame runs the function of that name in a file with the base name `file`."""
    code = frame.f_code
    return (os.path.basename(code.co_filename), code.co_name) == (file, function)


def has_deadline(task: Any) -> bool:
    """Return whether a task of trio is in a cancel scope, at any depth, that has a deadline.

    A deadline outside of a shielded scope counts, too, though it does not end the task, and so does an unknown one. A task of asyncio has no
    such scopes: False.
    """
    status = awaiting.raw_attribute(task, "_cancel_status")
    while status is not None:
        deadline = awaiting.raw_attribute(awaiting.raw_attribute(status, "_scope"), "_deadline")
        # One that another trio keeps elsewhere may be there.
        if deadline is None or deadline < float("inf"):
            return True
        status = awaiting.raw_attribute(status, "_parent")
    return False


MAX_MEMBERS = 100
"""Threads and tasks."""
SLEEPS = object()
"""What all who sleep wait on: they are one group."""
UNKNOWN = "futures that nobody is known to end"
"""What tasks and threads wait for whose futures no member ends."""
GROUPED = {"Event": "events that are not set", "Condition": "conditions, to be notified"}
"""Kinds of objects without a holder: how several of them are told in one line."""
LOCKS = ("Lock", "StrictFIFOLock", "Condition", "_RLock", "Semaphore", "BoundedSemaphore")


class ThreadOrTask:
    """A thread or a task, with its frames, the innermost first."""

    def __init__(self, kind: str, name: str, own: Any, frames: list[Any], steps: Any = ()) -> None:
        self.kind, self.name, self.own, self.frames = kind, name, own, frames
        self.steps = {id(awaiting.frame_of(each)): each for each in steps}
        self.id: int = awaiting.raw_attribute(own, "_ident") if kind == "thread" else id(own)
        self.stopped = False
        self.wait: Any = None
        self._held_objects: Any = None

    @property
    def held(self) -> list[tuple[Any, str]]:
        """The locks that its calls hold, each with the place where it was taken.

        They are found at the first access, and kept. A lock is left out while one of the calls waits for the lock's
        condition, which releases it.
        """
        if self._held_objects is None:
            found = holding.locks_held(self.frames, self.steps)
            self._held_objects = [
                each for each in found if not holding.waits_for_condition_of(self.frames, each[0])
            ]
        return self._held_objects


class Wait:
    """What a thread or task waits for, and who could end that."""

    def __init__(
        self, what: str, state: str = "", *, timed: bool = False, by: Any = (), on: Any = None
    ) -> None:
        self.what, self.state, self.timed = what, state, timed
        self.on = 0 if on is None else id(on)
        """The object that is waited for, by its identity; 0: each waits for one of its own."""
        self.enders: list[tuple[ThreadOrTask, str, str]] = [*by]
        """Who has to go on first, how that ends the wait, and since where it has what is waited for."""
        self.needs_one_ender = False
        """Whether it is enough that one of them goes on."""
        self.has_all_enders = bool(by)
        """Whether nobody else can end the wait."""
        self.note = ""
        """What distinguishes it from others that wait for the same."""
        self.together = ""
        """What several wait for that have no holder, in words: waits with the same text are one line."""
        self.pipe = ""
        """What names the awaited queue in all processes that have it; empty: it is none of several processes."""
        self.decides = False
        """Whether it shows what has to go on first, though by none of the members."""


def look(question: str) -> str:
    """Return the answer, in JSON, to a question in JSON: what waits for what, or the variables of a frame.

    `{}` asks what waits for what: the answer has `waits`, `circle`, `members` and `queues`. With `id` of a thread or
    task, `number` of a frame in it (0: the innermost) and its `place` (function, file, line) it asks for variables: the
    answer has `variables` and `value`, or `error`. With a `path` as well it asks for the value of that expression
    there, and what that holds; `runs` lets the expression run code of the program.
    """
    asking = json.loads(question)
    members = [*threads(), *tasks()][:MAX_MEMBERS]
    return json.dumps(
        frame_variables(members, asking) if "number" in asking else describe_waits(members)
    )


def threads() -> Iterator[ThreadOrTask]:
    """Yield a `ThreadOrTask` for each thread that `threading` knows, but not for the debugger's.

    `stopped` is True for one that the debugger has suspended. Threads without a Python frame of the program
    are left out.
    """
    of_python: Any = sys
    now = of_python._current_frames()
    known: Any = threading
    for ident, each in list(known._active.items()):
        # pydevd's own threads have frames of `threading` and `queue`, too.
        if getattr(each, "is_pydev_daemon_thread", False):
            continue
        frames = awaiting.call_stack(now.get(ident))
        if frames:
            member = ThreadOrTask("thread", awaiting.raw_attribute(each, "_name"), each, frames)
            member.stopped = awaiting.is_suspended(now.get(ident))
            yield member


def tasks() -> Iterator[ThreadOrTask]:
    """Yield a `ThreadOrTask` for each unfinished task of asyncio and trio."""
    for task in awaiting.unfinished_tasks():
        steps = awaiting.steps_of(awaiting.coroutine_of(task))
        frames = [awaiting.frame_of(each) for each in steps]
        yield ThreadOrTask("task", awaiting.name_of(task), task, frames, steps)


def frame_variables(members: list[ThreadOrTask], question: dict[str, Any]) -> dict[str, Any]:
    """Return the variables of a frame, or a value in it and its members, as `value` and `variables`.

    `members` are the threads and tasks to choose from. `question` has `id` of a thread or task, `number` of a
    frame in it (0: the innermost) and its `place` (function, file, line), perhaps `path`, an expression, and
    `runs`: whether that may run code of the program, in a thread of the debugger and awaited for
    `SECONDS_TO_EVALUATE` of `paths` at most; `max_chars` is how long the text of the value there is about (None
    or 0: `MAX_VARIABLE_CHARS`). Rows are lists of name, value and type, all texts. `variables` are rows of the
    frame's variables, or with a `path` of the first members of the value; `value` is the row of the value, or
    None without a `path`. The dict has only `error`, a text, where there is no such thread, task or frame, the
    frame is at another place by now, or the value is not found or its expression fails.
    """
    frames = [each.frames for each in members if each.id == question["id"]]
    frame = dict(enumerate(frames[0] if frames else ())).get(question["number"])
    if frame is None or awaiting.place(frame) != question["place"]:
        return {"error": "the frame has gone on"}
    named, value = paths.variables_of(frame), None
    if question.get("path"):
        try:
            found = paths.value_at(question["path"], frame, runs=question.get("runs"))
        except LookupError as error:
            return {"error": str(error.args[0])}
        room = question.get("max_chars") or paths.MAX_VARIABLE_CHARS
        named = paths.first_members(found)
        value = paths.variable_texts(question["path"], found, room)
    return {"value": value, "variables": [paths.variable_texts(*each) for each in named]}


# -- what waits for what


def describe_waits(members: list[ThreadOrTask]) -> dict[str, Any]:
    """Find what each member waits for, and return that as a JSON object; `wait` of each member is set.

    Its keys are `waits` (for each member that waits an object with `member`, `what`, `state`, `timed`, `on`, `by`, `note`, `together`,
    `pipe` and `decides`), `circle` (indices of members that wait for each other in a deadlock; empty: none), `members` (kind, name and id
    of each) and `queues`: for each queue between processes that a member's frames have a list of the member's index, the pipe that names
    the queue in all processes, its name there, and the place.
    """
    for each in members:
        each.wait = (
            wait_of_thread(each, members) if each.kind == "thread" else wait_of_task(each, members)
        )
    stuck = deadlocked(members)
    return {
        "waits": [wait_data(each, members) for each in members if each.wait],
        "circle": [members.index(each) for each in circle(stuck)],
        "members": [[each.kind, each.name, each.id] for each in members],
        "queues": [
            [number, *queue]
            for number, each in enumerate(members)
            for queue in holding.shared_queues(each.frames)
        ],
    }


def wait_data(member: ThreadOrTask, members: list[ThreadOrTask]) -> dict[str, Any]:
    """Return what a member waits for as a JSON object, in which members are their indices in `members`.

    A member is a thread or task. `member.wait` must be set, and `members` must have `member` and all members
    of its `enders`. The keys are `member`, `what` and `state` (texts for a person), `timed` (whether the wait
    has a limit), `on` (the id of what is waited for; 0: no object that members share) and `by`, a list of
    [index, how, since]: a member that has to go on first, how in words, and the place where it got what is
    waited for. `note` distinguishes the wait from others of its kind; `together` names in words what several
    members wait for though nobody holds it (their waits are shown in one line); `pipe` names an awaited queue
    in all processes that have it; `decides` is true if the wait itself shows what has to go on first, though
    that is no member.

    Raises:
        ValueError: `members` lacks `member`, or one that has to go on first.
    """
    wait = member.wait
    by = [[members.index(each), how, since] for each, how, since in wait.enders]
    return {
        "member": members.index(member),
        "what": wait.what,
        "state": wait.state,
        "timed": wait.timed,
        "on": wait.on,
        "by": by,
        "note": wait.note,
        "together": wait.together,
        "pipe": wait.pipe,
        "decides": wait.decides,
    }


def wait_of_thread(member: ThreadOrTask, members: list[ThreadOrTask]) -> Any:
    """Return the `Wait` of a thread; None if nothing is known that it waits for.

    It is None as well for a thread that the debugger has stopped, and for one in `run_forever` of an event loop,
    unless code of the user runs in it: the loop's tasks have waits of their own. `members` are all threads and
    tasks, among which those are looked for that could end the wait.
    """
    inner = user = None
    if member.stopped:
        return None
    for frame in member.frames:
        if not holding.is_library(frame):
            user = frame
            break
        if is_frame_of(frame, "base_events.py", "run_forever"):
            return None
        if holding.waits_in(frame):
            inner = frame
    if inner is not None:
        return wait_in_library(inner, user or member.frames[-1], members)
    if user is None:
        return None
    lock, name, timed = holding.lock_awaited_in_c(user)
    return None if lock is None else lock_wait(lock, name, members, timed=timed)


def wait_of_task(member: ThreadOrTask, members: list[ThreadOrTask]) -> Any:
    """Return the `Wait` of a task; None if what it waits for is unknown.

    `members` are all threads and tasks, among which those are looked for that could end the wait. A task that is ready waits for its turn
    in the thread that runs its event loop.
    """
    user = next((each for each in member.frames if not holding.is_library(each)), None)
    inner = [each for each in member.frames if holding.waits_in(each)]
    ends, of_trio = awaiting.waiting_for(member.own), awaiting.is_of_trio(member.own)
    if ends is not None and inner and user is not None:
        wait = wait_in_library(inner[-1], user, members)
        wait.timed = wait.timed or (of_trio and has_deadline(member.own))
        return wait
    if ends is not None and of_trio:
        return None
    if ends is not None:
        wait = future_wait(ends, "", members)
        # A name costs a search, and helps where nothing else is known.
        name = holding.name_of(ends, user) if user and wait.together == UNKNOWN else ""
        if name:
            wait.note, wait.what = name, f"{wait.what} {name}"
        return wait
    own = awaiting.raw_attribute(member.own, "_runner" if of_trio else "_loop")
    thread = next((each for each in members if own and loop_of(each) is own), None)
    if thread is None:
        return None
    return Wait(f"its turn in the event loop of thread {thread.name}", by=[(thread, "", "")])


def wait_in_library(frame: Any, user: Any, members: list[ThreadOrTask]) -> Any:
    """Return the `Wait` of a frame of Python's library, or of trio and anyio, that waits.

    `frame` is the outermost such frame below `user`, the program's frame that has called it. Threads and tasks
    are named by their own names, other objects as `user` names them. `members` are all threads and tasks, among
    which those are looked for that could end the wait. The result is never None: for an unknown kind of wait it
    names the object whose method waits.
    """
    function, local = frame.f_code.co_name, frame.f_locals
    own = local.get("self")
    _module, kind = paths.kind_of(own)
    timed = local.get("timeout") is not None or local.get("blocking") is False
    name = holding.name_of(own, user)
    mine = holding.raw_attributes(own)
    if kind in ("Future", "Task") or awaiting.is_a(own, awaiting.future_kinds()):
        wait = future_wait(own, name, members)
        wait.timed = timed
        return wait
    if awaiting.is_a(own, threading.Thread):
        by = [(each, "", "") for each in members if each.own is own]
        what = f"the end of thread {awaiting.raw_attribute(own, '_name')}"
        return Wait(what, timed=timed, by=by, on=own)
    if kind == "Nursery":
        children = {*map(id, awaiting.raw_attribute(own, "_children") or ())}
        by = [(each, "", "") for each in members if id(each.own) in children]
        return Wait("the tasks of its nursery", by=by)
    if function == "to_thread_run_sync":
        by = [(each, "run by", "") for each in members if is_worker(each, local)]
        return Wait(f"{holding.function_name(local.get('sync_fn'))} in a thread", by=by)
    if function.startswith("sleep"):
        return Wait("the end of a sleep", timed=True, on=SLEEPS)
    if function in ("acquire", "__enter__") and kind in LOCKS:
        condition = kind == "Condition"
        lock = mine.get("_lock") if condition else own
        wait = lock_wait(lock, name, members, timed=timed, condition=condition)
        wait.note = holding.requested_with(user)
        return wait
    if function.startswith("acquire") and kind == "CapacityLimiter":
        return limiter_wait(own, name, members, timed=timed)
    return object_wait(own, name, function, timed=timed)


def object_wait(own: Any, name: str, function: str, *, timed: bool) -> Wait:
    """Return the `Wait` for an object of a library that has no holder, such as a queue or an event.

    `own` is that object, `name` is its name in the program (empty: none), `function` the name of the method in
    which one waits, `timed` whether the wait has a limit. Its `enders` are empty; `pipe` is set for a queue between
    processes, `decides` for a full queue, and `note` (to `name`) and `together` for an object of a kind in
    `GROUPED`.
    """
    _module, kind = paths.kind_of(own)
    mine = holding.raw_attributes(own)
    state = holding.state_of(kind, function, mine)
    shared = pools.is_shared(mine)
    library = "multiprocessing " if shared else ""
    wait = Wait(f"{library}{kind}{name and ' '}{name}", state, timed=timed, on=own)
    wait.pipe = pools.pipe_of(mine) if shared else ""
    wait.decides = "it is full" in state
    if kind in GROUPED:
        wait.note, wait.together = name, GROUPED[kind]
    return wait


def lock_wait(
    lock: Any, name: str, members: list[ThreadOrTask], *, timed: bool, condition: bool = False
) -> Wait:
    """Return the `Wait` for a lock or semaphore, with its holders in `enders`.

    Python knows the holders, or they are the members with a frame inside of its `with` or behind its
    `acquire`. Where several seem to hold a lock, or none, `enders` is empty and `state` says that the holder
    is unknown. A semaphore may have several: one is enough to end the wait. `name` is the lock's name in the
    program (empty: none), `timed` whether the wait has a limit, `condition` whether it is the lock of a
    condition. `members` are all threads and tasks.
    """
    module, kind = paths.kind_of(lock)
    kind = "Condition" if condition else kind.replace("lock", "Lock")
    kind = next((f"{each} {kind}" for each in ("asyncio", "trio") if module.startswith(each)), kind)
    wait = Wait(f"{kind}{name and ' '}{name}", timed=timed, on=lock)
    wait.has_all_enders = True
    own = holding.owner_of(lock)
    for each in members:
        if own and (each.own is own or (each.kind == "thread" and each.id == own)):
            wait.enders.append((each, "held by", place_lock_taken(each, lock)))
    if not own:
        found = [(each, "held by", place_lock_taken(each, lock)) for each in members]
        wait.enders = [each for each in found if each[2]]
    if "Semaphore" in kind:
        wait.needs_one_ender = True
        wait.has_all_enders = bool(wait.enders) and len(wait.enders) == holding.limit_of(lock)
    elif len(wait.enders) > 1:
        # One of them has let go of it in a way that does not show.
        wait.enders = []
    if not wait.enders:
        wait.state = "holder unknown"
    return wait


def limiter_wait(limiter: Any, name: str, members: list[ThreadOrTask], *, timed: bool) -> Wait:
    """Return the `Wait` for a `CapacityLimiter` of trio or anyio, with its borrowers in `enders`.

    A borrower is one that holds a token of the limiter. A function in a thread borrows for itself, so it is no
    member; such borrowers are only counted, in `state`. If there are borrowers and all are members, `state` is
    empty and `has_all_enders` True, else `state` tells the limiter's tokens and `has_all_enders` is False.
    `needs_one_ender` is True: it is enough that one borrower goes on. `name` is the limiter's name in the program
    (empty: none), `timed` whether the wait has a limit, `members` are all threads and tasks.
    """
    state = holding.state_of("CapacityLimiter", "", {"_total_tokens": holding.total_of(limiter)})
    library = paths.kind_of(limiter)[0].partition(".")[0]
    wait = Wait(f"{library} CapacityLimiter{name and ' '}{name}", timed=timed, on=limiter)
    borrowers = holding.borrowers_of(limiter)
    ids = {*map(id, borrowers)}
    wait.enders = [
        (each, "held by", place_lock_taken(each, limiter))
        for each in members
        if id(each.own) in ids
    ]
    others = len(borrowers) - len(wait.enders)
    wait.state = (
        f"{state}, {others} by others than tasks" if others else state if not wait.enders else ""
    )
    wait.needs_one_ender, wait.has_all_enders = True, bool(wait.enders) and not others
    return wait


def place_lock_taken(member: ThreadOrTask, lock: Any) -> str:
    """Return the place (`FILE:LINE`) where a member has taken a lock that it holds.

    Empty: its calls show none.
    """
    return next((where for each, where in member.held if each is lock), "")


def future_wait(future: Any, name: str, members: list[ThreadOrTask]) -> Wait:
    """Return the `Wait` for a future or a task, with the members that have to end it as its `enders`.

    The enders of a task are the task itself; those of another future are the members that end what it depends on, or
    the workers of the thread pool in whose queue it is, of which one is enough. Where no member ends the future, the
    `Wait` tells its work item in a process pool, or that nobody is known to end it. `name` is the future's name in
    the program, empty for none; a task is called by its own name. `members` are all threads and tasks.
    """
    task = next((each for each in members if each.own is future), None)
    _module, kind = paths.kind_of(future)
    kind = {"_GatheringFuture": "gather"}.get(kind, kind)
    wait = Wait(f"task {task.name}" if task else f"{kind}{name and ' '}{name}", on=future)
    if task is not None:
        wait.enders = [(task, "", "")]
    for one in dependencies(future) if task is None else ():
        wait.enders += members_ending(one, members)
        workers = workers_queueing(one, members)
        if workers:
            wait.enders, wait.needs_one_ender = (
                [(each, "queued behind", "") for each in workers],
                True,
            )
            wait.state = "not begun"
    wait.has_all_enders = bool(wait.enders)
    if not wait.enders:
        complete_pool_wait(wait, future, members)
    return wait


def complete_pool_wait(wait: Wait, future: Any, members: list[ThreadOrTask]) -> None:
    """Complete the wait for a future that no member ends, by its work item in a process pool, if any.

    `wait` is changed: with a work item it is one for the pool, and its state names the pool's processes (empty:
    they are unknown); of several items' pools the first counts. Without an item its state is that nobody is
    known to end it. `members` are all threads and tasks.
    """
    found = [pools.work_item(each, members) for each in dependencies(future)]
    items = [each for each in found if each is not None]
    if not items:
        wait.together, wait.note = UNKNOWN, wait.what.partition(" ")[2]
        wait.state = "nobody is known to end it"
        return
    pids = ", ".join(str(each) for each in items[0].pids)
    places = [each.place for each in items]
    wait.what, wait.together, wait.on = (
        "a process pool's work item",
        "a process pool's work items",
        id(items[0].pool),
    )
    wait.state = pids and f"processes {pids}"
    wait.note, wait.decides = ", ".join(filter(None, places)), True


def deadlocked(members: list[ThreadOrTask]) -> list[ThreadOrTask]:
    """Return, in their order, the members that never go on, as they wait for each other.

    A wait never ends if none of its enders goes on (`needs_one_ender`), or any of them does not (otherwise). It
    counts as one that ends if it has a limit or no enders, or others than these could end it. A member without
    `wait` goes on, and so does who is no member. Members that only wait for a deadlocked one are included.
    """
    stuck = [
        each
        for each in members
        if each.wait and each.wait.enders and each.wait.has_all_enders and not each.wait.timed
    ]
    while True:
        left = [
            each
            for each in stuck
            if (all if each.wait.needs_one_ender else any)(
                one in stuck for one, *_ in each.wait.enders
            )
        ]
        if len(left) == len(stuck):
            return stuck
        stuck = left


def circle(stuck: list[ThreadOrTask]) -> list[ThreadOrTask]:
    """Return the circle of waits that the first of `stuck` leads to; each member waits for the next.

    The last member waits for the first; one that waits for itself is a circle of one. From the first of `stuck` on,
    each member's `next_of` is followed. The list is empty if `stuck` is empty, or if this ends at a member that
    waits for none of `stuck`, even where there is a circle elsewhere.
    """
    seen: list[ThreadOrTask] = []
    each = stuck[0] if stuck else None
    while each is not None and each not in seen:
        seen.append(each)
        each = next_of(each, stuck)
    return seen[seen.index(each) :] if each is not None else []


def next_of(member: ThreadOrTask, stuck: list[ThreadOrTask]) -> Any:
    """Return a member of `stuck` for which a member waits, another one than itself if possible.

    None: there is none.
    """
    found = [each for each, *_ in member.wait.enders if each in stuck]
    return next((each for each in found if each is not member), found[0] if found else None)
