"""The OpenCode servers that a server of ours knows, with the tools and skills that they bring."""

from __future__ import annotations

import base64
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import anyio
import mcp.types as t
from anyio.abc import TaskGroup

from dapeer.base.json_types import Json
from dapeer.integrations.opencode import relay, session_tools
from dapeer.integrations.opencode.catalogue import Catalogue
from dapeer.integrations.opencode.client import USERNAME, OpenCode, is_on_this_machine
from dapeer.integrations.opencode.registrations import (
    SECONDS_TO_LEAVE,
    Registrations,
    Report,
    ServerUse,
)
from dapeer.integrations.variables import OPENCODE_PASSWORD
from dapeer.mcp.server.integration import Core, Integration, IntegrationContext
from dapeer.peers import Peer
from dapeer.tools.base.call import AnyTool
from dapeer.tools.base.tool import Tool, tools_of

# The known OpenCode servers: one that was named at the start, and those that Neovims report.

log = logging.getLogger(__name__)
TOOLS: Final[tuple[Tool, ...]] = tools_of(session_tools, relay)
"""They are offered while one of its servers is known."""


class Servers:
    """The servers; each is listened to while it is known.

    Args:
        project: The directory whose skills are listed.
        tasks: Runs the listeners.
        named: The server named at the start. It is preferred.
        core: This server's own address, to be registered where a Neovim wants it; None: it serves no HTTP.
    """

    def __init__(
        self,
        project: Path,
        tasks: TaskGroup,
        named_server: OpenCode | None,
        core: Core | None = None,
    ) -> None:
        self._project = project
        self._tasks = tasks
        self._named_server = named_server
        self._core = core
        self._catalogues: dict[str, Catalogue] = {}
        """By the Neovim that has reported it, the newest last."""
        self._watch_scopes: dict[str, anyio.CancelScope] = {}
        self._server_uses: dict[str, ServerUse] = {}
        """By the Neovim that has reported it."""
        self._registrations: dict[str, Registrations] = {}
        """By the same."""
        self._listeners: list[Callable[[], None]] = []

    def open(self) -> None:
        """Begin to listen to the server that was named at the start, if there is one."""
        if self._named_server:
            self._begin_to_listen("", self._named_server)

    async def remove_registrations(self) -> None:
        """Remove all registrations of this core at OpenCode servers; wait `SECONDS_TO_LEAVE` at most.

        To be called before this process ends. Listening goes on.
        """
        with anyio.move_on_after(SECONDS_TO_LEAVE):
            for each in self._registrations.values():
                await each.leave()

    @property
    def current(self) -> Catalogue | None:
        """The catalogue of the server named at the start, else of the one reported last; None: none is known."""
        return self._catalogues.get("") or next(reversed(self._catalogues.values()), None)

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` when another server is the current one, or its skills are others."""
        self._listeners.append(listener)

    def set_use(self, neovim_address: str, use: ServerUse, report: Report) -> None:
        """Record which OpenCode server a Neovim uses now, listen to it, and have the core registered.

        The core is dapeer's server process. It is registered, in tasks, where the Neovim wants it, and removed
        elsewhere; if the core has no HTTP, neither is done. An OpenCode server on another machine counts as none, and
        gets neither password nor token. The listeners of `subscribe` are called if the server, or its password, is
        another one.

        Args:
            neovim_address: The address of the Neovim.
            use: The OpenCode server, and what is to be registered there; an empty URL: none any more.
            report: Takes what becomes of the registrations, and that a server on another machine is refused
                if the core was to be registered there.
        """
        if use.url and not is_on_this_machine(use.url):
            self._report_refusal(use, report)
            use = ServerUse()
        before, self._server_uses[neovim_address] = (
            self._server_uses.get(neovim_address, ServerUse()),
            use,
        )
        credentials = _credentials(use.authorization) if use.authorization else {}
        self._register(neovim_address, use, credentials, report)
        if (before.url, before.authorization) != (use.url, use.authorization):
            self._stop_listening(neovim_address)
            if use.url:
                registrations = self._registrations.get(neovim_address)
                on_event = registrations.on_event if registrations else None
                self._begin_to_listen(neovim_address, OpenCode(use.url, credentials), on_event)
            self._changed()

    def forget(self, neovim_address: str) -> None:
        """Stop listening to the OpenCode server of a Neovim that is no longer attached.

        The listeners of `subscribe` are called if it had one. What is registered stays until this process ends. `neovim_address` is the
        Neovim's address.
        """
        if neovim_address in self._registrations:
            self._registrations[neovim_address].forget_reports()
        if self._server_uses.pop(neovim_address, ServerUse()).url:
            self._stop_listening(neovim_address)
            self._changed()

    def _report_refusal(self, use: ServerUse, report: Report) -> None:
        """Report, for each directory, that a server on another machine gets neither password nor token.

        The state is `failed`. Nothing is reported unless the Neovim has asked for this very core there.
        """
        if self._core is not None and use.core == self._core.url:
            problem = f"OpenCode is on another machine ({use.url}), where it cannot reach the tools: see :help dapeer-opencode."
            for directory in use.directories:
                about = {"url": use.url, "directory": directory}
                report({**about, "state": "failed", "problem": problem})

    def _register(
        self, neovim_address: str, use: ServerUse, credentials: Mapping[str, str], report: Report
    ) -> None:
        """Have the core registered where a Neovim wants it; nothing happens if this server has no HTTP.

        The core is this server process. Background tasks register it at the OpenCode server in the directories that
        `use` names (in none if `use.core` is another core), and remove it from all others that this Neovim
        (`neovim_address`) has named before. `credentials` are those of the OpenCode server. `report` is called with
        a dict on what becomes of each registration: `url`, `directory`, `name` and `state`, perhaps more.
        """
        if self._core is None:
            return
        if neovim_address not in self._registrations:
            self._registrations[neovim_address] = Registrations(self._tasks, self._core)
        self._registrations[neovim_address].register_where_used(
            use, lambda: OpenCode(use.url, credentials), report
        )

    def _begin_to_listen(
        self,
        neovim_address: str,
        opencode: OpenCode,
        listener: Callable[[Json], None] | None = None,
    ) -> None:
        """Begin to listen to a server, in a task, as that of a Neovim (empty: as the one named at the start).

        Its catalogue, which may then be the current one, is kept under the Neovim's address. `listener` gets the events after which an
        earlier answer may not be true any more.
        """
        catalogue = Catalogue(opencode, self._project, self._changed, listener)
        self._catalogues[neovim_address] = catalogue
        scope = self._watch_scopes[neovim_address] = anyio.CancelScope()
        self._tasks.start_soon(_listen_until_cancelled, catalogue, scope)

    def _stop_listening(self, neovim_address: str) -> None:
        """Stop listening to the server of a Neovim, if there is one."""
        if neovim_address in self._catalogues:
            del self._catalogues[neovim_address]
            self._watch_scopes.pop(neovim_address).cancel()

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()


async def _listen_until_cancelled(catalogue: Catalogue, scope: anyio.CancelScope) -> None:
    """Listen to a server until the scope is cancelled, or an error ends that; then close its connections.

    An error while it listens is logged, and not raised. In both cases the work in the background of the catalogue
    is awaited before the connections are closed, without a limit of time.
    """
    with scope:
        async with catalogue.opencode:
            try:
                await catalogue.watch()
            except Exception:
                # An error of an OpenCode server must not disturb debugging.
                log.exception(
                    "dapeer stops listening to OpenCode at %s after an error",
                    catalogue.opencode.url,
                )
            finally:
                with anyio.CancelScope(shield=True):
                    await catalogue.wait_for_background()


def _credentials(authorization: str) -> dict[str, str]:
    """Return the user and password of a Basic Authorization header, by their environment variables.

    `authorization` is the header's value. The dict has the keys `USERNAME` and `OPENCODE_PASSWORD`. The dict
    is empty, and a warning is logged, if what follows `Basic ` cannot be decoded as Base64 of a UTF-8 text.
    Without `Basic ` in the value both texts are empty; without a colon in the decoded text the password is.
    """
    _, _, encoded = authorization.partition("Basic ")
    try:
        username, _, password = base64.b64decode(encoded).decode().partition(":")
    except ValueError:
        log.warning("a Neovim sent an invalid password for OpenCode")
        return {}
    return {USERNAME: username, OPENCODE_PASSWORD: password}


# OpenCode's skills, each as a prompt and a resource; all from memory.

Skill = Mapping[str, Any]

PREFIX: Final = "opencode_"
URI: Final = "opencode://skills/"
GIVEN: Final = "$ARGUMENTS"
"""The placeholder that OpenCode also uses for arguments of a skill."""

_ARGUMENT = t.PromptArgument(
    name="arguments", description="What to do with the skill", required=False
)


def prompt_of_skill(skill: Skill) -> t.Prompt:
    """Return a skill as a prompt of MCP's list of prompts, with one optional argument.

    The prompt's name is the skill's `name` behind `PREFIX`, its title the `name` alone; a skill without
    `description` gives None there. The argument, `arguments`, says what to do with the skill.
    """
    return t.Prompt(
        name=PREFIX + skill["name"],
        title=skill["name"],
        description=skill.get("description"),
        arguments=[_ARGUMENT],
    )


def filled_prompt(
    skills: Iterable[Skill], name: str, values: Mapping[str, str]
) -> t.GetPromptResult | None:
    """Return the text of the skill that is the prompt of this name, as MCP's prompt; None: there is none.

    `values` may have `arguments`, which say what to do with the skill. `name` is the prompt's, which begins with `PREFIX`.
    """
    for skill in skills:
        if name == PREFIX + skill["name"]:
            text = skill_text(skill, values.get("arguments", ""))
            message = t.PromptMessage(role="user", content=t.TextContent(text=text))
            return t.GetPromptResult(description=skill.get("description"), messages=[message])
    return None


def skill_resource(skill: Skill) -> t.Resource:
    """Return a skill of OpenCode as an entry for MCP's `resources/list`; its content is not in it.

    The entry has the address that `uri_of` gives, the name `skill NAME`, the type `text/markdown`, and the
    skill's `description` if there is one. `skill` needs the key `name`.
    """
    return t.Resource(
        uri=uri_of(skill),
        name=f"skill {skill['name']}",
        description=skill.get("description"),
        mime_type="text/markdown",
    )


def skill_contents(skills: Iterable[Skill], uri: str) -> t.TextResourceContents | None:
    """Return the text of the skill at an address as the content of a resource; None: there is none."""
    for skill in skills:
        if uri == uri_of(skill):
            return t.TextResourceContents(uri=uri, mime_type="text/markdown", text=skill["content"])
    return None


def uri_of(skill: Skill) -> str:
    """Return the address of a skill as a resource."""
    return URI + quote(skill["name"], safe="")


def skill_text(skill: Skill, request: str) -> str:
    """Return the text by which a model uses a skill, as OpenCode writes it.

    `skill` is as OpenCode sends it, with `content` and `location`. `request` says what is to be done with
    the skill: it replaces each placeholder `$ARGUMENTS` in the text, also if empty; without a placeholder,
    one that is not empty follows the text. The last line names the skill's folder.
    """
    text: str = skill["content"]
    if GIVEN in text:
        text = text.replace(GIVEN, request)
    elif request:
        text = f"{text}\n\n{request}"
    # Its other files are named relative to it.
    return f"{text}\n\nBase directory of this skill: {Path(skill['location']).parent}"


class OpenCodeIntegration(Integration):
    """OpenCode's sessions, skills and tools, of the server that is known; and our tools there.

    Args:
        named: An OpenCode server that was named at the start, in addition to those of the Neovims.
    """

    tools = TOOLS
    own_clients = ("opencode",)

    def __init__(self, named_server: OpenCode | None = None) -> None:
        super().__init__()
        self._named_server = named_server
        self._servers: Servers | None = None

    @asynccontextmanager
    async def serving(self, context: IntegrationContext) -> AsyncGenerator[None]:
        """Listen to the known OpenCode servers while the body runs, and follow what Neovims report of theirs.

        A Neovim is sent what becomes of its registrations. Afterwards what dapeer has registered at OpenCode is removed, for at most
        `SECONDS_TO_LEAVE`.
        """
        async with anyio.create_task_group() as tasks:
            project = context.debugger.project
            servers = self._servers = Servers(project, tasks, self._named_server, context.core)
            servers.subscribe(self._changed)
            servers.open()

            def use(peer: Peer, sent: Json) -> None:
                """Note which OpenCode server a Neovim uses, as `sent` by it.

                What becomes of that is reported to the Neovim.
                """

                def report(news: Json) -> None:
                    code = "require('dapeer.integrations.opencode').take(...)"
                    peer.neovim.send(code, peer.neovim.channel, news)

                servers.set_use(peer.target, ServerUse.read(sent), report)

            def forget(peer: Peer) -> None:
                servers.forget(peer.target)

            try:
                with context.peers.notifications.handled({"opencode": use}, forget):
                    yield
            finally:
                with anyio.CancelScope(shield=True):
                    await servers.remove_registrations()
            tasks.cancel_scope.cancel()

    @property
    def _current(self) -> Catalogue | None:
        """The catalogue of the server that is used now; None: no server is known."""
        return self._servers.current if self._servers else None

    @property
    def _skills(self) -> Sequence[Skill]:
        return self._current.project_skills if self._current else ()

    @property
    def offered(self) -> Sequence[AnyTool]:
        """Its tools; none while no OpenCode server is known."""
        return TOOLS if self._current else ()

    @property
    def object_for_tools(self) -> Catalogue | None:
        """The catalogue of the OpenCode server that is used now; None: no server is known."""
        return self._current

    def prompts(self) -> Iterable[t.Prompt]:
        """Return the skills as prompts."""
        return map(prompt_of_skill, self._skills)

    def prompt(self, name: str, values: Mapping[str, str]) -> t.GetPromptResult | None:
        """Return the skill that is the prompt of this name, with its arguments; None: there is none."""
        return filled_prompt(self._skills, name, values)

    def resources(self) -> Iterable[t.Resource]:
        """Return the skills as resources."""
        return map(skill_resource, self._skills)

    def resource(self, uri: str) -> t.TextResourceContents | None:
        """Return the skill at an address as the content of a resource; None: there is none."""
        return skill_contents(self._skills, uri)
