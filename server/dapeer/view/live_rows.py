"""What a page shows a person of collected rows: a plot of each column of numbers, and the last rows. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from dapeer.base.json_types import Json
from dapeer.base.text.fitting import fitted
from dapeer.mirror.collected import Collection
from dapeer.view.collected import value
from dapeer.view.readable import readable
from dapeer.view.row_filter import value_of
from dapeer.view.summary import title

ROWS = 12
"""Rows that are shown, the last ones."""
STEPS = 160
"""Places of a plot, at most; each tells the least and the greatest number there."""
EXPRESSION = 80
"""Characters of an expression."""


def drawn(collection: Collection, project: Path) -> Json:
    """Return what is shown of the rows of a point."""
    table, names = readable(collection.point, collection.table, project)
    # A row that comes right now is not whole yet.
    count = min(map(len, table.cells), default=len(table))
    plots = [
        {"name": fitted(name, EXPRESSION), **plot}
        for name, cells in zip(names, table.cells, strict=True)
        if (plot := _plot(cells)) is not None
    ]
    rows = [
        [f"#{row.hit}", *map(value, row.cells)]
        for row in (table.row(index) for index in range(max(0, count - ROWS), count))
    ]
    columns = [fitted(each, EXPRESSION) for each in names]
    return {"title": title(collection, project), "plots": plots, "columns": columns, "rows": rows}


def _plot(cells: Sequence[str]) -> Json | None:
    """Return the least and the greatest number at each place of a column; None where it has fewer than two numbers."""
    numbers = [_number(each) for each in cells]
    known = [each for each in numbers if each is not None]
    if len(known) < 2:
        return None
    count = min(STEPS, len(numbers))
    parts = (
        numbers[step * len(numbers) // count : (step + 1) * len(numbers) // count]
        for step in range(count)
    )
    steps = [[each for each in part if each is not None] for part in parts]
    band = [[min(part), max(part)] if part else None for part in steps]
    return {"low": min(known), "high": max(known), "band": band}


def _number(cell: str) -> float | None:
    found = value_of(cell)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        number = float(found)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
