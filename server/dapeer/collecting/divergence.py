"""Where two runs part that have collected at the same points. Pure.

Rows are compared thread by thread and task by task, since the order between these is nobody's. What differs in every row of a point, such as
a time, says nothing of where runs part: it is told apart.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, compress, count, repeat, zip_longest
from operator import ne, sub
from pathlib import Path, PurePath
from typing import Any, Literal, NamedTuple

from dapeer.base.sources import relative_to_project
from dapeer.collecting.rows.collected import OF_CALLS, Collected, Point
from dapeer.collecting.rows.table import CollectedRow, Table
from dapeer.collecting.text.call_lines import FUNCTION, call_text
from dapeer.collecting.text.column_lines import cell_text
from dapeer.dap.requested_breakpoints import place_in_file

# Which rows of one sequence are which of another, as few as possible left over. Pure.

WINDOW_ROWS = 20_000
"""Rows that are aligned at once: the time grows with its square."""
MAX_PAIRS = 4_000_000
"""Pairs of rows of which all differences are kept, two bits each; more are halved."""


class RowDifference(NamedTuple):
    """Rows that differ: `a[start_a:end_a]` stand where `b[start_b:end_b]` do; between gaps all are alike."""

    start_a: int
    end_a: int
    start_b: int
    end_b: int


def gaps(a: Sequence[int], b: Sequence[int], window: int = WINDOW_ROWS) -> Iterator[RowDifference]:
    """Yield the stretches in which two sequences of row numbers differ, in order.

    Equal numbers are equal rows. Sequences longer than `window` are aligned one window after the other, so the result may have more edits
    than needed there. The time grows with the lengths times the window.

    >>> list(gaps([1, 2, 3, 4], [1, 3, 4, 5]))
    [RowDifference(start_a=1, end_a=2, start_b=1, end_b=1), RowDifference(start_a=4, end_a=4, start_b=3, end_b=4)]
    """
    ends = _common(a[::-1], b[::-1])
    ends = min(ends, min(len(a), len(b)) - _common(a, b))
    yield from _join_differences(_gaps_by_windows(a[: len(a) - ends], b[: len(b) - ends], window))


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    """Return how many rows at the beginning of two sequences are equal."""
    return next(compress(count(), map(ne, a, b)), min(len(a), len(b)))


def _gaps_by_windows(a: Sequence[int], b: Sequence[int], window: int) -> Iterator[RowDifference]:
    """Yield the gaps between `a` and `b`, found in one window of at most `window` rows after the other.

    A window has up to `window` rows of `a` and of `b`, and the rows of a gap are counted from the
    beginnings of `a` and `b`. A gap that is longer than a window comes in adjacent parts, which the caller
    joins. The last quarter of a window's gaps, but never its only one, is not yielded, as it may belong to
    rows behind the window. The next window begins behind the last gap that was yielded, and behind the
    equal rows there, so a gap that was left out is found again in the next window. Of the window that
    reaches both ends, all gaps are yielded.
    """
    i = j = 0
    while i < len(a) or j < len(b):
        alike = _common(a[i:], b[j:])
        i, j = i + alike, j + alike
        left, right = a[i : i + window], b[j : j + window]
        whole = i + len(left) == len(a) and j + len(right) == len(b)
        found = list(_join_differences(_edits(left, right, i, j)))
        if not whole and len(found) > 1:
            # What is near the end of a window may belong to rows behind it.
            del found[len(found) * 3 // 4 or 1 :]
        yield from found
        i, j = (len(a), len(b)) if whole else (found[-1].end_a, found[-1].end_b)


def _edits(a: Sequence[int], b: Sequence[int], i: int, j: int) -> Iterator[RowDifference]:
    """Yield the gaps of the fewest edits (a row added, removed or replaced) that lead from `a` to `b`.

    `a` and `b` have a number for each row; equal numbers stand for equal rows. A gap says which rows of `a` are in
    place of which of `b`, in order; nothing is yielded for equal sequences. `i` and `j` are added to the indices of
    rows in `a` and in `b`. Long sequences are halved, to bound the memory. Gaps may touch each other.
    """
    alike = _common(a, b)
    a, b, i, j = a[alike:], b[alike:], i + alike, j + alike
    if not a or not b or set(a).isdisjoint(b):
        if a or b:
            yield RowDifference(i, i + len(a), j, j + len(b))
    elif len(a) * len(b) > MAX_PAIRS and len(b) > 1:
        # The edits pass the middle of b where those before and behind it are the fewest.
        middle = len(b) // 2
        before = _distances(a, b[:middle])
        behind = _distances(a[::-1], b[middle:][::-1])[::-1]
        at = min(range(len(before)), key=lambda n: before[n] + behind[n])
        yield from _edits(a[:at], b[:middle], i, j)
        yield from _edits(a[at:], b[middle:], i + at, j + middle)
    else:
        yield from _trace_edits(a, b, i, j)


def _distance_changes(a: Sequence[int], b: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield for each row of `b` two integers: where the distance grows along `a`, and where it falls.

    Distances are Levenshtein's, between the beginning of `b` up to this row, and each beginning of `a`. In the
    first integer bit n is set where `a[:n + 1]` has a distance greater by one than `a[:n]`, in the second where it
    is smaller by one; where neither is set, the two are equal. This is Hyyrö's bit-parallel form, with Python's
    integers as words.
    """
    pair_points: dict[int, int] = {}
    for n, each in enumerate(a):
        pair_points[each] = pair_points.get(each, 0) | 1 << n
    whole = (1 << len(a)) - 1
    grows, falls = whole, 0
    for each in b:
        same = pair_points.get(each, 0)
        level = ((((same & grows) + grows) ^ grows) | same | falls) & whole
        more = ((falls | ((level | grows) ^ whole)) << 1 | 1) & whole
        less = (level & grows) << 1 & whole
        grows, falls = less | ((level | more) ^ whole), more & level
        yield grows, falls


def _distances(a: Sequence[int], b: Sequence[int]) -> Sequence[int]:
    """Return how many edits lead from each beginning of `a`, the empty one first, to `b`.

    The sequence `b` must not be empty.
    """
    last = deque(_distance_changes(a, b), maxlen=1)[0]
    bits = (map(int, f"{each:0{len(a)}b}"[::-1]) for each in last)
    return list(accumulate(map(sub, *bits), initial=len(b)))


def _trace_edits(a: Sequence[int], b: Sequence[int], i: int, j: int) -> Iterator[RowDifference]:
    """Yield the gaps between alike rows of `a` and `b`, as the fewest edits leave them, in order.

    `a` and `b` have a number for each row, the same number for rows that are alike. An edit adds, removes or
    replaces a row. Both sequences must be short, as two integers of `len(a)` bits are kept in memory for each
    row of `b`. `i` and `j` are added to the indices of rows in `a` and in `b`. Nothing is yielded if all rows
    are alike.
    """
    columns = list(_distance_changes(a, b))
    alike: list[tuple[int, int]] = [(len(a), len(b))]
    x, y = len(a), len(b)
    while x and y:
        if columns[y - 1][0] >> (x - 1) & 1:
            x -= 1
            continue
        y -= 1
        if y and columns[y - 1][1] >> (x - 1) & 1:
            continue
        x -= 1
        if a[x] == b[y]:
            alike.append((x, y))
    x = y = 0
    for end_x, end_y in reversed(alike):
        if end_x > x or end_y > y:
            yield RowDifference(i + x, i + end_x, j + y, j + end_y)
        x, y = end_x + 1, end_y + 1


def _join_differences(found: Iterator[RowDifference]) -> Iterator[RowDifference]:
    """Yield the gaps of `found` in their order, with those that touch each other joined into one.

    `found` must be in the order of the rows. A gap touches the next one if it ends where that begins, in both
    recordings. A gap is yielded when the next one that does not touch it is known, or at the end.
    """
    last: RowDifference | None = None
    for gap in found:
        if last is not None and (last.end_a, last.end_b) == (gap.start_a, gap.start_b):
            last = RowDifference(last.start_a, gap.end_a, last.start_b, gap.end_b)
            continue
        if last is not None:
            yield last
        last = gap
    if last is not None:
        yield last


# A run's rows for a comparison: whole columns at a time, as there may be hundreds of thousands. Pure.

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
        self.table = copy_table(self.table)
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


def copy_table(table: Table) -> Table:
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
    part_numbers: list[int] = field(default_factory=list[int])
    """By row: the number of its part."""
    index: list[int] = field(default_factory=list[int])
    """By row: its index there."""

    def __post_init__(self) -> None:
        """Bring the rows into their order: by process, and there as they were collected."""
        rows = (
            zip(repeat(each.process), each.table.order, repeat(number))
            for number, each in enumerate(self.parts)
        )
        self.part_numbers = [number for *_, number in sorted(chain.from_iterable(rows))]
        self.index = self.merged([range(len(each.table)) for each in self.parts])

    def merged(self, columns: Sequence[Sequence[int]]) -> list[int]:
        """Return one list with a number for each row of the run, in the order of collection.

        `columns` has a sequence for each part, with a number for each of its rows.
        """
        if len(columns) == 1:
            return list(columns[0])
        streams = [iter(each) for each in columns]
        return [next(streams[number]) for number in self.part_numbers]

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.part_numbers)

    def row(self, number: int) -> CollectedRow:
        """Return the row with index `number`; its `point` is the number of its place, not of a point.

        A place is a pair of points that both runs have.
        """
        part = self.parts[self.part_numbers[number]]
        return part.table.row(self.index[number], part.place)

    def place(self, number: int) -> int:
        """Return the number of the place at which the row with index `number` was collected.

        A place is a pair of points that both runs have.
        """
        return self.parts[self.part_numbers[number]].place

    def compared(self, number: int) -> tuple[str, ...]:
        """Return the cells of a row as they are compared: without addresses, and for calls without times."""
        part, index = self.parts[self.part_numbers[number]], self.index[number]
        return tuple(column[index] for column in part.columns)

    def at(self, place: int) -> list[RunPart]:
        """Return the parts with the rows of a place, one for each process."""
        return [each for each in self.parts if each.place == place]

    def lane(self, number: int) -> Lane:
        """Return which process, thread and task has collected the row with index `number`."""
        part, index = self.parts[self.part_numbers[number]], self.index[number]
        return part.process, part.table.threads[index], part.table.tasks[index]

    def lanes(self) -> dict[Lane, Sequence[int]]:
        """Return the indices of the rows of each process, thread and task, in the order of collection.

        The keys of the dict are tuples of the process's number in the run, the thread and the task, in the order of
        their first rows. The values are indices in this run, from 0. The dict is empty if there are no rows.
        """
        if len({each for part in self.parts for each in set(part.lanes())}) == 1:
            return {self.lane(0): range(len(self))}
        found: dict[Lane, list[int]] = {}
        streams = [part.lanes() for part in self.parts]
        for row, part in enumerate(self.part_numbers):
            found.setdefault(next(streams[part]), []).append(row)
        return dict(found)


def pair_points(a: Iterable[Point], b: Iterable[Point]) -> list[tuple[Point, Point]]:
    """Return the points that two runs have in common, as pairs; a pair's index is the number of the place.

    A point is known by the name of its file (without the folder), its function and its expressions. Several that
    have these in common are paired in the order of path and line, if there are as many in both runs, and else
    left out. The pairs are in the order in which path and line of `a` first have each name.
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
    for each in sorted(points, key=lambda each: (each.path, each.line, each.column)):
        name = PurePath(each.path).name, each.function, each.columns
        named.setdefault(name, []).append(each)
    return named


def rows_of_run(collected: Collected, place_numbers: Mapping[int, int]) -> RunRows:
    """Return a run's rows at some points, in the order of collection; rows of other points are left out.

    A point is a place that collects, a row what it has collected at a hit. `collected` has what the run has
    collected. `place_numbers` has, by the number of a point, the number of its place, a pair of points that
    both runs have. Rows are ordered by process, and within one as they were collected; processes are counted
    from 0, in the order in which their first rows came. The rows are copied: later ones do not join.
    """
    processes = list(dict.fromkeys(process for process, _ in collected.collections))
    return RunRows(
        [
            RunPart(place_numbers[number], processes.index(process), each.table, each.point.calls)
            for (process, number), each in collected.collections.items()
            if number in place_numbers and len(each.table)
        ]
    )


def columns_without_common_values(a: RunRows, b: RunRows) -> dict[ColumnNumbers, tuple[str, str]]:
    """Return the columns in which two runs have no value in common, with the first value of each run.

    They are keyed by pairs of the number of the place (a pair of points that both runs have) and the index of the
    column, from 0. Values are compared without the addresses in them; what is returned for a column is the first
    cell in `a` and in `b`, with addresses. Only places count at which each run has at least `MIN_DIFFERENT_ROWS`
    rows. The dict is empty if there is no such column.
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


def number_rows(
    a: RunRows, b: RunRows, left_out: Mapping[ColumnNumbers, object]
) -> tuple[list[int], list[int], int]:
    """Return each row of a, and each row of b, as a number, and how many places there are.

    A row is what was collected at one hit, a place is a pair of points (places that collect) that both runs
    have, numbered from 0. Rows of one place that are equal, but for the columns `left_out`, have the same
    number; its remainder by the count of places is the number of the place. The keys of `left_out` are pairs
    of a place's number and a column's index, as `constant_differences` gives them; the values are not used.
    The lists are in the order of collection. The count is one more than the highest number of a place with
    rows; it is 1 if there are no rows at all.
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


@dataclass(frozen=True, slots=True)
class Divergence:
    """A place where two runs differ."""

    kind: Literal["data", "flow"]
    """The values of a row differ, or one run has rows that the other has not."""
    index_a: int | None
    """Index of the row in run a; None: it has none any more."""
    index_b: int | None
    columns: Sequence[ColumnNumbers] = ()
    """Those whose values differ."""
    rows: tuple[int, int] = (1, 1)
    """How many rows of each run stand against each other there."""
    lane: Lane = (0, "", "")

    @property
    def position(self) -> tuple[bool, int, bool, int]:
        """A key by which the first difference sorts first: its row in run a, then in run b, the end last."""
        return self.index_a is None, self.index_a or 0, self.index_b is None, self.index_b or 0


@dataclass(slots=True)
class RunComparison:
    """How two runs differ."""

    run_a: RunRows
    run_b: RunRows
    constant_differences: dict[ColumnNumbers, tuple[str, str]] = field(
        default_factory=dict[ColumnNumbers, tuple[str, str]]
    )
    """Columns that differ in every row, and their first values."""
    data: Divergence | None = None
    """The first place of its kind."""
    flow: Divergence | None = None
    changed_counts: Counter[ColumnNumbers] = field(default_factory=Counter[ColumnNumbers])
    """How many rows differ, by column."""
    rows_changed: int = 0
    only_a: int = 0
    """Rows that only run a has."""
    only_b: int = 0
    first_order_difference: int | None = None
    """The first row at which another thread or task was on, where nothing else differs."""

    threads: bool = False
    """Whether a run has several threads or tasks."""

    @property
    def first(self) -> Divergence | None:
        """The first place where the runs differ; None: they do not."""
        found = [each for each in (self.data, self.flow) if each is not None]
        return min(found, key=lambda each: each.position, default=None)

    @property
    def alike(self) -> int:
        """How many rows of run a have an equal row in run b."""
        return len(self.run_a) - self.only_a - self.rows_changed

    def add_difference(self, parting: Divergence) -> None:
        """Count the difference `parting`; keep it in `data` or `flow` if it is the first of its kind.

        First is the one with the smallest `position`; of equal ones, the one added first. A `flow` adds its two
        `rows` to `only_a` and `only_b`; `data` adds one to `rows_changed`, and one for each of its columns to
        `changed_counts`.
        """
        if parting.kind == "flow":
            self.only_a += parting.rows[0]
            self.only_b += parting.rows[1]
            if self.flow is None or parting.position < self.flow.position:
                self.flow = parting
            return
        self.rows_changed += 1
        self.changed_counts.update(parting.columns)
        if self.data is None or parting.position < self.data.position:
            self.data = parting


def compare_runs(a: RunRows, b: RunRows) -> RunComparison:
    """Compare two runs' rows, thread by thread and task by task, and return where they differ.

    The result has the first row whose values differ (`data`), the first rows that only one run has (`flow`), both
    None where there is none, and counts of all differences. Columns in which the runs have no common value are
    not compared, but set apart in `constant_differences`, if both runs have at least `MIN_DIFFERENT_ROWS` rows of
    that place. If `data` and `flow` are None and a run has several threads or tasks, `first_order_difference` is
    the index of the first row at which another thread or task was on; None: there is none, or this was not looked
    at.
    """
    found = RunComparison(a, b, columns_without_common_values(a, b))
    numbers_a, numbers_b, count = number_rows(a, b, found.constant_differences)
    lanes_a, lanes_b = a.lanes(), b.lanes()
    found.threads = max(len(lanes_a), len(lanes_b)) > 1
    for lane, rows_a, rows_b in _paired(lanes_a, lanes_b):
        mine = [numbers_a[row] for row in rows_a]
        other = [numbers_b[row] for row in rows_b]
        for gap in gaps(mine, other):
            left = [each % count for each in mine[gap.start_a : gap.end_a]]
            right = [each % count for each in other[gap.start_b : gap.end_b]]
            inner = [_shift_difference(each, gap) for each in gaps(left, right)]
            for parting in _differences_of_gap(
                found, gap, inner, _ThreadRows(rows_a, rows_b, lane)
            ):
                found.add_difference(parting)
    if found.first is None and lanes_a.keys() == lanes_b.keys() and found.threads:
        found.first_order_difference = next(
            (n for n in range(len(a)) if a.lane(n) != b.lane(n)), None
        )
    return found


def _shift_difference(inner: RowDifference, gap: RowDifference) -> RowDifference:
    """Return the gap `inner`, whose places count from the beginning of `gap`, with places of the whole."""
    a, b = gap.start_a, gap.start_b
    return RowDifference(inner.start_a + a, inner.end_a + a, inner.start_b + b, inner.end_b + b)


@dataclass(frozen=True, slots=True)
class _ThreadRows:
    """The rows of a thread or task in both runs."""

    rows_a: Sequence[int]
    rows_b: Sequence[int]
    lane: Lane


def _paired(
    a: Mapping[Lane, Sequence[int]], b: Mapping[Lane, Sequence[int]]
) -> Iterator[tuple[Lane, Sequence[int], Sequence[int]]]:
    """Yield two runs' threads and tasks with their rows: paired by name, those without a pair in order.

    A sequence is empty if the other run has more of them.
    """
    both = [each for each in a if each in b]
    yield from ((each, a[each], b[each]) for each in both)
    left, right = ([each for each in lanes if each not in both] for lanes in (a, b))
    for mine, other in zip_longest(left, right):
        yield mine or other, a.get(mine, ()), b.get(other, ())


def _differences_of_gap(
    found: RunComparison, gap: RowDifference, inner: Sequence[RowDifference], rows: _ThreadRows
) -> Iterator[Divergence]:
    """Yield the differences of two runs within a gap, in order: of kind "data" for pairs, "flow" for gaps.

    A gap is a stretch in which the rows of the runs differ. `inner` are the gaps within `gap`, in order, that
    remain if only the places of the rows are compared, not their values; all indices count within `rows`, which
    has the rows of the thread in both runs. The rows outside of `inner` have the same places: each pair of them
    gives a "data" difference, with the columns whose values differ, perhaps none. Each of `inner` gives a "flow"
    difference, with the row of either run at its beginning (None: the run has no more rows there) and how many
    rows of each run it has. `found` is the comparison so far, which knows the columns to leave out.
    """
    i, j = gap.start_a, gap.start_b
    end = RowDifference(gap.end_a, gap.end_a, gap.end_b, gap.end_b)
    for each in chain(inner, (end,)):
        for x, y in zip(rows.rows_a[i : each.start_a], rows.rows_b[j : each.start_b], strict=True):
            yield Divergence("data", x, y, columns=_differing_columns(found, x, y), lane=rows.lane)
        i, j = each.end_a, each.end_b
        if each != end:
            x, y = (
                next(iter(run[start : start + 1]), None)
                for run, start in ((rows.rows_a, each.start_a), (rows.rows_b, each.start_b))
            )
            yield Divergence(
                "flow", x, y, rows=(i - each.start_a, j - each.start_b), lane=rows.lane
            )


def _differing_columns(found: RunComparison, x: int, y: int) -> list[ColumnNumbers]:
    """Return the columns, as (place, number), in which two rows of a place differ, constant ones apart.

    `x` and `y` are the indices of the rows in run a and run b. A place is a pair of points that both runs have.
    """
    place = found.run_a.place(x)
    pairs = enumerate(zip(found.run_a.compared(x), found.run_b.compared(y), strict=True))
    columns = ((place, number) for number, (left, right) in pairs if left != right)
    return [each for each in columns if each not in found.constant_differences]


# Where two runs part, as text. Pure.


ROWS_BEFORE = 4
"""Rows before the place where runs part that are told."""
MAX_NAMED_COLUMNS = 6
"""Columns that are told by name."""


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """Two runs, and what of them is told."""

    comparison: RunComparison
    points: Sequence[tuple[Point, Point]]
    """By number of a place, as each of them has it."""
    project: Path

    def lines(self) -> list[str]:
        """Return as lines where the runs part, with the rows before it, and what else differs.

        The runs are named a and b. If they part, the lines are: how they part first, rows before that, the row of each;
        if values and control flow differ, the same on the later one without rows before; the first columns that differ
        in every row, and how many more; the totals. If they do not part, a sentence says so, or that only threads took
        turns otherwise, before these columns. The list is never empty.
        """
        found = self.comparison
        first = found.first
        lines = (
            [self._no_difference_sentence()]
            if first is None
            else [*self._first_difference_lines(first)]
        )
        second = found.flow if first is found.data else found.data
        if first is not None and second is not None:
            lines += [f"Later {self._outcome(second)}", *self._rows(second)]
        if found.constant_differences:
            columns = [
                f"{self._column(each)} {cell_text(a)} | {cell_text(b)}"
                for each, (a, b) in found.constant_differences.items()
            ]
            lines.append(f"In every row: {_join_first(columns)}.")
        return [*lines, *([self._totals()] if first is not None else [])]

    def data(self) -> dict[str, Any]:
        """Return the comparison as a dict: counts of rows, and if the runs differ, where they first do.

        `rows` is a list with the number of rows of run a and of run b. `alike`, `changed`, `only_a` and `only_b` are
        counts, too. Only if the runs differ, there are also `kind` ("data" or "flow") and `parting`, a list with the row of
        run a and that of run b at the first difference: each a dict with `hit`, `values` (by expression), and `file`,
        `line` and `function` as far as they are known, or None where the run has no more rows.
        """
        found, first = self.comparison, self.comparison.first
        facts: dict[str, Any] = {"rows": [len(found.run_a), len(found.run_b)], "alike": found.alike}
        facts |= {"changed": found.rows_changed, "only_a": found.only_a, "only_b": found.only_b}
        if first is not None:
            facts["kind"] = first.kind
            facts["parting"] = [
                self._fields(found.run_a, first.index_a, 0),
                self._fields(found.run_b, first.index_b, 1),
            ]
        return facts

    def _fields(self, run: RunRows, number: int | None, which: int) -> dict[str, Any] | None:
        """Return a row of a run as a dict with its hit, place and values; None: the run has no more rows.

        The keys are `hit`, `values` (by expression), and `file`, `line` and `function` as far as they are not empty. `number` is the
        row's index.

        `which` is 0 for run a and 1 for run b.
        """
        if number is None:
            return None
        row = run.row(number)
        point = self.points[row.point][which]
        values = dict(zip(point.columns, row.cells, strict=True))
        place = {"file": point.path, "line": point.line, "function": point.function}
        return {"hit": row.hit, **{k: v for k, v in place.items() if v}, "values": values}

    def _no_difference_sentence(self) -> str:
        """Return a sentence for two runs that do not part: all is alike, or only the turns of threads differ.

        It is for a `comparison` without a first difference. It tells how many rows there are and, if threads or tasks
        took turns otherwise, at which row of each run that begins; and it mentions differences that are in all rows.
        """
        found, count = self.comparison, len(self.comparison.run_a)
        rows = f"{count:,} row{'' if count == 1 else 's'}"
        besides = " but for what differs in all of them" if found.constant_differences else ""
        if found.first_order_difference is None:
            return f"They do not part: {rows}, the same in both{besides}."
        here, there = (
            self._row(run, found.first_order_difference, which)
            for which, run in enumerate(self._runs)
        )
        return (
            f"Each thread and task did the same in both{besides} ({rows}); they took turns otherwise "
            f"from {here} in a, {there} in b."
        )

    @property
    def _runs(self) -> tuple[RunRows, RunRows]:
        """The rows of run a, and those of run b."""
        return self.comparison.run_a, self.comparison.run_b

    def _first_difference_lines(self, first: Divergence) -> Iterator[str]:
        """Yield lines on the first difference: how the runs part, rows before it, and the row of each.

        At most `ROWS_BEFORE` rows before it are shown of each run, once if they are the same in both, and below a
        heading, which is left out if neither run has any. For a run that has no more rows, a line says so in
        place of its row.
        """
        outcome = self._outcome(first)
        yield f"{outcome[0].upper()}{outcome[1:]}"
        before = [
            [self._row(run, n, which) for n in range(max(0, end - ROWS_BEFORE), end)]
            for which, (run, end) in enumerate(zip(self._runs, self._ends(first), strict=True))
        ]
        if before[0] == before[1]:
            yield from ("Before:", *(f"  {each}" for each in before[0])) if before[0] else ()
        else:
            for name, rows in zip("ab", before, strict=True):
                yield from (f"Before, in {name}:", *(f"  {each}" for each in rows))
        yield from self._rows(first)

    def _ends(self, parting: Divergence) -> tuple[int, int]:
        """Return the index in run a and in run b up to which the rows were the same."""
        a, b = parting.index_a, parting.index_b
        return len(self.comparison.run_a) if a is None else a, len(
            self.comparison.run_b
        ) if b is None else b

    def _rows(self, parting: Divergence) -> Iterator[str]:
        """Yield two lines: the row at which run a, and run b, parts from the other, or that it has no more."""
        for which, (name, number) in enumerate((("a", parting.index_a), ("b", parting.index_b))):
            shown = (
                "no more rows" if number is None else self._row(self._runs[which], number, which)
            )
            yield f"{name} {shown}"

    def _outcome(self, parting: Divergence) -> str:
        """Return a sentence on how the runs part at `parting`: by values or by control flow, and where.

        It begins with a small letter ("values part at …", "control flow parts: …"), so that it can follow a word,
        and ends with a period. Of values it names the first `MAX_NAMED_COLUMNS` columns that differ, not what
        they are in each run; of control flow, where each run goes on, and how many rows only it has.
        """
        a, b = self.comparison.run_a, self.comparison.run_b
        thread = f" in {self._thread_name(parting)}" if self.comparison.threads else ""
        if parting.kind == "data":
            names = [f"`{self.points[place][0].columns[n]}`" for place, n in parting.columns]
            verb = "differs" if len(names) == 1 else "differ"
            place = self._row_place(a, parting.index_a or 0, 0)
            return f"values part{thread} at {place}: {_join_first(names)} {verb}."
        here = None if parting.index_a is None else self._row_place(a, parting.index_a, 0)
        there = None if parting.index_b is None else self._row_place(b, parting.index_b, 1)
        more = [
            f"{count:,} row{'' if count == 1 else 's'} only in {name}"
            for name, count in zip("ab", parting.rows, strict=True)
            if count
        ]
        where = f"a goes on to {here}, b to {there}"
        if here is None or there is None:
            ends, other = (
                ("a", f"b goes on to {there}") if here is None else ("b", f"a goes on to {here}")
            )
            where = f"{ends} collects no more, {other}"
        elif (
            parting.index_a is not None
            and parting.index_b is not None
            and a.place(parting.index_a) == b.place(parting.index_b)
            and (here == there or not self.points[a.place(parting.index_a)][0].calls)
        ):
            where = f"one comes by {here} more often"
        return f"control flow parts{thread}: {where} ({', '.join(more)})."

    @staticmethod
    def _thread_name(parting: Divergence) -> str:
        """Return the name of the task or thread in which the runs part."""
        _, thread, task = parting.lane
        return task or thread or "the main thread"

    def _place(self, place: int, which: int) -> str:
        """Return the function, or the file and line, of a place in run a (`which` is 0) or run b (1)."""
        point = self.points[place][which]
        return (
            point.function
            or f"{relative_to_project(point.path, self.project)}:{place_in_file((point.line, point.column))}"
        )

    def _row_place(self, run: RunRows, number: int, which: int) -> str:
        """Return where the row with index `number` was collected; of a call, its function."""
        row = run.row(number)
        if self.points[row.point][which].calls:
            return row.cells[FUNCTION]
        return self._place(row.point, which)

    def _row(self, run: RunRows, number: int, which: int) -> str:
        """Return the row with index `number` of a run as a line of text, with its hit, place and values.

        A row is what a point has recorded once. The line reads `#HIT PLACE [THREAD]: NAME = VALUE, …`, or for a
        point that records whole calls `#HIT [THREAD] ` and the call, without a place. `which` is 0 for run a
        and 1 for run b. The thread or task is named only if the compared runs have several.
        """
        row = run.row(number)
        point = self.points[row.point][which]
        names = point.columns
        if point.calls:
            who = f" [{row.task or row.thread}]" if self.comparison.threads else ""
            return f"#{row.hit}{who} {call_text(row.cells, point.expressions)}"
        values = ", ".join(
            f"{name} = {cell_text(cell)}" for name, cell in zip(names, row.cells, strict=True)
        )
        who = f" [{row.task or row.thread}]" if self.comparison.threads else ""
        return f"#{row.hit} {self._place(row.point, which)}{who}{f': {values}' if values else ''}"

    def _column(self, column: ColumnNumbers) -> str:
        """Return the name of a column and its place, as text."""
        place, number = column
        return f"`{self.points[place][0].columns[number]}` at {self._place(place, 0)}"

    def _totals(self) -> str:
        """Return a sentence on how many rows are alike, differ, and are only in one run.

        For the rows that differ, the first `MAX_NAMED_COLUMNS` columns are named each with the number of rows
        that differ there, the most first, and how many more columns there are. What is zero is left out, except
        the number of rows that are alike.
        """
        found = self.comparison
        names = [
            f"{self._column(each)} {count:,}" for each, count in found.changed_counts.most_common()
        ]
        parts = [f"{found.alike:,} row{'' if found.alike == 1 else 's'} alike"]
        verb = "differs" if found.rows_changed == 1 else "differ"
        parts += [f"{found.rows_changed:,} {verb} ({_join_first(names)})"] * bool(
            found.rows_changed
        )
        parts += [f"{found.only_a:,} only in a"] * bool(found.only_a)
        parts += [f"{found.only_b:,} only in b"] * bool(found.only_b)
        return f"In all: {', '.join(parts)}."


def _join_first(texts: Sequence[str]) -> str:
    """Return the first texts with commas between them, and how many more there are."""
    left = len(texts) - MAX_NAMED_COLUMNS
    return ", ".join([*texts[:MAX_NAMED_COLUMNS], *([f"{left} more"] if left > 0 else [])])
