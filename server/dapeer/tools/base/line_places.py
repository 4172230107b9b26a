"""Finds the column that a caller means by a text on a line.

What can mean no place in particular is refused.
"""

from __future__ import annotations

from typing import cast

from dapeer.base.errors import ArgumentError
from dapeer.base.sources import line_text
from dapeer.base.text.fitting import quoted
from dapeer.base.text.line_places import has_many_places, heads_near, listed_places, places_of
from dapeer.dap.requested_breakpoints import RequestedBreakpoint


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
