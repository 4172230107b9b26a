"""The server on a unix socket, for the bridges of its project's, or its Neovim's, other clients."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import anyio

from dapeer.base.errors import ForeignListener
from dapeer.base.system.folder_names import make_private
from dapeer.base.system.ownership import check_peer
from dapeer.base.system.threads import SEES_HALVES, Clients
from dapeer.mcp.rendezvous import knocks
from dapeer.mcp.rendezvous.announcement import (
    LONGEST_PATH,
    announce,
    runtime_folder,
    sweep_leftovers,
)
from dapeer.mcp.rendezvous.reaching import GREETING
from dapeer.mcp.server.server import DapeerServer
from dapeer.mcp.transports import jsonl

log = logging.getLogger(__name__)

LONGEST_TEMPORARY_FOLDER = 80
"""Bytes of the path of the folder for temporary files, so that a socket below it has a name."""
SHORT_FOLDER = "/tmp"  # noqa: S108 - a folder that only the owner can enter is made in it


class SocketClients:
    """The clients at a socket."""

    def __init__(self) -> None:
        self.count = 0
        self._none_left_event = anyio.Event()
        self._listeners: list[Callable[[], None]] = []

    @contextmanager
    def count_one(self) -> Generator[None]:
        """Count one client more while the body runs, and call the listeners at its beginning and end.

        At the end, `wait_until_gone` is woken; it waits on if other clients are left.
        """
        self.count += 1
        self._notify()
        try:
            yield
        finally:
            self.count -= 1
            self._none_left_event.set()
            self._notify()

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever one has come or left."""
        self._listeners.append(listener)

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()

    async def wait_until_gone(self) -> None:
        """Wait until no client is there, without a limit; return at once if there is none."""
        while self.count:
            self._none_left_event = anyio.Event()
            await self._none_left_event.wait()


@asynccontextmanager
async def serve(
    server: DapeerServer,
    nvim: str | None = None,
    *,
    url: str = "",
    token: str = "",
    detached: bool = False,
    watching: Clients | None = None,
) -> AsyncGenerator[SocketClients]:
    """Serve bridges at a new unix socket while the body runs, and announce it; yield the clients there.

    A bridge is a process that carries the lines of another client of the project. Once the socket is
    announced, processes that wait for a server are woken up. If there can be no socket, a warning is
    logged, and the body runs without. Afterwards clients that are still there are disconnected, and socket
    and announcement are removed. `nvim` is the Neovim that the server was started for: an address, `auto`,
    or None. `url` and `token` are those of its HTTP clients, empty if it serves none. `detached` announces
    that the server outlives its clients. Clients here are added to `watching`, which ends this process some
    seconds after the last client has left, whatever hangs; None: they are added to nothing.
    """
    guests = SocketClients()
    async with anyio.create_task_group() as clients, AsyncExitStack() as stack:

        async def serve_client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with guests.count_one():
                await _serve_client(server, reader, writer, watching)

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            clients.start_soon(serve_client, reader, writer)

        try:
            with sweep_leftovers(make_private(runtime_folder())):
                path = stack.enter_context(_socket_path())
                listener = await asyncio.start_unix_server(
                    connected, path, limit=jsonl.LONGEST_LINE
                )
                path.chmod(0o600)
                await stack.enter_async_context(listener)
                first = stack.enter_context(
                    announce(
                        server.debugger.project, path, nvim, url=url, token=token, detached=detached
                    )
                )
        except OSError as error:
            log.warning("other clients of this project do not find this server: %s", error)
        else:
            if not first:
                log.info("another server has announced itself for this project")
            knocks.knock(knocks.FOR_CORES)
        yield guests
        clients.cancel_scope.cancel()


async def _serve_client(
    server: DapeerServer,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    watching: Clients | None,
) -> None:
    """Greet a client and serve it until it disconnects, then close the connection.

    A client of another user is disconnected at once, without the greeting. `watching` counts the client among
    those of the process; None: nobody counts. A connection that breaks raises nothing, nor does one that is
    closed because no descriptor is free.
    """
    # An error of one client must not affect the others.
    with contextlib.closing(writer), contextlib.suppress(OSError, ForeignListener):
        # Before its mode was set, the folder may have been open to other users.
        connection = writer.get_extra_info("socket")
        check_peer(connection, "the other end of our socket")
        if watching is not None and SEES_HALVES:
            watching.watch(os.dup(connection.fileno()))
        writer.write(GREETING)
        await jsonl.serve(server, reader, writer)


@contextmanager
def _socket_path() -> Generator[Path]:
    """Yield a path for the server's socket, in a folder that other users cannot open.

    The path has this process's number, in the runtime folder, which the caller must have made. If that path
    is too long for a socket, the path is in a new folder for temporary files. After the body, the socket and
    such a new folder are removed.

    Raises:
        OSError: No temporary folder can be made.
    """
    path = runtime_folder() / f"{os.getpid()}.sock"
    if len(os.fsencode(path)) <= LONGEST_PATH:
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)
    else:
        # That of `$TMPDIR` may be as long.
        usual = Path(tempfile.gettempdir())
        is_short = len(os.fsencode(usual)) <= LONGEST_TEMPORARY_FOLDER
        with tempfile.TemporaryDirectory(
            prefix="dapeer-", dir=usual if is_short else SHORT_FOLDER
        ) as folder:
            yield Path(folder) / "sock"
