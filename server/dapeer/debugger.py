"""All debug sessions: how they start, which one has the focus, how they end."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import anyio
from anyio.abc import TaskGroup, TaskStatus

from dapeer.adapters.definition import Definition
from dapeer.adapters.process import Adapter, open_adapter
from dapeer.adapters.reaper import Reaper
from dapeer.breakpoints import Breakpoints
from dapeer.dap.handshake import handshake
from dapeer.dap.messages import Event, Message, Request
from dapeer.dap.types import SourceBreakpoint
from dapeer.errors import (
    AdapterFailed,
    ChannelClosed,
    ChannelError,
    DapeerError,
    NoSession,
    RequestFailed,
    Unsupported,
)
from dapeer.mirror import RESUMES
from dapeer.session import Deadlines, Session

KEPT_SESSIONS = 20
"""Ended sessions that stay readable."""
LAST_WORDS = 1.0
"""Seconds that an adapter has after `disconnect` to send what is left and go."""
POLITE = 2.0
"""Seconds in which a debuggee may end by itself when it is asked to."""
FAREWELL = 1.5
"""Seconds in which all sessions are ended politely when the server ends."""
PHASE_EVENTS = frozenset({"stopped", "continued", "exited", "terminated", "process"})


@dataclass(frozen=True, slots=True)
class Plan:
    """What to debug and how: enough to start it, and to start it again."""

    definition: Definition
    request: Literal["launch", "attach"]
    inputs: Mapping[str, object]
    """What the definition's placeholders stand for: program, args, cwd, env, python, pid, …"""
    config: Mapping[str, object] = field(default_factory=dict[str, object])
    """Adapter-specific keys, passed through untouched."""
    name: str = ""
    exception_filters: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """Something of a session is different now."""

    kind: Literal["sessions", "state", "output"]
    session_id: int


@dataclass(slots=True)
class Live:
    """A session that has an adapter."""

    session: Session
    plan: Plan
    adapter: Adapter
    run_to: tuple[str, int] | None = None
    """A breakpoint that lasts until the next stop."""


class Debugger:
    """Holds the sessions and the breakpoints; `async with` ends every session at its exit."""

    def __init__(self, definitions: Mapping[str, Definition], project: Path) -> None:
        self.definitions = definitions
        self.project = project
        self.sessions: dict[int, Session] = {}
        """By id, the oldest first; ended ones stay for a while."""
        self.breakpoints = Breakpoints()
        self.focused: Session | None = None
        """What is meant when nobody names a session."""
        self.plans: dict[int, Plan] = {}
        self._live: dict[int, Live] = {}
        self._ids = itertools.count(1)
        self._listeners: list[Callable[[Change], None]] = []
        self._reaper = Reaper()
        self._tasks: TaskGroup = anyio.create_task_group()

    async def __aenter__(self) -> Self:
        """Begin to hold sessions."""
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        """End every session, politely for a moment, then for good."""
        with anyio.move_on_after(FAREWELL, shield=True):
            async with anyio.create_task_group() as farewells:
                for live in self._live.values():
                    farewells.start_soon(self._leave, live)
        self._tasks.cancel_scope.cancel()
        try:
            return await self._tasks.__aexit__(kind, error, traceback)
        finally:
            with anyio.CancelScope(shield=True):
                await self._reaper.aclose()

    # -- who is there

    def session(self, session_id: int | None = None) -> Session:
        """Return a session by id, default the focused one.

        Raises:
            NoSession: There is none.
        """
        if session_id is None:
            if self.focused is None:
                raise NoSession("There is no debug session.", "Start one with dap_run.")
            return self.focused
        session = self.sessions.get(session_id)
        if session is None:
            known = ", ".join(map(str, self.sessions)) or "none"
            raise NoSession(f"There is no session {session_id}.", f"Sessions: {known}.")
        return session

    def subscribe(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call `listener` at every change, at once; it must not block. Returns what ends this."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _tell(self, kind: Literal["sessions", "state", "output"], session_id: int) -> None:
        for listener in self._listeners:
            listener(Change(kind, session_id))

    # -- start

    async def start(self, plan: Plan) -> Session:
        """Start an adapter and bring its debuggee to run; return the session.

        A program that has ended by then, because it is short or faulty, is a session that ended.

        Raises:
            ArgumentError: The adapter cannot use what it was given; nothing was started.
            AdapterError: The adapter is missing, did not start, or refused.
        """
        return await self._tasks.start(self._run, plan)

    async def _run(self, plan: Plan, *, task_status: TaskStatus[Session]) -> None:
        """Live the whole life of one session."""
        failure: DapeerError | None = None
        async with open_adapter(
            plan.definition, plan.request, plan.inputs, self._reaper
        ) as adapter:
            live = self._add(plan, adapter)
            session = live.session
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(session.run)
                try:
                    failure = await self._bring_up(live)
                    if failure is None:
                        task_status.started(session)
                        await self._last(live)
                finally:
                    tasks.cancel_scope.cancel()
                    session.finish()
                    self._remove(live, failed=failure is not None)
        if failure is not None:
            raise failure

    def _add(self, plan: Plan, adapter: Adapter) -> Live:
        number = next(self._ids)
        timeouts = plan.definition.timeouts
        session = Session(
            number,
            plan.name or _name(plan),
            plan.definition.id,
            adapter.transport,
            project=self.project,
            deadlines=Deadlines(timeouts.request, timeouts.control, timeouts.launch),
            kill=adapter.kill,
            changed=lambda message: self._observe(live, message),
        )
        live = Live(session, plan, adapter)
        self._live[number] = live
        self.sessions[number] = session
        self.plans[number] = plan
        self.focused = session
        self._tell("sessions", number)
        return live

    def _remove(self, live: Live, *, failed: bool) -> None:
        number = live.session.id
        del self._live[number]
        ended = [known for known in self.sessions if known not in self._live]
        for dropped in [number] if failed else ended[:-KEPT_SESSIONS]:
            del self.sessions[dropped]
            del self.plans[dropped]
        if self.focused is live.session:
            others = list(self._live.values())
            if others:
                self.focused = others[-1].session
            elif failed:
                self.focused = next(reversed(self.sessions.values()), None)
        self._tell("sessions", number)

    async def _bring_up(self, live: Live) -> DapeerError | None:
        """Do the handshake; return why it failed, None when the debuggee ran."""
        session, plan = live.session, live.plan
        seconds = plan.definition.timeouts.launch
        try:
            async with asyncio.timeout(seconds):
                await handshake(
                    session.channel,
                    adapter_id=plan.definition.adapter_id,
                    request=plan.request,
                    arguments=plan.definition.arguments(plan.request, plan.inputs, plan.config),
                    initialized=session.initialized,
                    configure=lambda: self._configure(session, plan),
                )
        except TimeoutError:
            return self._failed(live, f"did not {plan.request} within {seconds:g} s")
        except RequestFailed as error:
            if session.mirror.exit_code is None:
                return self._failed(live, f"could not {plan.request}: {error.message}")
        except ChannelClosed:
            if session.mirror.exit_code is None:
                return self._failed(live, f"ended before the {plan.request} was done")
        except DapeerError as error:
            return error
        return None

    def _failed(self, live: Live, what: str) -> AdapterFailed:
        """Name what the adapter did, with its own last words, which often are the reason."""
        printed = live.session.mirror.output.read().text.strip()[-800:]
        words = printed or live.adapter.stderr_tail().strip()[-800:]
        told = f" It said: {words}" if words else ""
        return AdapterFailed(
            f"The adapter {live.session.adapter} {what.rstrip('.')}.{told}",
            "Check program, cwd and config; `dapeer doctor` checks the adapter.",
        )

    async def _configure(self, session: Session, plan: Plan) -> None:
        """Send all breakpoints; one that an adapter rejects keeps nobody from starting."""
        wanted = self.breakpoints
        paths = [path for path in wanted.by_path if plan.definition.accepts(path)]
        sent = [session.set_breakpoints(path, wanted.of(path)) for path in paths]
        if wanted.functions and session.mirror.capabilities.get("supportsFunctionBreakpoints"):
            sent.append(session.set_function_breakpoints(wanted.functions))
        filters = self._filters(session, plan)
        if filters is not None:
            sent.append(session.set_exception_breakpoints(filters))
        for answer in await asyncio.gather(*sent, return_exceptions=True):
            if isinstance(answer, BaseException) and not isinstance(answer, RequestFailed):
                raise answer

    def _filters(self, session: Session, plan: Plan) -> Sequence[str] | None:
        """Return the exception filters to send; adapters stop at no exception until they are told."""
        offered = session.exception_filters()
        chosen = plan.exception_filters
        if chosen is not None:
            session.check_filters(chosen)
            return chosen
        if not offered:
            return None
        if self.breakpoints.exceptions is not None:
            return [name for name in self.breakpoints.exceptions if name in offered]
        return [name for name, default in offered.items() if default]

    # -- messages

    def _observe(self, live: Live, message: Message) -> None:
        match message:
            case Event(event="output"):
                self._tell("output", live.session.id)
            case Event(event="process", body=body) if live.plan.request == "launch":
                pid = body.get("systemProcessId")
                if isinstance(pid, int):
                    live.adapter.own(pid)
            case Event(event="stopped") if live.run_to is not None:
                path, _ = live.run_to
                live.run_to = None
                self._tasks.start_soon(
                    self._quietly, live.session.set_breakpoints, path, self.breakpoints.of(path)
                )
            case _:
                pass
        if (isinstance(message, Event) and message.event in PHASE_EVENTS) or (
            isinstance(message, Request) and message.command in RESUMES
        ):
            self._tell("state", live.session.id)

    # -- breakpoints

    async def push(self, path: str) -> None:
        """Make what is wanted in a file true of every session that debugs such files."""
        for live in list(self._live.values()):
            if live.plan.definition.accepts(path):
                await live.session.set_breakpoints(path, self.breakpoints.of(path))

    async def push_functions(self) -> None:
        """Make the wanted function breakpoints true of every session that can have them."""
        for live in list(self._live.values()):
            if live.session.mirror.capabilities.get("supportsFunctionBreakpoints"):
                await live.session.set_function_breakpoints(self.breakpoints.functions)

    async def run_to(self, session: Session, path: str, line: int) -> None:
        """Want a breakpoint without conditions until the session's next stop."""
        live = self._alive(session)
        others = [wanted for wanted in self.breakpoints.of(path) if wanted["line"] != line]
        await session.set_breakpoints(path, [*others, SourceBreakpoint(line=line)])
        live.run_to = path, line

    # -- end

    async def terminate(self, session: Session) -> None:
        """End the debuggee and the session; politely first, then by force."""
        if session.id not in self._live:
            return
        session.cause = "ended by dap_terminate"
        with contextlib.suppress(ChannelError):
            if session.mirror.capabilities.get("supportsTerminateRequest"):
                await session.request("terminate", {"restart": False}, seconds=POLITE)
                await session.wait_for(session.ended, POLITE)
            if not session.ended():
                await session.request("disconnect", {"terminateDebuggee": True}, seconds=POLITE)
        await self._gone(session)

    async def disconnect(self, session: Session, *, terminate: bool | None) -> bool:
        """End the session; the debuggee lives on unless dapeer started it, or `terminate` says so.

        Returns whether the debuggee was ended.

        Raises:
            Unsupported: The adapter cannot let go of a program that it launched.
        """
        live = self._alive(session)
        launched = live.plan.request == "launch"
        ending = launched if terminate is None else terminate
        if launched and not ending and not live.plan.definition.quirks.detach_launched:
            raise Unsupported(
                f"The adapter {session.adapter} cannot leave a program running that it launched.",
                "End it with dap_terminate, or start it yourself and attach.",
            )
        session.cause = "ended by dap_disconnect" if ending else "detached; the program runs on"
        if not ending:
            live.adapter.release(int(session.mirror.process.get("systemProcessId") or 0))
        await session.request("disconnect", {"terminateDebuggee": ending})
        await self._gone(session)
        return ending

    async def restart(self, session: Session) -> Session:
        """End a session, if it has not ended, and start the same program again."""
        plan = self.plans[session.id]
        await self.terminate(session)
        return await self.start(plan)

    def _alive(self, session: Session) -> Live:
        live = self._live.get(session.id)
        if live is None:
            session.stopped()  # tells that it has ended
            raise NoSession(f"Session {session.id} has ended.", "dap_run starts anew.")
        return live

    async def _gone(self, session: Session) -> None:
        """Wait until a session is over; an adapter that stays is killed."""
        if not await session.wait_for(lambda: session.over, LAST_WORDS):
            live = self._live.get(session.id)
            if live is not None:
                await live.adapter.kill()
            session.finish()

    async def _last(self, live: Live) -> None:
        """Wait for the end of the debuggee, then let the adapter say its last words and go."""
        session = live.session
        await session.wait_for(
            lambda: session.ended() or session.mirror.exit_code is not None, None
        )
        await session.wait_for(session.ended, LAST_WORDS)
        if not session.over:
            with contextlib.suppress(ChannelError):
                await session.channel.request(
                    "disconnect", {"terminateDebuggee": True}, seconds=LAST_WORDS
                )
            await session.wait_for(lambda: session.over, LAST_WORDS)

    async def _leave(self, live: Live) -> None:
        """The server ends: end what we launched, let go of what we attached to."""
        launched = live.plan.request == "launch"
        with contextlib.suppress(ChannelError):
            await live.session.channel.request(
                "disconnect", {"terminateDebuggee": launched}, seconds=FAREWELL
            )

    async def _quietly(self, action: Callable[..., Awaitable[None]], *arguments: object) -> None:
        with contextlib.suppress(DapeerError):
            await action(*arguments)


def _name(plan: Plan) -> str:
    """Name a session after what it debugs."""
    for key in ("program", "module", "code", "pid", "port"):
        value = plan.inputs.get(key)
        if value is not None:
            return (
                Path(value).name
                if key == "program" and isinstance(value, str)
                else f"{key} {value}"[:60]
            )
    return plan.definition.id
