"""What is done in a program when its debugger goes, whether it says so or its connection ends."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
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

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
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
