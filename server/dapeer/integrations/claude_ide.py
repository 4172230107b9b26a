"""Neovim as the IDE of Claude Code: its CLI shows its diffs there, and knows what is selected.

The protocol is MCP over a WebSocket, found by a lock file. It has no specification; what is built here was seen
between Claude Code 2.1.200 and its own IDE extensions, and docs/claude-code.md says it. Here is which attached
Neovims want to be an IDE; the service of each is loaded when one does.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio
from anyio.abc import TaskGroup

from dapeer.base.errors import NoNeovim
from dapeer.base.json_types import Json
from dapeer.mcp.server.integration import Integration, IntegrationContext
from dapeer.peers import Peer
from dapeer.tools.base.call import Reply
from dapeer.tools.neovim import PREFIX, NeovimTool

if TYPE_CHECKING:
    from dapeer.integrations.claude_ide_service import Editor, Service


# What a Neovim wants to be for Claude Code, and what Claude Code is notified of.


class Ide:
    """The wish of one Neovim to be an IDE."""

    def __init__(self) -> None:
        self.core: int | None = None
        """The process that is to serve it, if any: several may be attached, and one serves."""
        self.cwd = ""
        """The directory of the whole Neovim now."""
        self._notify: Callable[[str, Json], None] | None = None

    @contextlib.contextmanager
    def notifying(self, notify: Callable[[str, Json], None]) -> Generator[None]:
        """Send Neovim's notifications for Claude Code to `notify`, method and parameters, while the body runs."""
        self._notify = notify
        try:
            yield
        finally:
            self._notify = None

    def set_wish(self, wish: Json) -> None:
        """Set `core` and `cwd` from a notification of Neovim's; without a `cwd`, the last one stays."""
        self.core = wish.get("core")
        self.cwd = str(wish.get("cwd") or self.cwd)

    def pass_on(self, method: str, params: Json) -> None:
        """Pass a notification to the function of `notifying`; outside of it, the notification is dropped."""
        if self._notify:
            self._notify(method, params)


log = logging.getLogger(__name__)

SERVED: Final = "require('dapeer.integrations.claude').served(...)"
FAILED: Final = "require('dapeer.integrations.claude').failed(...)"


class ClaudeIde(Integration):
    """A service for each Neovim that asks this process, its own core, to be one."""

    @asynccontextmanager
    async def serving(self, context: IntegrationContext) -> AsyncGenerator[None]:
        """Run a service for each attached Neovim that asks for one, while the body runs.

        Afterwards the services are cancelled, which ends their connections and removes their lock files.
        """
        async with anyio.create_task_group() as tasks:
            services = Services(context, tasks)
            context.peers.subscribe(services.start_and_end_services)
            handlers = {"ide": services.take_wish, "ide_event": services.pass_on}
            with context.peers.notifications.handled(handlers, services.forget):
                yield
            tasks.cancel_scope.cancel()


class Services:
    """The services; each is there while its Neovim wants it."""

    def __init__(self, context: IntegrationContext, tasks: TaskGroup) -> None:
        self._context = context
        self._tasks = tasks
        self._ides: defaultdict[int, Ide] = defaultdict(Ide)
        """By the peer's number."""
        self._running_services: dict[int, tuple[Service, anyio.CancelScope]] = {}
        """By the same."""

    def take_wish(self, peer: Peer, wish: Json) -> None:
        """Record what a Neovim asks for, and start, end or move services accordingly.

        `wish` has `core` and `cwd`.
        """
        self._ides[peer.id].set_wish(wish)
        self.start_and_end_services()

    def pass_on(self, peer: Peer, method: str, params: Json) -> None:
        """Send a Neovim's notification to the CLIs that are connected to its service, if it has one."""
        self._ides[peer.id].pass_on(method, params)

    def forget(self, peer: Peer) -> None:
        """Drop what a Neovim that is gone has asked for; `start_and_end_services` ends its service."""
        self._ides.pop(peer.id, None)

    def start_and_end_services(self) -> None:
        """Start and end services so that each attached Neovim that asks this process has one.

        They start and end in tasks; the working directory of the services that go on is updated. Nothing is done where all is as it should
        be, so it may be called at any time.
        """
        needed = {
            number: peer
            for number, peer in self._context.peers.attached.items()
            # Other cores that are attached to it get the wish, too.
            if self._ides[number].core == os.getpid()
        }
        for number in [number for number in self._running_services if number not in needed]:
            self._running_services.pop(number)[1].cancel()
        for number, peer in needed.items():
            ide = self._ides[number]
            if number not in self._running_services:
                from dapeer.integrations.claude_ide_service import Service  # noqa: PLC0415 - few need it

                service = Service(
                    partial(self._editor, peer, ide),
                    peer.pid,
                    ide.cwd,
                    partial(peer.neovim.send, SERVED),
                )
                scope = anyio.CancelScope()
                self._running_services[number] = (service, scope)
                self._tasks.start_soon(self._serve, peer, ide, service, scope)
            else:
                self._running_services[number][0].set_cwd(ide.cwd)

    async def _serve(
        self, peer: Peer, ide: Ide, service: Service, scope: anyio.CancelScope
    ) -> None:
        """Run a service until `scope` is cancelled, and send the CLIs what Neovim notifies them of.

        The CLIs are those of Claude Code that are connected to the service, for which Neovim is the IDE. If the
        service cannot listen or write its lock file, that is logged, Neovim is sent the reason, and this function
        returns. `peer` is the attached Neovim, `ide` what it has asked for.
        """

        def notify(method: str, params: Json) -> None:
            self._tasks.start_soon(service.notify, method, params)

        with scope:
            try:
                async with service.serving():
                    with ide.notifying(notify):
                        await anyio.sleep_forever()
            except OSError as error:
                log.warning("Neovim at %s cannot be an IDE: %s", peer.target, error)
                peer.neovim.send(FAILED, str(error))

    def _editor(self, peer: Peer, ide: Ide, client: str) -> Editor:
        """Return the view that one CLI of Claude Code has of a Neovim: it runs Neovim's tools on its behalf.

        `client` is the name under which the calls are made, and consent is asked for; `ide` has the working directory.
        """
        from dapeer.integrations.claude_ide_service import Editor  # noqa: PLC0415 - few need it

        call = self._context.call(client)

        async def run(name: str, arguments: Json) -> Reply:
            """Run a tool of Neovim's by its name there, as a call of the client.

            Raises:
                NoNeovim: Neovim does not offer it.
                DapeerError: It failed, or the person did not allow it.
            """
            spec = peer.tools.get(name)
            if spec is None:
                raise NoNeovim(
                    f"Neovim does not offer {name}.", "`tools` of its configuration leaves it out."
                )
            return await NeovimTool(PREFIX + name, spec, [peer])(call, arguments)

        return Editor(run, lambda: ide.cwd)
