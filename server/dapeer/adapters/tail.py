"""The last words of a process."""

from __future__ import annotations

import asyncio
import os
import re
from typing import cast

import anyio

KEPT = 8192
"""Bytes kept of what a process writes to its stderr."""
LAG = 0.2
"""Seconds that the words may lag. Who inherited the pipe may hold it open for ever."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Tail(asyncio.Protocol):
    """Reads a pipe as fast as it is filled, so that nobody blocks on it, and keeps the end."""

    def __init__(self) -> None:
        self._ended = asyncio.Event()
        self._kept = bytearray()
        self._pipe: asyncio.ReadTransport | None = None

    @classmethod
    async def open(cls) -> tuple[Tail, int]:
        """Return a tail, and the descriptor for a child to write to, which the caller closes."""
        ours, theirs = os.pipe()
        pipe = os.fdopen(ours, "rb", 0)
        _, tail = await asyncio.get_running_loop().connect_read_pipe(cls, pipe)
        return tail, theirs

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember what to close."""
        self._pipe = cast("asyncio.ReadTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Keep the newest bytes."""
        self._kept += data
        del self._kept[:-KEPT]

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Note the end."""
        self._ended.set()

    def text(self) -> str:
        """Return what was kept, without colours and control characters."""
        text = self._kept.decode("utf-8", "replace").replace("\r\n", "\n")
        return _CONTROL.sub("", _ANSI.sub("", text)).strip()

    async def settle(self) -> None:
        """Wait for the last words of a process that has ended; they may lag behind its end."""
        with anyio.move_on_after(LAG):
            await self._ended.wait()

    def close(self) -> None:
        """Read no more."""
        if self._pipe is not None:
            self._pipe.close()
