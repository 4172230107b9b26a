"""The OpenCode servers that a server of ours knows, with the tools and skills that they bring."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio
import mcp.types as t

from dapeer.base.json_types import Json
from dapeer.integrations.opencode import skills
from dapeer.integrations.opencode.tools import TOOLS
from dapeer.mcp.server.integration import Integration, IntegrationContext
from dapeer.opencode.catalogue import Catalogue
from dapeer.opencode.client import OpenCode
from dapeer.opencode.registrations import Use
from dapeer.opencode.servers import Servers
from dapeer.peers import Peer
from dapeer.tools.base.call import AnyTool


class OpenCodeIntegration(Integration):
    """OpenCode's sessions, skills and tools, of the server that is known; and our tools there.

    Args:
        named: An OpenCode server that was named at the start, in addition to those of the Neovims.
    """

    tools = TOOLS
    own_clients = ("opencode",)

    def __init__(self, named: OpenCode | None = None) -> None:
        super().__init__()
        self._named = named
        self._servers: Servers | None = None

    @asynccontextmanager
    async def serving(self, context: IntegrationContext) -> AsyncGenerator[None]:
        """Look after the servers while the body runs, then remove what is registered there."""
        async with anyio.create_task_group() as tasks:
            project = context.debugger.project
            servers = self._servers = Servers(project, tasks, self._named, context.core)
            servers.subscribe(self._changed)
            servers.open()

            def use(peer: Peer, sent: Json) -> None:
                def report(news: Json) -> None:
                    code = "require('dapeer.integrations.opencode').take(...)"
                    peer.neovim.send(code, peer.neovim.channel, news)

                servers.set_use(peer.target, Use.read(sent), report)

            def forget(peer: Peer) -> None:
                servers.forget(peer.target)

            try:
                with context.peers.notifications.handled({"opencode": use}, forget):
                    yield
            finally:
                with anyio.CancelScope(shield=True):
                    await servers.leave()
            tasks.cancel_scope.cancel()

    @property
    def _current(self) -> Catalogue | None:
        return self._servers.current if self._servers else None

    @property
    def _skills(self) -> Sequence[skills.Skill]:
        return self._current.project_skills if self._current else ()

    @property
    def offered(self) -> Sequence[AnyTool]:
        """Its tools, while a server is known."""
        return TOOLS if self._current else ()

    @property
    def given(self) -> Catalogue | None:
        """The server that is known, with its lists."""
        return self._current

    def prompts(self) -> Iterable[t.Prompt]:
        """Return the skills as prompts."""
        return map(skills.prompt, self._skills)

    def prompt(self, name: str, values: Mapping[str, str]) -> t.GetPromptResult | None:
        """Return the skill that is the prompt of this name, with its arguments."""
        return skills.filled_prompt(self._skills, name, values)

    def resources(self) -> Iterable[t.Resource]:
        """Return the skills as resources."""
        return map(skills.resource, self._skills)

    def resource(self, uri: str) -> t.TextResourceContents | None:
        """Return the skill at an address."""
        return skills.contents(self._skills, uri)
