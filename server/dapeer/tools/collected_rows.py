"""The tool that looks further at what breakpoints have collected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from dapeer.base.errors import ArgumentError
from dapeer.base.system.matching import Matcher, PatternOverdue
from dapeer.base.system.threads import CallerLoop, in_thread
from dapeer.base.text.lines import lines_of
from dapeer.collecting.rows.collected import Collected, Collection, Point
from dapeer.collecting.text.row_listing import (
    By,
    RowSelection,
    Search,
    filtered_indices,
    listing,
    row_range,
)
from dapeer.collecting.text.summary import place_of, readable, summary, title, visible
from dapeer.collecting.text.timeline import timeline as in_order
from dapeer.sessions.core.session import Session
from dapeer.tools.base.arguments import SessionId
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.tool import Section, tool


@tool("Collected rows", section=Section.COLLECT, is_lean=True, read_only=True)
async def dap_collected(
    call: Call,
    at: Annotated[str | None, Field(description="shop.py:12 or function")] = None,
    rows: Annotated[str | None, Field(description="7-9")] = None,
    where: Annotated[str | None, Field(description="total is None")] = None,
    changes: bool = False,
    by: By | None = None,
    plot: bool = False,
    timeline: bool = False,
    session_id: SessionId = None,
) -> Reply:
    """Sum up collected rows, or list them; also after the end.

    The rows are those that the session's program has recorded at breakpoints of this client. `at` chooses a place, `rows` a range of hits,
    `where` those for which an expression over their columns holds. Without a choice each place is summed up; `changes` lists only rows that
    change something, `by` groups rows, `plot` draws the columns of numbers, `timeline` lists the rows of all places in the order of time.
    What was shown counts as reported. The data has the lines as `collected`.

    Raises:
        ArgumentError: There are no such rows, or the choice is invalid.
    """
    session = call.focus.session_to_read(session_id)
    await session.program.read_rows()
    every = [each for each in visible(session.program.collected, call.focus.key) if len(each.table)]
    chosen = [each for each in every if at is None or _is_at(each, at, call)]
    if not chosen:
        raise _no_rows_error(session, every, at, call)
    selected = RowSelection(rows or "", where or "", changes, by, plot)
    make = _timeline if timeline else _lines
    search = searching(call.debugger.matcher, CallerLoop())
    lines = await in_thread(make, call, chosen, selected, search)
    for each in chosen:
        each.mark_reported(call.focus.key)
    return Reply(lines_of(lines), {"collected": lines})


def _timeline(
    call: Call, chosen: Sequence[Collection], selection: RowSelection, search: Search
) -> list[str]:
    """Return the rows of several points as lines in the order of collection, as the selection says.

    `chosen` are the collections to show. Points whose columns the filter does not fit are left out. `search` answers a
    filter with `matches`, and blocks: call this in a thread.

    Raises:
        ArgumentError: The filter fits none, the selection's `rows` are no range, or it has `changes`, `by` or `plot`, which do not go with
            a timeline.
    """
    if selection.changes or selection.by or selection.plot:
        raise ArgumentError("`timeline` goes with `at`, `rows` and `where`.", "Leave out the rest.")
    rows: list[tuple[Collection, Sequence[int]]] = []
    wrong: list[ArgumentError] = []
    for each in chosen:
        table, names = readable(each.point, each.table, call.debugger.project)
        try:
            rows.append(
                (
                    each,
                    filtered_indices(table, names, selection.where, search, calls=each.point.calls),
                )
            )
        except ArgumentError as error:
            wrong.append(error)
    if len(wrong) == len(chosen):
        raise wrong[0]
    return in_order(
        rows, call.debugger.project, row_range(selection.rows), all_rows=selection.is_chosen
    )


def _lines(
    call: Call, chosen: Sequence[Collection], selection: RowSelection, search: Search
) -> list[str]:
    """Return the summaries of points, or their rows as the selection says, as lines.

    `chosen` are the collections to show, one at least. Without a range, a filter or another wish in `selection`, each is summarised. Points
    whose columns the filter does not fit are left out. `search` answers a filter with `matches`, and blocks: call this in a thread.

    Raises:
        ArgumentError: The selection fits none of them; the error is that of the first.
    """
    lines: list[str] = []
    wrong: list[ArgumentError] = []
    for each in chosen:
        if selection.summary:
            lines += summary(each, call.debugger.project)
            continue
        try:
            rows = readable(each.point, each.table, call.debugger.project)
            found = listing(
                *rows,
                selection,
                calls=each.point.calls,
                process=each.process,
                search=search,
            )
        except ArgumentError as error:
            # The filter may be about the columns of another point.
            wrong.append(error)
            continue
        lines += [title(each, call.debugger.project), *(f"  {line}" for line in found)]
    if len(wrong) == len(chosen):
        raise wrong[0]
    return lines


def searching(matcher: Matcher, loop: CallerLoop) -> Search:
    """Return a function that returns those of some texts in which a pattern is found.

    It raises an `ArgumentError` if the pattern is none, or takes too long. It blocks until the process of `matcher`, which is used in
    `loop`, has searched: call it in another thread than the loop's.
    """

    def search(pattern: str, texts: Sequence[str]) -> Sequence[str]:
        """Return those of `texts` in which `pattern` is found, in their order; it blocks.

        Raises:
            ArgumentError: The pattern is none, or takes too long.
        """
        try:
            re.compile(pattern)
            return loop.run(matcher.those_with(pattern, texts))
        except (re.error, RecursionError, OverflowError) as error:
            raise ArgumentError(
                f"The pattern of `matches` is none: {error}.", "Mend it."
            ) from error
        except PatternOverdue as error:
            raise ArgumentError(str(error)) from error

    return search


def _is_at(collection: Collection, at: str, call: Call) -> bool:
    """Return whether a point is at `at`: a file and line, or a function, perhaps without its beginning."""
    point = collection.point
    place = place_of(point, call.debugger.project)
    if point.calls and (at == point.function or at in point.function.split(", ")):
        return True
    return place == at or place.endswith((f"/{at}", f".{at}")) or at.endswith(f"/{place}")


def _no_rows_error(
    session: Session, every: Sequence[Collection], at: str | None, call: Call
) -> ArgumentError:
    """Return the error for rows that were not found: none at `at`, or none at all; it is not raised here.

    `every` are the collections with rows that the client may see; if there are any, the error names their places. While the program of
    `session` lives, points without a row are named.
    """
    if every:
        places = ", ".join(dict.fromkeys(place_of(e.point, call.debugger.project) for e in every))
        return ArgumentError(f"Nothing was collected at `{at}`.", f"There are rows of: {places}.")
    program = session.program
    points = [
        each
        for each in program.collected.points.values()
        if each.client in {"", call.focus.key} and not each.is_internal
    ]
    if points and program.runs:
        how = "is stopped: dap_continue goes on" if session.mirror.stop else "runs on: ask again"
        waiting = ", ".join(_without_rows(program.collected, each, call) for each in points)
        return ArgumentError(f"No row has come yet of: {waiting}.", f"The program {how}.")
    return ArgumentError(
        "Nothing was collected.", "A breakpoint with collect=[…] records instead of stopping."
    )


def _without_rows(collected: Collected, point: Point, call: Call) -> str:
    """Return the place of a point that has no row, and how often it was hit if that is known."""
    hits = sum(each.hits for each in collected.of_point(point.number))
    place = place_of(point, call.debugger.project)
    return f"{place} ({hits} hits)" if hits else place
