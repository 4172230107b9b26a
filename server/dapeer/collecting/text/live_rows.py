"""Collected rows for a page: a plot of each column of numbers, the odd rows, and the last ones. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from dapeer.base.json_types import Json
from dapeer.base.text.fitting import fitted
from dapeer.collecting.rows.collection import Collection
from dapeer.collecting.rows.table import Table
from dapeer.collecting.text.column_lines import ODD_ROWS, shown_columns, value
from dapeer.collecting.text.row_listing import value_of
from dapeer.collecting.text.summary import readable, title

LAST_ROWS = 12
"""Rows that are shown, the last ones."""
MAX_PLOT_PLACES = 160
"""Places of a plot, at most; each tells the least and the greatest number there."""
EXPRESSION_CHARS = 80
"""Characters of an expression."""


def page_of_rows(collection: Collection, project: Path) -> Json:
    """Return what a person's page shows of a point's rows, as JSON.

    The keys are `title`, `plots` (one for each column of numbers), `columns` (names), `rows` (the odd and the last ones, as lists of
    texts) and `why` (for each of these rows, why it is odd; empty: it is not).
    """
    table, names = readable(collection.point, collection.table, project)
    # A row that comes right now is not whole yet.
    count = min(map(len, table.cells), default=len(table))
    plots = [
        {"name": fitted(name, EXPRESSION_CHARS), **plot}
        for name, cells in zip(names, table.cells, strict=True)
        if (plot := _plot(cells, table.hits)) is not None
    ]
    why = {} if collection.point.calls else _oddities_by_row(table, names, collection.dropped)
    last = range(max(0, count - LAST_ROWS), count)
    indices = sorted({*[index for index in sorted(why) if index < count][:ODD_ROWS], *last})
    return {
        "title": title(collection, project),
        "plots": plots,
        "columns": [fitted(each, EXPRESSION_CHARS) for each in names],
        "rows": [[f"#{row.hit}", *map(value, row.cells)] for row in map(table.row, indices)],
        "why": [why.get(index, "") for index in indices],
    }


def _oddities_by_row(table: Table, names: Sequence[str], dropped: int) -> dict[int, str]:
    """Return why rows are odd, by row index, all reasons of a row in one text.

    `names` are those of the columns. If `dropped`, the number of rows that were not kept, is not 0, steps over them are not odd.
    """
    if not len(table):
        return {}
    found = shown_columns(table, names)
    # The page has the whole expressions above the rows.
    found.names.clear()
    if dropped:
        found.know(table.gaps())
    return {index: "; ".join(each) for index, each in found.why().items()}


def _plot(cells: Sequence[str], hits: Sequence[str]) -> Json | None:
    """Return a plot of a column's numbers, with the keys `low`, `high`, `band` and `hits`.

    Each place of `band` has the least and greatest number there, or None. The key `hits` has the hit at which each place begins, and the
    last one. `cells` are the column's texts, `hits` the number of each row. None: the column has fewer than two numbers.
    """
    numbers = [_number(each) for each in cells]
    known = [each for each in numbers if each is not None]
    if len(known) < 2:
        return None
    count = min(MAX_PLOT_PLACES, len(numbers))
    starts = [step * len(numbers) // count for step in range(count + 1)]
    parts = (numbers[start:end] for start, end in pairwise(starts))
    steps = [[each for each in part if each is not None] for part in parts]
    band = [[min(part), max(part)] if part else None for part in steps]
    ends = [int(hits[each]) for each in (*starts[:-1], len(numbers) - 1)]
    return {"low": min(known), "high": max(known), "band": band, "hits": ends}


def _number(cell: str) -> float | None:
    """Return a cell's number; None: it is none, or not finite."""
    found = value_of(cell)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        number = float(found)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
