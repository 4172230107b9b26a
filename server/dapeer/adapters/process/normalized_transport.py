"""A transport that carries the messages of an adapter, made ordinary by `normalizer`."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

import anyio

from dapeer.adapters.definition.quirks import Quirks, SentBreakpoints
from dapeer.adapters.process.normalizer import OURS, Normalizer
from dapeer.base.errors import ProtocolError
from dapeer.base.json_types import Value, is_array, is_object
from dapeer.base.system.exchange import Mailbox
from dapeer.base.system.tasks import BackgroundTask
from dapeer.dap.messages import Event, Message, Request, Response, describe
from dapeer.dap.transport import Transport

log = logging.getLogger(__name__)


class NormalizedTransport:
    """A transport to an adapter with quirks, or with a program whose output comes another way."""

    def __init__(
        self,
        inner: Transport,
        quirks: Quirks,
        own: Mapping[str, object],
        *,
        stop_on_entry: bool,
        settle: Callable[[], Awaitable[None]],
        sent: SentBreakpoints,
        word: str = "",
    ) -> None:
        """Begin to receive from the adapter at `inner`, in a task of its own.

        `own` are values by placeholder, known only once the adapter runs, for the arguments of `launch` and `attach`; `settle`
        waits, at the end, for the program's output; by `word` the adapter tells of patches that are off. `sent` has the
        breakpoints that all processes of the program got.
        """
        self._inner = inner
        self._placeholders = own
        self._quirks = quirks
        self._settle = settle
        self._messages = Mailbox[Message]()
        self._breach: ProtocolError | None = None
        self._tamer = Normalizer(quirks, stop_on_entry=stop_on_entry, sent=sent, word=word)
        self._pump = BackgroundTask(self._receive())

    def printed(self, category: str, text: str) -> None:
        """Queue output of the program that does not come by the adapter's messages; `category` is DAP's."""
        for message in self._tame(Event("output", {"category": category, "output": text})):
            self._messages.put(message)

    async def send(self, message: Message) -> None:
        """Send a message, as this adapter needs it; a request that its quirks refuse is answered here instead."""
        if isinstance(message, Request) and (why := self._quirks.refusal(message)):
            self._messages.put(Response(message.seq, message.command, success=False, message=why))
            return
        if isinstance(message, Request) and message.command in {"launch", "attach"}:
            message = replace(
                message, arguments=_fill_placeholders(message.arguments, self._placeholders)
            )
        self._tamer.record_sent(message)
        await self._inner.send(self._tamer.adapt(message))

    async def receive(self) -> Message:
        """Wait for the next normalized message and return it.

        Raises:
            anyio.EndOfStream: The adapter has closed the connection, or it broke.
            ProtocolError: The adapter has sent what is no message.
        """
        try:
            return await self._messages.take()
        except anyio.EndOfStream as end:
            raise self._breach or end from None

    async def send_eof(self) -> None:
        """Tell the adapter that nothing more will be sent."""
        await self._inner.send_eof()

    async def aclose(self) -> None:
        """Stop receiving, and close the connection."""
        self._pump.cancel()
        self._messages.end()
        await self._inner.aclose()

    def _tame(self, message: Message) -> list[Message]:
        """Return the messages that replace a message; if a quirk cannot be applied, the message itself."""
        try:
            return list(self._tamer.normalize(message))
        except Exception:
            log.exception("a quirk of the adapter cannot be applied to its %s", describe(message))
            return [message]

    async def _receive(self) -> None:
        """Queue the adapter's normalized messages until its end, and send it the requests that they call for.

        After the end, the program's last output is awaited, and what was held back is queued.
        """
        try:
            while True:
                for message in self._tame(await self._inner.receive()):
                    # The adapter may ask for something, too: to debug a child, to open a terminal.
                    if isinstance(message, Request) and message.seq == OURS:
                        await self._inner.send(message)
                    else:
                        self._messages.put(message)
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self._settle()
        except ProtocolError as error:
            self._breach = error
        finally:
            for message in self._tamer.take_held():
                self._messages.put(message)
            self._messages.end()


def _fill_placeholders(value: Value, own: Mapping[str, object]) -> Value:
    """Return a JSON value in which the placeholders of `own` are replaced by their values, in texts only.

    Other similar text is the user's, and stays.
    """
    if isinstance(value, str):
        for name, known in own.items():
            value = value.replace(f"${{{name}}}", str(known))
        return value
    if is_object(value):
        return {key: _fill_placeholders(item, own) for key, item in value.items()}
    return [_fill_placeholders(item, own) for item in value] if is_array(value) else value
