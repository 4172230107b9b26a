"""A server with a few small tools that need no debug session, and clients for it.

`python -m tests.mcp.small` is `dapeer stdio` with these tools instead of ours.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client import ClientExtension
from mcp.client.session import IncomingMessage
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent
from typing_extensions import TypedDict

from dapeer.adapters.definition.definition import load_all, shipped, user_folder
from dapeer.base.errors import NotStopped
from dapeer.mcp.server.server import ALL, SECONDS_OF_SILENCE, DapeerServer, make_server
from dapeer.mcp.server.toolbox import Selection
from dapeer.mcp.serving import ServerOptions, serve_stdio
from dapeer.mcp.transports import http
from dapeer.mcp.transports.http_access import rules_for
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.tool import Tool, tool
from tests.processes import LIMIT
from tests.programs import ROOT

LEGACY = "legacy"
MODERN = "2026-07-28"
ERAS = (LEGACY, MODERN)
TRANSPORTS = ("stdio", "http", "sse")

TOKEN = "a-token-of-a-test"

waiting: dict[str, asyncio.Event] = {}
cancelled: dict[str, asyncio.Event] = {}


def event_of(events: dict[str, asyncio.Event], tag: str) -> asyncio.Event:
    return events.setdefault(tag, asyncio.Event())


class Sum(TypedDict):
    """The data of small_add."""

    sum: int


@tool("Add", read_only=True, output=Sum)
async def small_add(call: Call, a: int, b: int = 1) -> Reply:
    """Add two numbers."""
    del call
    return Reply(str(a + b), {"sum": a + b})


@tool("Wait", read_only=True)
async def small_wait(call: Call, tag: str) -> Reply:
    """Wait until somebody cancels this."""
    del call
    event_of(waiting, tag).set()
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        event_of(cancelled, tag).set()
        raise
    return Reply("never")


@tool("Waiting", read_only=True)
async def small_waiting(call: Call, tag: str) -> Reply:
    """Return once small_wait waits."""
    del call
    await event_of(waiting, tag).wait()
    return Reply("it waits")


@tool("Cancelled", read_only=True)
async def small_cancelled(call: Call, tag: str) -> Reply:
    """Return once small_wait has been cancelled."""
    del call
    await event_of(cancelled, tag).wait()
    return Reply("it was cancelled")


@tool("Tell")
async def small_tell(call: Call, texts: list[str]) -> Reply:
    """Tell that much as progress."""
    for text in texts:
        await call.progress(text)
    return Reply("told")


@tool("Fail", destructive=True)
async def small_fail(call: Call, how: Literal["expected", "unexpected"]) -> Reply:
    """Fail."""
    del call
    if how == "expected":
        raise NotStopped("The program runs.", "Call dap_pause first.")
    raise KeyError("a secret")


@tool("Print", idempotent=True)
async def small_print(call: Call) -> Reply:
    """Print what is no protocol, here and in a child."""
    del call
    print("not protocol", flush=True)  # noqa: T201 - that is the point
    script = "import sys; print('not protocol either'); print(repr(sys.stdin.read()))"
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", script)
    return Reply(f"the child ended with {await child.wait()}")


SMALL: tuple[Tool, ...] = (
    small_wait, small_waiting, small_cancelled, small_tell, small_add, small_fail, small_print,
)  # fmt: skip


def text(result: CallToolResult) -> str:
    """Return the text of a result."""
    return "\n".join(item.text for item in result.content if isinstance(item, TextContent))


@asynccontextmanager
async def in_memory(
    tools: Iterable[Tool] = SMALL,
    *,
    heartbeat: float = SECONDS_OF_SILENCE,
    selection: Selection = ALL,
) -> AsyncGenerator[DapeerServer]:
    """Give a server of a debugger of its own."""
    async with Debugger(load_all(shipped(), user_folder()), ROOT) as debugger:
        yield make_server(debugger, tools, heartbeat=heartbeat, selection=selection)


@asynccontextmanager
async def over_http(
    tools: Iterable[Tool] = SMALL,
    *,
    token: str | None = TOKEN,
    heartbeat: float = SECONDS_OF_SILENCE,
) -> AsyncGenerator[tuple[DapeerServer, str]]:
    """Give a server and the address at which it serves HTTP."""
    async with in_memory(tools, heartbeat=heartbeat) as server:
        with http.bind("127.0.0.1", 0) as bound:
            url = f"http://127.0.0.1:{bound.getsockname()[1]}"
            async with http.serve(server, bound, rules_for("127.0.0.1", token)):
                yield server, url


def http_client(token: str | None = TOKEN) -> httpx2.AsyncClient:
    """Return a client that shows the token."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx2.AsyncClient(headers=headers, timeout=LIMIT)


@asynccontextmanager
async def streamable(url: str, token: str | None = TOKEN) -> AsyncGenerator[Any]:
    """Connect by Streamable HTTP."""
    async with (
        http_client(token) as web,
        streamable_http_client(f"{url}/mcp", http_client=web) as streams,
    ):
        yield streams


@asynccontextmanager
async def sse(url: str, token: str | None = TOKEN) -> AsyncGenerator[Any]:
    """Connect by the older SSE transport."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with sse_client(f"{url}/sse", headers=headers) as (incoming, outgoing):
        # When something arrives while the client leaves, the SDK's reader fails for want of a receiver.
        yield incoming.clone(), outgoing


def command(*arguments: str) -> StdioServerParameters:
    """Return how to start a server process of this test."""
    return StdioServerParameters(
        command=sys.executable, args=["-m", *arguments], cwd=ROOT, env=dict(os.environ)
    )


@asynccontextmanager
async def connected(
    transport: str,
    era: str,
    hear: Callable[[IncomingMessage], None] | None = None,
    *,
    tools: Iterable[Tool] = SMALL,
    extensions: Sequence[ClientExtension] = (),
) -> AsyncGenerator[Client]:
    """Give a client of a server of its own: over this transport, in this era of the protocol."""
    kind = partial(Client, mode=era, extensions=extensions)

    async def handle(message: IncomingMessage) -> None:
        if hear is not None:
            hear(message)

    if transport == "stdio":
        server = command("tests.mcp.small") if tools is SMALL else command("dapeer", "stdio")
        async with kind(server, message_handler=handle) as client:
            yield client
        return
    async with over_http(tools) as (_, url):
        streams = streamable(url) if transport == "http" else sse(url)
        async with kind(streams, message_handler=handle) as client:
            yield client


def run(*arguments: str, given: str = "", cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run `dapeer` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "dapeer", *arguments],
        input=given,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        cwd=cwd,
    )


if __name__ == "__main__":
    asyncio.run(serve_stdio(ServerOptions(tools=SMALL)))
