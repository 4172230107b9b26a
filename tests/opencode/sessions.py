"""What the tests of OpenCode's sessions share: a client of ours that knows OpenCode, and a session."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client

from dapeer.integrations.opencode.catalogue import CONNECTED, follow_events
from dapeer.integrations.opencode.client import OpenCode as OpenCodeClient
from dapeer.integrations.variables import OPENCODE_PASSWORD
from tests.harness import ask, served
from tests.json_types import Json
from tests.opencode.server import OpenCode


@asynccontextmanager
async def working(
    server: OpenCode, project: Path, *, url: str = "", silence: float = 30
) -> AsyncGenerator[tuple[Client, str]]:
    """Give a client of a server of ours that knows OpenCode, and a new session."""
    environment = {OPENCODE_PASSWORD: server.password}
    async with (
        OpenCodeClient(url or server.url, environment, silence=silence) as opencode,
        served(project, opencode=opencode) as (c, _),
    ):
        yield c, (await ask(c, "opencode_session_create", title="work"))["session_id"]


class Heard:
    """The events of an OpenCode server, as they come."""

    def __init__(self, events: Any) -> None:  # noqa: ANN401 - an async generator
        self._events = events

    async def until(self, kind: str, session: str, **info: str) -> None:
        """Wait for an event of a session, about a message that is so."""
        async for event in self._events:
            told: Json = event["properties"]
            about: Json = told.get("info") or {}
            if (
                event["type"] == kind
                and told.get("sessionID") == session
                and info.items() <= about.items()
            ):
                return


@asynccontextmanager
async def hearing(server: OpenCode) -> AsyncGenerator[Heard]:
    """Give what happens in a server from now on."""
    async with (
        OpenCodeClient(server.url, {OPENCODE_PASSWORD: server.password}) as opencode,
        aclosing(follow_events(opencode)) as events,
    ):
        assert (await anext(events))["type"] == CONNECTED
        yield Heard(events)


def prompted(server: OpenCode, session: str, prompt: str, directory: Path) -> None:
    """Prompt a session as a person does, without any code of ours."""
    body = {"parts": [{"type": "text", "text": prompt}]}
    server.ask("POST", f"/session/{session}/prompt_async", body, directory)
