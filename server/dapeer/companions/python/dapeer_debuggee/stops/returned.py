"""Shows a return value only at the stop after the return; counts how long threads are stopped.

pydevd shows it until the next return in a step.

The function is named without running code of the program: pydevd asks its first argument for its class.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
import time
import types
from typing import Any

from .. import patching
from ..values import objects

_stopped: dict[int, int] = {}
"""By thread how many nanoseconds it was stopped by the debugger."""


def stopped_ns() -> int:
    """Return for how many nanoseconds the debugger has stopped this thread, in all its stops so far."""
    return _stopped.get(threading.get_ident(), 0)


WAIT = "pydevd:PyDB.do_wait_suspend"
RETURNED = patching.Row(
    "returned-once",
    "debugpy",
    "A returned value is shown at later stops, too, until another one is returned.",
    replaces={WAIT: "self thread frame event arg exception_type="},
    uses=("_pydevd_bundle.pydevd_constants:RETURN_VALUES_DICT",),
)


@RETURNED
def forget_returned(patch: Any) -> None:
    """Patch pydevd so that values returned to a frame are forgotten when it resumes.

    From then on each stop of a thread also adds its duration to what `stopped_ns` returns in that thread.
    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts
    back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """
    kept: str = importlib.import_module("_pydevd_bundle.pydevd_constants").RETURN_VALUES_DICT

    @patch.replace(WAIT)
    def wait_suspended(
        stock: Any, self: Any, thread: Any, frame: Any, *rest: Any, **named: Any
    ) -> Any:
        """Suspend the thread as pydevd does, count for how long, and clear the values returned to the frame."""
        since = time.perf_counter_ns()
        try:
            return stock(self, thread, frame, *rest, **named)
        finally:
            _stopped[threading.get_ident()] = stopped_ns() + time.perf_counter_ns() - since
            with contextlib.suppress(Exception):  # other Pythons may have other locals
                frame.f_locals.get(kept, {}).clear()


CLASS = "get_clsname_for_code"
NAMED = patching.Row(
    "returned-by",
    "debugpy",
    "A step out of a function asks its first argument for its class, which may run code of the program.",
    uses=(f"_pydevd_bundle.pydevd_utils:{CLASS}(code frame)",),
)


@NAMED
def name_classes(patch: Any) -> None:
    """Patch pydevd so that it finds the class of a function by `method_class_name`, which runs no code.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    stock = getattr(importlib.import_module("_pydevd_bundle.pydevd_utils"), CLASS)
    ours = patch.guard(method_class_name, stock)
    for each in list(sys.modules.values()):
        if type(each) is types.ModuleType and vars(each).get(CLASS) is stock:
            patch.set_in(each, CLASS, ours)


def method_class_name(code: Any, frame: Any) -> str | None:
    """Return the name (`__name__`) of the class on whose object or class a frame's method runs, or None.

    `code` is the frame's code. The class is the type of the first argument (`self`), or that argument itself if
    it is a class (`cls`); so for an inherited method it is the subclass. None: the frame has no first local
    variable now, or what the class has under the code's name is another function, as for a plain function, a
    property, a decorated method, or one that a subclass overrides and calls by `super()`. No code of the
    program runs.
    """
    name = next(iter(code.co_varnames), "")
    if name not in frame.f_locals:
        return None
    first: Any = frame.f_locals[name]
    of: Any = type(first)  # pyright: ignore[reportUnknownVariableType]
    kind: Any = first if issubclass(of, type) else of
    method: Any = objects.class_member(kind, code.co_name)
    function: Any = method.__func__ if type(method) in (staticmethod, classmethod) else method
    is_its = type(function) is types.FunctionType and function.__code__ is code
    return objects.name_of(kind) if is_its else None
