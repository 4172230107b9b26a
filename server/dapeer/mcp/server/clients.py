"""Identifies the client of a request; all commands of the command line are one client."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from typing import Any, Final

import anyio
import mcp.types as t
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from dapeer.base.errors import DapeerError
from dapeer.base.json_types import as_object
from dapeer.base.system.tasks import BackgroundTask, Timer, call_after
from dapeer.mcp.data_extension import COMMAND, EXTENSION
from dapeer.peers import ConnectedClients
from dapeer.sessions.core.direct import DirectSession
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.debugger.focus import Focus
from dapeer.sessions.debugger.registry import SessionChange

_COMMANDS: Final = "dapeer.commands"
_AT_END: Final = "dapeer.at_end"
"""Where the state of a transport has what is to be called at its end."""


def client_of(context: ServerRequestContext[Any, Any]) -> str:
    """Return name and version of the client; empty if it has not sent them."""
    params = context.session.client_params
    info = params.client_info if params else None
    return f"{info.name} {info.version}".strip() if info else ""


def count_client(
    context: ServerRequestContext[Any, Any], connected_clients: ConnectedClients
) -> None:
    """Count the client of a request among the clients that people see, until it has gone.

    Up to MCP 2025-11-25 a client has gone when its connection ends. Since 2026-07-28, which has no
    handshake, a client is known by its name and version only, and stays from its first request until the
    transport that it is served on (stdio, a bridge, or HTTP) ends: several of the same name and version on
    one transport count once. All commands count as one client, until `dapeer end --all`. A client that is
    counted already is not counted again. `context` is that of the request.
    """
    if settings_of(context) is not None:
        commands_of(context).count_as_client(connected_clients)
        return
    modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    name = client_of(context)
    state: dict[str, Any] = context.lifespan_context if modern else connection_of(context).state
    at_end = state[_AT_END] if modern else connection_of(context).exit_stack
    key = f"dapeer.here {name}"
    if key not in state:
        state[key] = leave = connected_clients.add_client(name)
        at_end.callback(leave)


def asks_for_data(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client of a request has said among its capabilities that it reads the data of results."""
    capabilities = context.session.client_capabilities
    return EXTENSION in ((capabilities and capabilities.extensions) or {})


def comes_by_http_or_asks(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client of a request comes by HTTP, or has said that it reads the data of results."""
    return context.request is not None or asks_for_data(context)


def connection_of(context: ServerRequestContext[Any, Any]) -> Connection:
    """Return the client's connection; since 2026-07-28 each request has its own.

    The SDK keeps it private (2.3), though its class and its `exit_stack` are public; a test on
    every transport fails when that changes.
    """
    return context.session._connection  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def focus_of(context: ServerRequestContext[Any, Any], debugger: Debugger) -> Focus:
    """Return the focus of the client of a request: its default session, and what it has read.

    A new client gets a new one. Up to MCP 2025-11-25 a client is its connection, and its focus ends with
    that, as does what it has asked to collect. Since 2026-07-28 it is a client's name and version on the
    transport that it is served on: stdio, a bridge, or HTTP. All commands are one client; each call forgets
    what they have read, and that `dapeer end --all` was said.
    """
    if settings_of(context) is not None:
        return commands_of(context).begin_command()
    state: dict[str, Any]
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        state = context.lifespan_context
        key = f"dapeer.focus {client_of(context)}"
    else:
        state = connection_of(context).state
        key = "dapeer.focus"
        if key not in state:
            connection_of(context).exit_stack.callback(_end_collecting, state, debugger)
    if key not in state:
        state[key] = Focus(debugger)
    return state[key]


def commands_of(context: ServerRequestContext[Any, Any]) -> Commands:
    """Return the one client that all commands of the command line are."""
    return context.lifespan_context[_COMMANDS]


@asynccontextmanager
async def lifespan(debugger: Debugger, commands: Commands) -> AsyncGenerator[dict[str, Any]]:
    """Yield the state of one transport that clients are served on: stdio, a bridge, or HTTP.

    Afterwards the clients since MCP 2026-07-28 have left: people no longer see them, and nothing is collected for them any more.
    `commands` is put into it, and is the same everywhere.
    """
    with ExitStack() as at_end:
        state: dict[str, Any] = {_COMMANDS: commands, _AT_END: at_end}
        at_end.callback(_end_collecting, state, debugger)
        yield state


def _end_collecting(state: Mapping[str, Any], debugger: Debugger) -> None:
    """End what the clients in a state have asked the debugger to collect."""
    for each in state.values():
        if isinstance(each, Focus):
            debugger.drop_client(each.key)


# The commands of the command line are one client, whose sessions outlive each command.

SECONDS_AN_ATTACHED_PROGRAM_WAITS: Final = 600.0
"""Seconds without a command after which an attached program that is stopped runs on."""
SECONDS_A_LAUNCHED_PROGRAM_LIVES: Final = 8 * 3600.0
"""Seconds without a command after which a launched program is ended."""
SECONDS_TO_END: Final = 5.0
"""Seconds in which one session is ended."""
NAME_OF_COMMANDS: Final = "dapeer command line"
"""The client's name, for people."""


class Commands:
    """The client that all commands of a project are, and the watch over sessions that they leave alone."""

    def __init__(self, debugger: Debugger) -> None:
        self.focus = Focus(debugger)
        """Their default session, and the programs that they have started."""
        self.has_said_end = False
        """Whether the last of them was `dapeer end --all`."""
        self._debugger = debugger
        self._last_call_time = 0.0
        """When a client has called a tool last."""
        self._last_move_times: dict[int, float] = {}
        """When a session has stopped or run on last."""
        self._news_lines: dict[str, None] = {}
        self._timer: Timer | None = None
        self._forget_clients: Callable[[], None] | None = None
        """Takes them from the clients that people see."""
        debugger.sessions.subscribe(self._note_change)

    def count_as_client(self, connected_clients: ConnectedClients) -> None:
        """Count commands as one client among those that people see, from the first command on."""
        if self._forget_clients is None:
            self._forget_clients = connected_clients.add_client(NAME_OF_COMMANDS)

    def begin_command(self) -> Focus:
        """Return the focus for the next command, to which nothing counts as read.

        An earlier `dapeer end --all` is forgotten.
        """
        self.has_said_end = False
        self.focus.forget_what_was_read()
        return self.focus

    def note_use(self) -> None:
        """Note that a client, whichever, works with the sessions now, so that none counts as left alone."""
        self._last_call_time = anyio.current_time()
        self._set_timer()

    def take_news(self) -> list[str]:
        """Return a sentence for each session that was ended or resumed since the last command; forget them.

        Only those are meant that were left alone for too long; one whose end or resumption failed has a sentence, too.
        """
        news, self._news_lines = list(self._news_lines), {}
        return news

    async def end_sessions(self) -> list[str]:
        """End what commands have launched, detach from what they have attached to; return a line for each.

        Commands no longer count as a client then, and `has_said_end` is set, by which a detached server ends once it is unused. A session
        that cannot be ended in `SECONDS_TO_END` has a line that says why. They are ended one after another.
        """
        self.has_said_end = True
        if self._forget_clients is not None:
            self._forget_clients()
            self._forget_clients = None
        lines: list[str] = []
        for session in self.focus.own_programs:
            try:
                with anyio.fail_after(SECONDS_TO_END):
                    ended = await self._debugger.disconnect(session, terminate=None)
                lines.append(f"{'Ended' if ended else 'Detached from'} session {session.id}.")
            except TimeoutError:
                lines.append(f"Session {session.id} did not end in {SECONDS_TO_END:g} seconds.")
            except DapeerError as error:
                lines.append(f"Session {session.id} could not be ended: {error}")
        return lines

    # -- sessions that are left alone

    def _note_change(self, change: SessionChange) -> None:
        """Note when a session has stopped, run on, begun or ended."""
        if change.kind in {"state", "sessions"}:
            self._last_move_times[change.session_id] = anyio.current_time()
            self._set_timer()

    def _set_timer(self) -> None:
        """Set the timer anew to the moment when the next session has been left alone for too long.

        Then `_end_abandoned_sessions` is called. Without such a session there is no timer.
        """
        if self._timer is not None:
            self._timer.cancel()
        now = anyio.current_time()
        dues = [
            due for each in self._own_sessions() if (due := self._due_time(each)) < float("inf")
        ]
        self._timer = (
            call_after(max(0, min(dues) - now), self._end_abandoned_sessions) if dues else None
        )

    def _own_sessions(self) -> Sequence[DirectSession]:
        """Return those of their sessions that no person has in an editor."""
        return [each for each in self.focus.own_programs if isinstance(each, DirectSession)]

    def _due_time(self, session: DirectSession) -> float:
        """Return when a session will have been left alone for too long, by the event loop's clock.

        The time counts from the last call of a tool by any client, or the last stop or start of one of the program's sessions: eight hours
        for a launched program, ten minutes for an attached one that is stopped. Infinity: never, as an attached program that runs.
        """
        ids = [each.id for each in session.program.sessions]
        since = max(self._last_call_time, *(self._last_move_times.get(each, 0) for each in ids))
        waits = not session.launched and bool(session.program.stopped_sessions)
        if session.launched:
            return since + SECONDS_A_LAUNCHED_PROGRAM_LIVES
        return since + SECONDS_AN_ATTACHED_PROGRAM_WAITS if waits else float("inf")

    def _end_abandoned_sessions(self) -> None:
        """End or resume, in the background, each session that has been left alone for too long.

        A launched program is ended, an attached one resumed. The next command gets a sentence on it.
        """
        now = anyio.current_time()
        for session in [each for each in self._own_sessions() if self._due_time(each) <= now]:
            BackgroundTask(self._end(session) if session.launched else self._resume(session))

    async def _resume(self, session: Session) -> None:
        """Resume an attached program that is stopped, and keep a sentence on that for the next command.

        All of its stopped processes are continued, each by `continue` for the thread of its stop. After an error the
        others are left stopped, and the sentence tells the error, which is not raised. `take_news` returns the
        sentences that are kept.
        """
        minutes = SECONDS_AN_ATTACHED_PROGRAM_WAITS / 60
        try:
            for each in session.program.stopped_sessions:
                thread = each.mirror.require_stop().thread_id
                await each.resume("continue", {"threadId": thread})
        except DapeerError as error:
            self._tell(f"Session {session.id} is left stopped since {minutes:g} minutes: {error}")
            return
        self._tell(
            f"Session {session.id} ({session.name}) was attached and stopped, and no command came for "
            f"{minutes:g} minutes, so its program runs on: `dapeer pause -s {session.id}` stops it again."
        )

    async def _end(self, session: Session) -> None:
        """End a launched program now, and keep a sentence on that for the next command.

        It does not look how long the program has lived: the caller calls it after
        `SECONDS_A_LAUNCHED_PROGRAM_LIVES` without a command. A `DapeerError` is kept in such a sentence, too, and
        not raised. `take_news` returns the sentences.
        """
        hours = SECONDS_A_LAUNCHED_PROGRAM_LIVES / 3600
        try:
            await self._debugger.terminate(session)
        except DapeerError as error:
            self._tell(f"Session {session.id} could not be ended after {hours:g} hours: {error}")
            return
        self._tell(
            f"Session {session.id} ({session.name}) was ended, for no command came for {hours:g} hours: "
            f"`dapeer restart -s {session.id}` starts it again."
        )

    def _tell(self, sentence: str) -> None:
        """Keep a sentence for the next command; equal ones are kept once."""
        self._news_lines[sentence] = None


class EndParams(t.RequestParams):
    """What `dapeer end --all` sends: nothing."""


class Ended(t.Result):
    """What `dapeer end --all` is told."""

    lines: list[str]
    """What became of each session of a command."""
    alone: bool
    """Whether nobody else has a program here."""


def settings_of(context: ServerRequestContext[Any, Any]) -> Mapping[str, Any] | None:
    """Return the settings with which a command has introduced itself.

    None: the client of the request is no command.
    """
    capabilities = context.session.client_capabilities
    extensions = (capabilities and capabilities.extensions) or {}
    return as_object(extensions[COMMAND]) if COMMAND in extensions else None


def environment_of(settings: Mapping[str, Any] | None) -> Mapping[str, str] | None:
    """Return the environment in which a command was typed, from its settings; None: it has sent none."""
    sent = as_object((settings or {}).get("environment"))
    return {_decoded(name): _decoded(str(value)) for name, value in sent.items()} or None


def _decoded(text: str) -> str:
    """Return a variable's text as Python has it, given each of its bytes as one character."""
    return os.fsdecode(text.encode("latin-1"))
