"""The two ways in which a session of nvim-dap reaches dapeer. Both carry the same frames.

The *tap* is a socket per session. Lua writes to it in the callbacks of nvim-dap's event loop, so it works
also while Neovim waits for a key. The *listeners* are nvim-dap's documented ones, forwarded over the RPC
channel: they pause whenever Neovim's main thread does.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, Protocol

import anyio

from dapeer.base.errors import NeovimBusy, NeovimGone
from dapeer.base.json_types import as_array
from dapeer.base.system.exchange import Mailbox
from dapeer.dap.decoding import decode, from_json, without_surrogates
from dapeer.dap.messages import Body, Message
from dapeer.neovim.client import SECONDS_TO_ANSWER, Neovim

FeedName = Literal["tap", "listeners"]

CHUNK_BYTES = 1 << 16

REQUEST = "return require('dapeer.nvim_dap.listeners').request(...)"


class FeedFrame(NamedTuple):
    """A message that has passed nvim-dap."""

    kind: str
    """i: from the adapter, o: to the adapter, x: a request of dapeer that could not be sent, e: the end."""
    number: int
    """Of an outgoing frame: dapeer's number of the request; 0: a request of the person."""
    message: Message | str | None
    """For x: the reason. None: a frame without a DAP message."""


class Feed(Protocol):
    """Carries requests to nvim-dap, and frames back."""

    name: FeedName
    closed: bool
    """Whether nvim-dap has closed the session; otherwise the connection broke."""

    async def send(self, number: int, command: str, arguments: Body) -> None:
        """Have nvim-dap send a request; its frame will carry this number.

        Raises:
            anyio.BrokenResourceError: The session has ended.
            NeovimBusy: The main thread is needed, and does not run; the request will not be sent.
        """
        ...

    async def receive(self) -> FeedFrame:
        """Return the next frame.

        Raises:
            anyio.EndOfStream: The session has ended.
        """
        ...

    async def aclose(self) -> None:
        """Close the feed; nvim-dap's session continues."""
        ...


class Tap:
    """A session's own socket. lua/dapeer/nvim_dap/tap.lua describes its protocol."""

    name: FeedName = "tap"

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._buffer = bytearray()
        self._frames: deque[FeedFrame] = deque()
        self.closed = False

    async def send(self, number: int, command: str, arguments: Body) -> None:
        """Have nvim-dap send a request."""
        body = _request(command, arguments).encode()
        if self._writer.is_closing():
            raise anyio.BrokenResourceError
        self._writer.write(b"%d %d\n%b" % (number, len(body), body))
        try:
            await self._writer.drain()
        except ConnectionError as error:
            raise anyio.BrokenResourceError from error

    async def receive(self) -> FeedFrame:
        """Return the next frame."""
        while not self._frames:
            try:
                data = await self._reader.read(CHUNK_BYTES)
            except ConnectionError as error:
                raise anyio.EndOfStream from error
            if not data:
                raise anyio.EndOfStream
            self._buffer += data
            self._frames.extend(_cut(self._buffer))
        frame = self._frames.popleft()
        if frame.kind == "e":
            self.closed = True
            raise anyio.EndOfStream
        return frame

    async def aclose(self) -> None:
        """Close the socket."""
        self._writer.close()


def _cut(buffer: bytearray) -> Iterator[FeedFrame]:
    """Take each frame that is complete from the front of a buffer."""
    start = 0
    while (end := buffer.find(b"\n", start)) >= 0:
        kind, number, length = bytes(buffer[start:end]).split()
        stop = end + 1 + int(length)
        if len(buffer) < stop:
            break
        body = bytes(buffer[end + 1 : stop])
        message = body.decode("utf-8", "replace") if kind == b"x" else decode(body)
        yield FeedFrame(kind.decode(), int(number), message)
        start = stop
    del buffer[:start]


class Listeners:
    """A session's share of the notifications of a Neovim."""

    name: FeedName = "listeners"

    def __init__(self, neovim: Neovim, session: int, ahead: float = 0.0) -> None:
        """`ahead`: seconds by which Neovim's clock is ahead of dapeer's."""
        self._neovim = neovim
        self._ahead = ahead
        self._session = session
        self._frames = Mailbox[FeedFrame]()
        self.closed = False

    def forwarded(self, kind: str, number: int, message: object) -> None:
        """Take in a frame from Lua."""
        self._frames.put(FeedFrame(kind, number, from_json(without_surrogates(message))))

    def ended(self) -> None:
        """Record that the session, or its Neovim, has ended."""
        self.closed = True
        self._frames.end()

    async def send(self, number: int, command: str, arguments: Body) -> None:
        """Have nvim-dap send a request, if its main thread gets to it in time."""
        latest = time.time() + self._ahead + SECONDS_TO_ANSWER
        text = _request(command, arguments)
        neovim = self._neovim
        try:
            mode = await neovim.mode()
            if mode is not None and mode.blocking:
                raise NeovimBusy(
                    f"This session is reached only through Neovim, and Neovim {mode}.",
                    "Try again when the person has finished there.",
                )
            done = await neovim.call(REQUEST, neovim.channel, self._session, number, text, latest)
        except NeovimGone as error:
            raise anyio.BrokenResourceError from error
        if done is None:
            raise anyio.BrokenResourceError
        if not done:
            raise NeovimBusy("Neovim was busy too long.", "Try again.")

    async def receive(self) -> FeedFrame:
        """Return the next frame."""
        return await self._frames.take()

    async def aclose(self) -> None:
        """Wake all remaining waiters."""
        self.ended()


def _request(command: str, arguments: Body) -> str:
    return json.dumps({"command": command, "arguments": arguments}, separators=(",", ":"))


class Hello(NamedTuple):
    """What Lua sends about a session before its messages."""

    session: int
    """nvim-dap's number for it."""
    name: str
    type: str
    """The adapter's name in nvim-dap."""
    request: str
    parent: int | None
    launch: int | None
    """The id of the start from which it came, if dapeer requested it."""
    waited: bool = False
    """Whether the start had to wait for the person."""
    exception_filters: list[str] | None = None
    """The start's own."""

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> Hello:
        """Read the first line from Lua."""
        filters = facts.get("exception_filters")
        return cls(
            int(facts["session"]),
            str(facts.get("name") or ""),
            str(facts.get("type") or ""),
            str(facts.get("request") or "launch"),
            facts.get("parent"),
            facts.get("launch"),
            bool(facts.get("waited")),
            None if filters is None else [*map(str, as_array(filters))],
        )
