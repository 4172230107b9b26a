"""A run's rows for a comparison: whole columns at a time, as there may be hundreds of thousands. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import PurePath

from dapeer.collecting.rows.collected import Collected
from dapeer.collecting.rows.collection import OF_CALLS, Point
from dapeer.collecting.rows.table import CollectedRow, Table

Lane = tuple[int, str, str]
"""Who collects: number of the process among those of its run, thread, and task."""
ColumnNumbers = tuple[int, int]
"""Number of a place, and of one of its expressions."""

MIN_DIFFERENT_ROWS = 3
"""Rows from which on a column that differs in all of them says nothing of where runs part."""

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{5,}")


@dataclass(slots=True)
class RunPart:
    """The rows of one place in one process."""

    place: int
    process: int
    table: Table
    calls: bool = False
    """Its rows are calls; how long each took, and the numbers, are not compared."""
    columns: list[Sequence[str]] = field(default_factory=list[Sequence[str]])
    """The cells as they are compared: where something lies in memory is another thing in each run."""

    def __post_init__(self) -> None:
        """Keep the rows as they are now, since more may come during a comparison, without addresses."""
        self.table = copied(self.table)
        self.columns = [_without_addresses(each) for each in self.table.cells]
        if self.calls:
            for each in ("took", "within"):
                self.columns[OF_CALLS.index(each)] = [""] * len(self.table)

    def lanes(self) -> Iterator[Lane]:
        """Yield for each row which process, thread and task has collected it."""
        return zip(repeat(self.process), self.table.threads, self.table.tasks, strict=False)

    def keys(self, columns: Sequence[int]) -> Iterator[object]:
        """Yield for each row what makes it equal to another row of the place: the cells of these columns.

        Without columns all rows are equal.
        """
        if not columns:
            return repeat((), len(self.table))
        return zip(*(self.columns[each] for each in columns), strict=True)


def copied(table: Table) -> Table:
    """Return a copy of a table, which later rows of the program do not change."""
    return Table(
        table.width,
        [*table.hits],
        [*table.seconds],
        [*table.threads],
        [*table.tasks],
        [*table.callers],
        [[*each] for each in table.cells],
        [*table.order],
    )


def _without_addresses(column: Sequence[str]) -> Sequence[str]:
    """Return a column's cells with memory addresses replaced by one text, since they differ in each run."""
    if "0x" not in "\n".join(column):
        return column
    return [_ADDRESS.sub("0x…", each) for each in column]


@dataclass(slots=True)
class RunRows:
    """The rows of a run at the points that both runs have, in the order of collection."""

    parts: Sequence[RunPart]
    of: list[int] = field(default_factory=list[int])
    """By row: the number of its part."""
    index: list[int] = field(default_factory=list[int])
    """By row: its index there."""

    def __post_init__(self) -> None:
        """Bring the rows into their order: by process, and there as they were collected."""
        rows = (
            zip(repeat(each.process), each.table.order, repeat(number))
            for number, each in enumerate(self.parts)
        )
        self.of = [number for *_, number in sorted(chain.from_iterable(rows))]
        self.index = self.merged([range(len(each.table)) for each in self.parts])

    def merged(self, columns: Sequence[Sequence[int]]) -> list[int]:
        """Return one list with a number for each row of the run, in the order of collection.

        `columns` has a sequence for each part, with a number for each of its rows.
        """
        if len(columns) == 1:
            return list(columns[0])
        streams = [iter(each) for each in columns]
        return [next(streams[number]) for number in self.of]

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.of)

    def row(self, number: int) -> CollectedRow:
        """Return the row with index `number`; its `point` is the number of its place, not of a point.

        A place is a pair of points that both runs have.
        """
        part = self.parts[self.of[number]]
        return part.table.row(self.index[number], part.place)

    def place(self, number: int) -> int:
        """Return the number of the place at which the row with index `number` was collected.

        A place is a pair of points that both runs have.
        """
        return self.parts[self.of[number]].place

    def compared(self, number: int) -> tuple[str, ...]:
        """Return the cells of a row as they are compared: without addresses, and for calls without times."""
        part, index = self.parts[self.of[number]], self.index[number]
        return tuple(column[index] for column in part.columns)

    def at(self, place: int) -> list[RunPart]:
        """Return the parts with the rows of a place, one for each process."""
        return [each for each in self.parts if each.place == place]

    def lane(self, number: int) -> Lane:
        """Return which process, thread and task has collected the row with index `number`."""
        part, index = self.parts[self.of[number]], self.index[number]
        return part.process, part.table.threads[index], part.table.tasks[index]

    def lanes(self) -> dict[Lane, Sequence[int]]:
        """Return the indices of the rows of each process, thread and task, in the order of collection."""
        if len({each for part in self.parts for each in set(part.lanes())}) == 1:
            return {self.lane(0): range(len(self))}
        found: dict[Lane, list[int]] = {}
        streams = [part.lanes() for part in self.parts]
        for row, part in enumerate(self.of):
            found.setdefault(next(streams[part]), []).append(row)
        return dict(found)


def places(a: Iterable[Point], b: Iterable[Point]) -> list[tuple[Point, Point]]:
    """Return the points that two runs have in common, as pairs; a pair's index is the number of the place.

    A point is known by the name of its file, its function and its expressions. Several that have these in common are paired in the order
    of their lines, as an edit moves lines, if there are as many in both runs.
    """
    there = _by_name(b)
    return [
        pair
        for name, points in _by_name(a).items()
        if len(points) == len(there.get(name, ()))
        for pair in zip(points, there[name], strict=True)
    ]


def _by_name(points: Iterable[Point]) -> dict[object, list[Point]]:
    """Return points by file name, function and columns, those with the same ones in order of their lines."""
    named: dict[object, list[Point]] = {}
    for each in sorted(points, key=lambda each: (each.path, each.line)):
        name = PurePath(each.path).name, each.function, each.columns
        named.setdefault(name, []).append(each)
    return named


def rows_of_run(collected: Collected, place: Mapping[int, int]) -> RunRows:
    """Return a run's rows at some points, in the order of collection; rows of other points are left out.

    `place` has, by the number of a point, the number of its place, a pair of points that both runs have.
    """
    processes = list(dict.fromkeys(process for process, _ in collected.collections))
    return RunRows(
        [
            RunPart(place[number], processes.index(process), each.table, each.point.calls)
            for (process, number), each in collected.collections.items()
            if number in place and len(each.table)
        ]
    )


def always(a: RunRows, b: RunRows) -> dict[ColumnNumbers, tuple[str, str]]:
    """Return the columns in which two runs have no value in common, with the first value of each.

    They are keyed by the number of the place (a pair of points that both runs have) and of the column. Only places count at which each
    run has at least `MIN_DIFFERENT_ROWS` rows.
    """
    found: dict[ColumnNumbers, tuple[str, str]] = {}
    for place in sorted({each.place for each in a.parts} & {each.place for each in b.parts}):
        of_a, of_b = a.at(place), b.at(place)
        if min(sum(len(each.table) for each in of) for of in (of_a, of_b)) < MIN_DIFFERENT_ROWS:
            continue
        for column in range(of_a[0].table.width):
            left, right = ([each.columns[column] for each in of] for of in (of_a, of_b))
            if left[0][0] != right[0][0] and set(chain(*left)).isdisjoint(chain(*right)):
                first = of_a[0].table.cells[column][0], of_b[0].table.cells[column][0]
                found[place, column] = first
    return found


def numbered(
    a: RunRows, b: RunRows, left_out: Mapping[ColumnNumbers, object]
) -> tuple[list[int], list[int], int]:
    """Return each row of a, and each row of b, as a number, and how many places there are.

    Rows of one place (a pair of points that both runs have) that are equal, but for the columns `left_out`, have the same number; its
    remainder by the count of places is the number of the place.
    """
    count = max((each.place for each in chain(a.parts, b.parts)), default=0) + 1
    of: dict[int, list[int]] = {}
    for place in range(count):
        parts = [*a.at(place), *b.at(place)]
        width = parts[0].table.width if parts else 0
        columns = [each for each in range(width) if (place, each) not in left_out]
        keys = dict.fromkeys(chain.from_iterable(each.keys(columns) for each in parts))
        number = {key: place + count * each for each, key in enumerate(keys)}
        of |= {id(each): list(map(number.__getitem__, each.keys(columns))) for each in parts}
    mine, other = (one.merged([of[id(each)] for each in one.parts]) for one in (a, b))
    return mine, other, count
