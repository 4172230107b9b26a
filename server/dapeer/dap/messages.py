"""The three messages of the protocol, and their JSON.

Source: https://microsoft.github.io/debug-adapter-protocol/specification, "Base Protocol". Bodies stay plain
mappings in the specification's camelCase, so unknown fields survive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dapeer.base.json_types import as_object

Body: TypeAlias = Mapping[str, Any]


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
    """0: the response to a request of another client of the same session."""
    command: str
    success: bool
    body: Body = field(default_factory=dict[str, Any])
    message: str | None = None
    arguments: Body = field(default_factory=dict[str, Any])
    """The arguments of the request. Not on the wire: the channel adds them."""
    seq: int = 0

    def failure(self) -> str:
        """Return the adapter's reason why the request failed, without terminal colours; never empty.

        The reason is `body.error.format`, with its `{name}` placeholders replaced by `body.error.variables`, or
        else `message`; adapters use either, or both. Where both are empty, the text says that the command failed
        without a reason. Call it only for a response with `success=False`.
        """
        detail = _formatted(as_object(self.body.get("error")))
        words = uncoloured(detail or str(self.message or "")).strip()
        return words or f"{self.command} failed without giving a reason"


@dataclass(frozen=True, slots=True)
class Event:
    """An event of the adapter."""

    event: str
    body: Body = field(default_factory=dict[str, Any])
    seq: int = 0


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""Escape sequences that colour text in a terminal: GDB and LLDB also use them in errors."""

Message: TypeAlias = Request | Response | Event


def uncoloured(text: str) -> str:
    r"""Return `text` without the escape sequences that colour text in a terminal.

    >>> uncoloured('Use the "\x1b[1mfile\x1b[m" command.')
    'Use the "file" command.'
    """
    return _COLOUR.sub("", text)


def _formatted(error: Body) -> str:
    """Return DAP's `error.format` with its `{name}` placeholders replaced by `error.variables`.

    A placeholder without a variable stays as it is; the text is empty if `error` has no `format`.
    """
    variables = as_object(error.get("variables"))
    text = str(error.get("format") or "")
    return re.sub(r"\{(\w+)\}", lambda m: str(variables.get(m[1], m[0])), text)


def describe(message: Message) -> str:
    """Return a short name of a message for a log line: its kind, number and command, or the event's name.

    The number in a response's name is that of its request; a failed response ends with ` (failed)`. Bodies and
    arguments are left out.

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
    """Return the UTF-8 JSON of one DAP message, without a `Content-Length` header.

    The field `message` of a response is written only if it is not None; the request's `arguments`, which a `Response` carries, never are.
    """
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
