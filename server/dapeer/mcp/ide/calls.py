"""Counts the calls of CLIs, so that a service ends after their answers."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import anyio
import anyio.lowlevel


class Calls:
    """The calls that are being answered."""

    def __init__(self) -> None:
        self._count = 0
        self._none = anyio.Event()
        self._none.set()

    @contextmanager
    def one(self) -> Generator[None]:
        """Count one while the body answers it."""
        if not self._count:
            self._none = anyio.Event()
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1
            if not self._count:
                self._none.set()

    async def none_left(self) -> None:
        """Wait until all are answered."""
        await self._none.wait()
        # What was answered last is written by now.
        await anyio.lowlevel.checkpoint()
