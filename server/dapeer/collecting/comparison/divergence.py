"""Where two runs part that have collected at the same points. Pure.

Rows are compared thread by thread and task by task, since the order between these is nobody's. What differs in every row of a point, such as
a time, says nothing of where runs part: it is told apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Literal

from dapeer.collecting.comparison.alignment import Gap, gaps
from dapeer.collecting.comparison.run_rows import ColumnNumbers, Lane, RunRows, always, numbered


@dataclass(frozen=True, slots=True)
class Parting:
    """A place where two runs differ."""

    kind: Literal["data", "flow"]
    """The values of a row differ, or one run has rows that the other has not."""
    a: int | None
    """Index of the row in run a; None: it has none any more."""
    b: int | None
    columns: Sequence[ColumnNumbers] = ()
    """Those whose values differ."""
    rows: tuple[int, int] = (1, 1)
    """How many rows of each run stand against each other there."""
    lane: Lane = (0, "", "")

    @property
    def position(self) -> tuple[bool, int, bool, int]:
        """A key by which the first difference sorts first: its row in run a, then in run b, the end last."""
        return self.a is None, self.a or 0, self.b is None, self.b or 0


@dataclass(slots=True)
class RunComparison:
    """How two runs differ."""

    a: RunRows
    b: RunRows
    always: dict[ColumnNumbers, tuple[str, str]] = field(
        default_factory=dict[ColumnNumbers, tuple[str, str]]
    )
    """Columns that differ in every row, and their first values."""
    data: Parting | None = None
    """The first place of its kind."""
    flow: Parting | None = None
    changed: Counter[ColumnNumbers] = field(default_factory=Counter[ColumnNumbers])
    """How many rows differ, by column."""
    rows_changed: int = 0
    only_a: int = 0
    """Rows that only run a has."""
    only_b: int = 0
    order: int | None = None
    """The first row at which another thread or task was on, where nothing else differs."""

    threads: bool = False
    """Whether a run has several threads or tasks."""

    @property
    def first(self) -> Parting | None:
        """The first place where the runs differ; None: they do not."""
        found = [each for each in (self.data, self.flow) if each is not None]
        return min(found, key=lambda each: each.position, default=None)

    @property
    def alike(self) -> int:
        """How many rows of run a have an equal row in run b."""
        return len(self.a) - self.only_a - self.rows_changed

    def take(self, parting: Parting) -> None:
        """Count a difference, and keep it in `data` or `flow` if it is the first of its kind by position."""
        if parting.kind == "flow":
            self.only_a += parting.rows[0]
            self.only_b += parting.rows[1]
            if self.flow is None or parting.position < self.flow.position:
                self.flow = parting
            return
        self.rows_changed += 1
        self.changed.update(parting.columns)
        if self.data is None or parting.position < self.data.position:
            self.data = parting


def compare_runs(a: RunRows, b: RunRows) -> RunComparison:
    """Compare two runs' rows, thread by thread and task by task, and return where they differ.

    Columns that differ in every row are set apart in `always`. If nothing else differs, `order` is the first row at which another thread
    or task was on.
    """
    found = RunComparison(a, b, always(a, b))
    numbers_a, numbers_b, count = numbered(a, b, found.always)
    lanes_a, lanes_b = a.lanes(), b.lanes()
    found.threads = max(len(lanes_a), len(lanes_b)) > 1
    for lane, rows_a, rows_b in _paired(lanes_a, lanes_b):
        mine = [numbers_a[row] for row in rows_a]
        other = [numbers_b[row] for row in rows_b]
        for gap in gaps(mine, other):
            left = [each % count for each in mine[gap.start_a : gap.end_a]]
            right = [each % count for each in other[gap.start_b : gap.end_b]]
            inner = [_moved(each, gap) for each in gaps(left, right)]
            for parting in _partings(found, gap, inner, _Rows(rows_a, rows_b, lane)):
                found.take(parting)
    if found.first is None and lanes_a.keys() == lanes_b.keys() and found.threads:
        found.order = next((n for n in range(len(a)) if a.lane(n) != b.lane(n)), None)
    return found


def _moved(inner: Gap, gap: Gap) -> Gap:
    """Return the gap `inner`, whose places count from the beginning of `gap`, with places of the whole."""
    a, b = gap.start_a, gap.start_b
    return Gap(inner.start_a + a, inner.end_a + a, inner.start_b + b, inner.end_b + b)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a thread or task in both runs."""

    a: Sequence[int]
    b: Sequence[int]
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


def _partings(
    found: RunComparison, gap: Gap, inner: Sequence[Gap], rows: _Rows
) -> Iterator[Parting]:
    """Yield the differences of a gap: rows of one place are paired, the `inner` gaps are rows of one run.

    `inner` has the gaps that remain if only the places of the rows are compared; `rows` has the rows of the thread in both runs.
    """
    i, j = gap.start_a, gap.start_b
    end = Gap(gap.end_a, gap.end_a, gap.end_b, gap.end_b)
    for each in chain(inner, (end,)):
        for x, y in zip(rows.a[i : each.start_a], rows.b[j : each.start_b], strict=True):
            yield Parting("data", x, y, columns=_unlike(found, x, y), lane=rows.lane)
        i, j = each.end_a, each.end_b
        if each != end:
            x, y = (
                next(iter(run[start : start + 1]), None)
                for run, start in ((rows.a, each.start_a), (rows.b, each.start_b))
            )
            yield Parting("flow", x, y, rows=(i - each.start_a, j - each.start_b), lane=rows.lane)


def _unlike(found: RunComparison, x: int, y: int) -> list[ColumnNumbers]:
    """Return the columns, as (place, number), in which two rows of a place differ, but for `always`.

    `x` and `y` are the indices of the rows in run a and run b. A place is a pair of points that both runs have.
    """
    place = found.a.place(x)
    pairs = enumerate(zip(found.a.compared(x), found.b.compared(y), strict=True))
    columns = ((place, number) for number, (left, right) in pairs if left != right)
    return [each for each in columns if each not in found.always]
