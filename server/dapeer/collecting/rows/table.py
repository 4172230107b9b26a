"""Rows that breakpoints collect: what their expressions were each time the program came by. Pure.

They are kept by column: a hundred thousand rows are then looked at in milliseconds.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from operator import eq, itemgetter, sub
from typing import NamedTuple, cast, overload

# Columns of collected values: texts, or numbers that are told as Python writes them. Pure.


class NumberColumn(Sequence[str]):
    """Numbers of 8 bytes, all whole or all fractions: kept as they are, and read as texts."""

    __slots__ = ("values",)

    def __init__(self, values: array[int] | array[float]) -> None:
        """Take them; they are of 8 bytes each."""
        self.values = values

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> NumberColumn: ...
    def __getitem__(self, index: int | slice) -> str | NumberColumn:
        """Return one as text, or some of them."""
        if isinstance(index, slice):
            return NumberColumn(self.values[index])
        return repr(self.values[index])

    def __iter__(self) -> Iterator[str]:
        """Yield them as texts."""
        return map(repr, self.values)

    def __eq__(self, other: object) -> bool:
        """Whether another column has the same texts."""
        if isinstance(other, NumberColumn) and self.whole and other.whole:
            return self.values == other.values
        if not isinstance(other, NumberColumn | list) or len(self) != len(cast("Cells", other)):
            return False
        return all(map(eq, self, cast("Cells", other)))

    def __hash__(self) -> int:
        """Refuse: it changes."""
        raise TypeError

    def count(self, value: object) -> int:
        """Return how many of the numbers are written as the text `value`."""
        if not self.whole:
            return [*self].count(cast("str", value))
        number = _whole_number(value)
        return 0 if number is None else self.values.count(number)

    def index(self, value: object, start: int = 0, stop: int = sys.maxsize) -> int:
        """Return the index of the first number that is written as the text `value`.

        Raises:
            ValueError: None is.
        """
        if self.whole and (number := _whole_number(value)) is not None:
            return self.values.index(number, start, stop)
        return super().index(value, start, stop)

    def __delitem__(self, part: slice) -> None:
        """Forget some."""
        del self.values[part]

    @property
    def whole(self) -> bool:
        """Whether the numbers are whole ones."""
        return self.values.typecode != "d"

    def picked(self, indices: Sequence[int]) -> NumberColumn:
        """Return a column with the values at these indices."""
        return NumberColumn(array(self.values.typecode, map(self.values.__getitem__, indices)))


Cells = list[str] | NumberColumn


def counted(column: Sequence[str]) -> Counter[str]:
    """Return how often each text occurs in a column."""
    if not isinstance(column, NumberColumn) or not column.whole:
        return Counter(column)
    return Counter({f"{number}": count for number, count in Counter(column.values).items()})


def _whole_number(value: object) -> int | None:
    """Return the whole number that a text writes; None: it writes none."""
    text = cast("str", value)
    return int(text) if text.removeprefix("-").isdecimal() else None


def extend_column(column: Cells, more: Sequence[str]) -> Cells:
    """Return `column` with the values of `more` behind.

    `column` may be changed, and must not be used any more.
    """
    if isinstance(more, NumberColumn):
        if not column:
            return NumberColumn(more.values[:])
        if isinstance(column, NumberColumn) and column.values.typecode == more.values.typecode:
            column.values.extend(more.values)  # type: ignore[arg-type]
            return column
    texts = list(column) if isinstance(column, NumberColumn) else column
    texts.extend(more)
    return texts


def values_at(column: Cells, indices: Sequence[int]) -> Cells:
    """Return the values of a column at these indices."""
    if isinstance(column, NumberColumn):
        return column.picked(indices)
    return [column[index] for index in indices]


FAILED = "\x15"
"""How a cell begins whose expression could not be evaluated; the error follows. No value begins so."""
HEAD = 6
"""Fields of a line before its cells: point, hit, seconds, thread, task, caller."""

_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,18})?(?:e-[0-9]{1,2})?")


class CollectedRow(NamedTuple):
    """One row."""

    point: int
    """Which collection point; numbers are those of a program's `Point`s."""
    hit: int
    """The number, from 1, of this pass in its process; where rows were dropped, some are missing."""
    seconds: float
    """Since the process began to collect."""
    thread: str
    task: str
    caller: str
    """The function that has called the one of the point, and where."""
    cells: tuple[str, ...]
    """A value for each expression, in the point's order; one that begins with `FAILED` is an error."""


@dataclass(slots=True)
class Table:
    """The rows of one point in one process, by column, in the order in which they were collected."""

    width: int
    """Expressions of the point."""
    hits: Cells = field(default_factory=list[str])
    seconds: Cells = field(default_factory=list[str])
    threads: list[str] = field(default_factory=list[str])
    tasks: list[str] = field(default_factory=list[str])
    callers: list[str] = field(default_factory=list[str])
    cells: list[Cells] = field(default_factory=list[Cells])
    """By expression."""
    order: list[int] = field(default_factory=list[int])
    """The number of each row among all of its process."""

    def __post_init__(self) -> None:
        """Make a column for each expression."""
        self.cells = self.cells or [[] for _ in range(self.width)]

    @classmethod
    def of_columns(cls, columns: Sequence[list[str]], order: Sequence[int]) -> Table:
        """Return a table of the columns hit, seconds, thread, task, caller, and a cell each, in this order.

        `order` has each row's number among all of its process.
        """
        hits, seconds, threads, tasks, callers, *cells = columns
        return cls(len(cells), hits, seconds, threads, tasks, callers, [*cells], [*order])

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.hits)

    def row(self, index: int, point: int = 0) -> CollectedRow:
        """Return the row with this index, counted from 0; `point` is put into it as its point's number.

        A hit or a time that the program has spoilt is 0 in the row. A negative `index` counts from the end.

        Raises:
            IndexError: There is no such row.
        """
        return CollectedRow(
            point,
            int(_number_at(self.hits, index)),
            _number_at(self.seconds, index),
            self.threads[index],
            self.tasks[index],
            self.callers[index],
            tuple(column[index] for column in self.cells),
        )

    def add(self, row: CollectedRow, order: int) -> None:
        """Append one row; `order` is its number among all rows of its process."""
        head = (f"{row.hit}", f"{row.seconds:.6f}", row.thread, row.task, row.caller)
        self.join(Table.of_columns([[each] for each in (*head, *row.cells)], [order]))

    def join(self, rows: Table, first: int = 0) -> None:
        """Append rows of the same point that came later, in their order.

        `first` is added to the numbers that are appended to `order`; `rows` itself stays as it is.
        """
        self.order += shifted(rows.order, first)
        self.hits = extend_column(self.hits, rows.hits)
        self.seconds = extend_column(self.seconds, rows.seconds)
        self.threads += rows.threads
        self.tasks += rows.tasks
        self.callers += rows.callers
        self.cells = [extend_column(*each) for each in zip(self.cells, rows.cells, strict=True)]

    def extend(self, text: str, order: Sequence[int]) -> int:
        """Append the rows of a text; return how many of its lines are no rows, which are dropped.

        `text` begins with a line end, and each line stands behind one. A line is `point, hit, seconds, thread,
        task, caller, cell, …`, with tabs between, and has as many cells as the table's `width`. All lines are of
        one point, whose number the table does not keep. `order` has each line's number among all rows of the
        process, also of lines that are no rows.
        """
        step = HEAD + self.width
        # One list of all fields, cut by steps: a list for each line would cost ten times as much.
        fields = text.replace("\n", "\t\n").split("\t")[1:]
        if len(fields) != step * len(order) or len(set(fields[::step])) > 1:
            rows = zip(text.split("\n")[1:], order, strict=False)
            kept = [(line, number) for line, number in rows if line.count("\t") == step - 1]
            wrong, order = len(order) - len(kept), [number for _, number in kept]
            fields = "\t".join(line for line, _ in kept).split("\t") if kept else []
        else:
            wrong = 0
        columns: list[list[str]] = []
        for place in range(1, step):
            texts = fields[place::step]
            # Texts that are all equal need not be there a hundred thousand times.
            same = texts and texts.count(texts[0]) == len(texts)
            columns.append([texts[0]] * len(texts) if same else texts)
        self.join(Table.of_columns(columns, order))
        return wrong

    def newest(self, count: int) -> int:
        """Return the greatest hit among the last `count` rows; 0: there are none."""
        indices = range(len(self) - count, len(self))
        return max((int(_number_at(self.hits, each)) for each in indices), default=0)

    def last(self, count: int) -> Table:
        """Return a table of the last `count` rows, or of all if there are fewer."""
        return self.rows_at(range(max(0, len(self) - count), len(self)))

    def rows_at(self, indices: Sequence[int]) -> Table:
        """Return a new table of the rows at these indices, in the order of `indices`.

        Raises:
            IndexError: There is no such row; a negative index counts from the end.
        """
        return Table(
            self.width,
            values_at(self.hits, indices),
            values_at(self.seconds, indices),
            [self.threads[index] for index in indices],
            [self.tasks[index] for index in indices],
            [self.callers[index] for index in indices],
            [values_at(each, indices) for each in self.cells],
            [self.order[index] for index in indices],
        )

    def in_order(self) -> Table:
        """Return the rows in the order in which they were collected; the table itself if they are."""
        if self.order == sorted(self.order):
            return self
        return self.rows_at(sorted(range(len(self)), key=self.order.__getitem__))

    def with_cells(self, cells: list[Cells]) -> Table:
        """Return a table with these rows' heads and other cells, a column for each expression."""
        head = (self.hits, self.seconds, self.threads, self.tasks, self.callers)
        return Table(len(cells), *head, cells, self.order)

    def times(self) -> list[float]:
        """Return the seconds of each row, since the process began to collect."""
        return [_number_at(self.seconds, index) for index in range(len(self))]

    def missing_hits_by_row(self) -> dict[int, int]:
        """Return how many hits are missing before a row, by the row's index; rows without a gap are left out.

        A row's hit is its number in `hits`; rows that were dropped leave a gap between two such numbers. What is missing
        before the first row is not counted. The result is empty, too, if one of the `hits` is no number, as the program may
        have overwritten what it had recorded.
        """
        try:
            hits = [
                *map(int, self.hits.values if isinstance(self.hits, NumberColumn) else self.hits)
            ]
        except ValueError:  # a process may have spoilt what it wrote
            return {}
        steps = map(sub, hits[1:], hits)
        return {index: step - 1 for index, step in enumerate(steps, 1) if step > 1}

    def forget(self, count: int, after: int) -> None:
        """Remove `count` rows behind the first `after` rows."""
        part = slice(after, after + count)
        for head in (self.order, self.threads, self.tasks, self.callers):
            del head[part]
        for column in (self.hits, self.seconds, *self.cells):
            del column[part]


def shifted(order: list[int], by: int) -> Sequence[int]:
    """Return the ascending numbers of `order`, each raised by `by`."""
    if order and order[-1] - order[0] == len(order) - 1:
        return range(order[0] + by, order[-1] + by + 1)
    return [each + by for each in order] if by else order


def _number_at(column: Cells, index: int) -> float:
    """Return a number of a column; 0.0 if a process has spoilt what it wrote."""
    if isinstance(column, NumberColumn):
        return column.values[index]
    return float(column[index]) if _NUMBER.fullmatch(column[index]) else 0.0


def lines_by_point(text: str, order: Sequence[int]) -> dict[int, tuple[str, Sequence[int]]]:
    r"""Return the lines of a text, with their numbers, by the id of the point that each belongs to.

    A line of `text` begins with its point's id and a tab; `order` has a number for each line, in the same order. Each
    value of the result is a pair: the point's whole lines as one text, with a line end before each, and the numbers
    of these lines. Lines that begin with no id are left out.

    >>> lines_by_point("1\ta\n1.5\tb\n12\n2\tc\n", range(4))
    {1: ('\n1\ta', [0]), 2: ('\n2\tc', [3])}
    """
    text = text.removesuffix("\n")
    whole = f"\n{text}"
    point = text.partition("\t")[0]
    if point.isascii() and point.isdigit() and whole.count(f"\n{point}\t") == len(order):
        return {int(point): (whole, order)}
    lines = text.split("\n")
    found: dict[str, tuple[list[str], list[int]]] = {}
    for line, number in zip(lines, order, strict=False):
        point, tab, _ = line.partition("\t")
        if not (tab and point.isascii() and point.isdigit()):
            continue
        if point not in found:
            found[point] = [], []
        found[point][0].append(line)
        found[point][1].append(number)
    return {
        int(point): ("".join(f"\n{line}" for line in kept), numbers)
        for point, (kept, numbers) in found.items()
    }


def in_order(tables: Iterable[tuple[int, Table]]) -> Iterator[CollectedRow]:
    """Yield the rows of several points of one process in the order in which they were collected.

    `tables` has pairs of a point's number and its rows.
    """
    streams = (_numbered(point, table) for point, table in tables)
    return map(itemgetter(1), merge(*streams, key=itemgetter(0)))


def _numbered(point: int, table: Table) -> Iterator[tuple[int, CollectedRow]]:
    """Yield the rows of a table with their numbers among all of the process."""
    return ((number, table.row(index, point)) for index, number in enumerate(table.order))
