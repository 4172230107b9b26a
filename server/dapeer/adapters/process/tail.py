"""The last words of a process."""

from __future__ import annotations

import asyncio
import codecs
import os
import re
from collections.abc import Callable, Sequence
from typing import cast

import anyio

KEPT = 8192
"""Bytes kept of what a process writes to its stderr."""
SECONDS_OF_LAG = 0.2
"""Seconds that the words may lag. Who inherited the pipe may hold it open for ever."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Tail(asyncio.Protocol):
    """Reads a pipe as fast as it is filled, so that nobody blocks on it, and keeps the end."""

    def __init__(self, words: OutputFilter | None = None) -> None:
        self._words = words
        self._ended = asyncio.Event()
        self._kept = bytearray()
        self._pipe: asyncio.ReadTransport | None = None

    @classmethod
    async def open(cls, words: OutputFilter | None = None) -> tuple[Tail, int]:
        """Return a tail, and the descriptor for a child to write to, which the caller closes."""
        ours, theirs = os.pipe()
        pipe = os.fdopen(ours, "rb", 0)
        loop = asyncio.get_running_loop()
        _, tail = await loop.connect_read_pipe(lambda: cls(words), pipe)
        return tail, theirs

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember what to close."""
        self._pipe = cast("asyncio.ReadTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Keep the newest bytes."""
        self._kept += data
        del self._kept[:-KEPT]
        if self._words is not None:
            self._words.hear(data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Note the end."""
        if self._words is not None:
            self._words.hear(b"", final=True)
        self._ended.set()

    def text(self) -> str:
        """Return what was kept, without colours and control characters."""
        text = self._kept.decode("utf-8", "replace").replace("\r\n", "\n")
        return _CONTROL.sub("", _ANSI.sub("", text)).strip()

    async def settle(self) -> None:
        """Wait for the last words of a process that has ended; they may lag behind its end."""
        with anyio.move_on_after(SECONDS_OF_LAG):
            await self._ended.wait()

    def close(self) -> None:
        """Read no more."""
        if self._pipe is not None:
            self._pipe.close()


class OutputFilter:
    """What a program prints on the stdout or stderr of its adapter, without the adapter's own lines."""

    def __init__(self, hide: Sequence[str]) -> None:
        """`hide` are the beginnings of the adapter's own lines."""
        self.tell: Callable[[str], None] | None = None
        """Gets what is printed; before it is set, it is kept for it."""
        self._hide = tuple(hide)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._begun = False
        """A part of the current line has been told."""

    def listen(self, tell: Callable[[str], None]) -> None:
        """Have the words told, from the first on."""
        self.tell = tell
        self.hear(b"")

    def hear(self, data: bytes, *, final: bool = False) -> None:
        """Take in what was printed."""
        self._held += self._decoder.decode(data, final)
        if self.tell is None:
            return
        told: list[str] = []
        *lines, rest = self._held.split("\n")
        for line in lines:
            told += [f"{line}\n"] * (self._begun or not line.startswith(self._hide))
            self._begun = False
        # The beginning of a line is told at once, a prompt for example, unless it may be hidden.
        if rest and not final and not self._begun and self._may_be_hidden(rest):
            self._held = rest
        else:
            hidden = not self._begun and rest.startswith(self._hide)
            told += [rest] * (not hidden)
            self._held, self._begun = "", self._begun or bool(rest)
        if any(told):
            self.tell("".join(told))

    def _may_be_hidden(self, beginning: str) -> bool:
        return any(
            beginning.startswith(hidden) or hidden.startswith(beginning) for hidden in self._hide
        )
