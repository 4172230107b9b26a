"""Arguments that many tools share, checked; breakpoints are marked as those of their client."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field

from dapeer.base.errors import ArgumentError
from dapeer.base.sources import line_text, relative_to_project
from dapeer.base.text.fitting import quoted
from dapeer.base.text.source_lines import (
    has_many_places,
    heads_near,
    listed_places,
    nearest_place,
    places_of,
)
from dapeer.dap.requested_breakpoints import (
    Place,
    RequestedBreakpoint,
    RequestedFunction,
    place_in_file,
    spot_of,
)
from dapeer.sessions.core.session import Session
from dapeer.sessions.core.views import left_stop_error
from dapeer.tools.base.call import Call
from dapeer.tools.base.schema import RARE, Unlisted
from dapeer.tools.base.syntax import (
    adapters_of,
    check_breakpoint,
    check_condition,
    check_expressions,
    is_python,
    operands,
)

SessionId = Annotated[int | None, Field(ge=1)]
# An adapter may number its threads in any way, but no caller means 0 by a thread.
ThreadId = Annotated[int | None, Field(json_schema_extra={"minimum": 1})]
GroupName = Annotated[str | None, Unlisted()]
"""The answer that makes a group names it."""
FrameId = Annotated[int | None, Field(ge=1)]
Line = Annotated[int, Field(ge=1)]
Lines = Sequence[Line]
Milliseconds = Annotated[int, Field(ge=0)]
CollectArgument = Annotated[Sequence[str], Field(description="record, do not stop")]
Expect = Annotated[str | None, Field(description="stop where false")]
MaxHits = Annotated[int | None, Field(ge=1)]
RareColumn = Annotated[int | None, Field(ge=1, json_schema_extra={RARE: True})]
RareText = Annotated[
    str | None, Field(description="text of the place", json_schema_extra={RARE: True})
]
"""For lines with many places, as a bundler writes them."""
_NAME = re.compile(r"[\w.*?<>\[\]]+")
MOST_COLLECTED = 30
MAX_EXPRESSION_CHARS = 2000
"""Characters of an expression that is collected."""


@dataclass(frozen=True, slots=True)
class CallTarget:
    """Which session a call is for, or which group of them."""

    session_id: SessionId = None
    group: GroupName = None


class BreakpointArgument(BaseModel):
    """A breakpoint as a caller gives it."""

    model_config = ConfigDict(extra="forbid")

    filename: str | None = None
    line: Annotated[int | None, Field(ge=1)] = None
    function: str | None = None
    calls: Annotated[Sequence[str], Field(description='["shop.*"]')] = ()
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    collect: CollectArgument = ()
    max_hits: MaxHits = None
    expect: Expect = None
    column: RareColumn = None
    at: RareText = None

    @property
    def is_collecting(self) -> bool:
        """Whether the breakpoint collects values (by `collect` or `calls`) and does not stop the program."""
        return bool(self.collect or self.calls)

    def requested(self) -> tuple[str, RequestedBreakpoint] | RequestedFunction:
        """Return the file and the breakpoint in DAP's terms, or the functions at which it is set.

        The file is as the caller gave it. A tuple is (file name, breakpoint) for one on a line; a `RequestedFunction` is for one with
        `function` or `calls`.

        Raises:
            ArgumentError: The place is missing or there are several, or the options exclude each other.
        """
        place = place_of_breakpoint(self.filename, self.line, self.function, self.calls)
        if place is None:
            check_for_function(self.expect, self.column, self.at)
        plain = source_breakpoint(
            self.line or 0, self.condition, self.hit_condition, self.log_message
        )
        add_place_on_line(plain, self.column, self.at)
        if place is not None:
            return place[0], add_collecting(plain, self.collect, self.max_hits, self.expect)
        return requested_functions(self.function, self.calls, plain, self.collect, self.max_hits)


def check_for_function(expect: str | None, column: int | None, at: str | None) -> None:
    """Raise an error if a breakpoint at functions has what only one on a line can have.

    Raises:
        ArgumentError: One of the arguments is given.
    """
    given = {"expect": expect, "column": column, "at": at}
    for name in (name for name, value in given.items() if value):
        raise ArgumentError(
            f"`{name}` is for a line.", f"Give `filename` and `line`, or leave `{name}` out."
        )


def place_of_breakpoint(
    filename: str | None, line: int | None, function: str | None, calls: Sequence[str]
) -> tuple[str, int] | None:
    """Return the file and line of a breakpoint; None if it is set by `function` or `calls` instead.

    `line` counts from 1. An empty `filename`, a `line` of 0 and empty `calls` count as not given; an empty `function`
    counts as given. `calls` are patterns of functions whose calls are collected.

    Raises:
        ArgumentError: Not exactly one of the three places is given, or a file without a line, or a line without a
            file.
    """
    given = [bool(filename or line), function is not None, bool(calls)]
    if sum(given) != 1 or bool(filename) != bool(line):
        raise ArgumentError(
            "A breakpoint has `filename` and `line`, or `function`, or `calls`.",
            "Give one of them.",
        )
    return (filename, line) if filename and line else None


def requested_functions(
    function: str | None,
    calls: Sequence[str],
    plain: RequestedBreakpoint,
    expressions: Sequence[str],
    max_hits: int | None,
) -> RequestedFunction:
    """Return the functions at which a breakpoint without a line is set, with what is collected there.

    The `name` of the result holds all names, joined by commas; its `calls` says whether it is for calls, and
    its `collect` is empty for a breakpoint that stops. The result also has the `condition` and `maxHits` of
    `plain`, if that has them and something is collected.

    Args:
        function: The name of one function, or None if `calls` names them. If something is collected there, it
            is not checked.
        calls: Names or patterns such as `shop.*` of functions whose calls are collected; a text may hold
            several, separated by commas. With `calls`, `function` is ignored.
        plain: The breakpoint's condition, hit condition and log message in DAP's terms; where something is
            collected, this function adds `collect` and `maxHits` to it in place.
        expressions: What is evaluated at each hit; if it and `calls` are empty, the program stops at the
            function.
        max_hits: After how many hits collecting ends; None: no limit.

    Raises:
        ArgumentError: A name in `calls`, or of the function to stop at, is not valid; an expression is empty;
            there are too many or too long ones; or an option needs `collect`, or excludes it.
    """
    names = [each.strip() for text in calls for each in text.split(",")]
    if bad := next((each for each in names if not _NAME.fullmatch(each)), None):
        raise ArgumentError(
            f"`calls`: `{bad}` is no name.", "Name functions as shop.total or Order.*."
        )
    if not (calls or expressions):
        name = (function or "").strip()
        if max_hits or plain.keys() - {"line"} or not _NAME.fullmatch(name):
            raise ArgumentError(
                "A breakpoint with `function` that has more than a name needs `collect`.",
                "To stop there: `function` alone, or dap_set_function_breakpoints.",
            )
        return RequestedFunction(name=name, calls=False, collect=[])
    plain = add_collecting(plain, expressions, max_hits, calls=bool(calls))
    requested = RequestedFunction(
        name=", ".join(dict.fromkeys(names)) or (function or "").strip(),
        calls=bool(calls),
        collect=plain.get("collect", []),
    )
    if "condition" in plain:
        requested["condition"] = plain["condition"]
    if "maxHits" in plain:
        requested["maxHits"] = plain["maxHits"]
    return requested


def add_collecting(
    requested: RequestedBreakpoint,
    expressions: Sequence[str],
    max_hits: int | None,
    expect: str | None = None,
    *,
    calls: bool = False,
) -> RequestedBreakpoint:
    """Add to a breakpoint, in place, what it collects; return the same object.

    Nothing is added if there is nothing to collect. `expect` is a condition that should hold (None or blank:
    none): the program stops where it is false, and its operands are collected if there are no other
    `expressions`. `max_hits` limits the hits at which values are collected; None: no limit. `calls`: the
    breakpoint collects calls of functions, even without expressions. It sets the keys `collect`, `maxHits` and
    `expect`; with `expect`, the last expression collected is the truth of that condition, as `not not (…)`.
    After an error `expect` may be set already.

    Raises:
        ArgumentError: `max_hits` is given without anything to collect, the breakpoint has a log message or a
            hit condition, or an expression is empty or too long, or there are too many.
    """
    if expect and expect.strip():
        requested["expect"] = expect.strip()
        expressions = [*(expressions or operands(expect)), f"not not ({expect.strip()})"]
    if not (expressions or calls):
        if max_hits is not None:
            raise ArgumentError("`max_hits` is for `collect`.", "To stop later: hit_condition.")
        return requested
    if other := next((key for key in ("logMessage", "hitCondition") if key in requested), None):
        name = "log_message" if other == "logMessage" else "hit_condition"
        raise ArgumentError(
            f"`{'expect' if expect else 'collect'}` and `{name}` exclude each other.",
            "A condition and max_hits go with it.",
        )
    if len(expressions) > MOST_COLLECTED or any(
        len(each) > MAX_EXPRESSION_CHARS for each in expressions
    ):
        raise ArgumentError(
            f"`collect` takes {MOST_COLLECTED} expressions of {MAX_EXPRESSION_CHARS} characters.",
            "Give fewer.",
        )
    if not all(each.strip() for each in expressions):
        raise ArgumentError("An expression of `collect` is empty.", "Leave it out.")
    requested["collect"] = [each.strip() for each in expressions]
    if max_hits is not None:
        requested["maxHits"] = max_hits
    return requested


def source_breakpoint(
    line: int, condition: str | None, hit_condition: str | None, log_message: str | None
) -> RequestedBreakpoint:
    """Return a breakpoint on a 1-based line in DAP's terms; options that are None or empty are left out.

    Its keys are `line`, `condition`, `hitCondition` and `logMessage`.
    """
    requested = RequestedBreakpoint(line=line)
    if condition:
        requested["condition"] = condition
    if hit_condition:
        requested["hitCondition"] = hit_condition
    if log_message:
        requested["logMessage"] = log_message
    return requested


def add_place_on_line(requested: RequestedBreakpoint, column: int | None, at: str | None) -> None:
    """Add the 1-based `column`, or the text `at` the place, to a breakpoint in place.

    `at` is a text on the breakpoint's line; its column is found later. None, column 0 and an empty text count
    as not given: with neither, the breakpoint stays as it is.

    Raises:
        ArgumentError: Both are given.
    """
    if column and at:
        raise ArgumentError(
            "`column` and `at` both name the place on the line.", "Give one of them."
        )
    if column:
        requested["column"] = column
    if at:
        requested["at"] = at


def thread_of(session: Session, thread_id: int | None) -> int:
    """Return the id of the thread that a caller means; for None that of the session's current stop.

    A given id is only checked where the adapter has listed threads.

    Raises:
        ArgumentError: The adapter has no thread with this id; the error lists those it has.
        NotStopped: `thread_id` is None, and the session is not stopped.
    """
    if thread_id is None:
        return session.mirror.require_stop().thread_id
    known = session.mirror.threads
    if known and thread_id not in known:
        listed = ", ".join(map(str, known))
        raise ArgumentError(f"There is no thread {thread_id}.", f"Threads: {listed}.")
    return thread_id


async def frame_of(session: Session, frame_id: int | None) -> int | None:
    """Return the adapter's id of the frame that a caller means by its handle.

    `frame_id` is a handle that the session has given out for a frame; None means the frame of the stop to
    show first. For None, the stack is requested from the adapter if the mirror does not have it yet. The
    result is None only if `frame_id` is None and the adapter gives no frame.

    Raises:
        StaleReference: The handle belongs to an earlier stop.
        ArgumentError: There is no such handle.
        NotStopped: The session is not stopped, or the program has left the stop before a frame was known.
        DapeerError: The adapter rejects the request for the stack, or does not answer.
    """
    stop = session.mirror.require_stop()
    if frame_id is not None:
        return stop.presentation.handles.resolve("frame_id", frame_id)
    frame = await session.inspect.fetch_shown_frame(stop)
    if frame is None and (over := left_stop_error(session, stop)) is not None:
        raise over
    return frame["id"] if frame else None


# Breakpoints that collect, checked before they are set, and marked as those of their client.


def resolve_column(path: str, requested: RequestedBreakpoint) -> RequestedBreakpoint:
    """Return a breakpoint whose `at`, a text on its line, is replaced by the `column` of the text, from 1.

    The line is read from the file at `path`, and counts as empty where it cannot be read. A breakpoint without
    `at` is returned itself; with `at` a new object is returned, in which a given `column` is replaced.

    Raises:
        ArgumentError: The text is not on the line, or there several times; or the line is very long with many
            statements, as minified code, and neither `at` nor a column is given.
    """
    line = line_text(path, requested["line"])
    text = requested.get("at")
    if text is None:
        if "column" not in requested and has_many_places(line):
            choices = listed_places(heads_near(line))
            raise ArgumentError(
                f"`line`: line {requested['line']} has {len(line):,} characters with many places, and a breakpoint on it means none of them.",
                "Name one by `at` (the text of the place) or `column`"
                + (f"; functions begin at {choices}." if choices else "."),
            )
        return requested
    found = places_of(line, text)
    if not found:
        near = nearest_place(line, text)
        raise ArgumentError(
            f"`at`: line {requested['line']} does not have the text {quoted(text)}.",
            f"The nearest is {near}." if near else "Copy it from the line, which dap_source shows.",
        )
    if len(found) > 1:
        raise ArgumentError(
            f"`at`: line {requested['line']} has {quoted(text)} at {len(found)} places: {listed_places(found)}.",
            "Give more of the text, or the `column`.",
        )
    rest = {key: value for key, value in requested.items() if key != "at"}
    return cast("RequestedBreakpoint", {**rest, "column": found[0].column})


def claim_breakpoints(
    call: Call,
    requested: Sequence[tuple[str, RequestedBreakpoint]],
    adapter: str = "",
    *,
    forgets_earlier: bool = False,
) -> None:
    """Check breakpoints before they are set, and mark those that collect as the calling client's.

    The breakpoints are marked in place. Each is (path of its file, breakpoint). The mark is the key `collectedBy`.
    `adapter` is the id of the adapter that gets them; empty: any adapter may. `forgets_earlier`: those of the set go
    before these are set.

    Raises:
        ArgumentError: An expression does not parse, an adapter cannot do what is asked, or two are at one
            place. No breakpoint has been set; those before it in
            the sequence may be marked.
    """
    _check_places(call, requested, adapter, forgets_earlier=forgets_earlier)
    for path, each in requested:
        check_breakpoint(call.debugger, path, each, adapter)
        if "collect" in each:
            each["collectedBy"] = call.focus.key


def is_of_another(call: Call, requested: RequestedBreakpoint) -> bool:
    """Whether a breakpoint collects for another client; False for one that collects for nobody."""
    return requested.get("collectedBy", call.focus.key) != call.focus.key


def split_breakpoints(
    call: Call, breakpoints: Sequence[BreakpointArgument], program: str
) -> tuple[list[tuple[str, RequestedBreakpoint]], list[RequestedFunction]]:
    """Return a caller's breakpoints as two lists: those on lines, and those at functions.

    One on a line is (file as given, breakpoint). What is collected at functions is checked, and marked as the calling client's. `program`
    is the program that is about to be started, whose name tells the language of the expressions; empty: it is not known.

    Raises:
        ArgumentError: A breakpoint has no valid place or options, an expression does not parse, or two different ones are on one line;
            nothing has been set.
    """
    every = [each.requested() for each in breakpoints]
    functions = [each for each in every if not isinstance(each, tuple)]
    check_and_claim_functions(call, functions, program)
    return [each for each in every if isinstance(each, tuple)], functions


def _check_places(
    call: Call,
    requested: Sequence[tuple[str, RequestedBreakpoint]],
    adapter: str,
    *,
    forgets_earlier: bool,
) -> None:
    """Check that no two of a call's breakpoints are at one place, and that an adapter tells places apart.

    Equal breakpoints at one place are allowed, and so is one at a place that has a breakpoint in the shared
    set. Where a line would have several places, one of the adapters that may get the file (`adapters_of`) must
    tell them apart; without any such adapter that is not checked. The places of the shared set where a
    breakpoint stops, logs, or collects for this client count there, unless the call `forgets_earlier` ones.
    `adapter` is the id of the adapter that gets the breakpoints; empty: any may. `requested` are the call's,
    each with the path of its file.

    Raises:
        ArgumentError: Two different ones are at one place, or none of the adapters tells places of a line
            apart; the message names file and line.
    """
    known: dict[Place, RequestedBreakpoint] = {}
    columns: dict[tuple[str, int], set[int]] = {}
    for path, each in requested:
        line, column = spot_of(each)
        file = relative_to_project(path, call.debugger.project)
        if known.setdefault((path, line, column), each) != each:
            raise ArgumentError(
                f"Two breakpoints are at {file}:{place_in_file((line, column))}, and a place has one.",
                "Name the places of the line by `at` or `column`; one `collect` takes several expressions.",
            )
        before = call.debugger.breakpoints.spots_on(path, line, call.focus.key)
        here = columns.setdefault((path, line), set())
        here |= {column} if forgets_earlier else {column, *(known for _, known in before)}
        takers = [one for one in adapters_of(call.debugger, path, adapter) if len(here) > 1]
        if takers and not any(one.quirks.columns for one in takers):
            names = " or ".join(one.id for one in takers)
            raise ArgumentError(
                f"{file}:{line} would have {len(here)} breakpoints, and {names} does not tell places of one line apart.",
                "Give one for the line, with a `condition` or several expressions in `collect`; or write each statement on its own line.",
            )


def check_and_claim_functions(
    call: Call, requested: Sequence[RequestedFunction], program: str = ""
) -> None:
    """Check what is collected at functions, and mark each in place as the calling client's.

    The mark is the key `collectedBy`. Expressions and conditions are parsed as Python if a row is made for each
    call that is over (`calls`), or if `program` is Python's. If `program` is empty, they are parsed as Python
    if all living sessions can trace calls, or none lives, and the function's name has no colon. Otherwise only
    unmatched braces (of expressions) and an operator without operand at the end are found. After an error,
    functions before the wrong one are marked.

    Args:
        call: The call, whose client asks for the points.
        requested: The functions with what is collected at them.
        program: The path of the program that is about to be started; empty: it is not known.

    Raises:
        ArgumentError: An expression or a condition does not parse; no breakpoint has been set.
    """
    traced = all(each.line_breakpoints.tracers for each in call.debugger.sessions.live)
    for each in requested:
        # Only Python's programs tell calls.
        named = is_python(call.debugger, program) if program else traced and ":" not in each["name"]
        python = each["calls"] or named
        check_expressions(each["collect"], python=python)
        check_condition(each.get("condition") or "True", python=python)
        each["collectedBy"] = call.focus.key
