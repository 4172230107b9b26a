"""A transport that carries the messages of an adapter, made ordinary by `normalizer`."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import anyio

from dapeer.adapters.definition.placeholders import fill_known
from dapeer.adapters.definition.quirks import (
    FailedBreakpointReader,
    Quirks,
    SentBreakpoints,
    category_of,
    is_legible,
    without_lines,
)
from dapeer.adapters.process.tail import without_patches_off
from dapeer.base.errors import ProtocolError
from dapeer.base.json_types import Value, as_array, as_object, is_array, is_object
from dapeer.base.system.tasks import BackgroundTask, Mailbox
from dapeer.companions.python.dapeer_debuggee.patching import EVENT
from dapeer.dap.messages import Body, Event, Message, Request, Response, describe
from dapeer.dap.requests import NEEDS, OPTIONS, RESUMES, STEPS
from dapeer.dap.transport import Transport

# Normalizes an adapter's messages by the quirks of its definition. Pure.

CAPABILITIES = {**NEEDS, **OPTIONS}
"""By request, or option of requests."""
_IN_MESSAGE = re.compile(r"\{((?:[^{}]|\{[^{}]*\})*)\}")
"""An expression in a log message, which may have braces itself."""
UNPROVEN = "any name is taken; the program stops once a function of this name is called"
OURS = 1 << 30
"""Number of the one request that is sent from here; those of a session begin at 1."""
FRAMES = "dapeerFrames"
"""Where such an answer has all frames of a deep stack: see `with_all_frames`."""


class Normalizer:
    """Turns each message into those that an ordinary adapter would have sent. Pure."""

    def __init__(
        self,
        quirks: Quirks,
        *,
        stop_on_entry: bool,
        sent: SentBreakpoints | None = None,
        patch_mark: str = "",
    ) -> None:
        """Keep what an adapter's messages are normalized by.

        `quirks` are of its definition; `stop_on_entry`: the first stop is wanted. `sent` has the breakpoints that all processes
        of the program got. `patch_mark` is the secret by which the adapter tells of patches that are off; empty: it does not.
        """
        self._quirks = quirks
        self._patch_mark = patch_mark
        self._sent_breakpoints = SentBreakpoints() if sent is None else sent
        self._failure_reader = FailedBreakpointReader(quirks.failed, self._sent_breakpoints)
        self._is_first_stop = True
        self._stepping = False
        """Whether the program was last resumed by a step."""
        self._interrupted_steppers: set[object] = set()
        """Threads whose steps were interrupted by the stop of another thread."""
        self._stepper: object = None
        """The thread of the last step."""
        self._configured = False
        """Whether the adapter knows all breakpoints."""
        self._is_running_on = False
        """Whether the program has been resumed from the first stop and has not stopped since.

        Some adapters repeat that stop.
        """
        self._stop_on_entry = stop_on_entry
        self._has_terminated = False
        self._ignored_events: set[str] = set()
        """Events that are no news when they come next."""
        self._carriage_returns: dict[str, str] = {}
        """By category: a CR at the end of output, whose LF may follow."""

    def record_sent(self, message: Message) -> None:
        """Record a message that goes to the adapter, by which its later answers and stops are understood.

        Only `setBreakpoints`, `pause` and requests that resume or step are recorded; any other message changes
        nothing. The message itself is not changed.
        """
        if isinstance(message, Request):
            self._failure_reader.record_sent(message)
            if message.command == "pause":
                self._is_running_on = False
            if message.command in RESUMES:
                self._stepping = message.command in STEPS
                self._stepper = message.arguments.get("threadId") if self._stepping else None
                self._interrupted_steppers.discard(self._stepper)

    def adapt(self, message: Message) -> Message:
        """Return a message as this adapter needs it: with other expressions, hit counts and conditions.

        Only `evaluate` and requests with `breakpoints` are changed, by the adapter's quirks; any other comes back as it is. The argument
        itself is not changed.
        """
        quirks = self._quirks
        if not isinstance(message, Request):
            return message
        if message.command == "evaluate" and quirks.quoted:
            return _quoted(message, quirks.quoted)
        if not (quirks.passes_hits or quirks.private):
            return message
        if "breakpoints" not in message.arguments:
            return message
        breakpoints = as_array(message.arguments["breakpoints"])
        if quirks.passes_hits:
            breakpoints = [_with_hits_to_pass(each) for each in breakpoints]
        if quirks.private:
            breakpoints = [_with_compilable_expressions(each, quirks) for each in breakpoints]
        return replace(message, arguments={**message.arguments, "breakpoints": breakpoints})

    def normalize(self, message: Message) -> Iterator[Message]:
        """Yield the messages that replace a message of the adapter, maybe none.

        A `Request` with the number `OURS` is to be sent to the adapter; all others are for the session.
        """
        if not isinstance(message, Event) or not self._is_ignored_event(
            message.event, message.body
        ):
            yield from self._normalized_messages(message)

    def take_held(self) -> Iterator[Message]:
        """Yield the messages that were held back, when nothing more comes from the adapter."""
        yield from self._failure_reader.take_held()

    def _normalized_messages(self, message: Message) -> Iterator[Message]:
        """Yield the messages that an ordinary adapter would have sent in place of `message`; maybe none.

        A yielded `Request` has the number `OURS`, and is to be sent to the adapter; an unwanted entry stop of a
        child process becomes such a `continue` request, for instance. The responses to these requests are dropped.
        After `terminated`, `output` events of an adapter with the quirk `last_words_of_adapter` are dropped, except
        those on `stdout`; its other messages still come.

        Raises:
            LookupError: A response's folded stack has a frame whose place is not in the response.
            ValueError: A response's folded stack does not have as many ids as places.
        """
        match message:
            case Event(event="stopped", body=body) if self._is_childs_entry(body):
                yield Request(OURS, "continue", {"threadId": body.get("threadId")})
            case Event(event="stopped", body=body):
                yield from self._stopped(body)
            case Event(event="output", body=body) if (
                self._has_terminated and body.get("category") != "stdout"
            ):
                return
            case Event(event="output", body=body):
                yield from self._output(body)
            case Response(request_seq=request_seq) if request_seq == OURS:
                return
            case Response():
                yield self._answer(message)
            case Event(event="terminated"):
                self._has_terminated = self._quirks.last_words_of_adapter
                yield message
            case _:
                yield message

    def _answer(self, message: Response) -> Response:
        """Return a response as an ordinary adapter would have sent it, by the quirks for its command.

        Error texts, capabilities, unproven function breakpoints, values, names of threads and folded stacks are
        changed, in a new response; any other response is returned as it is. With the quirk
        `error_text` every failure loses its body. The call records that `configurationDone` was answered, unless
        with such a failure.

        Raises:
            LookupError: A folded stack has a frame whose place is not in the response.
            ValueError: A folded stack does not have as many `ids` as entries of `like`.
        """
        match message:
            case Response(success=False) if self._quirks.error_text:
                return replace(message, message=self._quirks.error_in(message.failure()), body={})
            case Response(command="initialize", body=body):
                lacking = {CAPABILITIES[name] for name in self._quirks.refuses}
                known = {name: value for name, value in body.items() if name not in lacking}
                return replace(message, body=known)
            case Response(command="configurationDone"):
                self._configured = True
                return message
            case Response(command="setFunctionBreakpoints", body=body) if (
                not self._quirks.verifies_functions
            ):
                made = [_as_pending(each) for each in as_array(body.get("breakpoints", []))]
                return replace(message, body={**body, "breakpoints": made})
            case Response(command="variables" | "evaluate" | "setVariable", body=body) if (
                self._quirks.value_tail
            ):
                tail = rf"(?:{self._quirks.value_tail})\Z"
                variables = [
                    _without_matches(each, "value", tail)
                    for each in as_array(body.get("variables", []))
                ]
                rest = _without_matches(_without_matches(body, "value", tail), "result", tail)
                return replace(
                    message, body={**rest, "variables": variables} if variables else rest
                )
            case Response(command="threads", body=body) if mark := self._quirks.thread_mark:
                named = [
                    _without_matches(each, "name", rf"\A(?:{mark})")
                    for each in as_array(body.get("threads"))
                ]
                return replace(message, body={**body, "threads": named})
            case Response(command="stackTrace", body=body) if FRAMES in body:
                return replace(message, body=with_all_frames(body))
            case _:
                return message

    def _is_ignored_event(self, name: str, body: Mapping[str, Any]) -> bool:
        """Return whether an event is to be dropped, as it only reports what the adapter does to respond.

        Dropped are an `output` event in whose text the quirk `runs_meanwhile` (a regular expression) is found, and
        after it the next `continued` and the next `stopped`. The call records that these two are awaited, and which of
        them has come, so it is to be made once for each event. Without the quirk nothing is dropped, nor is output that
        is very long or has a very long line. `name` is the event's name, `body` its body.
        """
        if name in self._ignored_events:
            self._ignored_events.discard(name)
            return True
        pattern = self._quirks.runs_meanwhile
        text = str(body.get("output")) if name == "output" else ""
        if pattern and is_legible(text) and re.search(pattern, text):
            self._ignored_events = {"continued", "stopped"}
            return True
        return False

    def _is_childs_entry(self, body: Mapping[str, Any]) -> bool:
        """Return whether a process, not the program's first, has stopped at its entry and at nothing else.

        `body` is that of the `stopped` event. The first process that has stopped so is remembered.
        """
        if body.get("reason") != "entry" or body.get("hitBreakpointIds"):
            return False
        return not self._sent_breakpoints.claim_first_entry(self)

    def _real_reason(self, body: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a part of a message
        """Return a `stopped` event's `reason` as an ordinary adapter would give it; `body` is the event's.

        By the adapter's quirks, an `exception` or a `breakpoint` becomes `pause` or `data breakpoint` if its
        description and text match a pattern (which too long ones never do), and a `step` that nobody asked for
        becomes `unasked_step`, if that is set. Any other reason, or None, comes back as it is. If another thread
        stops than the one that steps, that step is recorded as interrupted: the next stop of its thread still counts
        as asked for.
        """
        reason, quirks = body.get("reason"), self._quirks
        text = f"{body.get('description') or ''} {body.get('text') or ''}"
        reads = quirks.pause_reads if is_legible(text) else ""
        if reason == "exception" and reads and re.search(reads, text):
            reason = "pause"
        writes = quirks.write_reads if is_legible(text) else ""
        if reason == "breakpoint" and writes and re.search(writes, text):
            reason = "data breakpoint"
        thread = body.get("threadId")
        if reason == "step" and not (self._stepping or thread in self._interrupted_steppers):
            reason = quirks.unasked_step or reason
        self._interrupted_steppers.discard(thread)
        if self._stepping and thread != self._stepper:
            self._interrupted_steppers.add(self._stepper)
        return reason

    def _stopped(self, body: Mapping[str, Any]) -> Iterator[Message]:
        """Yield the `stopped` event with its real reason, or a `continue` request for an unwanted first stop.

        Unwanted is one with the reason that the quirk `skip_first_stop` names, unless a stop on entry is requested;
        with that a first `pause` becomes `entry`. For an adapter with this quirk, nothing is yielded for a stop
        before all breakpoints are set, or for one that the adapter repeats. `body` is the event's.
        """
        reason, quirks = self._real_reason(body), self._quirks
        # Without a quirk, no stop is unwanted, not even one that gives no reason.
        unwanted = bool(reason) and quirks.skip_first_stop == reason
        if quirks.skip_first_stop and not self._configured:
            # The adapter repeats it after all breakpoints are set, maybe for another reason; resuming now
            # would run past them.
            return
        if unwanted and self._is_running_on:
            return
        self._is_running_on = False
        first, self._is_first_stop = self._is_first_stop, False
        if first and unwanted and not self._stop_on_entry:
            self._is_running_on = True
            yield Request(OURS, "continue", {"threadId": body.get("threadId")})
            return
        # No client can have requested a pause before the first stop, unless that never came.
        if first and reason == "pause" and self._stop_on_entry:
            reason = "entry"
        yield Event("stopped", {**body, "reason": reason})

    def _output(self, body: Mapping[str, Any]) -> Iterator[Message]:
        """Yield the events for an `output` event's body: failures, patches that are off, output, an exit.

        The adapter's own lines, all text from a crash report on (except `stdout`), and carriage returns of a
        terminal before a line feed are removed as the adapter's quirks say. Two things are held back until the next
        output of their category: a carriage return at the end of a terminal's text, and the beginning of a
        failure's report, which `take_held` yields if no output follows. If nothing is left of a text, no `output`
        event is yielded; a body without text is passed on. An exit code that the quirk `exit_code_in_output` finds,
        also in lines that are removed as the adapter's own, becomes an `exited` event.
        """
        text = str(body.get("output") or "")
        if body.get("category") != "stdout":
            text = self._before_crash(text)
        if self._quirks.terminal_output:
            category = category_of(body)
            text = self._carriage_returns.pop(category, "") + text
            if text.endswith("\r"):
                self._carriage_returns[category], text = "\r", text[:-1]
            text = text.replace("\r\n", "\n")
        output, failures = self._failure_reader.read(category_of(body), text)
        yield from failures
        output = without_lines(output, self._quirks.own_words)
        if self._patch_mark:
            # Rows in the program have no other way.
            output, off = without_patches_off(output, self._patch_mark)
            yield from (Event(EVENT, each) for each in off)
        if body.get("category", "console") == "console":
            output = without_lines(output, self._quirks.own_console)
        if output or not body.get("output"):
            yield Event("output", {**body, "output": output})
        code = self._quirks.exit_code_in_output if is_legible(text) else ""
        found = re.search(code, text) if code else None
        if found:
            with contextlib.suppress(ValueError):
                yield Event("exited", {"exitCode": int(found[1])})

    def _before_crash(self, text: str) -> str:
        """Return the adapter's output up to its crash report; after one, later output is dropped, too."""
        before = self._quirks.before_crash(text)
        self._has_terminated |= before is not text
        return before


def _without_matches(described: Any, key: str, part: str) -> dict[str, Any]:  # noqa: ANN401 - a part of a message
    """Return a dict with all matches of the pattern `part` removed from the text at `key`, if any.

    `described` stays as it is.
    """
    text = described.get(key)
    if not isinstance(text, str) or not is_legible(text):
        return dict(described)
    return {**described, key: re.sub(part, "", text)}


def _as_pending(made: object) -> Body:
    """Return a verified function breakpoint as pending, since this adapter verifies any name.

    Other breakpoints come back as they are.
    """
    told = as_object(made)
    if not told.get("verified"):
        return told
    return {**told, "verified": False, "reason": "pending", "message": UNPROVEN}


def _quoted(evaluation: Request, pattern: str) -> Request:
    """Return an `evaluate` whose expression is in double quotes, if it matches a pattern as a whole."""
    expression = str(evaluation.arguments.get("expression") or "").strip()
    if not is_legible(expression) or not re.fullmatch(pattern, expression):
        return evaluation
    return replace(evaluation, arguments={**evaluation.arguments, "expression": f'"{expression}"'})


def _with_hits_to_pass(requested: dict[str, Any]) -> dict[str, Any]:
    """Return a breakpoint whose numeric hit condition is one less: the hits before the stop."""
    number = str(requested.get("hitCondition") or "").strip()
    passed = {"hitCondition": str(max(0, int(number) - 1))} if number.isdecimal() else {}
    return {**requested, **passed}


def _with_compilable_expressions(point: dict[str, Any], quirks: Quirks) -> dict[str, Any]:
    """Return a copy of a breakpoint whose expressions the adapter can compile, with private members, too.

    `point` is the breakpoint in DAP's terms; the dict itself is not changed. Its whole `condition`, and each
    expression in braces in its `logMessage`, is replaced by what `quirks.compilable_expression` returns: most stay as
    they are.
    """
    sent = dict(point)
    if "condition" in point:
        sent["condition"] = quirks.compilable_expression(str(point["condition"]))
    if "logMessage" in point:
        sent["logMessage"] = _IN_MESSAGE.sub(
            lambda found: f"{{{quirks.compilable_expression(found[1])}}}", str(point["logMessage"])
        )
    return sent


def with_all_frames(body: Body) -> Body:
    """Return the body of a `stackTrace` response with all its frames; without the key `FRAMES` as it is.

    dapeer's own code in a Python program answers with one frame for each place in `stackFrames`, and the object
    `dapeerFrames`: in it `ids` are those of all frames, and `like` says for each which of the places it is at, by
    index. The argument is not changed.

    Raises:
        LookupError: A frame's place is not in the response.
        ValueError: There are not as many `ids` as entries in `like`.
    """
    if FRAMES not in body:
        return body
    places, folded = as_array(body.get("stackFrames")), as_object(body[FRAMES])
    ids, like = as_array(folded.get("ids")), as_array(folded.get("like"))
    frames = [{**places[place], "id": number} for number, place in zip(ids, like, strict=True)]
    return {**{key: item for key, item in body.items() if key != FRAMES}, "stackFrames": frames}


log = logging.getLogger(__name__)


class NormalizedTransport:
    """A transport to an adapter with quirks, or with a program whose output comes another way."""

    def __init__(
        self,
        inner: Transport,
        quirks: Quirks,
        placeholders: Mapping[str, object],
        *,
        stop_on_entry: bool,
        settle: Callable[[], Awaitable[None]],
        sent: SentBreakpoints,
        patch_mark: str = "",
    ) -> None:
        """Begin to receive from the adapter at `inner`, in a task of its own.

        `placeholders` are values by name (`port` for `${port}`), known only once the adapter runs, for the arguments of `launch` and
        `attach`; `settle` waits, at the end, for the program's output; by `patch_mark` the adapter tells of patches that are off. `sent`
        has the breakpoints that all processes of the program got.
        """
        self._inner = inner
        self._placeholders = placeholders
        self._quirks = quirks
        self._settle = settle
        self._messages = Mailbox[Message]()
        self._breach: ProtocolError | None = None
        self._normalizer = Normalizer(
            quirks, stop_on_entry=stop_on_entry, sent=sent, patch_mark=patch_mark
        )
        self._pump = BackgroundTask(self._receive())

    def queue_output(self, category: str, text: str) -> None:
        """Queue output of the program that does not come by the adapter's messages; `category` is DAP's."""
        for message in self._normalize(Event("output", {"category": category, "output": text})):
            self._messages.put(message)

    async def send(self, message: Message) -> None:
        """Send a message, as this adapter needs it; a request that its quirks refuse is answered here instead.

        The answer, a failed response with the reason, is queued for `receive`; nothing is sent or recorded then. What
        is sent is recorded, and placeholders in `launch` and `attach` are filled in.

        Raises:
            anyio.BrokenResourceError: The adapter has closed the connection.
            anyio.ClosedResourceError: `send_eof` or `aclose` was called.
        """
        if isinstance(message, Request) and (why := self._quirks.why_refused(message)):
            self._messages.put(Response(message.seq, message.command, success=False, message=why))
            return
        if isinstance(message, Request) and message.command in {"launch", "attach"}:
            message = replace(
                message, arguments=_fill_placeholders(message.arguments, self._placeholders)
            )
        self._normalizer.record_sent(message)
        await self._inner.send(self._normalizer.adapt(message))

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

    def _normalize(self, message: Message) -> list[Message]:
        """Return the messages that replace a message; if a quirk cannot be applied, the message itself."""
        try:
            return list(self._normalizer.normalize(message))
        except Exception:
            log.exception("a quirk of the adapter cannot be applied to its %s", describe(message))
            return [message]

    async def _receive(self) -> None:
        """Queue the adapter's normalized messages until its end, and send it the requests that they call for.

        When the adapter has ended, the program's last output is awaited, what was held back is queued, and the
        queue ends. A message that breaks the protocol ends the queue, too, without waiting for output, and is kept
        as an error for the reader of the queue.
        """
        try:
            while True:
                for message in self._normalize(await self._inner.receive()):
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
            for message in self._normalizer.take_held():
                self._messages.put(message)
            self._messages.end()


def _fill_placeholders(value: Value, placeholders: Mapping[str, object]) -> Value:
    """Return a JSON value in whose texts `${NAME}` is replaced for each NAME in `placeholders`.

    Keys are bare names: `port` stands for `${port}`. Their values are inserted as text. Keys of objects stay as they are, and other text
    like `${…}`, too: it is the user's.
    """
    if isinstance(value, str):
        return fill_known(value, placeholders)
    if is_object(value):
        return {key: _fill_placeholders(item, placeholders) for key, item in value.items()}
    return [_fill_placeholders(item, placeholders) for item in value] if is_array(value) else value
