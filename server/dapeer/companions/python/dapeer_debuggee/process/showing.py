"""What dapeer does in a program's threads beside the program's own code: there pydevd traces nothing.

Since Python 3.12 pydevd traces by `sys.monitoring`. That goes on in what is called by code that no event of Python's has called, so pydevd
would stop in itself, or in the standard library. `python_tests.py` uses this module by itself, so it imports none of ours.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Generator, Sequence
from typing import Any


@contextlib.contextmanager
def untraced() -> Generator[None]:
    """Suspend pydevd's `sys.monitoring` of this thread in the body, so that pydevd stops nowhere in it.

    Nothing changes where it does not monitor, or has suspended that already.
    """
    pydevd: Any = sys.modules.get("pydevd")
    monitoring: Any = getattr(pydevd, "pydevd_sys_monitoring", None)
    suspend: Any = getattr(monitoring, "suspend_current_thread_tracing", None)
    used = getattr(pydevd, "PYDEVD_USE_SYS_MONITORING", False)
    traced = suspend() if used and suspend is not None else False
    try:
        yield
    finally:
        if traced:
            monitoring.resume_current_thread_tracing()


def show(error: Sequence[Any]) -> None:
    """Stop this thread where an exception was raised, if the debugger stops at uncaught exceptions.

    The call returns when the user resumes the thread; if the debugger does not stop, or there is none, at once.

    Args:
        error: A sequence of three: the exception's type, the exception itself, and its traceback.
    """
    debugger: Any = getattr(sys.modules.get("pydevd"), "get_global_debugger", lambda: None)()
    if debugger is None:
        return
    with untraced():
        try:
            breakpoints: Any = importlib.import_module("_pydevd_bundle.pydevd_breakpoints")
        except ImportError:
            return
        thread = threading.current_thread()
        information: Any = debugger.set_additional_thread_info(thread)
        # Keeps the debugger from tracing itself, up to Python 3.11.
        information.is_tracing += 1
        try:
            breakpoints.stop_on_unhandled_exception(debugger, thread, information, tuple(error))
        finally:
            information.is_tracing -= 1
