"""Finds where threads and tasks (asyncio, trio) are, and who awaits whom. Runs no code of the program.

In a program that was attached to, the text of this module is evaluated (`places()`), in Python 3.6 or newer.
"""

import contextlib
import functools
import importlib
import json
import operator
import re
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

MAX_TASKS = 20
"""Tasks in a chain of awaiting tasks, at most."""
MAX_FRAMES = 60
"""Frames of a thread that are returned."""
KINDS = {
    types.CoroutineType: ("cr_frame", "cr_await"),
    types.GeneratorType: ("gi_frame", "gi_yieldfrom"),
    types.AsyncGeneratorType: ("ag_frame", "ag_await"),
}
"""Kinds of awaitables: the attributes of their frame, and of what they await themselves."""
OWN = re.compile(r"[/\\](debugpy|dapeer_debuggee)[/\\]|[/\\]debugpy_launcher\.py$|^<dapeer>$")
"""Substrings of the paths of the debugger's files."""
WAKES = "TaskWakeupMethWrapper"
"""Built-in type of the callback that wakes a task up to Python 3.9, which has no attributes."""
STEPS = ("async_generator_asend", "async_generator_athrow", "anext_awaitable", "coroutine_wrapper")
"""Built-in types for a single step of an awaitable, which have no public name."""
TRIO = "trio._core._run"


def frames_of(awaited: Any) -> "list[types.FrameType]":
    """Return the frames of a coroutine and of those that it awaits, the innermost first.

    Empty: it is over.
    """
    return [frame_of(each) for each in steps_of(awaited)]


def steps_of(awaited: Any) -> "list[Any]":
    """Return a coroutine or generator and those that it awaits, the innermost first.

    Those that are over are left out.
    """
    steps: list[Any] = []
    while frame_of(awaited) is not None:
        steps.insert(0, awaited)
        awaited = stepping(getattr(awaited, KINDS[type(awaited)][1]))
    return steps


def frame_of(awaited: Any) -> Any:
    """Return the frame of a coroutine, generator or async generator; None: it is over, or none of these."""
    return getattr(awaited, KINDS[type(awaited)][0]) if type(awaited) in KINDS else None


def stepping(awaited: Any) -> Any:
    """Return the generator or coroutine behind a single step of one of Python's own types.

    Any other awaitable is returned as it is; None: the step refers to nothing.
    """
    while type(awaited).__module__ == "builtins" and type(awaited).__name__ in STEPS:
        held = referents(awaited)
        awaited = next((each for each in held if type(each) in KINDS), next(iter(held), None))
    return awaited


def referents(one: Any) -> "list[Any]":
    """Return the objects to which an object refers, as `gc.get_referents`.

    `gc` is not left in `sys.modules` by it.
    """
    loaded = "gc" in sys.modules
    gc: Any = importlib.import_module("gc")
    if not loaded:
        del sys.modules["gc"]
    return list(gc.get_referents(one))


def awaiting_task(future: Any, asyncio: Any, waits: "tuple[Any, ...]" = ()) -> Any:
    """Return the asyncio task that waits for a future, also by `gather`, `shield` or a task group.

    The callbacks of the future lead to the task, directly or by other futures, at most `MAX_TASKS` in a row. Of
    several tasks the first that is found is returned; None: there is none. `asyncio` is the module. `waits` are
    the futures on the way to this one; callers leave it out.
    """
    # `shield` has each of its two futures know the other one.
    waits = (*waits, future)
    callbacks: list[Any] = asyncio.Future._callbacks.__get__(future) or []
    for each in callbacks:
        # Python 3.6 has no contexts.
        callback: Any = each[0] if isinstance(each, tuple) else each  # pyright: ignore[reportUnknownVariableType]
        for one in callback_owners(callback):
            if any(one is each for each in waits):
                continue
            found = task_behind(one, asyncio)
            if found is None and isinstance(one, asyncio.Future) and len(waits) <= MAX_TASKS:
                found = awaiting_task(one, asyncio, waits)
            if found is not None:
                return found
    return None


def task_behind(one: Any, asyncio: Any) -> Any:
    """Return the task that an object which a callback belongs to stands for; None if it stands for none.

    That is an asyncio task itself, or the task that has opened a task group of asyncio or anyio, which is None
    before the group is entered. A group of a subclass that the program defines stands for none. `one` is the
    object, `asyncio` the module.
    """
    kind: Any = type(one)  # pyright: ignore[reportUnknownVariableType]
    if issubclass(kind, asyncio.Task):
        return one
    if kind.__module__ == "asyncio.taskgroups":
        return one._parent_task
    if (kind.__module__, kind.__name__) == ("anyio._backends._asyncio", "TaskGroup"):
        return one.cancel_scope._host_task
    return None


def callback_owners(callback: Any) -> "Iterator[Any]":
    """Yield the objects that a callback holds: what it is bound to, a `partial`'s arguments, its closure.

    Of a `partial` these are its positional arguments and what its function holds; the function itself and keyword
    arguments are left out. For the callback that wakes an asyncio task, the objects to which it refers are yielded.
    Nothing is looked for in the yielded objects; there may be none, and not each of them awaits anything. The
    callback is not called.
    """
    if type(callback) is functools.partial:
        yield from callback.args
        callback = callback.func
    if type(callback).__name__ == WAKES:
        yield from referents(callback)
    # By its type: an object of the program may run code when it is asked for an attribute.
    if type(callback) in (types.MethodType, types.BuiltinMethodType):
        yield callback.__self__
        callback = getattr(callback, "__func__", None)
    for cell in (callback.__closure__ if type(callback) is types.FunctionType else None) or ():
        with contextlib.suppress(ValueError):  # it is empty
            yield cell.cell_contents


def name_of(task: Any) -> str:
    """Return the name of a task of asyncio or trio; `Task` before Python 3.8."""
    if is_of_trio(task):
        return str(raw_attribute(task, "name"))
    get_name = getattr(sys.modules["asyncio"].Task, "get_name", None)
    return get_name(task) if get_name else "Task"


def coroutine_of(task: Any) -> Any:
    """Return the coroutine that a task of asyncio or trio runs."""
    if is_of_trio(task):
        return raw_attribute(task, "coro")
    get_coro = getattr(sys.modules["asyncio"].Task, "get_coro", None)
    return get_coro(task) if get_coro else task._coro


def awaiting_frames(task: Any) -> "Iterator[Any]":
    """Yield a label (text), then the frames of the task that awaits `task`, the innermost first.

    Then the same for that task, …. A label names both tasks; if none awaits the first task, its label alone is yielded, and names only that
    one. It ends after `MAX_TASKS`, or at a circle. Tasks are of asyncio or trio; a trio task is "awaited" by the one in whose nursery it
    is.
    """
    seen: list[Any] = []
    while len(seen) < MAX_TASKS and task not in seen:
        seen.append(task)
        how, waits = awaited_by(task)
        if waits is None or waits in seen:
            if len(seen) == 1:
                yield f"task {name_of(task)}"
            return
        yield f"task {name_of(task)}, {how} task {name_of(waits)}"
        yield from frames_of(coroutine_of(waits))
        task = waits


def awaited_by(task: Any) -> "tuple[str, Any]":
    """Return how a task is awaited, in words, and the task that awaits it, or in whose nursery it is.

    The task is None if there is none.
    """
    if not is_of_trio(task):
        return "awaited by", awaiting_task(task, sys.modules["asyncio"])
    waits: Any = raw_attribute(raw_attribute(task, "_parent_nursery"), "_parent_task")
    # trio's own tasks are above all others.
    return "in a nursery of", waits if raw_attribute(waits, "_parent_nursery") is not None else None


def waiting_for(task: Any) -> Any:
    """Return the future that a task waits for, or of trio its function to abort the wait.

    None: it runs or is ready.
    """
    return raw_attribute(task, "_abort_func" if is_of_trio(task) else "_fut_waiter")


def raw_attribute(value: Any, name: str) -> Any:
    """Return an attribute of an object past any `__getattribute__` of its class; None if there is none."""
    try:
        return object.__getattribute__(value, name)
    except AttributeError:
        return None


def is_a(value: Any, kinds: Any) -> bool:
    """Return whether an object's type derives from one of these classes.

    `isinstance` might run code of the object.
    """
    return issubclass(type(value), kinds)


def chained_futures(future: Any) -> "list[Any]":
    """Return the futures of other event loops or threads that `future` mirrors, and with which it ends.

    asyncio chains `future` to such a one in `wrap_future` or `run_coroutine_threadsafe`: as soon as that other
    future or task has a result, `future` gets the same. The list is empty if `future`, one of asyncio or of
    concurrent.futures, is chained to none. The futures that wait for `future` are not in the list.
    """
    known: Any = raw_attribute(future, "_done_callbacks")
    if known is None:
        known = sys.modules["asyncio"].Future._callbacks.__get__(future) or []
    callbacks: list[Any] = [each[0] if isinstance(each, tuple) else each for each in known]
    chained = [
        each for each in callbacks if raw_attribute(each, "__name__") == "_call_check_cancel"
    ]
    return [one for each in chained for one in callback_owners(each) if is_a(one, future_kinds())]


def future_kinds() -> "tuple[Any, ...]":
    """Return the classes of futures of asyncio and concurrent.futures, as far as these are loaded."""
    modules: Any = map(sys.modules.get, ("asyncio", "concurrent.futures"))
    # Another thread may be importing them.
    kinds = [getattr(each, "Future", None) for each in modules]
    return tuple(each for each in kinds if each is not None)


# -- where all threads and tasks are


def places() -> str:
    """Return as JSON where each thread and each unfinished task is: `threads` and `tasks`, each a list.

    Threads are all that `threading` knows but for the debugger's own. Each entry has `name`, `id` and `frames`
    (lists of function, file and line, the innermost first, `MAX_FRAMES` at most, without the debugger's); a task
    has `awaited_by`, a text, if one awaits it. The `id` is a thread's ident or a task's `id()`. Tasks are those
    of `unfinished_tasks`, sorted by name; one whose class raises is left out.
    """
    of_python: Any = sys
    now: dict[int, types.FrameType] = of_python._current_frames()
    known: Any = threading
    threads: list[dict[str, Any]] = [
        {
            "name": raw_attribute(each, "_name"),
            "id": ident,
            "frames": stack(now.get(ident))[:MAX_FRAMES],
        }
        for ident, each in list(known._active.items())
        if not raw_attribute(each, "is_pydev_daemon_thread")
    ]
    tasks: list[dict[str, Any]] = []
    for task in unfinished_tasks():
        # A class of the program may raise anything.
        with contextlib.suppress(Exception):
            tasks.append(describe_task(task, now.values()))
    tasks.sort(key=operator.itemgetter("name"))
    return json.dumps({"threads": threads, "tasks": tasks})


def unfinished_tasks() -> "Iterator[Any]":
    """Yield the unfinished tasks of all event loops of asyncio and of trio, without trio's own.

    Those of asyncio are the tasks that the sets of its module have. Python 3.14 and newer keep only tasks of other
    classes than asyncio's own there, so those of asyncio itself are missing. Those of trio are found only for runs that
    a thread is in right now. Nothing is yielded in a program that has imported neither module.
    """
    asyncio: Any = sys.modules.get("asyncio.tasks")
    for kind in ("_all_tasks", "_scheduled_tasks", "_eager_tasks"):
        known: Any = list(getattr(asyncio, kind, ()))
        yield from (each for each in known if raw_attribute(each, "_state") == "PENDING")
    of_python: Any = sys
    for frame in of_python._current_frames().values() if TRIO in sys.modules else ():
        runner: Any = trio_of(frame)
        # trio's own tasks have such names.
        yield from (
            each for each in list(raw_attribute(runner, "tasks") or ()) if name_of(each)[:1] != "<"
        )


def trio_of(frame: Any) -> Any:
    """Return the runner of trio's tasks in the thread whose innermost frame is given.

    It is None if there is none.
    """
    while frame is not None:
        if frame.f_globals.get("__name__") == TRIO and "runner" in frame.f_locals:
            return frame.f_locals["runner"]
        frame = frame.f_back
    return None


def is_of_trio(task: Any) -> bool:
    """Whether a task is one of trio's."""
    kind: Any = getattr(sys.modules.get(TRIO), "Task", None)
    return kind is not None and is_a(task, kind)


def current_task() -> Any:
    """Return the task of asyncio or trio that this thread runs; None if it runs none."""
    asyncio: Any = sys.modules.get("asyncio.tasks")
    loop = asyncio and asyncio.events._get_running_loop()
    if loop is not None:
        return asyncio.current_task(loop)
    return getattr(getattr(sys.modules.get(TRIO), "GLOBAL_RUN_CONTEXT", None), "task", None)


def describe_task(task: Any, running: Any) -> "dict[str, Any]":
    """Return a dict with `name`, `id`, `frames` of a task, and `awaited_by` (words) if there is one.

    `name` is the task's name with that of its coroutine, such as `Task-1 main()`; `id` is Python's `id` of the
    task. `frames` are lists of function, file and line, the innermost first, `MAX_FRAMES` at most. `running` are
    the innermost frames of all threads: for a task that a thread runs now, `frames` begin with the innermost frame
    of this thread that is not the debugger's, and include the functions that the task has called. What classes of
    the program raise is not caught.
    """
    coroutine = coroutine_of(task)
    frames = frames_of(coroutine)
    for innermost in running if frames else ():
        known = call_stack(innermost)
        if frames[-1] in known:
            frames = known[: known.index(frames[-1]) + 1]
    how, waits = awaited_by(task)
    entry: dict[str, Any] = {
        "name": f"{name_of(task)} {getattr(coroutine, '__qualname__', '')}()",
        "id": id(task),
        "frames": [*map(place, frames)][:MAX_FRAMES],
    }
    return entry if waits is None else {**entry, "awaited_by": f"{how} {name_of(waits)}"}


def call_stack(frame: Any) -> "list[types.FrameType]":
    """Return a frame and its callers as a list, the innermost first, without the debugger's frames.

    Frames that the debugger has called in a suspended thread are left out, too. It is empty for None.
    """
    frames: list[types.FrameType] = []
    while frame is not None:
        code = frame.f_code
        if code.co_name == "do_wait_suspend":
            frames.clear()
        elif not OWN.search(code.co_filename):
            frames.append(frame)
        frame = frame.f_back
    return frames


def is_suspended(frame: Any) -> bool:
    """Return whether pydevd has stopped the thread whose innermost frame is given."""
    while frame is not None and frame.f_code.co_name != "do_wait_suspend":
        frame = frame.f_back
    return frame is not None


def stack(frame: Any) -> "list[list[Any]]":
    """Return the places (see `place`) of a frame and of its callers, the innermost first; empty for None."""
    return [*map(place, call_stack(frame))]


def place(frame: Any) -> "list[Any]":
    """Return function, file and line of a frame."""
    return [frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno]
