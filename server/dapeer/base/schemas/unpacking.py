"""Converts arguments that a model has written as strings to the types of their schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from dapeer.base.json_types import Json, as_object

PLAIN = {"array", "object", "integer", "number", "boolean"}
"""Types of values that a model may have written as a string."""


def unpacked(arguments: Json, schema: Json) -> dict[str, Any]:
    """Take arguments as clients send them: null for left out, values as JSON in a string, a number for its text."""
    properties = cast("Mapping[str, Any]", schema.get("properties", {}))

    def unpack(name: str, value: object) -> object:
        kind = _type_of(properties.get(name))
        if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str) and kind in PLAIN:
            try:
                return json.loads(value)
            except (ValueError, RecursionError):
                return value
        return value

    given = {
        name: value
        for name, value in arguments.items()
        if value is not None or "null" in _types_of(properties.get(name))
    }
    return {name: unpack(name, value) for name, value in given.items()}


def _types_of(schema: object) -> Sequence[str]:
    kind: object = as_object(schema).get("type")
    return [kind] if isinstance(kind, str) else cast("list[str]", kind or [])


def _type_of(schema: object) -> str | None:
    types = _types_of(schema)
    return types[0] if len(types) == 1 else None
