"""Waits for the next stop or end of a program, and shows it."""

from __future__ import annotations

import anyio

from dapeer.base.json_types import Json
from dapeer.dap.sent_requests import ResumingCommand
from dapeer.mirror.places import Seen
from dapeer.sessions.core.program import NONE, StopIds
from dapeer.sessions.core.session import Session
from dapeer.sessions.core.views import looked_at
from dapeer.sessions.inspection.inspection import SECONDS_TO_LOOK
from dapeer.sessions.inspection.thread_locations import SECONDS_TO_LOOK_AROUND
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.deadline import Left
from dapeer.tools.base.stop import report
from dapeer.tools.base.stop.options import NOTHING, StopOptions
from dapeer.tools.base.stop.triggers import milliseconds_to_stop

MILLISECONDS_UNTIL_BLOCKED = 1000
"""Milliseconds after which a thread that has not stopped counts as blocked."""
SECONDS_TO_ACCEPT = 2.0
"""Seconds that an adapter has to accept or refuse a request to run on."""
MILLISECONDS_UNTIL_LOOK = 2000
"""Milliseconds of waiting after which it is of use to name the locations of a program's threads."""
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
    process of the program, to which the focus goes then; of the `old` ones the caller is informed late.
    Who asks not to wait has the time for a look all the same. `waited`: the milliseconds for which the
    caller has waited before.
    """
    left, program = Left(timeout_ms), session.program
    call.debugger.push_kept_back([program])
    limit = timeout_ms if options.wait_until_paused else 0
    looks = session.where.sees_running and limit + waited >= MILLISECONDS_UNTIL_LOOK
    rest = max(limit - (MILLISECONDS_TO_LOOK if looks else 0), 0)
    if rest and (run := call.debugger.triggers.awaited(session, call.focus.key)):
        rest = await milliseconds_to_stop(call, session, epoch, run, rest)
        # Where the threads of a server wait that has answered is no news.
        looks = looks and run.ended_at is None
    seen, ready = None, await _stopped(call, session, epoch, rest, old)
    if ready is None and looks:
        # A running program's threads are inspected shortly before the timeout: those of a process that is still there.
        living = program.living(session)
        seen = await living.where.look(MILLISECONDS_TO_LOOK / 1000)
        ready = program.stop_or_end(session, epoch)
        if ready is None and program.living(session) is not living:
            seen = None
    return await look(call, ready or program.living(session), seen, left, options)


async def _stopped(
    call: Call, session: Session, epoch: int, timeout_ms: float, old: StopIds
) -> Session | None:
    """Wait for a stop after `epoch`, or the end; return the session that has it.

    If another client ends a stop during its inspection, the wait continues.
    """
    left, program = Left(timeout_ms), session.program
    while True:
        ready = await program.next_stop(session, epoch, left.ms / 1000, old, call.progress)
        if ready is None or not left.ms:
            return ready
        await looked_at(ready, min(left.ms / 1000, SECONDS_TO_BE_OVERTAKEN))
        if (ready := program.stop_or_end(session, epoch)) is not None:
            return ready
        old = NONE


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
    where it can be shown.
    """
    patience = min(left.ms, MILLISECONDS_UNTIL_BLOCKED) if session.where.sees_running else left.ms
    program = session.program
    seconds = patience / 1000 if wait else 0
    stopped = await program.next_stop(session, epoch, seconds, report=call.progress)
    blocked = stopped is None and not session.over
    seen = (
        await session.where.look(min(SECONDS_TO_LOOK_AROUND, left.to_inspect)) if blocked else None
    )
    ready = program.stop_or_end(session, epoch) or program.living(session)
    return await look(call, ready, seen, left, options)


async def look(
    call: Call,
    session: Session,
    seen: Seen | None = None,
    left: Left | None = None,
    options: StopOptions = NOTHING,
) -> Reply:
    """Return the session's state, as far as it can be fetched in time, for the client to work on.

    `seen` has the locations of its threads, if it runs. If another client resumes while expressions are evaluated, the next stop is shown instead.
    """
    left = left or Left(SECONDS_TO_LOOK * 1000)
    call.focus.follow(session)
    observation = await report.observe(session, options, left)
    if observation.resumed and left.ms:
        epoch = observation.resumed.number
        return await next_stop(call, session, epoch, left.ms, options=options)
    facts = await report.gather(call, session, observation, seen, left)
    return report.written(call, report.snapshot_of(facts), options.show)


async def resume(
    call: Call, session: Session, command: ResumingCommand, arguments: Json, options: StopOptions
) -> Reply:
    """Resume the program by a request of DAP, and wait for its next stop if `options` say so."""
    epoch, old = session.mirror.epoch, session.program.unseen_stops(session)
    left = Left(options.timeout_ms)
    # Code in the program may keep the adapter from answering; the waiter gets a note.
    with anyio.move_on_after(min(SECONDS_TO_ACCEPT, left.to_ask)):
        await session.resume(command, arguments)
    return await next_stop(call, session, epoch, left.ms, old, options=options)
