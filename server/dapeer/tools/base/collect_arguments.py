"""Breakpoints that collect, checked before they are set, and marked as those of their client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from dapeer.base.errors import ArgumentError
from dapeer.base.sources import line_text
from dapeer.base.text.fitting import quoted
from dapeer.base.text.line_places import has_many_places, heads_near, listed_places, places_of
from dapeer.dap.requested_breakpoints import RequestedBreakpoint, RequestedFunction
from dapeer.tools.base.arguments import BreakpointArgument
from dapeer.tools.base.call import Call
from dapeer.tools.base.syntax import check_breakpoint, check_condition, check_expressions, is_python

# Finds the column that a caller means by a text on a line.
#
# What can mean no place in particular is refused.


def resolve_column(path: str, requested: RequestedBreakpoint) -> RequestedBreakpoint:
    """Return a breakpoint whose `at`, a text on its line, is replaced by the column where the text is.

    The line is read from the file at `path`. A breakpoint without `at` is returned unchanged; a new object is returned otherwise.

    Raises:
        ArgumentError: The text is not on the line, or there several times; or the line holds many statements, and neither `at` nor a column
            is given.
    """
    line = line_text(path, requested["line"])
    text = requested.get("at")
    if text is None:
        if "column" not in requested and has_many_places(line):
            choices = listed_places(heads_near(line))
            raise ArgumentError(
                f"`line`: line {requested['line']} has {len(line):,} characters with many places, and a breakpoint on it means none of them.",
                "Name one by `at` (the text of the place) or `column`"
                + (f"; functions begin at {choices}." if choices else "."),
            )
        return requested
    found = places_of(line, text)
    if not found:
        raise ArgumentError(
            f"`at`: line {requested['line']} does not have the text {quoted(text)}.",
            "Copy it from the line, which dap_source shows.",
        )
    if len(found) > 1:
        raise ArgumentError(
            f"`at`: line {requested['line']} has {quoted(text)} at {len(found)} places: {listed_places(found)}.",
            "Give more of the text, or the `column`.",
        )
    rest = {key: value for key, value in requested.items() if key != "at"}
    return cast("RequestedBreakpoint", {**rest, "column": found[0].column})


def claim_breakpoints(
    call: Call, requested: Sequence[tuple[str, RequestedBreakpoint]], adapter: str = ""
) -> None:
    """Check breakpoints before they are set, and mark those that collect as the calling client's.

    The breakpoints are marked in place. Each is (path of its file, breakpoint). The mark is the key `collectedBy`. `adapter` is the id of
    the adapter that gets them; empty: any adapter may.

    Raises:
        ArgumentError: An expression does not parse, or an adapter cannot do what is asked. No breakpoint has been set; those before it in
            the sequence may be marked.
    """
    for path, each in requested:
        check_breakpoint(call.debugger, path, each, adapter)
        if "collect" in each:
            each["collectedBy"] = call.focus.key


def is_of_another(call: Call, requested: RequestedBreakpoint) -> bool:
    """Whether a breakpoint collects for another client; False for one that collects for nobody."""
    return requested.get("collectedBy", call.focus.key) != call.focus.key


def split_breakpoints(
    call: Call, breakpoints: Sequence[BreakpointArgument], program: str
) -> tuple[list[tuple[str, RequestedBreakpoint]], list[RequestedFunction]]:
    """Return a caller's breakpoints as two lists: those on lines, and those at functions.

    One on a line is (file as given, breakpoint). What is collected at functions is checked, and marked as the calling client's. `program`
    is the program that is about to be started, whose name tells the language of the expressions; empty: it is not known.

    Raises:
        ArgumentError: A breakpoint has no valid place or options, an expression does not parse, or two different ones are on one line;
            nothing has been set.
    """
    every = [each.requested() for each in breakpoints]
    functions = [each for each in every if not isinstance(each, tuple)]
    check_and_claim_functions(call, functions, program)
    lines = [each for each in every if isinstance(each, tuple)]
    check_one_per_line(lines)
    return lines, functions


def check_one_per_line(requested: Sequence[tuple[str, RequestedBreakpoint]]) -> None:
    """Check that no two different breakpoints are on one line of a file.

    The set of breakpoints keeps one for a line, whether it stops or collects, so that the earlier one would be lost.

    Raises:
        ArgumentError: Two are; the message names the file and the line.
    """
    known: dict[tuple[str, int], RequestedBreakpoint] = {}
    for file, each in requested:
        if known.setdefault((file, each["line"]), each) != each:
            raise ArgumentError(
                f"`breakpoints`: two are on {file}:{each['line']}, and a line has one.",
                "Choose the place (`at`, `column`) that decides; one `collect` takes several expressions.",
            )


def check_and_claim_functions(
    call: Call, requested: Sequence[RequestedFunction], program: str = ""
) -> None:
    """Check what is collected at functions, and mark each in place as the calling client's.

    The mark is the key `collectedBy`. Expressions are parsed as Python where the program, or all living sessions, are Python's.

    Args:
        call: The call, whose client asks for the points.
        requested: The functions with what is collected at them.
        program: The program that is about to be started; empty: it is not known.

    Raises:
        ArgumentError: An expression or a condition does not parse; no breakpoint has been set.
    """
    traced = all(each.lines.tracers for each in call.debugger.sessions.live)
    for each in requested:
        # Only Python's programs tell calls.
        named = is_python(call.debugger, program) if program else traced and ":" not in each["name"]
        python = each["calls"] or named
        check_expressions(each["collect"], python=python)
        check_condition(each.get("condition") or "True", python=python)
        each["collectedBy"] = call.focus.key
