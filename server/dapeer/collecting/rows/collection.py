"""Where a program collects, and the rows of one such point in one process. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dapeer.collecting.rows.table import CollectedRow, Table
from dapeer.companions.python.dapeer_debuggee.collecting import row_format

LOG = "log points"
TRACER = "tracer"

OF_CALLS = row_format.CALL_COLUMNS
OF_LIVES = row_format.LIFE_COLUMNS

MAX_POINT_ROWS = 200_000
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
        """What each cell of a row is, by name: for calls, those of `OF_CALLS` come before the expressions."""
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
        """Set `removed`: its log point is gone, since it has brought all rows that were wanted."""
        self.removed = True

    def is_news(self, client: str) -> bool:
        """Return whether there are rows that a client was not told of."""
        return self.count > self.reported.get(client, 0)

    def mark_reported(self, client: str) -> None:
        """Record that a client was told of all rows that there are now."""
        self.reported[client] = self.count

    def add(self, row: CollectedRow, order: int) -> None:
        """Count a hit, and add its row, unless the point has all rows that it takes.

        `order` is the row's number among all rows of its process; the row's own `hit` is replaced by the count.
        """
        self.hits += 1
        if not 0 < self.point.max_hits < self.hits:
            self.table.add(row._replace(hit=self.hits), order)
            self._drop_oldest()

    def add_table(self, rows: Table, first: int, started: float) -> None:
        """Add rows that a process has written, in the order of their hits.

        Calls are in the order of their ends. `first` is added to their numbers among the rows of the process; `started` is the time
        (seconds since 1970) from which they count seconds, and replaces that of earlier rows.
        """
        self.started = started
        self.table.join(rows, first)
        self.hits = max(
            self.hits, self.table.newest(len(rows) if self.point.calls else min(len(rows), 1))
        )
        self._drop_oldest()

    def skip(self, lines: int) -> None:
        """Count lines that were no rows."""
        self.unreadable += lines

    def _drop_oldest(self) -> None:
        """Drop the oldest rows behind the first `FIRST_ROWS`, if there are more than `MAX_POINT_ROWS`."""
        excess = len(self.table) - MAX_POINT_ROWS
        if excess > 0:
            # Many at once: what is cut out of the middle of a list moves the rest of it.
            count = max(excess, MAX_POINT_ROWS // 10)
            self.table.forget(count, FIRST_ROWS)
            self.forgotten += count

    @property
    def dropped(self) -> int:
        """How many hits have no row here, because later rows have taken the room of theirs.

        Hits beyond the point's `max_hits` do not count. Of calls, only forgotten rows count, as calls without a row may still run.
        """
        if self.point.calls:
            return self.forgotten
        due = min(self.hits, self.point.max_hits) if self.point.max_hits else self.hits
        return max(0, due - len(self.table))

    @property
    def count(self) -> int:
        """How many rows there were so far, those that were forgotten included."""
        return len(self.table) + self.forgotten

    def unreported(self, client: str) -> Table:
        """Return the rows that a client was not told of, as far as they are kept; nothing is marked."""
        seen_rows = self.reported.get(client, 0)
        return self.table.last(self.count - seen_rows) if seen_rows else self.table

    @property
    def seconds(self) -> float:
        """Seconds from the first row to the last; 0.0: there are no rows."""
        if not len(self.table):
            return 0.0
        return self.table.row(len(self.table) - 1).seconds - self.table.row(0).seconds
