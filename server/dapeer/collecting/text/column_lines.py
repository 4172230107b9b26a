"""Collected rows as text: their columns, and the odd ones among them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import prod

from dapeer.base.text.fitting import fitted, shortened
from dapeer.collecting.rows.table import FAILED, NumberColumn, Table
from dapeer.collecting.text.columns import (
    MAX_ODD_ROWS,
    MAX_ODD_VALUE_CHARS,
    MIN_ROWS_FOR_RARE,
    Column,
    OddRow,
    column,
    is_rare,
    runs,
)

# Combinations of columns that come twice where nearly all come once, as a key does. Pure.

MAX_COLUMNS = 8
"""Columns that are combined, the first ones."""
MAX_COMBINED_COLUMNS = 3
MIN_FILLED_SHARE = 0.5
"""The share of all possible combinations that come, at least: where few do, two are equal by chance."""

Cell = str | int | float


def rows_repeating_combinations(columns: Mapping[str, Column], hits: Sequence[str]) -> list[OddRow]:
    """Return the rows that repeat a combination of values in 2 or 3 columns, where nearly all come once.

    `columns` are by their short names; `hits` has the number of each row as text, which the reasons quote.
    Combinations of columns are tried, pairs first. Columns with fractions, with one value in all rows, or with
    no value twice are left out; of the others only the first `MAX_COLUMNS` are combined. A combination is
    skipped if it has more than twice, or fewer than half, as many possible values as there are rows. The first
    one that has a few repeats gives the result: at most `MAX_ODD_ROWS` rows, each a later occurrence, with what
    else differs in it. The list is empty if no combination has such rows, or if there are fewer than
    `MIN_ROWS_FOR_RARE` rows.
    """
    total = len(hits)
    if total < MIN_ROWS_FOR_RARE:
        return []
    cells = {name: _cells(each) for name, each in columns.items() if not _has_fractions(each)}
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
                    return list(_repeated_combinations(names, rows, rest, hits))[:MAX_ODD_ROWS]
    return []


def _repeated_combinations(
    names: Sequence[str],
    rows: Sequence[tuple[Cell, ...]],
    rest: Mapping[str, Column],
    hits: Sequence[str],
) -> Iterator[OddRow]:
    """Yield each row whose combination has come before, with what differs from the first such row.

    `names` are the combined columns, `rows` their values in each row, and `rest` the columns that are compared.
    The reason names the first such row by its number in `hits`.
    """
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
        which = f"({', '.join(names)}) = ({told}) again, first in #{hits[before]}"
        yield OddRow(index, "; ".join([which, *others]))


def _short(value: str) -> str:
    """Return a value, shortened for a reason."""
    return shortened(value, MAX_ODD_VALUE_CHARS)


def _has_fractions(column: Column) -> bool:
    """Return whether a column has fractions, which are measured, so that they are no keys."""
    values = column.values
    if isinstance(values, NumberColumn):
        return not values.whole
    return column.range is not None and any("." in each for each in values)


def _cells(column: Column) -> Sequence[Cell]:
    """Return the values of a column in the form that is compared most quickly."""
    values = column.values
    return values.values.tolist() if isinstance(values, NumberColumn) else values


MIN_NAMED_CHARS = 32
"""Characters of an expression from which on it has a short name in rows."""
MIN_CELL_CHARS = 60
"""Characters of a value at least."""
ROW_CHARS = 120
"""Characters that the values of a row share."""
MAX_WHOLE_CELL_CHARS = 2000
"""Characters of a value where one row is asked for."""
EXPRESSION_CHARS = 120
"""Characters of what is expected."""
ODD_ROWS = 8
"""Odd rows of one point that are shown."""
ALL_ROWS = 6
"""Rows that are shown one by one, where there are no more."""
MAX_UNEXPECTED_ROWS = 3
"""Rows of one point that are shown in which what was expected did not hold."""
MAX_COUNTED_VALUES = 4
"""Different values that are counted in a line, where there are no more."""
MAX_COUNTED_KINDS = 5
"""Kinds of values that are counted in a line."""
WHO = ("thread", "task", "caller")
NAMELESS = (*WHO, "at")
"""Columns whose values say by themselves what they are: they are told whole, without a name."""


@dataclass(slots=True)
class ShownColumns:
    """The columns of a table as they are told: those that say something, by name."""

    table: Table
    columns: dict[str, Column] = field(default_factory=dict[str, Column])
    """Those that change from row to row."""
    constant: dict[str, str] = field(default_factory=dict[str, str])
    same_as: dict[str, str] = field(default_factory=dict[str, str])
    """By name of a column: the one before it that has the same values."""
    gaps: dict[int, int] = field(default_factory=dict[int, int])
    """By row how many were dropped before it."""
    max_value_chars: int = 0
    """Characters of a value in a row; 0: those that the row's values share."""
    names: dict[str, str] = field(default_factory=dict[str, str])
    """By expression a short name, where it is long."""

    def short(self, name: str) -> str:
        """Return the short name of a column, or its own if that is short."""
        return self.names.get(name, name)

    def note_gaps(self, gaps: dict[int, int]) -> None:
        """Set where rows were dropped, by row index, and no longer count a step over them as odd."""
        self.gaps = gaps
        for each in self.columns.values():
            each.drop_steps_over_gaps(gaps)

    def oddities_by_row(self) -> dict[int, list[str]]:
        """Return what is odd about rows, by row index; a row may have several reasons.

        Rows with nothing odd are left out. A reason that concerns one column begins with the column's short name.
        """
        why: dict[int, list[str]] = {}
        for name, each in self.columns.items():
            for odd in each.odd_rows:
                why.setdefault(odd.index, []).append(f"{self.short(name)} {odd.reason}")
        for odd in self.repeated:
            why.setdefault(odd.index, []).append(odd.reason)
        return why

    @property
    def repeated(self) -> list[OddRow]:
        """The rows that repeat a combination of values where nearly all come once."""
        columns = {self.short(name): each for name, each in self.columns.items()}
        return rows_repeating_combinations(columns, self.table.hits)

    def row(self, index: int) -> str:
        """Return the row at `index` of the table as a line, such as `#17 total = 3, name = 'a'`.

        The line begins with the number of the row's hit, which is not `index` (from 0). Then come the values of the
        columns that change from row to row; threads, tasks, callers and places are whole, without a name, and left
        out if empty. Other values are cut to `max_value_chars` characters, or if that is 0 to share the room of a
        line (`ROW_CHARS`), but to no less than `MIN_CELL_CHARS`.
        """
        named = [each.values[index] for name, each in self.columns.items() if name not in NAMELESS]
        room = self.max_value_chars or max(
            MIN_CELL_CHARS, share_chars(ROW_CHARS, [*map(len, named)])
        )
        values = [
            each.values[index]
            if name in NAMELESS
            else f"{self.short(name)} = {cell_text(each.values[index], room)}"
            for name, each in self.columns.items()
        ]
        return f"#{self.table.hits[index]} {', '.join(filter(None, values))}".rstrip()


def share_chars(max_chars: int, lengths: Sequence[int]) -> int:
    """Return the most characters that any of several texts may take, so that together they fit.

    The result is one limit for all texts, whose `lengths` are given: a text that is shorter leaves the rest
    of its share to longer ones. `max_chars` is the number of characters for all of them. If all fit whole,
    the result is at least the greatest length; without any text it is `max_chars`.

    >>> share_chars(120, [5, 90, 12]), share_chars(120, [100, 100, 3]), share_chars(120, [1, 2])
    (103, 58, 119)
    """
    level = max_chars
    for number, length in enumerate(sorted(lengths)):
        level = max_chars // (len(lengths) - number)
        if length > level:
            break
        max_chars -= length
    return level


def cell_text(text: str, max_chars: int = MIN_CELL_CHARS) -> str:
    """Return a cell in `max_chars`: an error in brackets, an empty text as two quotes."""
    if text.startswith(FAILED):
        return f"({fitted(text[1:].strip() or 'failed', max_chars)})"
    return fitted(text, max_chars) if text else "''"


def shown_columns(table: Table, expressions: Sequence[str], max_chars: int = 0) -> ShownColumns:
    """Look at all columns of a table that has rows, and return which are constant, equal, or change.

    The columns of `WHO` (thread, task and caller) are among them. `expressions` are the names of the table's
    `cells`, in their order. `max_chars` is how many characters each value has in a row's line; 0: a row's
    values share `ROW_CHARS`. If the table has several rows, long names get a short one (`c1`, `c2` …), and a
    column with the values of an earlier one that changes is in `same_as` only. In a table of one row only
    columns of `WHO` count as constant.
    """
    found = ShownColumns(table, max_value_chars=max_chars)
    if len(table) > 1:
        long = enumerate(expressions, 1)
        found.names = {each: f"c{number}" for number, each in long if len(each) > MIN_NAMED_CHARS}
    named = dict(zip(WHO, (table.threads, table.tasks, table.callers), strict=True))
    for name, values in (named | dict(zip(expressions, table.cells, strict=True))).items():
        twin = next((n for n, each in found.columns.items() if each.values == values), None)
        if twin is not None and len(table) > 1:
            found.same_as[name] = twin
            continue
        looked_at = column(values)
        # Of one row nothing can be said that it does not say itself.
        if looked_at.is_constant and (len(table) > 1 or name in WHO):
            found.constant[name] = values[0]
        else:
            found.columns[name] = looked_at
    return found


def lines_on_columns(found: ShownColumns, *, few: bool) -> Iterator[str]:
    """Yield lines on the columns: short names, constant ones, equal ones, then one for each other.

    `found` has the columns of a table. There is a line `SHORT is NAME` for each short name, one line for all
    columns that are constant, one line `A, B same as C` for each column that others equal, and a line that
    describes each column that changes. With `few`, as each row is shown then, the lines on changing columns
    are left out. A constant `caller` is never told, a constant `thread` or `task` not if it is empty or
    `MainThread`.
    """
    yield from (f"{short} is {name}" for name, short in found.names.items())
    always = [
        f"{found.short(name)} = {cell_text(text)}"
        for name, text in found.constant.items()
        if name not in WHO or (name != "caller" and text not in {"", "MainThread"})
    ]
    if always:
        yield f"always {', '.join(always)}"
    by_twin: dict[str, list[str]] = {}
    for name, twin in found.same_as.items():
        by_twin.setdefault(found.short(twin), []).append(found.short(name))
    yield from (f"{', '.join(names)} same as {twin}" for twin, names in by_twin.items())
    if not few:
        yield from (
            f"{found.short(name)}: {column_description(each)}"
            for name, each in found.columns.items()
        )


def unexpected_lines(table: Table, names: Sequence[str], expected: str) -> Iterator[str]:
    """Yield lines of the rows in which `expected` did not hold, each after the row before it.

    `expected` is an expression. The last column of `table` says whether it held ("True"; any other text counts as
    not); `names` are the names of all its columns, the last one included. If it held in every row, or there is no
    row, one line says so. Else lines on the columns come first. The row before is left out for the first row of the
    table, and where `expected` did not hold in it either. At most `MAX_UNEXPECTED_ROWS` rows in which it did not
    hold are shown; a last line says how many more there are.
    """
    verdicts = table.cells[-1]
    table = table.with_cells(table.cells[:-1])
    wrong = [index for index, each in enumerate(verdicts) if each != "True"]
    if not wrong:
        yield f"`{shortened(expected, EXPRESSION_CHARS)}` held each time"
        return
    found = shown_columns(table, names[:-1])
    yield from lines_on_columns(found, few=True)
    for index in wrong[:MAX_UNEXPECTED_ROWS]:
        if index and index - 1 not in wrong:
            yield found.row(index - 1)
        yield f"{found.row(index)}  ← not ({shortened(expected, EXPRESSION_CHARS)})"
    if len(wrong) > MAX_UNEXPECTED_ROWS:
        yield f'{len(wrong) - MAX_UNEXPECTED_ROWS:,} more: dap_collected where="expected != True"'


def column_description(each: Column) -> str:
    """Return text on a column whose values change: counts of values or kinds, range, trend.

    The parts are joined by `; `. Values are counted if there are at most `MAX_COUNTED_VALUES` different ones,
    else the `MAX_COUNTED_KINDS` most frequent kinds if there are several; not, however, if zero is one of two
    kinds and the column has a trend. Without counts and a range, the first part is how many different values
    there are.
    """
    parts: list[str] = []
    kinds, counts = each.kinds.most_common(MAX_COUNTED_KINDS), each.counts
    if counts is not None and len(counts) <= MAX_COUNTED_VALUES:
        parts.append(
            ", ".join(f"{cell_text(text)} ({count:,})" for text, count in counts.most_common())
        )
    elif len(kinds) > 1 and not (each.trend and "zero" in each.kinds and len(kinds) == 2):
        parts.append(
            ", ".join(f"{shortened(kind, MIN_CELL_CHARS)} ({count:,})" for kind, count in kinds)
        )
    if each.range is not None:
        low, high = each.range
        parts.append(f"{low:,.6g}…{high:,.6g}")
    elif not parts:
        parts.append(f"{len(set(each.values)):,} different")
    return "; ".join(filter(None, [*parts, each.trend]))


def odd_row_lines(found: ShownColumns) -> Iterator[str]:
    """Yield lines with the first row, odd rows and the last, and ranges of the rows between them.

    `found` has the columns of a table, which must have a row. At most `ODD_ROWS` odd rows are shown with their
    reasons, chosen in this order: those that repeat others, then the rest by index, then the first and last
    row, which may so be shown without reasons. A last line says how many odd rows were not chosen. A range,
    such as `#3…9 alike` (`#3 alike`: one row), has the hits of the first and last row that is left out, and
    how many rows the program has dropped between these two, if any.
    """
    why = found.oddities_by_row()
    repeated_ones = {each.index for each in found.repeated}
    last = len(found.table) - 1
    # The rarest first is what a reader looks for; the rest is counted.
    chosen = sorted(why, key=lambda index: (index in {0, last}, index not in repeated_ones, index))[
        :ODD_ROWS
    ]
    left = len(why) - len(chosen)
    indices = sorted({0, *chosen, last})
    alike = {first: (first, end) for first, end in runs(indices, last + 1)}
    for index in indices:
        reason = f"  ← {'; '.join(why[index])}" if index in why and index in chosen else ""
        yield f"{found.row(index)}{reason}"
        if index + 1 in alike:
            first, end = alike[index + 1]
            hits = found.table.hits
            span = f"#{hits[first]}" if first == end else f"#{hits[first]}…{hits[end]}"
            dropped = sum(count for index, count in found.gaps.items() if first < index <= end)
            yield f"{span} alike{f', {dropped:,} of them dropped' if dropped else ''}"
    if left:
        yield f"({left} more odd rows: dap_collected changes=true)"
