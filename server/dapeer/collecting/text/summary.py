"""What points have collected, summarised, and what of it is new for a client. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from dapeer.base.sources import relative_to_project
from dapeer.base.text.fitting import shortened
from dapeer.collecting.rows.collected import TRACER, Collected, Collection, Point, Watch
from dapeer.collecting.rows.table import FAILED, CollectedRow, Table
from dapeer.collecting.text.calls import tree_lines
from dapeer.collecting.text.column_lines import (
    ALL_ROWS,
    cell_text,
    lines_on_columns,
    odd_row_lines,
    shown_columns,
    unexpected_lines,
)
from dapeer.companions.python.dapeer_debuggee.collecting import row_format
from dapeer.dap.requested_breakpoints import place_in_file

MIN_ROWS_FOR_RATE = 1000
"""Rows from which on it is told how fast they came."""
EXPECTED = "expected"
"""The column that tells whether what is expected at a point holds."""
GONE = "(gone)"
"""Stands for a value that is not there, or not any more."""


def summary(collection: Collection, project: Path, client: str = "") -> list[str]:
    """Return lines on the rows of a point in a process that are new for a client: a title, then the rows.

    A point is a place that collects; a row is what it has collected at a hit. The title says where it was and how
    much came; without new rows it is the only line. The other lines are indented by two spaces. For calls they are
    a tree. Where something is expected, one line says that all rows fit, or lines on the columns precede the rows
    that do not fit, each after the row before it. Else they are lines on the columns, and behind them the rows: all
    if there are at most `ALL_ROWS`, else the first, odd ones and the last, with a line for those between. `client`
    is the client's key; an empty one has been told of nothing, so all rows are new. Paths are relative to
    `project`. Nothing is marked as reported.
    """
    table, names = readable_rows(collection.point, collection.unreported(client), project)
    if not len(table):
        return [f"{title(collection, project)}"]
    new = len(table) if collection.reported_counts.get(client) else 0
    if collection.point.calls:
        lines = tree_lines(table, collection.point.expressions)
        return [title(collection, project, new=new), *(f"  {each}" for each in lines)]
    if collection.point.expect:
        unexpected_rows = unexpected_lines(table, names, collection.point.expect)
        return [title(collection, project, new=new), *(f"  {each}" for each in unexpected_rows)]
    found = shown_columns(table, names)
    if collection.dropped:
        found.note_gaps(table.missing_hits_by_row())
    few = len(table) <= ALL_ROWS
    lines = [title(collection, project, found.constant.get("caller", ""), new)]
    lines += [f"  {each}" for each in lines_on_columns(found, few=few)]
    rows = (found.row(index) for index in range(len(table))) if few else odd_row_lines(found)
    return [*lines, *(f"  {each}" for each in rows)]


def title(collection: Collection, project: Path, caller: str = "", new: int = 0) -> str:
    """Return a line on a point: where it is, its number of rows and of `new` ones, and what recorded them.

    A point is a place that collects; each hit gives a row, or a call. `new` is how many of the rows are new; 0 is
    left out. `caller` is the function that has called the point's each time; empty: there is not one such
    function, and none is named. The line also tells the hits if they are more than the rows, rows that were
    dropped or unreadable, the rate from `MIN_ROWS_FOR_RATE` rows on, whether the breakpoint was removed, and the
    process (or session, if no process has recorded the rows itself) if several have collected.
    """
    point, table = collection.point, collection.table
    place = place_of(point, project)
    count = len(table)
    what = "call" if point.calls else "row"
    parts = [
        f"{count:,} {what}{'' if count == 1 else 's'}{f', {new:,} of them new' if new else ''}"
    ]
    parts += ["then removed"] * collection.is_log_point_gone
    hits = "begun" if point.calls else "hits by then" if collection.is_log_point_gone else "hits"
    parts += [f"{collection.hits:,} {hits}"] * (collection.hits > count)
    parts += [f"{collection.dropped:,} rows dropped"] * bool(collection.dropped)
    parts += [f"{collection.unreadable:,} unreadable"] * bool(collection.unreadable)
    if count >= MIN_ROWS_FOR_RATE and collection.seconds > 0:
        made = count + collection.dropped
        parts.append(
            f"{collection.recorded_by} {(made - 1) / collection.seconds:,.0f} a second".strip()
        )
    elif collection.recorded_by:
        parts.append(collection.recorded_by)
    place += f" from {caller}" if caller else ""
    of = "process" if collection.recorded_by == TRACER else "session"
    place += f" in {of} {collection.process}" if len(collection.row_counts) > 1 else ""
    return f"{place}: {', '.join(parts)}"


def place_of(point: Point, project: Path) -> str:
    """Return where a point (a place that collects) is, as a text.

    That is `calls of FUNCTION` for a point that records calls; else the expression that is watched, else the
    function's name, else `FILE:LINE` or `FILE:LINE:COLUMN`. FILE is relative to the folder `project` if it is in
    that.
    """
    if point.calls:
        return f"calls of {point.function}"
    return (
        point.watch
        or point.function
        or f"{relative_to_project(point.path, project)}:{place_in_file((point.line, point.column))}"
    )


def readable_rows(point: Point, table: Table, project: Path) -> tuple[Table, Sequence[str]]:
    """Return a point's rows and the names of their columns, as a reader gets them.

    Where something is expected at the point, `table` itself comes back, and the last name is `expected`. For a
    watch that has rows, a new table comes back, which shares all columns but the cells with `table`: function,
    file and line become one column named `at`, with paths relative to `project`, and an empty value before or
    after becomes `GONE`. Else `table` itself comes back, with the point's own names of columns.
    """
    if point.expect:
        return table, (*point.columns[:-1], EXPECTED)
    if not point.watch or table.width < len(row_format.PLACE_COLUMNS):
        return table, point.columns
    functions, files, lines, *rest = table.cells
    places = list(zip(functions, files, lines, strict=True))
    texts = {each: line_of(*each, project) for each in set(places)}
    changed = [[each or GONE for each in column] for column in rest[:2]]
    cells = [list(map(texts.__getitem__, places)), *changed, *rest[2:]]
    return table.with_cells(cells), ("at", *point.expressions[len(row_format.PLACE_COLUMNS) :])


def line_of(function: str, file: str, line: str, project: Path) -> str:
    """Return the text for a line that has done something; line "0": it was done before the function began."""
    if line == "0":
        return f"before {function} in {relative_to_project(file, project)}"
    return f"{relative_to_project(file, project)}:{line}{f' in {function}' if function else ''}"


def visible_collections(collected: Collected, client: str) -> list[Collection]:
    """Return the collections that a client may see: its own, and those that nobody has asked for.

    Those about watching itself are left out.
    """
    return [each for each in collected.listed if each.point.client in {"", client}]


# What became of a run until something, as text. Pure.


State = Literal["stopped", "running", "ended"]
EXPRESSION_CHARS = 120
"""Characters of an expression."""
MAX_NAMED_FUNCTIONS = 4
"""Functions that are named."""
_NO_NAME = re.compile(
    r"NameError|UnboundLocalError|(Uncaught )?ReferenceError|No symbol|Name unknown|undefined local variable"
    r"|could not find symbol|use of undeclared identifier"
)
_NEVER = {"true": "never held", "change": "never changed", "write": "was never written"}
_NOT_YET = {"true": "not held", "change": "not changed", "write": "not been written"}


def outcome(
    watch: Watch,
    rows: Sequence[CollectedRow],
    looks: Sequence[CollectedRow],
    state: State,
    project: Path,
) -> str:
    """Return a sentence on a watch: which line did what it waits for, with values, or that none has.

    A watch waits for its expression to become true, to change, or to be written. The values are those before
    and after the line. For a watch with `every` that has rows, the sentence says instead how many lines were
    recorded. `rows` are the lines that did it, of which the earliest is told. `looks` are rows of the functions
    where the expression was evaluated; they are told only without `rows`. `state` is the program's: `stopped`,
    `running` or `ended`. Paths are shown relative to the folder `project`. The method of the watch, its cost
    and its seconds stand in parentheses at the end.
    """
    name = f"`{shortened(' '.join(watch.expression.split()), EXPRESSION_CHARS)}`"
    took = ", ".join(filter(None, (watch.method, watch.cost, f"{watch.seconds:.1f} s")))
    if rows and watch.every:
        rest = "" if state == "ended" else "; this stop ends the recording"
        return f"{name}: {len(rows)} recorded{rest} ({took})"
    if rows:
        first = min(rows, key=lambda row: row.seconds)
        return f"{_watch_sentence(watch, name, first, project)} ({took})"
    seen = "".join(f"; {each}" for each in _clauses_on_looks(looks, ended=state == "ended"))
    if state == "ended":
        return f"{name} {_NEVER[watch.on]}{seen} ({took})"
    rest = "this stop came first" if state == "stopped" else "the program runs on"
    return f"{name} has {_NOT_YET[watch.on]} yet: {rest}{seen} ({took})"


def _watch_sentence(watch: Watch, name: str, row: CollectedRow, project: Path) -> str:
    """Return a sentence on the line in `row` that has made the watched expression true, or changed it.

    The sentence has no full stop. `name` is the expression in quotes. The cells of `row` begin with function,
    file, line, the value before and the value after; line `0` says that the value was there when the function
    was first looked at. Paths in the folder `project` are relative to it. If `line` is not `0`, the sentence
    tells doubts that the watch has recorded.
    """
    function, file, line, before, after = row.cells[:5]
    by = f" by thread {row.thread}" if row.thread not in {"", "MainThread"} else ""
    arrow = " → ".join(cell_text(each) for each in (before, after) if each) or "(no value)"
    if before and before == after:
        arrow = f"{cell_text(after)}, changed within what is shown, or another like it"
    if line == "0":
        did = "held" if watch.on == "true" else "had changed"
        return f"{name} {did} already when {function} was first looked at ({relative_to_project(file, project)}): {arrow}"
    if watch.holds_already:
        return f"{name} holds already at {line_of(function, file, line, project)}: {arrow}; the program has not moved"
    rest = ", or the rest of the line that called it" if watch.may_have_returned else ""
    passed = (
        f"{watch.unlooked_lines} (not looked at: its breakpoint counts or logs) or "
        if watch.unlooked_lines
        else ""
    )
    place = f"{passed}{line_of(function, file, line, project)}{by}{rest}"
    if watch.others_ran:
        did = "began to hold" if watch.on == "true" else "changed"
        return f"{name} {did} while {place} ran, there or in another thread that ran meanwhile: {arrow}"
    if watch.is_next_line:
        return f"{name} holds when the program comes to {place}: {arrow}"
    if watch.on == "true":
        return f"{name} holds after {place}: {arrow}"
    gone = "" if after else " → (gone)"
    return f"{place} changed {name}: {arrow}{gone}"


def _clauses_on_looks(looks: Sequence[CollectedRow], *, ended: bool) -> Iterator[str]:
    """Yield clauses on the functions where the expression had a value, and where its evaluation failed.

    `looks` are rows of function, file, line and value or error. Where it had a value is told only once the
    program has `ended`. Only one error is told, the first that says more than that the name is unknown; if
    all say only that, the first, but none if the expression had a value somewhere. Without any value the
    clause has the number of functions, not their names.
    """
    valued = dict.fromkeys(row.cells[0] for row in looks if not row.cells[3].startswith(FAILED))
    failed = [row for row in looks if row.cells[3].startswith(FAILED)]
    wrong = [row for row in failed if not _NO_NAME.match(row.cells[3][1:])]
    if valued and ended:
        yield f"it was looked at in {_several(list(valued))}"
    if not valued and failed:
        count = len({(row.cells[0], row.cells[1]) for row in failed})
        where = "the only function" if count == 1 else f"any of {count} functions"
        yield f"it had no value in {where}: {(wrong or failed)[0].cells[3][1:]}"
    for row in wrong[: bool(valued)]:
        yield f"it failed in {_several([*dict.fromkeys(each.cells[0] for each in wrong)])}: {row.cells[3][1:]}"


def _several(names: Sequence[str]) -> str:
    """Return some names with commas between them, and how many more there are."""
    more = (
        f" and {len(names) - MAX_NAMED_FUNCTIONS} more" if len(names) > MAX_NAMED_FUNCTIONS else ""
    )
    return f"{', '.join(names[:MAX_NAMED_FUNCTIONS])}{more}"
