"""Schemas for a model: without keywords that tell it nothing. Pure."""

from __future__ import annotations

from typing import Any, cast

from dapeer.base.json_types import Json


def short(schema: Any) -> Any:
    """Return a schema without what says nothing to a model: titles, null alternatives, usual defaults.

    A model reads every byte of a tool list, so `Optional[int]` is an integer that may be left out.
    """
    definitions = cast("Json", schema.get("$defs", {}))
    return _shortened(schema, definitions)


_NOISE = {"title", "$defs"}
_SELF_EVIDENT: tuple[tuple[str, Any], ...] = (
    ("default", None),
    ("default", []),
    ("description", None),
    ("additionalProperties", True),
    ("default", False),
    ("default", 0),
    # Of timeouts; who has waited is told how long.
    ("default", 10_000),
    ("default", 30_000),
    ("minimum", 0),
    ("minimum", 1),
    ("maximum", 65535),
)


def _shortened(node: Any, definitions: Json) -> Any:
    match node:
        case list():
            return [_shortened(item, definitions) for item in cast("list[Any]", node)]
        case {"$ref": str(ref)}:
            named: Json = definitions[ref.rpartition("/")[2]]
            # Its docstring is for readers of the code.
            return _shortened({**named, "description": None}, definitions)
        case {"anyOf": [first, {"type": "null"}], **rest}:
            return _shortened({**first, **rest}, definitions)
        case dict():
            fields = cast("dict[str, Any]", node)
            return {
                key: _properties(value, definitions)
                if key == "properties"
                else _shortened(value, definitions)
                for key, value in fields.items()
                if (key, value) not in _SELF_EVIDENT and key not in _NOISE
            }
        case _:
            return node


def _properties(properties: Json, definitions: Json) -> Json:
    """Shorten each property; here `title` and `default` are names, not keywords."""
    return {name: _shortened(schema, definitions) for name, schema in properties.items()}
