"""Breakpoints that collect, checked before they are set, and marked as those of their client."""

from __future__ import annotations

from collections.abc import Sequence

from dapeer.dap.requested_breakpoints import RequestedBreakpoint, RequestedFunction
from dapeer.tools.base.arguments import BreakpointArgument
from dapeer.tools.base.call import Call
from dapeer.tools.base.syntax import check_breakpoint, check_condition, check_expressions, is_python


def claim_breakpoints(
    call: Call, requested: Sequence[tuple[str, RequestedBreakpoint]], adapter: str = ""
) -> None:
    """Check breakpoints, and mark in place those that collect as the calling client's.

    Each is given with the path of its file. With an empty `adapter`, any may be meant.

    Raises:
        ArgumentError: An expression does not parse; nothing has happened.
    """
    for path, each in requested:
        check_breakpoint(call.debugger, path, each, adapter)
        if "collect" in each:
            each["collectedBy"] = call.focus.key


def is_of_another(call: Call, requested: RequestedBreakpoint) -> bool:
    """Whether a breakpoint collects for another client."""
    return requested.get("collectedBy", call.focus.key) != call.focus.key


def of_caller(
    call: Call, breakpoints: Sequence[BreakpointArgument], program: str
) -> tuple[list[tuple[str, RequestedBreakpoint]], list[RequestedFunction]]:
    """Return a caller's breakpoints with their files, and the functions at which to collect.

    Raises:
        ArgumentError: One cannot be; nothing has happened.
    """
    every = [each.requested() for each in breakpoints]
    functions = [each for each in every if not isinstance(each, tuple)]
    check_at(call, functions, program)
    return [each for each in every if isinstance(each, tuple)], functions


def check_at(call: Call, requested: Sequence[RequestedFunction], program: str = "") -> None:
    """Look whether what is collected at functions parses, and note who has asked for it.

    Args:
        call: Who asks.
        requested: The functions.
        program: What is started; empty: it is not known.

    Raises:
        ArgumentError: An expression does not parse; nothing has happened.
    """
    live = [each for each in call.debugger.sessions.values() if not each.mirror.ended]
    traced = all(each.lines.tracers for each in live)
    for each in requested:
        # Only Python's programs tell calls.
        named = is_python(call.debugger, program) if program else traced and ":" not in each["name"]
        python = each["calls"] or named
        check_expressions(each["collect"], python=python)
        check_condition(each.get("condition") or "True", python=python)
        each["collectedBy"] = call.focus.key
