"""Running the server: a debugger, its clients, and a prompt and complete end."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import TaskGroup

from dapeer.adapters.definition.definition import load_all, shipped, user_folder
from dapeer.base.errors import ArgumentError
from dapeer.base.system.tcp_table import LOOPBACK
from dapeer.base.system.threads import SEES_HALVES, Clients
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.front import Front
from dapeer.mcp.rendezvous import reaching
from dapeer.mcp.rendezvous.neovims import Neovims
from dapeer.mcp.server.clients import asks_for_data
from dapeer.mcp.server.integration import Core, Integration, IntegrationContext
from dapeer.mcp.server.server import DapeerServer, make_server
from dapeer.mcp.server.toolbox import Context, Selection
from dapeer.mcp.transports import jsonl, stdio, unix_socket
from dapeer.peers import Peer, Peers
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.debugger.registry import SessionChange
from dapeer.tools.base.call import AnyTool

log = logging.getLogger(__name__)

SECONDS_UNUSED: Final = 600.0
"""Seconds after which a detached server ends that has no client and no program."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Which tools are served."""

    read_only: bool = False
    groups: Sequence[str] | None = None
    """None: all of them."""
    shows_secrets: bool = False
    """Whether answers about programs hold the secrets that are in them."""
    data: bool = False
    """Whether clients that have no command line to ask for it get the data of results, too."""
    tools: Iterable[AnyTool] = TOOLS
    nvim: str | None = None
    """The Neovim to attach to: a path, `host:port`, or `auto`; None: no Neovim."""
    may_await_neovim: bool = False
    """Whether that Neovim need not be there yet."""
    credentials: Mapping[str, str] = field(default_factory=dict[str, str])
    """Those that were in the environment, by their names."""
    readable: tuple[Path, ...] = ()
    """Folders whose files may be shown, in addition to the project and its programs."""
    neovim_socket: socket.socket | None = None
    """Where Neovims announce themselves, if it is open already."""
    integrations: Sequence[Integration] = ()
    core: Core | None = None
    """Where the server itself is reached by HTTP; None: nowhere."""

    @property
    def complete(self) -> bool:
        """Whether all tools are served."""
        return not self.read_only and self.groups is None


async def serve_stdio(offer: ServerOptions, front: Front | None = None) -> None:
    """Serve the client at stdin and stdout until it leaves or a signal arrives, and end all sessions.

    A server that takes the place of an ended one also serves other clients at a socket, and ends when all have
    left. At SIGTERM or SIGINT open calls get a moment to be answered first. If something hangs, the process ends
    with code 1 in `SECONDS_OF_A_HANG` after the last client has left, where the system tells that; files and null
    devices never leave.

    Args:
        offer: What is served.
        front: Answers the client already, until this server can; None: nobody does.

    Raises:
        DefinitionError: The definition of an adapter is wrong.
        ArgumentError: No tool belongs to one of the groups.
        ExceptionGroup: It holds any other error, such as `NoNeovim`: the Neovim to attach to is not there, and
            `offer.may_await_neovim` is false.
    """
    data = _whoever_it_is if offer.data else asks_for_data
    async with running_server(offer, data) as (server, stop), anyio.create_task_group() as tasks:
        tasks.start_soon(_end_calls_at, stop, server, tasks.cancel_scope)
        clients, alone = Clients(), not (offer.may_await_neovim and offer.complete)
        if alone or SEES_HALVES:
            clients.watch(os.dup(0))
        if alone:
            await stdio.serve(server, front)
        else:
            # Other clients of the server that has ended look for one, too, and stay when this one leaves.
            async with unix_socket.serve(server, offer.nvim, watching=clients) as guests:
                await stdio.serve(server, front)
                await guests.wait_until_gone()
        tasks.cancel_scope.cancel()


async def serve_detached(offer: ServerOptions) -> None:
    """Serve clients at the project's socket until it is unused for long, or commands end the server.

    The server ends after `SECONDS_UNUSED` without a client at its socket and without a debugged program, and after
    `dapeer end --all` as soon as there are neither. SIGTERM or SIGINT ends it, too; at the end all debug sessions
    are ended. Standard input is replaced by an empty one once the server can be found, which is how the process
    that has started this one learns of it.

    Raises:
        DefinitionError: The definition of an adapter is wrong.
        ArgumentError: No tool belongs to one of the groups.
        ExceptionGroup: It wraps, perhaps in further groups, a `NoNeovim` (the Neovim to attach to is not
            there) or an OSError (the runtime folder cannot be written).
    """
    async with running_server(offer) as (server, stop), anyio.create_task_group() as tasks:
        tasks.start_soon(_end_calls_at, stop, server, tasks.cancel_scope)
        with reaching.hold_sign_of_life(str(server.debugger.project)):
            async with unix_socket.serve(server, offer.nvim, detached=True) as guests:
                # Who has started this process waits until it can be found, or has ended: for the end of its input.
                _empty_standard_input()
                await _wait_until_unused(server, guests)
        tasks.cancel_scope.cancel()


def _empty_standard_input() -> None:
    """Replace standard input by an empty one."""
    empty = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(empty, 0)
    finally:
        os.close(empty)


async def _wait_until_unused(server: DapeerServer, guests: unix_socket.SocketClients) -> None:
    """Wait until the server had no client and no program for `SECONDS_UNUSED` without a pause.

    `guests` are the clients at its socket. It also returns, at once, when neither is there after `dapeer end --all`.
    """
    changed = anyio.Event()

    def note_change(*_change: SessionChange) -> None:
        changed.set()

    guests.subscribe(note_change)
    server.debugger.sessions.subscribe(note_change)
    while True:
        changed = anyio.Event()
        is_used = bool(guests.count or server.debugger.sessions.programs)
        if not is_used and server.commands.has_said_end:
            return
        with anyio.move_on_after(None if is_used else SECONDS_UNUSED) as limit:
            await changed.wait()
        if limit.cancelled_caught and not guests.count:
            return


def _whoever_it_is(_: Context) -> bool:
    return True


@asynccontextmanager
async def running_server(
    offer: ServerOptions, gives_data: Callable[[Context], bool] = asks_for_data
) -> AsyncGenerator[tuple[DapeerServer, anyio.Event]]:
    """Yield a server, and an event that is set when it is to stop; at the end every session is ended.

    The body serves clients, and waits for the event, which is set at SIGTERM and SIGINT. The project is the
    working directory. Neovims are attached as `offer` says: a named one before the body, but later if it is busy
    or may start later; one that is not there raises, any other failure is only logged. The integrations of
    `offer` work while the body runs. `gives_data` says of a request whether its client gets the data of results.

    Raises:
        DefinitionError: The definition of an adapter is wrong.
        ArgumentError: No tool belongs to one of the groups.
        ExceptionGroup: What the body or an attempt to attach raises is wrapped in it, such as `NoNeovim`
            (the named Neovim is not there, and `offer.may_await_neovim` is false).
    """
    # A user's mistakes are found before anything is started.
    selection = Selection(offer.read_only, offer.groups, offer.shows_secrets, gives_data)
    selection.check([*offer.tools, *(tool for each in offer.integrations for tool in each.tools)])
    definitions = load_all(shipped(), user_folder())
    with _stop_event_at_signals() as stop:
        async with (
            Debugger(definitions, Path.cwd()) as debugger,
            Peers(debugger) as peers,
            _serving_integrations(
                offer.integrations, IntegrationContext(debugger, peers, offer.core)
            ),
            anyio.create_task_group() as tasks,
        ):
            debugger.files.folders.update(map(Path.resolve, offer.readable))
            log.info("serving %s", debugger.project)
            server = make_server(
                debugger,
                offer.tools,
                peers=peers,
                selection=selection,
                integrations=offer.integrations,
                serve_socket=jsonl.serve_socket,
            )
            with peers.notifications.handled({"page": PersonsPage(server, tasks).open}):
                if offer.nvim is not None:
                    # Listen before the first search, so that no Neovim is missed in between.
                    neovims = Neovims(offer.nvim, peers, debugger.project, offer.neovim_socket)
                    tasks.start_soon(neovims.attach_newcomers)
                    await neovims.attach(tasks, patient=offer.may_await_neovim)
                yield server, stop
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def _serving_integrations(
    integrations: Iterable[Integration], context: IntegrationContext
) -> AsyncGenerator[None]:
    """Have all integrations work for the server while the body runs: begin in order, end in reverse."""
    async with AsyncExitStack() as stack:
        for each in integrations:
            await stack.enter_async_context(each.serving(context))
        yield


@contextmanager
def _stop_event_at_signals() -> Generator[anyio.Event]:
    """Yield an event that SIGTERM and SIGINT set while the body runs; a second signal changes nothing.

    Afterwards both signals have Python's default handlers, whatever they had before. It must be entered in
    the main thread, in a running loop of asyncio.
    """
    stop = anyio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


async def _end_calls_at(stop: anyio.Event, server: DapeerServer, scope: anyio.CancelScope) -> None:
    """Wait for the event `stop`, then let the server end its open calls, and cancel the scope."""
    await stop.wait()
    await server.end_calls()
    scope.cancel()


# The page of what programs collect, for the person in a Neovim to whose core no client comes by HTTP.

SERVED: Final = "require('dapeer.core.live').served(...)"


class PersonsPage:
    """Serves the page from a person's first request on, at a local port, with a token, and nothing else."""

    def __init__(self, server: DapeerServer, tasks: TaskGroup) -> None:
        self._server = server
        self._tasks = tasks
        self._token = secrets.token_hex(32)
        self._is_started = False
        self._url = ""
        self._served_event = anyio.Event()

    def open(self, peer: Peer) -> None:
        """Begin to serve the page, unless that is done, and have its address sent to a Neovim; return at once.

        The address goes with the token, once the port is known; never, if there is none.
        """
        if not self._is_started:
            self._is_started = True
            self._tasks.start_soon(self._serve)
        self._tasks.start_soon(self._send_address, peer)

    async def _serve(self) -> None:
        """Serve the page at a free local port until cancelled; log a warning and return if there is none.

        Once clients can connect, `_url` is the page's address, and `_served_event`, for which `_send_address` waits,
        is set.
        """
        from dapeer.mcp.transports import http  # noqa: PLC0415 - few need it
        from dapeer.mcp.transports.http_access import rules_for  # noqa: PLC0415

        try:
            with http.bind(LOOPBACK, 0) as bound:
                self._url = f"http://{LOOPBACK}:{bound.getsockname()[1]}/live"
                async with http.serve_page(self._server, bound, rules_for(LOOPBACK, self._token)):
                    self._served_event.set()
                    await anyio.sleep_forever()
        except (ArgumentError, OSError) as error:
            log.warning("the person's page: %s", error)

    async def _send_address(self, peer: Peer) -> None:
        """Wait until the page is served, then send its URL and token to a Neovim."""
        await self._served_event.wait()
        peer.neovim.send(SERVED, self._url, self._token)
