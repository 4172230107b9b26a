"""Newline-delimited JSON-RPC over a pair of asyncio streams: a pipe's or a unix socket's."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types as t
from mcp.server import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json

from dapeer.base.json_types import as_object
from dapeer.mcp.front.front import Heard
from dapeer.mcp.transports.replay import Replay, news

NOBODY: Final = Heard((), b"", left=False)
"""A client that has sent nothing yet."""

LONGEST_LINE: Final = 64 << 20
"""Bytes of the longest message that is read; the limit to give an `asyncio.StreamReader`."""

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

Incoming = SessionMessage | Exception


async def serve(
    server: Server[Any],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    heard: Heard = NOBODY,
) -> None:
    """Serve one client until it disconnects; its running calls are then cancelled.

    `heard`: what it has sent before, and which answers it has.
    """
    async with _streams(reader, writer, heard) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


@asynccontextmanager
async def _streams(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, heard: Heard
) -> AsyncGenerator[
    tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]
]:
    """Turn lines into the SDK's messages, and its messages into lines."""
    received, incoming = anyio.create_memory_object_stream[Incoming]()
    outgoing, to_send = anyio.create_memory_object_stream[SessionMessage]()

    replay = Replay(received)

    async def read() -> None:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            async with received:
                await _repeat(heard, replay, writer)
                async for line in _lines(reader, heard):
                    if isinstance(message := parse(line), Complaint):
                        await _write(writer, message.error)
                    elif message is not None:
                        await received.send(SessionMessage(message))

    async def write() -> None:
        async with to_send:
            async for message in to_send:
                if not replay.takes(message.message):
                    await _write(writer, message.message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        yield incoming, outgoing
        tasks.cancel_scope.cancel()


async def _repeat(heard: Heard, replay: Replay, writer: asyncio.StreamWriter) -> None:
    """Tell the server what its client has said already, and the client which answers have changed."""
    changed: dict[str, None] = {}
    for line, told in heard.answered:
        message = parse(line)
        if message is None or isinstance(message, Complaint):
            continue
        answer = await replay.tell(message)
        if isinstance(message, t.JSONRPCRequest) and answer and encoded(answer) + b"\n" != told:
            changed[message.method] = None
    for message in news(changed):
        await _write(writer, message)


async def _lines(reader: asyncio.StreamReader, heard: Heard) -> AsyncGenerator[bytes]:
    """Yield the lines that were not answered yet, until the client has left."""
    *whole, begun = heard.rest.split(b"\n")
    for line in whole:
        yield line
    if not heard.left:
        while (line := await _line(reader)) is not None:
            yield begun + line
            begun = b""
    if begun:
        yield begun


async def _line(reader: asyncio.StreamReader) -> bytes | None:
    """Return the next line, None at the end; a line that is too long becomes an invalid one."""
    try:
        return await reader.readline() or None
    except ValueError:
        return b"(a line that is too long)"
    except ConnectionError:
        return None


async def _write(writer: asyncio.StreamWriter, message: t.JSONRPCMessage) -> None:
    line = encoded(message) + b"\n"
    # The reader notices a disconnected client.
    with suppress(ConnectionError, RuntimeError):
        writer.write(line)
        await writer.drain()


@dataclass(frozen=True, slots=True)
class Complaint:
    """The response to an invalid message."""

    error: t.JSONRPCError


def parse(line: bytes) -> t.JSONRPCMessage | Complaint | None:
    """Return the message of a line, None for a blank one, the error for an invalid one."""
    if not line.strip():
        return None
    try:
        message = t.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _complaint(line)
    # The SDK takes a request with an invalid id for a notification, and never answers it.
    if isinstance(message, t.JSONRPCNotification) and "id" in from_json(line):
        return _error(None, t.INVALID_REQUEST, "The `id` of a request is a string or an integer.")
    return message


def encoded(message: t.JSONRPCMessage) -> bytes:
    """Return the JSON of a message."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except PydanticSerializationError:
        # The text contains invalid bytes: one answer must not end the connection.
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True)).encode()


def _complaint(line: bytes) -> Complaint:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return _error(
            None, t.PARSE_ERROR, "This is not JSON. Send one message, on a line of its own."
        )
    known = _id_of(value)
    if _SURROGATE.search(line) and not _is_text(value):
        return _error(
            known,
            t.INVALID_REQUEST,
            r"A string in this message holds half of a surrogate pair (`\ud800` to `\udfff`), which is not a "
            "character. Send both halves, or none.",
        )
    return _error(known, t.INVALID_REQUEST, "This is JSON, but not a JSON-RPC 2.0 message.")


def _id_of(value: object) -> int | str | None:
    number = as_object(value).get("id")
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None


def _is_text(value: object) -> bool:
    """Whether all strings in some JSON are made of characters."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _error(number: int | str | None, code: int, message: str) -> Complaint:
    error = t.ErrorData(code=code, message=message)
    return Complaint(t.JSONRPCError(jsonrpc="2.0", id=number, error=error))
