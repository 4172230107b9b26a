"""Keeps what pydevd prints of itself out of the program's output.

That is, that the program calls `sys.settrace`, which dapeer reports, and that a thread has not started.
"""

from __future__ import annotations

from typing import Any, Dict  # noqa: UP035

from .. import patching

CRITICAL = "_pydev_bundle.pydev_log:critical"
WARNINGS = "pydevd_tracing:TracingFunctionHolder._warnings_shown"
UNSAID = patching.Row(
    "debugger-unsaid",
    "debugpy",
    "Warnings of the debugger about itself are among the program's output.",
    replaces={CRITICAL: "msg *args"},
    uses=(WARNINGS,),
)
OF_STARTS = "thread._ident is None"
"""Begins what it says of a thread that Python has made, and that has not begun."""


class All(Dict[str, int]):  # noqa: UP006 - Python 3.8 has no other
    """Warnings, all of which were shown."""

    def __contains__(self, _warning: object) -> bool:
        """Return True for any warning, so that pydevd takes it for one that it has shown."""
        return True


@UNSAID
def say_nothing(patch: Any) -> None:
    """Patch pydevd so that it prints no warnings about itself.

    These are that the program calls `sys.settrace`, and that a thread has not started. `patch` is this patch's `patching.Row`: it calls this
    function when it is applied, and its `undo` puts back what was replaced by it.
    """
    patch.set(WARNINGS, All())

    @patch.replace(CRITICAL)
    def critical(stock: Any, msg: Any, *given: Any, **named: Any) -> None:
        if not str(msg).startswith(OF_STARTS):
            stock(msg, *given, **named)
