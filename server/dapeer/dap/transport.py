"""How the messages of one debug session travel."""

from __future__ import annotations

from typing import Protocol

from dapeer.dap.messages import Message


class Transport(Protocol):
    """Carries the messages of one debug session. How they travel is its own business."""

    async def send(self, message: Message) -> None:
        """Send one message.

        Raises:
            anyio.BrokenResourceError: The other end has closed.
            anyio.ClosedResourceError: `aclose` was called.
        """
        ...

    async def receive(self) -> Message:
        """Return the next message.

        Raises:
            anyio.EndOfStream: The other end has closed.
            anyio.ClosedResourceError: `aclose` was called.
            ProtocolError: The stream is invalid.
        """
        ...

    async def send_eof(self) -> None:
        """Announce that nothing more will be sent; `receive` continues until the other end has finished."""
        ...

    async def aclose(self) -> None:
        """Close both directions; a waiting `receive` ends."""
        ...
