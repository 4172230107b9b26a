"""Who is where a row is recorded: thread, task and caller, as three columns."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from typing import Any

cells: Any = importlib.import_module("in_debuggee.dapeer_cells")

NOBODY = ("debugpy_launcher.py", "runpy.py", "pydevd_runpy.py", "pydevd.py")
"""Files of who calls the program itself."""


def thread_name() -> str:
    """Return the name of this thread; of one that `threading` does not know, its number."""
    known: Any = threading
    ident = threading.get_ident()
    thread = known._active.get(ident)
    return cells.escaped(str(thread.name)) if thread is not None else f"thread {ident}"


def task_name() -> str:
    """Return the name of the task that runs in this thread, if any does."""
    asyncio: Any = sys.modules.get("asyncio.tasks")
    if asyncio is None or asyncio.events._get_running_loop() is None:
        return ""
    task = asyncio.current_task()
    return cells.escaped(str(task.get_name())) if task is not None else ""


def caller_of(frame: Any) -> str:
    """Return who has called a frame, with file and line."""
    back = frame.f_back
    if back is None:
        return ""
    code = back.f_code
    file = os.path.basename(code.co_filename)
    if file in NOBODY:
        return ""
    name = getattr(code, "co_qualname", code.co_name).rpartition("<locals>.")[2]
    return cells.escaped(f"{name} {file}:{back.f_lineno}")


def context(frame: Any) -> str:
    """Return the columns."""
    return f"{thread_name()}\t{task_name()}\t{caller_of(frame)}"
