"""All debug sessions, the one that has the focus, and the breakpoints they share."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple, Self

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.process.reaper import Reaper
from dapeer.dap.messages import Event, Message, Request, Response
from dapeer.dap.requests import RESUMES
from dapeer.dap.types import SourceBreakpoint
from dapeer.errors import DapeerError, NoSession, Overdue
from dapeer.sessions import kept_rows
from dapeer.sessions.breakpoints import Breakpoints
from dapeer.sessions.control import SessionControl
from dapeer.sessions.files import Files
from dapeer.sessions.plan import Plan
from dapeer.sessions.pushes import Push, Tell, set_lines
from dapeer.sessions.session import Session
from dapeer.sessions.supervisor import Supervisor
from dapeer.sessions.waiters import unless_cancelled
from dapeer.system.folders import sweep

KEPT_SESSIONS = 20
"""Ended sessions that stay readable."""
SECONDS_TO_END = 5.0
"""Seconds in which a program and all its processes end politely; then they are killed."""
SECONDS_TO_END_ALL = 1.5
"""Seconds in which all sessions are ended politely when the server ends."""
STATE_EVENTS = frozenset({"stopped", "continued", "exited", "terminated", "process"})

Restart = Callable[[], Awaitable[Session]]
"""Ends a session, if it has not ended, and starts the same again."""

ChangeKind = Literal["sessions", "capabilities", "state", "output"]


class Change(NamedTuple):
    """Something of a session is different now."""

    kind: ChangeKind
    """`sessions`: one came or went; `capabilities`: its adapter has told what it can do; `state`: it stopped, ran on or ended; `output`: it printed."""
    session_id: int


class Debugger:
    """Holds the sessions and the breakpoints; `async with` ends every session at its exit."""

    def __init__(self, definitions: Mapping[str, Definition], project: Path) -> None:
        self.definitions = definitions
        self.project = project
        self.sessions: dict[int, Session] = {}
        """By id, the oldest first; ended ones stay for a while."""
        known = (each.stopping.frames(project) for each in definitions.values())
        self.files = Files(project, self.sessions, known)
        self.breakpoints = Breakpoints()
        self.focused: Session | None = None
        """Of the program that somebody has started or joined last: what a client means that has used none."""
        self._restarts: dict[int, Restart] = {}
        self._live: dict[int, SessionControl] = {}
        self._ids = itertools.count(1)
        self._listeners: list[Callable[[Change], None]] = []
        self._reaper = Reaper()
        self._tasks: TaskGroup = anyio.create_task_group()
        self._lives = Supervisor(self, self._tasks, self._reaper)

    async def __aenter__(self) -> Self:
        """Begin to hold sessions."""
        await self._tasks.__aenter__()
        # What servers that were killed have left: nobody waits for that.
        self._tasks.start_soon(anyio.to_thread.run_sync, sweep)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        """End what was launched and let go of what was attached: politely, then for good."""
        with anyio.move_on_after(SECONDS_TO_END_ALL, shield=True):
            async with anyio.create_task_group() as farewells:
                for first in {live.session.program.first for live in self._live.values()}:
                    farewells.start_soon(self._end, first, _farewell)
        self._tasks.cancel_scope.cancel()
        try:
            return await self._tasks.__aexit__(kind, error, traceback)
        finally:
            with anyio.CancelScope(shield=True):
                await self._reaper.aclose()

    # -- who is there

    def session(self, session_id: int) -> Session:
        """Return a session.

        Raises:
            NoSession: There is none of this number.
        """
        session = self.sessions.get(session_id)
        if session is None:
            known = ", ".join(map(str, self.sessions)) or "none"
            raise NoSession(f"There is no session {session_id}.", f"Sessions: {known}.")
        return session

    @property
    def programs(self) -> list[Session]:
        """The first session of each program of which any process lives, the oldest first."""
        first = dict.fromkeys(live.session.program.first for live in self._live.values())
        return [each for each in first if each.program.runs]

    def supported(self, wanted: Iterable[str]) -> frozenset[str]:
        """Return those of some requests, or options of requests, that the adapter of a live session supports."""
        # An adapter has told what it can do as soon as it has told anything.
        told = [s.session for s in self._live.values() if s.session.mirror.capabilities]
        return frozenset(each for each in wanted if any(s.supports(each) for s in told))

    def subscribe(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call `listener` at every change, at once; it must not block. Returns what ends this."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _tell(self, kind: ChangeKind, session: Session) -> None:
        for listener in self._listeners:
            listener(Change(kind, session.id))

    def observe(self, live: SessionControl, message: Message) -> None:
        """Take note of a message of a session that is held, and tell who listens."""
        session = live.session
        live.observe(message)
        match message:
            case Event(event="output"):
                for each in session.program.sessions:
                    self._tell("output", each)
            case Response(command="initialize") | Event(event="capabilities"):
                self._tell("capabilities", session)
            case Event(event="stopped") if live.run_to is not None:
                self._tasks.start_soon(self._restore, live, live.run_to)
                live.run_to = None
            case _:
                pass
        if (isinstance(message, Event) and message.event in STATE_EVENTS) or (
            isinstance(message, Request) and message.command in RESUMES
        ):
            self._tell("state", session)

    # -- start and end

    async def start(
        self, plan: Plan, breakpoints: Sequence[tuple[str, SourceBreakpoint]] = ()
    ) -> Session:
        """Start an adapter and bring its debuggee to run; return the session.

        `breakpoints` (path and breakpoint) join the wanted ones, unless the start fails; the other sessions are not told of them. A program that has ended by then, because it is short or faulty, is a session that ended.

        Raises:
            ArgumentError: The adapter cannot use what it was given; nothing was started.
            AdapterError: The adapter is missing, did not start, or refused.
        """
        # Fails before a process is started when the arguments are of no use.
        arguments = plan.arguments
        if plan.launched:
            self.files.add(Path(str(plan.inputs["project"])))
        with self.breakpoints.wanting(breakpoints):
            session = await self._lives.start(plan, arguments)
        if session.delegates:
            limit = plan.definition.timeouts.launch
            async with unless_cancelled(self.terminate, session):
                await session.wait_for(
                    lambda: session.over or session.program.child_runs(session), limit
                )
        return session

    def next_id(self) -> int:
        """Return the id of the next session."""
        return next(self._ids)

    @contextlib.contextmanager
    def holding(self, live: SessionControl, restart: Restart, *, focus: bool) -> Generator[None]:
        """Count a session among ours while the body runs: one that another client holds.

        Unless it gets the `focus`, it does not take it from a session that lives: who works on that
        one has not asked for another.
        """
        held = self.focused
        self._add(live, restart, focus=focus or held is None or held.mirror.ended)
        try:
            yield
        finally:
            live.session.finish()
            self.ended(live, failed=False)

    def began(self, live: SessionControl, plan: Plan) -> None:
        """Count a session of ours; the first one of a program gets the focus."""
        restart = functools.partial(self._restart, live.session, plan)
        self._add(live, restart, focus=live.session.parent is None)

    def _add(self, live: SessionControl, restart: Restart, *, focus: bool) -> None:
        session = live.session
        self._live[session.id] = live
        self._restarts[session.id] = restart
        self.sessions[session.id] = session
        session.inspect.secret_files = self.files.secret
        if focus:
            self.focused = session
        self._tell("sessions", session)

    def ended(self, live: SessionControl, *, failed: bool) -> None:
        """Keep what has ended for its readers; what never ran leaves no trace."""
        session = live.session
        del self._live[session.id]
        ended = [each for each in self.sessions.values() if each.id not in self._live]
        # A program's end is told by its first process: the others are forgotten before it.
        ended.sort(key=lambda each: each.parent is None)
        for dropped in [session] if failed else ended[:-KEPT_SESSIONS]:
            del self.sessions[dropped.id]
            del self._restarts[dropped.id]
            dropped.program.remove(dropped)
        kept_rows.bound(each for each in ended if each.id in self.sessions)
        if self.focused is session and failed:
            self.focused = next(reversed(self.sessions.values()), None)
        self._tell("sessions", session)

    def forget(self, session_id: int) -> None:
        """Drop the sessions of a program that has ended, as those are that nobody has to read."""
        first = self.session(session_id)
        for dropped in first.program.sessions:
            self.sessions.pop(dropped.id, None)
            self._restarts.pop(dropped.id, None)
        self._tell("sessions", first)

    async def terminate(self, session: Session) -> None:
        """End the debuggee and the session, its children first, by force after `ENDING`; what has ended already is left as it is.

        Raises:
            Overdue: It has not ended; it is somebody else's to kill.
        """
        with anyio.move_on_after(SECONDS_TO_END):
            return await self._end(session, lambda live: live.terminate())
        for each in reversed(session.program.sessions):
            if each.id in self._live:
                await self._live[each.id].force()
        if not session.over:
            raise Overdue(
                f"The program has not ended within {SECONDS_TO_END:g} s.",
                "Another client, such as a Neovim, controls its adapter: end it there.",
            )
        return None

    async def _end(
        self, session: Session, end: Callable[[SessionControl], Awaitable[object]]
    ) -> None:
        """End a session, its children before it: they need their parent's adapter for it."""
        await self._cut_off(session, "dap_terminate")
        await self._end_children(session, end)
        live = self._live.get(session.id)
        if live is not None:
            await end(live)

    async def _cut_off(self, session: Session, tool: str) -> None:
        """Kill what must not run on, before any process is asked to end: who ends one may wake another."""
        ending = [session, *session.program.below(session)]
        if any(each.mirror.stop is not None for each in ending):
            for each in ending:
                if each.id in self._live:
                    await self._live[each.id].cut_off(tool)

    async def _end_children(
        self, session: Session, end: Callable[[SessionControl], Awaitable[object]]
    ) -> None:
        async def end_child(child: Session) -> None:
            # What cannot be ended so is ended with its parent.
            with contextlib.suppress(DapeerError):
                await self._end(child, end)

        async with anyio.create_task_group() as tasks:
            for child in session.program.children(session):
                tasks.start_soon(end_child, child)

    async def disconnect(self, session: Session, *, terminate: bool | None) -> bool:
        """End the session, its children first; return whether the debuggee was ended, too.

        It lives on unless dapeer started it, or `terminate` says otherwise.

        Raises:
            Unsupported: The adapter cannot let go of a program that it launched.
            SessionError: The session has ended already.
        """
        live = self._alive(session)
        live.check_leave(terminate=terminate)
        if terminate is not False:
            await self._cut_off(session, "dap_disconnect")
        await self._end_children(session, lambda each: each.disconnect(terminate=terminate))
        return await live.disconnect(terminate=terminate)

    async def restart(self, session: Session) -> Session:
        """End a program, if it has not ended, and start it again; a child has no start of its own."""
        program = session.program
        again = await self._restarts[program.first.id]()
        self.expect(again, program.awaited.places)
        return again

    async def _restart(self, session: Session, plan: Plan) -> Session:
        living = session.program.alive
        await self.terminate(session)
        for each in living:
            if each.by_us:
                each.cause = "ended by dap_restart"
        return await self.start(plan)

    def _alive(self, session: Session) -> SessionControl:
        live = self._live.get(session.id)
        if live is None:
            raise NoSession(f"Session {session.id} has ended.", "dap_run starts it again.")
        return live

    # -- breakpoints

    def expect(self, session: Session, places: Iterable[tuple[str, int]]) -> None:
        """Count breakpoints (path and line) as set for a program, with those set since another was started."""
        fresh, self.breakpoints.fresh = self.breakpoints.fresh, set()
        definition = self.definitions.get(session.adapter)
        fitting = {
            each for each in fresh if definition is None or self.accepts(definition, each[0])
        }
        session.program.awaited.places |= {*places, *fitting}

    def expect_now(self, path: str, line: int) -> None:
        """Count a breakpoint as set for the programs that run, and for the next one."""
        self.breakpoints.fresh.add((path, line))
        for live in self._live.values():
            if live.accepts(path):
                live.session.program.awaited.places.add((path, line))

    def tell(self, what: str, sessions: Iterable[Session], tell: Tell) -> Push:
        """Begin to tell those of some sessions that live something; `what` they are told is for the answer."""
        lives = [self._live[each.id] for each in sessions if each.id in self._live]
        return Push(self._tasks, what, lives, tell)

    def push(self, *paths: str, started: Session | None = None) -> Push:
        """Begin to make what is wanted in files true of every session that debugs such files.

        A program that has just been `started` with it needs to be told nothing.
        """
        known = {each.id for each in started.program.sessions} if started else set[int]()

        async def tell(live: SessionControl) -> None:
            for path in filter(live.accepts, paths):
                await set_lines(live, path, self.breakpoints.of(path))

        others = [
            live
            for number, live in self._live.items()
            if number not in known
            and not live.session.mirror.ended
            and any(map(live.accepts, paths))
        ]
        return Push(self._tasks, "the breakpoints", others, tell, taken=started is not None)

    def push_functions(self) -> Push:
        """Begin to make the wanted function breakpoints true of every session that can have them."""

        async def tell(live: SessionControl) -> None:
            await live.session.stops_at.functions(self.breakpoints.functions)

        able = [s for s in self.sessions.values() if s.supports("setFunctionBreakpoints")]
        return self.tell("the function breakpoints", able, tell)

    def accepts(self, definition: Definition, path: str) -> bool:
        """Whether an adapter debugs such files; a file that none of them knows may be anybody's."""
        known = self.definitions.values()
        return definition.accepts(path) or not any(other.accepts(path) for other in known)

    async def run_to(self, session: Session, path: str, line: int) -> None:
        """Want a breakpoint without conditions until the session's next stop."""
        live = self._alive(session)
        others = [wanted for wanted in self.breakpoints.of(path) if wanted["line"] != line]
        # Noted first: an adapter that does not answer in time may have it all the same.
        live.run_to = path
        await session.set_breakpoints(path, [*others, SourceBreakpoint(line=line)])

    async def _restore(self, live: SessionControl, path: str) -> None:
        with contextlib.suppress(DapeerError):
            await live.session.set_breakpoints(path, self.breakpoints.of(path))


async def _farewell(live: SessionControl) -> None:
    await live.farewell(SECONDS_TO_END_ALL)
