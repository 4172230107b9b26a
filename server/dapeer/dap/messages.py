"""The three messages of the protocol, and their JSON.

Source: https://microsoft.github.io/debug-adapter-protocol/specification, "Base Protocol".
Bodies stay plain mappings in the specification's camelCase, so fields that nobody here knows survive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

Body: TypeAlias = Mapping[str, Any]

DEEPEST = 100
"""Levels of objects and lists in each other; the protocol's own are less than ten."""


@dataclass(frozen=True, slots=True)
class Request:
    """Something that one side asks of the other."""

    seq: int
    command: str
    arguments: Body = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to a request."""

    request_seq: int
    """0 when nobody here asked: the answer to a request of another client of the same session."""
    command: str
    success: bool
    body: Body = field(default_factory=dict[str, Any])
    message: str | None = None
    arguments: Body = field(default_factory=dict[str, Any])
    """What was asked. Not on the wire: filled in by the channel that saw the request."""
    seq: int = 0

    def failure(self) -> str:
        """Return the adapter's own words for why the request failed.

        The text is in `message` or in `body.error.format`, whose `{name}` placeholders stand for
        `body.error.variables`; adapters use either, or both.
        """
        error = self.body.get("error")
        detail = _formatted(cast("Body", error)) if isinstance(error, Mapping) else ""
        words = _COLOUR.sub("", detail or str(self.message or "")).strip()
        return words or f"{self.command} failed without a reason"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that the adapter tells unasked."""

    event: str
    body: Body = field(default_factory=dict[str, Any])
    seq: int = 0


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""What colours text in a terminal: GDB and LLDB do so in errors, too."""

Message: TypeAlias = Request | Response | Event


def _formatted(error: Body) -> str:
    variables = cast("Body", error.get("variables") or {})
    text = str(error.get("format") or "")
    return re.sub(r"\{(\w+)\}", lambda m: str(variables.get(m[1], m[0])), text)


def describe(message: Message) -> str:
    """Name a message in a log line.

    >>> describe(Request(2, "next"))
    'request #2 next'
    """
    match message:
        case Request(seq=seq, command=command):
            return f"request #{seq} {command}"
        case Response(request_seq=seq, command=command, success=success):
            return f"response to #{seq} {command}{'' if success else ' (failed)'}"
        case Event(event=event):
            return f"event {event}"


def encode(message: Message) -> bytes:
    """Return the JSON of a message."""
    match message:
        case Request():
            value = {"type": "request", "command": message.command, "arguments": message.arguments}
        case Response():
            value = {
                "type": "response",
                "request_seq": message.request_seq,
                "command": message.command,
                "success": message.success,
                "body": message.body,
            }
            if message.message is not None:
                value["message"] = message.message
        case Event():
            value = {"type": "event", "event": message.event, "body": message.body}
    return json.dumps({"seq": message.seq, **value}, separators=(",", ":")).encode()


def decode(data: bytes) -> Message | None:
    """Return the message in one JSON body, or None when it is not one of the three.

    Adapters send more than the specification allows: bodies that are lists or strings, a null
    `message`, bytes that are not UTF-8, and lone surrogates for a program's raw bytes. All of it is
    made harmless here, so that no other module has to think of it. What is nested deeper than `DEEPEST`
    is no message, either: who walks through a body may do so by recursion.
    """
    try:
        value = json.loads(data.decode("utf-8", "replace"))
        if data.count(b"[") + data.count(b"{") > DEEPEST and _is_deep(value):
            return None
        if b"\\u" in data:
            value = without_surrogates(value)
    except (ValueError, RecursionError):
        return None
    return from_json(value)


def _is_deep(value: object) -> bool:
    """Whether a value is nested deeper than `DEEPEST`."""
    level = [value]
    for _ in range(DEEPEST):
        level = [each for outer in level for each in _inner(outer)]
        if not level:
            return False
    return True


def _inner(value: object) -> list[object]:
    """Return the objects and lists in an object or a list."""
    match value:
        case dict():
            values: Iterable[object] = cast("dict[str, object]", value).values()
        case list():
            values = cast("list[object]", value)
        case _:
            return []
    return [each for each in values if isinstance(each, dict | list)]


def from_json(value: object) -> Message | None:
    """Return the message that a decoded JSON value stands for, or None when it stands for none."""
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    seq = _integer(fields.get("seq"))
    match fields.get("type"):
        case "event":
            return Event(str(fields.get("event")), _mapping(fields.get("body")), seq)
        case "response":
            return Response(
                request_seq=_integer(fields.get("request_seq")),
                command=str(fields.get("command") or ""),
                success=bool(fields.get("success")),
                body=_mapping(fields.get("body")),
                message=_text(fields.get("message")),
                seq=seq,
            )
        case "request":
            return Request(seq, str(fields.get("command")), _mapping(fields.get("arguments")))
        case _:
            return None


def _integer(value: object) -> int:
    return value if isinstance(value, int) else 0


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _mapping(value: object) -> Body:
    return cast("Body", value) if isinstance(value, dict) else {}


_SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    r"""Replace lone surrogates, which no UTF-8 encoder accepts, by readable escapes.

    U+DC80 to U+DCFF are how Python programs carry raw bytes ("surrogateescape").

    >>> without_surrogates("a\udcffb")
    'a\\xffb'
    """
    match value:
        case str():
            return _SURROGATE.sub(_escape, value)
        case list():
            return [without_surrogates(item) for item in cast("list[Any]", value)]
        case dict():
            fields = cast("dict[str, Any]", value)
            return {without_surrogates(k): without_surrogates(v) for k, v in fields.items()}
        case _:
            return value


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
