"""What a function has returned is told at the stop after that; pydevd tells it until another call of the frame returns while it steps."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any


def improve(*, prints: bool) -> None:  # noqa: ARG001 - every part is called alike
    """Forget what was returned to a frame when that frame runs on.

    Raises:
        AttributeError: pydevd is not the one we know, and is left as it was.
    """
    kept: str = importlib.import_module("_pydevd_bundle.pydevd_constants").RETURN_VALUES_DICT
    debugger: Any = importlib.import_module("pydevd").PyDB
    stock = debugger.do_wait_suspend

    def wait_suspended(self: Any, thread: Any, frame: Any, *rest: Any, **named: Any) -> Any:
        try:
            return stock(self, thread, frame, *rest, **named)
        finally:
            with contextlib.suppress(
                Exception
            ):  # frames of other implementations may have other locals
                frame.f_locals.get(kept, {}).clear()

    debugger.do_wait_suspend = wait_suspended
