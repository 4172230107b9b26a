"""Finds the error in a schema, or in arguments, and says it in one sentence. Pure.

A schema can ask for any amount of work, also by a regular expression: see `judge`.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from dapeer.base.json_types import Json, is_array, is_object
from dapeer.base.schemas.unpacking import similar_argument_name
from dapeer.base.text.fitting import shortened

MAX_CLAUSE_CHARS = 200
"""Characters of a clause."""
MAX_VALUE_CHARS = 60
"""Characters of a value in it."""
MAX_LISTED_VALUES = 20
"""Allowed values that are listed."""

UNCHECKED = "The arguments cannot be checked"


class _InvalidSchema(Exception):
    """A schema is invalid; the text is a clause that says why."""


def flaw_of(schema: object) -> str | None:
    """Return what is wrong with a tool's JSON Schema of arguments, as a clause; None if it is valid.

    It must be an object of type `object`, valid by MCP's version of JSON Schema, and refer only to itself. It can take any time:
    see `judge`.
    """
    if not is_object(schema):
        return "its schema must be an object"
    if schema.get("type") != "object":
        return "its schema must have the type `object`"
    try:
        foreign = next((one for one in _references(schema) if not one.startswith("#")), None)
        if foreign:
            return f"its schema refers to {shortened(foreign, MAX_CLAUSE_CHARS)}, which clients cannot read"
        _validator(json.dumps(schema), declared=False)
    except _InvalidSchema as flaw:
        return str(flaw)
    except RecursionError:
        return "its schema is nested too deeply"
    return None


def problem_of(arguments: Json, schema: Json) -> str | None:
    """Return in one sentence what is wrong with the first invalid argument; None if all are valid.

    The outermost argument is named first. If the schema is invalid, or either is nested too deeply, the sentence says that the
    arguments cannot be checked. It can take any time: see `judge`.
    """
    try:
        json.dumps(arguments, ensure_ascii=False).encode()
        validator = _validator(json.dumps(schema), declared=True)
        errors = validator.iter_errors(arguments)
        first = min(errors, key=lambda error: len(error.absolute_path), default=None)
        return None if first is None else _sentence(first)
    except _InvalidSchema as flaw:
        return f"{UNCHECKED}: {flaw}."
    except RecursionError:
        return f"{UNCHECKED}: they or the tool's schema are nested without end."
    except UnicodeEncodeError:
        return f"{UNCHECKED}: they hold invalid text."


@functools.lru_cache(maxsize=512)
def _validator(schema: str, *, declared: bool) -> Any:
    """Return jsonschema's validator for a schema, which is given as JSON text; cached by the text.

    With `declared` it follows the version that the schema's `$schema` names, else MCP's own, 2020-12.

    Raises:
        _InvalidSchema: The schema is invalid, or refers to something that it does not contain.
        RecursionError: It is nested too deeply.
    """
    # Loaded when it is needed: most servers never see a schema that is not their own.
    import jsonschema
    from referencing import Registry
    from referencing.jsonschema import specification_with

    parsed, library = json.loads(schema), cast("Any", jsonschema)
    kind = library.Draft202012Validator
    if declared and isinstance(parsed.get("$schema"), str):
        kind = library.validators.validator_for(parsed, default=kind)
    try:
        kind.check_schema(parsed)
    except library.SchemaError as error:
        where = shortened(".".join(map(str, error.absolute_path)) or "it", MAX_CLAUSE_CHARS)
        raise _InvalidSchema(f"its schema is invalid: {where}: {_clause(error)}") from error
    resource = specification_with(kind.META_SCHEMA["$schema"]).create_resource(parsed)
    # A registry that retrieves nothing.
    registry = cast("Any", Registry)().with_resource("", resource)
    missing = next(_missing(resource, registry.resolver_with_root(resource)), None)
    if missing is not None:
        raise _InvalidSchema(
            f"its schema refers to {shortened(missing, MAX_CLAUSE_CHARS)}, which does not exist"
        )
    return kind(parsed, registry=registry)


def _missing(resource: Any, resolver: Any) -> Iterator[str]:
    """Yield the references in a schema that lead nowhere, also those in its inner schemas.

    `resource` and `resolver` are of the library `referencing`.
    """
    from referencing.exceptions import Unresolvable

    for reference in _referred(resource.contents):
        try:
            resolver.lookup(reference)
        except Unresolvable:
            yield reference
    for inner in resource.subresources():
        yield from _missing(inner, resolver.in_subresource(inner))


def _sentence(error: Any) -> str:
    """Return a sentence for jsonschema's `ValidationError`: which argument, and what is expected of it."""
    path = [str(part) for part in error.absolute_path]
    where = f"Argument `{shortened('.'.join(path), MAX_CLAUSE_CHARS)}`" if path else "The arguments"
    given, limit = error.instance, error.validator_value
    match error.validator:
        case "required":
            name = next(name for name in limit if name not in given)
            return f"Argument `{shortened('.'.join([*path, name]), MAX_CLAUSE_CHARS)}` is required."
        case "additionalProperties":
            return unknown([*path, _additional(given, error.schema)], error.schema)
        case "type":
            types = limit if isinstance(limit, str) else " or ".join(limit)
            return f"{where}: should be of type {types}, not {_value(given)}."
        case "enum":
            more = ["…"] if len(limit) > MAX_LISTED_VALUES else []
            allowed = ", ".join([*map(_value, limit[:MAX_LISTED_VALUES]), *more])
            return f"{where}: should be one of {allowed}; not {_value(given)}."
        case _:
            return f"{where}: {_clause(error)}."


def unknown(path: Sequence[str], schema: Json) -> str:
    """Return a sentence that an argument is unknown, with the name that may be meant, or all that exist.

    `path` leads to the argument through objects, its own name last; `schema` is that of the object around it.
    """
    properties: Json = schema.get("properties", {})
    meant = similar_argument_name(shortened(path[-1], MAX_CLAUSE_CHARS), properties)
    hint = (
        f"did you mean `{meant}`?" if meant else f"allowed are: {', '.join(properties) or 'none'}."
    )
    return f"Unknown argument `{shortened('.'.join(path), MAX_CLAUSE_CHARS)}`; {hint}"


def _additional(given: Json, schema: Json) -> str:
    """Return the first property of `given` that the schema neither names nor allows by a pattern.

    Raises:
        StopIteration: All properties are allowed.
    """
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return next(
        name
        for name in given
        if name not in known and not any(re.search(each, name) for each in patterns)
    )


_WORDS = {
    "anyOf": "{value} is not valid under any of the given schemas",
    "const": "{limit} was expected",
    "contains": "{value} does not contain items matching the given schema",
    "enum": "{value} is not one of {limit}",
    "exclusiveMaximum": "{value} is greater than or equal to the maximum of {limit}",
    "exclusiveMinimum": "{value} is less than or equal to the minimum of {limit}",
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


def _clause(error: Any) -> str:
    """Return what is wrong with a value, by jsonschema's `ValidationError`, as a clause with the value.

    It has at most about `MAX_CLAUSE_CHARS` characters; the value is shortened to `MAX_VALUE_CHARS`.
    """
    given, limit = error.instance, error.validator_value
    if error.validator is None:
        return f"no value is allowed here, not {_shown(given)}"
    if error.validator not in _WORDS:
        return shortened(str(error.message), MAX_CLAUSE_CHARS)
    allowed = shortened(repr(limit), MAX_CLAUSE_CHARS)
    return shortened(
        _WORDS[error.validator].format(value=_shown(given), limit=allowed), MAX_CLAUSE_CHARS
    )


def _shown(value: object) -> str:
    return shortened(repr(value), MAX_VALUE_CHARS)


def _value(value: object) -> str:
    return shortened(json.dumps(value, ensure_ascii=False), MAX_VALUE_CHARS)


def _references(node: object) -> Iterator[str]:
    """Yield the targets of all references in a decoded JSON Schema, at any depth."""
    inner: Iterable[object] = ()
    if is_object(node):
        yield from _referred(node)
        inner = node.values()
    elif is_array(node):
        inner = node
    for each in inner:
        yield from _references(each)


def _referred(node: object) -> Iterator[str]:
    """Return the targets of the references that a schema has itself, not in inner ones."""
    found = (node.get(name) for name in ("$ref", "$dynamicRef")) if is_object(node) else ()
    return (reference for reference in found if isinstance(reference, str))
