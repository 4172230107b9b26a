"""MCP over HTTP on one socket: Streamable HTTP, the older SSE transport, `/health`, a person's page."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Final

from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import dapeer
from dapeer.base.errors import ArgumentError
from dapeer.mcp.server.calls import Calls, Presence
from dapeer.mcp.server.server import DapeerServer
from dapeer.mcp.transports import connections
from dapeer.mcp.transports.guard import Arrival, Guard, Rules

SESSION_HEADER: Final = b"mcp-session-id"
PAGE: Final = Path(__file__).with_name("live")
PAGE_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def bind(host: str, port: int) -> socket.socket:
    """Return a TCP socket that is bound to a host and port; port 0 takes any free one.

    Raises:
        ArgumentError: The host is not an address of this machine, or the port is in use.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only on sockets that say they are TCP; without that, every
    # second answer waits 40 ms for a delayed acknowledgement.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except (OSError, OverflowError) as error:
        bound.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise ArgumentError(
            f"Cannot listen on {host} port {port}: {reason}.",
            "Choose another with --port, or --port 0 for any free one.",
        ) from error
    return bound


@asynccontextmanager
async def serve(server: DapeerServer, bound: socket.socket, rules: Rules) -> AsyncGenerator[None]:
    """Serve MCP over HTTP on a bound socket while the body runs, which begins once clients can connect.

    At the end the open streams and running calls end first, so that their clients learn it.
    """
    sessions = StreamableHTTPSessionManager(server)
    posts = Calls()
    guard = Guard(Arrival(_application(server, sessions, posts)), rules)
    async with connections.serve_application(guard, bound), sessions.run():
        try:
            yield
        finally:
            guard.close()
            server.close_streams()
            # What has an answer by now gets it before its stream ends.
            await posts.wait_for_none()


@asynccontextmanager
async def serve_page(
    server: DapeerServer, bound: socket.socket, rules: Rules
) -> AsyncGenerator[None]:
    """Serve the page for a person, and nothing else, on a bound socket while the body runs."""
    guard = Guard(Starlette(routes=_page(server)), rules)
    async with connections.serve_application(guard, bound):
        try:
            yield
        finally:
            guard.close()
            server.close_streams()


def _application(
    server: DapeerServer, sessions: StreamableHTTPSessionManager, posts: Calls
) -> ASGIApp:
    """Return the ASGI application with all routes: both transports, `/health` and a person's page.

    `posts` counts the POST requests that are being answered.
    """
    streamable = StreamableEndpoint(server, sessions, posts)
    older = SseServerTransport("/messages")

    async def health(_request: Request) -> JSONResponse:
        """Answer that the server is alive, with its version and the number of sessions."""
        return JSONResponse(
            {
                "status": "ok",
                "version": dapeer.__version__,
                "sessions": len(server.debugger.sessions),
            }
        )

    return Starlette(
        routes=[
            Route("/mcp", endpoint=streamable),
            Route("/", endpoint=streamable),
            Route("/sse", endpoint=SseEndpoint(server, older), methods=["GET"]),
            Route("/messages", endpoint=MessagesEndpoint(older), methods=["POST"]),
            Route("/health", endpoint=health, methods=["GET"]),
            *_page(server),
        ]
    )


def _page(server: DapeerServer) -> list[Route]:
    """Return the routes of the page for a person, with its rows as a stream of JSON lines."""

    async def rows(_request: Request) -> StreamingResponse:
        headers = {**PAGE_HEADERS, "Cache-Control": "no-store"}
        return StreamingResponse(server.live.pictures(), 200, headers, "application/x-ndjson")

    return [
        Route("/live", endpoint=_page_part("page.html"), methods=["GET"]),
        Route("/live/page.js", endpoint=_page_part("page.js"), methods=["GET"]),
        Route("/live/page.css", endpoint=_page_part("page.css"), methods=["GET"]),
        Route("/live/rows", endpoint=rows, methods=["GET"]),
    ]


def _page_part(name: str) -> Callable[[Request], Awaitable[FileResponse]]:
    """Return an endpoint that answers with a file of the page; the file tells nothing of any program."""

    async def answer(_request: Request) -> FileResponse:
        return FileResponse(PAGE / name, headers=PAGE_HEADERS)

    return answer


# Starlette takes an instance, unlike a function, for an ASGI application and leaves the answer to it.


class StreamableEndpoint:
    """Streamable HTTP; notices when a client opens its stream for changes, and when it hangs up."""

    def __init__(
        self, server: DapeerServer, sessions: StreamableHTTPSessionManager, posts: Calls
    ) -> None:
        self._hub = server.hub
        self._sessions = sessions
        self._posts = posts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request by the SDK, and note when its client hangs up, or opens its stream.

        A client with a new stream gets the notifications that it has missed.
        """
        session = dict(scope["headers"]).get(SESSION_HEADER, b"").decode("latin-1")

        async def watch(message: Message) -> None:
            """Send a message; when it begins the stream for changes, repeat what the client has missed."""
            await send(message)
            if message["type"] == "http.response.start" and message["status"] == 200:
                self._hub.repeat_missed(session)

        presence = Presence(scope)

        async def attend() -> Message:
            """Return the next message from the client, and note if the client has disconnected."""
            message = await receive()
            if message["type"] == "http.disconnect":
                presence.leave()
            return message

        opens = scope["method"] == "GET" and session
        with self._posts.count_one() if scope["method"] == "POST" else nullcontext():
            await self._sessions.handle_request(scope, attend, watch if opens else send)


class SseEndpoint:
    """The stream of the transport that came before Streamable HTTP: one connection a client."""

    def __init__(self, server: DapeerServer, transport: SseServerTransport) -> None:
        self._server = server
        self._transport = transport

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one client until its stream ends."""
        async with self._transport.connect_sse(scope, receive, send) as (incoming, outgoing):
            options = self._server.create_initialization_options()
            await self._server.run(incoming, outgoing, options)


class MessagesEndpoint:
    """Where the clients of `SseEndpoint` post to."""

    def __init__(self, transport: SseServerTransport) -> None:
        self._transport = transport

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one message."""
        await self._transport.handle_post_message(scope, receive, send)
