"""A deadline for expressions that run code of the program: an exception in its thread cuts off a hang.

Python raises it between two of its instructions. A call of C code that does not return (a lock, a sleep) is cut off when it does.
It is raised only in a thread that is within a recorder, which keeps all that comes up in it from the program.
The watcher is a thread of the debugger's that only wakes while expressions are evaluated.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import importlib
import signal
import sys
import time
from collections.abc import Generator
from typing import Any

from .. import guard

SECONDS_TO_EVALUATE = 0.25
"""An expression may take so long."""


RECORDER = "<dapeer>"
"""The file of the code of recorders."""
JUMPS_PER_CHECK = 100
"""Jumps at each of which Python looks whether there is an exception for its thread."""


class CutOff(BaseException):
    """An expression was cut off."""


class Deadline:
    """Raises `CutOff` in threads that evaluate for longer than `seconds`.

    A recorder calls `begin`, and `end` at its end; a watching thread looks at all that has begun.
    """

    def __init__(self, seconds: float = SECONDS_TO_EVALUATE) -> None:
        self.seconds = seconds
        self.start_times: dict[int, float] = {}
        self.asleep = False
        self._is_started = False
        self._fired_threads: set[int] = set()
        # A signal handler of the program's may come by a point while this thread has it.
        self._lock = _thread.RLock()
        self._wake_lock = _thread.allocate_lock()
        self._wake_lock.acquire()

    def begin(self, now: float) -> None:
        """Note that this thread evaluates from `now` on (`perf_counter`); start or wake the watching thread."""
        self.start_times[_thread.get_ident()] = now
        if not self._is_started:
            self.start()
        elif self.asleep:
            self._wake()

    def end(self) -> None:
        """Note that this thread has ended its evaluation; a recorder calls this when it has finished.

        If the deadline has passed by now, the `CutOff` that was sent to this thread may be raised here, and none is
        raised in it after this method. Nothing happens if the thread has not called `begin`.

        Raises:
            CutOff: The deadline cut off the evaluation just before it ended.
        """
        thread = _thread.get_ident()
        self.start_times.pop(thread, None)
        if thread in self._fired_threads:
            with self._lock:
                self._fired_threads.discard(thread)
            # Where it was raised and has not come yet, it comes now. To take it back would have Python 3.11 hang.
            for _ in range(JUMPS_PER_CHECK):
                pass

    def start(self) -> None:
        """Start the watching thread, if it does not run; no signal handler of the program breaks that off.

        It is a thread of the debugger's, and runs for as long as the process.
        """
        with self._lock, block_signals():
            if not self._is_started:
                start_thread(self._look)
                self._is_started = True

    def _wake(self) -> None:
        with self._lock:
            if self.asleep:
                self.asleep = False
                self._wake_lock.release()

    def _look(self) -> None:
        """Cut off what evaluates for too long, again and again, and sleep while nothing evaluates.

        It is what the watching thread runs, and never returns.
        """
        while True:
            self._wake_lock.acquire(True, self.seconds / 2)  # noqa: FBT003 - its arguments have no names
            self._look_once()
            self.asleep = True
            if not self.start_times:
                self._wake_lock.acquire()
            self.asleep = False

    @guard.hook
    def _look_once(self) -> None:
        """Cut off each thread that has evaluated for more than `seconds`."""
        now = time.perf_counter()
        for thread, since in list(self.start_times.items()):
            if now - since > self.seconds:
                self._cut_off(thread, since)

    def _cut_off(self, thread: int, since: float) -> None:
        """Raise `CutOff` in a thread that still evaluates what it began at `since`, inside of a recorder.

        `thread` is the thread's ident, `since` the time that `begin` has noted in `start_times`. The thread
        raises the error itself, at its next instruction, and is in `_fired_threads` until it calls `end`. A
        thread that is in no recorder has ended its evaluation without having said so: its start time is dropped.
        One that evaluates something else by now is left alone.
        """
        with self._lock:
            self._fired_threads.add(thread)
            if self.start_times.get(thread) == since and is_in_recorder(thread):
                raise_in(thread, CutOff)
                return
            self._fired_threads.discard(thread)
            if not is_in_recorder(thread):
                # It is over without having said so.
                self.start_times.pop(thread, None)


def is_in_recorder(thread: int) -> bool:
    """Return whether a thread, by its number, is inside of a recorder."""
    of_python: Any = sys
    frame: Any = of_python._current_frames().get(thread)
    while frame is not None and frame.f_code.co_filename != RECORDER:
        frame = frame.f_back
    return frame is not None


def start_thread(function: Any) -> None:
    """Run a function in a new thread of the debugger's, which the program does not see."""
    daemon: Any = importlib.import_module("_pydevd_bundle.pydevd_daemon_thread")
    debugger: Any = importlib.import_module("pydevd").get_global_debugger()
    daemon.run_as_pydevd_daemon_thread(debugger, function)


@contextlib.contextmanager
def block_signals() -> Generator[None, None, None]:
    """Block all signals of this thread in the body, so that no signal handler of the program interrupts.

    Afterwards the mask is as before. Nothing is blocked on systems without signal masks.
    """
    mask: Any = getattr(signal, "pthread_sigmask", None)
    if mask is None:
        yield
        return
    before = mask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        mask(signal.SIG_SETMASK, before)


def raise_in(thread: int, kind: Any) -> None:
    """Have another thread raise an exception of class `kind` between two of its next instructions."""
    raises: Any = ctypes.pythonapi["PyThreadState_SetAsyncExc"]
    raises(ctypes.c_ulong(thread), ctypes.py_object(kind))
