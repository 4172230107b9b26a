"""What is done in a program when its debugger goes, whether it says so or its connection ends."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .. import patching

DISCONNECT = (
    "_pydevd_bundle.pydevd_process_net_command_json:PyDevJsonCommandProcessor.on_disconnect_request"
)
LEAVE = patching.Row(
    "debugger-gone",
    "debugpy",
    "What dapeer has changed or collects in a program stays after the debugger has gone.",
    replaces={DISCONNECT: "self py_db request"},
)
first: list[Callable[[], None]] = []
"""What is done before the debugger goes."""
last: list[Callable[[], None]] = []
"""What is done when it has gone."""


@LEAVE
def call_at_disconnect(patch: Any) -> None:
    """Patch pydevd so that functions in `first` are called before a client's `disconnect`, `last` after.

    `first` and `last` are lists of this module, of functions without arguments. Each function is removed from its list
    when it is called, so it runs once, and what it raises is ignored. Those in `last` are called also if `disconnect`
    raises. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back
    what was replaced by it.
    """

    @patch.replace(DISCONNECT)
    def on_disconnect_request(stock: Any, *given: Any, **named: Any) -> Any:
        try:
            call_and_clear(first)
            return stock(*given, **named)
        finally:
            call_and_clear(last)


def call_and_clear(actions: list[Callable[[], None]]) -> None:
    """Call each function of a list, and remove it from the list; what it raises is ignored."""
    while actions:
        with contextlib.suppress(Exception):
            actions.pop(0)()


# Puts back what an injected debugpy changed in a program, once the debugger has left.

MARK = "injected_by_dapeer"
"""The attribute of debugpy's module for that; a program that debugs itself is left as it is."""
PATCHED = ("os", "subprocess", "_posixsubprocess", "_winapi")
"""Modules in which pydevd replaces functions that start processes, kept under this prefix."""
ORIGINAL = "original_"
HELD_HERE = 2
"""References that `sys.getrefcount` counts of one variable and its own argument; from 3.14 one less."""
THEIRS = ("_pydev", "pydevd", "debugpy")
ADDED = ("PYDEVD_USE_FRAME_EVAL",)
"""Variables that pydevd adds to the environment."""


def remove_leftovers() -> None:
    """Put back what an injected debugpy has changed in this program, and end all tracing in it.

    Nothing happens if dapeer has not injected it. The functions that start processes and threads, and hooks, are
    put back, then monitoring and tracing end, one after the other; an error ends only its own part, and is
    ignored. Up to Python 3.11 running threads also lose trace functions that the program itself has set.
    """
    if not hasattr(sys.modules.get("debugpy"), MARK):
        return
    for put_back in (
        restore_process_functions,
        restore_thread_functions,
        restore_hooks,
        end_monitoring,
        end_all_tracing,
    ):
        with contextlib.suppress(Exception):
            put_back()


def restore_process_functions() -> None:
    """Put back the functions that start processes, which pydevd has replaced.

    A function that is not pydevd's any more, since the program has replaced it in turn, is left as it is. Where
    one was put back, the original that pydevd keeps beside it is removed, too, unless something in the program
    still refers to pydevd's function, which calls it.
    """
    for module, name, stock in [*originals()]:
        theirs = getattr(module, name, None)
        if is_of_debugger(theirs):
            vars(module)[name] = stock
            if sys.getrefcount(theirs) <= HELD_HERE:
                del vars(module)[ORIGINAL + name]


def originals() -> Iterator[tuple[Any, str, Any]]:
    """Yield module, name and original of each function that pydevd has replaced in the modules `PATCHED`."""
    for module in filter(None, map(sys.modules.get, PATCHED)):
        for name, stock in list(vars(module).items()):
            if name.startswith(ORIGINAL):
                yield module, name[len(ORIGINAL) :], stock


def is_of_debugger(value: Any) -> bool:
    """Return whether a value, by its module or that of its class, is of pydevd or debugpy."""
    module = getattr(value, "__module__", None) or type(value).__module__
    return str(module).startswith(THEIRS)


def restore_thread_functions() -> None:
    """Put back the functions that start threads, and remove names that pydevd added to their modules.

    The modules are those that pydevd patches, such as `_thread`. Removed are the names that begin with
    `_original_`, and those that putting back adds.
    """
    monkey: Any = importlib.import_module("_pydev_bundle.pydev_monkey")
    had: dict[Any, set[str]] = {
        module: {*vars(module)} for module in monkey.threading_modules_to_patch
    }
    # It adds names that a module has not had; what holds pydevd's functions has the originals by them.
    monkey.undo_patch_thread_modules()
    for module, names in had.items():
        now: list[str] = [*vars(module)]
        for name in now:
            if name not in names or name.startswith("_" + ORIGINAL):
                del vars(module)[name]


def restore_hooks() -> None:
    """Put back `sys.settrace` and `sys.breakpointhook`, and remove names that pydevd has added.

    `sys.breakpointhook` becomes Python's own function again, if it is pydevd's or debugpy's; a hook of somebody else's
    stays. Names in `builtins` whose values are of pydevd or debugpy, and the variables `ADDED` of the environment, are
    removed.
    """
    importlib.import_module("pydevd_tracing").restore_sys_set_trace_func()
    of_sys: dict[str, Any] = sys.__dict__
    of_builtins: dict[str, Any] = builtins.__dict__
    if is_of_debugger(sys.breakpointhook):
        of_sys["breakpointhook"] = sys.__breakpointhook__
    for name, value in list(of_builtins.items()):
        if is_of_debugger(value):
            del of_builtins[name]
    for name in ADDED:
        os.environ.pop(name, None)


def end_monitoring() -> None:
    """Stop pydevd's `sys.monitoring` in all threads, where Python has that."""
    if hasattr(sys, "monitoring"):
        module: Any = importlib.import_module("_pydevd_sys_monitoring.pydevd_sys_monitoring")
        module.stop_monitoring(all_threads=True)


def end_all_tracing() -> None:
    """Remove the trace function of each thread, whosever it is, and pydevd's from `threading.settrace`.

    Each running thread loses what `sys.settrace` has set there, also a function of the program's own; on Python 3.8
    at its next call. Threads that start later are traced no more by pydevd, but still by the program. From Python
    3.12 on running threads stay as they are: pydevd does not trace by `sys.settrace` there.
    """
    known: Any = threading
    if is_of_debugger(getattr(known._trace_hook, "func", known._trace_hook)):
        threading.settrace(None)  # type: ignore[reportArgumentType]
    if sys.version_info >= (3, 12):
        return
    ctypes: Any = importlib.import_module("ctypes")
    python: Any = ctypes.pythonapi
    if not hasattr(python, "_PyEval_SetTrace"):  # Python 3.8
        tracing: Any = importlib.import_module("pydevd_tracing")
        tracing.set_trace_to_threads(end_tracing, create_dummy_thread=False)
        return
    for name in ("PyInterpreterState_Get", "PyInterpreterState_ThreadHead", "PyThreadState_Next"):
        getattr(python, name).restype = ctypes.c_void_p
    state = python.PyInterpreterState_ThreadHead(ctypes.c_void_p(python.PyInterpreterState_Get()))
    while state:
        python._PyEval_SetTrace(ctypes.c_void_p(state), None, None)
        state = python.PyThreadState_Next(ctypes.c_void_p(state))


def end_tracing(*_: Any) -> None:
    """Remove the trace function of this thread, at the next call in it: itself a trace function."""
    sys.settrace(None)
