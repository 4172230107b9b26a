"""Rows that log points collect: expressions in a log message, and their values in what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dapeer.adapters.definition.misfires import is_legible
from dapeer.dap.messages import Event
from dapeer.mirror.collected import ROW
from dapeer.mirror.rows import FAILED

POINT = "dapeerPoint"
"""Marks output that is a row of the collection point of this number."""
OWN = ("collect", "maxHits", "collectedBy", "point")
"""What no adapter gets of a breakpoint."""
_FALSE = frozenset({"0", "false", "False", "0x0", "(nil)", "null"})
_ESCAPES = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t", FAILED: "\\x15"})


def between(mark: str) -> str:
    """Return what stands between two values."""
    return f"{mark}|"


def as_log_point(wanted: Mapping[str, Any], mark: str, *, conditions: bool) -> dict[str, Any]:
    """Return a breakpoint that collects as one that logs; unless the adapter heeds `conditions` there, that is the first value."""
    message = between(mark).join(f"{{{each}}}" for each in wanted["collect"])
    plain = {key: value for key, value in wanted.items() if key not in OWN}
    if not conditions and "condition" in plain:
        message = f"{{{plain.pop('condition')}}}{decides(mark)}{message}"
    return {**plain, "logMessage": message}


def as_rows(point: int, text: str, mark: str, failed: re.Pattern[str] | None) -> Iterator[Event]:
    """Yield the event that tells a row, if its condition holds; by `failed` a value is known that is an error."""
    condition, decided, values = text.removesuffix("\n").rpartition(decides(mark))
    if not decided or condition.strip() not in _FALSE:
        cells = [_cell(each, failed) for each in values.split(between(mark))]
        yield Event("output", {ROW: {"point": point, "cells": cells}})


def decides(mark: str) -> str:
    """Return what stands behind a condition."""
    return f"{mark}?"


def _cell(text: str, failed: re.Pattern[str] | None) -> str:
    text = text.removesuffix("\r")
    if failed is not None and is_legible(text) and (found := failed.search(text)):
        groups = found.groupdict()
        error = " ".join(str(groups.get("error") or groups.get("reason") or "").split())
        return f"{FAILED}{error.translate(_ESCAPES)}"
    return text.translate(_ESCAPES)
