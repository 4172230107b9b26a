"""What the work with another program brings to a server of ours."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from dapeer.peers import Peers
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.debugger.focus import Focus
from dapeer.tools.base.call import Call


@dataclass(frozen=True, slots=True)
class IntegrationContext:
    """The server that an integration is part of."""

    debugger: Debugger
    peers: Peers
    """The attached Neovims. `listening` has an integration notified by them."""

    def call(self, client: str) -> Call:
        """Return the context of a tool that an integration calls for a client of its own."""
        return Call(self.debugger, _unseen, self.peers, Focus(self.debugger), client)


class Integration:
    """The work with one other program. What a subclass does not need, it leaves as it is: doing nothing."""

    @asynccontextmanager
    async def serving(self, context: IntegrationContext) -> AsyncGenerator[None]:
        """Work while the body runs. No Neovim is attached before, and all are still attached afterwards."""
        yield


async def _unseen(text: str, done: float | None = None, total: float | None = None) -> None:
    """Take progress that nobody sees."""
