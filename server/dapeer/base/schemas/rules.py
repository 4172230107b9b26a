"""Finds the error in a schema, or in arguments, and says it in one sentence. Pure.

The engine's regular expressions are linear, but a schema can still ask for any amount of work: see `judge`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator
from typing import Any, Protocol, cast

from dapeer.base.json_types import Json, is_array, is_object
from dapeer.base.text.fitting import shortened

LONGEST = 200
"""Characters of a clause."""
SHORT = 60
"""Characters of a value in it."""
MANY = 20
"""Allowed values that are listed."""

UNCHECKED = "The arguments cannot be checked"


class Validator(Protocol):
    """The part of the engine's interface that is used here."""

    def is_valid(self, instance: object) -> bool:
        """Return whether nothing is wrong."""
        ...

    def iter_errors(self, instance: object) -> Iterator[Any]:
        """Yield all errors."""
        ...


def flaw_of(schema: object) -> str | None:
    """Return what is wrong with a schema of arguments, as a clause; None if it is valid."""
    if not isinstance(schema, dict):
        return "its schema must be an object"
    fields = cast("dict[str, Any]", schema)
    if fields.get("type") != "object":
        return "its schema must have the type `object`"
    try:
        foreign = next((one for one in _references(fields) if not one.startswith("#")), None)
        if foreign:
            return f"its schema refers to {shortened(foreign, LONGEST)}, which clients cannot read"
        return _refused(json.dumps(fields), declared=False)
    except RecursionError:
        return "its schema is nested too deeply"


def problem_of(arguments: Json, schema: Json) -> str | None:
    """Return in one sentence what is wrong with the first invalid argument; None if all are valid."""
    try:
        text = json.dumps(schema)
        if flaw := _refused(text, declared=True):
            return f"{UNCHECKED}: {flaw}."
        engine = _engine(text, declared=True)
        if engine.is_valid(arguments):
            return None
        first = min(engine.iter_errors(arguments), key=lambda error: len(error.instance_path))
        return _sentence(first, arguments, schema)
    except RecursionError:
        return f"{UNCHECKED}: they or the tool's schema are nested without end."
    except ValueError:  # of the engine's: it takes no text that is not Unicode
        return f"{UNCHECKED}: they are nested too deeply, or hold invalid text."


def _refused(schema: str, *, declared: bool) -> str | None:
    """Return why the engine rejects a schema, as a clause; None if it accepts it."""
    import jsonschema_rs

    try:
        _engine(schema, declared=declared)
    except jsonschema_rs.ValidationError as error:
        if error.kind.name == "$ref":
            missing = next(filter(_is_missing(schema), _references(json.loads(schema))), "a place")
            return f"its schema refers to {shortened(missing, LONGEST)}, which does not exist"
        where = ".".join(map(str, error.instance_path)) or "it"
        return (
            f"its schema is invalid: {shortened(where, LONGEST)}: {_clause(error, error.instance)}"
        )
    except ValueError:
        return "its schema is nested too deeply, or holds invalid text"
    return None


@functools.lru_cache(maxsize=512)
def _engine(schema: str, *, declared: bool) -> Validator:
    """Compile a schema: of the version that it declares, or of MCP's own.

    Raises:
        jsonschema_rs.ValidationError: The schema is invalid.
        ValueError: It is nested too deeply, or contains invalid text.
    """
    # Loaded when it is needed: most servers never see a schema that is not their own.
    import jsonschema_rs

    parsed = json.loads(schema)
    kind: Any = jsonschema_rs.Draft202012Validator
    if declared:
        kind = jsonschema_rs.validator_cls_for(parsed)
    # Nothing is ever fetched.
    return kind(parsed, validate_formats=False, offline=True)


def _is_missing(schema: str) -> Any:
    import jsonschema_rs

    resolver = jsonschema_rs.Registry([("urn:it", json.loads(schema))]).resolver("urn:it")

    def missing(reference: str) -> bool:
        try:
            resolver.lookup(reference)
        except jsonschema_rs.ReferencingError:
            return True
        return False

    return missing


def _sentence(error: Any, arguments: Json, schema: Json) -> str:
    path = [str(part) for part in error.instance_path]
    where = f"Argument `{shortened('.'.join(path), LONGEST)}`" if path else "The arguments"
    # The engine works on a copy whose keys have another order.
    given = _at(arguments, error.instance_path)
    match error.kind.name:
        case "required":
            return (
                f"Argument `{shortened('.'.join([*path, error.kind.value]), LONGEST)}` is required."
            )
        case "additionalProperties":
            unknown = next(name for name in given if name in error.kind.value)
            around = cast("Json", _at(schema, error.schema_path[:-1]) or {})
            allowed = ", ".join(around.get("properties", {})) or "none"
            return f"Unknown argument `{shortened('.'.join([*path, unknown]), LONGEST)}`; allowed are: {allowed}."
        case "type":
            kinds = _at(schema, error.schema_path) or error.kind.value
            wanted = kinds if isinstance(kinds, str) else " or ".join(kinds)
            return f"{where}: should be of type {wanted}, not {_value(given)}."
        case "enum":
            values = cast("list[object]", error.kind.value)
            more = ["…"] if len(values) > MANY else []
            allowed = ", ".join([*map(_value, values[:MANY]), *more])
            return f"{where}: should be one of {allowed}; not {_value(given)}."
        case _:
            return f"{where}: {_clause(error, given)}."


_WORDS = {
    "anyOf": "{value} is not valid under any of the given schemas",
    "const": "{limit} was expected",
    "contains": "{value} does not contain items matching the given schema",
    "enum": "{value} is not one of {limit}",
    "exclusiveMaximum": "{value} is greater than or equal to the maximum of {limit}",
    "exclusiveMinimum": "{value} is less than or equal to the minimum of {limit}",
    "falseSchema": "no value is allowed here, not {value}",
    "format": "{value} is not a {limit}",
    "maxItems": "{value} is too long",
    "maxLength": "{value} is too long",
    "maxProperties": "{value} has too many properties",
    "maximum": "{value} is greater than the maximum of {limit}",
    "minItems": "{value} is too short",
    "minLength": "{value} is too short",
    "minProperties": "{value} does not have enough properties",
    "minimum": "{value} is less than the minimum of {limit}",
    "multipleOf": "{value} is not a multiple of {limit}",
    "not": "{value} should not be valid under {limit}",
    "oneOf": "{value} is not valid under exactly one of the given schemas",
    "pattern": "{value} does not match {limit}",
    "required": "{limit} is a required property",
    "type": "{value} is not of type {limit}",
    "uniqueItems": "{value} has non-unique elements",
}
"""Message on a value, by the keyword that it violates."""


def _clause(error: Any, given: object) -> str:
    kind = error.kind
    if kind.name == "propertyNames":
        return _clause(kind.error, kind.error.instance)
    if hasattr(kind, "error") or kind.name not in _WORDS:
        # Backtracking for too long, or a keyword without a message above: use the engine's message.
        return shortened(str(error.message), LONGEST)
    limit = kind.value
    if kind.name == "type":
        limit = limit[0] if len(limit) == 1 else limit
    allowed = shortened(repr(limit), LONGEST)
    return shortened(_WORDS[kind.name].format(value=_shown(given), limit=allowed), LONGEST)


def _at(node: Any, path: Iterable[str | int]) -> Any:
    """Return the value at a path; None if there is no such path."""
    for part in path:
        try:
            node = node[part]
        except (LookupError, TypeError):
            return None
    return node


def _shown(value: object) -> str:
    return shortened(repr(value), SHORT)


def _value(value: object) -> str:
    return shortened(json.dumps(value, ensure_ascii=False), SHORT)


def _references(node: object) -> Iterator[str]:
    inner: Iterable[object] = ()
    if is_object(node):
        found = (node.get(name) for name in ("$ref", "$dynamicRef"))
        yield from (reference for reference in found if isinstance(reference, str))
        inner = node.values()
    elif is_array(node):
        inner = node
    for each in inner:
        yield from _references(each)
