"""The progress notifications of one tool call."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Final, Self

SPACING: Final = 0.1
"""Seconds between two notifications of one call, at least."""

Send = Callable[[float, float | None, str | None], Awaitable[None]]
"""Progress so far, total if it is known, message."""


class Progress:
    """Tells the client of one call that it still works, and on what.

    A message goes out at once, or, when the one before has just left, as soon as `SPACING` has
    passed; then only the newest counts. After `beat` seconds of silence the newest message is sent
    again: clients give up on calls that say nothing. The number only says that there is progress;
    it must increase, and that is all that MCP asks of it.

    A call without a client that listens costs one timer and no task.
    """

    def __init__(self, send: Send, beat: float, title: str) -> None:
        self._send = send
        self._beat = beat
        self._text = title
        self._number = 0
        self._last = -math.inf
        self._sending: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(beat, self._due)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        if self._sending is not None:
            self._sending.cancel()

    async def __call__(self, text: str) -> None:
        """Tell the client `text`, now or very soon."""
        self._text = text
        wait = self._last + SPACING - self._loop.time()
        if wait > 0:
            self._arm(wait)
        else:
            await self._report()

    async def _report(self) -> None:
        self._number += 1
        self._last = self._loop.time()
        self._arm(self._beat)
        await self._send(self._number, None, self._text)

    def _arm(self, seconds: float) -> None:
        self._timer.cancel()
        self._timer = self._loop.call_later(seconds, self._due)

    def _due(self) -> None:
        # A client that does not read must not pile up tasks that wait for it.
        if self._sending is None or self._sending.done():
            self._sending = self._loop.create_task(self._report())
        else:
            self._arm(self._beat)
