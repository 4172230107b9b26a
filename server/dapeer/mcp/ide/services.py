"""Which attached Neovims want to be an IDE, and the service of each."""

from __future__ import annotations

import logging
import os
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio
from anyio.abc import TaskGroup

from dapeer.base.errors import NoNeovim
from dapeer.base.json_types import Json
from dapeer.mcp.ide.editor import Editor
from dapeer.peers import Peer, Peers
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.debugger.focus import Focus
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.lua import PREFIX, NeovimTool

if TYPE_CHECKING:
    from dapeer.mcp.ide.service import Service

log = logging.getLogger(__name__)

SERVED: Final = "require('dapeer.integrations.claude').served(...)"
FAILED: Final = "require('dapeer.integrations.claude').failed(...)"


class Services:
    """A service for each Neovim that asks this process, its own core, to be one."""

    def __init__(self, debugger: Debugger, peers: Peers, tasks: TaskGroup) -> None:
        self._debugger = debugger
        self._peers = peers
        self._tasks = tasks
        self._running: dict[int, tuple[Service, anyio.CancelScope]] = {}
        """By the peer's number."""
        peers.subscribe(self._review)

    def _review(self) -> None:
        """Bring about what the Neovims want."""
        needed = {
            number: peer
            for number, peer in self._peers.attached.items()
            # Other cores that are attached to it hear the wish, too.
            if peer.ide.core == os.getpid()
        }
        for number in [number for number in self._running if number not in needed]:
            self._running.pop(number)[1].cancel()
        for number, peer in needed.items():
            if number not in self._running:
                from dapeer.mcp.ide.service import Service  # noqa: PLC0415 - few need it

                service = Service(
                    lambda name, peer=peer: self._editor(peer, name),
                    peer.pid,
                    peer.ide.cwd,
                    partial(peer.neovim.send, SERVED),
                )
                scope = anyio.CancelScope()
                self._running[number] = (service, scope)
                self._tasks.start_soon(self._serve, peer, service, scope)
            else:
                self._running[number][0].moved(peer.ide.cwd)

    async def _serve(self, peer: Peer, service: Service, scope: anyio.CancelScope) -> None:
        def notify(method: str, params: Json) -> None:
            self._tasks.start_soon(service.notify, method, params)

        with scope:
            try:
                async with service.serving():
                    with peer.ide.notifying(notify):
                        await anyio.sleep_forever()
            except OSError as error:
                log.warning("Neovim at %s cannot be an IDE: %s", peer.target, error)
                peer.neovim.send(FAILED, str(error))

    def _editor(self, peer: Peer, client: str) -> Editor:
        async def progress(
            text: str, done: float | None = None, total: float | None = None
        ) -> None: ...

        call = Call(self._debugger, progress, self._peers, Focus(self._debugger), client)

        async def run(name: str, arguments: Json) -> Reply:
            spec = peer.tools.get(name)
            if spec is None:
                raise NoNeovim(
                    f"Neovim does not offer {name}.", "`tools` of its configuration leaves it out."
                )
            return await NeovimTool(PREFIX + name, spec, [peer])(call, arguments)

        return Editor(run, lambda: peer.ide.cwd)
