"""Tools that return a program's output and history, also after its end, and type into its terminal."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, cast

import anyio
from pydantic import Field

from dapeer.base.errors import ArgumentError, Unsupported
from dapeer.base.text.lines import escaped_in, indented, indented_after_first, lines_of
from dapeer.dap.messages import uncoloured
from dapeer.mirror.output import OutputLog, OutputPiece, squeezed
from dapeer.mirror.stops import Stop
from dapeer.peers.consent_kinds import VALUES, CallKinds
from dapeer.sessions.core.session import Session
from dapeer.sessions.core.views import inspect_stop, view_of
from dapeer.tools.base.arguments import Milliseconds, SessionId
from dapeer.tools.base.call import Call, RemainingTime, Reply, with_notes
from dapeer.tools.base.report import ResumeOptions
from dapeer.tools.base.tool import Section, tool
from dapeer.tools.base.waiting import next_stop
from dapeer.view import render
from dapeer.view import snapshot as views
from dapeer.view.activations import compare_locals

SECONDS_FOR_A_LINE = 0.05
"""Seconds to wait for the rest of a line."""
SECONDS_OF_FLOOD = 0.3
"""Seconds to wait for more of a flood, beyond those that a caller has given."""
MAX_CALL_VARIABLES = 3
"""Variables shown for a call that is not compared with the one before."""
MAX_OUTPUT_CHARS = 10_000
"""Characters of output in one result."""


@tool("Program output", section=Section.OUTPUT, read_only=True)
async def dap_program_output(
    call: Call,
    category: Literal["all", "stdout", "stderr", "console", "log", "then"] = "all",
    lines: Annotated[int, Field(ge=1, le=1000)] = 50,
    since: Annotated[int | None, Field(ge=0, description="cursor of an earlier result")] = None,
    wait_ms: Milliseconds = 0,
    include_metadata: bool = False,
    raw: bool = False,
    session_id: SessionId = None,
) -> Reply:
    """Return the last lines that the program printed, or those after cursor `since`; after its end, too.

    At most `lines` lines of `category` are returned, with `since` the first ones after it; `log` has the
    messages of log points, `console` is the adapter's, `then` is what was answered to triggers. `since` is
    the `cursor` of an earlier answer; None: the last lines. `wait_ms` is how many milliseconds to wait at
    most for output to come, or the program's end. At a stop, what was printed before it is awaited in any
    case, for `SECONDS_OF_FLOOD` more. `include_metadata` puts time and category before each line; `raw`
    keeps colours and control characters. The data has `text`, `cursor`, `lines_total` (of the whole output)
    and `ended`, and maybe `exit_code`, `cause`, and `dropped` and `left_out`, the numbers of characters
    that are no longer kept, and that are not shown.

    Raises:
        ArgumentError: `since` is behind the end of the output.
        NoSession: There is no such session.
    """
    # Its processes print into one log, which is complete when all have ended.
    program = call.focus.session_to_read(session_id).program
    session = program.first
    log = program.output
    if category == "then":
        log, category = program.responses, "all"
    if since is not None and since > log.end:
        raise ArgumentError(
            f"`since`: the output ends at cursor {log.end}.", "Give a cursor of this session."
        )
    begin = log.end if since is None else since
    arriving = await _still_arriving(session, wait_ms / 1000 + SECONDS_OF_FLOOD)
    if wait_ms:
        await program.wait_until(
            lambda: not program.living_sessions or log.has(begin, category),
            wait_ms / 1000,
            call.progress,
        )
        # Unbuffered programs print a line in pieces; half a line is worth another moment.
        await session.wait_for(
            lambda: not program.living_sessions or log.ends_line, SECONDS_FOR_A_LINE
        )
    reply = _output_reply(session, log, category, lines, since, metadata=include_metadata, raw=raw)
    return with_notes(reply, ["more is arriving: wait_ms=5000 waits for it"] * arriving)


async def _still_arriving(session: Session, seconds: float) -> bool:
    """Wait until the output before a program's stops has arrived; return whether more is to come.

    The stops are those of all processes of the program of `session` at the time of the call; if there is none, the
    result is False at once. The wait takes at most `seconds`. The result is True if the output before one of them
    still arrives then.
    """
    program = session.program
    mirrors = [each.mirror for each in program.stopped_sessions]
    stops = [(each, stop) for each in mirrors if (stop := each.stop) is not None]
    with anyio.move_on_after(seconds):
        for mirror, stop in stops:
            if stop.presentation.is_output_arriving:
                await program.arriving_output.wait_for_output(mirror, stop)
    return any(stop.presentation.is_output_arriving for _, stop in stops)


def _output_reply(
    session: Session,
    log: OutputLog,
    category: str,
    lines: int,
    since: int | None,
    *,
    metadata: bool,
    raw: bool,
) -> Reply:
    """Return a part of a program's output as a reply, with a cursor for the part after it.

    The data has `text`, `cursor`, `lines_total` (of the whole log) and `ended`. `exit_code` and `cause` of an
    ended program, `dropped` (characters after `since` that the log has dropped) and `left_out` (characters
    that are not shown) are there only if there are any. A result has at most about `MAX_OUTPUT_CHARS`
    characters.

    Args:
        session: The first session of the program.
        log: The output, or what the requests that triggers sent were answered.
        category: Which output: `all`, or DAP's category.
        lines: How many lines at most: the first ones after `since`, or the last ones if that is None.
        since: The cursor after which to begin; None: the last lines, and the cursor is the end of the log.
        metadata: Whether each line begins with its time and category.
        raw: Whether the text stays as the program printed it, with colours and control characters.
    """
    pieces = log.pieces(since or 0, category)
    total = sum(len(piece.text) for piece in pieces)
    pieces = (
        _pieces_for_result(pieces) if since is not None else _pieces_for_result(pieces[::-1])[::-1]
    )
    text = "".join(piece.text for piece in pieces)
    shown = _first_lines(text, lines) if since is not None else _last(text, lines)
    # A cursor counts the characters of all categories: continue after the last one shown.
    cursor = _cursor_after(pieces, len(shown), log.end) if since is not None else log.end
    dropped = max(0, log.start - (since or 0))
    left = total - len(shown)
    body = _with_metadata(pieces, shown, from_start=since is not None) if metadata else shown
    body = body if raw else squeezed(uncoloured(body)).replace("\r\n", "\n")
    data: dict[str, Any] = {
        "text": body,
        "cursor": cursor,
        "lines_total": log.lines,
        "ended": not session.program.living_sessions,
    }
    end = view_of(session).items() if data["ended"] else ()
    data |= {key: escaped_in(value) for key, value in end if key in {"exit_code", "cause"}}
    if dropped:
        data["dropped"] = dropped
    if left:
        data["left_out"] = left
    printed = body if raw else indented(body.removesuffix("\n"))
    end = "\n" if printed and not printed.endswith("\n") else ""
    return Reply(f"{printed}{end}({indented_after_first(_summary(data, since))})", data, raw=raw)


def _summary(data: dict[str, Any], since: int | None) -> str:
    """Return in one line how much output there is, what is left out, and how the program ended.

    `data` is the reply's data, as `_output_reply` makes it; `since` is the cursor that the caller gave, or None.
    """
    parts = [f"{data['lines_total']} lines so far, cursor {data['cursor']}"]
    if data.get("left_out"):
        where = (
            "more follow: since=" + str(data["cursor"])
            if since is not None
            else "earlier ones: since=0"
        )
        parts.append(f"{data['left_out']} characters not shown, {where}")
    if data.get("dropped"):
        parts.append(f"{data['dropped']} characters dropped from the log")
    parts.append(_end(data) if data["ended"] else "not ended")
    return "; ".join(parts)


def _end(data: dict[str, Any]) -> str:
    """Return how a program has ended, by the `exit_code` and `cause` of a reply's data."""
    cause = data.get("cause", "")
    if "exit_code" not in data:
        return cause or "ended, exit code unknown"
    return f"ended, exit code {data['exit_code']}{f': {cause}' if cause else ''}"


def _pieces_for_result(pieces: Sequence[OutputPiece]) -> list[OutputPiece]:
    """Return the first pieces, as many as one result can hold, and one more.

    One result can hold `MAX_OUTPUT_CHARS` characters.
    """
    before = itertools.accumulate((len(piece.text) for piece in pieces), initial=0)
    return [
        piece
        for piece, characters in zip(pieces, before, strict=False)
        if characters <= MAX_OUTPUT_CHARS
    ]


def _first_lines(text: str, lines: int) -> str:
    """Return the first `lines` of a text, at most `MAX_OUTPUT_CHARS` characters."""
    return "".join(text.splitlines(keepends=True)[:lines])[:MAX_OUTPUT_CHARS]


def _last(text: str, lines: int) -> str:
    """Return the last `lines` of a text, at most the last `MAX_OUTPUT_CHARS` characters."""
    return "".join(text.splitlines(keepends=True)[-lines:])[-MAX_OUTPUT_CHARS:]


def _cursor_after(pieces: Sequence[OutputPiece], characters: int, end: int) -> int:
    """Return the cursor after the first `characters` of some pieces of output.

    It is `end` if these are all of them.
    """
    for piece in pieces:
        if characters < len(piece.text):
            return piece.start + characters
        characters -= len(piece.text)
    return end


def _with_metadata(pieces: Sequence[OutputPiece], shown: str, *, from_start: bool) -> str:
    """Return the lines that are shown, each with the time and category of the piece in which it begins.

    `shown` is the text of these lines; `from_start`: they are the first lines of the pieces, otherwise the last ones.
    """
    whole = list(_stamped_lines(pieces))
    count = len(shown.removesuffix("\n").split("\n")) if shown else 0
    return "\n".join(whole[:count] if from_start else whole[len(whole) - count :])


def _stamped_lines(pieces: Sequence[OutputPiece]) -> Iterator[str]:
    """Yield the lines of some pieces of output, each behind its time and category.

    The form is `[12:30:01][stdout] …`, in local time. Both are those of the piece in which the line begins.
    """
    unfinished = ""
    for piece in pieces:
        stamp = time.strftime("%H:%M:%S", time.localtime(piece.time))
        for line in re.findall(r".*\n|.+", piece.text):
            unfinished = unfinished + line if unfinished else f"[{stamp}][{piece.category}] {line}"
            if unfinished.endswith("\n"):
                yield unfinished.rstrip("\n")
                unfinished = ""
    if unfinished:
        yield unfinished


@tool("History of stops", section=Section.OUTPUT, read_only=True)
async def dap_history(
    call: Call,
    number: Annotated[int | None, Field(ge=1)] = None,
    session_id: SessionId = None,
) -> Reply:
    """List the stops so far with place, reason and changed variables, or show one in full.

    If the session is at a stop that is not inspected yet, that one is inspected first, for `SECONDS_TO_LOOK`
    at most. `number` is that of a stop: its snapshot is returned as it was, without notes. Without a number
    the data has `stops`, the oldest first, each with `stop` (its number), `reason`, `thread_id`, `at` (the
    line of its first frame; empty: unknown), and maybe `exception`, `changed` (old and new value by name, the
    old one null if the variable is new), `perhaps_another_call` and `another_call` (variables by name, if the
    stop is in another call than the one before). The text is `No stops.` if there is none; a note names other
    processes of the program that have stopped. Old stops are dropped.

    Raises:
        ArgumentError: The history does not have the stop `number`.
        NoSession: There is no such session, or none at all.
    """
    session = call.focus.session_to_read(session_id)
    history = session.mirror.history
    await inspect_stop(session)
    if number is None:
        rows = [_row(session, stop) for stop in history]
        reply = Reply(lines_of(_row_text(row) for row in rows) or "No stops.", {"stops": rows})
        return reply if rows else with_notes(reply, _stopped_elsewhere(session))
    stop = history.find(number)
    if stop is None:
        known = [stop.number for stop in history]
        kept = f"{known[0]} to {known[-1]}" if known else "none"
        raise ArgumentError(f"There is no stop {number} in the history.", f"It holds: {kept}.")
    view = views.snapshot_of_stop(session.id, session.mirror, stop, call.debugger.project)
    view.pop("notes", None)
    return Reply(render.snapshot(view, call.debugger.project), cast("dict[str, Any]", view))


def _stopped_elsewhere(session: Session) -> list[str]:
    """Return a note that names the other processes of the program that have stopped; empty: none has."""
    others = [str(each.id) for each in session.program.sessions if any(each.mirror.history)]
    return [
        f"other processes of this program have stopped: session_id={' or '.join(others)}"
    ] * bool(others)


def _row(session: Session, stop: Stop) -> dict[str, Any]:
    """Return a stop as a row of `dap_history`: number, reason, thread, place, and changed variables.

    The keys are `stop` (the number), `thread_id`, `reason`, `at` (the line of the first frame; empty: the place
    is not known), and maybe `exception` (text), `changed` (a list of old and new text by name; an old one of
    None: the variable is new) and `perhaps_another_call` (True). If its function was in another call when last
    seen, `another_call` has the texts of its first `MAX_CALL_VARIABLES` variables by name.
    """
    view = cast(
        "Mapping[str, Any]",
        views.snapshot_of_stop(session.id, session.mirror, stop, session.project),
    )
    kept = ("stop", "reason", "thread_id", "exception", "changed", "perhaps_another_call")
    place = view.get("stack", [])[:1]
    row = {**{key: view[key] for key in kept if key in view}, "at": place[0] if place else ""}
    if compare_locals(session.mirror.history, stop).is_same is False:
        row["another_call"] = dict(list(view.get("locals", {}).items())[:MAX_CALL_VARIABLES])
    return row


def _row_text(row: dict[str, Any]) -> str:
    """Return a row of `dap_history`, as `_row` makes it, as one line: `STOP PLACE (REASON) | CHANGES`.

    A thread other than 1 and the first line of an exception stand behind the reason. The changes are
    `NAME: OLD → NEW` or `NAME = VALUE (new)`, perhaps after `perhaps another call: `. In another call than that of
    the stop before they are `another call: ` and the values of its variables. Without changes, ` | ` is left out.
    """
    changed = "; ".join(
        f"{name} = {new} (new)" if old is None else f"{name}: {old} → {new}"
        for name, (old, new) in row.get("changed", {}).items()
    )
    if "perhaps_another_call" in row:
        changed = f"perhaps another call: {changed}"
    if "another_call" in row:
        changed = f"another call: {'; '.join(render.assignments(row['another_call']))}"
    thread = f" thread {row['thread_id']}" if row["thread_id"] != 1 else ""
    exception = f" {row['exception'].splitlines()[0]}" if row.get("exception") else ""
    return f"{row['stop']} {row['at']} ({row['reason']}){thread}{exception}" + (
        f" | {changed}" if changed else ""
    )


@dataclass(frozen=True, slots=True)
class _TypingOptions(ResumeOptions):
    wait_until_paused: bool = field(default=False, init=False)
    timeout_ms: Milliseconds = 1000


@tool(
    "Type into the terminal",
    section=Section.OUTPUT,
    kinds=CallKinds(("run", "evaluate"), VALUES, "a program may run what is typed"),
    needs=["terminal"],
)
async def dap_send_input(
    call: Call, text: str, enter: bool = True, *, options: _TypingOptions
) -> Reply:
    r"""Type a line for a program started with `terminal`, and return what it prints or where it stops next. `\x04` alone, without `enter`, ends its input.

    With `enter` a line end is typed behind `text`. If the program is stopped, the call returns once that is typed: the
    program reads the text later. Else it then waits for output or a stop, for at most `timeout_ms` milliseconds, by
    default one second, and returns the state; output from before counts as shown, and is not in it. `evaluate` lists
    expressions that are evaluated at the next stop, and `show` says how much of it is shown. The session becomes the
    client's default, unless it is of another program and no id is given.

    Raises:
        Unsupported: The program does not run in a terminal.
        ArgumentError: A line of `text` is longer than a terminal takes; nothing was typed.
        NotStopped: The program has ended or left its terminal, or does not read what is typed in time, so that only the
            beginning was typed; or it left the next stop before the first of `evaluate` was evaluated.
        DapeerError: There is no such session, or the Neovim that has the terminal does not respond.
    """
    session = call.session(options.session_id)
    session.mirror.require_live()
    program = session.program
    keyboard = program.keyboard
    if keyboard is None:
        raise Unsupported(
            "The program does not run in a terminal.", "Start it with dap_run and `terminal: true`."
        )
    log, epoch, left = (
        session.program.output,
        session.mirror.epoch,
        RemainingTime(options.timeout_ms),
    )
    begin, stop = log.end, session.mirror.stop
    await keyboard.type(f"{text}\n" if enter else text)
    # A program that ran may have stopped anew while it was typed.
    if stop is not None and session.mirror.stop is stop:
        return Reply("Typed. The program is stopped; it reads this when it runs on.")
    await program.wait_until(
        lambda: log.end > begin or program.stop_or_end(session, epoch) is not None,
        options.timeout_ms / 1000,
    )
    await program.arriving_output.wait_for_silence()
    # The caller has seen the earlier output.
    session.mirror.mark_shown(begin)
    return await next_stop(call, session, epoch, left.remaining_ms, options=options)
