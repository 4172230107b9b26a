"""MCP over this process's stdin and stdout."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from dapeer.mcp.front import Front, can_serve
from dapeer.mcp.transports import jsonl

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def serve(server: Server[Any], front: Front | None = None) -> None:
    """Serve the client at stdin and stdout until stdin ends.

    `front` is what has answered the client up to now; it is ended here. None: nothing has answered yet. On pipes,
    sockets and terminals no threads are used, so a signal ends the process also while nothing arrives; afterwards
    descriptor 0 is empty, and 1 is stderr. Where these cannot be waited for (files, null devices, Windows) or stderr
    is closed, the SDK's server is used, and a `front` would not be ended.
    """
    if can_serve():
        handover = front.hand_over() if front else jsonl.NOBODY
        async with _taken_stdio() as (reader, writer):
            await jsonl.serve(server, reader, writer, handover)
    else:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


@asynccontextmanager
async def _taken_stdio() -> AsyncGenerator[Streams]:
    """Take stdin and stdout for the protocol alone while the body runs; yield them as streams.

    From then on descriptor 0 reads nothing and 1 is stderr: a print, or a child that inherits them, cannot get
    between two messages. Both stay so after the body, and after an error; then only the duplicates that served
    as streams are closed, and stdin and stdout block again if they did before.

    Raises:
        ValueError: stdin or stdout is no pipe, socket or terminal, but for instance a file.
        OSError: A descriptor is not open, or cannot be duplicated.
    """
    incoming, outgoing = os.dup(0), os.dup(1)
    blocking = [(fd, os.get_blocking(fd)) for fd in (incoming, outgoing)]
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    shared = _is_one_socket(incoming, outgoing)
    try:
        async with _socket(incoming) if shared else _pipes(incoming, outgoing) as streams:
            yield streams
    finally:
        # A terminal is shared with the shell, which reads nothing from one that does not block.
        for fd, value in blocking:
            os.set_blocking(fd, value)
            os.close(fd)


def _is_one_socket(incoming: int, outgoing: int) -> bool:
    """Whether two file descriptors are of the same socket."""
    status = os.fstat(incoming)
    return stat.S_ISSOCK(status.st_mode) and os.path.samestat(status, os.fstat(outgoing))


@asynccontextmanager
async def _socket(fd: int) -> AsyncGenerator[Streams]:
    """Yield the streams of a socket that is used in both directions, as sshd and inetd start a program.

    `fd` stays open; the streams use a duplicate, which is closed afterwards. For the writer of a pipe, data that arrives would look like
    the end of its reader.
    """
    both = socket.socket(fileno=os.dup(fd))
    reader, writer = await asyncio.open_connection(sock=both, limit=jsonl.LONGEST_LINE)
    with contextlib.closing(writer):
        yield reader, writer


@asynccontextmanager
async def _pipes(incoming: int, outgoing: int) -> AsyncGenerator[Streams]:
    """Yield the streams of two pipes, or of a terminal: a reader and a writer; close them afterwards.

    `incoming` is read, `outgoing` is written. The streams use duplicates, so the given file descriptors stay open, but
    they do not block any more, also afterwards: the caller has to restore that.

    Raises:
        ValueError: A descriptor is no pipe, socket or terminal, but for instance a file.
        OSError: A descriptor is not open, or cannot be duplicated.
    """
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=jsonl.LONGEST_LINE)
    reading, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(incoming), "rb", 0)
    )
    # Nothing arrives there; of the protocol's reader only the end is used, which a writer that drains waits for.
    writing, flow = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()),
        os.fdopen(os.dup(outgoing), "wb", 0),
    )
    with contextlib.closing(reading), contextlib.closing(writing):
        yield reader, asyncio.StreamWriter(writing, flow, None, loop)
