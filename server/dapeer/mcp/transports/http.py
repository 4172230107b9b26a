"""MCP over HTTP on one socket: Streamable HTTP, the older SSE transport, `/health`, a person's page."""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Final

import anyio
import h11
import uvicorn
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

import dapeer
from dapeer.base.errors import ArgumentError
from dapeer.mcp.server.server import DapeerServer
from dapeer.mcp.server.toolbox import Calls, ClientPresence
from dapeer.mcp.transports.http_access import LET_IN, AdmissionRules, Application, Arrival, Guard

# Limits the HTTP server's connections that have not shown the token, in number and time.
#
# Every process of the machine can connect, and a web page can make a browser connect. So only few such
# connections are open at a time, each with a deadline, and they cannot keep authorized clients out. Authorized
# connections have no limits: streams stay open as long as the client wants.

log = logging.getLogger(__name__)

SECONDS_TO_BE_LET_IN: Final = 10.0
"""From the connection until a request on it was authorized; then it is closed in any case."""
SECONDS_FOR_A_HEAD: Final = 10.0
"""From the first byte of a later request until its headers are complete."""
SECONDS_OF_SILENCE: Final = 30.0
"""Between two parts of a request's body."""
SECONDS_IDLE: Final = 120
"""That a connection stays open after an answer; uvicorn's 5 make clients reconnect all the time."""

MOST_STRANGERS: Final = 128
"""Connections on which no request has been let in yet. The oldest one makes room for the next."""
SHARE_OF_STRANGERS: Final = 8
"""They hold at most one of so many file descriptors that this process may have."""

WAITING_TO_BE_ACCEPTED: Final = 1024
"""Connections in the kernel's queue."""
SECONDS_WITHOUT_DESCRIPTORS: Final = 1.0
"""After that time it retries, because no event reports a free file descriptor."""
SECONDS_FOR_NEWCOMERS: Final = 0.001
SECONDS_FOR_LAST_ANSWERS: Final = 0.2
"""That the last answers may take; a stream of the older transport never ends by itself."""
SECONDS_TO_FINISH: Final = 1.0
"""Timeout for the calls of a disconnected client."""

_OUT_OF_DESCRIPTORS: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


@asynccontextmanager
async def serve_application(application: Application, bound: socket.socket) -> AsyncGenerator[None]:
    """Serve an ASGI application on a bound socket while the body runs; then finish or end its requests.

    After the body, requests under way have `SECONDS_FOR_LAST_ANSWERS` to be answered; then all connections
    are closed, and requests that still run after `SECONDS_TO_FINISH` more are cancelled. Connections are
    accepted until that is done. The application gets no lifespan events.

    uvicorn's own server is not used: it wakes up ten times a second, and asyncio, which accepts for it,
    logs without limit when there are no file descriptors left. Closing the socket is left to the caller.

    Raises:
        OSError: The socket cannot listen; the body was not run.
        ExceptionGroup: The body raised; the group has its error.
    """
    config = _config(application)
    state, strangers = ServerState(), UnadmittedConnections(_max_unadmitted())
    state.default_headers = config.encoded_headers
    bound.setblocking(False)  # noqa: FBT003 - its one argument
    bound.listen(WAITING_TO_BE_ACCEPTED)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(
            _accept, bound, lambda: HttpConnection(config, state, strangers), strangers
        )
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await _finish(state)
            tasks.cancel_scope.cancel()


def _config(application: Application) -> uvicorn.Config:
    """Return uvicorn's configuration for an ASGI application, loaded.

    The server speaks HTTP/1.1 by h11, without websockets, lifespan events, logs of its own, and the headers
    `Server` and `Date`. A connection stays open for `SECONDS_IDLE` after an answer.
    """
    config = uvicorn.Config(
        application,
        lifespan="off",
        # httptools leaves blanks around header values, which MCP 2026-07-28 forbids.
        http="h11",
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        timeout_keep_alive=SECONDS_IDLE,
    )
    config.load()
    return config


def _max_unadmitted() -> int:
    """Return how many connections may be open at a time on which no request was authorized yet."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return MOST_STRANGERS
    return max(1, min(MOST_STRANGERS, allowed // SHARE_OF_STRANGERS))


async def _accept(
    bound: socket.socket, connect: Callable[[], HttpConnection], unadmitted: UnadmittedConnections
) -> None:
    """Accept one connection after the other, and have the event loop serve each, until cancelled.

    `connect` makes the protocol of a new connection. Errors of the system are not raised: after each it pauses for
    `SECONDS_FOR_NEWCOMERS`, and tries again. Without free file descriptors the oldest of the `unadmitted`, connections
    on which no request was authorized yet, is closed after that pause; if there is none to close, it waits for another
    `SECONDS_WITHOUT_DESCRIPTORS` before each try, and logs a warning once until a connection is accepted again.
    """
    loop = asyncio.get_running_loop()
    is_reported = False
    while True:
        try:
            accepted, _ = await loop.sock_accept(bound)
            await loop.connect_accepted_socket(connect, accepted)
        except OSError as error:
            # A connection that was just accepted may be about to show the token.
            await anyio.sleep(SECONDS_FOR_NEWCOMERS)
            if error.errno not in _OUT_OF_DESCRIPTORS or unadmitted.close_oldest():
                continue
            if not is_reported:
                log.warning("new connections have to wait: %s", error.strerror)
            is_reported = True
            await anyio.sleep(SECONDS_WITHOUT_DESCRIPTORS)
        else:
            is_reported = False


async def _finish(state: ServerState) -> None:
    """Wait a moment for answers that are under way, then close all connections.

    Requests that still run a second later are cancelled; nobody waits for the end of these.
    """
    await _wait_for_tasks(state.tasks, SECONDS_FOR_LAST_ANSWERS)
    for connection in list(state.connections):
        connection.transport.close()
    for task in await _wait_for_tasks(state.tasks, SECONDS_TO_FINISH):
        task.cancel()


async def _wait_for_tasks(
    tasks: set[asyncio.Task[None]], seconds: float
) -> set[asyncio.Task[None]]:
    """Wait until tasks have ended, for at most `seconds`; return those that have not."""
    return (await asyncio.wait(tasks, timeout=seconds))[1] if tasks else set()


class UnadmittedConnections:
    """The connections on which no request has been let in yet, oldest first."""

    def __init__(self, max_waiting: int) -> None:
        self._max_waiting = max_waiting
        self._waiting_connections: dict[HttpConnection, None] = {}

    def add(self, connection: HttpConnection) -> None:
        """Add a new connection; if there is no room, the oldest is closed."""
        if len(self._waiting_connections) >= self._max_waiting:
            self.close_oldest()
        self._waiting_connections[connection] = None

    def remove(self, connection: HttpConnection) -> None:
        """Forget a connection that is authorized or closed."""
        self._waiting_connections.pop(connection, None)

    def close_oldest(self) -> bool:
        """Close the connection that has waited longest; return whether there was any."""
        for oldest in self._waiting_connections:
            oldest.hang_up()
            self.remove(oldest)
            return True
        return False


class HttpConnection(H11Protocol):
    """One connection: a stranger's until a request on it has been let in."""

    def __init__(
        self, config: uvicorn.Config, state: ServerState, strangers: UnadmittedConnections
    ) -> None:
        # uvicorn hands a copy of the last one to every request, as `state` of its ASGI scope.
        super().__init__(config, state, {LET_IN: self.let_in})
        self._strangers = strangers
        self._is_stranger = True
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the new connection as a stranger's, which is closed unless a request is authorized in time."""
        super().connection_made(transport)
        self._hang_up_in(SECONDS_TO_BE_LET_IN)
        self._strangers.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection and its deadline, as it has ended."""
        super().connection_lost(exc)
        self._strangers.remove(self)
        self._cancel_deadline()

    def data_received(self, data: bytes) -> None:
        """Take bytes of the client; after the first authorized request, set the deadline for the next request."""
        super().data_received(data)
        if not self._is_stranger:
            self._update_deadline()

    def let_in(self) -> None:
        """Record that a request on this connection was authorized: it need not make room for others any more.

        From then on only an incomplete request has a deadline.
        """
        if self._is_stranger:
            self._is_stranger = False
            self._strangers.remove(self)
            self._update_deadline()

    def hang_up(self) -> None:
        """Close the connection without waiting for the client to read."""
        self.transport.abort()

    def _update_deadline(self) -> None:
        """Set or cancel the deadline by which the client must have sent more of an incomplete request.

        At the deadline the connection is closed. Within a body the deadline is `SECONDS_OF_SILENCE` from now. For the
        headers it is `SECONDS_FOR_A_HEAD` from their first byte, which later bytes do not extend. Without an incomplete
        request there is no deadline: one that was set is cancelled, and the connection stays open.
        """
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._hang_up_in(SECONDS_OF_SILENCE)
        elif state is not h11.IDLE or not self.conn.trailing_data[0]:
            self._cancel_deadline()
        elif self._deadline is None:
            self._hang_up_in(SECONDS_FOR_A_HEAD)

    def _hang_up_in(self, seconds: float) -> None:
        """Set the deadline anew: the connection is closed after `seconds`."""
        self._cancel_deadline()
        self._deadline = self.loop.call_later(seconds, self.hang_up)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


SESSION_HEADER: Final = b"mcp-session-id"
PAGE: Final = Path(__file__).with_name("live")
PAGE_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def bind(host: str, port: int) -> socket.socket:
    """Return a TCP socket bound to a host and port, not listening yet; port 0 takes any free one.

    `host` is an address or a name; a name is looked up in IPv4, which may block; an empty one stands for
    all addresses. A host with a colon is an IPv6 address. Closing the socket is left to the caller.

    Raises:
        ArgumentError: The socket cannot be bound: the host cannot be looked up or is not an address of this
            machine, or the port is in use, out of range, or not allowed to this user.
        OSError: No socket can be made, for example because the system has no IPv6.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only on sockets that say they are TCP; without that, every
    # second answer waits 40 ms for a delayed acknowledgement.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    # Python itself refuses what can be no host, such as `a..b`, or a text with a NUL.
    except (OSError, OverflowError, TypeError, ValueError) as error:
        bound.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise ArgumentError(
            f"Cannot listen on {host} port {port}: {reason}.",
            "Choose another with --port, or --port 0 for any free one.",
        ) from error
    return bound


@asynccontextmanager
async def serve(
    server: DapeerServer, bound: socket.socket, rules: AdmissionRules
) -> AsyncGenerator[None]:
    """Serve MCP over HTTP on a bound socket while the body runs, which begins once clients can connect.

    `rules` say which requests are accepted. At the end new requests are refused, streams end, and running calls
    have `SECONDS_TO_ANSWER` of `toolbox` to be answered, so that clients learn it. Closing the socket is left to
    the caller.
    """
    sessions = StreamableHTTPSessionManager(server)
    posts = Calls()
    guard = Guard(Arrival(_application(server, sessions, posts)), rules)
    async with serve_application(guard, bound), sessions.run():
        try:
            yield
        finally:
            guard.close()
            server.close_streams()
            # What has an answer by now gets it before its stream ends.
            await posts.wait_for_none()


@asynccontextmanager
async def serve_page(
    server: DapeerServer, bound: socket.socket, rules: AdmissionRules
) -> AsyncGenerator[None]:
    """Serve the page for a person, and nothing else, on a bound socket while the body runs.

    `rules` say which requests are accepted. At the end all streams of the server end, those of its other clients, too. Closing the socket
    is left to the caller.
    """
    guard = Guard(Starlette(routes=_page_routes(server)), rules)
    async with serve_application(guard, bound):
        try:
            yield
        finally:
            guard.close()
            server.close_streams()


def _application(
    server: DapeerServer, sessions: StreamableHTTPSessionManager, posts: Calls
) -> ASGIApp:
    """Return the ASGI application with all routes: both transports, `/health` and a person's page.

    The transports are Streamable HTTP (`/mcp` and `/`) and the older one (`/sse` with `/messages`). `sessions` has
    the sessions of Streamable HTTP; it must run (`run`) for as long as the application serves. `posts` counts the
    POST requests of Streamable HTTP that are being answered. Tokens are not checked here.
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
            *_page_routes(server),
        ]
    )


def _page_routes(server: DapeerServer) -> list[Route]:
    """Return the routes of the page for a person: `/live`, its files, and `/live/rows`.

    The last one is a stream of JSON lines, what the page shows now and after changes, until the server ends it.
    """

    async def rows(_request: Request) -> StreamingResponse:
        headers = {**PAGE_HEADERS, "Cache-Control": "no-store"}
        return StreamingResponse(
            server.live_pages.page_lines(), 200, headers, "application/x-ndjson"
        )

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
        self._post_count = posts

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

        presence = ClientPresence(scope)

        async def attend() -> Message:
            """Return the next message from the client, and note if the client has disconnected."""
            message = await receive()
            if message["type"] == "http.disconnect":
                presence.leave()
            return message

        opens = scope["method"] == "GET" and session
        with self._post_count.count_one() if scope["method"] == "POST" else nullcontext():
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
