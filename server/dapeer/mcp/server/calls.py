"""The calls that are being answered, so that a server ends after their answers."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from contextlib import contextmanager
from typing import Final, TypeVar

import anyio
import anyio.lowlevel

SECONDS_TO_ANSWER: Final = 0.5
"""For open calls once their server is to end: a Neovim that ends has just decided what was open."""
SECONDS_TO_GIVE_UP: Final = 0.5
"""What they may take then to stop what they do."""

T = TypeVar("T")


class Calls:
    """The calls that are being answered."""

    def __init__(self) -> None:
        self._count = 0
        self._none = anyio.Event()
        self._none.set()
        self._scopes: set[anyio.CancelScope] = set()

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

    async def while_served(self, work: Awaitable[T]) -> T | None:
        """Do the work of a call, and return its result; None: `give_up` has ended it."""
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                return await work
            finally:
                self._scopes.discard(scope)
        return None

    async def none_left(self) -> None:
        """Wait until all are answered, a moment at most."""
        with anyio.move_on_after(SECONDS_TO_ANSWER):
            await self._none.wait()
        # What was answered last is written by now.
        await anyio.lowlevel.checkpoint()

    async def give_up(self) -> None:
        """End all that are still open, which their callers learn."""
        for scope in list(self._scopes):
            scope.cancel()
        with anyio.move_on_after(SECONDS_TO_GIVE_UP):
            await self.none_left()
