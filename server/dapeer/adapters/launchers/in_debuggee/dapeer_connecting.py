"""Lets a program begin as soon as its debugger is connected.

pydevd starts two threads for the connection, and then sleeps for 100 ms, to give them time to begin. Here the start of each
returns when it has begun, and pydevd does not sleep. That counts for the program and for each child process.
"""

from __future__ import annotations

import importlib
from typing import Any

SECONDS = 0.1
"""How long pydevd sleeps. A thread is waited for as long, at most."""


def improve(*, prints: bool) -> None:
    """Patch how pydevd connects.

    Raises:
        AttributeError: pydevd has another structure.
    """
    pydevd: Any = importlib.import_module("pydevd")
    saved: Any = importlib.import_module("_pydev_bundle._pydev_saved_modules")
    begin(pydevd.PyDB, (pydevd.ReaderThread, pydevd.WriterThread), saved.ThreadingEvent)


def begin(debugger: Any, threads: tuple[Any, Any], event: Any) -> None:
    """Make a debugger's class wait for the threads of its connection, and not longer.

    Args:
        debugger: The class.
        threads: The classes of the threads.
        event: The class of events.

    Raises:
        AttributeError: A class has another structure; all stay unchanged.
    """
    connect = debugger.initialize_network
    code = connect.__code__
    constants = [0.0 if each == SECONDS else each for each in code.co_consts]
    if "sleep" not in code.co_names or constants.count(0.0) != 1:
        raise AttributeError
    without = code.replace(co_consts=tuple(constants))
    starts = [(each, begun(each.start, event)) for each in threads if callable(each._on_run)]
    connect.__code__ = without
    for thread, start in starts:
        thread.start = start


def begun(stock: Any, event: Any) -> Any:
    """Return what starts a thread, and returns once that has begun with its work."""

    def start(self: Any) -> None:
        begins, run = event(), self._on_run

        def announce() -> None:
            del self._on_run
            begins.set()
            run()

        self._on_run = announce
        stock(self)
        begins.wait(SECONDS)

    return start
