"""Waits for the next stop or end of a program, and shows it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Iterator, Mapping
from typing import Any, cast

from dapeer.base.json_types import Value
from dapeer.base.system import process_table
from dapeer.base.system.threads import in_thread
from dapeer.dap.requests import CONTROL
from dapeer.mirror.mirror import Phase
from dapeer.mirror.places import Seen
from dapeer.mirror.reader_state import Telling
from dapeer.sessions.core.process_watch import unreported_kills
from dapeer.sessions.core.program import NONE, StopIds
from dapeer.sessions.core.session import Session
from dapeer.sessions.inspection.inspection import SECONDS_TO_LOOK
from dapeer.sessions.inspection.thread_locations import SECONDS_TO_LOOK_AROUND
from dapeer.sessions.outcomes import outcomes
from dapeer.sessions.views import looked_at, view_of
from dapeer.tools.base import collecting, looking, running_frames
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.deadline import Left
from dapeer.tools.base.stop_options import NOTHING, StopOptions, add_values
from dapeer.view import render, waits
from dapeer.view.brief import brief
from dapeer.view.snapshot import Snapshot
from dapeer.view.stacks import frame_line

MILLISECONDS_UNTIL_BLOCKED = 1000
"""Milliseconds after which a thread that has not stopped counts as blocked."""
SECONDS_TO_ACCEPT = 2.0
"""Seconds that an adapter has to accept or refuse a request to run on."""
MILLISECONDS_UNTIL_LOOK = 2000
"""Milliseconds of waiting after which it is of use to say where the threads of a program are that still runs."""
SECONDS_UNTIL_SLOW = 10.0
"""Seconds of one wait after which it is of use to know what makes a program slow."""
COMPUTES = 0.25
"""Part of that time for which a program has computed that its debugger makes slow; on a busy machine it computes less than it could."""
SECONDS_TO_BE_OVERTAKEN = 2.0
"""Seconds of inspection in which another client may resume; then the next stop is shown instead."""
MILLISECONDS_TO_LOOK = 500
"""Milliseconds before the timeout at which threads are inspected."""


async def next_stop(
    call: Call,
    session: Session,
    epoch: int,
    timeout_ms: float,
    old: StopIds = NONE,
    *,
    options: StopOptions = NOTHING,
    waited: float = 0,
) -> Reply:
    """Wait for a stop after `epoch`, the program's end, or the timeout, and return which.

    `epoch` is noted before the program is resumed, so that a stop which comes sooner than anybody
    waits is not missed, and an old one is not taken for a new one. The stop may be one of another
    process of the program, to which the focus goes then; of the `old` ones the caller is told late.
    Who asks not to wait has the time for a look all the same. `waited`: the milliseconds for which the
    caller has waited before.
    """
    left, program = Left(timeout_ms), session.program
    limit = timeout_ms if options.wait else 0
    looks = session.where.sees_running and limit + waited >= MILLISECONDS_UNTIL_LOOK
    rest = max(limit - (MILLISECONDS_TO_LOOK if looks else 0), 0)
    seen, told = None, await _stopped(call, session, epoch, rest, old)
    if told is None and looks:
        # A running program's threads are inspected shortly before the timeout: those of a process that is still there.
        living = program.living(session)
        seen = await living.where.look(MILLISECONDS_TO_LOOK / 1000)
        told = program.stop_or_end(session, epoch)
        if told is None and program.living(session) is not living:
            seen = None
    return await look(call, told or program.living(session), seen, left, options)


async def _stopped(
    call: Call, session: Session, epoch: int, timeout_ms: float, old: StopIds
) -> Session | None:
    """Wait for a stop after `epoch`, or the end; return the session that has it.

    If another client ends a stop during its inspection, the wait continues.
    """
    left, program = Left(timeout_ms), session.program
    while True:
        told = await program.next_stop(session, epoch, left.ms / 1000, old, call.progress)
        if told is None or not left.ms:
            return told
        await looked_at(told, min(left.ms / 1000, SECONDS_TO_BE_OVERTAKEN))
        if (told := program.stop_or_end(session, epoch)) is not None:
            return told
        old = NONE


def _add_places(view: Snapshot, session: Session, seen: Seen) -> None:
    """Add where the threads and tasks of a running program are."""
    state = " blocked" if session.mirror.pausing else ""
    threads = [
        f"{each.label}{state}{place}{running_frames.frame_id(session, each)}"
        for each in seen.threads
        if (place := render.place(each, session.frames, session.project))
    ]
    if threads:
        view["threads"] = threads
    if seen.tasks:
        view["tasks"] = tasks(session, seen)


async def add_waits(view: Snapshot | dict[str, Any], session: Session, seen: Seen) -> None:
    """Add what threads and tasks wait for, where the program tells."""
    answer: Mapping[str, Value] = await session.where.waits() if not seen.silent else {}
    if circle := waits.deadlock(answer):
        view["deadlock"] = circle
    listed = {each.own_id for each in (*seen.threads, *seen.tasks)}
    if others := waits.others(answer, listed):
        view["waits"] = others


def tasks(session: Session, seen: Seen) -> list[str]:
    """Return the tasks of a program, a line each."""
    return [
        f"{each.name}{render.place(each, session.frames, session.project)}{running_frames.frame_id(session, each)}"
        + (f"; {each.awaited_by}" if each.awaited_by else "")
        for each in seen.tasks
    ]


def silence(session: Session, seen: Seen | None) -> str:
    """Say that the adapter does not answer, why, and where the program was seen last; `seen` says where it is now, where that could be read."""
    pid = session.where.pid
    why = "it may hang"
    if pid and process_table.is_held(pid):
        why = "a signal has stopped its process (SIGCONT has it run on)"
    elif cause := session.where.sight.silence:
        if seen and any(each.holds for each in seen.threads):
            why = cause
        elif pid and process_table.computes(pid):
            why = f"perhaps {cause}"
    last = session.mirror.history.latest
    top = last.top if last else None
    last_stop = f"; its last stop was {frame_line(top, session.project)}" if top else ""
    unread = f"; {seen.unread}" if seen and seen.unread else ""
    owed = "".join(f" `{each}`" for each in session.channel.unanswered[:1])
    return f"the adapter does not answer{owed} now: {why}{last_stop}{unread}; dap_terminate ends it by force"


async def paused(
    call: Call,
    session: Session,
    epoch: int,
    left: Left,
    *,
    wait: bool,
    options: StopOptions = NOTHING,
) -> Reply:
    """Wait for the requested stop after `epoch`; show where threads are that do not stop.

    What blocks them, such as a lock that is never released, may last for ever: nobody waits for that
    where it can be told.
    """
    patience = min(left.ms, MILLISECONDS_UNTIL_BLOCKED) if session.where.sees_running else left.ms
    program = session.program
    seconds = patience / 1000 if wait else 0
    stopped = await program.next_stop(session, epoch, seconds, report=call.progress)
    blocked = stopped is None and not session.over
    seen = (
        await session.where.look(min(SECONDS_TO_LOOK_AROUND, left.to_inspect)) if blocked else None
    )
    told = program.stop_or_end(session, epoch) or program.living(session)
    return await look(call, told, seen, left, options)


async def look(
    call: Call,
    session: Session,
    seen: Seen | None = None,
    left: Left | None = None,
    options: StopOptions = NOTHING,
) -> Reply:
    """Return the session's current state, as far as it can be fetched in the remaining time, and have the client work on it; `seen` says where its threads are, if it runs.

    If another client resumes while expressions are evaluated, the next stop is shown instead.
    """
    left = left or Left(SECONDS_TO_LOOK * 1000)
    call.focus.follow(session)
    await looked_at(session, min(left.to_inspect, SECONDS_TO_LOOK))
    telling, view = Telling(session.mirror), view_of(session)
    await add_values(view, session, options, left)
    stop = telling.stop if options.evaluate else None
    over = looking.left(session, stop) if stop and stop.found.left_by else None
    if stop and over and left.ms:
        return await next_stop(call, session, stop.number, left.ms, options=options)
    telling.mark_reported()
    view = session.advice.noted(view, session.program.output)
    if seen is not None and session.mirror.phase is Phase.RUNNING:
        _add_places(view, session, seen)
        await add_waits(view, session, seen)
    definition = call.debugger.definitions.get(session.adapter)
    mute = definition is not None and "condition_errors" in definition.cannot
    hits = definition.quirks.hit_conditions if definition is not None else ""
    await session.program.read_rows()
    collecting.add_until(call, view, session)
    breakpoints = outcomes.unreported(session, call.debugger.breakpoints, mute=mute, hits=hits)
    if breakpoints:
        view["breakpoints"] = breakpoints
    if collected := collecting.news(call, session):
        view["collected"] = collected
    said = [*_silences(session, seen), *session.program.about_others(session), *running(session)]
    said += unreported_kills(session.program)
    said += [over.what] if over else []
    said += await _slowness(session, left)
    if said:
        view["notes"] = [*view.get("notes", ()), *said]
    told = view
    if options.show == "brief":
        told = view = brief(view)
    else:
        told = view if options.show == "full" else call.focus.reader.unread(view)
        call.focus.reader.mark_read(view)
    only = len(call.debugger.sessions) == 1
    text = render.snapshot(told, call.debugger.project, only=only)
    return Reply(text, cast("dict[str, Any]", view))


def running(session: Session) -> list[str]:
    """Return a note on processes that an ended program has left running, once."""
    detached = session.program.first.detached
    return [] if detached is None else detached.unreported()


async def _slowness(session: Session, left: Left) -> list[str]:
    """Return why a program that has run for long was slow, where its debugger is the reason; once."""
    mirror = session.mirror
    points = [asked for each in mirror.breakpoints.values() for asked, _ in each]
    if left.spent < SECONDS_UNTIL_SLOW or not (points or mirror.history.latest):
        return []
    conditions = [each for asked in points if (each := asked.get("condition"))]
    if said := session.advice.of_conditions(conditions):
        return [said]
    computed = process_table.cpu_seconds(session.where.pid)
    if computed is not None and computed < left.spent * COMPUTES:
        return []
    # Interpreters that do not answer in time are asked again after the next wait.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(left.to_inspect):
            said = await in_thread(session.advice.of_slow)
            return [said] if said else []
    return []


def _silences(session: Session, seen: Seen | None) -> Iterator[str]:
    """Yield what the adapter has not answered in time."""
    owed = [each for each in session.channel.unanswered if each in CONTROL]
    if session.mirror.phase is Phase.RUNNING and (owed or (seen and seen.silent)):
        yield silence(session, seen)
    stop = session.mirror.stop
    if stop is not None and stop.thread_id not in stop.stack.frames:
        yield "the stack did not arrive: try dap_stacktrace"


async def resume(
    call: Call,
    session: Session,
    send: Awaitable[None],
    timeout_ms: int,
    options: StopOptions,
) -> Reply:
    """Resume the program, and wait for its next stop if `options` say so."""
    epoch, old = session.mirror.epoch, session.program.unseen_stops(session)
    left = Left(timeout_ms)
    # Code in the program may keep the adapter from answering; the waiter gets a note.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(min(SECONDS_TO_ACCEPT, left.to_ask)):
            await send
    return await next_stop(call, session, epoch, left.ms, old, options=options)
