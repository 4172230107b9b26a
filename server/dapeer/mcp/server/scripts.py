"""Scripts as clients: each is served at a socket of its own, in the name of the client that runs it."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Final, Protocol

import mcp.types as t
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from dapeer.tools.base.call import ScriptClient

SCRIPT: Final[ContextVar[ScriptClient | None]] = ContextVar("script", default=None)
"""The script whose requests are being answered; None: the requests are another client's.

All tasks that answer a connection are begun by the one that serves it, so they inherit this.
"""


class ServeSocket(Protocol):
    """Serves one client at a socket, and closes that."""

    async def __call__(self, server: Server[Any], connection: socket.socket, /) -> None:
        """Return when the client has disconnected."""
        ...


async def serve_script(
    serve: Callable[[socket.socket], Awaitable[None]],
    connection: socket.socket,
    script: ScriptClient,
) -> None:
    """Serve a script at a socket until it disconnects; its calls act on the script's own default session.

    `serve` serves any client at a socket.
    """
    SCRIPT.set(script)
    await serve(connection)


class KeepParams(t.NotificationParams):
    """Which session a script keeps."""

    session_id: int


async def keep_session(_context: ServerRequestContext[Any, Any], params: KeepParams) -> None:
    """Note, for a script that sends this notification, that one of its sessions is to outlive it.

    From other clients it is ignored.
    """
    if (script := SCRIPT.get()) is not None:
        script.kept.add(params.session_id)
