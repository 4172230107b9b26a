"""Connections that show no token, or nothing at all: they keep nobody out, and do not last."""

import asyncio
import resource
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, closing

import pytest

from dapeer.mcp.transports import http
from tests.mcp.small import TOKEN, http_client, over_http
from tests.mcp.transports.test_http import ACCEPT, held, post
from tests.mcp.wire import call, opening, request, serving
from tests.processes import LIMIT

HALF_A_REQUEST = b"GET /health HT"
AUTHORIZED = f"Host: localhost\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
UNKNOWN = b"GET /unknown HTTP/1.1\r\n" + AUTHORIZED + b"\r\n"
"""A request that is let in and answered at once."""
HALF_A_BODY = (
    b"POST /mcp HTTP/1.1\r\n"
    + AUTHORIZED
    + b"Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
    + b"Content-Length: 2\r\n\r\n{"
)

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected(url: str, sent: bytes) -> AsyncGenerator[Connection]:
    """Open a connection on which something has been sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
    with closing(writer):
        writer.write(sent)
        yield reader, writer


async def rest(reader: asyncio.StreamReader) -> bytes:
    """Return what comes until the server closes the connection."""
    try:
        return await reader.read()
    except ConnectionError:
        return b""


async def works(url: str) -> bool:
    """Whether a client with the token, on a connection of its own, is answered."""
    async with http_client() as web:
        first = await post(web, f"{url}/mcp", request("initialize", 1, **opening("2025-11-25")))
        session = {"mcp-session-id": first["session"]}
        answer = await post(web, f"{url}/mcp", call(2, "small_add", a=1), **session)
    return answer["result"]["structuredContent"] == {"sum": 2}


async def test_of_many_connections_without_a_request_the_oldest_make_room() -> None:
    async with asyncio.timeout(LIMIT), over_http() as (_, url), AsyncExitStack() as stack:
        readers = [
            (await stack.enter_async_context(connected(url, HALF_A_REQUEST)))[0]
            for _ in range(http.MOST_STRANGERS + 10)
        ]
        for reader in readers[:10]:
            assert await rest(reader) == b""
        assert await works(url)
        assert not readers[-1].at_eof()


async def test_a_client_with_the_token_keeps_its_stream_whatever_strangers_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with (
        asyncio.timeout(LIMIT),
        over_http() as (_, url),
        http_client() as web,
        asyncio.TaskGroup() as tasks,
    ):
        opened = [asyncio.Event() for _ in range(3)]
        streams = [tasks.create_task(held(web, f"{url}/sse", event)) for event in opened]
        for event in opened:
            await event.wait()
        monkeypatch.setattr(http, "SECONDS_TO_BE_LET_IN", 0.05)
        for _ in range(3):
            async with connected(url, HALF_A_REQUEST) as (reader, _):
                assert await rest(reader) == b""
        assert not any(stream.done() for stream in streams)
        for stream in streams:
            stream.cancel()


@pytest.mark.parametrize(
    ("deadline", "sent"),
    [
        ("SECONDS_TO_BE_LET_IN", b""),
        ("SECONDS_TO_BE_LET_IN", HALF_A_REQUEST),
        ("SECONDS_TO_BE_LET_IN", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ("SECONDS_TO_BE_LET_IN", b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"),
        ("SECONDS_FOR_A_HEAD", UNKNOWN + HALF_A_REQUEST),
        ("SECONDS_OF_SILENCE", HALF_A_BODY),
    ],
)  # fmt: skip
async def test_a_connection_that_gets_nowhere_is_closed(
    deadline: str, sent: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with asyncio.timeout(LIMIT), over_http() as (_, url):
        monkeypatch.setattr(http, deadline, 0.05)
        async with connected(url, sent) as (reader, writer):
            if sent.startswith(UNKNOWN):
                await reader.readuntil(b"Not Found")
                writer.write(b"P")
            await rest(reader)
        monkeypatch.undo()
        assert await works(url)
    assert not caplog.records


async def test_a_body_that_breaks_off_is_nothing_to_log(caplog: pytest.LogCaptureFixture) -> None:
    async with asyncio.timeout(LIMIT), over_http() as (_, url):
        async with connected(url, HALF_A_BODY) as (reader, writer):
            writer.write_eof()
            await rest(reader)
        assert await works(url)
    assert not caplog.records


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, "The `id` of a request is"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}', -32600, "half of a surrogate pair"),
        (b"{no json", -32700, "This is not JSON."),
    ],
)
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
async def test_a_body_that_is_no_message_is_answered_in_one_sentence(
    version: str, body: bytes, code: int, words: str
) -> None:
    async with over_http() as (_, url), http_client() as web:
        headers = {**ACCEPT, "Content-Type": "application/json", "MCP-Protocol-Version": version}
        answer = await web.post(f"{url}/mcp", content=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
    assert words in answer.json()["error"]["message"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits another process (prlimit)")
async def test_a_server_without_file_descriptors_closes_strangers_and_logs_little() -> None:
    async with serving("--no-auth", stderr=True) as (wire, url), AsyncExitStack() as stack:
        _, hard = resource.prlimit(wire.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(wire.process.pid, resource.RLIMIT_NOFILE, (40, hard))
        readers = [
            (await stack.enter_async_context(connected(url, HALF_A_REQUEST)))[0] for _ in range(60)
        ]
        await rest(readers[0])
        async with http_client(None) as web:
            assert (await web.get(f"{url}/health")).status_code == 200
            # Connections of those who are let in are not closed: a new one has to wait.
            kept = [await stack.enter_async_context(connected(url, UNKNOWN)) for _ in range(40)]
            waits = await wire.logged("new connections have to wait: Too many open files")
            assert waits
            for _, writer in kept:
                writer.close()
            assert (await web.get(f"{url}/health")).status_code == 200
        assert await wire.signal(signal.SIGTERM) == 0
        assert wire.process.stderr
        assert (await wire.process.stderr.read()).count(b"\n") <= 1
