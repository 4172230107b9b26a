"""Decodes an adapter's messages, so that all readers can rely on their shape. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dapeer.base.json_types import Value, as_object, is_array, is_object
from dapeer.dap.messages import Event, Message, Request, Response
from dapeer.dap.shapes import shaped

MAX_LEVELS = 100
"""Levels of objects and lists in each other; the protocol's own are less than ten."""


def decode(data: bytes) -> Message | None:
    """Return the message in one JSON body, or None when it is not one of the three.

    Adapters send more than the specification allows: bodies that are lists or strings, a null
    `message`, bytes that are not UTF-8, and lone surrogates for a program's raw bytes. All of it is
    made harmless here, and bodies get the specification's shape, so that no other module has to think of it. What is nested deeper than `MAX_LEVELS`
    is no message, either: who walks through a body may do so by recursion.
    """
    try:
        value = json.loads(data.decode("utf-8", "replace"))
        if data.count(b"[") + data.count(b"{") > MAX_LEVELS and _is_deep(value):
            return None
        if b"\\u" in data:
            value = without_surrogates(value)
    except (ValueError, RecursionError):
        return None
    return from_json(value)


_INNER: Mapping[type, Callable[[Any], Iterable[object]]] = {
    dict: dict[str, Any].values,
    list: list[Any].__iter__,
}
"""By the type of a decoded object or list: what returns the values in it."""


def _is_deep(value: object) -> bool:
    """Whether a decoded value is nested deeper than `MAX_LEVELS`."""
    level: list[Iterable[object]] = [[value]]
    for _ in range(MAX_LEVELS + 1):
        level = [
            _INNER[type(each)](each) for values in level for each in values if type(each) in _INNER
        ]
        if not level:
            return False
    return True


def from_json(value: object) -> Message | None:
    """Return the message in a decoded JSON value, with its body normalized; None if it is no message."""
    message = _message(value)
    return None if message is None else shaped(message)


def _message(value: object) -> Message | None:
    if not is_object(value):
        return None
    seq = _integer(value.get("seq"))
    match value.get("type"):
        case "event":
            return Event(str(value.get("event")), as_object(value.get("body")), seq)
        case "response":
            return Response(
                request_seq=_integer(value.get("request_seq")),
                command=str(value.get("command") or ""),
                success=bool(value.get("success")),
                body=as_object(value.get("body")),
                message=_text(value.get("message")),
                seq=seq,
            )
        case "request":
            return Request(seq, str(value.get("command")), as_object(value.get("arguments")))
        case _:
            return None


def _integer(value: object) -> int:
    return value if isinstance(value, int) else 0


def _text(value: object) -> str | None:
    return None if value is None else str(value)


_SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(value: Value) -> Value:
    r"""Replace lone surrogates, which no UTF-8 encoder accepts, by readable escapes.

    U+DC80 to U+DCFF are how Python programs carry raw bytes ("surrogateescape").

    >>> without_surrogates("a\udcffb")
    'a\\xffb'
    """
    if isinstance(value, str):
        return _SURROGATE.sub(_escape, value)
    if is_array(value):
        return [without_surrogates(item) for item in value]
    if is_object(value):
        return {without_surrogates(k): without_surrogates(v) for k, v in value.items()}
    return value


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
