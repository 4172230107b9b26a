"""What a program has collected, in all its processes, and which programs' rows are kept. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from dapeer.collecting.rows.row_blocks import BlockPart
from dapeer.collecting.rows.table import HEAD, CollectedRow, Table, in_order, lines_by_point
from dapeer.companions.python.dapeer_debuggee.collecting import row_format
from dapeer.dap.messages import Body, Event, Message
from dapeer.dap.requested_breakpoints import Place

# Where a program collects, and the rows of one such point in one process. Pure.

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
    is_internal: bool = False
    """Its rows are nobody's to list: they tell of the watching itself."""
    calls: bool = False
    """Its rows are calls that are over; of several functions, with commas between their names."""
    expect: str = ""
    """What is to hold there; the last expression tells whether it does."""
    column: int = 0
    """Tells it from others of its line; 0: it has none."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What each cell of a row is, by name: for calls, those of `OF_CALLS` come before the expressions."""
        return (*OF_CALLS, *self.expressions) if self.calls else self.expressions


@dataclass(slots=True)
class Collection:
    """The rows of one point in one process."""

    point: Point
    process: int
    """The process id if the process itself writes the rows (`TRACER`), else the number of its session."""
    table: Table
    recorded_by: str = ""
    """How the rows come: `TRACER` or `LOG`."""
    hits: int = 0
    """How often the program came by, as far as it has told."""
    forgotten_rows: int = 0
    """Rows that were here once, and for which there was no room."""
    unreadable: int = 0
    """Lines that were no rows."""
    is_log_point_gone: bool = False
    """Its log point is gone, since it has brought all rows that were wanted."""
    reported_counts: dict[str, int] = field(default_factory=dict[str, int])
    """By client how many rows it has been told of."""
    started: float = 0.0
    """From when its rows count seconds."""
    row_counts: Mapping[int, int] = field(default_factory=dict[int, int])
    """By process of the program how many rows have come."""

    def remove(self) -> None:
        """Set `is_log_point_gone`: its log point is gone, since it has brought all rows that were wanted."""
        self.is_log_point_gone = True

    def has_unreported_rows(self, client: str) -> bool:
        """Return whether there are rows that a client was not told of."""
        return self.count > self.reported_counts.get(client, 0)

    def mark_reported(self, client: str) -> None:
        """Record that a client was told of all rows that there are now."""
        self.reported_counts[client] = self.count

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

        Rows of calls are in the order of the calls' ends. `first` is added to their numbers among the rows of the process;
        `started` is the time (seconds since 1970) from which the rows count seconds, and replaces that of earlier rows.
        `hits` is raised to the highest number of a hit among the new rows, if that is higher. If there are more than
        `MAX_POINT_ROWS` rows then, the oldest ones behind the first `FIRST_ROWS` are dropped, and counted in
        `forgotten_rows`.
        """
        self.started = started
        self.table.join(rows, first)
        self.hits = max(
            self.hits, self.table.newest(len(rows) if self.point.calls else min(len(rows), 1))
        )
        self._drop_oldest()

    def count_unreadable(self, lines: int) -> None:
        """Count lines that were no rows."""
        self.unreadable += lines

    def _drop_oldest(self) -> None:
        """Drop the oldest rows behind the first `FIRST_ROWS`, if there are more than `MAX_POINT_ROWS`.

        At least a tenth of that number is dropped at once. What is dropped is counted in `forgotten_rows`.
        """
        excess = len(self.table) - MAX_POINT_ROWS
        if excess > 0:
            # Many at once: what is cut out of the middle of a list moves the rest of it.
            count = max(excess, MAX_POINT_ROWS // 10)
            self.table.forget(count, FIRST_ROWS)
            self.forgotten_rows += count

    @property
    def dropped(self) -> int:
        """How many hits have no row here, because later rows have taken the room of theirs.

        Hits beyond the point's `max_hits` do not count. Of calls, only forgotten rows count, as calls without a row may still run.
        """
        if self.point.calls:
            return self.forgotten_rows
        due = min(self.hits, self.point.max_hits) if self.point.max_hits else self.hits
        return max(0, due - len(self.table))

    @property
    def count(self) -> int:
        """How many rows there were so far, those that were forgotten included."""
        return len(self.table) + self.forgotten_rows

    def unreported(self, client: str) -> Table:
        """Return the rows that a client was not told of, as far as they are kept; nothing is marked."""
        seen_rows = self.reported_counts.get(client, 0)
        return self.table.last(self.count - seen_rows) if seen_rows else self.table

    @property
    def seconds(self) -> float:
        """Seconds from the first row to the last; 0.0: there are no rows."""
        if not len(self.table):
            return 0.0
        return self.table.row(len(self.table) - 1).seconds - self.table.row(0).seconds


ROW = "dapeerRow"
"""Marks output as a row, made from a log point's: the number of its `point`, and its `cells`."""
REMOVED = "dapeerRemoved"
"""Tells that the log points of a `point` are gone, since they have brought all rows that were wanted."""
KEPT_FIELDS = 4_000_000
"""Fields of rows that are kept in all, some hundred bytes each."""
KEPT_RUNS = 2
"""Programs whose rows are kept in any case: so many are compared."""


@dataclass(slots=True)
class Collected:
    """The rows of a program."""

    points: dict[int, Point] = field(default_factory=dict[int, Point])
    _known: dict[tuple[object, ...], Point] = field(default_factory=dict[tuple[object, ...], Point])
    """The points of places, by what was requested."""
    _numbers_by_place: dict[Place, list[int]] = field(default_factory=dict[Place, list[int]])
    """The numbers of the points of a place."""
    collections: dict[tuple[int, int], Collection] = field(
        default_factory=dict[tuple[int, int], Collection]
    )
    """By process and point, in the order in which they came."""
    _collections_by_point: dict[int, list[Collection]] = field(
        default_factory=dict[int, list[Collection]]
    )
    """The same by point alone."""
    has_dropped_rows: bool = False
    """Whether there were rows that had to make room for those of later programs."""
    lost_rows: dict[int, int] = field(default_factory=dict[int, int])
    """By process the rows that it could not write."""
    why_lost: str = ""
    """Why some could not be written, as the system says it; empty: it has not said."""
    _lost_reported: dict[str, int] = field(default_factory=dict[str, int])
    """By client how many of these it has been told of."""
    overwritten: dict[int, int] = field(default_factory=dict[int, int])
    """By process the rows whose room later ones have taken, in its file."""
    called: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    """Points and functions that were called; their calls may not be over."""
    _rows: dict[int, int] = field(default_factory=dict[int, int])
    """By process how many rows have come."""

    def ensure_point(
        self,
        expressions: Sequence[str],
        *,
        path: str = "",
        line: int = 0,
        column: int = 0,
        function: str = "",
        client: str = "",
        max_hits: int = 0,
        calls: bool = False,
        expect: str = "",
    ) -> Point:
        """Return the point with these properties; if there is none yet, add one with the next number.

        A point is a place at which a program collects; each of its hits gives a row. `expressions` are what is
        recorded at each hit. The place is `path`, `line` and `column` (from 1; 0: none), or else `function`, a
        name. `client` is the key of the client that has asked for the point, empty if none has. `max_hits` is the
        number of rows after which no more are taken (0: all are taken). `calls` says that each row is a call of
        the function that is over. `expect` is an expression that must hold (empty: none). Points of watches are
        never returned.
        """
        place = path, line, function, tuple(expressions), client, max_hits
        identity = (*place, "", False, calls, expect, column)
        known = self._known.get(identity)
        if known is None:
            known = self._known[identity] = self._add(Point(len(self.points) + 1, *identity))
        return known

    def add_watch_point(
        self, watch: str, expressions: Sequence[str], client: str = "", *, aside: bool = False
    ) -> Point:
        """Add a new point for what a program is run until, and return it.

        `watch` is its title; with `aside` its rows, on the watching itself, are not listed.
        """
        identity = ("", 0, "", tuple(expressions), client, 0, watch, aside)
        return self._add(Point(len(self.points) + 1, *identity))

    def _add(self, point: Point) -> Point:
        """Add a point under its number and its place; return it."""
        self.points[point.number] = point
        self._numbers_by_place.setdefault((point.path, point.line, point.column), []).append(
            point.number
        )
        return point

    def of_point(self, number: int) -> Sequence[Collection]:
        """Return the collections of a point by its number, one for each process; empty: it has none."""
        return self._collections_by_point.get(number, ())

    def rows_of(self, point: Point) -> Iterator[CollectedRow]:
        """Yield all rows of a point, those of one process after those of the other."""
        for each in self.of_point(point.number):
            yield from (each.table.row(index, point.number) for index in range(len(each.table)))

    @property
    def listed(self) -> list[Collection]:
        """The collections that callers are shown: those without rows on the watching itself."""
        return [each for each in self.collections.values() if not each.point.is_internal]

    @property
    def fields(self) -> int:
        """How many fields all rows have together, cells and others."""
        tables = (each.table for each in self.collections.values())
        return sum(len(each) * (HEAD + each.width) for each in tables)

    def drop_all_rows(self) -> None:
        """Drop all rows, to make room for later programs; set `has_dropped_rows` if there were any."""
        self.has_dropped_rows = self.has_dropped_rows or self.fields > 0
        self.collections.clear()
        self._collections_by_point.clear()

    def collection_of(self, process: int, number: int, recorded_by: str = "") -> Collection | None:
        """Return the collection of a point in a process, by their numbers; it is made if it is new.

        `process` is a process id for rows that the process itself writes (`TRACER`), and the number of its session for
        others (`LOG`, and those of a watch that dapeer drives). `number` is the point's. None: there is no such
        point. `recorded_by` is how the rows come: `TRACER`, `LOG`, a watch's method or empty; a collection that exists
        keeps its own.
        """
        point = self.points.get(number)
        if point is None:
            return None
        key = process, number
        if key not in self.collections:
            table = Table(len(point.columns))
            new = Collection(point, process, table, recorded_by, row_counts=self._rows)
            self.collections[key] = new
            self._collections_by_point.setdefault(number, []).append(new)
        return self.collections[key]

    def add(self, process: int, row: CollectedRow, recorded_by: str) -> None:
        """Add one row of a process, which came by itself; its point is in the row.

        A row of an unknown point, or with another number of cells than the point has, is dropped. `recorded_by` is how it
        comes (`TRACER`, `LOG` or a watch's method); it counts only where the row is the first of its point in the process.
        """
        collection = self.collection_of(process, row.point, recorded_by)
        if collection is None or len(row.cells) != collection.table.width:
            return
        order = self._rows[process] = self._rows.get(process, 0) + 1
        collection.add(row, order)

    def add_part(
        self, process: int, part: BlockPart, recorded_by: str, started: float = 0.0
    ) -> None:
        """Add the rows that a process has written, sorted by point; rows of unknown points are dropped.

        A point is a place that collects, a row what it has collected at a hit. `part` has rows as lines of text and
        as tables; a table with another number of columns than its point is dropped, too. `process` is a process id.
        `recorded_by` is how the rows come (`TRACER` or `LOG`): it is kept in collections that are made here, and
        selects nothing. `started` is the time (seconds since 1970) from which the rows count their seconds: it is
        set in their collections, and no row is dropped for it. Lines that are no rows are counted in the collection
        of their point. If a collection has more than `MAX_POINT_ROWS` rows then, old ones are forgotten, and
        counted.
        """
        first = self._rows.get(process, 0) + 1
        self._rows[process] = first + part.count
        found: dict[int, Table] = {}
        for number, (lines, order) in lines_by_point(part.text, part.order).items():
            collection = self.collection_of(process, number, recorded_by)
            if collection is not None:
                found[number] = Table(collection.table.width)
                collection.count_unreadable(found[number].extend(lines, order))
        for number, table in part.tables:
            collection = self.collection_of(process, number, recorded_by)
            if collection is None or collection.table.width != table.width:
                continue
            if number in found:
                found[number].join(table)
            else:
                found[number] = table
        for number, table in found.items():
            self.collections[process, number].add_table(table.in_order(), first, started)

    def note_calls(self, process: int, called: Iterable[tuple[int, str]], overwritten: int) -> None:
        """Record which functions a process has called, and how many of its rows are overwritten.

        `called` has pairs of a point's number and a function.
        """
        self.called.update(called)
        self.overwritten[process] = overwritten

    def record_lost_rows(self, process: int, count: int, reason: str) -> None:
        """Record how many rows a process could not write in all, and the system's reason (empty: not known)."""
        self.lost_rows[process] = count
        self.why_lost = reason or self.why_lost

    @property
    def complete(self) -> bool:
        """Whether no row was lost, so that a point without rows was not reached."""
        return not any(self.lost_rows.values())

    def take_newly_lost(self, client: str) -> int:
        """Return how many rows could not be written in all, if the client was not told of all of them; else 0.

        The client counts as told from then on.
        """
        lost = sum(self.lost_rows.values())
        seen, self._lost_reported[client] = self._lost_reported.get(client, 0), lost
        return lost if lost > seen else 0

    def may_have_reached(self, place: Place) -> bool:
        """Return whether a process has come by a point at this place, or may have, because rows are lost."""
        numbers = self._numbers_by_place.get(place, ())
        if numbers and not self.complete:
            return True
        return any(each.hits for number in numbers for each in self.of_point(number))

    def rows(self, process: int) -> Iterator[CollectedRow]:
        """Yield the rows of a process, of all its points, in the order in which they were collected.

        A point is a place that collects, a row what it has collected at a hit. `process` is the process id where the
        process itself writes the rows (`TRACER`), else the number of its session (`LOG`); one that has collected
        nothing has no rows. Rows of internal points, which tell of the watching itself, are among them.
        """
        tables = [
            (number, each.table)
            for (collection_of, number), each in self.collections.items()
            if collection_of == process
        ]
        return in_order(tables)


@dataclass(slots=True)
class CollectedOutputReader:
    """Takes in what one process collects, as its output tells it."""

    collected: Collected
    process: int
    """The number of its session."""
    _started_at: float | None = None

    def may_have_reached(self, place: Place) -> bool:
        """Return whether some process of the program has come by a point at this place."""
        return self.collected.may_have_reached(place)

    def filled_point(self, message: Message) -> int:
        """Return the number of the point of which `message` has brought the last wanted row; 0: of none."""
        row = message.body.get(ROW) if isinstance(message, Event) else None
        number = int(row.get("point") or 0) if row else 0
        rows = self.collected.collections.get((self.process, number))
        return number if rows and 0 < rows.point.max_hits == rows.hits else 0

    def note_removed(self, body: Body) -> None:
        """Record that the log points of the point `body["point"]` are gone, since they have brought all rows."""
        for each in self.collected.of_point(int(body.get("point") or 0)):
            each.remove()

    def add_row(self, body: Body, row_time: float) -> None:
        """Add a row that came at `row_time` (seconds): `body` has the number of its `point`, and its `cells`."""
        self._started_at = row_time if self._started_at is None else self._started_at
        point, cells = int(body.get("point") or 0), tuple(map(str, body.get("cells") or ()))
        row = CollectedRow(point, 0, row_time - self._started_at, "", "", "", cells)
        self.collected.add(self.process, row, LOG)


def drop_oldest_rows(ended: Sequence[Collected]) -> None:
    """Drop the rows of programs that ended first, if all together have more than `KEPT_FIELDS` fields.

    `ended` is in the order of their ends. The last `KEPT_RUNS` keep theirs in any case.
    """
    total = 0
    for number, program in enumerate(reversed(ended)):
        total += program.fields
        if number >= KEPT_RUNS and total > KEPT_FIELDS:
            program.drop_all_rows()


# What a program is run until: an expression that holds, or a value that changes. Pure.


On = Literal["true", "change", "write"]
"""Until an expression holds, or changes within a call; or until a value is written where it is now."""

_WORDS = {"true": "until", "change": "changes of", "write": "writes of"}


@dataclass(slots=True)
class Watch:
    """One request to run until something."""

    expression: str
    on: On
    every: bool
    """Each line that does it is recorded, and none stops the program."""
    point: Point
    """Its rows have `row_format.WATCH_COLUMNS`."""
    look_point: Point
    """Its rows have `row_format.LOOK_COLUMNS`."""
    method: str = ""
    epoch: int = 0
    """The number of the stop at which it began."""
    seconds: float = 0
    """How long the program has run until it stopped or ended; 0: it runs."""
    is_next_line: bool = False
    """The line shown is the one that the program came to next: which ran before is unknown there."""
    may_have_returned: bool = False
    """The shown line may have been its call's last: then the rest of the line that called has run, too."""
    others_ran: bool = False
    """Other threads ran beside that line, and nobody looked which of them has done it."""
    holds_already: bool = False
    """It holds where the program is stopped, which has not moved."""
    unlooked_lines: str = ""
    """The lines that were not looked at, where the line that did it may be one of them."""
    cost: str = ""
    """What a method has taken that can be counted."""

    def begin(self, method: str, epoch: int, *, holds: bool = False) -> None:
        """Set the number of the stop at which it begins, how it runs, and whether it holds there already.

        `method` is how it runs; `holds` says whether the expression holds at that stop, which counts only for `on="true"` without `every`:
        then `holds_already` is set.
        """
        self.method, self.epoch = method, epoch
        self.holds_already = holds and self.on == "true" and not self.every

    def explain_method(self, why: str) -> None:
        """Append to `method` why it runs so, and in no better way."""
        self.method = f"{self.method}, as {why}"

    def set_doubts(
        self,
        *,
        seen: bool = False,
        returned: bool = False,
        others: bool = False,
        passed_by: str = "",
    ) -> None:
        """Set the doubts about the line that has done it; those that are left out are set to none.

        Args:
            seen: The line shown is the one that the program came to next (`is_next_line`).
            returned: The line shown may have been the last of its call, so that the rest of the calling line has run, too.
            others: Other threads ran beside that line, which were not looked at.
            passed_by: Lines that were not looked at, as text, one of which may have done it (`unlooked_lines`).
        """
        self.is_next_line, self.may_have_returned, self.others_ran, self.unlooked_lines = (
            seen,
            returned,
            others,
            passed_by,
        )

    def set_run_seconds(self, seconds: float) -> None:
        """Set how long the program has run until it stopped or ended."""
        self.seconds = seconds

    def end(self, epoch: int, cost: str) -> None:
        """Set the number of the stop at which it is over, and what it has cost, as text."""
        self.epoch, self.cost = epoch, cost


def add_watch(
    collected: Collected, expression: str, on: On, client: str, *, every: bool = False
) -> Watch:
    """Add the two points of a watch to `collected`, and return the watch.

    A watch is a request to run the program until something happens; a point is a place that collects rows. One
    point is for the changes that the watch looks for (`WATCH_COLUMNS`), the other for the looking itself: the
    first value in each function, and errors (`LOOK_COLUMNS`). The program is not told of them: the caller does
    so. `on` is "true" (until `expression` holds), "change" (until its value changes) or "write" (until the
    place that it names is written). `client` is the key of the client that asks. With `every`, each line by
    which this happens is recorded, and none stops the program.
    """
    name = f"{_WORDS[on]} {expression}"
    return Watch(
        expression,
        on,
        every,
        collected.add_watch_point(name, row_format.WATCH_COLUMNS, client),
        collected.add_watch_point(name, row_format.LOOK_COLUMNS, client, aside=True),
    )
