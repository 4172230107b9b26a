"""Normalizes an adapter's messages by the quirks of its definition."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import anyio

from dapeer.adapters.definition.misfires import Misfires, Sent, category_of, is_legible
from dapeer.adapters.definition.quirks import Quirks
from dapeer.adapters.process.ahead import Ahead
from dapeer.base.errors import ProtocolError
from dapeer.base.json_types import Value, as_array, is_array, is_object
from dapeer.dap.messages import Event, Message, Request, Response, describe
from dapeer.dap.requests import NEEDS, OPTIONS, RESUMES
from dapeer.dap.transport import Transport

log = logging.getLogger(__name__)

CAPABILITIES = {**NEEDS, **OPTIONS}
"""By request, or option of requests."""
_STEPS = frozenset({"next", "stepIn", "stepOut", "stepBack"})
OURS = 1 << 30
"""Number of the one request that is sent from here; those of a session begin at 1."""


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
        sent: Sent,
    ) -> None:
        """`own` are placeholders whose values are known only once the adapter runs; `settle` waits, at the end, for the program's output."""
        self._inner = inner
        self._own = own
        self._harmful = quirks.harmful
        self._settle = settle
        self._messages: asyncio.Queue[Message | None] = asyncio.Queue()
        self._breach: ProtocolError | None = None
        self._ahead = Ahead() if quirks.answers_ahead else None
        self._tamer = Normalizer(quirks, stop_on_entry=stop_on_entry, sent=sent)
        self._pump = asyncio.create_task(self._receive())

    def printed(self, category: str, text: str) -> None:
        """Handle output of the program that does not come from the adapter."""
        for message in self._tame(Event("output", {"category": category, "output": text})):
            self._messages.put_nowait(message)

    async def send(self, message: Message) -> None:
        """Send one message, unless it does harm."""
        if isinstance(message, Request) and message.command in self._harmful:
            why = self._harmful[message.command]
            self._messages.put_nowait(
                Response(message.seq, message.command, success=False, message=why)
            )
            return
        if isinstance(message, Request) and message.command in {"launch", "attach"}:
            message = replace(message, arguments=_with(message.arguments, self._own))
        self._tamer.sent(message)
        message = self._tamer.ordered(message)
        if self._ahead is None or not isinstance(message, Request):
            await self._inner.send(message)
            return
        for each in self._ahead.sent(message):
            if isinstance(each, Request):
                await self._inner.send(each)
            else:
                self._messages.put_nowait(each)

    async def receive(self) -> Message:
        """Return the next message."""
        message = await self._messages.get()
        if message is None:
            self._messages.put_nowait(None)
            raise self._breach or anyio.EndOfStream
        return message

    async def send_eof(self) -> None:
        """Say that nothing more will be sent."""
        await self._inner.send_eof()

    async def aclose(self) -> None:
        """Close both directions."""
        self._pump.cancel()
        self._messages.put_nowait(None)
        await self._inner.aclose()

    def _tame(self, message: Message) -> list[Message]:
        """Return the messages that replace a message; if a quirk cannot be applied, the message itself."""
        try:
            return list(self._tamer.tame(message))
        except Exception:
            log.exception("a quirk of the adapter cannot be applied to its %s", describe(message))
            return [message]

    async def _receive(self) -> None:
        try:
            while True:
                for message in self._tame(await self._inner.receive()):
                    # The adapter may ask for something, too: to debug a child, to open a terminal.
                    if isinstance(message, Request) and message.seq == OURS:
                        await self._inner.send(message)
                    else:
                        await self._heard(message)
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self._settle()
        except ProtocolError as error:
            self._breach = error
        finally:
            for message in self._tamer.last():
                self._messages.put_nowait(message)
            self._messages.put_nowait(None)

    async def _heard(self, message: Message) -> None:
        if self._ahead is None:
            self._messages.put_nowait(message)
            return
        for each in self._ahead.heard(message):
            self._messages.put_nowait(each)
        for request in self._ahead.released():
            await self._inner.send(request)


class Normalizer:
    """Turns each message into those that an ordinary adapter would have sent. Pure."""

    def __init__(self, quirks: Quirks, *, stop_on_entry: bool, sent: Sent | None = None) -> None:
        self._quirks = quirks
        self._misfires = Misfires(quirks.failed, sent)
        self._first = True
        self._stepping = False
        """Whether the program was last resumed by a step."""
        self._configured = False
        """Whether the adapter knows all breakpoints."""
        self._leaving = False
        """Whether the program has been resumed from the first stop, which some adapters repeat, and has not stopped since."""
        self._stop_on_entry = stop_on_entry
        self._over = False
        self._no_news: set[str] = set()
        """Events that are no news when they come next."""
        self._held: dict[str, str] = {}
        """By category: a CR at the end of output, whose LF may follow."""

    def sent(self, message: Message) -> None:
        """Record a message to the adapter."""
        if isinstance(message, Request):
            self._misfires.sent(message)
            if message.command == "pause":
                self._leaving = False
            if message.command in RESUMES:
                self._stepping = message.command in _STEPS

    def ordered(self, message: Message) -> Message:
        """Return a message as the adapter is to get it."""
        if not self._quirks.passes_hits or not isinstance(message, Request):
            return message
        if "breakpoints" not in message.arguments:
            return message
        wanted = as_array(message.arguments["breakpoints"])
        passing = [_passing(each) for each in wanted]
        return replace(message, arguments={**message.arguments, "breakpoints": passing})

    def tame(self, message: Message) -> Iterator[Message]:
        """Yield the messages that replace a message; a request goes to the adapter."""
        if not isinstance(message, Event) or not self._is_no_news(message.event, message.body):
            yield from self._ordinary(message)

    def last(self) -> Iterator[Message]:
        """Yield what was held back, when nothing more comes."""
        yield from self._misfires.held()

    def _ordinary(self, message: Message) -> Iterator[Message]:
        match message:
            case Event(event="stopped", body=body):
                yield from self._stopped(body)
            case Event(event="output", body=body) if (
                self._over and body.get("category") != "stdout"
            ):
                return
            case Event(event="output", body=body):
                yield from self._output(body)
            case Response(request_seq=request_seq) if request_seq == OURS:
                return
            case Response(command="initialize", body=body):
                lacking = {CAPABILITIES[name] for name in self._quirks.refuses}
                known = {name: value for name, value in body.items() if name not in lacking}
                yield replace(message, body=known)
            case Response(command="configurationDone"):
                self._configured = True
                yield message
            case Event(event="terminated"):
                self._over = self._quirks.last_words_of_adapter
                yield message
            case _:
                yield message

    def _is_no_news(self, name: str, body: Mapping[str, Any]) -> bool:
        """Whether an event only reports what the adapter does in order to respond."""
        if name in self._no_news:
            self._no_news.discard(name)
            return True
        pattern = self._quirks.runs_meanwhile
        text = str(body.get("output")) if name == "output" else ""
        if pattern and is_legible(text) and re.search(pattern, text):
            self._no_news = {"continued", "stopped"}
            return True
        return False

    def _stopped(self, body: Mapping[str, Any]) -> Iterator[Message]:
        reason, quirks = body.get("reason"), self._quirks
        text = f"{body.get('description') or ''} {body.get('text') or ''}"
        reads = quirks.pause_reads if is_legible(text) else ""
        if reason == "exception" and reads and re.search(reads, text):
            reason = "pause"
        if reason == "step" and not self._stepping:
            reason = quirks.unasked_step or reason
        # Without a quirk, no stop is unwanted, not even one that gives no reason.
        unwanted = bool(reason) and quirks.skip_first_stop == reason
        if quirks.skip_first_stop and not self._configured:
            # The adapter repeats it after all breakpoints are set, maybe for another reason; resuming now
            # would run past them.
            return
        if unwanted and self._leaving:
            return
        self._leaving = False
        first, self._first = self._first, False
        if first and unwanted and not self._stop_on_entry:
            self._leaving = True
            yield Request(OURS, "continue", {"threadId": body.get("threadId")})
            return
        # No client can have requested a pause before the first stop, unless that never came.
        if first and reason == "pause" and self._stop_on_entry:
            reason = "entry"
        yield Event("stopped", {**body, "reason": reason})

    def _output(self, body: Mapping[str, Any]) -> Iterator[Message]:
        text = str(body.get("output") or "")
        if self._quirks.terminal_output:
            category = category_of(body)
            text = self._held.pop(category, "") + text
            if text.endswith("\r"):
                self._held[category], text = "\r", text[:-1]
            text = text.replace("\r\n", "\n")
        told, failures = self._misfires.read(category_of(body), text)
        yield from failures
        told = _without(told, self._quirks.own_words)
        if body.get("category", "console") == "console":
            told = _without(told, self._quirks.own_console)
        if told or not body.get("output"):
            yield Event("output", {**body, "output": told})
        code = self._quirks.exit_code_in_output if is_legible(text) else ""
        found = re.search(code, text) if code else None
        if found:
            with contextlib.suppress(ValueError):
                yield Event("exited", {"exitCode": int(found[1])})


def _passing(wanted: dict[str, Any]) -> dict[str, Any]:
    """Return a breakpoint whose hit condition is the number of hits to pass, instead of the number of the hit to stop at."""
    number = str(wanted.get("hitCondition") or "").strip()
    passed = {"hitCondition": str(max(0, int(number) - 1))} if number.isdecimal() else {}
    return {**wanted, **passed}


def _without(text: str, own: str) -> str:
    """Return a text without the lines that are all of a pattern; an empty one is of none."""
    if not own:
        return text
    lines = text.splitlines(keepends=True)
    return "".join(
        line for line in lines if not (is_legible(line) and re.fullmatch(own, line.strip()))
    )


def _with(value: Value, own: Mapping[str, object]) -> Value:
    """Return a JSON value with these placeholders filled in; other similar text is the user's."""
    if isinstance(value, str):
        for name, known in own.items():
            value = value.replace(f"${{{name}}}", str(known))
        return value
    if is_object(value):
        return {key: _with(item, own) for key, item in value.items()}
    return [_with(item, own) for item in value] if is_array(value) else value
