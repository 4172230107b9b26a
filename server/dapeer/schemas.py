"""JSON Schemas that others have written: whether they are any, and whether arguments fit them."""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

Json = Mapping[str, Any]

LONGEST = 200
"""Characters of a clause on what is wrong."""
SHORT = 60
"""Characters of a value in it."""
FEW = 10
"""Wrong arguments of which the first in the arguments is told."""
MANY = 20
"""Allowed values that are listed."""

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
        return f"its schema is none: {where}: {_cut(_message(error))}"
    except RecursionError:
        return "its schema is nested too deeply"
    return _flaw_of_references(fields)


def _flaw_of_references(schema: dict[str, Any]) -> str | None:
    from referencing import Registry  # noqa: PLC0415
    from referencing.exceptions import Unresolvable  # noqa: PLC0415
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415

    registry = cast("Any", Registry)()
    resolver = registry.with_resource("", DRAFT202012.create_resource(schema)).resolver()
    for reference in _references(schema):
        if not reference.startswith("#"):
            return f"its schema refers to {reference}, which clients cannot read"
        try:
            resolver.lookup(reference)
        except Unresolvable:
            return f"its schema refers to {reference}, which is not there"
    return None


@functools.lru_cache(maxsize=512)
def _validator(schema: str) -> Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415

    # A registry of its own: nothing is ever fetched.
    registry = cast("Any", Registry)()
    return cast("Validator", Draft202012Validator(json.loads(schema), registry=registry))


def problem_of(arguments: Json, schema: Json) -> str | None:
    """Return in one sentence what is wrong with the first wrong argument; None: nothing."""
    try:
        errors = list(itertools.islice(_validator(json.dumps(schema)).iter_errors(arguments), FEW))
    except RecursionError:
        return "The arguments cannot be checked: they, or what the tool says of them, never end."
    first = min(errors, key=lambda error: len(error.absolute_path), default=None)
    return None if first is None else _sentence(first)


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
    kind: object = cast("Json", schema).get("type") if isinstance(schema, dict) else None
    return [kind] if isinstance(kind, str) else cast("list[str]", kind or [])


def _type_of(schema: object) -> str | None:
    types = _types_of(schema)
    return types[0] if len(types) == 1 else None


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
            values = cast("list[object]", error.validator_value)
            more = ["…"] if len(values) > MANY else []
            allowed = ", ".join([*map(_value, values[:MANY]), *more])
            return f"{where}: should be one of {allowed}; not {_value(error.instance)}."
        case _:
            return f"{where}: {_cut(_message(error))}."


def _unknown(error: Any) -> str | None:  # noqa: ANN401
    known = error.schema.get("properties", {})
    patterns = cast("Json", error.schema.get("patternProperties", {}))
    for name in error.instance:
        if name not in known and not any(re.search(pattern, name) for pattern in patterns):
            return name
    return None


def _message(error: Any) -> str:  # noqa: ANN401
    """Return what jsonschema says, which begins with the wrong value, however long that is."""
    shown = repr(error.instance)
    return str(error.message).replace(shown, _cut(shown, SHORT))


def _value(value: object) -> str:
    return _cut(json.dumps(value, ensure_ascii=False), SHORT)


def _cut(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _references(node: object) -> Iterator[str]:
    inner: Iterable[object] = ()
    if isinstance(node, dict):
        fields = cast("dict[str, object]", node)
        found = (fields.get(name) for name in ("$ref", "$dynamicRef"))
        yield from (reference for reference in found if isinstance(reference, str))
        inner = fields.values()
    elif isinstance(node, list):
        inner = cast("list[object]", node)
    for each in inner:
        yield from _references(each)
