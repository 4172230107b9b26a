"""What a caller sends to a program while it waits for the stop: `then`, once the program is `ready`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import anyio
from pydantic import Field

from dapeer.base.errors import Unsupported
from dapeer.base.system.tasks import first_of
from dapeer.sessions.core.direct import DirectSession
from dapeer.sessions.core.program import Program
from dapeer.sessions.core.session import Session
from dapeer.sessions.triggers.runs import SECONDS_AT_END, SECONDS_TO_STOP, TriggerRun
from dapeer.sessions.triggers.trigger import (
    ReadyCondition,
    TerminalInput,
    Trigger,
    ready_of,
    triggers_of,
)
from dapeer.tools.base.call import Call
from dapeer.tools.base.deadline import RemainingTime
from dapeer.tools.base.schema import Unlisted

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
        return triggers_of(self.then)

    @property
    def ready_sign(self) -> ReadyCondition:
        """The argument `ready`: how it is seen that the program is ready for what is sent.

        Raises:
            ArgumentError: It is neither a port nor a pattern; nothing has happened.
        """
        return ready_of(self.ready)

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

        Triggers are HTTP requests, commands, typed input and expressions, from the argument `then`. The program is ready as the argument
        `ready` says, else as `usual` says, which is the rule of its start. Without triggers nothing happens.

        Raises:
            ArgumentError: The arguments are not valid.
            Unsupported: Something is to be typed, and the program does not run in a terminal.
        """
        triggers = self.triggers
        if not triggers:
            return
        if self.has_typed_input and session.program.keyboard is None and not session.over:
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
    """Wait for a stop of the program, or of another one that its triggers reach, or for their end.

    Only programs count that the client has started, or that are in a group with this one. `epoch` is the number of the session's last stop
    before: only a later one counts. `run` is the sending of the triggers; a session that is returned is recorded in it as reached. `limit`
    is in milliseconds.

    Returns:
        The session of another program that has stopped, or None; and for how many milliseconds to wait on for a stop: what is left of
        `limit` while triggers are sent, and at most `SECONDS_TO_STOP` from their end.
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
            partial(program.until, happened, seconds, call.progress),
            *(partial(each.waiters.wait_for, happened, seconds) for each in others),
        )

    await until(lambda: run.ended_at is not None or stops(), left.remaining_ms / 1000)
    if not program.runs:
        # What was sent to it has failed, or fails at once.
        await program.waiters.wait_for(lambda: run.ended_at is not None, SECONDS_AT_END)
    rest = left.remaining_ms / 1000
    if run.ended_at is not None:
        rest = min(rest, max(run.ended_at + SECONDS_TO_STOP - anyio.current_time(), 0))
        # What has answered at once may have begun something that goes on to another program.
        await until(stops, rest)
    if (found := elsewhere()) is not None:
        run.reach(found)
    return found, rest * 1000


def _callable_programs(call: Call, session: Session) -> Sequence[Program[Session]]:
    """Return the other programs that the program of `session` may call.

    They are those of the client, and those in a group with the session.
    """
    grouped = [
        each
        for group in call.debugger.groups.all
        if session in group.members.values()
        for each in group.members.values()
    ]
    programs = dict.fromkeys(each.program for each in [*call.focus.own, *grouped])
    return [each for each in programs if each is not session.program]
