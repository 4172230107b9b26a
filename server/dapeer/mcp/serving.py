"""Running the server: a debugger, its clients, and a prompt and complete end."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from dapeer.adapters.definition import load_all, shipped, user_folder
from dapeer.debugger import Debugger
from dapeer.mcp import stdio
from dapeer.mcp.server import DapeerServer, make_server
from dapeer.mcp.toolbox import select
from dapeer.tools import TOOLS
from dapeer.tools.tool import Tool

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Offer:
    """Which tools are served."""

    read_only: bool = False
    groups: tuple[str, ...] | None = None
    """None: all."""
    tools: Iterable[Tool] = TOOLS
    nvim: str | None = None
    """The Neovim to attach to: a path, `host:port`, or `auto`; None: none."""

    @property
    def complete(self) -> bool:
        """Whether nothing is held back."""
        return not self.read_only and self.groups is None


async def serve_stdio(offer: Offer) -> None:
    """Serve the client at stdin and stdout until it leaves or a signal arrives."""
    async with running(offer) as (server, stop), anyio.create_task_group() as tasks:
        tasks.start_soon(_cancel_at, stop, tasks.cancel_scope)
        await stdio.serve(server)
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def running(offer: Offer) -> AsyncGenerator[tuple[DapeerServer, anyio.Event]]:
    """Give a server and the event at which to stop; at the end every debug session is ended.

    Raises:
        DefinitionError: The definition of an adapter is wrong.
        ArgumentError: No tool belongs to one of the groups.
    """
    # A user's mistakes are found before anything is started.
    tools = select(offer.tools, read_only=offer.read_only, groups=offer.groups)
    definitions = load_all(shipped(), user_folder())
    with _signals() as stop:
        async with Debugger(definitions, Path.cwd()) as debugger:
            log.info("serving %s", debugger.project)
            yield make_server(debugger, tools), stop


@contextmanager
def _signals() -> Generator[anyio.Event]:
    """Set an event at SIGTERM and SIGINT; a second one changes nothing while we clean up."""
    stop = anyio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


async def _cancel_at(stop: anyio.Event, scope: anyio.CancelScope) -> None:
    await stop.wait()
    scope.cancel()
