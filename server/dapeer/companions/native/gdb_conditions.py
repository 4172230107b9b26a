"""Sourced by GDB: conditions of breakpoints whose code is not loaded yet.

GDB accepts any condition for a breakpoint that is still pending. Once the program is loaded, GDB disables the
locations where the condition is invalid, and its DAP sends no event. This sends dapeer's own event
`breakpointFailed`.

A pending breakpoint that has a condition is disabled by GDB at the first library that does not have its place
(`code_breakpoint::location_spec_to_sals`), and stays so when its own library comes. This enables it then.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

sys.path.extend(str(Path(__file__).absolute().parents[1] / each) for each in ("native", "python"))
patching: Any = importlib.import_module("dapeer_debuggee.patching")
telling: Any = importlib.import_module("gdb_telling")
gdb: Any = sys.modules.get("gdb")
"""GDB's own module, inside of GDB."""

checked: set[tuple[int, str]] = set()
"""Number and condition of the breakpoints that were checked, or are being checked."""


def report_invalid_condition(breakpoint_: Any) -> None:
    """Send `breakpointFailed` to the client if GDB finds the condition of a breakpoint invalid.

    `breakpoint_` is a `gdb.Breakpoint`. Each condition of a breakpoint is checked once, when the breakpoint is no
    longer pending; `checked` remembers it. Nothing is sent without a condition, or where the condition is valid at
    every location. An invalid one is set once more, to get GDB's error. The event's body has `kind` (`condition`),
    `expression`, `path` and `line` (of the first location; "" and 0 if its source is unknown) and `error`.
    """
    condition, number = breakpoint_.condition, breakpoint_.number
    if not condition or breakpoint_.pending or (number, condition) in checked:
        return
    checked.add((number, condition))
    # GDB's Python API does not say so; the table marks such a location with N*. Conditions stand on lines of their own.
    table = gdb.execute(f"info breakpoints {number}", to_string=True).splitlines()
    if not any("N*" in row for row in table if not row.startswith("\t")):
        return
    path, line = breakpoint_.locations[0].source or ("", 0)
    body = {"kind": "condition", "expression": condition, "path": path, "line": line}
    error = retry_condition(number, condition)
    importlib.import_module("gdb.dap.server").send_event(
        "breakpointFailed", {**body, "error": error}
    )


def retry_condition(number: int, condition: str) -> str:
    """Set the condition of breakpoint `number` once more, and return the error that GDB raises for it.

    If it raises none, the text says that the condition is invalid at every location.
    """
    try:
        gdb.execute(f"condition {number} {condition}", to_string=True)
    except gdb.error as error:
        return str(error)
    return "it is invalid at every location of the breakpoint"


waiting: set[int] = set()
"""Numbers of the enabled breakpoints with a condition that are pending."""


def enable_found(breakpoint_: Any) -> None:
    """Enable a breakpoint that GDB itself has disabled while it was pending, once its place is found.

    GDB calls this with each `gdb.Breakpoint` that has changed. While the breakpoint is pending, only `waiting`
    changes: it gets the number if the breakpoint is enabled and has a condition, else loses the number. Once
    the breakpoint is no longer pending, it is enabled if `waiting` has its number, which is then removed. GDB
    reports a change by the user, but not where it disables a breakpoint itself; so a breakpoint that the user
    has disabled has left `waiting`, and stays disabled.
    """
    number = breakpoint_.number
    if breakpoint_.pending:
        # GDB tells of what the user disables, and not of what it disables itself.
        waits = breakpoint_.enabled and breakpoint_.condition
        waiting.add(number) if waits else waiting.discard(number)
    elif number in waiting:
        waiting.discard(number)
        breakpoint_.enabled = True


CONDITIONS = patching.Row(
    "gdb-conditions",
    "GDB",
    "A condition that turns out to be invalid once the program is loaded is not told.",
    adds=True,
)


@CONDITIONS
def check_all(patch: Any) -> None:
    """Have `report_invalid_condition` called at each change of a breakpoint.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    telling.hear(patch, gdb.events.breakpoint_modified, report_invalid_condition)


PENDING = patching.Row(
    "gdb-pending-conditions",
    "GDB",
    "A breakpoint with a condition in a shared library that is loaded later never stops.",
    adds=True,
)


@PENDING
def enable_all_found(patch: Any) -> None:
    """Have `enable_found` called at each change of a breakpoint.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    telling.hear(patch, gdb.events.breakpoint_modified, enable_found)


if gdb is not None:
    telling.report_by_dap()
    CONDITIONS.apply()
    PENDING.apply()
