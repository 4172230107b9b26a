"""JSON Schemas that others have written: whether they are any, and whether arguments fit them."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, cast

Json = Mapping[str, Any]

LONGEST = 200
"""Characters of a sentence about a value."""

PLAIN = {"array", "object", "integer", "number", "boolean"}
"""Types whose values a model may have put into a string."""


class Validator(Protocol):
    """Checks arguments. Of jsonschema's, what is used here."""

    def iter_errors(self, instance: object) -> Iterator[Any]:
        """Yield what is wrong."""
        ...


def flaw_of(schema: object) -> str | None:
    """Return what is wrong with a schema of arguments, as a clause; None: nothing."""
    # Loaded when it is needed: most servers never see a schema that is not their own.
    from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415

    if not isinstance(schema, dict):
        return "its schema is no object"
    fields = cast("dict[str, Any]", schema)
    if fields.get("type") != "object":
        return "its schema must have the type `object`"
    try:
        Draft202012Validator.check_schema(fields)
    except SchemaError as error:
        where = ".".join(map(str, error.absolute_path)) or "it"
        return f"its schema is none: {where}: {_cut(error.message)}"
    elsewhere = next((ref for ref in _references(fields) if not ref.startswith("#")), None)
    return elsewhere and f"its schema refers to {elsewhere}, which clients cannot read"


@functools.lru_cache(maxsize=512)
def _validator(schema: str) -> Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    return cast("Validator", Draft202012Validator(json.loads(schema)))


def problem_of(arguments: Json, schema: Json) -> str | None:
    """Return in one sentence what is wrong with the first wrong argument; None: nothing."""
    errors = _validator(json.dumps(schema)).iter_errors(arguments)
    first = min(errors, key=lambda error: len(error.absolute_path), default=None)
    return None if first is None else _sentence(first)


def unpacked(arguments: Json, schema: Json) -> dict[str, Any]:
    """Take arguments as clients send them: null for left out, values as JSON in a string, a number for its text."""
    properties = cast("Mapping[str, Any]", schema.get("properties", {}))

    def unpack(name: str, value: object) -> object:
        one = properties.get(name)
        kind = cast("Json", one).get("type") if isinstance(one, dict) else None
        if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str) and isinstance(kind, str) and kind in PLAIN:
            try:
                return json.loads(value)
            except ValueError:
                return value
        return value

    given = {name: value for name, value in arguments.items() if value is not None}
    return {name: unpack(name, value) for name, value in given.items()}


def _sentence(error: Any) -> str:  # noqa: ANN401 - jsonschema's ValidationError
    path = [str(part) for part in error.absolute_path]
    where = f"Argument `{'.'.join(path)}`" if path else "The arguments"
    match error.validator:
        case "required":
            missing = next(name for name in error.validator_value if name not in error.instance)
            return f"Argument `{'.'.join([*path, missing])}` is required."
        case "additionalProperties" if unknown := _unknown(error):
            allowed = ", ".join(error.schema.get("properties", {})) or "none"
            return f"Unknown argument `{'.'.join([*path, unknown])}`; allowed are: {allowed}."
        case "type":
            kinds = error.validator_value
            wanted = kinds if isinstance(kinds, str) else " or ".join(kinds)
            return f"{where}: should be of type {wanted}, not {_value(error.instance)}."
        case "enum":
            allowed = ", ".join(map(_value, error.validator_value))
            return f"{where}: should be one of {allowed}; not {_value(error.instance)}."
        case _:
            return f"{where}: {_cut(error.message)}."


def _unknown(error: Any) -> str | None:  # noqa: ANN401
    known = error.schema.get("properties", {})
    return next((name for name in error.instance if name not in known), None)


def _value(value: object) -> str:
    return _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _references(node: object) -> Iterator[str]:
    inner: Iterable[object] = ()
    if isinstance(node, dict):
        fields = cast("dict[str, object]", node)
        if isinstance(reference := fields.get("$ref"), str):
            yield reference
        inner = fields.values()
    elif isinstance(node, list):
        inner = cast("list[object]", node)
    for each in inner:
        yield from _references(each)
