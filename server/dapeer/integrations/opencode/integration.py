"""The OpenCode servers that a server of ours knows, with the tools and skills that they bring."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio
import mcp.types as t

from dapeer.base.json_types import Json
from dapeer.integrations.opencode import skills
from dapeer.integrations.opencode.catalogue import Catalogue
from dapeer.integrations.opencode.client import OpenCode
from dapeer.integrations.opencode.registrations.registrations import Use
from dapeer.integrations.opencode.servers import Servers
from dapeer.integrations.opencode.tools import TOOLS
from dapeer.mcp.server.integration import Integration, IntegrationContext
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
        """Listen to the known OpenCode servers while the body runs, and follow what Neovims report of theirs.

        Afterwards what dapeer has registered at OpenCode is removed.
        """
        async with anyio.create_task_group() as tasks:
            project = context.debugger.project
            servers = self._servers = Servers(project, tasks, self._named, context.core)
            servers.subscribe(self._changed)
            servers.open()

            def use(peer: Peer, sent: Json) -> None:
                """Note which OpenCode server a Neovim uses, as `sent` by it.

                What becomes of that is reported to the Neovim.
                """

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
        """The catalogue of the server that is used now; None: no server is known."""
        return self._servers.current if self._servers else None

    @property
    def _skills(self) -> Sequence[skills.Skill]:
        return self._current.project_skills if self._current else ()

    @property
    def offered(self) -> Sequence[AnyTool]:
        """Its tools; none while no OpenCode server is known."""
        return TOOLS if self._current else ()

    @property
    def given(self) -> Catalogue | None:
        """The catalogue of the OpenCode server that is used now; None: no server is known."""
        return self._current

    def prompts(self) -> Iterable[t.Prompt]:
        """Return the skills as prompts."""
        return map(skills.prompt, self._skills)

    def prompt(self, name: str, values: Mapping[str, str]) -> t.GetPromptResult | None:
        """Return the skill that is the prompt of this name, with its arguments; None: there is none."""
        return skills.filled_prompt(self._skills, name, values)

    def resources(self) -> Iterable[t.Resource]:
        """Return the skills as resources."""
        return map(skills.resource, self._skills)

    def resource(self, uri: str) -> t.TextResourceContents | None:
        """Return the skill at an address as the content of a resource; None: there is none."""
        return skills.skill_contents(self._skills, uri)
