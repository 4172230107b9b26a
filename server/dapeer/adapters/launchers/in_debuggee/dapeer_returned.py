"""Shows a return value only at the stop after the return. pydevd shows it until the next return in a step."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any


def improve(*, prints: bool) -> None:
    """Forget the values returned to a frame when it resumes.

    Raises:
        AttributeError: pydevd has another structure; it stays unchanged.
    """
    kept: str = importlib.import_module("_pydevd_bundle.pydevd_constants").RETURN_VALUES_DICT
    debugger: Any = importlib.import_module("pydevd").PyDB
    stock = debugger.do_wait_suspend

    def wait_suspended(self: Any, thread: Any, frame: Any, *rest: Any, **named: Any) -> Any:
        try:
            return stock(self, thread, frame, *rest, **named)
        finally:
            with contextlib.suppress(Exception):  # other Pythons may have other locals
                frame.f_locals.get(kept, {}).clear()

    debugger.do_wait_suspend = wait_suspended
