"""Starts and ends debug sessions, and tells them of the breakpoints that they share."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import anyio
from anyio.abc import TaskGroup, TaskStatus

from dapeer.adapters.choice.choice import can_debug
from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.process.adapter import Adapter, open_adapter
from dapeer.adapters.process.children import open_child
from dapeer.adapters.process.owned_process import Processes, Reaper
from dapeer.base.errors import DapeerError, NoSession, ToolTimeout, Unsupported
from dapeer.base.system.environment import use_starter_environment
from dapeer.base.system.folders import remove_left_folders
from dapeer.base.system.matching import Matcher
from dapeer.base.system.tasks import on_cancellation
from dapeer.base.system.threads import run_in_thread_briefly
from dapeer.collecting.row_files import RowFolders
from dapeer.dap.messages import Body
from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.sessions.breakpoints.breakpoints import Breakpoints
from dapeer.sessions.broadcast import Broadcast, SendChange, set_lines
from dapeer.sessions.core.direct import DirectSession, OfferedChild
from dapeer.sessions.core.plan import Plan
from dapeer.sessions.core.program import Program
from dapeer.sessions.core.session import Session
from dapeer.sessions.core.start_up import start_up
from dapeer.sessions.debugger.registry import Groups, Restart, Sessions
from dapeer.sessions.doings import Doings
from dapeer.sessions.triggers.runs import Triggers

# Sessions with adapters of ours, from start to end: a program's, and its children's.

log = logging.getLogger(__name__)

CANCELLED: Final = "ended by its client, which cancelled the start"


class Supervisor:
    """Runs each session in a task of its own."""

    def __init__(
        self, sessions: Sessions, breakpoints: Breakpoints, tasks: TaskGroup, reaper: Reaper
    ) -> None:
        """Run no session yet.

        Sessions are registered in `sessions`, and get the shared set `breakpoints` unless their plan has one of its own. Each runs in a
        task of `tasks`; `reaper` kills adapters and programs, should dapeer be killed.
        """
        self._sessions = sessions
        self._breakpoints = breakpoints
        self._tasks = tasks
        self._reaper = reaper

    async def start(
        self, plan: Plan, arguments: Body, parent: DirectSession | None = None
    ) -> Session:
        """Start an adapter, do the handshake, and return the session when its debuggee runs.

        The session goes on in a task of its own. `arguments` are those of `launch` or `attach`. `parent` is the session whose program has
        started this one's; None: it is the first of its program.

        Raises:
            AdapterError: The adapter is missing, did not start, or refused.
            ArgumentError: The plan wants an exception filter that the adapter does not have.
        """
        return await self._tasks.start(self._run, plan, arguments, parent)

    async def _run(
        self,
        plan: Plan,
        arguments: Body,
        parent: DirectSession | None,
        *,
        task_status: TaskStatus[Session],
    ) -> None:
        """Start an adapter and run its session to its end.

        It is the body of the session's task: `task_status` gets the session once the debuggee runs. `arguments`
        are those of `launch` or `attach`, `parent` is the session whose program has started this one's, or
        None.

        Raises:
            DapeerError: The session could not start. Any other error before the debuggee runs leaves, too;
                later errors are logged.
        """
        started: list[Session] = []

        def begin(session: Session) -> None:
            """Hand the session to the caller of the start."""
            task_status.started(session)
            started.append(session)

        try:
            failure = await self._open(plan, arguments, parent, begin)
        except Exception:
            # The caller of the start gets the error. Later no caller waits, and the fault of one session must
            # not end the others.
            if not started:
                raise
            log.exception("session %s", started[0].id)
        else:
            if failure is not None:
                raise failure

    async def _open(
        self,
        plan: Plan,
        arguments: Body,
        parent: DirectSession | None,
        begin: Callable[[Session], None],
    ) -> DapeerError | None:
        """Start an adapter and run its session to its end, and that of its children; end the adapter then.

        Return why the session could not start, None: it did, and has ended. `arguments` are those of `launch`
        or `attach`, `parent` is the session whose program has started this one's, or None. `begin` is called
        with the session once its debuggee runs.

        Raises:
            AdapterError: The adapter is missing, or did not start.
            ForeignListener: Another user listens at the adapter's port.
        """
        opened = open_adapter(plan.definition, plan.request, plan.inputs, self._reaper)
        async with opened as adapter:
            session = self._session(plan, adapter, parent)
            failure = await self._run_through(session, arguments, lambda: begin(session))
            if failure is None:
                below = session.program.descendants
                await session.wait_for(lambda: all(each.is_over for each in below(session)), None)
            return failure

    async def _adopt_offered(self, parent: DirectSession) -> None:
        """Wait for processes that the adapter of `parent` offers, for ever; debug each in a task of its own."""
        while True:
            self._tasks.start_soon(self._adopt, parent, await parent.offered_children.take())

    async def _adopt(self, parent: DirectSession, offer: OfferedChild) -> None:
        """Start a session for a process that the debuggee of `parent` has started, and answer the offer.

        The offer is accepted once the session is connected to its adapter, before the handshake. An error up to then
        is logged, and refuses the offer; it is not raised.
        """
        try:
            await self._begin_child(parent, offer.arguments)
        except DapeerError as error:
            log.warning("a child of session %s: %s", parent.id, error)
            offer.refuse(error)
        except Exception as error:
            log.exception("a child of session %s", parent.id)
            offer.refuse(Unsupported(f"dapeer cannot do it: {error}", ""))
        else:
            offer.accept()

    async def _begin_child(self, parent: DirectSession, offered: Body) -> None:
        """Start the session of a child process, and return once it is connected to its adapter.

        `offered` is what the adapter wants: `request` (attach unless it is `launch`) and `configuration` (absent:
        empty). The session goes on in a task of its own. After an error the child runs on without a debugger.

        Raises:
            Unsupported: The child is not wanted, or its parent is being ended.
            DapeerError: The child cannot be reached, which is recorded as a fault of the parent's channel.
        """
        if parent.plan.refuses_children and not parent.runs_in_first_child:
            raise Unsupported("Child processes are not followed.", "follow_children does.")
        _check_lives(parent)
        try:
            await self._tasks.start(self._run_child, parent, parent.plan.plan_of_child(offered))
        except DapeerError as error:
            parent.channel.record_fault(error.problem)
            raise

    async def _run_child(
        self, parent: DirectSession, plan: Plan, *, task_status: TaskStatus[Session]
    ) -> None:
        """Connect to the adapter of a child process and run its session to its end.

        Errors of the session are logged. `task_status` gets the session once it is connected, before the handshake; errors up to then are
        raised to the caller of `start`. `parent` is the session whose adapter has offered the child, `plan` is that of the child.

        Raises:
            Unsupported: A tool is ending the parent.
            DapeerError: The adapter cannot be connected to.
        """
        opened = open_child(plan.definition, plan.config, parent.adapter_process, self._reaper)
        async with opened as adapter:
            _check_lives(parent)
            session = self._session(plan, adapter, parent)
            task_status.started(session)
            # No caller waits for it: the fault of one session must not end the others.
            try:
                failure = await self._run_through(session, plan.config, lambda: None)
            except Exception:
                log.exception("session %s", session.id)
            else:
                if failure is not None:
                    log.warning("session %s: %s", session.id, failure)

    def _session(self, plan: Plan, adapter: Adapter, parent: DirectSession | None) -> DirectSession:
        """Make a session with the next free id."""
        return DirectSession(self._sessions.next_context(), plan, adapter, parent)

    async def _run_through(
        self, session: DirectSession, arguments: Body, started: Callable[[], None]
    ) -> DapeerError | None:
        """Register a session, do its handshake, and run it to its end; return why it could not start, or None.

        `arguments` are those of `launch` or `attach`; `started` is called without arguments once the debuggee runs. A
        session without a parent becomes the focused one. Processes that its adapter offers meanwhile get sessions of
        their own. In any case the session is finished and marked as ended in the registry afterwards; one whose start
        has failed, or that has a parent and never ran, is dropped from the registry. If the start is cancelled, the
        session's cause says so. An internal error while the debuggee runs is logged, and counts as an end.
        """
        # The first one of a program gets the focus.
        self._sessions.add(session, focus=session.parent is None)
        failure: DapeerError | None = None
        runs = False
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.run)
            tasks.start_soon(self._adopt_offered, session)
            try:
                failure = await start_up(
                    session, session.plan.breakpoints or self._breakpoints, arguments
                )
                if failure is None:
                    runs = True
                    started()
                    await _run_session(session)
            except anyio.get_cancelled_exc_class():
                if not runs:
                    session.ending.replace_cause(CANCELLED, by_us=True)
                raise
            finally:
                session.finish()
                session.watch.close()
                if session.attached_program is not None and session.parent is None:
                    session.attached_program.close()
                never = failure is not None or (session.parent is not None and not runs)
                self._sessions.mark_ended(session, failed=never)
                tasks.cancel_scope.cancel()
        return failure


def _check_lives(parent: DirectSession) -> None:
    """Raise `Unsupported` if a tool is ending the parent, whose new child would be left behind."""
    if parent.is_ended_by_tool:
        raise Unsupported("Its program is being ended.", "dap_run starts it again.")


async def _run_session(session: DirectSession) -> None:
    """Run a session to its end; log an internal error, which is its cause of end if none is known."""
    try:
        await session.wait_and_end_adapter()
    except Exception:
        log.exception("session %s", session.id)
        session.ending.set_cause_if_unknown(
            "dapeer lost track of it after an error; its log says why"
        )


SECONDS_TO_END = 5.0
"""Seconds in which a program and all its processes end politely; then they are killed."""
SECONDS_TO_END_ALL = 1.5
"""Seconds in which all sessions are ended politely when the server ends."""


class Debugger:
    """Holds the sessions and the breakpoints; `async with` ends every session at its exit."""

    def __init__(self, definitions: Mapping[str, Definition], project: Path) -> None:
        """Hold no session yet; sessions can be started inside of `async with`.

        `definitions` are those of all adapters by their ids; `project` is the folder to which paths in answers are relative.
        """
        self.definitions = definitions
        self.project = project
        self._reaper = Reaper()
        self._rows = RowFolders(self._reaper)
        self.doings = Doings()
        self.sessions = Sessions(definitions, project, self.doings, self._rows)
        self.groups = Groups(self.sessions)
        self.files = self.sessions.files
        self.breakpoints = Breakpoints(doings=self.doings)
        self.matcher = Matcher()
        """Searches what callers' patterns are for."""
        self._tasks: TaskGroup = anyio.create_task_group()
        self.triggers = Triggers(self._tasks, self.sessions.values, self.own_processes)
        self._supervisor = Supervisor(self.sessions, self.breakpoints, self._tasks, self._reaper)

    async def __aenter__(self) -> Self:
        """Begin to hold sessions."""
        await self._tasks.__aenter__()
        # Remove what killed servers have left; no call waits for that, but the end does.
        self._tasks.start_soon(run_in_thread_briefly, remove_left_folders)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        """End launched programs and detach from attached ones, then cancel all tasks.

        Kill what has not ended within `SECONDS_TO_END_ALL`. The folders of rows are removed. The result is that of the task group's exit:
        True suppresses the body's error, mostly it does not.
        """
        with anyio.move_on_after(SECONDS_TO_END_ALL, shield=True):
            async with anyio.create_task_group() as farewells:
                for first in {each.program.first for each in self.sessions.held.values()}:
                    farewells.start_soon(self._end, first, _leave_session, "dap_terminate")
        self._tasks.cancel_scope.cancel()
        try:
            return await self._tasks.__aexit__(kind, error, traceback)
        finally:
            self._rows.close()
            with anyio.CancelScope(shield=True):
                await self.matcher.aclose()
                await self._reaper.aclose()

    @contextlib.asynccontextmanager
    async def own_processes(self) -> AsyncGenerator[Processes]:
        """Yield an empty set of processes; those added in the block are killed at its exit.

        The caller adds processes by `add` or `claim`. If dapeer is killed before, they are killed, too. The exit
        waits for their end, for `SECONDS_TO_BE_GONE` at most, also when it is cancelled.
        """
        processes = Processes(self._reaper)
        try:
            yield processes
        finally:
            with anyio.CancelScope(shield=True):
                await processes.aclose()

    def temporary_folder(self) -> contextlib.AbstractContextManager[Path]:
        """Return a context that makes a folder, and removes it after its body, or when dapeer dies."""
        return self._reaper.temporary_folder()

    def start_task(
        self, work: Callable[..., Coroutine[Any, Any, object]], *arguments: object
    ) -> None:
        """Start `work(*arguments)` as a task that runs until it is done or the debugger ends."""
        self._tasks.start_soon(work, *arguments)

    # -- start and end

    async def start(
        self,
        plan: Plan,
        breakpoints: Sequence[tuple[str, RequestedBreakpoint]] = (),
        parent: DirectSession | None = None,
    ) -> Session:
        """Start an adapter and bring its debuggee to run; return the session.

        `breakpoints` (path and breakpoint) are added to the shared set, unless the start fails; other sessions do not
        get them yet. `parent` is the session whose program has started this one, where both are attached to as one
        program. The project of a launch becomes a folder whose files may be read without consent, even if the start
        fails.

        A short or faulty program, and its session, may have ended already when the session is returned. Where the
        program is debugged as the first child of the session, the call waits until that child runs, but no longer than
        the definition's time for a launch. A call that is cancelled ends what it has started.

        Raises:
            ArgumentError: The adapter cannot use an argument, and nothing was started; or it lacks an exception filter
                of the plan.
            AdapterError: The adapter is missing, did not start, or refused.
            ForeignListener: Another user of this machine listens at the port to attach to.
            SystemUnsupported: The system has no process for the adapter, terminal, loopback or folder to give.
            OSError: No port is free, or a helper process of dapeer cannot be started.
        """
        # Fails before a process is started when the arguments are of no use.
        stops = plan.begins_stopped(plan.breakpoints or self.breakpoints)
        arguments = plan.to_entry.arguments if stops else plan.arguments
        if plan.launched:
            self.files.add(Path(str(plan.inputs["project"])))
        with self.breakpoints.adding(breakpoints):
            with use_starter_environment(plan.environment):
                session = await self._supervisor.start(plan, arguments, parent)
            if session.runs_in_first_child:
                limit = plan.definition.timeouts.launch
                async with on_cancellation(self.terminate, session):
                    await session.wait_for(
                        lambda: session.is_over or session.program.child_runs(session), limit
                    )
            return session

    @contextlib.contextmanager
    def holding(self, session: Session, restart: Restart, *, focus: bool) -> Generator[None]:
        """Register the session of another client (a Neovim) while the body runs; finish it afterwards.

        After the body, also if it raises, the session is over, and one of the ended sessions of the registry.
        `restart` starts the same program again. With `focus`, or if no session is focused or the focused one
        has ended, the session becomes the default of clients that have used none.
        """
        held = self.sessions.focused
        free = held is None or held.mirror.has_ended
        self.sessions.add(session, focus=focus or free, restart=restart)
        try:
            yield
        finally:
            session.finish()
            self.sessions.mark_ended(session, failed=False)

    async def terminate(self, session: Session) -> None:
        """End a session and its debuggee, children first; force the end after `SECONDS_TO_END`.

        The force meets every living session of the whole program, parent and siblings of `session` too: a launched program
        is killed with its adapter, an attached one is detached from, and a session of a Neovim is left alone. A session
        that has ended gets no request; its children do. Unless the debuggee has ended before, `doings` records that the
        calling client ends it. An adapter that rejects a request, and an error of a child, raise nothing.

        Raises:
            ToolTimeout: The session has not ended, and a Neovim controls its adapter.
            NeovimError: The session is reached only through a Neovim, which has not taken the request.
        """
        self._record_end(session)
        with anyio.move_on_after(SECONDS_TO_END):
            return await self._end(session, lambda each: each.terminate(), "dap_terminate")
        for each in reversed(session.program.sessions):
            if self._is_held(each):
                await each.kill_adapter()
        if not session.is_over:
            raise ToolTimeout(
                f"The program has not ended within {SECONDS_TO_END:g} s.",
                "Another client, such as a Neovim, controls its adapter: end it there.",
            )
        return None

    async def _end(
        self, session: Session, end: Callable[[Session], Awaitable[object]], tool: str
    ) -> None:
        """Call `end` for a session's children and then for the session: children need their parent's adapter.

        `end` is not called for sessions that have ended. Before that, the processes that have left the
        program's POSIX session are recorded. If the session or a child is stopped, programs that the adapter
        would resume on its way to the end are killed, with `tool` as what has ended them; none is if `tool` is
        empty. Children end side by side, each after its own children; those that have begun meanwhile are ended
        after the session. Errors of dapeer (`DapeerError`) that `end` raises for a child are ignored, as a child
        ends with its parent; what `end` raises for the session itself is raised here, after those children.
        """
        if session.detached_processes is not None:
            session.detached_processes.record_processes()
        await self._kill_if_end_would_resume(session, tool)
        await self._end_children(session, end, tool)
        try:
            if self._is_held(session):
                await end(session)
        finally:
            # One may have begun meanwhile.
            await self._end_children(session, end, tool)

    def _record_end(self, session: Session) -> None:
        """Record in `doings` that the calling client ends the program, if it has not ended."""
        if not session.mirror.has_ended:
            self.doings.record_move("terminate", session.id, session.program)

    def _is_held(self, session: Session) -> bool:
        """Return whether the session has not ended."""
        return session.id in self.sessions.held

    async def _kill_if_end_would_resume(self, session: Session, tool: str) -> None:
        """Kill those programs of the session and its children that the end of another would resume.

        Nothing is killed if none of them is stopped. `tool` is recorded as what has ended them; empty: they are to run
        on, and nothing is killed.
        """
        if not tool:
            return
        ending = [session, *session.program.descendants(session)]
        if any(each.mirror.stop is not None for each in ending):
            for each in ending:
                if self._is_held(each):
                    await each.kill_if_end_would_resume(tool)

    async def _end_children(
        self, session: Session, end: Callable[[Session], Awaitable[object]], tool: str
    ) -> None:
        """Call `_end` with `end` and `tool` for all children of the session at once, and wait for them.

        A child's `DapeerError` is dropped, as a child ends with its parent; other errors leave in an `ExceptionGroup`.
        """

        async def end_child(child: Session) -> None:
            """End a child; errors raise nothing."""
            # A child that does not end ends with its parent.
            with contextlib.suppress(DapeerError):
                await self._end(child, end, tool)

        async with anyio.create_task_group() as tasks:
            for child in session.program.children(session):
                tasks.start_soon(end_child, child)

    async def disconnect(self, session: Session, *, terminate: bool | None) -> bool:
        """Disconnect from the session, its children first; return whether that was to end the debuggee.

        `terminate` says whether to end the debuggee; None: only if dapeer, or nvim-dap, has launched it. Unless
        `terminate` is False, and if the session or a descendant is stopped, launched programs whose adapter would
        resume them on its way to the end are killed first. An error of a child's disconnect is ignored. The end is
        recorded in `doings` as the calling client's, also if the adapter then fails.

        Raises:
            Unsupported: The adapter cannot detach from a program that it launched; nothing has happened.
            NoSession: The session has ended already.
            DapeerError: The session's adapter rejects the request, or does not answer it in time; in the latter case
                dapeer has forced an adapter of its own to end.
        """
        self._check_held(session)
        session.check_leave(terminate=terminate)
        self._record_end(session)
        tool = "" if terminate is False else "dap_disconnect"
        await self._kill_if_end_would_resume(session, tool)
        await self._end_children(session, lambda each: each.disconnect(terminate=terminate), tool)
        return await session.disconnect(terminate=terminate)

    async def restart(self, session: Session) -> Session:
        """End a program, if it has not ended, and start it again; return the first session of the new one.

        `session` may be any session of the program. A program that dapeer has started or attached to is ended as by
        `terminate`, by force if it takes too long, and its options are those of its plan again; its breakpoints are
        those of the shared set now, unless the plan has its own. The program of a Neovim is ended and started there.
        The callers of the new program are to be shown the states of the same breakpoints as those of the old one
        (`awaited_breakpoints`), and of breakpoints set since.

        Raises:
            Unsupported: Nothing is known that could start the program again; it was not ended.
            DapeerError: The program does not end, or does not start again.
        """
        program = session.program
        first = program.first
        restart = self.sessions.restart_of(first)
        if isinstance(first, DirectSession):
            await self._end_for_restart(first)
            restart = restart or functools.partial(self.start, first.plan)
        if restart is None:
            raise Unsupported(f"Session {first.id} cannot be started again.", "dap_run starts it.")
        again = await restart()
        self.record_awaited(again, program.awaited_breakpoints.places)
        return again

    async def _end_for_restart(self, session: DirectSession) -> None:
        """End the program of a direct session, which is started again then."""
        living = session.program.living_sessions
        await self.terminate(session)
        for each in living:
            each.ending.set_ending_tool("dap_restart")

    def _check_held(self, session: Session) -> None:
        """Raise `NoSession` if the session has ended."""
        if not self._is_held(session):
            raise NoSession(f"Session {session.id} has ended.", "dap_run starts it again.")

    # -- breakpoints

    def record_awaited(self, session: Session, places: Iterable[tuple[str, int]]) -> None:
        """Record which breakpoints' states a new program's callers are to be shown: `places`, and fresh ones.

        Each place is a path and a line; `session` is one of the program's. Fresh breakpoints are those that tools
        have set since the last start: their places are taken out of `breakpoints.places_for_next_start`, so a
        second call has none of them. Those in files that the session's adapter does not debug are dropped, if its
        definition is known; a place without a line (0) is always kept. Nothing is sent.
        """
        definition = self.definitions.get(session.adapter)
        fitting = {
            (path, line)
            for path, line, _ in self.breakpoints.take_fresh()
            if not line or definition is None or can_debug(self.definitions, definition, path)
        }
        session.program.awaited_breakpoints.expect([*places, *fitting])

    def record_awaited_everywhere(self, path: str, line: int, column: int = 0) -> None:
        """Note that callers of all programs, the next one too, are told what becomes of a breakpoint.

        Programs that do not take the file are left out. Line 0: `path` is the name of a function.
        `column` 0: the breakpoint has none.
        """
        self.breakpoints.places_for_next_start.add((path, line, column))
        for session in self.sessions.held.values():
            if not line or session.accepts_breakpoints_in(path):
                session.program.awaited_breakpoints.expect([(path, line)])

    def broadcast(
        self, change_name: str, sessions: Iterable[Session], send: SendChange
    ) -> Broadcast:
        """Start calling `send` for those of `sessions` that have not ended; return the broadcast.

        Its `wait_for_failures` waits for them, and returns which have not applied the change, and why. `change_name` is a
        noun phrase for the change in those texts, such as "the breakpoints".
        """
        return Broadcast(self._tasks, change_name, [s for s in sessions if self._is_held(s)], send)

    def push_breakpoints(self, *paths: str, started: Session | None = None) -> Broadcast:
        """Start sending all breakpoints of files to every session that takes them; return the broadcast.

        `wait_for_failures` of the broadcast waits, and returns a line for each session that has not applied them,
        with the reason. `paths` are the files; a file without breakpoints loses those that sessions have. A session
        that leaves its program to a child gets none: the child does. `started` is a session of a program that was
        just started with these breakpoints: no session of that program is sent anything, and `wait_for_failures`
        waits for the others for at most `SECONDS_FOR_OTHERS`. None: it waits without a limit of its own until one
        session has applied them, then so long for the others.
        """
        known = {each.id for each in started.program.sessions} if started else set[int]()

        async def send(session: Session) -> None:
            """Send all breakpoints of those files that the session takes."""
            for path in filter(session.accepts_breakpoints_in, paths):
                await set_lines(session, path, self.breakpoints.in_file(path))

        others = [
            s for s in self.sessions.held.values() if s.id not in known and not s.mirror.has_ended
        ]
        holding = [
            s
            for s in others
            if s in s.program.debugged and any(map(s.accepts_breakpoints_in, paths))
        ]
        return Broadcast(
            self._tasks, "the breakpoints", holding, send, is_taken_elsewhere=started is not None
        )

    def push_undelivered(self, programs: Iterable[Program[Session]]) -> Broadcast:
        """Start sending again the files' breakpoints of which these programs lack some; return the broadcast.

        All breakpoints of each file with one that was not delivered are sent, to all sessions, as `push_breakpoints`
        does; those of functions, which have no line, are not. The programs may have loaded a changed file again by now.
        """
        kept = {
            path
            for each in programs
            for path, line in each.awaited_breakpoints.undelivered_places
            if line
        }
        return self.push_breakpoints(*sorted(kept))

    def drop_client(self, client: str) -> None:
        """Drop what a client that has disconnected collects and triggers, and start telling the sessions."""
        self.triggers.drop_client(client)
        self.push_breakpoints(*self.breakpoints.drop_client(client))
        self.push_collecting()

    def push_functions(self) -> Broadcast:
        """Start sending the wanted function breakpoints to every session that supports them.

        Return the broadcast, whose `wait_for_failures` waits for the sessions, and returns which have not applied them.
        """

        async def send(session: Session) -> None:
            """Send the wanted function breakpoints to the session."""
            await session.functions_and_filters.set_functions(self.breakpoints.functions)

        able = [s for s in self.sessions.values() if s.supports("setFunctionBreakpoints")]
        return self.broadcast("the function breakpoints", able, send)

    def push_collecting(self, started: Session | None = None) -> Broadcast:
        """Start having every session collect at the wanted functions, and no others; return the broadcast.

        Wanted are the functions of all clients. `wait_for_failures` of the broadcast waits for the sessions, and
        returns a line for each that has not applied the change, with the reason. `started` is a session of a
        program that was just started: the sessions of that program are left out, as they collect there already.
        None: no session is left out, except those that have ended.
        """
        functions = [*self.breakpoints.function_points.values()]
        known = started.program.sessions if started else ()
        others = [s for s in self.sessions.live if s not in known]
        what = "what is collected at functions"
        return self.broadcast(
            what, others, lambda each: each.line_breakpoints.collect_at(functions)
        )

    async def send_temporary_breakpoint(self, session: Session, path: str, line: int) -> None:
        """Send a breakpoint without conditions on a line until the session's next stop.

        It takes the place of all on the line that stop or log, in this session only; those that collect stay, and so
        does the shared set. The session is not resumed here. After the next stop, also if sending has failed, a task of
        the debugger's sends the file's breakpoints again as they are wanted.

        Raises:
            NoSession: The session has ended.
            DapeerError: The adapter rejects the breakpoints, or does not answer.
        """
        self._check_held(session)
        others = [
            requested
            for requested in self.breakpoints.in_file(path)
            if requested["line"] != line or "collect" in requested
        ]
        # Begun first: an adapter that does not answer in time may have it all the same.
        self._tasks.start_soon(self._restore, session, path, session.mirror.epoch)
        await session.set_breakpoints(path, [*others, RequestedBreakpoint(line=line)])

    async def _restore(self, session: Session, path: str, epoch: int) -> None:
        """Wait for a stop after `epoch`, then send a file's wanted breakpoints again; errors raise nothing."""
        mirror = session.mirror
        await session.wait_for(lambda: mirror.has_moved_on(epoch), None)
        with contextlib.suppress(DapeerError):
            if not mirror.has_ended:
                await session.set_breakpoints(path, self.breakpoints.in_file(path))


async def _leave_session(session: Session) -> None:
    """Leave a session at the server's end, as `Session.leave_at_server_end` does."""
    await session.leave_at_server_end(SECONDS_TO_END_ALL)
