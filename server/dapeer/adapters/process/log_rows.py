"""Rows that log points collect: expressions in a log message, and their values in what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dapeer.adapters.definition.misfires import error_of, is_legible
from dapeer.collecting.rows.collected import ROW
from dapeer.collecting.rows.table import FAILED
from dapeer.dap.messages import Event
from dapeer.mirror.failures import EVENT

POINT = "dapeerPoint"
"""Marks output that is rows of the collection points of these numbers."""
OWN = ("collect", "maxHits", "collectedBy", "point", "others")
"""What no adapter gets of a breakpoint."""
_FALSE = frozenset({"0", "false", "False", ".FALSE.", "0x0", "0 '\\000'", "(nil)", "null"})
_WORDS = re.compile(r"<(?!nil>)([^<>]+)>")
"""A debugger's own words in place of a value, such as `<optimized out>`: it is neither true nor false."""
_ESCAPES = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t", FAILED: "\\x15"})


def value_separator(mark: str) -> str:
    """Return what stands between two values."""
    return f"{mark}|"


def point_numbers(requested: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the numbers of the collection points of a breakpoint, its `others` included.

    The result is empty for a breakpoint that does not collect.
    """
    return tuple(int(each["point"]) for each in _each(requested) if each.get("point"))


def as_log_point(
    requested: Mapping[str, Any], mark: str, value: str, *, conditions: bool
) -> dict[str, Any]:
    """Return a breakpoint that collects as one that logs: its expressions become a `logMessage`.

    `mark` separates their values, and `value` is the form of an expression in a log message. Unless the adapter heeds
    `conditions` there, or where it collects for several clients (`others`), a condition's value comes first in the message
    instead.
    """
    whole = conditions and not requested.get("others")
    message = row_separator(mark).join(
        _message(each, mark, value, whole=whole) for each in _each(requested)
    )
    own = OWN if whole else (*OWN, "condition")
    return {key: value for key, value in requested.items() if key not in own} | {
        "logMessage": message
    }


def _each(requested: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a breakpoint and its `others`: those of other clients that collect at the same place."""
    return [requested, *(requested.get("others") or ())]


def _message(requested: Mapping[str, Any], mark: str, value: str, *, whole: bool) -> str:
    """Return the part of the log message for one client's expressions.

    Its condition's value comes first, unless `whole`: then the adapter heeds the condition.
    """
    message = value_separator(mark).join(
        value.replace("${expression}", each) for each in requested["collect"]
    )
    return message if whole else with_condition(requested, mark, message)


def with_condition(point: Mapping[str, Any], mark: str, message: str) -> str:
    """Return a message with the condition of its breakpoint as the first value, if it has one."""
    if "condition" not in point:
        return message
    return f"{{{point['condition']}}}{condition_separator(mark)}{message}"


def as_rows(
    numbers: Sequence[int], text: str, mark: str, failed: re.Pattern[str] | None
) -> Iterator[Event]:
    """Yield an event for each row whose condition holds, and for each condition that is an error.

    `numbers` are those of the collection points, `text` what the log point has printed, `mark` its secret, and `failed` a
    pattern of errors. A row is an `output` event with `ROW`, an object of `point` and `cells`; an error an event of
    `failures.EVENT` with `error`.
    """
    parts = text.removesuffix("\n").split(row_separator(mark))
    for point, part in zip(numbers, parts, strict=False):
        condition, decided, values = part.rpartition(condition_separator(mark))
        if error := condition_error(condition, failed) if decided else "":
            yield Event(EVENT, {"error": error})
        elif not decided or is_true(condition):
            cells = [_cell(each, failed) for each in values.split(value_separator(mark))]
            yield Event("output", {ROW: {"point": point, "cells": cells}})


def condition_error(condition: str, failed: re.Pattern[str] | None) -> str:
    """Return why a condition has no value, by what is shown in place of it; empty: it has one."""
    words = _WORDS.fullmatch(condition.strip())
    return failure(condition, failed) or (words[1] if words else "")


def is_true(condition: str) -> bool:
    """Whether a condition holds, by how its value is shown."""
    return condition.strip() not in _FALSE


def row_separator(mark: str) -> str:
    """Return what stands between the rows of two collection points."""
    return f"{mark};"


def condition_separator(mark: str) -> str:
    """Return what stands behind a condition."""
    return f"{mark}?"


def _cell(text: str, failed: re.Pattern[str] | None) -> str:
    """Return a value as a cell of a row: escaped, and after `FAILED` if it is an error."""
    text = text.removesuffix("\r")
    error = failure(text, failed)
    return f"{FAILED}{error.translate(_ESCAPES)}" if error else text.translate(_ESCAPES)


def failure(text: str, failed: re.Pattern[str] | None) -> str:
    """Return the error that stands in place of a value, by the pattern `failed`; empty: it is a value."""
    found = failed.search(text) if failed is not None and is_legible(text) else None
    return "" if found is None else error_of(found.groupdict())
