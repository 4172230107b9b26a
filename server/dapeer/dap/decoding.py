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
    """Return the DAP message in the JSON text of one frame, or None if it is not a valid message.

    None means: no JSON, no object whose `type` is `request`, `response` or `event`, or nested deeper than `MAX_LEVELS`
    (readers may walk through a body by recursion). All else that adapters send against the specification is repaired: a body that is a
    list or a string becomes an empty object, bytes that are not UTF-8 become U+FFFD, lone surrogates become readable
    escapes, and fields of the wrong type are converted or left out, so that no reader has to check them.
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
    """Return whether lists and objects in a decoded JSON value are nested deeper than `MAX_LEVELS`."""
    level: list[Iterable[object]] = [[value]]
    for _ in range(MAX_LEVELS + 1):
        level = [
            _INNER[type(each)](each) for values in level for each in values if type(each) in _INNER
        ]
        if not level:
            return False
    return True


def from_json(value: object) -> Message | None:
    """Return the DAP message in a decoded JSON value, its body normalized; None if it is no message."""
    message = _message(value)
    return None if message is None else shaped(message)


def _message(value: object) -> Message | None:
    """Return the DAP message in a decoded JSON value, its body not normalized; None if it is no message.

    It is a message if it is an object whose `type` is `event`, `response` or `request`. A number that is missing or no integer
    is 0, a missing body or missing arguments are an empty mapping, and a missing `success` is False.
    """
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
    """Return `value` if it is an integer, else 0."""
    return value if isinstance(value, int) else 0


def _text(value: object) -> str | None:
    return None if value is None else str(value)


_SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(value: Value) -> Value:
    r"""Return a JSON value whose texts and keys have escapes, such as `\xff`, for lone surrogates.

    No UTF-8 encoder accepts lone surrogates; U+DC80 to U+DCFF are how Python programs carry raw bytes ("surrogateescape").
    Lists and objects are copied with all that is in them; other values are returned as they are.

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
