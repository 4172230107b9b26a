"""The rows of several places, threads and processes as one list, in the order of collection. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from dapeer.collecting.rows.collection import OF_CALLS, Collection
from dapeer.collecting.text.call_lines import as_text
from dapeer.collecting.text.column_lines import (
    ALL_ROWS,
    ODD_ROWS,
    WHO,
    ShownColumns,
    shown_columns,
    value,
)
from dapeer.collecting.text.summary import place_of, readable

MAX_LISTED_ROWS = 40
"""Rows that are listed; of more those at the ends, and those around the odd ones."""
ROWS_AT_ENDS = 5
ROWS_AROUND = 2
"""Rows before and after an odd one."""
PAUSE_SECONDS = 0.1
"""Seconds between two rows from which on they are told."""


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One row."""

    at: float
    order: int
    who: tuple[str, str, str]
    """Process, thread and task."""
    text: str
    why: str
    """What is odd about it."""


def timeline(
    rows: Sequence[tuple[Collection, Sequence[int]]],
    project: Path,
    chosen: slice,
    *,
    whole: bool = False,
) -> list[str]:
    """Return rows of several collections as lines in the order of time, with place and thread.

    The first line has the count of all; of many rows the ends and the odd ones are shown.

    Args:
        rows: The collections, and the indices of the rows of each that are wanted.
        project: The folder to which paths are relative.
        chosen: Which rows of all of them, from 0.
        whole: Leave none of them out.
    """
    every = sorted(
        chain.from_iterable(_entries(each, indices, project) for each, indices in rows),
        key=lambda entry: (entry.at, entry.order),
    )
    heads = [line for each, _ in rows for line in _head(each, project)]
    several = [len({entry.who[part] for entry in every}) > 1 for part in range(3)]
    picked = [*enumerate(every, 1)][chosen]
    shown_ones = {number for number, _ in picked}
    if len(picked) > MAX_LISTED_ROWS and not whole:
        odd = [number for number, entry in picked if entry.why][:ODD_ROWS]
        ends = [picked[0][0] + ROWS_AT_ENDS, picked[-1][0] - ROWS_AT_ENDS]
        shown_ones = {
            number
            for number in shown_ones
            if number < ends[0]
            or number > ends[1]
            or any(abs(number - each) <= ROWS_AROUND for each in odd)
        }
    return [f"{len(every):,} rows in order", *heads, *_lines(picked, shown_ones, several)]


def _lines(
    picked: Sequence[tuple[int, TimelineRow]], shown_ones: set[int], several: Sequence[bool]
) -> Iterator[str]:
    """Yield the picked rows as lines, each numbered, and for rows that are not shown a range of numbers.

    `picked` are pairs of number and row; `shown_ones` are the numbers to show. `several` says whether there are several processes,
    threads and tasks, which are named then.
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
        later = entry.at - before.at if before is not None else 0
        pause = f" ({later:.3g} s later)" if later >= PAUSE_SECONDS else ""
        process, thread, task = entry.who
        names = [
            process if several[0] else "",
            task or (thread if several[1] or several[2] else ""),
        ]
        who = f" [{', '.join(filter(None, names))}]" if any(names) else ""
        odd = f"  ← {entry.why}" if entry.why else ""
        yield f"#{number}{who} {entry.text}{pause}{odd}"
        before = entry


def _entries(
    collection: Collection, indices: Sequence[int], project: Path
) -> Iterator[TimelineRow]:
    """Yield an entry for each wanted row of a point in a process.

    `indices` are the rows' indices in the collection's table. An entry's `at` is in seconds since 1970, if the collection knows when its
    rows began, else since the first row. Paths are relative to `project`.
    """
    point = collection.point
    table, names = readable(point, collection.table, project)
    place = place_of(point, project)
    found = None if point.calls else shown_columns(table, names)
    why = {} if found is None else _why(found)
    times = table.times()
    for index in indices:
        cells = [column[index] for column in table.cells]
        if found is None:
            text = as_text(cells, names[len(OF_CALLS) :])
        else:
            text = f"{place} {_values(found, names, cells)}".rstrip()
        who = f"process {collection.process}", table.threads[index], table.tasks[index]
        yield TimelineRow(
            collection.started + times[index], table.order[index], who, text, why.get(index, "")
        )


def _why(found: ShownColumns) -> dict[int, str]:
    """Return the first thing that is odd about a row, by row index."""
    why: dict[int, str] = {}
    for name, each in found.columns.items():
        for odd in each.odd:
            why.setdefault(odd.index, f"{found.short(name)} {odd.why}")
    return why


def _values(found: ShownColumns, names: Sequence[str], cells: Sequence[str]) -> str:
    """Return the values of a row as text, `name = value` for each column, with commas between them.

    `cells` are the row's, `names` those of the columns. If `found` has more than `ALL_ROWS` rows, constant columns are left out.
    """
    always = found.constant if len(found.table) > ALL_ROWS else {}
    return ", ".join(
        f"{found.short(name)} = {value(cell)}"
        for name, cell in zip(names, cells, strict=True)
        if name not in always
    )


def _head(collection: Collection, project: Path) -> Iterator[str]:
    """Yield lines on what is true of all rows of a point: short names, and columns that do not change."""
    if collection.point.calls:
        return
    place = place_of(collection.point, project)
    found = shown_columns(*readable(collection.point, collection.table, project))
    for name, short in found.names.items():
        yield f"{place}: {short} is {name}"
    always = found.constant if len(found.table) > ALL_ROWS else {}
    constants = [
        f"{found.short(name)} = {value(text)}" for name, text in always.items() if name not in WHO
    ]
    if constants:
        yield f"{place}: always {', '.join(constants)}"
