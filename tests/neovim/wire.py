"""The test's own connection to Neovim: msgpack-RPC over a socket, and nothing of dapeer."""

import asyncio
import itertools
from typing import Any

import msgpack

from tests.processes import LIMIT

REQUEST, RESPONSE, NOTIFICATION = 0, 1, 2

Value = Any
"""Whatever Neovim answers."""


def _number(_: int, data: bytes) -> Value:
    """Read a buffer, window or tab page: an extension type that wraps its number."""
    return msgpack.unpackb(data)


class NeovimError(Exception):
    """What Neovim said when it refused a request."""


class Wire:
    """One RPC channel. Requests may overlap: what Neovim leaves unanswered holds nothing else up."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._told: dict[str, asyncio.Queue[list[Any]]] = {}
        self._reading = asyncio.create_task(self._read())
        self.closed = asyncio.Event()
        """Set when Neovim has hung up."""

    async def request(self, method: str, *arguments: object, seconds: float = LIMIT) -> Value:
        """Call an API function of Neovim.

        Raises:
            NeovimError: It refused.
            TimeoutError: It has not answered in time.
            ConnectionError: It is gone.
        """
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        if self.closed.is_set():
            raise ConnectionResetError
        self._writer.write(msgpack.packb([REQUEST, number, method, arguments]))
        try:
            async with asyncio.timeout(seconds):
                return await answer
        finally:
            del self._answers[number]

    def send(self, method: str, *arguments: object) -> None:
        """Call an API function of Neovim without asking for its answer."""
        self._writer.write(msgpack.packb([NOTIFICATION, method, arguments]))

    async def told(self, kind: str, seconds: float = LIMIT) -> list[Any]:
        """Return the arguments of the next notification of a kind; it may have come already."""
        async with asyncio.timeout(seconds):
            return await self._queue(kind).get()

    async def aclose(self) -> None:
        """Hang up."""
        self._reading.cancel()
        await asyncio.wait([self._reading])
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except ConnectionError:
            return

    def _queue(self, kind: str) -> asyncio.Queue[list[Any]]:
        return self._told.setdefault(kind, asyncio.Queue())

    async def _read(self) -> None:
        unpacker = msgpack.Unpacker(ext_hook=_number, unicode_errors="replace")
        try:
            while data := await self._reader.read(1 << 16):
                unpacker.feed(data)
                for message in unpacker:
                    self._take(message)
        except ConnectionError:
            pass
        finally:
            self.closed.set()
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(ConnectionResetError("Neovim is gone"))

    def _take(self, message: list[Any]) -> None:
        if message[0] == RESPONSE:
            answer = self._answers.get(message[1])
            if answer is None or answer.done():
                return
            if message[2] is not None:
                answer.set_exception(NeovimError(message[2][1]))
            else:
                answer.set_result(message[3])
        elif message[0] == NOTIFICATION and message[1] != "redraw":
            self._queue(message[1]).put_nowait(message[2])
