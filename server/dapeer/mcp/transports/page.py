"""The page of what programs collect, for the person in a Neovim to whose core no client comes by HTTP."""

from __future__ import annotations

import logging
import secrets
from typing import TYPE_CHECKING, Final

import anyio
from anyio.abc import TaskGroup

from dapeer.base.errors import ArgumentError
from dapeer.base.system.tcp_table import LOOPBACK
from dapeer.peers import Peer

if TYPE_CHECKING:
    from dapeer.mcp.server.server import DapeerServer

log = logging.getLogger(__name__)

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
        """Serve the page at a free local port until cancelled; log an error and return if there is none.

        Once clients can connect, `_url` is set, and `_served_event`, for which `_send_address` waits.
        """
        from dapeer.mcp.transports import http  # noqa: PLC0415 - few need it
        from dapeer.mcp.transports.guard import rules_for  # noqa: PLC0415

        try:
            with http.bind(LOOPBACK, 0) as bound:
                self._url = f"http://{LOOPBACK}:{bound.getsockname()[1]}/live"
                async with http.serve_page(self._server, bound, rules_for(LOOPBACK, self._token)):
                    self._served_event.set()
                    await anyio.sleep_forever()
        except ArgumentError as error:
            log.warning("the person's page: %s", error)

    async def _send_address(self, peer: Peer) -> None:
        """Wait until the page is served, then send its URL and token to a Neovim."""
        await self._served_event.wait()
        peer.neovim.send(SERVED, self._url, self._token)
