"""How the messages of one debug session travel, and what changes them on the way."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Protocol

import anyio

from dapeer.base.errors import ProtocolError
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


class MessageFilter:
    """Changes messages between a session and its adapter.

    What a subclass does not override changes nothing.
    """

    def adapt(self, message: Message) -> Message:
        """Return the message to send to the adapter in place of the session's `message`."""
        return message

    def normalize(self, message: Message) -> Iterable[Message]:
        """Return the messages that the session gets in place of the adapter's `message`, maybe none."""
        return (message,)

    def take_held(self) -> Iterable[Message]:
        """Return the messages that were held back, and hold them no longer: the adapter sends nothing more."""
        return ()


class FilteredTransport:
    """Another transport, whose messages pass filters; the first filter is next to the adapter."""

    def __init__(self, connection: Transport, *filters: MessageFilter) -> None:
        self._connection = connection
        self._filters = list(filters)
        self._ready_messages: deque[Message] = deque()

    def add_filter(self, message_filter: MessageFilter) -> None:
        """Put a filter between the session and all other filters."""
        self._filters.append(message_filter)

    async def send(self, message: Message) -> None:
        """Send a message to the adapter as all filters adapt it, the last one first."""
        for each in reversed(self._filters):
            message = each.adapt(message)
        await self._connection.send(message)

    async def receive(self) -> Message:
        """Return the adapter's next message as all filters normalize it, the first one first.

        The call waits without a limit. When the adapter's messages end or break off, what filters hold back is
        returned before; a later call raises the error, if the connection raises it again.

        Raises:
            anyio.EndOfStream: The adapter has closed the connection.
            anyio.BrokenResourceError: The connection broke.
            ProtocolError: The adapter has sent what is no message.
            anyio.ClosedResourceError: `aclose` was called; what filters hold back is not returned then.
        """
        while not self._ready_messages:
            try:
                message = await self._connection.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError, ProtocolError):
                self._ready_messages.extend(self._take_held())
                if not self._ready_messages:
                    raise
            else:
                messages: Sequence[Message] = [message]
                for each in self._filters:
                    messages = _normalized(each, messages)
                self._ready_messages.extend(messages)
        return self._ready_messages.popleft()

    def _take_held(self) -> Sequence[Message]:
        """Return what all filters hold back, as the filters behind each of them normalize it."""
        held: Sequence[Message] = ()
        for each in self._filters:
            held = [*_normalized(each, held), *each.take_held()]
        return held

    async def send_eof(self) -> None:
        """Tell the adapter that nothing more will be sent."""
        await self._connection.send_eof()

    async def aclose(self) -> None:
        """Close the connection to the adapter, in both directions."""
        await self._connection.aclose()


def _normalized(message_filter: MessageFilter, messages: Iterable[Message]) -> Sequence[Message]:
    """Return the messages that a filter makes of some, in order."""
    return [each for message in messages for each in message_filter.normalize(message)]
