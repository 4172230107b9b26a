"""Finds the error in a schema, or in arguments, and says it in one sentence. Pure.

A schema can ask for any amount of work, also by a regular expression: `schema_judge` runs this module as a process of its own.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, cast

from dapeer.base.json_types import Json, as_object, is_array, is_object
from dapeer.base.text.fitting import shortened

# Understands arguments that are almost right by a tool's schema: the one place for all tools. Pure.
#
# A model that knows other debuggers writes `stopOnEntry`, `"a.py:12"` or a single text for a list. What can mean only one
# thing is taken so; all else is left, and the check that follows names it.

SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = {
    "filename": ("file", "path"),
    "program": ("file", "path", "filename", "script"),
}
"""Names of arguments, each with those that other debuggers have for it."""
COMMAND_LINES: Final = frozenset({"args"})
"""Lists that a shell would make of one text."""
MIN_NAME_LIKENESS: Final = 0.75
"""How alike two names are of which one may be meant for the other."""
_PLACE = re.compile(r"(.+?):(\d+)(?::\d+)?")
"""A line of a file, perhaps with a column, as compilers write it."""


def convert_arguments(arguments: Json, schema: Json) -> dict[str, Any]:
    """Return a call's arguments, converted to the names and types of the tool's schema where that is safe.

    A name that another debugger uses becomes ours, unless ours is given as well; JSON in a string becomes its
    value, a number its text, a single value a list of one, `a.py:12` a file and a line. An argument that is null is
    left out, unless its schema's `type` has null. What is not understood stays as it is, for the check that
    follows. The argument itself is not changed.

    >>> convert_arguments({"stopOnEntry": "true"}, {"properties": {"stop_on_entry": {"type": "boolean"}}})
    {'stop_on_entry': True}
    """
    properties = as_object(schema.get("properties"))
    given: dict[str, Any] = {}
    for key, value in arguments.items():
        name = certain_argument_name(key, properties)
        name = key if name in arguments or name in given else name
        kind = properties.get(name, schema.get("additionalProperties"))
        if value is not None or "null" in _types_of(kind):
            given[name] = _unpacked_value(value, kind, name)
    return {**given, **_split_place(given.get("filename"), properties, given)}


def split_argument_notes(arguments: Json, given: Json) -> Iterator[str]:
    """Yield a line for the caller for each text that was split into a list of words, as a shell does.

    `arguments` are what the caller sent, `given` what `convert_arguments` made of them.
    """
    for name in COMMAND_LINES & arguments.keys() & given.keys():
        text, words = arguments[name], given[name]
        if isinstance(text, str) and is_array(words) and not _is_json(text, "["):
            yield f"`{name}` was split as a shell does: {json.dumps(words, ensure_ascii=False)}"


def similar_argument_name(name: str, properties: Json) -> str | None:
    """Return the argument of a schema that an unknown name may mean; None if none is similar.

    `properties` are the schema's, by name. It is a guess for a hint: beyond `certain_argument_name`, a name may be the beginning of a
    longer one (`line` of `line_end`), or be spelled similarly.
    """
    ours = certain_argument_name(name, properties)
    if ours in properties:
        return ours
    longer = (each for each in properties if each.startswith(f"{ours}_"))
    close = get_close_matches(ours, properties, n=1, cutoff=MIN_NAME_LIKENESS)
    return next(iter([*longer, *close]), None)


def certain_argument_name(key: str, properties: Json) -> str:
    """Return the name in `properties` for which `key` is another spelling; `key` itself if there is none.

    `properties` are a schema's properties by name. A `key` that is one of them is returned at once. Otherwise
    the first that exists counts: `key` in snake case (`stopOnEntry` and `stop-on-entry` give `stop_on_entry`),
    the name that has this as a synonym in `SYNONYMS`, and the plural with `s`, if that is a list. Whether a
    second name would fit, too, is not checked.
    """
    if key in properties or not properties:
        return key
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).replace("-", "_").lower()
    plural = f"{name}s"
    lists = [plural] if _type_of(properties.get(plural)) == "array" else []
    others = (each for each, known in SYNONYMS.items() if name in known)
    return next((each for each in (name, *others, *lists) if each in properties), key)


def _unpacked_value(value: object, schema: object, name: str = "") -> object:
    """Return a value converted to the type of its schema where that is clear, else as it is.

    The values within an object or a list are converted, too. `name` is the argument's name, which decides whether a text is split as a
    command line; empty: it is not.
    """
    kind, known = _type_of(schema), as_object(schema)
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and kind is not None:
        value = _decoded_text(value, kind, name, known)
    if kind == "array":
        value = _converted_list(value, known)
    if kind == "object":
        if isinstance(value, str):
            value = _split_place(value, as_object(known.get("properties"))) or value
        return convert_arguments(value, known) if is_object(value) else value
    return value


def _decoded_text(text: str, kind: str, name: str, schema: Json) -> object:
    """Return the value that a text stands for where `kind`, a JSON type, is wanted; else the text.

    For a list or an object, text that begins as one is decoded as JSON; a list of objects may also be given as one
    object. For other types but `string` any text is decoded. The type of what is decoded is not checked. A text for
    a list of `COMMAND_LINES` that does not begin as JSON is split as a shell does. What cannot be decoded or split
    comes back as the text. `name` is the argument's name, `schema` its schema.
    """
    # `{1: 2}` is an expression where a list of texts is wanted.
    of_objects = kind == "object" or _type_of(schema.get("items")) == "object"
    begins = {"array": "[{" if of_objects else "[", "object": "{"}.get(kind, "")
    try:
        if kind == "array" and name in COMMAND_LINES and not _is_json(text, begins):
            return shlex.split(text)
        return json.loads(text) if kind != "string" and _is_json(text, begins) else text
    except (ValueError, RecursionError):
        return text


def _is_json(text: str, begins: str) -> bool:
    """Return whether a text begins with one of the characters `begins`, or whether `begins` is empty."""
    return not begins or text.lstrip().startswith(tuple(begins))


def _converted_list(value: object, schema: Json) -> object:
    """Return a list, its elements converted by the schema's `items`; a fitting single value becomes one.

    `schema` is that of the list. A single value that is no list becomes a list of one if `items` has the type `string`
    and the value is a text (or a number, which becomes one), or if `items` has the type `object` and the value is, or
    stands for, an object. Any other single value is returned as it is, and so is a text that begins like a JSON list
    of texts (`["`): it is a list with a mistake, which the check of the arguments reports.
    """
    items = schema.get("items")
    if is_array(value):
        return [_unpacked_value(each, items) for each in value]
    only = _unpacked_value(value, items)
    kind = _type_of(items)
    # A text that begins like JSON is a list with a mistake.
    text = kind == "string" and isinstance(only, str) and not re.match(r'\s*\[\s*"', only)
    return [only] if text or (kind == "object" and is_object(only)) else value


def _split_place(value: object, properties: Json, given: Json | None = None) -> dict[str, Any]:
    """Return `filename` and `line` of a text such as `a.py:12`, or an empty dict.

    It is empty if the schema's `properties` do not have both, if `given`, the arguments so far, have a line, or if the text is no
    such place.
    """
    takes_both = _type_of(properties.get("filename")) == "string" and "line" in properties
    if not takes_both or not isinstance(value, str) or "line" in (given or {}):
        return {}
    found = _PLACE.fullmatch(value.strip())
    return {"filename": found[1], "line": int(found[2])} if found else {}


def _types_of(schema: object) -> list[str]:
    """Return the JSON types that a schema allows; an empty list if it names none."""
    kind: str | list[str] = as_object(schema).get("type") or []
    return [kind] if isinstance(kind, str) else kind


def _type_of(schema: object) -> str | None:
    """Return the only JSON type that a schema allows; None if it names several or none."""
    types = _types_of(schema)
    return types[0] if len(types) == 1 else None


# Leaves out the optional arguments that a client has only filled in. Pure.
#
# Some models give every argument of a schema: the ones that they do not need as `""`, `[]`, `{}`, `0` or `false`.


MIN_FILLED_ARGUMENTS: Final = 3
"""Empty arguments of one object from which on its other zeros count as filled in, too."""
CLEARS: Final = "[]"
"""An array whose description has this takes an empty one for a value."""


@dataclass(frozen=True, slots=True)
class StrippedArguments:
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


def without_filled(arguments: Json, schema: Json) -> StrippedArguments:
    """Return a call's arguments without the optional ones that the model only filled in, at any depth.

    `schema` is the tool's JSON Schema. Values that say nothing are `""` (unless an `enum` has it), `{}`, an
    `[]` that clears nothing, and 0 where the minimum is above 0. Where one object has `MIN_FILLED_ARGUMENTS` of
    them, its `false`, 0 and `[]` are left out as well; `zeros` of the result names those, at any depth, that
    differ from their default and so could be meant (`wait=false`). `empty` has the schema's names of the call's
    own arguments that said nothing, without those inside objects. Keys of `arguments` stay as the caller wrote
    them; `arguments` itself is not changed.

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
        key: _without_filled_inside(value, properties.get(names[key]))
        for key, value in arguments.items()
        if key not in empty | zeros
    }
    shown = [
        f"{names[key]}={json.dumps(value)}"
        for key, value in arguments.items()
        if key in zeros and _differs_from_default(value, as_object(properties[names[key]]))
    ]
    return StrippedArguments(
        {key: value for key, (value, _) in inner.items()},
        frozenset(names[key] for key in empty),
        (*shown, *dict.fromkeys(each for _, more in inner.values() for each in more)),
    )


def _without_filled_inside(value: object, schema: object) -> tuple[object, tuple[str, ...]]:
    """Return a value without what is only filled in within it, and the texts on what may have been meant.

    Only objects whose `schema` (a JSON Schema) has `properties`, and lists whose `schema` has `items`, are
    changed, as copies and at any depth; any other value comes back as it is, with an empty tuple. The texts
    are those of `StrippedArguments.zeros`, such as `follow_children=false`.
    """
    known = as_object(schema)
    if is_object(value) and "properties" in known:
        found = without_filled(value, known)
        return found.arguments, found.zeros
    if is_array(value) and "items" in known:
        every = [_without_filled_inside(each, known["items"]) for each in value]
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


def _differs_from_default(value: object, schema: Json) -> bool:
    """Return whether a false, 0 or empty value differs from the schema's default (a flag's is false)."""
    return value != schema.get("default", False if value is False else None)


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

    It must be an object of type `object`, valid by MCP's version of JSON Schema, and refer only to itself. A schema can make this take any
    time: a server asks `schema_judge.Judge`, which calls this in a process with limits.
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

    The outermost argument is named first. If the schema is invalid, either is nested too deeply, or an
    argument holds half of a surrogate pair, the sentence says that the arguments cannot be checked. A
    schema can make this take any time: a server asks `schema_judge.Judge`, which calls this in a process
    with limits.
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

    With `declared` it follows the version that the schema's `$schema` names, if jsonschema knows that; else
    MCP's own, 2020-12.

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
    missing = next(_missing_references(resource, registry.resolver_with_root(resource)), None)
    if missing is not None:
        raise _InvalidSchema(
            f"its schema refers to {shortened(missing, MAX_CLAUSE_CHARS)}, which does not exist"
        )
    return kind(parsed, registry=registry)


def _missing_references(resource: Any, resolver: Any) -> Iterator[str]:
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
        yield from _missing_references(inner, resolver.in_subresource(inner))


def _sentence(error: Any) -> str:
    """Return a sentence for jsonschema's `ValidationError`: which argument, and what is expected of it.

    The argument is named by its path (`breakpoints.0.line`), and the given value is quoted, unless an
    argument is missing or unknown; both are shortened. Of several missing or unknown arguments the first is
    named. For an unknown one the sentence adds a similar name, or all names.
    """
    path = [str(part) for part in error.absolute_path]
    where = f"Argument `{shortened('.'.join(path), MAX_CLAUSE_CHARS)}`" if path else "The arguments"
    given, limit = error.instance, error.validator_value
    match error.validator:
        case "required":
            name = next(name for name in limit if name not in given)
            return f"Argument `{shortened('.'.join([*path, name]), MAX_CLAUSE_CHARS)}` is required."
        case "additionalProperties":
            return unknown_argument_sentence(
                [*path, _first_unknown_property(given, error.schema)], error.schema
            )
        case "type":
            types = limit if isinstance(limit, str) else " or ".join(limit)
            return f"{where}: should be of type {types}, not {_value(given)}."
        case "enum":
            more = ["…"] if len(limit) > MAX_LISTED_VALUES else []
            allowed = ", ".join([*map(_value, limit[:MAX_LISTED_VALUES]), *more])
            return f"{where}: should be one of {allowed}; not {_value(given)}."
        case _:
            return f"{where}: {_clause(error)}."


def unknown_argument_sentence(path: Sequence[str], schema: Json) -> str:
    """Return a sentence that an argument is unknown, with the name that may be meant, or all that exist.

    `path` leads to the argument through objects, its own name last; `schema` is that of the object around it.
    """
    properties: Json = schema.get("properties", {})
    meant = similar_argument_name(shortened(path[-1], MAX_CLAUSE_CHARS), properties)
    hint = (
        f"did you mean `{meant}`?" if meant else f"allowed are: {', '.join(properties) or 'none'}."
    )
    return f"Unknown argument `{shortened('.'.join(path), MAX_CLAUSE_CHARS)}`; {hint}"


def _first_unknown_property(value: Json, schema: Json) -> str:
    """Return the name of a `value`'s first property that the schema neither names nor allows by a pattern.

    `value` is an object, and `schema` its JSON Schema; only `properties` and `patternProperties` are looked at.

    Raises:
        StopIteration: All properties are allowed.
    """
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return next(
        name
        for name in value
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
    """Yield the targets of all references in a decoded JSON Schema, such as `#/$defs/point`, at any depth.

    References are texts at the keys `$ref` and `$dynamicRef`, wherever these are. A target comes as often as it is
    referred to. A value that is neither an object nor a list yields nothing.
    """
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


def find_problem(schema: Json, *arguments: Json) -> str | None:
    """Return what is wrong with a schema, or with arguments for it; None: nothing."""
    return problem_of(arguments[0], schema) if arguments else flaw_of(schema)


if __name__ == "__main__":
    from dapeer.base.system.limited_answers import answer_lines

    # Its library is loaded before a question counts.
    flaw_of({"type": "object"})
    answer_lines(find_problem)
