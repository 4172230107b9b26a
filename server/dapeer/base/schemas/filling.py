"""Leaves out the optional arguments that a client has only filled in. Pure.

Some models give every argument of a schema: the ones that they do not need as `""`, `[]`, `{}`, `0` or `false`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from dapeer.base.json_types import Json, as_object, is_array, is_object
from dapeer.base.schemas.unpacking import certain_argument_name

MIN_FILLED_ARGUMENTS: Final = 3
"""Empty arguments of one object from which on its other zeros count as filled in, too."""
CLEARS: Final = "[]"
"""An array whose description has this takes an empty one for a value."""


@dataclass(frozen=True, slots=True)
class Unfilled:
    """Arguments without those that were only filled in."""

    arguments: dict[str, Any]
    empty: frozenset[str]
    """Names of arguments of the call itself whose value said nothing."""
    zeros: tuple[str, ...] = ()
    """The arguments that were left out although their value could be meant, as `follow_children=false`."""

    def notes(self) -> Iterator[str]:
        """Yield at most one line for the caller: the arguments left out although their value could be meant."""
        if self.zeros:
            yield f"left out, as this call fills in what it does not need: {', '.join(self.zeros)}"


def without_filled(arguments: Json, schema: Json) -> Unfilled:
    """Return a call's arguments without the optional ones that the model only filled in, at any depth.

    `schema` is the tool's JSON Schema. Values that say nothing are `""`, `{}`, an `[]` that clears nothing, and 0 where the minimum
    is 1. Where one object has `MIN_FILLED_ARGUMENTS` of them, its `false`, 0 and `[]` are left out as well, and the result names
    them if they could be meant. Keys stay as the caller wrote them.

    >>> kinds = {"id": {"type": "integer", "minimum": 1}, "wait": {"type": "boolean", "default": True}}
    >>> without_filled({"id": 0, "wait": False}, {"properties": kinds}).arguments
    {'wait': False}
    """
    properties, required = as_object(schema.get("properties")), schema.get("required", ())
    names = {key: certain_argument_name(key, properties) for key in arguments}
    optional = {key for key, name in names.items() if name in properties and name not in required}
    empty = {
        key for key in optional if _is_empty(arguments[key], as_object(properties[names[key]]))
    }
    zeros = set[str]()
    if len(empty) >= MIN_FILLED_ARGUMENTS:
        zeros = {key for key in optional - empty if _is_zero(arguments[key])}
    inner = {
        key: _inside(value, properties.get(names[key]))
        for key, value in arguments.items()
        if key not in empty | zeros
    }
    shown = [
        f"{names[key]}={json.dumps(value)}"
        for key, value in arguments.items()
        if key in zeros and _differs(value, as_object(properties[names[key]]))
    ]
    return Unfilled(
        {key: value for key, (value, _) in inner.items()},
        frozenset(names[key] for key in empty),
        (*shown, *dict.fromkeys(each for _, more in inner.values() for each in more)),
    )


def _inside(value: object, schema: object) -> tuple[object, tuple[str, ...]]:
    """Return a value without what is only filled in within it, and what was left out that could be meant.

    Only objects and lists of objects that `schema` describes are changed; the second part is as in `Unfilled.zeros`.
    """
    known = as_object(schema)
    if is_object(value) and "properties" in known:
        found = without_filled(value, known)
        return found.arguments, found.zeros
    if is_array(value) and "items" in known:
        every = [_inside(each, known["items"]) for each in value]
        return [each for each, _ in every], tuple(zero for _, zeros in every for zero in zeros)
    return value, ()


def _is_empty(value: object, schema: Json) -> bool:
    """Return whether the value of an optional argument with this schema says nothing."""
    if _is_number(value):
        return value == 0 and schema.get("minimum", 0) > 0
    if value == []:
        return CLEARS not in schema.get("description", "")
    return value == {} or (value == "" and "" not in schema.get("enum", ()))


def _is_zero(value: object) -> bool:
    return value is False or value == [] or (_is_number(value) and value == 0)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _differs(value: object, schema: Json) -> bool:
    """Return whether a false, 0 or empty value differs from the schema's default (a flag's is false)."""
    return value != schema.get("default", False if value is False else None)
