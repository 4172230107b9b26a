"""Newline-delimited JSON-RPC over a pair of asyncio streams: a pipe's or a unix socket's."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing, closing, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

import anyio
import mcp.types as t
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json

from dapeer.base.json_types import as_object
from dapeer.base.system.tasks import Answer
from dapeer.mcp.front import Handover, is_modern

# Repeats a front's answered requests to the server that takes over, which learns of the client so.
#
# The client sees nothing of that.

log = logging.getLogger(__name__)

_LISTS: Final = {
    "tools/list": "notifications/tools/list_changed",
    "prompts/list": "notifications/prompts/list_changed",
    "resources/list": "notifications/resources/list_changed",
}


class ReplayedAnswers:
    """Takes the answers to requests that are sent again, one after the other, out of what the client gets."""

    def __init__(self) -> None:
        self._number: t.RequestId | None = None
        self._answer: Answer[t.JSONRPCMessage] | None = None

    def expect_answer(self, request: t.JSONRPCRequest) -> Answer[t.JSONRPCMessage]:
        """Have the answer to a request kept from the client, and return what that answer will be put into.

        To be called before the request is sent to the server again; only one is awaited at a time.
        """
        self._number, self._answer = request.id, Answer[t.JSONRPCMessage]()
        return self._answer

    def take_if_awaited(self, message: t.JSONRPCMessage) -> bool:
        """Return whether a message is the awaited answer; if so, it is handed to whoever awaits it, once.

        The caller must not send it to the client then.
        """
        is_answer = isinstance(message, t.JSONRPCResponse | t.JSONRPCError)
        if self._answer is None or not is_answer or message.id != self._number:
            return False
        self._answer.give(message)
        self._answer = None
        return True


def list_change_notifications(changed: Iterable[str]) -> Iterator[t.JSONRPCNotification]:
    """Yield the notifications for a client whose requests of these methods would have other answers now.

    Only lists have notifications; for another method a warning is logged.
    """
    for method in changed:
        if notification := _LISTS.get(method):
            yield t.JSONRPCNotification(jsonrpc="2.0", method=notification)
        else:
            log.warning("the client was given another answer to `%s` than this server's", method)


NOBODY: Final = Handover((), b"", has_left=False)
"""A client that has sent nothing yet."""

LONGEST_LINE: Final = 64 << 20
"""Bytes of the longest message that is read; the limit to give an `asyncio.StreamReader`."""

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


async def serve(
    server: Server[Any],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    handover: Handover = NOBODY,
) -> None:
    """Serve the client at a pair of streams until it disconnects; its running calls are then cancelled.

    `handover` has what the client has sent before, and the answers that it has got, which it does not get again; by default nothing.
    Closing the streams is left to the caller.
    """
    replay = ReplayedAnswers()
    async with aclosing(_messages(reader, writer, handover, replay)) as messages:
        incoming, outgoing = Incoming(messages), OutgoingLines(writer, replay)
        await server.run(incoming, outgoing, server.create_initialization_options())


async def serve_socket(server: Server[Any], connection: socket.socket) -> None:
    """Serve the client at the other end of a socket until it disconnects, then close the socket."""
    reader, writer = await asyncio.open_connection(sock=connection, limit=LONGEST_LINE)
    with closing(writer):
        await serve(server, reader, writer)


class Stream:
    """What the SDK asks of a stream, besides what is read or written."""

    is_closed = False

    async def aclose(self) -> None:
        """Neither read nor write from here on."""
        self.is_closed = True

    async def __aenter__(self) -> Self:
        """Use it."""
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        """Close it."""
        await self.aclose()


class Incoming(Stream):
    """A client's messages, as the SDK reads them: by no task in between, which each message would wake."""

    def __init__(self, messages: AsyncGenerator[SessionMessage]) -> None:
        self._messages = messages

    async def receive(self) -> SessionMessage:
        """Wait for the client's next message, and return it.

        Raises:
            anyio.EndOfStream: The client has left.
        """
        try:
            return await anext(self._messages)
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    def __aiter__(self) -> Self:
        """Return itself."""
        return self

    async def __anext__(self) -> SessionMessage:
        """Return the next message."""
        return await anext(self._messages)


class OutgoingLines(Stream):
    """What the SDK writes, a line for each message."""

    def __init__(self, writer: asyncio.StreamWriter, replay: ReplayedAnswers) -> None:
        self._writer = writer
        self._replay = replay

    async def send(self, item: SessionMessage, /) -> None:
        """Write a message as a line, and wait until the client can take more.

        An answer to a repeated request is kept from the client. If the client has left, nothing is written.

        Raises:
            anyio.ClosedResourceError: The server no longer serves this client.
        """
        if self.is_closed:
            raise anyio.ClosedResourceError
        if not self._replay.take_if_awaited(item.message):
            await _write(self._writer, item.message)


async def _messages(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    handover: Handover,
    replay: ReplayedAnswers,
) -> AsyncGenerator[SessionMessage]:
    """Yield the client's messages, those before the handover first, until it has left.

    `handover` has what the client sent while the front answered in place of the server. The messages that the front
    has answered are yielded too, so that the server knows of them; `replay` keeps the server's answers from the
    client, and each is awaited before the next message. Then `writer` tells the client which lists the server
    answers otherwise than the front did. A blank line yields nothing, nor does a wrong one, which `writer` answers
    with an error.
    """
    async for message in _replayed_messages(handover, replay, writer):
        yield message
    async for line in _lines(reader, handover):
        if isinstance(message := parse_message(line), ErrorResponse):
            await _write(writer, message.error)
        elif message is not None:
            yield SessionMessage(message)


async def _replayed_messages(
    handover: Handover, replay: ReplayedAnswers, writer: asyncio.StreamWriter
) -> AsyncGenerator[SessionMessage]:
    """Yield the messages that the front has answered; then notify the client of changed answers.

    Other messages than requests and notifications are left out. After each request the server's answer is awaited,
    without a limit, before the next message: `replay` keeps that answer from the client. The notifications are for
    lists of which the server answers otherwise than the front; another changed answer is only logged. Clients since
    MCP 2026-07-28 get none.
    """
    changed: dict[str, None] = {}
    for line, sent in handover.answered_lines:
        message = parse_message(line)
        if isinstance(message, t.JSONRPCRequest):
            answer = replay.expect_answer(message)
            yield SessionMessage(message)
            if encode_message(await answer.wait()) + b"\n" != sent and not is_modern(line):
                changed[message.method] = None
        elif isinstance(message, t.JSONRPCNotification):
            yield SessionMessage(message)
    for message in list_change_notifications(changed):
        await _write(writer, message)


async def _lines(reader: asyncio.StreamReader, handover: Handover) -> AsyncGenerator[bytes]:
    """Yield the lines that were not answered before the handover, and all that follow.

    Lines of the handover come without their line ends, those read from `reader` with them; a line that is too
    long becomes an invalid one. This ends when the client has left; an incomplete last line is yielded, too.
    """
    *whole, start = handover.unanswered_bytes.split(b"\n")
    for line in whole:
        yield line
    if not handover.has_left:
        while (line := await _line(reader)) is not None:
            yield start + line
            start = b""
    if start:
        yield start


async def _line(reader: asyncio.StreamReader) -> bytes | None:
    """Wait for the next line, and return it with its line end; None: the client has left.

    It waits without a limit. A line that is too long becomes `(a line that is too long)`, which is invalid. The
    last line before the end of input may lack its line end.
    """
    try:
        return await reader.readline() or None
    except ValueError:
        return b"(a line that is too long)"
    except ConnectionError:
        return None


async def _write(writer: asyncio.StreamWriter, message: t.JSONRPCMessage) -> None:
    """Write a message as a line, and wait until the client can take more; nothing happens if it has left."""
    line = encode_message(message) + b"\n"
    # The reader notices a disconnected client.
    with suppress(ConnectionError, RuntimeError):
        writer.write(line)
        await writer.drain()


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """The response to an invalid message."""

    error: t.JSONRPCError


def parse_message(line: bytes) -> t.JSONRPCMessage | ErrorResponse | None:
    """Return the JSON-RPC message in a line; None for a blank line, an `ErrorResponse` for an invalid one.

    The error response is to be sent to the client; it has the message's id if that can be read.
    """
    if not line.strip():
        return None
    try:
        message = t.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _invalid_message_error(line)
    # The SDK takes a request with an invalid id for a notification, and never answers it.
    if isinstance(message, t.JSONRPCNotification) and "id" in from_json(line):
        return _error(None, t.INVALID_REQUEST, "The `id` of a request is a string or an integer.")
    return message


def encode_message(message: t.JSONRPCMessage) -> bytes:
    """Return a message as JSON, in ASCII if a text of it cannot be encoded otherwise."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except PydanticSerializationError:
        # The text contains invalid bytes: one answer must not end the connection.
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True)).encode()


def _invalid_message_error(line: bytes) -> ErrorResponse:
    """Return the JSON-RPC error for a line that is no valid message, with its id if that can be read.

    `PARSE_ERROR`, without an id: the line is not JSON, or is nested too deeply. Else `INVALID_REQUEST`, whose
    text says so if a string has half of a surrogate pair. That the line is invalid is left to the caller.
    """
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
    """Whether all strings in some JSON can be encoded: none has half of a surrogate pair."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _error(number: int | str | None, code: int, message: str) -> ErrorResponse:
    error = t.ErrorData(code=code, message=message)
    return ErrorResponse(t.JSONRPCError(jsonrpc="2.0", id=number, error=error))
