"""A server that is told to end answers the calls that run, in each protocol and over each transport."""

import asyncio
import signal
import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from mcp import Client

from tests.mcp.rendezvous.test_bridge import STATELESS
from tests.mcp.small import ERAS, LEGACY, event_of, over_http, sse, streamable, text, waiting
from tests.mcp.wire import request, started

ENDED = "The dapeer server has ended before this call."


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_over_stdio_is_answered_before_a_signal_ends_its_server(era: str) -> None:
    about = {} if era == LEGACY else {"_meta": STATELESS}

    async with started("tests.mcp.small") as wire:
        if era == LEGACY:
            await wire.handshake()
        waits = request("tools/call", 2, name="small_wait", arguments={"tag": "end"}, **about)
        await wire.send(waits)
        knows = request("tools/call", 3, name="small_waiting", arguments={"tag": "end"}, **about)
        await wire.ask(knows)
        assert await wire.signal(signal.SIGTERM) == 0
        answer = await wire.receive()
        assert answer["id"] == 2
        assert answer["result"]["content"][0]["text"].startswith(ENDED)


@pytest.mark.parametrize(
    ("road", "era"),
    [(streamable, era) for era in ERAS] + [(sse, LEGACY)],
    ids=[*(f"streamable-{era}" for era in ERAS), f"sse-{LEGACY}"],
)
async def test_a_call_over_http_is_answered_before_its_server_hangs_up(
    road: Callable[[str], AbstractAsyncContextManager[Any]], era: str
) -> None:
    tag = uuid.uuid4().hex
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()

    async def serve() -> None:
        async with over_http() as (server, url):
            address.set_result(url)
            await stop.wait()
            await server.end_calls()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(serve())
        async with Client(road(await address), mode=era) as client:
            waits = tasks.create_task(client.call_tool("small_wait", {"tag": tag}))
            await event_of(waiting, tag).wait()
            stop.set()
            result = await waits
            assert result.is_error
            assert text(result).startswith(ENDED)
