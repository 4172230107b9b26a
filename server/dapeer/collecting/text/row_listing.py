"""Some collected rows, as requested: a range, a filter, changes, groups, a plot. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from dapeer.base.errors import ArgumentError
from dapeer.collecting.rows.collection import OF_CALLS
from dapeer.collecting.rows.table import FAILED, Table
from dapeer.collecting.text.calls import by_time, one_by_one, tree
from dapeer.collecting.text.column_lines import (
    MAX_WHOLE_CELL_CHARS,
    ShownColumns,
    columns_of,
    odd_rows,
    shown_columns,
)
from dapeer.collecting.text.row_filter import Matcher, matching, value_of

By = Literal["thread", "task", "caller", "process", "function"]
MAX_LISTED_ROWS = 40
"""Rows that are listed where nobody has chosen them; of more the first and last half of it."""
MAX_GROUPS = 12
BARS = "▁▂▃▄▅▆▇█"
PLOT_CHARS = 60
"""Characters of a plot."""
_RANGE = re.compile(r"#?(\d{1,15})(?:\s*[-…:]+\s*#?(\d{1,15})?)?")


@dataclass(frozen=True, slots=True)
class RowSelection:
    """The rows that somebody asks for."""

    rows: str = ""
    """Hits: `7`, `10-20` or `10-`."""
    where: str = ""
    changes: bool = False
    by: By | None = None
    plot: bool = False

    @property
    def is_chosen(self) -> bool:
        """Whether a range or a filter says which rows are wanted."""
        return bool(self.rows or self.where)

    @property
    def summary(self) -> bool:
        """Whether only a summary is wanted, as nothing in particular is asked for."""
        return not (self.rows or self.where or self.changes or self.by or self.plot)


def listing(
    table: Table,
    names: Sequence[str],
    selection: RowSelection,
    *,
    calls: bool = False,
    process: int = 0,
    matcher: Matcher,
) -> list[str]:
    """Return the rows of a table that a selection wants, as lines: a list, groups, or plots.

    `names` are the columns; with `calls` the rows are calls, of the process `process`. Rows that a range or a filter has chosen are
    listed whole, others are cut to `MAX_LISTED_ROWS`.

    Raises:
        ArgumentError: The range or the filter is invalid, or `by="function"` is asked of rows that are no calls.
    """
    chosen = row_range(selection.rows)
    indices = [
        index
        for index in filtered_indices(table, names, selection.where, matcher, calls=calls)
        if chosen.start < table.row(index).hit <= (chosen.stop or math.inf)
    ]
    if not indices:
        return ["no such rows"]
    picked = table.picked(indices)
    if selection.by == "function":
        if not calls:
            raise ArgumentError(
                "Only calls have functions; these are rows of one place.",
                'by="caller" groups them; breakpoints=[{"calls": ["shop.*"]}] records calls.',
            )
        return list(by_time(picked, names[len(OF_CALLS) :]))
    if selection.by:
        return list(_groups(picked, names, selection, calls=calls, process=process))
    if calls and not selection.plot:
        lines = one_by_one(picked, names[len(OF_CALLS) :], changes=selection.changes)
        return list(lines if selection.is_chosen else _cut(lines))
    return list(_lines(picked, names, selection))


def row_range(rows: str) -> slice:
    """Return a range of rows such as "10-20", which counts from 1, as a slice, which counts from 0.

    An empty text gives all rows.

    Raises:
        ArgumentError: It is no range.

    >>> between("7"), between("10-20"), between("10-"), between("")
    (slice(6, 7, None), slice(9, 20, None), slice(9, None, None), slice(0, None, None))
    """
    if not rows:
        return slice(0, None)
    found = _RANGE.fullmatch(rows.strip())
    if found is None:
        raise ArgumentError(f"`{rows[:40]}` is no range of rows.", "Give rows as 7, 10-20 or 10-.")
    first = int(found[1])
    open_end = not rows.strip().lstrip("#").isdigit()
    last = int(found[2]) if found[2] else (None if open_end else first)
    return slice(max(first - 1, 0), last)


def filtered_indices(
    table: Table, names: Sequence[str], where: str, matcher: Matcher, *, calls: bool
) -> Sequence[int]:
    """Return the indices of the rows for which the filter `where` holds; an empty filter holds for all.

    Raises:
        ArgumentError: It is no filter.
    """
    if not where:
        return range(len(table))
    return matching(where, _values(table, names, calls=calls), len(table), matcher)


def _values(table: Table, expressions: Sequence[str], *, calls: bool) -> dict[str, list[object]]:
    """Return the values of all columns that a filter may use, by name.

    The names are `hit`, `seconds`, `thread`, `task`, `caller`, the expressions, and `c1`, `c2` …. Rows that are calls also have `error`.
    """
    values: dict[str, list[object]] = {
        "hit": [value_of(each) for each in table.hits],
        "seconds": [value_of(each) for each in table.seconds],
        "thread": [*table.threads],
        "task": [*table.tasks],
        "caller": [*table.callers],
    }
    for number, (name, cells) in enumerate(zip(expressions, table.cells, strict=True), 1):
        values[name] = values[f"c{number}"] = [value_of(each) for each in cells]
    if calls:
        results = table.cells[OF_CALLS.index("result")]
        values["error"] = [_error(each) for each in results]
    return values


def _error(result: str) -> str | None:
    """Return the name of the exception that a call has raised; None: none."""
    return result[1:].partition(":")[0].strip() if result.startswith(FAILED) else None


def _lines(table: Table, expressions: Sequence[str], selection: RowSelection) -> Iterator[str]:
    """Yield rows as lines, or plots, as a selection wants them; columns that do not change come first.

    `expressions` are the names of the table's columns.
    """
    found = shown_columns(table, expressions, 0 if len(table) > 1 else MAX_WHOLE_CELL_CHARS)
    if selection.plot:
        yield from _plots(found)
        return
    yield from columns_of(found, few=True)
    indices = _changed(found) if selection.changes else list(range(len(table)))
    if selection.changes:
        yield f"{len(indices):,} of {len(table):,} rows change something"
    lines = (found.row(index) for index in indices)
    yield from lines if selection.is_chosen else _cut(lines)


def _cut(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines; of more than `MAX_LISTED_ROWS` the first and the last half, and how many are between."""
    every = list(lines)
    half = MAX_LISTED_ROWS // 2
    if len(every) <= MAX_LISTED_ROWS:
        yield from every
        return
    yield from every[:half]
    yield f"… {len(every) - 2 * half:,} more"
    yield from every[-half:]


def _changed(found: ShownColumns) -> list[int]:
    """Return the indices of the rows that are unlike the row before, the first one included."""
    columns = [each.values for each in found.columns.values()]
    rows = list(zip(*columns, strict=True)) if columns else []
    return [0, *(index for index, (one, two) in enumerate(pairwise(rows), 1) if one != two)]


def _groups(
    table: Table, names: Sequence[str], selection: RowSelection, *, calls: bool, process: int
) -> Iterator[str]:
    """Yield a summary of the rows of each thread, task, caller or process, as `selection.by` says.

    At most `MAX_GROUPS` are shown.
    """
    key = {
        "thread": table.threads,
        "task": table.tasks,
        "caller": table.callers,
        "process": [f"{process}"] * len(table),
    }[selection.by or ""]
    by: dict[str, list[int]] = {}
    for index, each in enumerate(key):
        by.setdefault(each, []).append(index)
    for name, indices in list(by.items())[:MAX_GROUPS]:
        what = "calls" if calls else "rows"
        yield f"{selection.by} {name or '(none)'}: {len(indices):,} {what}"
        picked = table.picked(indices)
        if calls:
            yield from (f"  {each}" for each in tree(picked, names[len(OF_CALLS) :]))
            continue
        found = shown_columns(picked, names)
        yield from (f"  {each}" for each in columns_of(found, few=False))
        yield from (f"  {each}" for each in odd_rows(found))
    if len(by) > MAX_GROUPS:
        yield f"{len(by) - MAX_GROUPS} more groups: narrow them by where"


def _plots(found: ShownColumns) -> Iterator[str]:
    """Yield a line with a plot for each column of numbers, or one that says that there is none."""
    plotted = False
    for name, each in found.columns.items():
        if each.range is None:
            continue
        plotted = True
        low, high = each.range
        yield f"{name}: {low:,.6g} {_plot(each.values, low, high)} {high:,.6g}"
    if not plotted:
        yield "no column of numbers that changes"


def _plot(values: Sequence[str], low: float, high: float) -> str:
    """Return a plot of a column in block characters, each the mean of its rows; a blank: no number there."""
    numbers = [value_of(each) for each in values]
    count = min(PLOT_CHARS, len(numbers))
    bars = ""
    for place in range(count):
        part = numbers[place * len(numbers) // count : (place + 1) * len(numbers) // count]
        finite = [n for n in part if isinstance(n, int | float) and math.isfinite(n)]
        if not finite:
            bars += " "
            continue
        share = (sum(finite) / len(finite) - low) / ((high - low) or 1)
        bars += BARS[min(len(BARS) - 1, max(0, int(share * len(BARS))))]
    return bars
