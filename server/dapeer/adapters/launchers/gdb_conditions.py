"""Sourced by GDB: reports a breakpoint's condition that turns out to be invalid.

GDB accepts any condition for a breakpoint that is still pending. Once the program is loaded, GDB disables the
locations where the condition is invalid, and its DAP sends no event. This sends dapeer's own event
`breakpointFailed`.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from typing import Any

gdb: Any = sys.modules.get("gdb")
"""GDB's own module, inside of GDB."""

checked: set[tuple[int, str]] = set()
"""Number and condition of the breakpoints that were checked, or are being checked."""


def check(breakpoint_: Any) -> None:
    """Send `breakpointFailed` for a condition that is invalid at a location of its breakpoint."""
    condition, number = breakpoint_.condition, breakpoint_.number
    if not condition or breakpoint_.pending or (number, condition) in checked:
        return
    checked.add((number, condition))
    # GDB's Python API does not say so; the table marks such a location with N*.
    if "N*" not in gdb.execute(f"info breakpoints {number}", to_string=True):
        return
    with contextlib.suppress(ImportError, AttributeError):
        place = breakpoint_.locations[0]
        path, line = place.source
        body = {"kind": "condition", "expression": condition, "path": path, "line": line}
        error = why_not(number, condition)
        importlib.import_module("gdb.dap.server").send_event(
            "breakpointFailed", {**body, "error": error}
        )


def why_not(number: int, condition: str) -> str:
    """Return the error that GDB reports for the condition now that the program is loaded."""
    try:
        gdb.execute(f"condition {number} {condition}", to_string=True)
    except gdb.error as error:
        return str(error)
    return "it is invalid at every location of the breakpoint"


if gdb is not None:
    gdb.events.breakpoint_modified.connect(check)
