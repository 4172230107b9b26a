"""What the collection points of a program have collected, in all its processes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dapeer.collecting.rows.row_blocks import BlockPart
from dapeer.collecting.rows.table import HEAD, CollectedRow, Table, by_point, in_order

ROW = "dapeerRow"
"""Marks output as a row, made from a log point's: the number of its `point`, and its `cells`."""
LOG = "log points"
TRACER = "tracer"

OF_CALLS = ("function", "depth", "took", "arguments", "result", "changed", "within")
"""What `dapeer_calls` writes before expressions; `took` in seconds, `within` the call around."""
OF_LIVES = ("file", "line", "changed")
"""The columns of the lines of one call, as `dapeer_life` writes them in the debuggee."""

MOST_ROWS = 200_000
"""Rows of one point in one process; the oldest are forgotten first, but for the first ones."""
FIRST_ROWS = 10_000
"""Rows that are kept in any case."""


@dataclass(frozen=True, slots=True)
class Point:
    """Where a program collects, and what."""

    number: int
    path: str
    """Empty where it is a function's."""
    line: int
    function: str
    expressions: tuple[str, ...]
    client: str = ""
    """Who has asked for it; empty: whoever."""
    max_hits: int = 0
    """Rows after which no more are taken; 0: all are."""
    watch: str = ""
    """What is watched, where it is no place: each row is a line that did it."""
    aside: bool = False
    """Its rows are nobody's to list: they tell of the watching itself."""
    calls: bool = False
    """Its rows are calls that are over; of several functions, with commas between their names."""
    expect: str = ""
    """What is to hold there; the last expression tells whether it does."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What each cell of a row is."""
        return (*OF_CALLS, *self.expressions) if self.calls else self.expressions


@dataclass(slots=True)
class Collection:
    """The rows of one point in one process."""

    point: Point
    process: int
    """The number of its session."""
    table: Table
    road: str = ""
    """How the rows come: `TRACER` or `LOG`."""
    hits: int = 0
    """How often the program came by, as far as it has told."""
    forgotten: int = 0
    """Rows that were here once, and for which there was no room."""
    unreadable: int = 0
    """Lines that were no rows."""
    removed: bool = False
    """Its log point is gone, since it has brought all rows that were wanted."""
    reported: dict[str, int] = field(default_factory=dict[str, int])
    """By client how many rows it has been told of."""
    started: float = 0.0
    """From when its rows count seconds."""
    among: Mapping[int, int] = field(default_factory=dict[int, int])
    """By process of the program how many rows have come."""

    def remove(self) -> None:
        """Take note that its log point is gone, since it has brought all rows that were wanted."""
        self.removed = True

    def is_news(self, client: str) -> bool:
        """Whether there are rows that a client was not told of."""
        return self.count > self.reported.get(client, 0)

    def mark_reported(self, client: str) -> None:
        """Take note that a client was told of all rows."""
        self.reported[client] = self.count

    def take_rows(self, rows: int) -> None:
        """Take note of so many new rows: calls are in the order of their ends, all else in that of hits."""
        self.hits = max(self.hits, self.table.newest(rows if self.point.calls else min(rows, 1)))

    @property
    def dropped(self) -> int:
        """Rows that were not kept: later ones have taken their room. Calls may instead not be over."""
        if self.point.calls:
            return self.forgotten
        due = min(self.hits, self.point.max_hits) if self.point.max_hits else self.hits
        return max(0, due - len(self.table))

    @property
    def count(self) -> int:
        """How many rows there were so far, those that were dropped here included."""
        return len(self.table) + self.forgotten

    def unreported(self, client: str) -> Table:
        """Return the rows that a client was not told of, as far as they are kept."""
        seen_rows = self.reported.get(client, 0)
        return self.table.last(self.count - seen_rows) if seen_rows else self.table

    @property
    def seconds(self) -> float:
        """From the first row to the last."""
        if not len(self.table):
            return 0.0
        return self.table.row(len(self.table) - 1).seconds - self.table.row(0).seconds


@dataclass(slots=True)
class Collected:
    """The rows of a program."""

    points: dict[int, Point] = field(default_factory=dict[int, Point])
    _known: dict[tuple[object, ...], Point] = field(default_factory=dict[tuple[object, ...], Point])
    """The points of places, by what was requested."""
    _at: dict[tuple[str, int], list[int]] = field(default_factory=dict[tuple[str, int], list[int]])
    """The numbers of the points of a file and a line."""
    collections: dict[tuple[int, int], Collection] = field(
        default_factory=dict[tuple[int, int], Collection]
    )
    """By process and point, in the order in which they came."""
    _of: dict[int, list[Collection]] = field(default_factory=dict[int, list[Collection]])
    """The same by point alone."""
    given_up: bool = False
    """Whether there were rows that had to make room for those of later programs."""
    lost: dict[int, int] = field(default_factory=dict[int, int])
    """By process the rows that it could not write."""
    lost_for: str = ""
    """Why some could not be written, as the system says it; empty: it has not said."""
    _lost_reported: dict[str, int] = field(default_factory=dict[str, int])
    """By client how many of these it has been told of."""
    overwritten: dict[int, int] = field(default_factory=dict[int, int])
    """By process the rows whose room later ones have taken, in its file."""
    called: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    """Points and functions that were called; their calls may not be over."""
    _rows: dict[int, int] = field(default_factory=dict[int, int])
    """By process how many rows have come."""

    def point(
        self,
        expressions: Sequence[str],
        *,
        path: str = "",
        line: int = 0,
        function: str = "",
        client: str = "",
        max_hits: int = 0,
        calls: bool = False,
        expect: str = "",
    ) -> Point:
        """Return the point of a place and its expressions; a new number where there is none yet."""
        place = path, line, function, tuple(expressions), client, max_hits
        identity = (*place, "", False, calls, expect)
        known = self._known.get(identity)
        if known is None:
            known = self._known[identity] = self._add(Point(len(self.points) + 1, *identity))
        return known

    def watched(
        self, watch: str, expressions: Sequence[str], client: str = "", *, aside: bool = False
    ) -> Point:
        """Return a new point for what is watched."""
        identity = ("", 0, "", tuple(expressions), client, 0, watch, aside)
        return self._add(Point(len(self.points) + 1, *identity))

    def _add(self, point: Point) -> Point:
        self.points[point.number] = point
        self._at.setdefault((point.path, point.line), []).append(point.number)
        return point

    def of_point(self, number: int) -> Sequence[Collection]:
        """Return what was collected at a point, by one process after the other."""
        return self._of.get(number, ())

    def rows_of(self, point: Point) -> Iterator[CollectedRow]:
        """Yield the rows of a point, of one process after the other."""
        for each in self.of_point(point.number):
            yield from (each.table.row(index, point.number) for index in range(len(each.table)))

    @property
    def fields(self) -> int:
        """How many fields all rows have."""
        tables = (each.table for each in self.collections.values())
        return sum(len(each) * (HEAD + each.width) for each in tables)

    def give_up(self) -> None:
        """Forget all rows, to make room."""
        self.given_up = self.given_up or self.fields > 0
        self.collections.clear()
        self._of.clear()

    def of(self, process: int, number: int, road: str = "") -> Collection | None:
        """Return a point's collection in a process, new where there is none; None: there is no such point."""
        point = self.points.get(number)
        if point is None:
            return None
        key = process, number
        if key not in self.collections:
            table = Table(len(point.columns))
            new = Collection(point, process, table, road, among=self._rows)
            self.collections[key] = new
            self._of.setdefault(number, []).append(new)
        return self.collections[key]

    def add(self, process: int, row: CollectedRow, road: str) -> None:
        """Take in one row, which came by itself."""
        collection = self.of(process, row.point, road)
        if collection is None or len(row.cells) != collection.table.width:
            return
        order = self._rows[process] = self._rows.get(process, 0) + 1
        collection.hits += 1
        if 0 < collection.point.max_hits < collection.hits:
            return
        collection.table.add(row._replace(hit=collection.hits), order)
        _bound(collection)

    def take(self, process: int, part: BlockPart, road: str, started: float = 0.0) -> None:
        """Take in rows that a process has written, which count seconds from a time on."""
        first = self._rows.get(process, 0) + 1
        self._rows[process] = first + part.count
        found: dict[int, Table] = {}
        for number, (lines, order) in by_point(part.text, part.order).items():
            collection = self.of(process, number, road)
            if collection is not None:
                collection.started = started
                found[number] = Table(collection.table.width)
                collection.unreadable += found[number].extend(lines, order)
        for number, table in part.tables:
            collection = self.of(process, number, road)
            if collection is None or collection.table.width != table.width:
                continue
            collection.started = started
            if number in found:
                found[number].join(table)
            else:
                found[number] = table
        for number, table in found.items():
            collection = self.collections[process, number]
            collection.table.join(table.in_order(), first)
            collection.take_rows(len(table))
            _bound(collection)

    def call(self, process: int, called: Iterable[tuple[int, str]], overwritten: int) -> None:
        """Take note of a process's calls, by point and function, and of how many of its rows are overwritten."""
        self.called.update(called)
        self.overwritten[process] = overwritten

    def lose(self, process: int, count: int, reason: str) -> None:
        """Take note of how many rows a process could not write, and why."""
        self.lost[process] = count
        self.lost_for = reason or self.lost_for

    @property
    def complete(self) -> bool:
        """Whether all rows have come, so that what has none was not come by."""
        return not any(self.lost.values())

    def newly_lost(self, client: str) -> int:
        """Return how many rows the processes could not write, if the client has not seen all; then it has."""
        lost = sum(self.lost.values())
        seen, self._lost_reported[client] = self._lost_reported.get(client, 0), lost
        return lost if lost > seen else 0

    def reached(self, path: str, line: int) -> bool:
        """Whether some process has come by a collection point, or may have: its rows are lost."""
        numbers = self._at.get((path, line), ())
        if numbers and not self.complete:
            return True
        return any(each.hits for number in numbers for each in self.of_point(number))

    def rows(self, process: int) -> Iterator[CollectedRow]:
        """Yield the rows of a process, of all its points, in the order in which they were collected."""
        tables = [
            (number, each.table) for (of, number), each in self.collections.items() if of == process
        ]
        return in_order(tables)


def _bound(collection: Collection) -> None:
    excess = len(collection.table) - MOST_ROWS
    if excess > 0:
        # Many at once: what is cut out of the middle of a list moves the rest of it.
        count = max(excess, MOST_ROWS // 10)
        collection.table.forget(count, FIRST_ROWS)
        collection.forgotten += count
