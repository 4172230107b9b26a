"""Combinations of columns that come twice where nearly all come once, as a key does. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import prod

from dapeer.base.text.fitting import shortened
from dapeer.collecting.rows.row_columns import NumberColumn
from dapeer.collecting.text.columns import (
    MAX_ODD_ROWS,
    MAX_ODD_VALUE_CHARS,
    MIN_ROWS_FOR_RARE,
    Column,
    Odd,
    is_rare,
)

MAX_COLUMNS = 8
"""Columns that are combined, the first ones."""
MAX_COMBINED_COLUMNS = 3
MIN_FILLED_SHARE = 0.5
"""The share of all possible combinations that come, at least: where few do, two are equal by chance."""

Cell = str | int | float


def repeated(columns: Mapping[str, Column], hits: Sequence[str]) -> list[Odd]:
    """Return the rows that repeat a combination of values in 2 or 3 columns, where nearly all come once.

    `columns` are by their short names, `hits` has the number of each row. At most `MAX_ODD_ROWS` rows are returned, of the first such
    columns; empty: there are none.
    """
    total = len(hits)
    if total < MIN_ROWS_FOR_RARE:
        return []
    cells = {name: _cells(each) for name, each in columns.items() if not _fractions(each)}
    different = {name: len({*each}) for name, each in cells.items()}
    keys = [name for name, count in different.items() if 1 < count < total][:MAX_COLUMNS]
    for size in range(2, MAX_COMBINED_COLUMNS + 1):
        for names in combinations(keys, size):
            possible = prod(different[name] for name in names)
            # More rows than combinations: several come twice.
            if total * MIN_FILLED_SHARE <= possible <= total / MIN_FILLED_SHARE:
                rows = list(zip(*(cells[name] for name in names), strict=True))
                twice = total - len({*rows})
                if twice and is_rare(twice, total):
                    rest = {name: each for name, each in columns.items() if name not in names}
                    return list(_odd(names, rows, rest, hits))[:MAX_ODD_ROWS]
    return []


def _odd(
    names: Sequence[str],
    rows: Sequence[tuple[Cell, ...]],
    rest: Mapping[str, Column],
    hits: Sequence[str],
) -> Iterator[Odd]:
    """Yield each row whose combination has come before, with what differs in the columns `rest`."""
    first: dict[tuple[Cell, ...], int] = {}
    for index, row in enumerate(rows):
        before = first.setdefault(row, index)
        if before == index:
            continue
        told = ", ".join(shortened(f"{each}", MAX_ODD_VALUE_CHARS) for each in row)
        others = [
            f"{name} {_short(each.values[before])} then {_short(each.values[index])}"
            for name, each in rest.items()
            if each.values[before] != each.values[index]
        ]
        which = f"({', '.join(names)}) = ({told}) twice, first in #{hits[before]}"
        yield Odd(index, "; ".join([which, *others]))


def _short(value: str) -> str:
    """Return a value, shortened for a reason."""
    return shortened(value, MAX_ODD_VALUE_CHARS)


def _fractions(column: Column) -> bool:
    """Return whether a column has fractions, which are measured, so that they are no keys."""
    values = column.values
    if isinstance(values, NumberColumn):
        return not values.whole
    return column.range is not None and any("." in each for each in values)


def _cells(column: Column) -> Sequence[Cell]:
    """Return the values of a column in the form that is compared most quickly."""
    values = column.values
    return values.values.tolist() if isinstance(values, NumberColumn) else values
