"""Runs a planned start, once or again and again until a run fails, and shows the result."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

import anyio

from dapeer.base.errors import AdapterFailed, DapeerError
from dapeer.base.system.process_table import command_line
from dapeer.base.system.tasks import on_cancellation
from dapeer.base.text.fitting import shortened
from dapeer.base.text.lines import escaped, indented, indented_after_first
from dapeer.dap.requested_breakpoints import RequestedFunction, collects_at
from dapeer.launch.inheritance import Inheritance, places
from dapeer.launch.other_languages import pid_of
from dapeer.launch.process_tree import MAX_COMMAND_CHARS, ProcessTree
from dapeer.launch.request import BreakpointInFile
from dapeer.launch.start import Start
from dapeer.launch.tasks import StartTasks
from dapeer.mirror.stops import Stop
from dapeer.sessions.broadcast import Broadcast
from dapeer.sessions.core.direct import DirectSession
from dapeer.sessions.core.program import named
from dapeer.sessions.core.session import Session
from dapeer.sessions.core.views import inspect_stop
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.tools.base.call import Call, RemainingTime, Reply, neovim_note, with_notes
from dapeer.tools.base.report import StopOptions
from dapeer.tools.base.waiting import MILLISECONDS_UNTIL_LOOK, TriggerArguments, next_stop
from dapeer.view.tally import RunVerdict, Tally

# Again and again, until a run fails: for races, and tests that sometimes fail.

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

    `begin` is called without arguments and awaited for each run: it starts the program and returns its session.
    A run passes only if it ends without a failure: with `until="failure"` its other stops are resumed and counted,
    with `until="stop"` it must not stop at all. Return the last session and the tally. A run that passes is
    terminated with all that it has started, and all but the last of them are forgotten. A last run that has not
    passed stays as it is: stopped at its failure, say, or still running when the time is up. A cancelled call
    terminates its run. After each run that passes and is not the last, `report_progress` is awaited with a
    text, the number of passed runs, and `times`.

    Raises:
        AdapterFailed: A run did not start after others have passed; the text says which.
        DapeerError: The first run did not start, a stopped program cannot be resumed, one that has passed
            cannot be terminated, or (`NoSession`) the sessions of the run that passed before were dropped
            meanwhile.
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

    `begin()` is awaited once: it starts the run and returns the session. `tally` is not changed.

    Raises:
        AdapterFailed: A run did not start after others have passed; the text says which.
        DapeerError: The run did not start, and none has passed before: the error of `begin`.
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

    `session` is one of the run's sessions; its program is dropped when the next run has passed. Processes that the
    run has left running are added to `tally`, and are not reported again. `seconds` is how long the run took.

    Raises:
        NoSession: The sessions of the run that passed before were dropped already; this run is not counted then.
    """
    if tally.last_passed_session is not None:
        debugger.sessions.drop_program(tally.last_passed_session)
    detached = session.program.first.detached_processes
    left = detached.take_unreported() if detached else {}
    tally.record_passed_run(
        session.program.first.id, seconds, left, lacks_exit_code=_exit_code(session) is None
    )


async def _wait_for_verdict(
    session: Session, tally: Tally, end: float, until: RepeatUntil
) -> RunVerdict:
    """Wait for the outcome of a run until the time `end` of anyio's clock.

    The outcome is recorded in `tally`, with its reason if it has one, and returned. A failure is a stop that was
    not planned, other than a pause: the outcome is FAILED, and the program stays stopped. With `until` as
    `failure`, other stops are counted in `tally`, and the program is resumed; with `stop`, the first of them is the
    outcome STOPPED. The outcome is RUNNING if the run has not ended in time. What a stop needs to be shown is
    requested at each. `session` is any session of the run's program.

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
    """Return the verdict on a run that has ended, and for two verdicts the reason for it.

    The reason is a text with `UNTESTED` (the run was to run tests, and ran none) and with `UNJUDGED` (the program
    passed, but a breakpoint's condition failed, and it never took effect); with any other verdict it is empty.
    `session` is any session of the program.
    """
    verdict = _verdict_of_end(session)
    if why := _why_untested(session):
        return RunVerdict.UNTESTED, why
    if verdict is RunVerdict.PASSED and (why := _why_unjudged(session)):
        return RunVerdict.UNJUDGED, why
    return verdict, ""


def _why_unjudged(session: Session) -> str:
    """Return which condition of a breakpoint has failed, so that nothing stops there; empty: none.

    The text has the condition or hit condition, the breakpoint's place as `FILE:LINE`, how many times the
    condition failed, and its error. Only the program's first failed condition is named, without those at a line
    where it has once stopped, logged or collected. Waiting for such a breakpoint is in vain.
    """
    mirrors = [each.mirror for each in session.program.sessions]
    for each in session.program.failures:
        unseen = not any(mirror.was_line_reached(each.path, each.line) for mirror in mirrors)
        if each.kind in CONDITIONS and unseen:
            place = f"{Path(each.path).name}:{each.line}"
            return f"`{each.expression}` of {place} failed {each.count} times: {each.error}"
    return ""


def _verdict_of_end(session: Session) -> RunVerdict:
    """Return the verdict on a run that has ended: by its exit code, and by what has ended it."""
    if session.is_ended_by_tool:
        return RunVerdict.ENDED
    failed = session.cause is not None or _exit_code(session) not in {None, 0}
    return RunVerdict.FAILED if failed else RunVerdict.PASSED


def _why_untested(session: Session) -> str | None:
    """Return why a program that was to run tests has run none.

    None: it has run some, was to run none, that is not known, or a tool has ended the program.
    """
    if session.is_ended_by_tool:
        return None
    first = session.program.first
    return first.why_untested(first.program.output.read().text)


def _exit_code(session: Session) -> int | None:
    """Return the exit code of the session's program; None: it has none, or has not ended."""
    return session.program.first.mirror.exit_code


MILLISECONDS_WITHOUT_STOP = 1000
"""Milliseconds to wait for a stop after an attach that nothing is going to stop."""


@dataclass(slots=True)
class StartedProgram:
    """What is started, with which breakpoints, and what it has from before."""

    call: Call
    start: Start
    breakpoints: Sequence[BreakpointInFile]
    functions: Sequence[RequestedFunction]
    """At which it collects, or stops."""
    inherited: Inheritance
    triggers: TriggerArguments
    tree: int | None = None
    """The process whose descendants are attached to, too; None: they are not."""
    _breakpoint_broadcast: Broadcast | None = field(default=None, init=False)
    """Sends the breakpoints to the other programs."""
    _collecting_broadcast: Broadcast | None = field(default=None, init=False)
    """Sends the functions at which they collect to them."""
    _stopping_broadcast: Broadcast | None = field(default=None, init=False)
    """Sends the functions at which they stop to all."""
    _task_outcomes: list[str] = field(default_factory=list[str], init=False)
    """What became of the tasks before it."""
    _awaited: Collection[tuple[str, int]] = field(default=(), init=False)
    """The breakpoints of the first run, as path and line."""

    async def run(
        self, times: int, until: RepeatUntil, options: StopOptions, *, stops: bool
    ) -> Reply:
        """Start the program, once or several times, and return the first stop or the end of the last run.

        The wait takes at most `options.timeout_ms`; then the reply says that the program still runs. Tasks that
        run before the program, and its start, are not cut short; they count in that time only with several
        runs. Breakpoints are set, and become those of the shared set, too. If `times` is 1, triggers (what is
        sent to the running program) begin, and the descendants of the process `tree`, if one is given, are
        attached to. Of several runs, those that pass are terminated; the reply begins with the results of all.
        The session becomes the client's default.

        Args:
            times: The number of runs, at most; the first run that does not pass is the last.
            until: `failure`: other stops are resumed, and a run passes if it ends without a failure. `stop`:
                any stop ends the repetition. It has no meaning if `times` is 1.
            options: What to evaluate and show at the stop, and whether and how long to wait.
            stops: Whether the caller's arguments make the program stop, as at its entry. If not, and if there
                are neither breakpoints, of the call or of the shared set, nor triggers, an attach waits at most
                `MILLISECONDS_WITHOUT_STOP`.

        Raises:
            NotStopped: The program left the stop before the first expression of `options` was evaluated.
            DapeerError: A task fails, or a run cannot be started, resumed or terminated; or the triggers are not
                valid or type into a program that has no terminal, which is ended then (`end`).
        """
        shared = self.call.debugger.breakpoints
        can_stop = stops or self.start.launched or shared.paths or shared.functions
        limit = options.timeout_ms
        if not (can_stop or self.breakpoints or self.functions or self.triggers.then):
            limit = min(limit, MILLISECONDS_WITHOUT_STOP)
        if times > 1:
            left = RemainingTime(limit if options.wait_until_paused else 0)
            session, tally = await repeat(
                self.call.debugger,
                self.begin,
                times,
                left.remaining_ms / 1000,
                until,
                self.call.progress,
            )
            reply = await next_stop(
                self.call, session, 0, left.remaining_ms, options=options, waited=limit
            )
            reply = _with_tally(reply, tally)
        else:
            session = await self.begin()
            try:
                self.triggers.begin(self.call, session, self.start.ready)
            except BaseException:
                await self.end(session)
                raise
            tree = await self._attach_to_descendants(session)
            # What was attached to may be in its trouble already.
            before = 0 if self.start.launched else limit + MILLISECONDS_UNTIL_LOOK
            reply = await next_stop(self.call, session, 0, limit, options=options, waited=before)
            if tree is not None:
                reply = _with_members(reply, tree)
        sent = (self._breakpoint_broadcast, self._collecting_broadcast, self._stopping_broadcast)
        pushes = [each for each in sent if each is not None]
        lines = await self.inherited.report(session, pushes)
        notes = [*self.start.notes(session), *self._task_outcomes, *lines]
        return with_notes(reply, [*neovim_note(self.call, session), *notes])

    async def _attach_to_descendants(self, session: Session) -> ProcessTree | None:
        """Attach to the descendants of the process `tree`, too, as sessions of the same program.

        None: the caller did not ask for this.
        """
        if self.tree is None or not isinstance(session, DirectSession):
            return None
        tree = ProcessTree(self.call.debugger, session, self.tree)
        await tree.attach()
        return tree

    @property
    def _stopping(self) -> list[tuple[str, int]]:
        """The functions at which it is to stop, as places."""
        return [(each["name"], 0) for each in self.functions if not collects_at(each)]

    @property
    def task_notes(self) -> list[str]:
        """Lines on what became of the tasks that ran before the program."""
        return self._task_outcomes

    async def begin(self) -> Session:
        """Run the tasks that come before the program, start the program, and return its session.

        Each call starts one run; the session becomes the client's default one. At the first call the breakpoints
        and functions are added to the shared set, where they stay, and are sent to other programs in the
        background. A line on what became of each task is kept in `_task_outcomes`. Once the program has ended,
        the task after the program is run, a line on its outcome goes to the client's triggers, and background
        tasks are ended; if the program cannot be started, background tasks are ended at once.

        Raises:
            DapeerError: A task fails, or the program does not start.
        """
        tasks = StartTasks(self.call.debugger, self.start.tasks)
        self._task_outcomes += await tasks.run_before()
        try:
            session = await self._start_run()
        except BaseException:
            tasks.release()
            raise
        client, triggers = self.call.focus.key, self.call.debugger.triggers
        tasks.until_end_of_all([session], lambda line: triggers.add_line(client, line))
        return session

    async def end(self, session: Session) -> None:
        """End a run that has begun, also where this is cancelled; a process that was attached to runs on.

        Errors of dapeer (`DapeerError`) are ignored.
        """
        debugger = self.call.debugger
        with anyio.CancelScope(shield=True), contextlib.suppress(DapeerError):
            if self.start.launched:
                await debugger.terminate(session)
            else:
                await debugger.disconnect(session, terminate=False)

    async def _start_run(self) -> Session:
        """Start one run of the program, make its session the client's default one, and return it.

        Each run's session gets a record of the breakpoints that it is expected to get. Only the first run gives
        the breakpoints and functions to dapeer, and begins to send them to other programs, too; later runs find
        them there.

        Raises:
            DapeerError: The program does not start; functions that were given are removed again.
        """
        debugger = self.call.debugger
        first = self._breakpoint_broadcast is None
        with debugger.breakpoints.adding_functions(self.functions if first else ()):
            session, push = await self.start.begin(debugger, self.breakpoints if first else ())
        if first:
            self._breakpoint_broadcast = push
            if any(map(collects_at, self.functions)):
                self._collecting_broadcast = debugger.push_collecting(session)
            if not all(map(collects_at, self.functions)):
                self._stopping_broadcast = debugger.push_functions()
            debugger.record_awaited(
                session, [*places(self.breakpoints, self.functions), *self._stopping]
            )
            self._awaited = frozenset(session.program.awaited_breakpoints.places)
        else:
            debugger.record_awaited(session, self._awaited)
        self.call.focus.record_start(session)
        return session


def _with_members(reply: Reply, tree: ProcessTree) -> Reply:
    """Return a copy of a reply that begins with the processes of a tree.

    Its text begins with how many processes are attached to, then has a line for each, and one for each that
    is not. Its data has `members`, a list of objects with `session_id` and `pid`, and `not_attached`, a list
    of texts with the reasons, too.
    """
    members = tree.members
    rows = [{"session_id": each.id, "pid": pid_of(each)} for each in members]
    lines = [_member_line(each, members) for each in members]
    lines += [f"not attached: {each}" for each in tree.undebugged]
    word = "process is" if len(rows) == 1 else "processes are"
    text = "\n".join([f"{len(rows)} {word} attached to, as one program:", *map(indented, lines)])
    data = {**(reply.data or {}), "members": rows, "not_attached": tree.undebugged}
    return replace(reply, text=f"{text}\n{reply.text}", facts=data)


def _member_line(session: Session, members: Sequence[Session]) -> str:
    """Return a process as one line: session, pid, parent among the `members`, state, and command."""
    pid, parent = pid_of(session), session.parent
    child = f", child of {parent.id}" if parent is not None and parent in members else ""
    command = escaped(shortened(command_line(pid), MAX_COMMAND_CHARS))
    return f"session {session.id}: pid {pid}{child}, {session.mirror.phase.value}: {command}"


def _with_tally(reply: Reply, tally: Tally) -> Reply:
    """Return a copy of a reply with the results of all runs, in its text and its data.

    The text begins with them, and the data has them as `runs`. `tally` counts the runs, and `runs` is what
    `Tally.data` returns. A note is added if runs that passed have left processes running; it names the first
    `MAX_NAMED_PROCESSES` of these, and counts the others.
    """
    data = {**(reply.data or {}), "runs": tally.data()}
    reply_with_runs = replace(
        reply, text=f"{indented_after_first(tally.text())}\n{reply.text}", facts=data
    )
    left = f"still running, of runs that passed: {named(tally.detached)}; `kill NUMBER` ends one"
    return with_notes(reply_with_runs, [left] if tally.detached else [])
