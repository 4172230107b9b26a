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
        """Have nvim-dap send a request to its adapter; `number` comes back with its frame.

        Raises:
            anyio.BrokenResourceError: The session has ended.
        """
        body = _request(command, arguments).encode()
        if self._writer.is_closing():
            raise anyio.BrokenResourceError
        self._writer.write(b"%d %d\n%b" % (number, len(body), body))
        try:
            await self._writer.drain()
        except ConnectionError as error:
            raise anyio.BrokenResourceError from error

    async def receive(self) -> FeedFrame:
        """Wait for the next frame and return it.

        Raises:
            anyio.EndOfStream: The session has ended (`closed` is set then), or the connection broke.
        """
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
    """Yield each complete frame at the front of a buffer, and remove them from it in the end."""
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
        """Begin a feed of nvim-dap's session number `session`; Neovim has to pass its frames to `forwarded`.

        `ahead`: seconds by which Neovim's clock is ahead of dapeer's.
        """
        self._neovim = neovim
        self._ahead = ahead
        self._session = session
        self._frames = Mailbox[FeedFrame]()
        self.closed = False

    def forwarded(self, kind: str, number: int, message: object) -> None:
        """Queue a frame that Lua has sent for `receive`.

        `message` is a DAP message as decoded from MessagePack.
        """
        self._frames.put(FeedFrame(kind, number, from_json(without_surrogates(message))))

    def ended(self) -> None:
        """Set `closed`, and end `receive` after the queued frames: the session or its Neovim has ended."""
        self.closed = True
        self._frames.end()

    async def send(self, number: int, command: str, arguments: Body) -> None:
        """Have nvim-dap send a request, if Neovim's main thread gets to it within `SECONDS_TO_ANSWER`.

        Raises:
            anyio.BrokenResourceError: The session or its Neovim has ended.
            NeovimBusy: Neovim waits for a key or was busy too long; the request will not be sent.
        """
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
        """Wait for the next frame and return it.

        Raises:
            anyio.EndOfStream: The session has ended.
        """
        return await self._frames.take()

    async def aclose(self) -> None:
        """End `receive`; nvim-dap's session continues."""
        self.ended()


def _request(command: str, arguments: Body) -> str:
    """Return a request for Lua as a text of JSON, with `command` and `arguments`."""
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
        """Return what Lua has sent about a session, from its decoded JSON; only `session` must be there.

        Raises:
            KeyError: It has no number of a session.
        """
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
