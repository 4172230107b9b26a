"""The calls that are being answered: until their server is to end, or their client has left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, MutableMapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import anyio
import anyio.lowlevel

SECONDS_TO_ANSWER: Final = 0.5
"""For open calls once their server is to end: a Neovim that ends has just decided what was open."""
SECONDS_TO_GIVE_UP: Final = 0.5
"""What they may take then to stop what they do."""

PRESENCE: Final = "dapeer.presence"
"""Where the ASGI scope of a request holds whether its client is there."""

T = TypeVar("T")


class Calls:
    """The calls that are being answered."""

    def __init__(self) -> None:
        self._count = 0
        self._none = anyio.Event()
        self._none.set()
        self._scopes: set[anyio.CancelScope] = set()

    @contextmanager
    def count_one(self) -> Generator[None]:
        """Count one call more while the body answers it."""
        if not self._count:
            self._none = anyio.Event()
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1
            if not self._count:
                self._none.set()

    async def run_until_given_up(self, work: Awaitable[T]) -> T | None:
        """Await the work of a call, and return its result; None: `give_up` has cancelled it."""
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                return await work
            finally:
                self._scopes.discard(scope)
        return None

    async def wait_for_none(self) -> None:
        """Wait until all calls are answered, for at most `SECONDS_TO_ANSWER`."""
        with anyio.move_on_after(SECONDS_TO_ANSWER):
            await self._none.wait()
        # What was answered last is written by now.
        await anyio.lowlevel.checkpoint()

    async def give_up(self) -> None:
        """Cancel all calls that are still open, and wait a moment until their clients have got errors."""
        for scope in list(self._scopes):
            scope.cancel()
        with anyio.move_on_after(SECONDS_TO_GIVE_UP):
            await self.wait_for_none()


class Presence:
    """Whether the client of one HTTP request is still there.

    In MCP up to 2025-11-25 a client that disconnects has not cancelled its request, since it may fetch the answer
    later. dapeer keeps no answers for that, so it cancels: a question to a person must end.
    """

    def __init__(self, scope: MutableMapping[str, Any]) -> None:
        scope[PRESENCE] = self
        self._left = False
        self._callbacks: list[Callable[[], None]] = []

    def leave(self) -> None:
        """Note that the client has disconnected, and call all callbacks, once."""
        self._left = True
        for callback in self._callbacks:
            callback()
        self._callbacks.clear()

    def on_leave(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the client disconnects, or at once if it has."""
        if self._left:
            callback()
        else:
            self._callbacks.append(callback)


async def run_while_connected(request: Any, work: Awaitable[T]) -> T | None:  # noqa: ANN401 - what the SDK hands on, if anything
    """Await the work for a client's request, and return its result; cancel it if the client disconnects.

    `request` is the HTTP request that the SDK hands on, or None for other transports, whose connection ends the work by itself. None is
    returned if the client has left.
    """
    presence: Presence | None = getattr(request, "scope", {}).get(PRESENCE)
    # That of a client with a connection of its own ends with the connection.
    if presence is None:
        return await work
    with anyio.CancelScope() as scope:
        presence.on_leave(scope.cancel)
        return await work
    return None
