"""What the work with another program brings to a server of ours."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import mcp.types as t

from dapeer.peers import Peers
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.debugger.focus import Focus
from dapeer.tools.base.call import AnyTool, Call


@dataclass(frozen=True, slots=True)
class Core:
    """A dapeer server, as a program reaches it by HTTP."""

    url: str
    token: str
    """Empty: it requires none."""


@dataclass(frozen=True, slots=True)
class IntegrationContext:
    """The server that an integration is part of."""

    debugger: Debugger
    peers: Peers
    """The attached Neovims; an integration handles some of their `notifications`."""
    core: Core | None = None
    """Where the server itself is reached by HTTP; None: nowhere."""

    def call(self, client: str) -> Call:
        """Return the context of a call for a tool that an integration calls itself.

        `client` is the name of the client for whom it does so, which gets a default session of its own. Nobody sees the call's progress.
        """
        return Call(self.debugger, _unseen, self.peers, Focus(self.debugger), client)


class Integration:
    """The work with one other program. What a subclass does not need, it leaves as it is: doing nothing."""

    tools: Sequence[AnyTool] = ()
    """All that it may ever offer."""
    own_clients: Collection[str] = ()
    """The names of clients that are this program: to them it offers nothing of its own."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[], None]] = []

    @asynccontextmanager
    async def serving(self, context: IntegrationContext) -> AsyncGenerator[None]:
        """Work for the server while the body runs.

        No Neovim is attached before, and all are still attached afterwards.
        """
        yield

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever the integration offers other tools, prompts or resources than before."""
        self._listeners.append(listener)

    def _changed(self) -> None:
        """Call all listeners, because the integration offers something else."""
        for listener in self._listeners:
            listener()

    def is_for(self, client: str) -> bool:
        """Whether a client, by name and version, is offered the integration's tools and prompts.

        It is not if it is the integration's own program.
        """
        return client.partition(" ")[0] not in self.own_clients

    @property
    def offered(self) -> Sequence[AnyTool]:
        """Those of its tools that are of use now."""
        return ()

    @property
    def object_for_tools(self) -> object:
        """The object that its tools get by `Call.object_for_tools`, with its type; None: nothing."""
        return None

    def prompts(self) -> Iterable[t.Prompt]:
        """Return its prompts."""
        return ()

    def prompt(self, name: str, values: Mapping[str, str]) -> t.GetPromptResult | None:
        """Return the prompt of this name, filled with its arguments; None: it has no such prompt."""
        return None

    def resources(self) -> Iterable[t.Resource]:
        """Return its resources."""
        return ()

    def resource(self, uri: str) -> t.TextResourceContents | None:
        """Return the content of the resource at an address; None: the integration has none there."""
        return None


async def _unseen(text: str, done: float | None = None, total: float | None = None) -> None:
    """Do nothing with the progress of a call that nobody sees."""
