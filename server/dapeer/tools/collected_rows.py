"""Tools that look further at what breakpoints have collected: at rows, and at the life of one call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Annotated, NamedTuple

import anyio
from pydantic import Field

from dapeer.base.errors import ArgumentError
from dapeer.base.system.matching import Matcher, PatternOverdue
from dapeer.base.system.tasks import on_cancellation
from dapeer.base.system.threads import CallerLoop, in_thread
from dapeer.base.text.lines import indented_after_first, lines_of
from dapeer.collecting.rows.collected import OF_LIVES, Collected, Collection, Point
from dapeer.collecting.rows.table import CollectedRow
from dapeer.collecting.text.call_lines import (
    ARGUMENTS,
    FUNCTION,
    RESULT,
    CallLines,
    call_text,
    executed_lines,
)
from dapeer.collecting.text.row_listing import (
    By,
    RowSelection,
    Search,
    filtered_indices,
    listing,
    row_range,
)
from dapeer.collecting.text.summary import (
    place_of,
    readable_rows,
    summary,
    title,
    visible_collections,
)
from dapeer.collecting.text.timeline import timeline as in_order
from dapeer.dap.requested_breakpoints import RequestedFunction, RequestedLife
from dapeer.peers.consent_kinds import RUN, CallKinds
from dapeer.sessions.breakpoints.breakpoints import Breakpoints
from dapeer.sessions.core.direct import DirectSession
from dapeer.sessions.core.plan import Plan
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.tools.base.arguments import Milliseconds, SessionId
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

    The rows are those that the session's program has recorded for this client, or for nobody in particular;
    those written by now are read first. `at` chooses a place (`shop.py:12`, or a function), `rows` hits by
    number (`7`, `7-9` or `7-`; with `timeline` by the place in that), `where` those for which an expression
    over their columns holds; places whose columns it does not fit are left out, if it fits any. Without a
    choice each place is summed up; `changes` lists only rows that change something, `by` groups rows,
    `plot` draws the columns of numbers, `timeline` lists the rows of all places in the order of time, and
    goes with none of these three. All rows of the places that `at` chooses count as reported to this client
    then, also those that are not shown. The data has the lines as `collected`. `session_id` becomes the
    default; None: the default session.

    Raises:
        ArgumentError: There are no such rows, or the choice is invalid.
        NoSession: There is no session with this id, or none at all.
    """
    session = call.focus.session_to_read(session_id)
    await session.program.read_rows()
    every = [
        each
        for each in visible_collections(session.program.collected, call.focus.key)
        if len(each.table)
    ]
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

    A point is a place that collects. `chosen` are the collections to show, at least one. The first line has the
    count of the rows for which the selection's filter (`where`) holds; its `rows` are positions among these. If
    the selection chooses nothing, most rows of a long list are left out. Points whose columns the filter does
    not fit are left out, unless it fits none. `search` finds the texts that have a regular expression, for a
    filter with `matches`, and blocks: call this in a thread. Nothing is marked as shown.

    Raises:
        ArgumentError: The filter fits none of the points, or is invalid; the selection's `rows` are no range;
            or it has `changes`, `by` or `plot`, which do not go with a timeline.
    """
    if selection.changes or selection.by or selection.plot:
        raise ArgumentError("`timeline` goes with `at`, `rows` and `where`.", "Leave out the rest.")
    rows: list[tuple[Collection, Sequence[int]]] = []
    wrong: list[ArgumentError] = []
    for each in chosen:
        table, names = readable_rows(each.point, each.table, call.debugger.project)
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

    A point is a place that collects, a row what it has collected at a hit. `chosen` are the collections to show, one
    at least. Without a range, a filter or another wish in `selection`, each is summarised. Points whose columns the
    filter does not fit are left out. `search` is called with a regular expression of the filter and texts, and
    returns the texts in which it is found; it blocks, so call this function in a thread.

    Raises:
        ArgumentError: The selection fits none of the points; the error is that of the first.
    """
    lines: list[str] = []
    wrong: list[ArgumentError] = []
    for each in chosen:
        if selection.wants_summary:
            lines += summary(each, call.debugger.project)
            continue
        try:
            rows = readable_rows(each.point, each.table, call.debugger.project)
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
    """Return a function that searches texts for a regular expression, in the process of `matcher`.

    The function gets the pattern and a sequence of texts, and returns those in which the pattern is found, in
    their order; only the beginning of a long text is searched. It raises an `ArgumentError` if the pattern is
    no valid regular expression, or takes too long. It blocks until the process has answered: call it in another
    thread than that of `loop`, the event loop in which `matcher` is used.
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

    `every` are the collections with rows that the client may see; if there are any, the error names their
    places. Else, while the program of `session` lives, points of this client or of nobody are named,
    without dapeer's own. Without any, nothing is named.
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
    if points and program.is_alive:
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


# The life of one collected call: the program runs once more beside what is debugged, to record it line by line.

WHOLE_LIKENESS = 3
"""The likeness of two calls that are alike in all."""


@dataclass(frozen=True, slots=True)
class RecordedLife:
    """What a second run tells of one call."""

    call: CollectedRow | None
    """The call, in that run; None: it has none of this number that is over."""
    lines: list[CollectedRow]
    """The lines that it has executed; their cells are `OF_LIVES`."""
    in_time: bool
    """Whether the call, or the program, was over in time."""


NOTHING_RECORDED = RecordedLife(None, [], in_time=True)


def plan_second_run(session: Session, point: Point, recorded: CollectedRow) -> Plan:
    """Return a plan that runs a program again, records one call line by line, and stops nowhere.

    It has no breakpoint but the one that records the call, with the condition under which the first run counted
    calls, and no exception filters. Nothing is started.

    Args:
        session: A session of the first run.
        point: What has collected the call.
        recorded: The call.

    Raises:
        ArgumentError: The program was not launched by dapeer, or runs in nvim-dap.
    """
    first = session.program.first
    if not isinstance(first, DirectSession) or not first.plan.launched:
        raise ArgumentError(
            "Only a program that dap_run starts, outside of Neovim, can be run again for the lines of a call.",
            "Collect on the lines of the function instead.",
        )
    life = RequestedLife(call=recorded.hit, function=recorded.cells[FUNCTION])
    function = RequestedFunction(name=point.function, calls=True, collect=[], life=life)
    # Calls are counted where the condition holds.
    for each in first.line_breakpoints.functions:
        if each["calls"] and each["name"] == point.function and "condition" in each:
            function["condition"] = each["condition"]
    alone = Breakpoints(exceptions=[])
    alone.want_functions([function])
    return replace(
        first.plan,
        inputs={**first.plan.inputs, "stop_on_entry": False},
        breakpoints=alone,
        functions=(),
        exception_filters=(),
        conditions={},
    )


async def record_life(
    debugger: Debugger, plan: Plan, recorded: CollectedRow, seconds: float
) -> RecordedLife:
    """Run a program again for at most `seconds`, end it, and return what one of its calls has done.

    The program really runs again, with all its effects; its sessions are forgotten afterwards. The focus stays on
    the session that has it. A call that fails or is cancelled ends the program, too. `in_time` of the result is
    false if `seconds` were over before the call came up or the program ended; its `call` is None if no call of its
    number has ended there.

    Args:
        debugger: Starts it, beside what it debugs.
        plan: How it is run: a `plan_second_run`.
        recorded: The call, in the first run.
        seconds: How long.

    Raises:
        DapeerError: It does not start; or a stop cannot be resumed, or the program not be ended.
    """
    focused = debugger.sessions.focused
    session = await debugger.start(plan)
    debugger.sessions.focus_on(focused)
    try:
        async with on_cancellation(debugger.terminate, session.program.first):
            try:
                in_time = await _run_to_recorded_call(session, recorded, seconds)
            finally:
                await debugger.terminate(session.program.first)
        await session.program.read_rows()
    finally:
        debugger.sessions.drop_program(session.id)
    return replace(_likest_life(session, recorded), in_time=in_time)


async def _run_to_recorded_call(session: Session, recorded: CollectedRow, seconds: float) -> bool:
    """Resume the second run until the recorded call has come up again, or it ends; False: no time left.

    At each stop, the call with the hit number of `recorded` is looked up in the rows; it counts if it is equal
    in function, arguments and result. The run stays at the stop where it was found. The result does not say
    whether the call has come up or the program has ended. `seconds` limits the waits for stops.

    Raises:
        DapeerError: A stopped program cannot be resumed.
    """
    clock = anyio.current_time
    end = clock() + seconds
    while (
        stopped_session := await session.program.next_stop(session, 0, end - clock())
    ) is not None:
        stop = stopped_session.mirror.stop
        if stop is None:
            return True
        await session.program.read_rows()
        if likeness_of_calls(_likest_life(session, recorded).call, recorded) == WHOLE_LIKENESS:
            return True
        await stopped_session.resume("continue", {"threadId": stop.thread_id})
    return False


def _likest_life(session: Session, recorded: CollectedRow) -> RecordedLife:
    """Return what a second run has recorded of the call that is most like `recorded`, with its lines.

    `session` is one of the second run. In each process the call with the hit number of `recorded` is taken,
    and the process is chosen whose call is equal in most of function, arguments and result. `call` of the
    result is that call's row, or None if no process has a call of that number that is over; `lines` are the
    rows of the lines that this process has recorded, perhaps none. `in_time` says nothing: it is always true.
    The result is `NOTHING_RECORDED` if no process has collected yet.
    """
    collected = session.program.collected
    processes: dict[int, RecordedLife] = {}
    for (process, number), each in collected.collections.items():
        rows = [each.table.row(index, number) for index in range(len(each.table))]
        known = processes.get(process, NOTHING_RECORDED)
        if each.point.expressions == OF_LIVES:
            processes[process] = replace(known, lines=rows)
        elif each.point.calls:
            calls = [known.call, *(row for row in rows if row.hit == recorded.hit)]
            likest = max(calls, key=lambda call: likeness_of_calls(call, recorded))
            processes[process] = replace(known, call=likest)
    every = sorted(processes.values(), key=lambda each: -likeness_of_calls(each.call, recorded))
    return every[0] if every else NOTHING_RECORDED


def likeness_of_calls(call: CollectedRow | None, other: CollectedRow) -> int:
    """Return in how many of function, arguments and result two calls are equal; -1: `call` is None."""
    if call is None:
        return -1
    return sum(call.cells[which] == other.cells[which] for which in (FUNCTION, ARGUMENTS, RESULT))


class FoundCall(NamedTuple):
    """A call that was collected."""

    collection: Collection
    place: int
    """In its table."""

    @property
    def row(self) -> CollectedRow:
        """The collected row of the call."""
        return self.collection.table.row(self.place, self.collection.point.number)

    @property
    def function(self) -> str:
        """The name of its function."""
        return self.collection.table.cells[FUNCTION][self.place]

    @property
    def line(self) -> str:
        """The call as a line of text."""
        return CallLines(self.collection.table, self.collection.point.expressions).line(self.place)


@tool(
    "Life of a call",
    section=Section.COLLECT,
    kinds=CallKinds(RUN, remark="as it was started"),
    starts=True,
)
async def dap_call(
    call: Call,
    n: int,
    at: Annotated[str | None, Field(description="its function")] = None,
    timeout_ms: Milliseconds = 30_000,
    session_id: SessionId = None,
) -> Reply:
    """Run the program again to list the lines that collected call #n executed, and what each changed.

    `n` is the number of the call among the rows of dap_collected; `at` is its function, needed where several
    functions have such a call. The program is started anew as it was, with all that it does outside, for at most
    `timeout_ms`, and is ended then; its earlier session stays as it is. The data has `call`, `run` (a sentence on the
    second run) and `lines`, which is empty if the second run recorded none.

    Raises:
        ArgumentError: There is no such call, or several, or dapeer has not launched the program.
        NoSession: There is no session with this id, or none at all.
        DapeerError: The program does not start.
    """
    session = call.focus.session_to_read(session_id)
    await session.program.read_rows()
    of_calls = [
        each
        for each in visible_collections(session.program.collected, call.focus.key)
        if each.point.calls and len(each.table)
    ]
    found = _find_call(of_calls, n, at)
    plan = plan_second_run(session, found.collection.point, found.row)
    started_at = monotonic()
    recorded = await record_life(call.debugger, plan, found.row, timeout_ms / 1000)
    ran = _second_run_sentence(recorded, found, monotonic() - started_at, timeout_ms)
    lines = await in_thread(executed_lines, recorded.lines, recorded.call)
    return Reply(lines_of([found.line, ran, *(f"  {indented_after_first(each)}" for each in lines)]), {
        "call": found.line, "run": ran, "lines": lines,
    })  # fmt: skip


def _find_call(every: Sequence[Collection], n: int, at: str | None) -> FoundCall:
    """Return the one call with hit number `n`, of the function `at` if that is given.

    `every` are the collections of calls to search; `at` is a function's name, perhaps without its beginning.

    Raises:
        ArgumentError: There is none, or more than one.
    """
    if not every:
        raise ArgumentError(
            "No calls were collected.", 'dap_run with breakpoints=[{"calls": ["shop.*"]}] does it.'
        )
    numbered = [
        FoundCall(each, index)
        for each in every
        for index, hit in enumerate(each.table.hits)
        if hit == str(n)
    ]
    found = [each for each in numbered if at is None or f".{each.function}".endswith(f".{at}")]
    if len(found) == 1:
        return found[0]
    if found:
        raise ArgumentError(
            f"There are {len(found)} calls #{n}: {', '.join(each.line for each in found[:3])}.",
            "Name the function with `at`, or collect fewer at once.",
        )
    if numbered:
        raise ArgumentError(
            f"Call #{n} is of {numbered[0].function}, not of `{at}`.", "Correct it."
        )
    numbers = [row for each in every for row in map(int, filter(str.isdigit, each.table.hits))]
    among = f"Those that are over are among #{min(numbers)} to #{max(numbers)}; " if numbers else ""
    raise ArgumentError(f"No call #{n} was collected.", f"{among}dap_collected lists them.")


def _second_run_sentence(
    life: RecordedLife, found: FoundCall, seconds: float, timeout_ms: int
) -> str:
    """Return a sentence on the second run: how long it took, and whether it did the same as the first.

    `life` is what the second run has recorded. The sentence also says whether the run was ended after `timeout_ms`. `found` is the call
    in the first run, `seconds` how long the second run took.
    """
    ran_again = f"The program ran again for its lines ({seconds:.1f} s)"
    late = "" if life.in_time else f"; after {timeout_ms} ms it was ended"
    if life.call is None:
        other = "; there this call did not end" if life.lines else "; there was no such call there"
        return f"{ran_again}{late}{other}."
    if likeness_of_calls(life.call, found.row) == WHOLE_LIKENESS:
        return f"{ran_again}{late}."
    return f"{ran_again}{late}, and went another way: there this call is {call_text(life.call.cells, ())}."
