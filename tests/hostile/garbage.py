"""What is no proper message of MCP: spoilt JSON-RPC over stdio and HTTP, odd headers, clients that say nothing."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import strategies as st

from dapeer.mcp.transports.http_access import OPEN_PATHS
from tests.hostile.judge import SLACK, Judge
from tests.hostile.odd import ODD, ODD_TEXT, Json, examples, mutated
from tests.hostile.server import (
    AFTERWARDS,
    TOKEN,
    Place,
    attacked,
    entries,
    place,
    served_over_http,
)
from tests.mcp.small import LEGACY

SILENCE_SECONDS = 1
"""How long a server may say nothing to garbage, as it does for ever to a request that has no end. The next attack goes on then."""

METHODS = (
    "initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read", "resources/subscribe",
    "prompts/list", "prompts/get", "logging/setLevel", "completion/complete", "nonsense", "notifications/cancelled",
    "notifications/initialized", "notifications/progress",
)  # fmt: skip

MESSAGES = mutated(
    st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0"), "method": st.sampled_from(METHODS)},
        optional={
            "id": st.one_of(st.integers(10**6, 10**7), st.text(max_size=3)),
            "params": st.fixed_dictionaries(
                {},
                optional={
                    "name": st.sampled_from(["dap_status", "debug", ""]),
                    "arguments": st.dictionaries(st.sampled_from(["session_id", "x"]), ODD),
                    "uri": st.sampled_from(
                        [
                            "debug://sessions/" + "9" * 5000,
                            "debug://sessions",
                            "debug://",
                            "file:///etc/passwd",
                        ]
                    ),
                    "protocolVersion": st.sampled_from(["2025-11-25", "1", ""]),
                    "requestId": ODD,
                    "_meta": ODD,
                },
            ),
            "result": ODD,
            "error": ODD,
        },
    )
)

LINES: list[bytes] = [
    b"", b"\0", b"{", b"[]", b"[1]", b"null", b"\xff\xfe", b'"x"', b"9" * 5000, b"[" * 100_000, b'{"a":' * 5000,
    b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}', b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":[],"method":"ping"}', b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', b"x" * 2_000_000,
    b'{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"no"}}', b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"dap_source","arguments":{"filename":"\\ud800"}}}',
]  # fmt: skip
HEADERS = (
    "Host", "Origin", "Authorization", "Content-Type", "Accept", "Content-Length", "Transfer-Encoding", "Expect",
    "Mcp-Session-Id", "MCP-Protocol-Version", "Last-Event-ID", "X" * 300, "Connection", "Cookie",
)  # fmt: skip
PATHS = (
    "/mcp",
    "/",
    "/sse",
    "/messages",
    "/messages?session_id=x",
    "/health",
    "/live",
    "/live/rows",
    "/live/../mcp",
    "/..",
    "/%2e%2e/mcp",
    "//",
    "*",
)


async def over_stdio(
    judge: Judge, seed: int, count: int, *, era: str = LEGACY, bridged: bool = False
) -> None:
    """Send lines to a server, or to a bridge to one; after each it still answers."""
    lines = [json.dumps(each).encode() for each in examples(MESSAGES, count, seed)]
    random = Random(seed)
    async with place() as where, attacked(where, judge, era=era, bridged=bridged) as server:
        await server.calm()
        for line in [*lines, *LINES]:
            judge.count("rounds: lines on stdio")
            await server.write(_torn(line, random) + b"\n")
            if not await server.still_there():
                return judge.fault("deaths", f"seed {seed}: after {line[:500]!r}")
        await server.back_to_calm(f"lines, seed {seed}")
    return None


def _torn(line: bytes, random: Random) -> bytes:
    """Spoil some bytes of some lines."""
    if line and random.random() < 0.2:
        at = random.randrange(len(line))
        return line[:at] + bytes([random.randrange(256)]).replace(b"\n", b" ") + line[at + 1 :]
    return line


async def over_http(judge: Judge, seed: int, count: int) -> None:
    """Send requests that are none, with the token and without; nothing passes the guard, and nothing breaks."""
    random = Random(seed)
    header = st.tuples(
        st.sampled_from(HEADERS), st.sampled_from([*ODD_TEXT, "Bearer x", "http://evil"])
    )
    drawn = st.tuples(MESSAGES, st.lists(header, max_size=4), st.sampled_from(PATHS))
    async with serving(judge) as (_, port, _):
        for message, headers, path in examples(drawn, count, seed):
            judge.count("rounds: requests over HTTP")
            known = random.random() < 0.5
            method = random.choice(["POST", "POST", "GET", "DELETE", "OPTIONS", "PUT", "\0"])
            data = _http(method, path, headers, json.dumps(message).encode(), port, known=known)
            answer = await _sent(port, data, hangs_up=random.random() < 0.2)
            _look(judge, answer, f"seed {seed}: {data[:600]!r}", path, known=known)
        await healthy(judge, port, f"requests, seed {seed}")


async def slow(judge: Judge, seed: int, count: int) -> None:
    """Open connections that never finish what they say, or never read; whoever has the token is served."""
    random = Random(seed)
    async with serving(judge) as (_, port, _), contextlib.AsyncExitStack() as stack:
        for _ in range(count):
            judge.count("rounds: slow clients")
            part = random.choice(
                [b"", b"G", b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n"]
            )
            if random.random() < 0.3:
                part = _http("GET", "/sse", [], b"", port, known=True)
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                stack.callback(writer.close)
                writer.write(part)
        await healthy(judge, port, f"{count} slow clients, seed {seed}")


def _http(
    method: str,
    path: str,
    headers: Sequence[tuple[str, str]],
    body: bytes,
    port: int,
    *,
    known: bool,
) -> bytes:
    given = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Content-Length": str(len(body)),
        **({"Authorization": f"Bearer {TOKEN}"} if known else {}),
    }
    lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in [*given.items(), *headers])]
    return "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n" + body


async def _sent(port: int, data: bytes, *, hangs_up: bool = False) -> bytes:
    """Send bytes, and return the beginning of what is answered, if anything is within a second."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError as error:
        return f"refused: {error}".encode()
    try:
        with contextlib.suppress(ConnectionError, TimeoutError):
            writer.write(data)
            await writer.drain()
            if not hangs_up:
                async with asyncio.timeout(SILENCE_SECONDS):
                    return await reader.read(4096)
        return b""
    finally:
        writer.close()


def _look(judge: Judge, answer: bytes, doing: str, path: str, *, known: bool) -> None:
    judge.count("calls")
    status = re.match(rb"HTTP/1.1 (\d+)", answer)
    code = int(status[1]) if status else 0
    if code >= 500:
        judge.fault("internal errors", f"status {code}: {doing}")
    if 200 <= code < 300 and not known and path not in OPEN_PATHS and TOKEN not in doing:
        judge.fault("foreign connections", f"let in without a token: {answer[:200]!r} {doing}")


async def healthy(judge: Judge, port: int, doing: str) -> None:
    """Ask as a client does that has the token; it is answered."""
    about: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": {}}
    params = {**about, "clientInfo": {"name": "h", "version": "1"}}
    message: Json = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    data = _http("POST", "/mcp", [], json.dumps(message).encode(), port, known=True)
    try:
        async with asyncio.timeout(SLACK):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(data)
            answer = await reader.readuntil(b"serverInfo")
            writer.close()
            assert b" 200 " in answer
    except (TimeoutError, OSError, asyncio.IncompleteReadError, AssertionError) as error:
        judge.hang(f"a client with the token: {error!r}: {doing}", SLACK)


@asynccontextmanager
async def serving(judge: Judge) -> AsyncGenerator[tuple[Process, int, Place]]:
    """Serve over HTTP, and judge the end of it; give the process, the port and the folders."""
    async with place() as where:
        process, port = await served_over_http(where)
        assert process.stdin
        files = _files(process.pid)
        try:
            yield process, port, where
        finally:
            if process.returncode is not None:
                judge.fault("deaths", where.log.read_text(errors="replace")[-3000:])
            else:
                await _calm(judge, process.pid, files, port)
            process.stdin.close()
            try:
                async with asyncio.timeout(AFTERWARDS):
                    await process.wait()
            except TimeoutError:
                judge.hang("the end of stdin", AFTERWARDS)
                process.kill()
                await process.wait()
            judge.log(where.log.read_text(encoding="utf-8", errors="replace"))


async def _calm(judge: Judge, pid: int, files: int, port: int) -> None:
    """Look whether connections that have ended are let go of; each answer lets the server's loop turn."""
    more = 0
    for _ in range(60):
        await _sent(
            port, _http("GET", "/health", [("Connection", "close")], b"", port, known=False)
        )
        more = _files(pid) - files
        if more <= SPARE:
            return
    judge.fault("leaks", f"{more} more files than at the start, over HTTP")


SPARE = 4
"""Files that a server may have more than at the start: the connection by which it is asked, and what it has loaded."""


def _files(pid: int) -> int:
    return len(entries(Path(f"/proc/{pid}/fd")))
