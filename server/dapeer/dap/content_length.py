"""A debug adapter's messages in a stream of bytes, each behind its `Content-Length`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import anyio
from anyio.abc import ByteStream

from dapeer.base.errors import ProtocolError
from dapeer.dap.decoding import decode
from dapeer.dap.messages import Message, encode

CHUNK_BYTES = 1 << 16
LONGEST_HEADER = 1 << 14
LONGEST_BODY = 1 << 28
"""Bytes of one message; no adapter has a reason to send more."""


class Framing:
    r"""Cuts a byte stream into the bodies of `Content-Length` frames. Pure: no I/O.

    Lines before a header that are no header are noise (a warning of an interpreter, a banner) and
    are skipped.

    >>> framing = Framing()
    >>> list(framing.feed(b"noise\r\nContent-Length: 2\r\n\r"))
    []
    >>> list(framing.feed(b'\n{}'))
    [b'{}']
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Add the next bytes of the stream, and yield the body of each message that is complete by then.

        It does its work while it is iterated. A part of a message is kept for the next call.

        Raises:
            ProtocolError: A header has no end, or announces a body of more than `LONGEST_BODY` bytes.
        """
        self._buffer += data
        while self._length is not None or self._header():
            if self._length is None:
                continue
            if len(self._buffer) < self._length:
                return
            body = bytes(self._buffer[: self._length])
            del self._buffer[: self._length]
            self._length = None
            yield body

    def _header(self) -> bool:
        """Remove the next header from the buffer, and set `_length` from its `Content-Length`.

        Return True if a header was removed, with the noise before it, and False if none is complete yet. Then noise
        is discarded only where no header has begun, and its last `LONGEST_HEADER` bytes stay. A header whose
        `Content-Length` is no number is removed, too, but leaves `_length` None.

        Raises:
            ProtocolError: More than `LONGEST_HEADER` bytes of a header have come without its end, or it announces
                a body of more than `LONGEST_BODY` bytes; only a header of the second kind is removed.
        """
        start = self._buffer.find(b"Content-Length:")
        if start < 0:
            # Noise without a line end cannot grow for ever.
            del self._buffer[:-LONGEST_HEADER]
            return False
        end = self._buffer.find(b"\r\n\r\n", start)
        if end < 0 and len(self._buffer) - start <= LONGEST_HEADER:
            return False
        if end < 0:
            raise ProtocolError("It sent a header without an end.", "Its own log may say why.")
        number = self._buffer[start + len(b"Content-Length:") : end].split(b"\r\n")[0].strip()
        del self._buffer[: end + 4]
        if number.isdigit():
            digits = number.lstrip(b"0") or b"0"
            if len(digits) > len(str(LONGEST_BODY)) or int(digits) > LONGEST_BODY:
                size = f"more than {LONGEST_BODY >> 20} MB"
                raise ProtocolError(f"It began a message of {size}.", "Its own log may say why.")
            self._length = int(digits)
        return True


class ContentLengthTransport:
    """A debug adapter's bytes, over its stdio or a socket."""

    def __init__(self, stream: ByteStream) -> None:
        """Carry messages over `stream`, an adapter's stdio or a socket; it closes the stream in `aclose`."""
        self._stream = stream
        self._framing = Framing()
        self._received_messages: deque[Message] = deque()
        # A socket stream raises on a second sender; a caller expects to wait.
        self._send_lock = anyio.Lock(fast_acquire=True)
        self._has_ended = False

    async def send(self, message: Message) -> None:
        """Write one message to the stream; concurrent callers wait for each other.

        Raises:
            anyio.ClosedResourceError: `send_eof` or `aclose` was called.
            anyio.BrokenResourceError: The adapter has closed the stream.
        """
        body = encode(message)
        async with self._send_lock:
            if self._has_ended:  # a socket of asyncio's would raise a RuntimeError
                raise anyio.ClosedResourceError
            await self._stream.send(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def receive(self) -> Message:
        """Return the adapter's next valid message, reading from the stream if none is buffered.

        It waits without a time limit. Frames whose body is no valid DAP message are skipped.

        Raises:
            anyio.EndOfStream: The adapter has closed the stream, or the connection broke.
            anyio.ClosedResourceError: `aclose` was called.
            ProtocolError: A header has no end, or announces a body that is too long.
        """
        while not self._received_messages:
            try:
                data = await self._stream.receive(CHUNK_BYTES)
            except anyio.BrokenResourceError as error:
                raise anyio.EndOfStream from error
            messages = map(decode, self._framing.feed(data))
            self._received_messages.extend(message for message in messages if message is not None)
        return self._received_messages.popleft()

    async def send_eof(self) -> None:
        """Close the sending direction; an adapter on stdio then ends, and a later `send` raises."""
        self._has_ended = True
        await self._stream.send_eof()

    async def aclose(self) -> None:
        """Close the stream to the adapter, in both directions."""
        await self._stream.aclose()
