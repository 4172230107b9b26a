"""Decodes an adapter's messages, so that all readers can rely on their shape. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import (
    Any,
    NotRequired,
    TypeAlias,
    TypedDict,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from dapeer.base.json_types import Value, as_object, is_array, is_object
from dapeer.dap.messages import Body, Event, Message, Request, Response
from dapeer.dap.types import EVENTS, REQUESTS, RESPONSES

MAX_LEVELS = 100
"""Levels of objects and lists in each other; the protocol's own are less than ten."""


def decode(data: bytes) -> Message | None:
    """Return the DAP message in the JSON text of one frame, or None if it is not a valid message.

    None means: no JSON, no object whose `type` is `request`, `response` or `event`, a request without the text
    `command`, an event without the text `event`, or nested deeper than `MAX_LEVELS` (readers may walk through a
    body by recursion). All else that adapters send against the specification is repaired: a body that is no
    object becomes an empty one, bytes that are not UTF-8 become U+FFFD, lone surrogates become readable escapes,
    and fields of the wrong type are converted or left out, so that no reader has to check them.
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

    It is a message if it is an object whose `type` is `event`, `response` or `request`; an event has the text
    `event`, a request the text `command`. A number that is missing or no integer is 0; a body or arguments that are
    missing or no object are an empty mapping; a missing `success` is False. The `command` of a response without one
    is empty. A response's `message` is given as text, and None if it is missing.
    """
    if not is_object(value):
        return None
    seq = _whole_number(value.get("seq"))
    match value:
        case {"type": "event", "event": str(name)}:
            return Event(name, as_object(value.get("body")), seq)
        case {"type": "response"}:
            return Response(
                request_seq=_whole_number(value.get("request_seq")),
                command=str(value.get("command") or ""),
                success=bool(value.get("success")),
                body=as_object(value.get("body")),
                message=_text_or_none(value.get("message")),
                seq=seq,
            )
        case {"type": "request", "command": str(command)}:
            return Request(seq, command, as_object(value.get("arguments")))
        case _:
            return None


def _whole_number(value: object) -> int:
    """Return `value` if it is an integer, else 0."""
    return value if isinstance(value, int) else 0


def _text_or_none(value: object) -> str | None:
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


# Bodies in the specification's shape.
#
# A field that `dap/types` names has the type that it says, or is absent, so readers need no checks.
# Other fields pass unchanged.

Annotation: TypeAlias = Any
"""The type of a field in `dap/types`."""
Check = Callable[[object], Value]
"""Returns a value as it should be, the same one where it is so already, or `ABSENT`."""

EventHandler: TypeAlias = Callable[[Any], None]
"""Applies an event; it gets the body: a `Body`, or of the type in `EVENTS` of `dap/types`."""
ResponseHandler: TypeAlias = Callable[[Body, Any], None]
"""Applies a response; it gets the request's arguments, and the body, of the type in `RESPONSES`."""

ABSENT = object()
LARGEST_INTEGER = 2**63 - 1
IDENTITIES = frozenset({"id", "threadId"})
"""Without one of these fields an object is useless, so all of it is left out."""


class BreakpointFailedEventBody(TypedDict):
    """A condition or log message could not be evaluated; no event of the protocol's, see `failures`."""

    kind: NotRequired[str]
    expression: NotRequired[str]
    path: NotRequired[str]
    line: NotRequired[int]
    error: NotRequired[str]
    count: NotRequired[int]


class PatchOffEventBody(TypedDict):
    """A patch of dapeer's is off; no event of the protocol's, see `failures`."""

    name: NotRequired[str]
    lost: NotRequired[str]
    why: NotRequired[str]


class FileNamedEventBody(TypedDict):
    """The program has another name of a file with breakpoints; no event of the protocol's."""

    path: NotRequired[str]
    name: NotRequired[str]


_EVENTS = {
    **EVENTS,
    "breakpointFailed": BreakpointFailedEventBody,
    "dapeerPatchOff": PatchOffEventBody,
    "dapeerFileNamed": FileNamedEventBody,
}


M = TypeVar("M", bound=Message)


def shaped(message: M) -> M:
    """Return a message whose body, or arguments, have DAP's types; the same object if they do already.

    Fields of a wrong type are converted where that is clear (`"12"` to 12), else left out. Required fields but
    flags that an object within the body lacks are added, empty; those of the body itself are not. A body that is no
    object, or lacks a required `id` or `threadId`, becomes empty. Unknown fields and bodies of unknown messages
    pass unchanged. A response must carry its command, which determines the shape. The body of a failed response is
    not touched.
    """
    match message:
        case Event(event=name, body=body):
            fitting = _as_shape(_EVENTS, name, body)
            return message if fitting is body else replace(message, body=fitting)
        case Response(command=command, success=True, body=body):
            fitting = _as_shape(RESPONSES, command, body)
            return message if fitting is body else replace(message, body=fitting)
        case Request(command=command, arguments=arguments):
            fitting = _as_shape(REQUESTS, command, arguments)
            return message if fitting is arguments else replace(message, arguments=fitting)
        case _:
            return message


def _as_shape(kinds: Mapping[str, type], name: str, body: Body) -> Body:
    """Return `body` in the shape of the TypedDict `kinds[name]`; unchanged if `kinds` has no such name.

    `kinds` maps an event's name, or a request's command, to the type of its body. The result is empty if the body cannot be repaired.
    """
    kind = kinds.get(name)
    if kind is None:
        return body
    fitting = _body(kind)(body)
    return {} if fitting is ABSENT else fitting


@cache
def _body(kind: type) -> Check:
    """Return the check of a message's whole body of the TypedDict `kind`; it adds no missing fields."""
    return _object(kind, complete=False)


@cache
def _check(hint: Annotation) -> Check:
    """Return the function that checks and mends a value of type `hint`, an annotation of `dap/types.py`.

    That function returns the value itself if it fits, a mended copy, or `ABSENT` if it cannot be mended. An object
    that lacks required fields gets them ("", 0, an empty list or object; flags are not added); only without a
    required `id` or `threadId` it is `ABSENT`. Items of a list that cannot be mended are dropped. `hint` may be a
    TypedDict, a list, a mapping (of which only the kind is checked), or str, int and bool, to which numbers, texts
    and flags are converted where that loses nothing. No other type may be used: a union or `Literal` would be
    checked as a mapping, and float is a `KeyError`. Each function is made once and kept.
    """
    if is_typeddict(hint):
        return _object(hint, complete=True)
    match get_origin(hint), get_args(hint):
        case None, _:
            return _SCALARS[hint]
        case origin, (item,) if origin is list:
            return _list(_check(item))
        case _:
            return _mapping


def _object(kind: type, *, complete: bool) -> Check:
    """Return the function that checks and mends an object of the TypedDict `kind`.

    It returns the object itself if all fields of `kind` have their types, else a copy, in which a field of another
    type is mended where that is possible, or left out; fields that `kind` does not name stay. With `complete` it
    adds required fields that are missing: "", 0, or an empty list or object, but never a flag. It returns `ABSENT`
    if a required `id` or `threadId` is missing or cannot be mended, or if the value is no object although `kind`
    requires one of these or such an added field; any other value that is no object becomes an empty object.
    """
    hints = get_type_hints(kind, include_extras=True)
    # A body may contain itself, so the check of a field is made when it is first needed.
    fields = {name: _required_type(hint) for name, hint in hints.items()}
    required = frozenset(
        name for name, hint in hints.items() if get_origin(hint) is not NotRequired
    )
    identities = required & IDENTITIES
    # A missing flag is false.
    defaults: Mapping[str, object] = {
        name: _default(fields[name])
        for name in required - identities
        if complete and fields[name] is not bool
    }

    expected = identities | defaults.keys()

    def check(value: object) -> Value:
        """Return `value` if it fits, else a copy with its fields mended, or `ABSENT` if it cannot be used.

        It cannot be used if it lacks an `id` or `threadId` that is required, or is no object although fields are expected.
        """
        # Most objects are as they should be.
        if is_object(value) and expected <= value.keys() and _has_types(fields, value):
            return value
        if not is_object(value) and expected:
            return ABSENT
        given = as_object(value)
        odd: dict[str, Any] = {}
        for name, hint in fields.items():
            item = given.get(name, ABSENT)
            fitting = ABSENT if item is ABSENT else _check(hint)(item)
            if fitting is not item or (item is ABSENT and name in expected):
                odd[name] = fitting
        if any(odd.get(name) is ABSENT for name in identities):
            return ABSENT
        if not odd and given is value:
            return given
        kept = {name: item for name, item in {**given, **odd}.items() if item is not ABSENT}
        return {**{name: _copy(default) for name, default in defaults.items()}, **kept}

    return check


def _has_types(fields: Mapping[str, Annotation], body: Mapping[str, Any]) -> bool:
    """Return whether no field of `body` needs to be mended; unknown and missing fields are ignored.

    `fields` maps the name of each known field to its type. Integers beyond 64 bits do not fit. In objects within
    `body`, a missing field that is required does count.
    """
    for name, item in body.items():
        hint = fields.get(name)
        if type(item) is hint and (hint is not int or -LARGEST_INTEGER <= item <= LARGEST_INTEGER):
            continue
        if hint is not None and _check(hint)(item) is not item:
            return False
    return True


def _required_type(hint: Annotation) -> Annotation:
    """Return the type inside of a `NotRequired`, or the type itself."""
    return get_args(hint)[0] if get_origin(hint) is NotRequired else hint


def _default(hint: Annotation) -> object:
    """Return the value of a missing required field of this type: "", 0, an empty list or an empty object."""
    if hint in _DEFAULTS:
        return _DEFAULTS[hint]
    return [] if get_origin(hint) is list else {}


def _copy(default: object) -> object:
    """Return a new empty list or object for a default that is one, so that messages do not share it."""
    return default if isinstance(default, str | int) else type(default)()


def _list(check: Check) -> Check:
    """Return the function that checks a list by calling `check` with each of its items.

    It returns the list itself if all items fit, or a new list of the mended items without those that were rejected, or `ABSENT` if the
    value is no list.
    """

    def checked(value: object) -> Value:
        """Return the list itself if all items fit, a new list of mended items, or `ABSENT` for no list."""
        if not is_array(value):
            return ABSENT
        fitting = [check(item) for item in value]
        if all(new is old for new, old in zip(fitting, value, strict=True)):
            return value
        return [item for item in fitting if item is not ABSENT]

    return checked


def _mapping(value: object) -> Value:
    """Return `value` if it is an object, whatever it contains, else `ABSENT`."""
    return value if is_object(value) else ABSENT


def _text(value: object) -> Value:
    """Return `value` as a text: numbers and booleans are converted (`true`, `1.5`); else `ABSENT`."""
    match value:
        case str():
            return value
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case _:
            return ABSENT


def _integer(value: object) -> Value:
    """Return `value` as an integer whose absolute value is at most `LARGEST_INTEGER`, or `ABSENT`.

    Whole floats are converted, and so are texts of ASCII digits alone (no sign, at most 18 digits), since Perl's
    adapter sends numbers as texts. Booleans and everything else give `ABSENT`.
    """
    match value:
        case bool():
            return ABSENT
        case int():
            return value if abs(value) <= LARGEST_INTEGER else ABSENT
        case float() if value.is_integer() and abs(value) <= LARGEST_INTEGER:
            return int(value)
        # Perl's adapter sends numbers as texts.
        case str() if (
            value.isascii() and value.isdigit() and len(value) < len(str(LARGEST_INTEGER))
        ):
            return int(value)
        case _:
            return ABSENT


def _truth(value: object) -> Value:
    """Return `value` as a boolean: 0 and 1 are converted; `ABSENT` for anything else."""
    match value:
        case bool():
            return value
        case 0 | 1:
            return bool(value)
        case _:
            return ABSENT


_SCALARS: Mapping[Any, Check] = {str: _text, int: _integer, bool: _truth}
_DEFAULTS: Mapping[Any, object] = {str: "", int: 0}
