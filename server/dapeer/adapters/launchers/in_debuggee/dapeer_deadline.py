"""A deadline for expressions that run code of the program: what hangs is cut off by an exception in its thread.

Python raises it between two of its instructions. A call of C code that does not return (a lock, a sleep) is cut off when it does.
The watcher is a thread of the debugger's that only wakes while expressions are evaluated.
"""

from __future__ import annotations

import _thread
import ctypes
import importlib
import time
from typing import Any

SECONDS = 0.25
"""An expression may take so long."""


PROMPT = 100
"""Jumps at each of which Python looks whether there is an exception for its thread."""


class Overdue(BaseException):
    """An expression was cut off."""


class Watch:
    """Cuts off what begins with `running[thread] = now()` and is not over in time.

    Who evaluates sets that, calls `woken` if the watcher is `asleep`, and calls `over` at the end.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self.running: dict[int, float] = {}
        self.asleep = False
        self._begun = False
        self._fired: set[int] = set()
        self._lock = _thread.allocate_lock()
        self._wakes = _thread.allocate_lock()
        self._wakes.acquire()

    def begin(self, now: float) -> None:
        """Note that this thread evaluates from now on."""
        self.running[_thread.get_ident()] = now
        if self.asleep or not self._begun:
            self._wake()

    def over(self) -> None:
        """Note that this thread evaluates no more.

        Raises:
            Overdue: It was cut off a moment too late; later none comes.
        """
        thread = _thread.get_ident()
        self.running.pop(thread, None)
        if thread in self._fired:
            with self._lock:
                self._fired.discard(thread)
            # Where it was raised and has not come yet, it comes now. To take it back would have Python 3.11 hang.
            for _ in range(PROMPT):
                pass

    def _wake(self) -> None:
        with self._lock:
            if not self._begun:
                self._begun = True
                started(self._look)
            elif self.asleep:
                self.asleep = False
                self._wakes.release()

    def _look(self) -> None:
        """Look at what runs; sleep while nothing does."""
        while True:
            self._wakes.acquire(True, self.seconds / 2)  # noqa: FBT003 - its arguments have no names
            now = time.perf_counter()
            for thread, since in list(self.running.items()):
                if now - since > self.seconds:
                    self._cut(thread, since)
            self.asleep = True
            if not self.running:
                self._wakes.acquire()
            self.asleep = False

    def _cut(self, thread: int, since: float) -> None:
        """Raise in a thread if it still evaluates the same; it looks into `_fired` after it has said that it is over."""
        with self._lock:
            self._fired.add(thread)
            if self.running.get(thread) == since:
                raise_in(thread, Overdue)
            else:
                self._fired.discard(thread)


def started(function: Any) -> None:
    """Run a function in a thread of the debugger's, which the program does not see."""
    daemon: Any = importlib.import_module("_pydevd_bundle.pydevd_daemon_thread")
    debugger: Any = importlib.import_module("pydevd").get_global_debugger()
    daemon.run_as_pydevd_daemon_thread(debugger, function)


def raise_in(thread: int, kind: Any) -> None:
    """Have a thread raise an exception when it goes on."""
    raises: Any = ctypes.pythonapi["PyThreadState_SetAsyncExc"]
    raises(ctypes.c_ulong(thread), ctypes.py_object(kind))
