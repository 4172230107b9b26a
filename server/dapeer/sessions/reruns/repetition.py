"""A program that runs again and again, until a run fails: for races, and tests that sometimes fail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import anyio

from dapeer.base.errors import AdapterFailed, DapeerError
from dapeer.base.system.waiters import unless_cancelled
from dapeer.mirror.stops.stops import Stop
from dapeer.sessions.core.session import Session
from dapeer.sessions.core.views import looked_at
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.view.tally import Tally, Verdict

RepeatUntil: TypeAlias = Literal["stop", "failure"]
"""What ends the repetition, apart from a failed run: any stop, or only a failure."""

Begin: TypeAlias = Callable[[], Awaitable[Session]]
ReportProgress: TypeAlias = Callable[[str, float | None, float | None], Awaitable[None]]
"""Reports progress to the caller: as a sentence, as a number, and of how many."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """Runs a program with the same request, one run after the other."""

    debugger: Debugger
    begin: Begin
    """Starts a run."""
    until: RepeatUntil
    report_progress: ReportProgress

    async def run(self, times: int, seconds: float) -> tuple[Session, Tally]:
        """Run it so often, or until a run does not pass or the time is up; return the last session and tally.

        A run that passes ends wholly, with all that it has started. What the last run has come to stays as it is: stopped at its failure, say, or
        running. Whoever cancels this ends the run, too.

        Raises:
            DapeerError: A run does not start.
        """
        clock = anyio.current_time
        end, tally = clock() + seconds, Tally(times)
        while True:
            started_at = clock()
            session = await self._started(tally)
            async with unless_cancelled(self.debugger.terminate, session.program.first):
                if await self._verdict(session, tally, end) is not Verdict.PASSED:
                    return session, tally
                await self.debugger.terminate(session.program.first)
            self._keep(session, tally, clock() - started_at)
            if not tally.left or clock() >= end:
                return session, tally
            count = len(tally.passed)
            await self.report_progress(f"{count} of {times} runs passed", count, times)

    async def _started(self, tally: Tally) -> Session:
        try:
            return await self.begin()
        except DapeerError as error:
            if not tally.passed:
                raise
            what = f"Run {tally.run + 1} of {tally.times} did not start: {error.what}"
            raise AdapterFailed(what, error.hint) from error

    def _keep(self, session: Session, tally: Tally, seconds: float) -> None:
        """Count a run that has passed, and forget the one before it: they are all alike."""
        if tally.kept is not None:
            self.debugger.sessions.forget(tally.kept)
        detached = session.program.first.detached
        left = detached.left() if detached else {}
        tally.keep(session.program.first.id, seconds, left, mute=_code(session) is None)

    async def _verdict(self, session: Session, tally: Tally, end: float) -> Verdict:
        """Wait for the outcome of a run."""
        clock = anyio.current_time
        while True:
            stopped_session = await session.program.next_stop(session, 0, end - clock())
            if stopped_session is None:
                return tally.end(Verdict.RUNNING)
            stop = stopped_session.mirror.stop
            if stop is None:
                untested = _untested(stopped_session) or ""
                return tally.end(Verdict.UNTESTED if untested else _end(stopped_session), untested)
            # Some adapters report a breakpoint where an exception was thrown: the stack shows it.
            await looked_at(stopped_session)
            if _is_failure(stop):
                return tally.end(Verdict.FAILED)
            if self.until == "stop":
                return tally.end(Verdict.STOPPED)
            tally.pass_by()
            await stopped_session.resume("continue", {"threadId": stop.thread_id})


def _is_failure(stop: Stop) -> bool:
    """Whether the stop is a failure: an exception, a failed assertion, a signal."""
    return not stop.planned and stop.reason != "pause"


def _end(session: Session) -> Verdict:
    """Return the outcome of an ended run."""
    if session.by_us:
        return Verdict.ENDED
    failed = session.cause is not None or _code(session) not in {None, 0}
    return Verdict.FAILED if failed else Verdict.PASSED


def _untested(session: Session) -> str | None:
    """Return why a program that was to run tests has run none."""
    if session.by_us:
        return None
    first = session.program.first
    return first.untested(first.program.output.read().text)


def _code(session: Session) -> int | None:
    return session.program.first.mirror.exit_code
