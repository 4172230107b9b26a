"""A server that is told to end answers the calls that run, in each protocol and over each transport."""

import asyncio
import signal
import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.mcp.rendezvous.test_bridge import STATELESS, heard
from tests.mcp.small import ERAS, LEGACY, event_of, over_http, sse, streamable, text, waiting
from tests.mcp.wire import request, serving, started
from tests.programs import program

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


@pytest.mark.parametrize("era", ERAS)
async def test_an_open_call_is_answered_before_a_signal_ends_a_server_over_http(
    era: str, tmp_path: Path
) -> None:
    begun = asyncio.Event()

    async def started(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001 - the SDK's
        begun.set()

    async with (
        serving("--no-auth", cwd=tmp_path) as (server, url),
        asyncio.TaskGroup() as tasks,
        Client(streamable(url, None), mode=era) as client,
    ):
        arguments = {"program": str(program("sleeper.py")), "timeout_ms": 600_000}
        asked = client.call_tool("dap_run", arguments, progress_callback=started)
        waits = tasks.create_task(asked)
        await begun.wait()
        assert await server.signal(signal.SIGTERM) == 0
        result = await waits
        assert result.is_error
        assert text(result).startswith(ENDED)


async def test_an_open_call_through_a_bridge_is_answered_before_a_signal_ends_its_server(
    tmp_path: Path,
) -> None:
    """In the older protocol: tests/mcp/rendezvous/test_bridge.py."""
    async with (
        serving("--no-auth", cwd=tmp_path) as (server, _),
        started("dapeer", "stdio", "--nvim", "none", cwd=tmp_path) as wire,
    ):
        about = {"_meta": {**STATELESS, "progressToken": "run"}}
        arguments = {"program": str(program("sleeper.py")), "timeout_ms": 600_000}
        await wire.send(request("tools/call", 2, name="dap_run", arguments=arguments, **about))
        await heard(wire, "notifications/progress")
        assert await server.signal(signal.SIGTERM) == 0
        while (answer := await wire.receive()).get("id") != 2:
            pass
        assert answer["result"]["content"][0]["text"].startswith(ENDED)
        assert await wire.end() == 0
