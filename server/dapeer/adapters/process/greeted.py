"""An adapter that has answered `initialize` before its session begins."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

import anyio

from dapeer.adapters.process.streams import StdioStream
from dapeer.base.errors import AdapterFailed
from dapeer.dap.handshake import hello
from dapeer.dap.messages import Message, Request, Response
from dapeer.dap.transport import ContentLengthTransport


class Greeted:
    """The transport of such an adapter: its session asks `initialize` first, and gets the answer of then."""

    def __init__(
        self, stream: StdioStream, wire: ContentLengthTransport, heard: Iterable[Message]
    ) -> None:
        """`heard` is all that the adapter has said until then, with its answer."""
        self.stream = stream
        self._wire = wire
        self._heard = deque(heard)
        self._asked: anyio.Event | None = anyio.Event()
        """Until the session has asked."""

    async def send(self, message: Message) -> None:
        """Send a message; the first one is answered here."""
        if self._asked is None:
            await self._wire.send(message)
        elif isinstance(message, Request):
            self._heard = deque(
                replace(each, request_seq=message.seq) if isinstance(each, Response) else each
                for each in self._heard
            )
            self._asked.set()
            self._asked = None

    async def receive(self) -> Message:
        """Return the next message."""
        if self._asked is not None:
            await self._asked.wait()
        return self._heard.popleft() if self._heard else await self._wire.receive()

    async def send_eof(self) -> None:
        """Close the sending direction."""
        await self._wire.send_eof()

    async def aclose(self) -> None:
        """Close both directions."""
        if self._asked is not None:
            self._heard.clear()
            self._asked.set()
        await self._wire.aclose()


async def greet(stream: StdioStream, adapter_id: str, seconds: float) -> Greeted:
    """Ask an adapter `initialize`, which it has some seconds to answer.

    Raises:
        AdapterFailed: It does not answer in time, or says no.
        anyio.EndOfStream: It has ended.
        anyio.BrokenResourceError: The same.
        ProtocolError: It does not speak DAP.
    """
    wire, heard = ContentLengthTransport(stream), list[Message]()
    answer: Message | None = None
    with anyio.move_on_after(seconds):
        await wire.send(Request(1, "initialize", hello(adapter_id)))
        while not isinstance(answer, Response):
            answer = await wire.receive()
            heard.append(answer)
    if not isinstance(answer, Response) or not answer.success:
        raise AdapterFailed("It has not answered `initialize`.", "")
    return Greeted(stream, wire, heard)
