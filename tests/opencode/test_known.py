"""What the core knows of an OpenCode server: its skills are prompts and resources, kept while it tells of changes."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.types import (
    Implementation,
    PromptListChangedNotification,
    TextContent,
    TextResourceContents,
)

from dapeer.integrations.opencode.client import OpenCode as OpenCodeClient
from dapeer.integrations.opencode.integration import TOOLS as OF_OPENCODE
from dapeer.integrations.variables import OPENCODE_PASSWORD
from tests.harness import ask, read, refusal, served
from tests.mcp.small import LEGACY
from tests.opencode.provider import Say
from tests.opencode.server import OpenCode, free_port, opencode
from tests.processes import LIMIT

NAMES = {tool.name for tool in OF_OPENCODE}


class Ears:
    """Hears which lists have changed."""

    def __init__(self, kind: type) -> None:
        self._kind = kind
        self._heard = asyncio.Queue[Any]()

    async def __call__(self, message: object) -> None:
        """Hear a notification."""
        if isinstance(message, self._kind):
            self._heard.put_nowait(message)

    async def news(self) -> None:
        """Wait until the list has changed once more."""
        async with asyncio.timeout(LIMIT):
            await self._heard.get()


def at(shared: OpenCode) -> OpenCodeClient:
    """Return the way to a server."""
    return OpenCodeClient(shared.url, {OPENCODE_PASSWORD: shared.password})


def write_skill(project: Path, name: str, text: str) -> Path:
    """Write a skill of a project's."""
    folder = project / ".opencode" / "skill" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        f"---\nname: {name}\ndescription: How to {name}.\n---\n{text}\n"
    )
    return folder


async def prompts(c: Client) -> dict[str, str | None]:
    """Return the prompts that are listed."""
    return {one.name: one.description for one in (await c.list_prompts()).prompts}


async def said(c: Client, name: str, **arguments: str) -> str:
    """Return the text of a prompt."""
    (message,) = (await c.get_prompt(name, arguments)).messages
    assert isinstance(message.content, TextContent)
    return message.content.text


async def test_a_skill_is_a_prompt_and_a_resource_as_soon_as_opencode_has_it(
    shared: OpenCode, tmp_path: Path
) -> None:
    brew = write_skill(tmp_path, "brew-tea", "Boil water for $ARGUMENTS.")
    ears = Ears(PromptListChangedNotification)
    async with served(tmp_path, opencode=at(shared), mode=LEGACY, message_handler=ears) as (c, _):
        await ears.news()
        assert (await prompts(c))["opencode_brew-tea"] == "How to brew-tea."
        told = await said(c, "opencode_brew-tea", arguments="two")
        assert told.startswith("Boil water for two.")
        assert told.endswith(f"Base directory of this skill: {brew}")
        uris = {str(one.uri) for one in (await c.list_resources()).resources}
        assert "opencode://skills/brew-tea" in uris
        (content,) = (await c.read_resource("opencode://skills/brew-tea")).contents
        assert isinstance(content, TextResourceContents)
        assert content.text.strip() == "Boil water for $ARGUMENTS."

        write_skill(tmp_path, "wash-up", "Take the brush.")
        shared.ask("POST", "/instance/dispose", directory=tmp_path)
        await ears.news()
        assert await said(c, "opencode_wash-up", arguments="Now!") != told
        assert "Take the brush.\n\n\nNow!" in await said(c, "opencode_wash-up", arguments="Now!")


async def test_a_server_that_starts_later_is_found_and_one_that_dies_in_mid_prompt_is_told(
    tmp_path: Path,
) -> None:
    held, port = threading.Event(), free_port()
    url = f"http://127.0.0.1:{port}"
    write_skill(tmp_path, "brew", "Boil water.")
    ears = Ears(PromptListChangedNotification)
    client = OpenCodeClient(url, {})
    async with served(tmp_path, opencode=client, mode=LEGACY, message_handler=ears) as (c, _):
        absent = f"OpenCode at {url} cannot be reached ("
        told = await refusal(c, "opencode_agents")
        assert told.startswith(absent)
        assert "Start it with `opencode serve`" in told
        assert "opencode_brew" not in await prompts(c)
        with opencode(tmp_path / "late", port=port) as late:
            # Whoever asks shows that it is there.
            assert "build" in await read(c, "opencode_agents", directory=str(tmp_path))
            await ears.news()
            assert "opencode_brew" in await prompts(c)

            def dies(_told: Sequence[str]) -> Say:
                late.process.kill()
                return Say("never heard", after=held)

            prompt = late.provider.plays("Die.", dies)
            session = (await ask(c, "opencode_session_create", title="work"))["session_id"]
            told = await refusal(c, "opencode_prompt", session_id=session, prompt=prompt)
            assert told.startswith(absent)
        assert (await refusal(c, "opencode_sessions")).startswith(absent)
    held.set()


async def test_opencode_is_not_told_of_what_it_has_itself(shared: OpenCode, tmp_path: Path) -> None:
    itself = Implementation(name="opencode", version="1.18.33")
    for info, wanted in ((None, NAMES), (itself, set[str]())):
        async with served(tmp_path, opencode=at(shared), mode=LEGACY, client_info=info) as (c, _):
            listed = {tool.name for tool in (await c.list_tools()).tools}
            assert listed & NAMES == wanted
            assert "build" in await read(c, "opencode_agents")
    async with served(tmp_path) as (c, _):
        listed = {tool.name for tool in (await c.list_tools()).tools}
        assert not listed & NAMES
