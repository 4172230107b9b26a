"""The progress notifications of one tool call."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Final, Self

import anyio

from dapeer.base.system.tasks import BackgroundTask, Timer, later

SECONDS_BETWEEN_NOTIFICATIONS: Final = 0.1
"""Seconds between two notifications of one call, at least."""

A_LITTLE: Final = 1e-6

Send = Callable[[float, float | None, str | None], Awaitable[None]]
"""Progress so far, total if it is known, message."""


class Progress:
    """Reports the progress of one call to its client.

    A message goes out at once, or, when the one before has just left, as soon as `SECONDS_BETWEEN_NOTIFICATIONS` have
    passed; then only the newest counts. After `beat` seconds of silence the newest message is sent
    again: clients give up on calls that say nothing. The number says how far the call is, where
    it tells that; else only that there is progress. It must increase.

    A call without a client that listens costs one timer and no task.
    """

    def __init__(self, send: Send, beat: float, title: str) -> None:
        self._send = send
        self._beat = beat
        self._text = title
        self._number = 0.0
        self._done: float | None = None
        self._total: float | None = None
        self._unsent = False
        self._last = -math.inf
        self._sending: BackgroundTask[None] | None = None
        self._timer: Timer | None = None

    def __enter__(self) -> Self:
        self._arm(self._beat)
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._sending is not None:
            self._sending.cancel()

    async def __call__(
        self, text: str, done: float | None = None, total: float | None = None
    ) -> None:
        """Report progress to the client, now or as soon as the pause after the last report is over.

        `text` is the message; an empty one repeats the last. `done` of `total` says how far the call is; None: unknown.
        """
        self._text = text or self._text
        if done is not None:
            self._done, self._total, self._unsent = done, total, True
        wait = self._last + SECONDS_BETWEEN_NOTIFICATIONS - anyio.current_time()
        if wait > 0:
            self._arm(wait)
        else:
            await self._report()

    async def flush(self) -> None:
        """Send how far the call has come, if a report of that is still waiting."""
        if self._unsent:
            await self._report()

    async def _report(self) -> None:
        """Send the newest message and number, and set the timer for the next time that the client is told."""
        self._number = self._next()
        self._last = anyio.current_time()
        self._unsent = False
        self._arm(self._beat)
        await self._send(self._number, self._total, self._text)

    def _next(self) -> float:
        """Return the number of the next report, which is greater than the one before."""
        if self._done is None:
            return self._number + 1
        # A repeated value must not look like progress.
        is_running = self._last > -math.inf
        return max(self._done, self._number + A_LITTLE) if is_running else self._done

    def _arm(self, seconds: float) -> None:
        """Set the timer anew: `_due` is called after `seconds`."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = later(seconds, self._due)

    def _due(self) -> None:
        """Report in the background, unless the report before is still being sent; then try again later."""
        # A client that does not read must not pile up tasks that wait for it.
        if self._sending is None or self._sending.done:
            self._sending = BackgroundTask(self._report())
        else:
            self._arm(self._beat)
