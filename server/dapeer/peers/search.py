"""The search for the Neovims of a project, which are attached without a client that names them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final
from weakref import WeakKeyDictionary

import anyio
from anyio.abc import TaskGroup

from dapeer.peers.peer import Peer

SECONDS_TO_LOOK: Final = 1.0
"""Seconds by which the first search may delay a client's first call."""


class Search:
    """Attaches Neovims, and knows which of them each client has not heard of yet."""

    def __init__(self) -> None:
        self._seek: Callable[[], Awaitable[None]] | None = None
        """Attaches the other Neovims of the project; None: only named ones are attached."""
        self._looked = anyio.Event()
        self._came: list[Peer] = []
        """The Neovims that have appeared after the first search, in this order."""
        self._reported: WeakKeyDictionary[object, int] = WeakKeyDictionary()
        """How many of them each client has been told of."""

    def begin(self, tasks: TaskGroup, seek: Callable[[], Awaitable[None]]) -> None:
        """Attach all Neovims of the project from now on: `seek` attaches those that run."""
        self._seek = seek
        tasks.start_soon(self.look_around)

    async def look_around(self) -> None:
        """Attach the running Neovims of the project, if the server attaches all of them."""
        if self._seek is not None:
            try:
                await self._seek()
            finally:
                self._looked.set()

    async def first_look(self) -> None:
        """Wait for the end of the first search, at most `SECONDS_TO_LOOK`."""
        if self._seek is not None:
            with anyio.move_on_after(SECONDS_TO_LOOK):
                await self._looked.wait()

    def attached(self, peer: Peer) -> None:
        """Note a Neovim that no client has named; clients learn of it if it came after the first search."""
        late = self._seek is None or self._looked.is_set()
        if late and peer not in self._came:
            self._came.append(peer)

    def newly_come(self, client: object) -> list[Peer]:
        """Return the Neovims that have appeared after the first search, each once to each client."""
        reported, self._reported[client] = self._reported.get(client, 0), len(self._came)
        return self._came[reported:]
