"""Whether the client of one HTTP request is still there.

In MCP up to 2025-11-25 a client that disconnects has not cancelled its request, since it may fetch the answer
later. dapeer keeps no answers for that, so it cancels: a question to a person must end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, TypeVar

import anyio

KEY: Final = "dapeer.presence"
"""Where the ASGI scope of a request holds it."""

T = TypeVar("T")


class Presence:
    """Of one client, in one request."""

    def __init__(self, scope: MutableMapping[str, Any]) -> None:
        scope[KEY] = self
        self._left = False
        self._callbacks: list[Callable[[], None]] = []

    def leave(self) -> None:
        """Record that the client has disconnected."""
        self._left = True
        for callback in self._callbacks:
            callback()
        self._callbacks.clear()

    def when_left(self, callback: Callable[[], None]) -> None:
        """Call back when the client has hung up, at once when it has."""
        if self._left:
            callback()
        else:
            self._callbacks.append(callback)


async def while_there(request: Any, work: Awaitable[T]) -> T | None:  # noqa: ANN401 - what the SDK hands on, if anything
    """Do work for the client that has sent a request, and return its result; None: the client left before."""
    presence: Presence | None = getattr(request, "scope", {}).get(KEY)
    # That of a client with a connection of its own ends with the connection.
    if presence is None:
        return await work
    with anyio.CancelScope() as scope:
        presence.when_left(scope.cancel)
        return await work
    return None
