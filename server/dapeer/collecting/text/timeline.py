"""The rows of several places, threads and processes: in order of time, and the new ones. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

from dapeer.base.json_types import Json
from dapeer.base.text.fitting import fitted
from dapeer.collecting.rows.collected import OF_CALLS, Collected, Collection, Watch
from dapeer.collecting.rows.table import Table
from dapeer.collecting.text.call_lines import call_text
from dapeer.collecting.text.column_lines import (
    ALL_ROWS,
    ODD_ROWS,
    WHO,
    ShownColumns,
    cell_text,
    shown_columns,
)
from dapeer.collecting.text.row_listing import value_of
from dapeer.collecting.text.summary import (
    place_of,
    readable_rows,
    summary,
    title,
    visible_collections,
)

# Collected rows for a page: a plot of each column of numbers, the odd rows, and the last ones. Pure.

LAST_ROWS = 12
"""Rows that are shown, the last ones."""
MAX_PLOT_PLACES = 160
"""Places of a plot, at most; each tells the least and the greatest number there."""
EXPRESSION_CHARS = 80
"""Characters of an expression."""


def page_of_rows(collection: Collection, project: Path) -> Json:
    """Return what a person's page shows of a point's rows, as JSON.

    A point is a place that collects. The keys are `title`, `plots` (for each column with two numbers or more
    its `name`, and what `_plot` returns), `columns` (names), `rows` (the first `ODD_ROWS` odd ones and the
    last `LAST_ROWS`, in their order, as lists of texts: `#` and the number of the hit, then a text for each
    column) and `why` (for each of these rows, why it is odd; empty: it is not). Rows of a point that records
    calls never count as odd. A row that is not whole yet is left out. Paths are relative to `project`.
    """
    table, names = readable_rows(collection.point, collection.table, project)
    # A row that comes right now is not whole yet.
    count = min(map(len, table.cells), default=len(table))
    plots = [
        {"name": fitted(name, EXPRESSION_CHARS), **plot}
        for name, cells in zip(names, table.cells, strict=True)
        if (plot := _plot(cells, table.hits)) is not None
    ]
    why = {} if collection.point.calls else _oddities_of_live_rows(table, names, collection.dropped)
    last = range(max(0, count - LAST_ROWS), count)
    indices = sorted({*[index for index in sorted(why) if index < count][:ODD_ROWS], *last})
    return {
        "title": title(collection, project),
        "plots": plots,
        "columns": [fitted(each, EXPRESSION_CHARS) for each in names],
        "rows": [[f"#{row.hit}", *map(cell_text, row.cells)] for row in map(table.row, indices)],
        "why": [why.get(index, "") for index in indices],
    }


def _oddities_of_live_rows(table: Table, names: Sequence[str], dropped: int) -> dict[int, str]:
    """Return why rows of a collection are odd, by row index, all reasons of a row in one text.

    `table` has the collection's rows, and `names` are the names of its `cells`, in their order. `dropped` is
    the number of rows that were not kept: unless it is 0, a step of a value over a gap where rows were dropped
    is not odd. Rows that are not odd are left out of the dict, which is empty for a table without rows.
    """
    if not len(table):
        return {}
    found = shown_columns(table, names)
    # The page has the whole expressions above the rows.
    found.names.clear()
    if dropped:
        found.note_gaps(table.missing_hits_by_row())
    return {index: "; ".join(each) for index, each in found.oddities_by_row().items()}


def _plot(cells: Sequence[str], hits: Sequence[str]) -> Json | None:
    """Return a plot of a column's numbers, with the keys `low`, `high`, `band` and `hits`.

    `low` and `high` are the least and the greatest number of all. `band` has at most `MAX_PLOT_PLACES` places,
    each for some successive rows: a list of the least and greatest number there, or None without a number. The
    key `hits` has the number of the hit at which each place begins, and that of the last row. `cells` are the
    column's texts, `hits` the number of each row's hit, as text. None: the column has fewer than two numbers.
    """
    numbers = [_number(each) for each in cells]
    known = [each for each in numbers if each is not None]
    if len(known) < 2:
        return None
    count = min(MAX_PLOT_PLACES, len(numbers))
    starts = [step * len(numbers) // count for step in range(count + 1)]
    parts = (numbers[start:end] for start, end in pairwise(starts))
    steps = [[each for each in part if each is not None] for part in parts]
    band = [[min(part), max(part)] if part else None for part in steps]
    ends = [int(hits[each]) for each in (*starts[:-1], len(numbers) - 1)]
    return {"low": min(known), "high": max(known), "band": band, "hits": ends}


def _number(cell: str) -> float | None:
    """Return the number that a cell's text stands for, as a float.

    None: the text is no number, or a boolean, or its number is not finite or too large for a float.
    """
    found = value_of(cell)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        number = float(found)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


MAX_POINTS = 8
"""Points of which a snapshot tells."""
MAX_NEW_IN_ORDER = 12
"""New rows of several points that a snapshot tells in one order; more are summed up."""
MAX_ORDERED_ROWS = 2000
"""Rows that are put in order for that, those told before included."""
LOST = "{:,} row{} lost: the program could not write what it collected{}"
MAX_LISTED_ROWS = 60
"""Rows that are listed; of more those at the ends, and those around the odd ones."""
ROWS_AT_ENDS = 5
ROWS_AROUND = 2
"""Rows before and after an odd one."""
PAUSE_SECONDS = 0.1
"""Seconds between two rows from which on they are told."""


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One row."""

    collection: Collection
    index: int
    """In the collection's table."""
    time: float
    order: int
    context: tuple[str, str, str]
    """Process, thread and task."""
    text: str
    oddity: str
    """What is odd about it."""


def timeline(
    rows: Sequence[tuple[Collection, Sequence[int]]],
    project: Path,
    chosen: slice,
    *,
    all_rows: bool = False,
) -> list[str]:
    """Return rows of several collections as lines in the order of time, with place and thread.

    The first line has the count of all rows; then come lines on what all rows of a place have in common. Each
    row begins with its number in this order, from 1. Of more than `MAX_LISTED_ROWS` chosen rows only the ends
    and those around the first `ODD_ROWS` odd ones are shown, with a range of numbers for the others. A process
    is named only where there are several, a thread where there are several threads or tasks; a row's task is always
    named, in place of its thread.

    Args:
        rows: The collections, and the indices of the rows of each that are wanted.
        project: The folder to which paths are relative.
        chosen: Which of all these rows, by their position in the order of time, from 0, are shown.
        all_rows: Leave none of the chosen ones out.
    """
    every = _sorted(_entries(each, indices, project) for each, indices in rows)
    heads = [line for each, _ in rows for line in _head(each, project)]
    several = [len({entry.context[part] for entry in every}) > 1 for part in range(3)]
    picked = [*enumerate(every, 1)][chosen]
    shown_ones = {number for number, _ in picked}
    if len(picked) > MAX_LISTED_ROWS and not all_rows:
        odd = [number for number, entry in picked if entry.oddity][:ODD_ROWS]
        ends = [picked[0][0] + ROWS_AT_ENDS, picked[-1][0] - ROWS_AT_ENDS]
        shown_ones = {
            number
            for number in shown_ones
            if number < ends[0]
            or number > ends[1]
            or any(abs(number - each) <= ROWS_AROUND for each in odd)
        }
    return [f"{len(every):,} rows in order", *heads, *_lines(picked, shown_ones, several)]


def _sorted(entries: Iterable[Iterable[TimelineRow]]) -> list[TimelineRow]:
    """Return the entries of all collections in the order of time."""
    return sorted(chain.from_iterable(entries), key=lambda entry: (entry.time, entry.order))


def _lines(
    picked: Sequence[tuple[int, TimelineRow]], shown_ones: set[int], several: Sequence[bool]
) -> Iterator[str]:
    """Yield the shown rows as numbered lines, and ranges of numbers for picked rows that are not shown.

    `picked` are pairs of number and row; `shown_ones` are the numbers to show, of which the last of `picked` must
    be one, as a range is yielded only before a shown row. `several` are three flags: whether there are several
    processes, threads and tasks. A process is named if the first is set, a thread if one of the others is; a row's
    task, if it has one, is always named, in place of its thread. From `PAUSE_SECONDS` on, the time since the row
    before is told, except after a range.
    """
    before: TimelineRow | None = None
    left_out: list[int] = []
    for number, entry in picked:
        if number not in shown_ones:
            left_out.append(number)
            continue
        if left_out:
            yield f"… #{left_out[0]}-{left_out[-1]}"
            left_out = []
            before = None
        later = entry.time - before.time if before is not None else 0
        pause = f" ({later:.3g} s later)" if later >= PAUSE_SECONDS else ""
        process, thread, task = entry.context
        names = [
            process if several[0] else "",
            task or (thread if several[1] or several[2] else ""),
        ]
        who = f" [{', '.join(filter(None, names))}]" if any(names) else ""
        odd = f"  ← {entry.oddity}" if entry.oddity else ""
        yield f"#{number}{who} {entry.text}{pause}{odd}"
        before = entry


def _entries(
    collection: Collection, indices: Sequence[int], project: Path
) -> Iterator[TimelineRow]:
    """Yield an entry for each wanted row of a point (a place that collects) in a process.

    `indices` are the rows' indices in the collection's table; the entries come in their order. An entry's `time` is in
    seconds since 1970, if it is known when the process began to collect, else since that moment. Its oddity is empty
    for a row with nothing odd, and for each row of a point that collects calls. Paths are relative to `project`.
    """
    point = collection.point
    table, names = readable_rows(point, collection.table, project)
    place = place_of(point, project)
    found = None if point.calls else shown_columns(table, names)
    why = {} if found is None else _oddities_by_row(found)
    times = table.times()
    for index in indices:
        cells = [column[index] for column in table.cells]
        if found is None:
            text = call_text(cells, names[len(OF_CALLS) :])
        else:
            text = f"{place} {_values(found, names, cells)}".rstrip()
        who = f"process {collection.process}", table.threads[index], table.tasks[index]
        at, odd = collection.started + times[index], why.get(index, "")
        yield TimelineRow(collection, index, at, table.order[index], who, text, odd)


def _oddities_by_row(found: ShownColumns) -> dict[int, str]:
    """Return the first thing that is odd about a row, by row index."""
    why: dict[int, str] = {}
    for name, each in found.columns.items():
        for odd in each.odd_rows:
            why.setdefault(odd.index, f"{found.short(name)} {odd.reason}")
    return why


def _values(found: ShownColumns, names: Sequence[str], cells: Sequence[str]) -> str:
    """Return the values of a row as text, `name = value` for each column, with commas between them.

    `cells` are the row's, `names` those of the columns, in the same order and number; columns are shown by
    their short names in `found`. If `found` has more than `ALL_ROWS` rows, constant columns are left out.
    """
    always = found.constant if len(found.table) > ALL_ROWS else {}
    return ", ".join(
        f"{found.short(name)} = {cell_text(cell)}"
        for name, cell in zip(names, cells, strict=True)
        if name not in always
    )


def _head(collection: Collection, project: Path) -> Iterator[str]:
    """Yield lines on what is true of all rows of a point: short names, and columns that do not change.

    Each line begins with the point's place, relative to `project` if its file is in that folder. Columns
    that do not change, but for thread, task and caller, are told in a last line, and only of more than
    `ALL_ROWS` rows. For a point that collects calls nothing is yielded. The collection must have rows.
    """
    if collection.point.calls:
        return
    place = place_of(collection.point, project)
    found = shown_columns(*readable_rows(collection.point, collection.table, project))
    for name, short in found.names.items():
        yield f"{place}: {short} is {name}"
    always = found.constant if len(found.table) > ALL_ROWS else {}
    constants = [
        f"{found.short(name)} = {cell_text(text)}"
        for name, text in always.items()
        if name not in WHO
    ]
    if constants:
        yield f"{place}: always {', '.join(constants)}"


def news_lines(collections: Iterable[Collection], project: Path, client: str = "") -> list[str]:
    """Return lines on what is new for a client in several collections.

    A collection has the rows of one point (a place that collects). Collections without rows are left out. Few
    new rows of several points are one list in the order of time, without points that have no new row; not so
    if one of them records calls, is a watch, or expects something. Otherwise each of the first `MAX_POINTS`
    points has a summary, which is only a head line if none of its rows is new, so callers pass collections
    with news; then a line counts the points beyond these, and, if several points that do not record calls
    have new rows, one names the tool for the whole order. Empty: no collection has rows. `client` is the
    client's key; an empty one has been told of nothing. Nothing is marked as reported. Paths are relative to
    `project`.
    """
    every = [each for each in collections if len(each.table)]
    fresh = [each for each in every if len(each.unreported(client))]
    if _goes_in_order(fresh, client):
        return _in_order(fresh, project, client)
    lines = [line for each in every[:MAX_POINTS] for line in summary(each, project, client)]
    if len(every) > MAX_POINTS:
        lines.append(f"{len(every) - MAX_POINTS} more points: dap_collected")
    if sum(not each.point.calls for each in fresh) > 1:
        lines.append("all in one order: dap_collected(timeline=true)")
    return lines


def _goes_in_order(fresh: Sequence[Collection], client: str) -> bool:
    """Return whether new rows are told as one list in the order of time: they are few, of several points.

    `fresh` are the collections with rows that are new for `client` (its key): two at least, `MAX_POINTS` at most.
    They may have `MAX_NEW_IN_ORDER` new rows together, and `MAX_ORDERED_ROWS` with the old ones. Calls, watches
    and points where something is expected are never told so, nor is a point with more new rows than `ALL_ROWS`,
    whose summary has facts that a list does not show.
    """
    plain = all(not (each.point.calls or each.point.expect or each.point.watch) for each in fresh)
    new = [len(each.unreported(client)) for each in fresh]
    return (
        plain
        and 1 < len(fresh) <= MAX_POINTS
        and sum(new) <= MAX_NEW_IN_ORDER
        and max(new) <= ALL_ROWS
        and sum(len(each.table) for each in fresh) <= MAX_ORDERED_ROWS
    )


def _in_order(fresh: Sequence[Collection], project: Path, client: str) -> list[str]:
    """Return lines: a title for each point, then the new rows of all points in the order of time.

    A point is a place that collects. First comes a title for each point, then lines on what is true of all
    its rows (short names, columns that do not change), then a line for each new row, indented by two spaces.
    `fresh` are the collections with rows that are new for `client` (its key); no row is marked as told here.
    Paths are relative to `project`. A row's number is its place, from 1, among all rows of these points, told
    ones included.
    """
    told = {id(each): len(each.table) - len(each.unreported(client)) for each in fresh}
    every = _sorted(_entries(each, range(len(each.table)), project) for each in fresh)
    several = [len({entry.context[part] for entry in every}) > 1 for part in range(3)]
    picked = [
        (number, entry)
        for number, entry in enumerate(every, 1)
        if entry.index >= told[id(entry.collection)]
    ]
    titles = [
        title(
            each, project, new=len(each.unreported(client)) * bool(each.reported_counts.get(client))
        )
        for each in fresh
    ]
    heads = [line for each in fresh for line in _head(each, project)]
    lines = _lines(picked, {number for number, _ in picked}, several)
    return [*titles, *heads, *(f"  {each}" for each in lines)]


@dataclass(frozen=True, slots=True)
class CollectedNews:
    """What was collected since a client's last answer."""

    lines: Sequence[str]
    until_lines: Sequence[str]
    """What became of runs until something."""
    has_come_about: bool
    """One of these has come about."""


def take_collected_news(
    collected: Collected, client: str, project: Path, outcomes: Sequence[tuple[Watch, str, bool]]
) -> CollectedNews:
    """Return what was collected since a client's last answer, and mark it as reported.

    `outcomes` has each watch with a sentence on its outcome, and whether it has come about; the sentences
    are in `until_lines`. Rows of a watch that stops the program are marked, too, but not listed among the
    `lines`; these also tell of rows that were lost.
    """
    # The line that has stopped it is in what became of the run.
    stopping = [watch.point for watch, _, _ in outcomes if not watch.every]
    found = [
        each for each in visible_collections(collected, client) if each.has_unreported_rows(client)
    ]
    rest = [each for each in found if not any(each.point is point for point in stopping)]
    lines = [*news_lines(rest, project, client), *_lost_rows_lines(collected, client)]
    for each in found:
        each.mark_reported(client)
    came_about = any(done for *_, done in outcomes)
    return CollectedNews(lines, [text for _, text, _ in outcomes], came_about)


def _lost_rows_lines(collected: Collected, client: str) -> Iterator[str]:
    """Yield a line on how many rows the program could not write, if the client was not told.

    Mark it as told.
    """
    mine = any(each.client in {"", client} for each in collected.points.values())
    if mine and (lost := collected.take_newly_lost(client)):
        why = f" ({collected.why_lost})" if collected.why_lost else ""
        yield LOST.format(lost, "" if lost == 1 else "s", why)
