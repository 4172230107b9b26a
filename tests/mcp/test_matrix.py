"""Every transport in both eras of the protocol, with the SDK's client; the older versions by hand."""

import asyncio
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
from mcp import Client, MCPError
from mcp.types import INVALID_PARAMS

from dapeer.mcp.data_extension import EXTENSION
from dapeer.mcp.server.instructions import instructions
from tests.harness import DATA
from tests.mcp.small import ERAS, LEGACY, TRANSPORTS, connected, text
from tests.mcp.wire import call, started
from tests.processes import LIMIT

OLDER = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions that begin with a handshake, which a client may repeat."""

every_transport = pytest.mark.parametrize("transport", TRANSPORTS)
every_era = pytest.mark.parametrize("era", ERAS)


@asynccontextmanager
async def client_of(transport: str, era: str) -> AsyncGenerator[Client]:
    async with asyncio.timeout(LIMIT), connected(transport, era) as client:
        yield client


@every_era
@every_transport
async def test_a_client_lists_and_calls_tools_hears_of_progress_and_cancels(
    transport: str, era: str
) -> None:
    async with client_of(transport, era) as client:
        await lists_and_calls(client)
        await hears_of_progress(client)
        await cancels(client)
        if era == LEGACY:
            knows_what_the_server_can(client)


async def lists_and_calls(client: Client) -> None:
    names = [tool.name for tool in (await client.list_tools()).tools]
    assert names == sorted(names)
    assert text(await client.call_tool("small_add", {"a": 2, "b": 3})) == "5"


async def hears_of_progress(client: Client) -> None:
    """Progress arrives before the result."""
    told: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        told.append((progress, message))

    await client.call_tool("small_tell", {"texts": ["half"]}, progress_callback=note)
    assert told == [(1, "half")]


async def cancels(client: Client) -> None:
    """A cancelled request cancels the tool, and the connection goes on."""
    tag = uuid.uuid4().hex
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "small_wait", {"tag": tag})
        await client.call_tool("small_waiting", {"tag": tag})
        tasks.cancel_scope.cancel()
    result = await client.call_tool("small_cancelled", {"tag": tag})
    assert text(result) == "it was cancelled"


def knows_what_the_server_can(client: Client) -> None:
    """It can tell that lists change, and resources can be subscribed to."""
    told = client.server_capabilities
    assert told.tools is not None
    assert told.tools.list_changed
    assert told.resources is not None
    assert told.resources.list_changed
    assert told.resources.subscribe
    assert client.instructions == instructions(())


@every_era
@every_transport
async def test_only_a_client_that_asks_for_data_gets_any(transport: str, era: str) -> None:
    for extensions, data in (((), None), (DATA, {"sum": 3})):
        async with (
            asyncio.timeout(LIMIT),
            connected(transport, era, extensions=extensions) as client,
        ):
            (tool,) = [one for one in (await client.list_tools()).tools if one.name == "small_add"]
            assert (tool.output_schema is None) is (data is None)
            result = await client.call_tool("small_add", {"a": 2})
            assert (text(result), result.structured_content) == ("3", data)


@every_transport
async def test_a_discover_result_tells_the_same(transport: str) -> None:
    async with client_of(transport, "auto") as client:
        told = client.server_capabilities
        assert client.protocol_version == "2026-07-28"
        assert told.extensions == {EXTENSION: {}}
        assert told.tools is not None
        assert told.tools.list_changed
        assert told.resources is not None
        assert told.resources.subscribe
        assert client.instructions == instructions(())


@every_era
async def test_an_unknown_tool_is_a_protocol_error_that_names_the_near_ones(era: str) -> None:
    async with client_of("http", era) as client:
        with pytest.raises(MCPError, match="Did you mean small_add") as caught:
            await client.call_tool("small_ad")
        assert caught.value.error.code == INVALID_PARAMS


@every_era
async def test_a_resource_that_does_not_exist_is_named_in_the_error(era: str) -> None:
    async with client_of("http", era) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource("debug://sessions/77")
        assert caught.value.error.code == INVALID_PARAMS
        assert caught.value.error.data == {"uri": "debug://sessions/77"}


@every_era
async def test_resources_and_prompts_are_listed(era: str) -> None:
    async with client_of("sse", era) as client:
        resources = await client.list_resources()
        assert [str(resource.uri) for resource in resources.resources] == ["debug://sessions"]
        templates = await client.list_resource_templates()
        assert len(templates.resource_templates) == 2
        prompts = await client.list_prompts()
        assert "debug_failing_test" in [prompt.name for prompt in prompts.prompts]


async def test_every_older_version_is_spoken_as_asked_and_an_unknown_one_as_the_newest() -> None:
    async with started("tests.mcp.small") as wire:
        for version, spoken in (*((older, older) for older in OLDER), ("2031-01-01", OLDER[-1])):
            result = await wire.handshake(version)
            assert result["protocolVersion"] == spoken
            assert result["capabilities"]["tools"] == {"listChanged": True}
            assert result["capabilities"]["resources"] == {"listChanged": True, "subscribe": True}
            answer = await wire.ask(call(2, "small_add", a=1))
            assert answer["result"]["content"] == [{"type": "text", "text": "2"}]
