"""What clients are told while a real program is debugged, and what they can read."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from mcp import Client
from mcp import types as t
from mcp.client.session import IncomingMessage
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent
from mcp.types import TextResourceContents

from dapeer.mcp.all_tools import TOOLS
from tests.harness import DATA, ask
from tests.mcp.small import ERAS, LEGACY, TRANSPORTS, connected
from tests.processes import LIMIT
from tests.programs import program

SESSION = "debug://sessions/1"
URIS = ("debug://sessions", SESSION, f"{SESSION}/output")

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")

Heard = asyncio.Queue[ServerEvent]


@asynccontextmanager
async def listening(transport: str, era: str) -> AsyncGenerator[tuple[Client, Heard]]:
    """Give a client that has subscribed to session 1, and what it is told."""
    heard: Heard = asyncio.Queue()

    def hear(message: IncomingMessage) -> None:
        match message:
            case t.ResourceUpdatedNotification(params=params):
                heard.put_nowait(ResourceUpdated(str(params.uri)))
            case t.ResourceListChangedNotification():
                heard.put_nowait(ResourcesListChanged())
            case _:
                pass

    async with (
        asyncio.timeout(LIMIT),
        connected(transport, era, hear, tools=TOOLS, extensions=DATA) as client,
    ):
        if era == LEGACY:
            for uri in URIS:
                await client.subscribe_resource(uri)  # pyright: ignore[reportDeprecated]
            yield client, heard
            return
        subscription = client.listen(resources_list_changed=True, resource_subscriptions=URIS)
        async with subscription:
            # The SDK's client shows the items of the stream to its message handler as well.
            yield client, heard


async def told(heard: Heard, *wanted: ServerEvent) -> None:
    """Wait until all of these have been heard."""
    missing = set(wanted)
    while missing:
        missing.discard(await heard.get())


async def contents(client: Client, uri: str) -> TextResourceContents:
    found = (await client.read_resource(uri)).contents[0]
    assert isinstance(found, TextResourceContents)
    return found


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_client_follows_a_session_by_its_resources(transport: str, era: str) -> None:
    p = program("loop.py")
    async with listening(transport, era) as (client, heard):
        await ask(client, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        await told(heard, ResourcesListChanged(), *map(ResourceUpdated, URIS))
        listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
        assert listed == list(URIS)

        overview = await contents(client, "debug://sessions")
        (summary,) = json.loads(overview.text)["sessions"]
        assert (summary["session_id"], summary["state"]) == (1, "stopped")
        session = json.loads((await contents(client, SESSION)).text)
        assert session["line"] == p.line("inner")
        output = await contents(client, f"{SESSION}/output")
        assert output.mime_type == "text/plain"
        assert output.text == "round 0\n"
        assert output.meta
        assert output.meta["dapeer/cursor"] == len(output.text)

        await ask(client, "dap_terminate")
        await told(heard, ResourceUpdated(SESSION))
        assert json.loads((await contents(client, SESSION)).text)["state"] == "ended"


async def test_a_client_that_has_unsubscribed_is_told_no_more() -> None:
    p = program("loop.py")
    async with listening("http", LEGACY) as (client, heard):
        await client.unsubscribe_resource(SESSION)  # pyright: ignore[reportDeprecated]
        await ask(client, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        await ask(client, "dap_continue")
        await ask(client, "dap_terminate")
        await told(heard, ResourcesListChanged(), ResourceUpdated(f"{SESSION}/output"))
        while not heard.empty():
            assert heard.get_nowait() != ResourceUpdated(SESSION)
