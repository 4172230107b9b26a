"""Two transports in memory, each the other's end."""

from __future__ import annotations

import math

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream

from dapeer.dap.decoding import decode
from dapeer.dap.messages import Message, encode
from dapeer.dap.transport import Transport


class MemoryTransport:
    """One end of an in-memory pair; messages pass through their JSON, as on a wire."""

    def __init__(
        self, outgoing: ObjectSendStream[bytes], incoming: ObjectReceiveStream[bytes]
    ) -> None:
        self._outgoing = outgoing
        self._incoming = incoming

    async def send(self, message: Message) -> None:
        """Send one message."""
        await self._outgoing.send(encode(message))

    async def receive(self) -> Message:
        """Return the next message."""
        while True:
            message = decode(await self._incoming.receive())
            if message is not None:
                return message

    async def send_eof(self) -> None:
        """Close the sending direction."""
        await self._outgoing.aclose()

    async def aclose(self) -> None:
        """Close both directions."""
        await self._outgoing.aclose()
        await self._incoming.aclose()


def transport_pair() -> tuple[Transport, Transport]:
    """Return two connected transports: one receives what the other sends."""
    left_out, right_in = anyio.create_memory_object_stream[bytes](math.inf)
    right_out, left_in = anyio.create_memory_object_stream[bytes](math.inf)
    return MemoryTransport(left_out, left_in), MemoryTransport(right_out, right_in)
