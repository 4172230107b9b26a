"""What the collection points of a program have collected, in all its processes. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dapeer.mirror.rows import Row, Table, by_point, in_order

MOST_ROWS = 1_000_000
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


@dataclass(slots=True)
class Collection:
    """The rows of one point in one process."""

    point: Point
    process: int
    """The number of its session."""
    table: Table
    road: str = ""
    """How the rows come: `tracer` or `log`."""
    hits: int = 0
    """How often the program came by, as far as it has told."""
    dropped: int = 0
    """Rows that were not kept; most are older than the last that are."""
    unreadable: int = 0
    """Lines that were no rows."""
    told: dict[str, int] = field(default_factory=dict[str, int])
    """By client the hits that it has been told of."""

    @property
    def seconds(self) -> float:
        """From the first row to the last."""
        if not len(self.table):
            return 0.0
        return self.table.row(len(self.table) - 1).seconds - self.table.row(0).seconds


class Collected:
    """The rows of a program."""

    def __init__(self) -> None:
        self.points: dict[int, Point] = {}
        self.collections: dict[tuple[int, int], Collection] = {}
        """By process and point, in the order in which they came."""
        self._rows: dict[int, int] = {}
        """By process how many rows have come."""

    def point(
        self,
        expressions: Sequence[str],
        *,
        path: str = "",
        line: int = 0,
        function: str = "",
        client: str = "",
    ) -> Point:
        """Return the point of a place and its expressions; a new number where there is none yet."""
        wanted = (path, line, function, tuple(expressions), client)
        for known in self.points.values():
            if (known.path, known.line, known.function, known.expressions, known.client) == wanted:
                return known
        point = Point(len(self.points) + 1, *wanted)
        self.points[point.number] = point
        return point

    def of(self, process: int, number: int, road: str = "") -> Collection | None:
        """Return the collection of a point in a process, a new one where there is none; None: there is no such point."""
        point = self.points.get(number)
        if point is None:
            return None
        key = process, number
        if key not in self.collections:
            table = Table(len(point.expressions))
            self.collections[key] = Collection(point, process, table, road)
        return self.collections[key]

    def add(self, process: int, row: Row, road: str) -> None:
        """Take in one row, which came by itself."""
        collection = self.of(process, row.point, road)
        if collection is None or len(row.cells) != collection.table.width:
            return
        order = self._rows[process] = self._rows.get(process, 0) + 1
        collection.hits += 1
        collection.table.add(row._replace(hit=collection.hits), order)
        _bound(collection)

    def extend(self, process: int, text: str, road: str) -> None:
        """Take in lines, each a row, which a process has written."""
        first = self._rows.get(process, 0) + 1
        self._rows[process] = first + text.count("\n")
        for number, (lines, order) in by_point(text, first).items():
            collection = self.of(process, number, road)
            if collection is not None:
                collection.unreadable += collection.table.extend(lines, order)
                collection.hits = max(collection.hits, len(collection.table))
                _bound(collection)

    def rows(self, process: int) -> Iterator[Row]:
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
        collection.dropped += count
