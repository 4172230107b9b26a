"""A program's end: functions of `atexit` are debugged, and a crash in C code shows where Python was.

Python calls those functions when the first thread is over; pydevd leaves then. So they are called a moment before.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import os
import sys
import threading
from typing import Any

from .. import patching

REGISTER = "threading:_register_atexit(func *arg **kwargs)"
TIMEOUT = "_pydevd_bundle.pydevd_timeout:TimeoutTracker.call_on_timeout"
AT_EXIT = patching.Row(
    "functions-at-exit",
    "Python",
    "Breakpoints in functions of `atexit` and `weakref.finalize` are passed by.",
    replaces={TIMEOUT: "self timeout on_timeout kwargs="},
    uses=(REGISTER, "threading:_shutdown", "atexit:_run_exitfuncs"),
    since="3.9",
)
CRASHES = patching.Row(
    "crashes",
    "Python",
    "A program that crashes in C code does not say where Python was.",
    adds=True,
)
STDERR = 2
# Where their own names are private.
functions: Any = atexit
threads: Any = threading
system: Any = sys


@CRASHES
def print_crashes(patch: Any) -> None:
    """Have a crash in C code print to stderr where Python was, as the option `-X faulthandler` does.

    Nothing changes if the program has switched that on itself. `patch` is this patch's `patching.Row`: it calls this function when it is
    applied, and its `undo` puts back what was replaced by it.
    """
    if not faulthandler.is_enabled():
        faulthandler.enable(STDERR, all_threads=False)
        patch.and_undo(faulthandler.disable)


@AT_EXIT
def debug_the_end(patch: Any) -> None:
    """Have functions of `atexit` called a moment earlier, while pydevd still debugs.

    The functions are called when Python's end begins, if there are no threads to wait for, and only in the
    process that applies the patch, not in its forks; Python calls none of them again, and what they raise is
    ignored. pydevd's `call_on_timeout` is replaced, too, as it cannot start a thread at the end from Python
    3.12 on: where it raises `RuntimeError`, it is called once more, and what pydevd looks at has no timeout.
    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back
    what was replaced by this function.

    Raises:
        Misfit: pydevd's `call_on_timeout` is not as it is known, or the row does not state it.
    """
    process = os.getpid()

    def run() -> None:
        if os.getpid() == process and is_interpreter_ending() and not has_threads_to_wait_for():
            # What such a function raises has been printed; Python 3.9 raises it here, too.
            with contextlib.suppress(BaseException):
                functions._run_exitfuncs()

    threads._register_atexit(patch.guard(run, lambda: None))

    @patch.replace(TIMEOUT)
    def call_on_timeout(stock: Any, self: Any, *given: Any, **named: Any) -> Any:
        """Do as pydevd's `call_on_timeout`, and once more where it cannot start its thread."""
        try:
            return stock(self, *given, **named)
        except RuntimeError:
            # From Python 3.12 on no thread starts at the end. pydevd does not try twice; what it looks at has no timeout then.
            return stock(self, *given, **named)


def is_interpreter_ending() -> bool:
    """Return whether Python's interpreter is ending, for a function that `threading._register_atexit` has.

    Python calls such a function also when the first function of a forked `multiprocessing` child is over: the
    result is False then. In a spawned child, which ends with that function, it is True. The callers on this
    thread's stack tell which; elsewhere than in such a function the result means nothing.
    """
    spawn: Any = sys.modules.get("multiprocessing.spawn")
    spawned = getattr(getattr(spawn, "spawn_main", None), "__code__", None)
    frame: Any = system._getframe()
    while frame.f_back is not None and frame.f_code is not spawned:
        frame = frame.f_back
    return frame.f_code in (threads._shutdown.__code__, spawned)


def has_threads_to_wait_for() -> bool:
    """Return whether a thread other than the main one, which Python would wait for at its end, is running."""
    return any(
        not each.daemon for each in threading.enumerate() if each is not threading.main_thread()
    )


def apply_rows() -> None:
    """Apply the row `AT_EXIT` where this version of Python allows it, and `CRASHES` in the first process.

    A child's output may be read by the program, so no crash is printed there.
    """
    if hasattr(threading, "_register_atexit"):  # Python 3.9
        AT_EXIT.apply()
    if patching.first_process[0]:
        CRASHES.apply()
