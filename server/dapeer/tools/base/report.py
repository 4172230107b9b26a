"""A session as text for one reader: facts are gathered, put together, and written, in this order.

Only `inspect`, `observe` and `take_session_facts` wait. What is gathered as news counts as reported, so no other caller gets it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, cast

import anyio

from dapeer.base.errors import NotStopped, RequestFailed
from dapeer.base.json_types import Value, as_array
from dapeer.base.system import process_table
from dapeer.base.system.threads import in_thread
from dapeer.base.text.fitting import fitted
from dapeer.base.text.lines import indented, indented_after_first, lines_of
from dapeer.collecting.text.timeline import CollectedNews, take_collected_news
from dapeer.dap.requests import CONTROL
from dapeer.launch.other_languages import note_undebugged, pid_of
from dapeer.mirror.places import ThreadLocation, ThreadLocations
from dapeer.mirror.states import Phase
from dapeer.mirror.stops import Stop
from dapeer.sessions import outcomes
from dapeer.sessions.core import views
from dapeer.sessions.core.process_watch import take_unreported_kills
from dapeer.sessions.core.session import Session
from dapeer.sessions.core.views import MirrorReading, inspect_stop, last_place, view_of
from dapeer.sessions.inspection.fetching import run_together
from dapeer.sessions.inspection.inspection import SECONDS_TO_LOOK
from dapeer.sessions.inspection.thread_locations import SECONDS_TO_READ
from dapeer.tools.base import evaluation
from dapeer.tools.base.arguments import GroupName, Milliseconds, SessionId, frame_of
from dapeer.tools.base.call import SECONDS_TO_INSPECT, Call, RemainingTime, Reply
from dapeer.tools.base.evaluation import MAX_WHOLE_CHARS, RESULT_CHARS, EvaluationResult
from dapeer.tools.base.schema import Unlisted
from dapeer.view import render, waits
from dapeer.view.snapshot import Snapshot, shorten_snapshot
from dapeer.view.variables import VALUE_CHARS

# The options of a caller for the next stop, which the tools that resume a program share.

Show = Literal["full", "brief"] | None


@dataclass(frozen=True, slots=True)
class StopOptions:
    """What to evaluate at the next stop, how much of the stop to show, and how long to wait for it."""

    evaluate: Sequence[str] = ()
    show: Show = None
    wait_until_paused: Annotated[bool, Unlisted()] = True
    """False: as a time-out of 0."""
    timeout_ms: Milliseconds = 30_000


@dataclass(frozen=True, slots=True)
class ResumeOptions(StopOptions):
    """The same, of the session that a tool resumes."""

    session_id: SessionId = None


@dataclass(frozen=True, slots=True)
class GroupOptions(ResumeOptions):
    """The same, of a session or a group of them."""

    group: GroupName = None


@dataclass(frozen=True, slots=True)
class WaitOptions(ResumeOptions):
    """The same, of a tool that always waits."""

    wait_until_paused: bool = field(default=True, init=False)


NOTHING: Final = StopOptions()

MAX_ASKED_PROCESSES = 8
"""Other processes of a program that are asked what they wait for."""

# Frames of running threads and tasks: read as they are now, without running code of the program.


def frame_id_mark(session: Session, place: ThreadLocation) -> str:
    """Return ` [frame_id N]` of the innermost frame of the user's code in a running thread or task.

    Empty: frames of running threads cannot be read there, the thread is stopped, or runs no code of the user.
    """
    if not session.thread_locator.reads_running or place.stopped or not place.own_id:
        return ""
    found = users_frame_id(session, place)
    return "" if found is None else f" [frame_id {found}]"


def users_frame_id(session: Session, place: ThreadLocation) -> int | None:
    """Return the id of the innermost frame of the user's code in a running thread or task, or None."""
    users = (number for number, each in enumerate(place.frames) if session.frames.is_users(each))
    number = next(users, None)
    return None if number is None else session.thread_locator.give_frame_id(place, number)


async def frame_to_read(session: Session, frame_id: int | None) -> int | None:
    """Return the id of the frame to read in a thread that is not stopped; None: there is no such frame.

    `frame_id` is the frame that the caller names, or None. While the program runs, a `frame_id` is returned
    unchecked; without one, None is returned, unless a pause is requested and the program has not stopped
    yet: then it is the user's innermost frame of the first thread that has one; threads are asked for
    (`locate_threads`), which may take seconds. At a stop, `frame_id` is returned if it is a frame of a thread
    or task that is not stopped, else None, as it is to be read through the adapter. It is None, too, if the
    program has ended, or if this adapter's frames can be read only while the program is stopped.

    Raises:
        NotStopped: A pause is requested, `frame_id` is None, and no thread runs code of the user.
    """
    mirror = session.mirror
    if mirror.has_ended or not session.thread_locator.reads_running:
        return None
    if mirror.stop is not None:
        # At a stop, too, a task waits somewhere, and has a frame of its own.
        return (
            frame_id
            if frame_id is not None and session.thread_locator.has_frame(frame_id)
            else None
        )
    if frame_id is not None or not mirror.is_pausing:
        return frame_id
    seen = await session.thread_locator.locate_threads()
    found = next(filter(None, (users_frame_id(session, each) for each in seen.threads)), None)
    if found is None:
        raise NotStopped(
            "No thread runs code of the program now.", "dap_stacktrace lists all frames."
        )
    return found


async def variables_of_frame(
    session: Session, frame: int, path: str | None, kind: str | None, start: int, count: int
) -> Reply:
    """Return the variables of a running thread's frame, or the value at a path with its members.

    They are read by code of dapeer in the program, which the adapter evaluates. The reply's text says that the thread
    is not stopped. Its data has `variables`, a list of objects with `name`, `value` and `type`: the frame's
    variables, or with `path` the members of the value there. The value itself is only in the text.

    Args:
        session: The session of the thread.
        frame: The frame's id, from `frame_id_mark` or `frame_to_read`.
        path: The variable to show, such as `order.items`; None: all variables of the frame.
        kind: `indexed` or `named`: only elements, or only members, are shown; None: both.
        start: The index of the first variable to show, among those of `kind`.
        count: How many to show at most.

    Raises:
        NotStopped: The frame or the path cannot be read, or the program does not answer.
        ArgumentError: There is no such frame of a running thread.
    """
    answer = await session.thread_locator.read_frame(frame, path or "")
    if error := answer.get("error"):
        raise NotStopped(f"Not read: {error}.", "dap_stacktrace lists the frames as they are now.")
    known = [*map(_row, as_array(answer.get("variables")))]
    rows = [
        each
        for each in known
        if kind in {None, "indexed" if each[0].strip("[]").isdigit() else "named"}
    ]
    shown = rows[start : start + count]
    lines = [_line(_row(answer["value"]), RESULT_CHARS)] if answer.get("value") else []
    lines += [_line(each, VALUE_CHARS) for each in shown]
    if (left := len(rows) - start - len(shown)) > 0:
        lines.append(f"({left} more: start={start + len(shown)})")
    data = {
        "variables": [dict(zip(("name", "value", "type"), each, strict=True)) for each in shown]
    }
    note = f"({session.thread_locator.line_of(frame, session.project)}, not stopped: as it is now)"
    return Reply(
        lines_of([*map(indented, map(indented_after_first, lines or ["No variables."])), note]),
        data,
    )


async def evaluate_in_frame(
    session: Session,
    frame: int,
    expressions: Sequence[str],
    max_chars: int | None,
    left: RemainingTime,
) -> Reply:
    """Evaluate expressions in a frame of a running thread, and return a reply with their results.

    The expressions are evaluated one after the other, each for at most `SECONDS_TO_READ`, and all within the time
    `left`; those behind it have an error. What cannot be read without running code (such as a call) is run by
    another thread of the program; asking for consent is the caller's task. `frame` is the frame's id, from
    `frame_id_mark` or `frame_to_read`. `max_chars` is how many characters of the values are shown (None: as many as
    usual), of several at most an equal share of `MAX_WHOLE_CHARS`, or `VALUE_CHARS`.

    The reply's data has `frame`, a line that names the place. A single expression has its fields beside that:
    `expression`, `result` and perhaps `type`. Of several expressions, `values` is a list of these fields in their
    order, where a failed one, also one that the program does not answer, has `error` in place of `result`.

    Raises:
        RequestFailed: There is only one expression, and it fails, the frame has gone on, or the program is silent.
        ArgumentError: There is no such frame of a running thread.
    """
    found = [
        await _evaluate_in_frame(session, frame, each, max_chars, left) for each in expressions
    ]
    if len(found) == 1 and found[0].error:
        raise RequestFailed("evaluate", found[0].error)
    place = session.thread_locator.line_of(frame, session.project)
    room = max_chars or RESULT_CHARS
    data: dict[str, Any]
    if len(found) == 1:
        lines, data = [found[0].text(room)], {**found[0].data(room), "frame": place}
    else:
        share = max(MAX_WHOLE_CHARS // len(found), VALUE_CHARS)
        room, shown = (min(each, share) for each in (room, max_chars or VALUE_CHARS))
        lines = [each.line(shown) for each in found]
        data = {"values": [each.data(room) for each in found], "frame": place}
    note = f"({place}, not stopped: as it is now)"
    return Reply(
        lines_of([*map(indented, map(indented_after_first, lines)), note]),
        data,
        max_value_chars=max_chars or 0,
    )


async def _evaluate_in_frame(
    session: Session, frame: int, expression: str, max_chars: int | None, left: RemainingTime
) -> EvaluationResult:
    """Read or run one expression in a frame of a running thread; return its value or its error.

    Without any time `left` nothing is evaluated, which is an error, too. `max_chars` is how long the value's text is
    about (None: short).
    """
    seconds = min(left.remaining_ms / 1000, SECONDS_TO_READ)
    if not seconds:
        return EvaluationResult(expression, error="not evaluated")
    answer = await session.thread_locator.read_frame(
        frame, expression, runs=True, max_chars=max_chars, seconds=seconds
    )
    if error := answer.get("error"):
        return EvaluationResult(expression, error=str(error))
    _name, value, kind = _row(answer.get("value"))
    return EvaluationResult(expression, value, kind)


def _row(row: Value) -> tuple[str, str, str]:
    """Return the (name, value, type) of a row that the debuggee has sent; three empty texts if it is none."""
    match row:
        case [str(name), str(value), str(kind)]:
            return name, value, kind
        case _:
            return "", "", ""


def _line(row: tuple[str, str, str], limit: int) -> str:
    """Return the line `name = value` of a (name, value, type), with the value cut to `limit` characters."""
    name, value, _kind = row
    return f"{name} = {fitted(value, limit)}"


MILLISECONDS_TO_EVALUATE = 5000
"""Milliseconds that the expressions of a caller may take together."""
ROOM = 2 * VALUE_CHARS
"""Characters of a value."""
SECONDS_UNTIL_SLOW = 10.0
"""Seconds of one wait after which it is of use to know what makes a program slow."""
SHARE_OF_COMPUTING = 0.25
"""Part of that time in which a program computes that its debugger slows; on a busy machine it is less."""

Part = Mapping[str, Any]
"""Some fields of a snapshot."""


# -- what there is to say


@dataclass(frozen=True, slots=True)
class Observation:
    """A session at one moment."""

    reading: MirrorReading
    state: Snapshot
    values: Part
    """Of the caller's expressions."""
    resumed: Stop | None = None
    """The stop that another client has ended while they were evaluated."""
    end_cause: str = ""
    """How it has ended."""


async def inspect(session: Session, remaining: RemainingTime) -> None:
    """Request what a session's stop needs to be shown, once in a call; if it runs, nothing.

    `remaining` is the time of the call: what has not arrived by then is missing in the answer.
    """
    await inspect_stop(session, min(remaining.seconds_to_inspect, SECONDS_TO_LOOK))


async def observe(session: Session, options: StopOptions, remaining: RemainingTime) -> Observation:
    """Evaluate the caller's expressions at a session's stop, and return both as an `Observation`.

    The stop has been inspected. `options.evaluate` has the expressions, which are evaluated in the frame to show
    first, and together get a part of the time `remaining`. `values` of the result has their texts (`values`) and
    errors (`failed`) by expression; those that there was no time for have an error. If there are expressions, and
    the program runs or has ended, a note (`notes`) says that nothing was evaluated. If another client resumes the
    program meanwhile, `resumed` (the stop that has ended) and `end_cause` say so; without expressions they are
    not set.

    Raises:
        NotStopped: There are expressions, and the program left the stop before the first was evaluated.
        DapeerError: There are expressions, and the stack is not known and cannot be fetched.
    """
    reading, state = MirrorReading(session.mirror), view_of(session)
    values = await _evaluate_at_stop(session, state["state"], options.evaluate, remaining)
    stop = reading.stop if options.evaluate else None
    gone = stop and stop.findings.resumed_by and views.left_stop_error(session, stop)
    return (
        Observation(reading, state, values, stop, gone.problem)
        if gone
        else Observation(reading, state, values)
    )


async def _evaluate_at_stop(
    session: Session, state: str, expressions: Sequence[str], remaining: RemainingTime
) -> Part:
    """Evaluate expressions in the frame that a stop shows first; return them as fields of a snapshot.

    In the result `values` has the text of each value by expression, and `failed` the error of each expression
    that failed, also by expression. If `state` is not `stopped` (but `ended`, or another for a program that
    runs), or the session has no stop, the only field is `notes`, which says that nothing was evaluated. The
    result is empty if there are no expressions. Evaluating may run code of the program. `remaining` is the
    remaining time of the call, of which the evaluations get a part, and `MILLISECONDS_TO_EVALUATE` at most.

    Raises:
        NotStopped: The program has left the stop meanwhile.
        DapeerError: The stack was not known yet, and the adapter rejects the request for it, or does not
            answer.
    """
    if not expressions:
        return {}
    if session.mirror.stop is None or state != "stopped":
        why = "has ended" if state == "ended" else "is not stopped"
        return {"notes": [f"nothing was evaluated: the program {why}"]}
    frame = await frame_of(session, None)
    seconds = max(remaining.seconds_to_inspect - SECONDS_TO_INSPECT / 2, 0)
    limit = RemainingTime(min(MILLISECONDS_TO_EVALUATE, seconds * 1000))
    found = await evaluation.evaluate_all(session, expressions, frame, "watch", limit)
    return {
        "values": {each.expression: each.text(ROOM) for each in found if not each.error},
        "failed": {each.expression: each.gist for each in found if each.error},
    }


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What there is to say of a session to one client."""

    state: Snapshot
    """With the caller's values, and hints on what is there."""
    places: Part
    """Where the threads and tasks of a program are that runs, and what they wait for."""
    collected: CollectedNews
    breakpoints: Part
    """Those that did not work as requested, by state."""
    notes: Sequence[str]


async def take_session_facts(
    call: Call,
    session: Session,
    observation: Observation,
    thread_locations: ThreadLocations | None,
    remaining: RemainingTime,
) -> SessionFacts:
    """Return all that there is to say of a session to the client of a call, once `observe` has returned.

    `observation` is what `observe` has returned. The rows that the program has collected until now are
    read. Output, collected rows, breakpoints that did not work, and processes that were killed or are not
    debugged, of which no answer has told yet, are marked as reported.
    `thread_locations` has the locations of the session's threads if it runs; None: they are not known. With
    them, and after a pause, the program is asked what its threads wait for; `remaining`, the call's time,
    tells whether the call has lasted long enough to look for reasons for a slow run, and limits that
    search.
    """
    observation.reading.mark_reported()
    program = session.program
    state = merge_snapshot(observation.state, observation.values)
    state = session.advice.add_hints(state, program.output)
    places: Part = {}
    if thread_locations is not None and session.mirror.phase is Phase.RUNNING:
        places = {
            **_places(session, thread_locations),
            **await lines_of_waits(session, thread_locations),
        }
    elif state["state"] == "stopped" and state.get("reason") == "pause":
        # One thread was stopped; others may never go on.
        own, others = await _waits_of_program(session)
        places = {"deadlock": waits.deadlock(own), "waits": waits.lines_of_held_waits(own) + others}
    await program.read_rows()
    slowness = await _reasons_for_slowness(session, remaining)
    await note_undebugged(call.debugger, program)
    notes = [
        *_silence_notes(session, thread_locations),
        *program.notes_on_others(session),
        *program.take_undebugged(),
        *detached_processes_note(session),
        *take_unreported_kills(program),
        *filter(None, [observation.end_cause]),
        *slowness,
    ]
    return SessionFacts(
        state,
        places,
        _take_collected_news(call, session),
        _take_breakpoint_outcomes(call, session),
        notes,
    )


def _take_collected_news(call: Call, session: Session) -> CollectedNews:
    """Return what the session's program has collected for the calling client since its last answer.

    Results of watches are those of this session; if it has ended, also those of the program's other ended sessions.
    """
    others = [each for each in session.program.sessions if each is not session]
    shown = [session, *(each for each in others if session.is_over and each.is_over)]
    outcomes = [each for of in shown for each in of.watching.outcomes(of.project)]
    return take_collected_news(session.program.collected, call.focus.key, session.project, outcomes)


def _places(session: Session, seen: ThreadLocations) -> Part:
    """Return where threads and tasks of a running program are, for the snapshot.

    `seen` has their locations. The result has two lists of lines, `threads` and `tasks`. A line has a name, a place,
    and the id of the user's innermost frame, if frames of running threads can be read; the frame is given an id for
    that. While a pause is requested that the program has not followed, threads are marked as `blocked`. Threads whose
    place is not known are left out; tasks are not.
    """
    state = " blocked" if session.mirror.is_pausing else ""
    threads = [
        f"{each.label}{state}{place}{frame_id_mark(session, each)}"
        for each in seen.threads
        if (place := render.place_of_thread(each, session.frames, session.project))
    ]
    return {"threads": threads, "tasks": task_lines(session, seen)}


def task_lines(session: Session, seen: ThreadLocations) -> list[str]:
    """Return a line for each task, such as asyncio's, that was seen.

    It has the task's name, place and frame id, and who awaits it.
    """
    return [
        f"{each.name}{render.place_of_thread(each, session.frames, session.project)}{frame_id_mark(session, each)}"
        + (f"; {each.awaited_by}" if each.awaited_by else "")
        for each in seen.tasks
    ]


async def lines_of_waits(session: Session, seen: ThreadLocations) -> dict[str, list[str]]:
    """Ask the program what its threads and tasks wait for; return the lines by key.

    `deadlock` has a line for each member of a deadlock, `waits` has lines for the other waits, and those of
    the program's other running processes, of which at most `MAX_ASKED_PROCESSES` are asked. `seen` has the
    locations of the session's threads and tasks: if it `has_timed_out`, since the program did not answer when
    these were asked for, nothing is asked, and both lists are empty. They are also empty where the adapter
    cannot tell, or does not answer in time.
    """
    if seen.has_timed_out:
        return {"deadlock": [], "waits": []}
    own, others = await _waits_of_program(session)
    listed = {each.own_id for each in (*seen.threads, *seen.tasks)}
    return {
        "deadlock": waits.deadlock(own),
        "waits": waits.lines_of_other_waits(own, listed) + others,
    }


async def _waits_of_program(session: Session) -> tuple[Mapping[str, Value], list[str]]:
    """Ask a session, and the running sessions of the same program, what their threads and tasks wait for.

    Return the session's own answer, and lines on waits in the other processes. The answer has the shape that
    `view.waits` reads; each of its `waits` gets `sharers`, a text on who in other processes has the same
    queue. At most `MAX_ASKED_PROCESSES` others are asked, all at once. An answer of which the adapter cannot
    tell, or that is not there in time, counts as one without waits.
    """
    running = [
        each
        for each in session.program.sessions
        if each is not session and each.mirror.phase is Phase.RUNNING
    ]
    asked = [session, *running[:MAX_ASKED_PROCESSES]]
    answers: dict[int, Mapping[str, Value]] = {}

    async def ask(each: Session) -> None:
        answers[each.id] = await each.thread_locator.fetch_waits()

    await run_together(*map(ask, asked))
    processes = [
        waits.ProcessWaits(f"process {pid_of(each)} (session {each.id})", answers.get(each.id, {}))
        for each in asked
    ]
    own = waits.with_sharers(processes[0], processes)
    return own, waits.lines_of_other_processes(processes)


def _take_breakpoint_outcomes(call: Call, session: Session) -> Part:
    """Return the breakpoints that did not work as requested, by state, as the snapshot's `breakpoints`.

    What is returned is marked as reported, and left out from then on; after the program's end all are returned
    again, those that were reported with their place alone. Empty: there is nothing to tell.
    """
    definition = call.debugger.definitions.get(session.adapter)
    mute = definition is not None and "condition_errors" in definition.cannot
    hits = definition.quirks.hit_conditions if definition is not None else ""
    found = outcomes.unreported_outcomes(
        session, call.debugger.breakpoints, hides_condition_errors=mute, hits=hits
    )
    found.mark_reported()
    return {"breakpoints": found.by_state} if found.by_state else {}


def detached_processes_note(session: Session) -> list[str]:
    """Return a note on processes that an ended program has left running, once.

    Empty: there are none, or they were noted before.
    """
    detached = session.program.first.detached_processes
    return [] if detached is None else detached.unreported()


def _silence_notes(session: Session, thread_locations: ThreadLocations | None) -> Iterator[str]:
    """Yield a sentence for each thing that the adapter has not answered: a request, a stop's stack.

    While the program runs, there is one if a request that controls the program (`CONTROL`, such as `pause`,
    `continue` or `disconnect`) waits for its response, or if the threads' locations were asked for without an
    answer in time. While it is stopped, there is one if the stack is not there yet. `thread_locations` has the
    threads' locations; None: they are not known.
    """
    owed = [each for each in session.channel.unanswered if each in CONTROL]
    if session.mirror.phase is Phase.RUNNING and (
        owed or (thread_locations and thread_locations.has_timed_out)
    ):
        yield describe_silence(session, thread_locations)
    stop = session.mirror.stop
    if stop is not None and stop.thread_id not in stop.stack.frames:
        yield "the stack did not arrive: try dap_stacktrace"


def describe_silence(session: Session, thread_locations: ThreadLocations | None) -> str:
    """Return a sentence on an adapter that does not answer: why, and where the program's last stop was.

    It names `dap_terminate`, which ends the program by force, and the oldest request without a response, if
    there is one. A last stop that is not known is left out; without a known reason it says `it may hang`.
    `thread_locations` has what was last read of the program's threads, by which the reason is found, and why
    they could not be read; None: nothing is known.
    """
    pid = session.thread_locator.pid
    why = "it may hang"
    if pid and process_table.is_held(pid):
        why = "a signal has stopped its process (SIGCONT has it run on)"
    elif cause := session.thread_locator.sight.silence:
        if thread_locations and any(each.blocks_others for each in thread_locations.threads):
            why = cause
        elif pid and process_table.is_computing(pid):
            why = f"perhaps {cause}"
    place = last_place(session)
    last_stop = f"; its last stop was {place}" if place else ""
    unread = (
        f"; {thread_locations.why_unread}"
        if thread_locations and thread_locations.why_unread
        else ""
    )
    owed = "".join(f" `{each}`" for each in session.channel.unanswered[:1])
    return f"the adapter does not answer{owed} now: {why}{last_stop}{unread}; dap_terminate ends it by force"


async def _reasons_for_slowness(session: Session, remaining: RemainingTime) -> list[str]:
    """Return why a program that has run for long is slow: a list of one text, or an empty list.

    Each reason is returned once in a session. What conditions of breakpoints cost is the first reason. If
    there is nothing to say of that, the program's interpreters are asked how the debugger slows it, unless it
    has used the processor for less than `SHARE_OF_COMPUTING` of the call's time; those that do not tell in
    time are asked again next time. The list is also empty if the call has not lasted `SECONDS_UNTIL_SLOW`, or
    if there are neither breakpoints nor an earlier stop. `remaining` is the remaining time of the call, which
    tells how long it has lasted, and limits how long this waits.
    """
    mirror = session.mirror
    points = [requested for each in mirror.breakpoints.values() for requested, _ in each]
    if remaining.elapsed_s < SECONDS_UNTIL_SLOW or not (points or mirror.history.latest):
        return []
    conditions = [each for requested in points if (each := requested.get("condition"))]
    if why := session.advice.take_hint_on_conditions(conditions):
        return [why]
    computed = process_table.cpu_seconds(session.thread_locator.pid)
    if computed is not None and computed < remaining.elapsed_s * SHARE_OF_COMPUTING:
        return []
    if (why_slow := session.advice.why_slow) is None:
        return []
    # Interpreters that do not answer in time are asked again after the next wait.
    with anyio.move_on_after(remaining.seconds_to_inspect):
        why = await in_thread(why_slow)
        session.advice.forget_slowness()
        return [why] if why else []
    return []


# -- the whole of it


def snapshot_of(facts: SessionFacts) -> Snapshot:
    """Return gathered facts as one snapshot, which is what is shown of a stop.

    The reason is `until`, and the stop's description is left out, if the program is stopped and what the caller waited
    for with `dap_run_until` has come about.
    """
    collected = facts.collected
    view = merge_snapshot(
        facts.state,
        facts.places,
        facts.breakpoints,
        {"until": collected.until_lines, "collected": collected.lines, "notes": facts.notes},
    )
    if collected.has_come_about and view["state"] == "stopped":
        view["reason"] = "until"
        view.pop("description", None)
    return view


def merge_snapshot(state: Snapshot, *parts: Part) -> Snapshot:
    """Return a new snapshot with the fields of `state` and of all parts, without empty lists.

    A later part replaces fields of an earlier one, except for `notes`, which are put one after the other.
    """
    found: dict[str, Any] = {**state}
    for part in parts:
        notes = [*found.get("notes", ()), *part.get("notes", ())]
        found |= {key: value for key, value in {**part, "notes": notes}.items() if value != []}
    return cast("Snapshot", found)


# -- what of it a reader gets


def snapshot_reply(call: Call, view: Snapshot, show: Show) -> Reply:
    """Return a snapshot as a reply: as data it is whole, as text without what the client has read before.

    What is shown is marked as read by the client. `show`: `full` repeats what was read, `brief` shortens text and data and marks nothing;
    None: as described.
    """
    reader = call.focus.reader
    if show == "brief":
        view = unread = shorten_snapshot(view)
    else:
        unread = view if show == "full" else reader.without_read_parts(view)
        reader.mark_read(view)
    only = len(call.debugger.sessions) == 1
    text = render.snapshot(unread, call.debugger.project, only=only)
    return Reply(text, cast("dict[str, Any]", view))
