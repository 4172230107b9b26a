"""A program that runs again and again, until a run fails: for races, and tests that sometimes fail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal, TypeAlias

import anyio

from dapeer.base.errors import AdapterFailed, DapeerError
from dapeer.base.system.exchange import on_cancellation
from dapeer.mirror.stops import Stop
from dapeer.sessions.core.session import Session
from dapeer.sessions.core.views import inspect_stop
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.view.tally import RunVerdict, Tally

CONDITIONS = ("condition", "hit condition")
"""Kinds of failures without which a breakpoint would have stopped the program, or collected."""
RepeatUntil: TypeAlias = Literal["stop", "failure"]
"""What ends the repetition, apart from a failed run: any stop, or only a failure."""

Begin: TypeAlias = Callable[[], Awaitable[Session]]
ReportProgress: TypeAlias = Callable[[str, float | None, float | None], Awaitable[None]]
"""Reports progress to the caller: as a sentence, as a number, and of how many."""


async def repeat(
    debugger: Debugger,
    begin: Begin,
    times: int,
    seconds: float,
    until: RepeatUntil,
    report_progress: ReportProgress,
) -> tuple[Session, Tally]:
    """Run a program up to `times` times, until a run does not pass or `seconds` are over.

    `begin` starts a run. A run passes if it ends without a failure (with `until="stop"`, also without any stop). Return the last session
    and the tally. A run that passes is terminated with all that it has started, and all but the last of them are forgotten. What the last
    run has come to stays: stopped at its failure, say, or running. A cancelled call terminates its run. After each run that passes and is
    not the last, `report_progress` is awaited with a text, the number of passed runs, and `times`.

    Raises:
        DapeerError: A run does not start.
    """
    clock = anyio.current_time
    end, tally = clock() + seconds, Tally(times)
    while True:
        started_at = clock()
        session = await _start_run(begin, tally)
        async with on_cancellation(debugger.terminate, session.program.first):
            if await _wait_for_verdict(session, tally, end, until) is not RunVerdict.PASSED:
                return session, tally
            await debugger.terminate(session.program.first)
        _count_passed_run(debugger, session, tally, clock() - started_at)
        if not tally.left or clock() >= end:
            return session, tally
        count = len(tally.passed_seconds)
        await report_progress(f"{count} of {times} runs passed", count, times)


async def _start_run(begin: Begin, tally: Tally) -> Session:
    """Start a run and return its session; `tally` tells which run it is.

    Raises:
        AdapterFailed: A later run than the first did not start; the text says which.
        DapeerError: The first run did not start.
    """
    try:
        return await begin()
    except DapeerError as error:
        if not tally.passed_seconds:
            raise
        problem = f"Run {tally.run + 1} of {tally.times} did not start: {error.problem}"
        raise AdapterFailed(problem, error.hint) from error


def _count_passed_run(debugger: Debugger, session: Session, tally: Tally, seconds: float) -> None:
    """Count a run that has passed in `tally`, and drop the sessions of the one that passed before it.

    `session` is one of the run's sessions; the program of its first one is dropped when the next run has passed. Processes that the run has
    left running are added to `tally`, and are not reported again. `seconds` is how long it took.
    """
    if tally.last_passed_session is not None:
        debugger.sessions.drop_program(tally.last_passed_session)
    detached = session.program.first.detached
    left = detached.take_unreported() if detached else {}
    tally.record_passed_run(
        session.program.first.id, seconds, left, lacks_exit_code=_code(session) is None
    )


async def _wait_for_verdict(
    session: Session, tally: Tally, end: float, until: RepeatUntil
) -> RunVerdict:
    """Wait for the outcome of a run until the time `end` of anyio's clock.

    Record it in `tally` and return it. With `until` as `failure`, stops that are no failure are counted there and resumed; with `stop`,
    the first of them is the outcome STOPPED. RUNNING: the run has not ended in time. `session` is any session of the run's program.

    Raises:
        DapeerError: A stopped program cannot be resumed.
    """
    clock = anyio.current_time
    while True:
        stopped_session = await session.program.next_stop(session, 0, end - clock())
        if stopped_session is None:
            return tally.set_verdict(RunVerdict.RUNNING)
        stop = stopped_session.mirror.stop
        if stop is None:
            return tally.set_verdict(*_outcome(stopped_session))
        # Some adapters report a breakpoint where an exception was thrown: the stack shows it.
        await inspect_stop(stopped_session)
        if _is_failure(stop):
            return tally.set_verdict(RunVerdict.FAILED)
        if until == "stop":
            return tally.set_verdict(RunVerdict.STOPPED)
        tally.count_continued_stop()
        await stopped_session.resume("continue", {"threadId": stop.thread_id})


def _is_failure(stop: Stop) -> bool:
    """Return whether a stop was not planned: an exception, a failed assertion, a signal."""
    return not stop.planned and stop.reason != "pause"


def _outcome(session: Session) -> tuple[RunVerdict, str]:
    """Return the verdict on a run that has ended, and why it has not shown what was asked; empty: it has."""
    verdict = _end(session)
    if why := _untested(session):
        return RunVerdict.UNTESTED, why
    if verdict is RunVerdict.PASSED and (why := _unjudged(session)):
        return RunVerdict.UNJUDGED, why
    return verdict, ""


def _unjudged(session: Session) -> str:
    """Return which condition of a breakpoint failed at each hit, and how; empty: none did.

    Only the first such condition is named. Runs with such a breakpoint would go on for nothing.
    """
    mirrors = [each.mirror for each in session.program.sessions]
    for each in session.program.failures:
        unseen = not any(mirror.was_line_reached(each.path, each.line) for mirror in mirrors)
        if each.kind in CONDITIONS and unseen:
            place = f"{Path(each.path).name}:{each.line}"
            return f"`{each.expression}` of {place} failed {each.count} times: {each.error}"
    return ""


def _end(session: Session) -> RunVerdict:
    """Return the verdict on a run that has ended: by its exit code, and by what has ended it."""
    if session.by_us:
        return RunVerdict.ENDED
    failed = session.cause is not None or _code(session) not in {None, 0}
    return RunVerdict.FAILED if failed else RunVerdict.PASSED


def _untested(session: Session) -> str | None:
    """Return why a program that was to run tests has run none.

    None: it has run some, was to run none, that is not known, or a tool has ended the program.
    """
    if session.by_us:
        return None
    first = session.program.first
    return first.untested(first.program.output.read().text)


def _code(session: Session) -> int | None:
    """Return the exit code of the session's program; None: it has none, or has not ended."""
    return session.program.first.mirror.exit_code
