"""Collected rows with the columns that one reads. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dapeer.base.sources import relative
from dapeer.collecting.rows.collected import Point
from dapeer.collecting.rows.table import Table
from dapeer.collecting.rows.watch import LINE

EXPECTED = "expected"
"""The column that tells whether what is expected at a point holds."""
GONE = "(gone)"
"""Stands for a value that is not there, or not any more."""


def readable(point: Point, table: Table, project: Path) -> tuple[Table, Sequence[str]]:
    """Return rows and their columns' names for a reader: the line that did what is watched is one column."""
    if point.expect:
        return table, (*point.columns[:-1], EXPECTED)
    if not point.watch or table.width < len(LINE):
        return table, point.columns
    functions, files, lines, *rest = table.cells
    places = list(zip(functions, files, lines, strict=True))
    texts = {each: line_of(*each, project) for each in set(places)}
    changed = [[each or GONE for each in column] for column in rest[:2]]
    cells = [list(map(texts.__getitem__, places)), *changed, *rest[2:]]
    return table.of(cells), ("at", *point.expressions[len(LINE) :])


def line_of(function: str, file: str, line: str, project: Path) -> str:
    """Return which line of a function has done something; 0: it was done before the function began."""
    if line == "0":
        return f"before {function} in {relative(file, project)}"
    return f"{relative(file, project)}:{line}{f' in {function}' if function else ''}"
