"""The HTTP server: its routes, several clients, and how it ends."""

import asyncio
import contextlib
import json
import signal
import uuid
from collections.abc import Callable

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client._transport import Transport
from mcp.server.subscriptions import ToolsListChanged

import dapeer
from dapeer.base.errors import ArgumentError
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.transports import http
from tests.harness import DATA, ask
from tests.mcp.small import (
    ERAS,
    LEGACY,
    MODERN,
    cancelled,
    event_of,
    http_client,
    over_http,
    sse,
    streamable,
    waiting,
)
from tests.mcp.wire import Json, call, opening, request, serving
from tests.processes import LIMIT
from tests.programs import program

ACCEPT = {"Accept": "application/json, text/event-stream"}


async def post(client: httpx2.AsyncClient, url: str, message: Json, **headers: str) -> Json:
    """Post one request the way the handshake era does, and return its response."""
    answer = await client.post(url, json=message, headers={**ACCEPT, **headers})
    data = next(line for line in answer.text.splitlines() if line.startswith("data: {"))
    return {"session": answer.headers.get("mcp-session-id"), **json.loads(data[6:])}


async def test_health_tells_how_the_server_is_and_nothing_secret() -> None:
    async with over_http() as (_, url), http_client(None) as client:
        answer = await client.get(f"{url}/health")
        assert answer.json() == {"status": "ok", "version": dapeer.__version__, "sessions": 0}


@pytest.mark.parametrize("path", ["/mcp", "/"])
async def test_streamable_http_is_served_at_mcp_and_at_the_root(path: str) -> None:
    async with over_http() as (_, url), http_client() as client:
        first = await post(client, url + path, request("initialize", 1, **opening("2025-11-25")))
        assert first["result"]["serverInfo"]["name"] == "dapeer"
        session = {"mcp-session-id": first["session"]}
        answer = await post(client, url + path, call(2, "small_add", a=1), **session)
        assert answer["result"]["structuredContent"] == {"sum": 2}


async def test_clients_of_every_kind_share_one_debugger() -> None:
    p = program("loop.py")
    async with (
        asyncio.timeout(LIMIT),
        over_http(TOOLS) as (_, url),
        Client(streamable(url), mode=LEGACY, extensions=DATA) as one,
        Client(streamable(url), mode=MODERN, extensions=DATA) as two,
        Client(sse(url), mode=LEGACY, extensions=DATA) as three,
    ):
        await ask(one, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        for client in (two, three):
            snapshot = await ask(client, "dap_snapshot")
            assert (snapshot["session_id"], snapshot["line"]) == (1, p.line("inner"))
        async with http_client(None) as web:
            assert (await web.get(f"{url}/health")).json()["sessions"] == 1
        await ask(three, "dap_terminate")
        assert (await ask(one, "dap_snapshot"))["state"] == "ended"


async def test_a_client_whose_stream_opens_late_is_told_what_has_changed() -> None:
    async with asyncio.timeout(LIMIT), over_http() as (server, url), http_client() as client:
        mcp = f"{url}/mcp"
        first = await post(client, mcp, request("initialize", 1, **opening("2025-11-25")))
        session = {"mcp-session-id": first["session"], **ACCEPT}
        initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await client.post(mcp, json=initialized, headers=session)
        await post(client, mcp, request("ping", 2), **session)
        await server.hub.publish(ToolsListChanged())
        async with client.stream("GET", mcp, headers=session) as stream:
            lines = stream.aiter_lines()
            while not (line := await anext(lines)).startswith("data: {"):
                pass
            assert json.loads(line[6:])["method"] == "notifications/tools/list_changed"


async def wait_for_ever(streams: Transport, era: str, tag: str) -> None:
    """Call a tool until the server goes away."""
    try:
        async with Client(streams, mode=era, extensions=DATA) as client:
            await client.call_tool("small_wait", {"tag": tag})
    except* (MCPError, httpx2.HTTPError):
        pass


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("connect", [streamable, sse])
async def test_the_end_of_the_server_cancels_the_calls_that_run(
    connect: Callable[[str], Transport], era: str
) -> None:
    tag = uuid.uuid4().hex
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as tasks:
        async with over_http() as (_, url):
            tasks.create_task(wait_for_ever(connect(url), era, tag))
            await event_of(waiting, tag).wait()
        await cancelled[tag].wait()


async def test_the_calls_of_a_client_that_hangs_up_are_cancelled() -> None:
    tag = uuid.uuid4().hex
    async with asyncio.timeout(LIMIT), over_http() as (_, url), http_client() as web:
        first = await post(web, f"{url}/mcp", request("initialize", 0, **opening("2025-11-25")))
        session = {"mcp-session-id": first["session"], **ACCEPT}
        waits = call(1, "small_wait", tag=tag)
        async with web.stream("POST", f"{url}/mcp", json=waits, headers=session) as stream:
            assert stream.status_code == 200
            await event_of(waiting, tag).wait()
        await event_of(cancelled, tag).wait()


async def held(client: httpx2.AsyncClient, url: str, opened: asyncio.Event) -> None:
    """Keep a stream open until the server ends it."""
    with contextlib.suppress(httpx2.HTTPError):
        async with client.stream("GET", url, headers=ACCEPT) as stream:
            opened.set()
            async for _ in stream.aiter_raw():
                pass


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_open_streams_running_calls_and_programs(
    number: signal.Signals,
) -> None:
    async with (
        serving("--no-auth") as (wire, url),
        http_client(None) as web,
        Client(streamable(url, None), mode=LEGACY, extensions=DATA) as client,
        asyncio.TaskGroup() as tasks,
    ):
        opened = asyncio.Event()
        tasks.create_task(held(web, f"{url}/sse", opened))
        await opened.wait()
        sleeper = str(program("sleeper.py"))
        await ask(client, "dap_run", program=sleeper, wait_until_paused=False)
        tasks.create_task(until_paused(client))
        assert await wire.signal(number) == 0
        assert await wire.rest() == b""


async def until_paused(client: Client) -> None:
    with contextlib.suppress(MCPError):
        await client.call_tool("dap_wait_until_paused", {"timeout_ms": 600_000})


def test_a_port_in_use_is_an_error_of_one_sentence() -> None:
    with http.bind("127.0.0.1", 0) as taken:
        taken.listen()
        with pytest.raises(ArgumentError, match=r"in use\. Choose another with --port"):
            http.bind("127.0.0.1", taken.getsockname()[1])


@pytest.mark.parametrize("host", ["no-such-host.invalid", "203.0.113.7"])
def test_a_host_that_is_not_here_is_an_error_of_one_sentence(host: str) -> None:
    with pytest.raises(ArgumentError, match=f"Cannot listen on {host} port 0: "):
        http.bind(host, 0)


@pytest.mark.parametrize("host", ["a..b", "a\0b", "\ud800", "x" * 64])
def test_a_host_that_can_be_none_is_an_error_of_one_sentence(host: str) -> None:
    with pytest.raises(ArgumentError, match=r"(?s)Cannot listen on .+ port 0: .+\. Choose"):
        http.bind(host, 0)
