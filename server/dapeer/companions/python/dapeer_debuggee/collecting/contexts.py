"""Who records a row: thread, task and caller, as three columns; kept, since each row needs them."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any

from ..stacks import awaiting
from ..values import cells

NOBODY = ("debugpy_launcher.py", "runpy.py", "pydevd_runpy.py", "pydevd.py", "ending.py")
"""Files of who calls the program itself, or its functions of `atexit`."""
MAX_PLACES = 10_000
"""Places that are kept."""

places: dict[int, tuple[Any, dict[int, str]]] = {}
"""By the id of a code: the code, and the texts of places in it by line.

The code is kept, or another one might get its id.
"""
threads: Any = threading
ident: Callable[[], int] = threading.get_ident


def context(frame: Any) -> str:
    """Return thread, task and caller of a frame as text, with tabs between them.

    The thread and task are those that call this function; the task is empty if none runs. The caller is the frame
    that has called `frame`, as `FUNCTION FILE:LINE`, and empty if there is none; the text of a caller is kept in
    `places` for the next time.
    """
    back = frame.f_back
    if back is None:
        return f"{thread_name()}\t{task_name()}\t"
    code = back.f_code
    known = places.get(id(code))
    caller = known[1].get(back.f_lasti) if known is not None else None
    if caller is None:
        caller = remember_place(back)
    thread = threads._active.get(ident())
    return f"{printable_name(awaiting.raw_attribute(thread, '_name')) if thread is not None else thread_name()}\t{task_name()}\t{caller}"


def remember_place(frame: Any) -> str:
    """Make the text of the place where a frame is (`place_of`), keep it in `places`, and return it.

    The text is kept by code and instruction, for callers that look into `places` first: this function makes
    it anew each time. If `MAX_PLACES` codes have texts already, all are forgotten before.
    """
    if len(places) >= MAX_PLACES:
        places.clear()
    code = frame.f_code
    known = places.setdefault(id(code), (code, {}))
    text = known[1][frame.f_lasti] = place_of(frame)
    return text


def place_of(frame: Any) -> str:
    """Return `FUNCTION FILE:LINE` of a frame; empty for a frame of what runs the program.

    FILE is the name without folders. FUNCTION is the qualified name behind the last `<locals>.`, such as `Order.pay`; before Python 3.11
    only `pay`. The text is escaped as that of a cell. Files of what runs the program are those in `NOBODY`.
    """
    code = frame.f_code
    file = os.path.basename(code.co_filename)
    if file in NOBODY:
        return ""
    name = getattr(code, "co_qualname", code.co_name).rpartition("<locals>.")[2]
    return str(cells.escaped(f"{name} {file}:{frame.f_lineno}"))


@functools.lru_cache(maxsize=1000)
def printable_name(name: Any) -> str:
    """Return a name that the program has given, as text without unprintable characters."""
    return str(cells.escaped(str(name)))


def thread_name() -> str:
    """Return this thread's name as cell text, or `thread NUMBER` where `threading` does not know it.

    Unprintable characters of the name are escaped. NUMBER is the thread's `threading.get_ident`. It makes no
    `threading.Thread`, as `threading.current_thread` would.
    """
    thread = threads._active.get(ident())
    return (
        printable_name(awaiting.raw_attribute(thread, "_name"))
        if thread is not None
        else f"thread {ident()}"
    )


def task_name() -> str:
    """Return the name of the task that runs in this thread; empty if none does."""
    task = awaiting.current_task()
    return printable_name(awaiting.name_of(task)) if task is not None else ""
