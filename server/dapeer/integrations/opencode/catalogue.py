"""The agents, models, commands, skills and tools of an OpenCode server, by name.

OpenCode answers an unknown name with an error that says nothing, so names are checked before use. The lists
are cached while change events arrive, and no longer.
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
import logging
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Sequence,
)
from pathlib import Path
from typing import Any, Final

import anyio

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json
from dapeer.base.system.tasks import BackgroundTask
from dapeer.integrations.opencode.client import NoOpenCode, OpenCode, OpenCodeError, OpenCodeMissing

# Listens to the events of an OpenCode server, and reconnects.

CONNECTED: Final = "server.connected"
"""The first event of every stream. Earlier events may have been missed: OpenCode does not repeat any."""
HEARTBEAT: Final = "server.heartbeat"
"""A heartbeat, every ten seconds."""
SECONDS_BETWEEN_CONNECTIONS: Final = (0.0, 0.2, 0.5, 1.0)
"""Seconds before each new attempt, after a stream has ended; then it is given up."""


async def follow_events(opencode: OpenCode) -> AsyncGenerator[Json]:
    """Yield each event of OpenCode, as `{type, properties}`, without end.

    Events of another form are passed over. A stream that ends or breaks is replaced by another after a pause, which
    grows as `SECONDS_BETWEEN_CONNECTIONS` says until an event other than `CONNECTED` comes. Events in between are lost;
    each stream begins with an event of the type `CONNECTED`, by which the caller can notice that.

    Raises:
        NoOpenCode: OpenCode is gone, also at the attempts after all of these pauses.
        OpenCodeError: OpenCode rejects the connection; then there is no other attempt.
    """
    pauses = iter(SECONDS_BETWEEN_CONNECTIONS)
    while True:
        try:
            async with opencode.events() as events:
                async for event in events:
                    match event.get("payload"):
                        case {"type": str(kind), "properties": dict()} as known:
                            # Without this pause, streams that break at once would be retried in a busy loop.
                            pauses = (
                                pauses if kind == CONNECTED else iter(SECONDS_BETWEEN_CONNECTIONS)
                            )
                            yield known
                        case _:
                            pass
        except NoOpenCode:
            pause = next(pauses, None)
            if pause is None:
                raise
        else:
            pause = next(pauses, SECONDS_BETWEEN_CONNECTIONS[-1])
        await anyio.sleep(pause)


log = logging.getLogger(__name__)

SECONDS_OF_PAUSE: Final = (0.0, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Seconds before each new attempt to hear of changes, after a stream has ended."""
SECONDS_OF_LONGEST_PAUSE: Final = 30.0
"""Seconds between later retries; any response shows that the server is back, and ends the pause."""

RELAY: Final = "dapeer"
"""The provider that dapeer's plugin adds. It has no real models."""

CHANGES: Final = (CONNECTED, "global.disposed", "server.instance.disposed", "mcp.tools.changed")
"""Events that invalidate the cached lists. OpenCode does not repeat events."""

INVALID: Final = "invalid"
"""OpenCode's stand-in for a tool that a model has made up."""


class Catalogue:
    """The lists of one server, by name.

    Args:
        opencode: The server.
        project: The directory whose skills are listed.
        changed: Is called when these skills are others than before.
        listener: Gets each event after which an earlier answer may be true no more.
    """

    def __init__(
        self,
        opencode: OpenCode,
        project: Path,
        changed: Callable[[], None] = lambda: None,
        listener: Callable[[Json], None] | None = None,
    ) -> None:
        self.opencode = opencode
        self.project_skills: Sequence[Json] = []
        """Those of the project, from memory: as `skills` returns them."""
        self._project = project
        self._notify_changed = changed
        self._listener = listener
        self._cache: dict[tuple[object, ...], Any] = {}
        self._gets_events = False
        self._invalidations = 0
        """Counts invalidations: the answer to an older request is not cached."""
        self._answered_event = anyio.Event()
        self._background_tasks: list[BackgroundTask[None]] = []

    def run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin work for which no answer has to wait; `wait_for_background` waits for its end."""
        going_on = (each for each in self._background_tasks if not each.done)
        self._background_tasks = [*going_on, BackgroundTask(work)]

    async def wait_for_background(self) -> None:
        """Wait for the end of all work that `run_in_background` has begun."""
        for each in self._background_tasks:
            await each.wait_for_end()

    async def agents(self, directory: Path) -> list[Json]:
        """Return the agents that are not for OpenCode's own use."""
        return [one for one in await self.all_agents(directory) if not one.get("hidden")]

    async def all_agents(self, directory: Path) -> list[Json]:
        """Return the agents, hidden ones included."""
        return await self._get_cached("/agent", directory)

    async def models(self, directory: Path) -> list[str]:
        """Return the models of a directory, each as `provider/model`, without those of dapeer's own plugin."""
        found = await self._providers(directory)
        return [
            f"{name}/{one}" for name, models in found.items() if name != RELAY for one in models
        ]

    async def relay_models(self, directory: Path) -> list[str]:
        """Return the names of the models of dapeer's relay plugin; empty: OpenCode has not loaded the plugin.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        return (await self._providers(directory)).get(RELAY, [])

    async def commands(self, directory: Path) -> list[Json]:
        """Return the commands of a directory; skills, and prompts of MCP servers, are among them."""
        return await self._get_cached("/command", directory)

    async def skills(self, directory: Path) -> list[Json]:
        """Return the skills: name, description, location, content."""
        return await self._get_cached("/skill", directory)

    async def tools(self, directory: Path, provider: str, model: str) -> list[Json]:
        """Return the tools that OpenCode offers a model, each with `id`, `description` and `parameters`.

        Tools of MCP servers are not among them.
        """
        listed: list[Json] = await self._get_cached(
            "/experimental/tool", directory, provider=provider, model=model
        )
        return [one for one in listed if one["id"] != INVALID]

    async def agent_field(self, directory: Path, name: str | None) -> Json:
        """Check the name of an agent, and return the part of a request's body that names it.

        It is `{"agent": name}`. For None that is empty: OpenCode chooses.

        Raises:
            ArgumentError: The directory has no such agent; the error names similar ones.
        """
        if name is None:
            return {}
        known = [one["name"] for one in await self.agents(directory)]
        return {"agent": _check_name(name, known, "agent")}

    async def model_field(self, directory: Path, name: str | None) -> Json:
        """Check a `provider/model`, and return the part of a request's body that names it, under `model`.

        For None that is empty: OpenCode chooses.

        Raises:
            ArgumentError: The directory has no such model; the error names similar ones.
        """
        if name is None:
            return {}
        found = _check_name(name, await self.models(directory), "model")
        provider, _, model = found.partition("/")
        return {"model": {"providerID": provider, "modelID": model}}

    async def check_command(self, directory: Path, name: str) -> str:
        """Check the name of a command, and return it without its slash.

        Raises:
            ArgumentError: The directory has no such command; the error names similar ones.
        """
        known = [one["name"] for one in await self.commands(directory)]
        return _check_name(name.removeprefix("/"), known, "command")

    async def request_session(self, name: str) -> Json:
        """Request a session by its id, and return it as OpenCode sends it now.

        `name` is the id; one that is no well-formed id is not requested.

        Raises:
            ArgumentError: There is no such session.
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        # An ill-formed id gets the error that says nothing.
        if name.startswith("ses") and name.isascii() and name.replace("_", "").isalnum():
            with contextlib.suppress(OpenCodeMissing):
                return await self.opencode.get(f"/session/{name}")
        raise ArgumentError(
            f"OpenCode has no session {name}.",
            "opencode_sessions lists those there are, opencode_session_create makes one.",
        )

    async def cached(self, key: tuple[object, ...], ask: Callable[[], Awaitable[Any]]) -> Any:
        """Return the cached answer under `key`; without one await `ask()`, return its answer, and cache that.

        An answer stays cached until a change event or a gap in the events. It is not cached while no events arrive, or
        if a change came while the answer was awaited. The caller gets the cached object itself, so it must not change
        that. An answer of `ask` also lets `watch` try at once to listen to events again. What `ask` raises leaves this
        method, and nothing is cached then.
        """
        if key in self._cache:
            return self._cache[key]
        era = self._invalidations
        answer = await ask()
        self._answered_event.set()
        if self._gets_events and era == self._invalidations:
            self._cache[key] = answer
        return answer

    async def watch(self) -> None:
        """Listen to the server's events until cancelled, and drop cached lists at changes.

        While the server is away it is tried again ever more rarely, or at once when a request succeeds; nothing is cached meanwhile.
        Errors of OpenCode are only logged.
        """
        pauses = _pauses()
        while True:
            try:
                async with self.opencode.events() as events:
                    async for event in events:
                        pauses = _pauses()
                        await self._on_event(event.get("payload") or {})
            except OpenCodeError as error:
                log.info("%s", error)
            self._forget()
            self._gets_events = False
            self._answered_event = anyio.Event()
            with anyio.move_on_after(next(pauses)):
                await self._answered_event.wait()

    async def _on_event(self, event: Json) -> None:
        """Drop the cache at an event that changes lists, then request the project's skills anew.

        `event` is OpenCode's, with its `type`; types that are not in `CHANGES` are ignored. The cache is dropped
        first, and from now on answers are cached; then the listener, if there is one, gets the event; then the
        skills are requested. If they differ from those in `project_skills`, they replace them, and `changed` is
        called; where the request fails, the project counts as having no skills, and nothing is raised.
        """
        if event.get("type") in CHANGES:
            self._gets_events = True
            self._forget()
            if self._listener is not None:
                self._listener(event)
            skills: Sequence[Json] = []
            # An OpenCode with a mistake in its configuration runs, but has none of these.
            with contextlib.suppress(OpenCodeError):
                skills = await self.skills(self._project)
            if skills != self.project_skills:
                self.project_skills = skills
                self._notify_changed()

    def _forget(self) -> None:
        self._cache.clear()
        self._invalidations += 1

    async def _get_cached(self, path: str, directory: Path, **query: str) -> Any:
        """Return the answer to a GET request, from the cache if it is there."""
        key = (path, directory, *query.values())
        return await self.cached(key, lambda: self.opencode.get(path, directory, **query))

    async def _providers(self, directory: Path) -> dict[str, list[str]]:
        """Return the names of the models of each provider, by the provider's id."""
        answer = await self._get_cached("/config/providers", directory)
        return {each["id"]: list(each["models"]) for each in answer["providers"]}


def _pauses() -> Iterator[float]:
    """Yield seconds to wait before each new attempt, without end."""
    return itertools.chain(SECONDS_OF_PAUSE, itertools.repeat(SECONDS_OF_LONGEST_PAUSE))


def _check_name(name: str, candidates: Iterable[str], what: str) -> str:
    """Return `name` if it is among `candidates`; else raise an error that suggests some of them.

    `what` says in the error what it names, such as `agent`.

    Raises:
        ArgumentError: It is not among them; the error has similar ones, or else the first twenty.
    """
    names = sorted(candidates)
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, n=3) or names[:20]
    raise ArgumentError(
        f"OpenCode has no {what} `{name}` here.", f"It has: {', '.join(near) or 'none'}."
    )
