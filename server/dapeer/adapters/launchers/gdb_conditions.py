"""Sourced by GDB: a condition that cannot be evaluated is told.

A breakpoint that waits for its program takes any condition. When the program is there, GDB switches off the
places where the condition is not valid, and its DAP tells nobody. This sends the event that dapeer has for it.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from typing import Any

gdb: Any = sys.modules.get("gdb")
"""GDB's own module, inside of GDB."""

checked: set[tuple[int, str]] = set()
"""Number and condition of breakpoints that were looked at, or are just now."""


def check(breakpoint_: Any) -> None:
    """Tell of a condition that is not valid at a place of its breakpoint."""
    condition, number = breakpoint_.condition, breakpoint_.number
    if not condition or breakpoint_.pending or (number, condition) in checked:
        return
    checked.add((number, condition))
    # Python is not told; in this table such a place is marked so.
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
    """Return what GDB says when it is given the condition now that the program is there."""
    try:
        gdb.execute(f"condition {number} {condition}", to_string=True)
    except gdb.error as error:
        return str(error)
    return "it is invalid at every location of the breakpoint"


if gdb is not None:
    gdb.events.breakpoint_modified.connect(check)
