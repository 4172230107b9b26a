"""Waits for the next stop or end of a program, and shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import anyio
from pydantic import Field

from dapeer.base.errors import Unsupported
from dapeer.base.json_types import Json
from dapeer.base.system.tasks import first_of
from dapeer.dap.sent_requests import ResumingCommand
from dapeer.mirror.places import ThreadLocations
from dapeer.sessions.core.direct import DirectSession
from dapeer.sessions.core.program import NONE, Program, StopIds
from dapeer.sessions.core.session import Session
from dapeer.sessions.inspection.inspection import SECONDS_TO_LOOK
from dapeer.sessions.inspection.thread_locations import SECONDS_TO_LOOK_AROUND
from dapeer.sessions.triggers.runs import SECONDS_AT_END, SECONDS_TO_STOP, TriggerRun
from dapeer.sessions.triggers.trigger import (
    ReadyCondition,
    TerminalInput,
    Trigger,
    parse_ready,
    parse_triggers,
)
from dapeer.tools.base import report
from dapeer.tools.base.call import Call, RemainingTime, Reply
from dapeer.tools.base.report import NOTHING, StopOptions
from dapeer.tools.base.schema import Unlisted

MILLISECONDS_UNTIL_BLOCKED = 1000
"""Milliseconds after which a thread that has not stopped counts as blocked."""
SECONDS_TO_ACCEPT = 2.0
"""Seconds that an adapter has to accept or refuse a request to run on."""
MILLISECONDS_UNTIL_LOOK = 2000
"""Milliseconds of waiting after which it is of use to name the locations of a program's threads."""
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
    """Wait for the program's next stop, its end or the timeout; return the session's state then.

    Breakpoints that the program did not get before are sent again, without waiting for that. The stop may be
    in another process of the program, whose session becomes the client's default then, if the default is of
    this program. If triggers (what `then` lists) are being sent, the wait ends soon after they have ended. If
    another program that the triggers have reached stops first, that one's state is returned with a note, and
    its session becomes the default. What the answer tells counts as shown.

    Args:
        call: The call, whose client gets the answer and its progress.
        session: A session of the program.
        epoch: The number of the session's last stop, noted before it was resumed: only a later stop counts.
        timeout_ms: Milliseconds to wait, the inspection of a stop included.
        old: Stops of the program's other processes that were there before: they are shown only if the session
            itself does not stop soon.
        options: What to evaluate and show; if `wait_until_paused` is false, the state is returned without
            waiting.
        waited: Milliseconds that the caller has waited before; if these and the timeout are long together,
            the locations of a running program's threads are read, too.

    Raises:
        NotStopped: The program left the stop before the first of the expressions in `options` was evaluated.
    """
    left, program = RemainingTime(timeout_ms), session.program
    call.debugger.push_undelivered([program])
    limit = timeout_ms if options.wait_until_paused else 0
    looks = session.thread_locator.sees_running and limit + waited >= MILLISECONDS_UNTIL_LOOK
    rest = max(limit - (MILLISECONDS_TO_LOOK if looks else 0), 0)
    if rest and (run := call.debugger.triggers.find_untold_run(session, call.focus.key)):
        elsewhere, rest = await stop_elsewhere(call, session, epoch, run, rest)
        if elsewhere is not None:
            call.notes.append(
                f"this stop is in session {elsewhere.id} ({elsewhere.name}), which `then` has reached; "
                f"session {session.id} still runs"
            )
            call.focus.set_default(elsewhere)
            return await show_state(call, elsewhere, None, left, options)
        # Where the threads of a server wait that has answered is no news.
        looks = looks and run.ended_at is None
    seen, ready = None, await _wait_and_inspect(call, session, epoch, rest, left, old)
    if ready is not None:
        return await show_state(call, ready, None, left, options, inspected=True)
    if looks:
        # A running program's threads are inspected shortly before the timeout: those of a process that is still there.
        living = program.living_session_for(session)
        seen = await living.thread_locator.locate_threads(MILLISECONDS_TO_LOOK / 1000)
        ready = program.stop_or_end(session, epoch)
        if ready is None and program.living_session_for(session) is not living:
            seen = None
    return await show_state(call, ready or program.living_session_for(session), seen, left, options)


async def _wait_and_inspect(
    call: Call,
    session: Session,
    epoch: int,
    timeout_ms: float,
    remaining: RemainingTime,
    old: StopIds,
) -> Session | None:
    """Wait for a stop after number `epoch`, or the end; inspect it, and return its session.

    None: it did not come in `timeout_ms`. If another client ends a stop during its inspection, the wait continues
    while there is time; if the time was over before the inspection, the session is returned although it may run.
    `remaining` is the time of the call, which limits the inspection. `old` are stops of other processes that were
    there before: until the first inspection they count only if nothing else comes soon.
    """
    rest, program = RemainingTime(timeout_ms), session.program
    while True:
        ready = await program.next_stop(
            session, epoch, rest.remaining_ms / 1000, old, call.progress
        )
        if ready is None:
            return None
        is_last = not rest.remaining_ms
        await report.inspect(ready, remaining)
        if is_last or program.stop_or_end(session, epoch) is ready:
            return ready
        old = NONE


async def wait_for_pause(
    call: Call,
    session: Session,
    epoch: int,
    remaining: RemainingTime,
    *,
    wait: bool,
    options: StopOptions = NOTHING,
) -> Reply:
    """Wait for the stop that a pause has requested; return the state of the session, or of its program.

    The stop may be in another process of the program, whose session is shown then. The session that is shown
    becomes the client's default, if the default is of this program or there is none. A thread that waits for a
    lock, say, may never stop: where threads of a running program can be seen, the wait is
    `MILLISECONDS_UNTIL_BLOCKED` at most. Without a stop, the reply shows where the threads are, as far as
    `SECONDS_TO_LOOK_AROUND` suffice to find that out; it is no error. What the reply tells counts as shown.

    Args:
        call: The call, whose client gets the answer.
        session: The session that was asked to pause.
        epoch: The number of its last stop before: only a later one counts.
        remaining: The remaining time of the call.
        wait: False: the stop is not waited for, but without one the threads are looked for all the same.
        options: What to evaluate and show.

    Raises:
        NotStopped: The program left the stop before the first of the expressions in `options` was evaluated.
        DapeerError: There are expressions, and the stack is not known and cannot be fetched for them.
    """
    patience = (
        min(remaining.remaining_ms, MILLISECONDS_UNTIL_BLOCKED)
        if session.thread_locator.sees_running
        else remaining.remaining_ms
    )
    program = session.program
    seconds = patience / 1000 if wait else 0
    stopped = await program.next_stop(session, epoch, seconds, report=call.progress)
    blocked = stopped is None and not session.is_over
    seen = (
        await session.thread_locator.locate_threads(
            min(SECONDS_TO_LOOK_AROUND, remaining.seconds_to_inspect)
        )
        if blocked
        else None
    )
    ready = program.stop_or_end(session, epoch) or program.living_session_for(session)
    return await show_state(call, ready, seen, remaining, options)


async def show_state(
    call: Call,
    session: Session,
    thread_locations: ThreadLocations | None = None,
    remaining: RemainingTime | None = None,
    options: StopOptions = NOTHING,
    *,
    inspected: bool = False,
) -> Reply:
    """Return the state of a session as a reply.

    The session becomes the client's default one if it belongs to the same program as the present default, or if
    there is none. The adapter is asked for what belongs to its stop, unless that was done in this call
    (`inspected`). What does not arrive in the time `remaining` (None: `SECONDS_TO_LOOK`) is missing. If another
    client resumes the program while expressions are evaluated, its next stop is awaited and shown instead,
    while there is time. `thread_locations` has the locations of its threads, if it runs; None: they are not
    known. `options` say what to evaluate, and how much to show; evaluating may run code of the program. Output,
    collected rows and other news that the reply has count as reported.

    Raises:
        NotStopped: The program left the stop before the first of the expressions in `options` was evaluated.
        DapeerError: There are expressions, and the stack is not known and cannot be fetched for them.
    """
    remaining = remaining or RemainingTime(SECONDS_TO_LOOK * 1000)
    call.focus.move_default(session)
    if not inspected:
        await report.inspect(session, remaining)
    observation = await report.observe(session, options, remaining)
    if observation.resumed and remaining.remaining_ms:
        epoch = observation.resumed.number
        return await next_stop(call, session, epoch, remaining.remaining_ms, options=options)
    facts = await report.take_session_facts(call, session, observation, thread_locations, remaining)
    return report.snapshot_reply(call, report.snapshot_of(facts), options.show)


async def resume(
    call: Call, session: Session, command: ResumingCommand, arguments: Json, options: StopOptions
) -> Reply:
    """Send a DAP request that resumes the program, then wait for its next stop, and return that.

    `command` is the request, `arguments` are its arguments. The wait lasts for the milliseconds
    `options.timeout_ms` at most, and ends at the program's end, too; the reply is the session's state then. If
    `options` say not to wait, the state is returned without waiting for a stop. If the adapter does not respond
    within `SECONDS_TO_ACCEPT`, or ends, the wait for the stop begins all the same. A stop in another process of
    the program may be returned, whose session becomes the client's default then, if the default is of the same
    program. What the reply tells counts as shown.

    Raises:
        DapeerError: The adapter rejects the request or does not know it, the session is not stopped, or the program
            left the new stop before the first expression in `options` was evaluated.
    """
    epoch, old = session.mirror.epoch, session.program.unseen_stops(session)
    left = RemainingTime(options.timeout_ms)
    # Code in the program may keep the adapter from answering; the waiter gets a note.
    with anyio.move_on_after(min(SECONDS_TO_ACCEPT, left.seconds_to_wait)):
        await session.resume(command, arguments)
    return await next_stop(call, session, epoch, left.remaining_ms, old, options=options)


# What a caller sends to a program while it waits for the stop: `then`, once the program is `ready`.

Triggers = Sequence[Mapping[str, Any]]
Sign = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class TriggerArguments:
    """What to send once the program is ready, and how that is seen."""

    then: Annotated[
        Triggers,
        Field(description='once ready: {"request": "POST URL"}'),
    ] = ()
    # An answer that waits in vain names it.
    ready: Annotated[Sign, Unlisted()] = None

    @property
    def triggers(self) -> tuple[Trigger, ...]:
        """The arguments of `then` as triggers: what is sent to the program once it is ready.

        Raises:
            ArgumentError: One of them is not a valid trigger; nothing has happened.
        """
        return parse_triggers(self.then)

    @property
    def ready_sign(self) -> ReadyCondition:
        """The argument `ready`: how it is seen that the program is ready for what is sent.

        Raises:
            ArgumentError: It is neither a port nor a pattern; nothing has happened.
        """
        return parse_ready(self.ready)

    @property
    def has_typed_input(self) -> bool:
        """Whether something is typed, so that the program needs a terminal."""
        return any(isinstance(each, TerminalInput) for each in self.triggers)

    def check(self) -> None:
        """Raise an error if `then` or `ready` is not valid; nothing is sent.

        Raises:
            ArgumentError: One of them is not valid.
        """
        _ = self.triggers, self.ready_sign

    def begin(self, call: Call, session: Session, usual: ReadyCondition | None = None) -> None:
        """Begin to send the triggers to the program of a session once it is ready; return at once.

        Triggers are HTTP requests, commands, typed input and expressions, from the argument `then`; commands run in
        the folder of the session's program, or else of the project. The program is ready as the argument `ready`
        says, else as `usual` says, the rule of its start; with neither, the kind of a trigger decides. The triggers
        are sent in order, by a task that ends with the program; one that fails is kept, not raised, and the others
        are not sent then. Without triggers nothing happens.

        Raises:
            ArgumentError: The arguments are not valid.
            Unsupported: Something is to be typed, and the program, which goes on, does not run in a terminal.
        """
        triggers = self.triggers
        if not triggers:
            return
        if self.has_typed_input and session.program.keyboard is None and not session.is_over:
            raise Unsupported(
                "`then`: the program does not run in a terminal, so nothing can be typed.",
                "Start it with dap_run and `terminal: true`.",
            )
        sign = self.ready_sign if self.ready is not None or usual is None else usual
        cwd = str(call.debugger.project)
        if isinstance(session, DirectSession):
            cwd = str(session.plan.inputs.get("cwd") or cwd)
        call.debugger.triggers.begin(session, call.focus.key, triggers, sign, cwd)


@dataclass(frozen=True, slots=True)
class LaterTriggers(TriggerArguments):
    """The same, for a program that was started before."""

    then: Triggers = ()
    ready: Annotated[Sign, Unlisted()] = None


@dataclass(frozen=True, slots=True)
class UnlistedTriggers(TriggerArguments):
    """The same, of a tool whose arguments models know from another."""

    then: Annotated[Triggers, Unlisted()] = ()
    ready: Annotated[Sign, Unlisted()] = None


async def stop_elsewhere(
    call: Call, session: Session, epoch: int, run: TriggerRun, limit: float
) -> tuple[Session | None, float]:
    """Wait until the program, or another one that its triggers reach, stops, or the triggers have ended.

    The end of the program counts as its stop. After the end of the triggers, a stop is still awaited, for at most
    `SECONDS_TO_STOP` from then. Of other programs only those count that the client has started, or that are in a
    group with this one. `epoch` is the number of the session's last stop before: of its own stops only a later one
    counts. `run` is the sending of the triggers; a session that is returned is recorded in it as reached. `limit`
    is in milliseconds; the triggers of a program that has ended have `SECONDS_AT_END` besides.

    Returns:
        The session of another program that has stopped, or None, also if this program has stopped or ended, too;
        and for how many milliseconds to wait on for a stop. That is what was left of `limit` when the triggers had
        ended or a stop came first, after their end at most `SECONDS_TO_STOP` from then; the wait after their end is
        not subtracted.
    """
    left, program = RemainingTime(limit), session.program
    others = _callable_programs(call, session)

    def elsewhere() -> Session | None:
        """Return the session of another program that has stopped by now, unless this one has, too."""
        if program.stop_or_end(session, epoch) is not None:
            return None
        return next((found for each in others if (found := run.stopped_in(each))), None)

    def stops() -> bool:
        """Whether this program has stopped or ended, or another one has stopped."""
        return program.stop_or_end(session, epoch) is not None or elsewhere() is not None

    async def until(happened: Callable[[], bool], seconds: float) -> None:
        """Wait until something has happened, which each message of these programs may bring."""
        await first_of(
            partial(program.wait_until, happened, seconds, call.progress),
            *(partial(each.waiters.wait_for, happened, seconds) for each in others),
        )

    await until(lambda: run.ended_at is not None or stops(), left.remaining_ms / 1000)
    if not program.is_alive:
        # What was sent to it has failed, or fails at once.
        await program.waiters.wait_for(lambda: run.ended_at is not None, SECONDS_AT_END)
    rest = left.remaining_ms / 1000
    if run.ended_at is not None:
        rest = min(rest, max(run.ended_at + SECONDS_TO_STOP - anyio.current_time(), 0))
        # What has answered at once may have begun something that goes on to another program.
        await until(stops, rest)
    if (found := elsewhere()) is not None:
        run.record_reached_stop(found)
    return found, rest * 1000


def _callable_programs(call: Call, session: Session) -> Sequence[Program[Session]]:
    """Return the other programs that the program of `session` may call.

    They are those that the client has started and that live, then those in a group with the session, each
    once.
    """
    grouped = [
        each
        for group in call.debugger.groups.all
        if session in group.members.values()
        for each in group.members.values()
    ]
    programs = dict.fromkeys(each.program for each in [*call.focus.own_programs, *grouped])
    return [each for each in programs if each is not session.program]
