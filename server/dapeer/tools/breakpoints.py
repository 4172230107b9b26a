"""Tools that say where a program shall stop, or collect: at lines, and at functions by name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from dapeer.base.errors import ArgumentError
from dapeer.base.sources import check_line, line_text, relative_to_project, source_file
from dapeer.base.system.tasks import all_of
from dapeer.base.text.fitting import quoted
from dapeer.base.text.lines import indented_after_first, lines_of
from dapeer.dap.requested_breakpoints import (
    RequestedBreakpoint,
    RequestedFunction,
    collects_at,
    function_breakpoint,
    place_in_file,
    spot_of,
    title_of,
)
from dapeer.dap.types import Breakpoint
from dapeer.peers.consent_kinds import (
    CONDITIONS,
    EVALUATE,
    EXPRESSION,
    WRITE,
    WRITES,
    ArgumentKinds,
    CallKinds,
    has_condition,
)
from dapeer.sessions.breakpoints.breakpoints import adapter_answer, unsupported
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.outcomes import MAX_LISTED_BREAKPOINTS, NO_FUNCTIONS, on_loaded_line
from dapeer.tools import data_breakpoints
from dapeer.tools.base.arguments import (
    CollectArgument,
    Lines,
    MaxHits,
    SessionId,
    add_collecting,
    add_place_on_line,
    check_and_claim_functions,
    check_for_function,
    claim_breakpoints,
    is_of_another,
    place_of_breakpoint,
    requested_functions,
    resolve_column,
    source_breakpoint,
)
from dapeer.tools.base.call import Call, Reply, with_notes
from dapeer.tools.base.schema import Narrows, Unlisted
from dapeer.tools.base.tool import Section, tool
from dapeer.view import render
from dapeer.view.render import MAX_LISTED_VALUES

# Breakpoints as they are told: each with its state in the adapters.

_TEXTS = (
    ("condition", "condition"),
    ("hit_condition", "hitCondition"),
    ("log_message", "logMessage"),
)
"""Our names of options that are texts, and DAP's."""


@dataclass(frozen=True, slots=True)
class BreakpointRow:
    """A breakpoint of the set, and its state in one adapter."""

    path: str
    requested: RequestedBreakpoint
    breakpoint: Breakpoint | None = None
    """None if no adapter has got it."""
    ignored: Sequence[str] = ()
    """Its options that the adapter does not heed."""
    session: int | None = None
    """The adapter of this state, if states differ."""
    loaded_lines: Sequence[str] | None = None
    """The lines that the program has loaded, where the file has other ones now."""
    old_code: str = ""
    """Where code of the text runs from before the program has loaded the file again."""
    sign_line: int | None = None
    """The line of its sign in a Neovim whose buffer has unsaved changes."""
    others_collect: bool = False
    """Another client collects there."""

    @property
    def is_odd(self) -> bool:
        """Whether there is more to say of the breakpoint than its place and state.

        It was moved, has a message of the adapter or options that this ignores, differs between sessions, or its sign is on another line.
        """
        made = self.breakpoint or {}
        moved = made.get("line") not in (None, self.requested["line"])
        return bool(moved or made.get("message") or self.ignored or self.session or self.sign_line)

    def text(self, debugger: Debugger) -> str:
        """Return the breakpoint as one line: file, line, state, options, text of the line, what is odd.

        The file is relative to the project. The text is that of the line to which the adapter has bound the
        breakpoint, else of its own; it is left out where `debugger` may not show the file. What is odd stands in
        brackets at the end.
        """
        line = self.requested["line"]
        actual = (
            self.breakpoint.get("line")
            if self.breakpoint and self.breakpoint.get("verified")
            else None
        )
        text = self._source(actual or line) if debugger.files.shows(self.path) else ""
        shown = render.breakpoint_line(self.requested, self.breakpoint, text)
        note = f" (this adapter does not support {', '.join(self.ignored)})" if self.ignored else ""
        where = f" (session {self.session})" if self.session is not None else ""
        where += " (of the source that the program has loaded)" if self.loaded_lines else ""
        where += f" ({self.old_code})" if self.old_code else ""
        where += (
            f" (its sign is on line {self.sign_line} of the unsaved buffer)"
            if self.sign_line
            else ""
        )
        where += " (of another assistant)" if self.others_collect else ""
        return f"{relative_to_project(self.path, debugger.project)}:{shown}{note}{where}"

    def _source(self, line: int) -> str:
        """Return the text of a 1-based line as the program has loaded it, or as it is on disk.

        Empty: there is no such line.
        """
        if self.loaded_lines is None:
            return line_text(self.path, line)
        return self.loaded_lines[line - 1] if line <= len(self.loaded_lines) else ""

    def data(self) -> dict[str, Any]:
        """Return the breakpoint as data: `filename`, `line`, `state`, and the options that it has.

        These have the names of dap_set_breakpoint's arguments; their texts are shortened. What else is known
        has keys of its own, which are missing otherwise: `actual_line` and `message` from the adapter,
        `not_supported` (options that it ignores), `session` (the only one with this state), `of_another` (true:
        another assistant collects there), `sign_line` (in an unsaved buffer).
        """
        facts = {
            **{
                name: quoted(str(given))
                for name, key in _TEXTS
                if (given := self.requested.get(key))
            },
            "column": self.requested.get("column"),
            "collect": [*map(quoted, self.requested.get("collect", ()))] or None,
            "max_hits": self.requested.get("maxHits"),
            "actual_line": self.breakpoint.get("line") if self.breakpoint else None,
            "message": self.breakpoint.get("message") if self.breakpoint else None,
            "not_supported": list(self.ignored) or None,
            "session": self.session,
            "of_another": self.others_collect or None,
            "sign_line": self.sign_line,
        }
        state = render.breakpoint_state(self.breakpoint)
        given = {key: value for key, value in facts.items() if value is not None}
        return {"filename": self.path, "line": self.requested["line"], "state": state, **given}


def rows_of(
    call: Call, path: str, chosen: Sequence[RequestedBreakpoint] | None = None
) -> Iterator[BreakpointRow]:
    """Yield the breakpoints of a file with their states in the adapters.

    One row, without a session, stands for all sessions if they agree, or if none has the breakpoint; else there
    is one for each session that has it. Sessions that leave their program to a child do not count. `path` is the
    file; `chosen` limits the rows to breakpoints that are equal to one of these and still in the set; None: all.
    """
    debugger = call.debugger
    living = debugger.sessions.live
    # A session that leaves its program to a child never stops, and knows no line.
    stopping = [each for each in living if each in each.program.debugged]
    only = None if chosen is None else {spot_of(each): each for each in chosen}
    for point in debugger.breakpoints.in_file(path):
        if only is not None and only.get(spot_of(point)) != point:
            continue
        sign = call.peers.moved_sign_line(path, point["line"])
        plain = BreakpointRow(
            path, point, sign_line=sign, others_collect=is_of_another(call, point)
        )
        rows = {
            session.id: replace(
                plain,
                breakpoint=made,
                ignored=unsupported(session.mirror, point),
                loaded_lines=_edition(session, path),
                old_code=old.words if (old := session.inspect.source_versions.old(path)) else "",
            )
            for session in stopping
            if (made := _adapter_answer(session, path, point)) is not None
        }
        facts = [row.data() for row in rows.values()]
        if all(each == facts[0] for each in facts):
            # Adapters mostly agree, but for numbers of their own.
            yield next(iter(rows.values()), plain)
        else:
            yield from (replace(row, session=number) for number, row in rows.items())


def rows_text(rows: Sequence[BreakpointRow], debugger: Debugger) -> str:
    """Return rows as text, a line each; of many only the odd ones, the others counted by state.

    Many are more than `MAX_LISTED_BREAKPOINTS`, which must be of one file. The counts come first, a line for
    each state; then at most as many odd rows (`is_odd`), and a line that says how many more there are. Empty
    without rows.
    """
    if len(rows) <= MAX_LISTED_BREAKPOINTS:
        return lines_of(row.text(debugger) for row in rows)
    odd = [row for row in rows if row.is_odd]
    states = Counter(render.breakpoint_state(row.breakpoint) for row in rows if not row.is_odd)
    place = relative_to_project(rows[0].path, debugger.project)
    lines = [f"{place}: {number:,} breakpoints {state}" for state, number in states.items()]
    lines += [row.text(debugger) for row in odd[:MAX_LISTED_BREAKPOINTS]]
    more = len(odd) - MAX_LISTED_BREAKPOINTS
    return lines_of([*lines, *([f"and {more:,} more: dap_breakpoints"] if more > 0 else [])])


def rows_data(rows: Sequence[BreakpointRow]) -> dict[str, Any]:
    """Return breakpoint rows as data: `set` is their number, `breakpoints` has the data of each.

    If there are more than `MAX_LISTED_BREAKPOINTS`, `breakpoints` has only rows that are odd (of which there is
    more to say than place and state, such as that the adapter has moved the breakpoint), the first
    `MAX_LISTED_BREAKPOINTS` of them; it may be empty.
    """
    shown = (
        rows
        if len(rows) <= MAX_LISTED_BREAKPOINTS
        else [row for row in rows if row.is_odd][:MAX_LISTED_BREAKPOINTS]
    )
    return {"set": len(rows), "breakpoints": [row.data() for row in shown]}


def _adapter_answer(
    session: Session, path: str, requested: RequestedBreakpoint
) -> Breakpoint | None:
    """Return the adapter's answer for a breakpoint in a session; None: the adapter has not got it."""
    return adapter_answer(session.mirror, path, on_loaded_line(session, path, requested))


def _edition(session: Session, path: str) -> Sequence[str] | None:
    """Return the lines of a file as the session's program has loaded it.

    None: they are those on disk, or not known to be others.
    """
    change = session.inspect.source_versions.known_change(path)
    return change.old_lines if change else None


@tool(
    "Set a breakpoint",
    section=Section.STOP,
    kinds=CallKinds(
        WRITE,
        (
            *CONDITIONS,
            ArgumentKinds("log_message", EVALUATE),
            ArgumentKinds("collect", EVALUATE),
            ArgumentKinds("calls", EVALUATE),
            ArgumentKinds("expect", EVALUATE),
        ),
    ),
    is_lean=True,
    idempotent=True,
)
async def dap_set_breakpoint(
    call: Call,
    filename: str | None = None,
    line: Annotated[int | None, Field(ge=1)] = None,
    function: str | None = None,
    calls: Sequence[str] = (),
    condition: str | None = None,
    hit_condition: str | None = None,
    log_message: str | None = None,
    collect: CollectArgument = (),
    max_hits: MaxHits = None,
    expect: str | None = None,
    more_lines: Lines = (),
    column: Annotated[int | None, Field(ge=1), Unlisted()] = None,
    at: Annotated[str | None, Field(description="text of the place"), Unlisted()] = None,
) -> Reply:
    """Set a breakpoint, in running and later sessions; log_message prints {expressions}.

    The place is `filename` and `line` (from 1; `more_lines` are of the same file), or `function`, or
    `calls`: names or patterns of functions whose calls are recorded. The breakpoint replaces the one at its
    place, but one that collects on a whole line leaves a person's there. It counts at hits where
    `condition` holds, and that `hit_condition` names; with `expect` the program stops where that is false.
    With `log_message`, `collect` (expressions, recorded at up to `max_hits` hits) or `calls` it does not
    stop. `column`, or `at`, a text on the line, chooses a place on it, and goes without `more_lines`.
    Adapters are sent the change before this returns; if one fails to take it, a note says so. The data is
    the breakpoint with its `state`; with `more_lines` it has `set` (a number) and `breakpoints` (of many,
    only some that need attention); for a `function` at which programs stop it has `functions`, the first
    `MAX_LISTED_VALUES` names of all such functions. There is no data if another client has changed all of
    these breakpoints meanwhile.

    Raises:
        ArgumentError: The place or an option is invalid, or a Neovim has unsaved changes in the file; nothing was
            set.
    """
    debugger = call.debugger
    place = place_of_breakpoint(filename, line, function, calls)
    plain = source_breakpoint(line or 0, condition, hit_condition, log_message)
    if place is None:
        check_for_function(expect, column, at)
        if more_lines:
            raise ArgumentError("`more_lines` needs `line`.", "Name one of them as `line`.")
        return await add_point(call, requested_functions(function, calls, plain, collect, max_hits))
    path = source_file(place[0], debugger.project)
    lines = [*dict.fromkeys([place[1], *more_lines])]
    for each in lines:
        check_line(path, each)
    if (column or at) and more_lines:
        raise ArgumentError("`more_lines` have no `column` or `at`.", "Set them one by one.")
    add_place_on_line(plain, column, at)
    placed = [resolve_column(path, {**plain, "line": each}) for each in lines]
    at_lines = [add_collecting(each, collect, max_hits, expect) for each in placed]
    claim_breakpoints(call, [(path, each) for each in at_lines])
    await _add_to_shared_set(call, path, at_lines)
    untaken = await debugger.push_breakpoints(path).wait_for_failures()
    rows = [*rows_of(call, path, at_lines)]
    if not rows:
        where = f"{relative_to_project(path, debugger.project)}:{', '.join(map(str, lines[:MAX_LISTED_BREAKPOINTS]))}"
        return Reply(indented_after_first(f"Set, and changed by another client since: {where}."))
    data = rows_data(rows) if more_lines else rows[0].data()
    return with_notes(
        Reply(rows_text(rows, debugger), data), [*untaken, *_sign_note(call, path, lines[0])]
    )


def _sign_note(call: Call, path: str, line: int) -> list[str]:
    """Return a note that an attached Neovim has one sign for a line, if the line has its second place now."""
    places = len(call.debugger.breakpoints.stopping_on(path, line))
    return [f"Neovim shows one sign for the {places} places of the line"] * bool(
        places == 2 and call.peers.attached
    )


async def _add_to_shared_set(
    call: Call, path: str, requested: Sequence[RequestedBreakpoint]
) -> None:
    """Add breakpoints of one file to the shared set, all or none, and wait until Neovims show them.

    Nothing is sent to adapters here: the caller pushes the file. Callers of all programs, of the next one too, are
    told what becomes of the breakpoints. `requested` are checked breakpoints in DAP's terms; each replaces what was
    at its place (line and column), but one that collects, without a column, leaves a person's breakpoint there.
    `path` is the file's absolute path.

    Raises:
        ArgumentError: A Neovim has unsaved changes in the file; what was there before is restored.
    """
    breakpoints, client = call.debugger.breakpoints, call.focus.key
    replaced = [(spot_of(each), breakpoints.add(path, each, client)) for each in requested]
    await call.peers.wait_for_signs()
    try:
        for (line, _), _ in replaced:
            call.peers.check_saved(path, line)
    except ArgumentError:
        for spot, before in replaced:
            breakpoints.restore(path, spot, before, client)
        raise
    for spot, _ in replaced:
        call.debugger.record_awaited_everywhere(path, *spot)


@tool("Remove a breakpoint", section=Section.STOP, kinds=WRITES, destructive=True, idempotent=True)
async def dap_remove_breakpoint(
    call: Call,
    filename: str | None = None,
    line: Annotated[int | None, Field(ge=1)] = None,
    function: str | None = None,
    column: Annotated[int | None, Field(ge=1), Unlisted()] = None,
    at: Annotated[str | None, Field(description="text of the place"), Unlisted()] = None,
) -> Reply:
    """Remove the breakpoint on a line, or of functions, if there is one.

    The breakpoint is on `filename` and `line`, or at `function` (a name, or the title of what collects
    there). What stops there is removed whoever has set it; of what collects, only what the calling client
    itself has set. On a line all breakpoints are removed, or only those at the 1-based `column`, or where
    `at`, a text of the line, stands. Adapters are sent the change before this returns; the answer's notes
    name sessions that have not applied it. The data is `removed`: whether there was a breakpoint; False is
    no error.

    Raises:
        ArgumentError: Not exactly one of the two places is given, or a file without a line or the reverse;
            there is no such file, both `column` and `at` are given, either is given with `function`, or the
            text `at` is not on the line exactly once.
    """
    debugger = call.debugger
    named = place_of_breakpoint(filename, line, function, ())
    if named is None:
        check_for_function(None, column, at)
        return await remove_point(call, str(function))
    path = source_file(named[0], debugger.project)
    asked = RequestedBreakpoint(line=named[1])
    add_place_on_line(asked, column, at)
    line, column = spot_of(resolve_column(path, asked) if at else asked)
    place = indented_after_first(
        f"{relative_to_project(path, debugger.project)}:{place_in_file((line, column))}"
    )
    mirrors = [session.mirror for session in debugger.sessions.values()]
    removed = debugger.breakpoints.remove(
        path, line, mirrors, call.focus.key, column=column or None
    )
    if not removed:
        return Reply(f"No breakpoint at {place}; nothing changed.", {"removed": False})
    await call.peers.wait_for_signs()
    untaken = await debugger.push_breakpoints(path).wait_for_failures()
    count = len({spot_of(each) for each in removed})
    what = f"all {count} breakpoints" if count > 1 else "the breakpoint"
    return with_notes(Reply(f"Removed {what} at {place}.", {"removed": True}), untaken)


@tool("Clear breakpoints", section=Section.STOP, kinds=WRITES, destructive=True, idempotent=True)
async def dap_clear_breakpoints(
    call: Call, filename: Annotated[str | None, Narrows()] = None
) -> Reply:
    """Remove all breakpoints of a file, or of all files; exception filters stay.

    With `filename` None or empty, those of functions, and those on data, instructions and in watches go, too.
    Breakpoints of other clients that collect stay; a note counts those on lines. Adapters are sent the change
    before this returns; a note names failures. The data is `removed`, how many.

    Raises:
        ArgumentError: There is no such file, or it is no regular file.
    """
    debugger = call.debugger
    path = source_file(filename, debugger.project) if filename else None
    before = _count(debugger, path)
    stops = 0 if path else len(debugger.breakpoints.functions)
    collecting = 0 if path else len(debugger.breakpoints.at_functions(call.focus.key))
    cleared = debugger.breakpoints.clear(path, call.focus.key)
    left = _count(debugger, path)
    count = before - left
    await call.peers.wait_for_signs()
    pushes = [debugger.push_breakpoints(*cleared)]
    if stops:
        pushes.append(debugger.push_functions())
    if collecting:
        pushes.append(debugger.push_collecting())
    if path is None:
        count += stops + collecting + len(data_breakpoints.rows_of(debugger))
        count += len(data_breakpoints.recording_lines(debugger))
        pushes.append(data_breakpoints.begin_clearing(debugger))
    lines = await all_of(each.wait_for_failures() for each in pushes)
    removed = Reply(f"Removed {_counted(count, 'breakpoint')}.", {"removed": count})
    others = [f"{left} of other assistants stay: they collect"] if left else []
    return with_notes(removed, [*others, *(line for each in lines for line in each)])


@tool("List breakpoints", section=Section.STOP, read_only=True)
async def dap_breakpoints(call: Call) -> Reply:
    """List all breakpoints with their conditions, and their state in each adapter.

    Breakpoints that adapters have not got yet are sent first, and answers are awaited, from the first one on for
    at most `SECONDS_FOR_OTHERS`; an adapter's failure raises nothing. The data has `breakpoints` (on lines, each
    with `filename`, `line`, `state` and its options), `functions` (names, quoted, the first `MAX_LISTED_VALUES`)
    and `exception_filters` (names, quoted), and if there are any, `in_memory` (on data and instructions) and
    `collecting` (at functions, each with `function` or `calls` and its options).
    """
    debugger = call.debugger
    await debugger.push_undelivered(
        {each.program for each in debugger.sessions.values()}
    ).wait_for_failures()
    rows = [row for path in debugger.breakpoints.paths for row in rows_of(call, path)]
    stops = debugger.breakpoints.functions
    named = [name for _, name in quoted_names(stops)]
    filters = [*map(quoted, debugger.breakpoints.exceptions or ())]
    in_memory = data_breakpoints.rows_of(debugger)
    data: dict[str, Any] = {
        "breakpoints": [row.data() for row in rows],
        "functions": named,
        "exception_filters": filters,
    }
    if in_memory:
        data["in_memory"] = [row.data() for row in in_memory]
    if collecting := debugger.breakpoints.function_points.values():
        data["collecting"] = [data_of_point(each) for each in collecting]
    lines = [row.text(debugger) for row in rows]
    lines += [*(row.text() for row in in_memory), *data_breakpoints.recording_lines(debugger)]
    lines += [f"function {name}" for name in named]
    left = len(stops) - len(named)
    lines += [f"and {left:,} more functions"] * bool(left)
    lines += lines_of_points(call)
    lines += [f"exceptions: {', '.join(filters)}"] if filters else []
    return Reply(lines_of(lines) or "No breakpoints.", data)


@tool(
    "Stop at exceptions",
    section=Section.STOP,
    kinds=CallKinds(
        WRITE, (ArgumentKinds("filters[]", EVALUATE, "with a condition", has_condition),)
    ),
    idempotent=True,
)
async def dap_set_exception_breakpoints(
    call: Call, filters: list[str], session_id: SessionId = None
) -> Reply:
    """Choose the exceptions to stop at, by the adapter's filters (debugpy: raised, uncaught, userUnhandled); [] for none.

    `filters` are ids of the adapter's exception filters, as `FILTER`, `FILTER:TYPE` or `FILTER:CONDITION`, or a
    `TYPE` alone; types and conditions only where the adapter's definition knows how to ask for them. They replace
    the earlier filters in all living sessions, and count for later ones. With `session_id` only that session (its
    first child, where that has the program) gets them, later ones do not, and it becomes the client's default.
    Sessions whose adapters lack some of the filters get the others, and are named in notes, as is a session that
    has not applied the filters: its failure is no error. The data has `filters`, as the caller gave them. Without a
    living session nothing is checked.

    Raises:
        ArgumentError: No adapter of these sessions has all of the filters; nothing was sent.
        NoSession: There is no session `session_id`.
        NotStopped: That session has ended, dapeer has detached from it, or its process was killed while it was
            stopped.
    """
    debugger = call.debugger
    live = debugger.sessions.live
    chosen = [call.session(session_id)] if session_id is not None else live
    if session_id is not None:
        chosen[0].mirror.require_live()
    unable = _check_filters(chosen, filters)

    async def send(session: Session) -> None:
        """Send one session those of the filters that its adapter has."""
        stops_at = session.functions_and_filters
        await stops_at.set_exceptions(stops_at.filters_at_start(filters) or ())

    push = debugger.broadcast("the filters", chosen, send)
    if session_id is None:
        debugger.breakpoints.set_exception_filters(filters)
    stopping = f"Stopping at exceptions: {', '.join(filters) or 'none'}."
    return with_notes(
        Reply(stopping, {"filters": filters}), [*unable, *await push.wait_for_failures()]
    )


def _check_filters(sessions: Sequence[Session], filters: Sequence[str]) -> list[str]:
    """Return a line for each session whose adapter does not have all of these exception filters.

    `filters` are the filters' ids, maybe with conditions. A line names the session and the reason.
    Empty: all have them, or `sessions` is empty.

    Raises:
        ArgumentError: None of the adapters has them all; it is the first session's error.
    """
    unable: dict[int, ArgumentError] = {}
    for session in sessions:
        try:
            session.functions_and_filters.check(filters)
        except ArgumentError as error:
            unable[session.id] = error
    if unable and len(unable) == len(sessions):
        raise next(iter(unable.values()))
    return [
        f"session {each.id} ({each.name}) stops only at some of them: {unable[each.id]}"
        for each in sessions
        if each.id in unable
    ]


def _count(debugger: Debugger, path: str | None) -> int:
    """Return the number of breakpoints in the shared set in one file, or in all if `path` is None."""
    every = debugger.breakpoints
    return sum(len(every.in_file(each)) for each in every.paths if path in {None, each})


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


_FUNCTION = re.compile(r"[^\s'\"`;]+")


def _is_more_than_a_function(name: object) -> bool:
    """Whether a name has more than a function's name in it: some adapters take the rest for a condition."""
    return _FUNCTION.fullmatch(str(name)) is None


@tool(
    "Stop at functions",
    section=Section.STOP,
    kinds=CallKinds(
        WRITE, (ArgumentKinds("names[]", EVALUATE, EXPRESSION, _is_more_than_a_function),)
    ),
    idempotent=True,
)
async def dap_set_function_breakpoints(call: Call, names: list[str]) -> Reply:
    """Stop when one of these functions (`f`, `f if n > 3`) is entered; replaces earlier ones, [] removes them."""
    return await _stop_only_at_functions(call, names)


async def _stop_only_at_functions(call: Call, names: list[str]) -> Reply:
    """Make these the only functions at which programs stop, and return their states as a reply.

    `names` replace all earlier ones, are sent to the sessions that support them, and count for later sessions, too.
    A name may have a condition, as `f if n > 3`; with an empty list no program stops at a function any more. Of the
    names the first `MAX_LISTED_VALUES` are in the reply: in its text with their states, and quoted in `functions`
    of its data. Notes name adapters that failed, or do not support function breakpoints or their conditions.
    """
    debugger = call.debugger
    debugger.breakpoints.set_function_names(names)
    for name in names:
        debugger.record_awaited_everywhere(name, 0)
    untaken = await debugger.push_functions().wait_for_failures()
    live = debugger.sessions.live
    made = {name: made for s in live for name, made in s.mirror.breakpoint_statuses.functions}
    lines = [
        f"{name}: {_state(made.get(function_breakpoint(each)['name']))}"
        for each, name in quoted_names(names)
    ]
    lines += [f"and {len(names) - MAX_LISTED_VALUES:,} more"] * (len(names) > MAX_LISTED_VALUES)
    text = lines_of(lines) or "No function breakpoints."
    reply = Reply(text, {"functions": [name for _, name in quoted_names(names)]})
    return with_notes(reply, [*untaken, *_function_breakpoint_limits(call, live, names)])


def _function_breakpoint_limits(
    call: Call, live: Sequence[Session], names: Sequence[str]
) -> Iterator[str]:
    """Yield a note for each adapter that cannot stop at functions, or ignores their conditions.

    Only adapters of the `live` sessions count, without sessions whose program is debugged by their first
    child. `names` are the function breakpoints, each a function's name or one with a condition, such as `f if
    n > 3`; without a name nothing is yielded. An adapter that ignores conditions gets a note only if one of
    `names` has one.
    """
    conditional = any("condition" in function_breakpoint(name) for name in names)
    debugging = [s for s in live if not s.runs_in_first_child]
    for adapter in dict.fromkeys(s.adapter for s in debugging if names):
        session = next(s for s in debugging if s.adapter == adapter)
        definition = call.debugger.definitions.get(adapter)
        mute = definition is not None and "condition_at_functions" in definition.cannot
        if not session.supports("setFunctionBreakpoints"):
            yield f"{adapter} {NO_FUNCTIONS}"
        elif conditional and (mute or not session.supports("condition")):
            yield f"{adapter} ignores conditions here, so these functions stop each time: a breakpoint on a line may have one"


def quoted_names(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the first `MAX_LISTED_VALUES` names of functions, each as (name, name quoted for an answer)."""
    return [(name, quoted(name)) for name in names[:MAX_LISTED_VALUES]]


async def add_point(call: Call, requested: RequestedFunction) -> Reply:
    """Collect or stop at functions in all programs, running and later ones; return the states as a reply.

    A point that collects (`collects_at`) belongs to the calling client, and replaces one of the client's with
    the same title (`NAME`, or `calls of NAME`); `requested` is marked with the client in place, and the
    reply's data is that of `data_of_point`. Any other point adds its `name` to the functions at which
    programs stop, and the data has `functions`, the first `MAX_LISTED_VALUES` of all these names; its
    `condition` is ignored. Adapters are sent the change, and their answers are awaited, of the slower ones
    only for a while; notes name what did not take the change.

    Raises:
        ArgumentError: An expression or the condition of a point that collects does not parse; nothing was
            set.
    """
    debugger = call.debugger
    if not collects_at(requested):
        return await _stop_only_at_functions(
            call, [*dict.fromkeys([*debugger.breakpoints.functions, requested["name"]])]
        )
    check_and_claim_functions(call, [requested])
    title = title_of(requested)
    debugger.breakpoints.function_points[call.focus.key, title] = requested
    debugger.record_awaited_everywhere(title, 0)
    untaken = await debugger.push_collecting().wait_for_failures()
    return with_notes(
        Reply(lines_of(_states(call, title, requested)), data_of_point(requested)), untaken
    )


async def remove_point(call: Call, name: str) -> Reply:
    """End collecting and stopping at functions in all programs; return whether there was any, as a reply.

    `name` is the function, or the title of the point that collects. Of points that collect only those of the calling client are removed;
    stopping there ends for all clients. The data is `removed`: whether anything was. Notes say where that failed.
    """
    at_functions, stops = (
        call.debugger.breakpoints.function_points,
        call.debugger.breakpoints.functions,
    )
    gone = [
        each
        for each in call.debugger.breakpoints.at_functions(call.focus.key)
        if name in {each[1], at_functions[each]["name"]}
    ]
    if name not in stops and not gone:
        return Reply(f"No breakpoint at {name}; nothing changed.", {"removed": False})
    failures: list[str] = []
    ended: list[str] = []
    if name in stops:
        call.debugger.breakpoints.set_function_names([each for each in stops if each != name])
        failures += await call.debugger.push_functions().wait_for_failures()
        ended.append(f"Nothing stops at {name} any more.")
    if gone:
        for each in gone:
            at_functions.pop(each, None)
        failures += await call.debugger.push_collecting().wait_for_failures()
        ended.append(f"Nothing is collected at {name} any more.")
    return with_notes(Reply(" ".join(ended), {"removed": True}), failures)


def lines_of_points(call: Call) -> list[str]:
    """Return the lines of all points that collect at functions: for each one per different state.

    The states are those in living sessions.
    """
    at_functions = call.debugger.breakpoints.function_points
    return [
        line for (_, title), each in at_functions.items() for line in _states(call, title, each)
    ]


def _states(call: Call, title: str, requested: RequestedFunction) -> list[str]:
    """Return the lines of one point that collects at functions: one for each different state."""
    live = call.debugger.sessions.live
    return list(dict.fromkeys(_state_lines(title, requested, live)))


def _state_lines(
    title: str, requested: RequestedFunction, live: Sequence[Session]
) -> Iterator[str]:
    """Yield the state of a point that collects at functions in each session, or why it does not collect.

    `title` is the key of the point, `requested` is the point, and `live` are the sessions that have not ended.
    Of sessions that leave their program to a child, only those with a state yield a line. Without sessions one
    line says that it is not sent yet.
    """
    options = render.options(requested)
    for each in live:
        made = each.mirror.breakpoint_statuses.collecting_functions.get(title)
        if made is not None:
            yield f"{quoted(title)} {_state(made)}{options}"
        elif not each.runs_in_first_child:
            why = each.line_breakpoints.why_not_at(requested, each.adapter)
            yield f"{quoted(title)} not collected{f' ({why})' if why else ' yet'}{options}"
    if not live:
        yield f"{quoted(title)} {render.breakpoint_state(None)}{options}"


def _state(made: Breakpoint | None) -> str:
    """Return the state of a breakpoint in an adapter, with the adapter's message.

    `made` is the adapter's answer; None: no adapter has got it.
    """
    message = made.get("message") if made else None
    return f"{render.breakpoint_state(made)}{f': {message}' if message else ''}"


def data_of_point(requested: RequestedFunction) -> dict[str, Any]:
    """Return a point at functions as data, with the options that it has.

    `requested` is the point: at functions of this name the program records values without stopping. The
    keys are `function`, or `calls` if whole calls are recorded, with the name; `collect`, the expressions;
    `condition`; and `max_hits`. Name and condition are cut to `MAX_QUOTED_CHARS`; keys without a value are
    left out.
    """
    facts: dict[str, Any] = {
        "calls" if requested["calls"] else "function": quoted(requested["name"]),
        "collect": requested["collect"] or None,
        "condition": quoted(requested.get("condition") or "") or None,
        "max_hits": requested.get("maxHits"),
    }
    return {key: value for key, value in facts.items() if value is not None}
