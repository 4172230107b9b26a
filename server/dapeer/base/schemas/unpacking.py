"""Understands arguments that are almost right by a tool's schema: the one place for all tools. Pure.

A model that knows other debuggers writes `stopOnEntry`, `"a.py:12"` or a single text for a list. What can mean only one
thing is taken so; all else is left, and the check that follows names it.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from dapeer.base.json_types import Json, as_object, is_array, is_object

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

    A name that another debugger uses becomes ours, JSON in a string its value, a number its text, a single value a list of one, `a.py:12` a
    file and a line. An argument that is null is left out, unless the schema allows null. What is not understood stays as it is, for the
    check that follows.

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
            given[name] = _value(value, kind, name)
    return {**given, **_place(given.get("filename"), properties, given)}


def notes(arguments: Json, given: Json) -> Iterator[str]:
    """Yield a line for the caller for each text that was split into a list of words, as a shell does.

    `arguments` are what the caller sent, `given` what `convert_arguments` made of them.
    """
    for name in COMMAND_LINES & arguments.keys() & given.keys():
        text, words = arguments[name], given[name]
        if isinstance(text, str) and is_array(words) and not _is_json(text, "["):
            yield f"`{name}` was split as a shell does: {json.dumps(words, ensure_ascii=False)}"


def similar_argument_name(name: str, properties: Json) -> str | None:
    """Return the argument of a schema that an unknown name may mean; None if none is similar.

    `properties` are the schema's, by name. It is a guess for a hint: unlike `certain_argument_name`, it also compares letters.
    """
    ours = certain_argument_name(name, properties)
    if ours in properties:
        return ours
    longer = (each for each in properties if each.startswith(f"{ours}_"))
    close = get_close_matches(ours, properties, n=1, cutoff=MIN_NAME_LIKENESS)
    return next(iter([*longer, *close]), None)


def certain_argument_name(key: str, properties: Json) -> str:
    """Return the argument of a schema that `key` can only mean; `key` itself if there is none.

    `properties` are the schema's, by name. It is found in another case or with hyphens (`stopOnEntry`), as a synonym, or as the
    plural for a list.
    """
    if key in properties or not properties:
        return key
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).replace("-", "_").lower()
    plural = f"{name}s"
    lists = [plural] if _type_of(properties.get(plural)) == "array" else []
    others = (each for each, known in SYNONYMS.items() if name in known)
    return next((each for each in (name, *others, *lists) if each in properties), key)


def _value(value: object, schema: object, name: str = "") -> object:
    """Return a value converted to the type of its schema where that is clear, with all that is in it.

    `name` is the argument's name, which decides whether a text is split as a command line.
    """
    kind, known = _type_of(schema), as_object(schema)
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and kind is not None:
        value = _read(value, kind, name, known)
    if kind == "array":
        value = _list(value, known)
    if kind == "object":
        if isinstance(value, str):
            value = _place(value, as_object(known.get("properties"))) or value
        return convert_arguments(value, known) if is_object(value) else value
    return value


def _read(text: str, kind: str, name: str, schema: Json) -> object:
    """Return the value that a text stands for where `kind`, a JSON type, is wanted; else the text.

    JSON is decoded; a text for a list of `COMMAND_LINES` is split as a shell does. `name` is the argument's name, `schema` its schema.
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


def _list(value: object, schema: Json) -> object:
    """Return a list whose elements are converted by `schema`; a list of one for a single text or object.

    A single value of another kind stays as it is, and so does a text that begins like a JSON list: it has a mistake.
    """
    items = schema.get("items")
    if is_array(value):
        return [_value(each, items) for each in value]
    only = _value(value, items)
    kind = _type_of(items)
    # A text that begins like JSON is a list with a mistake.
    text = kind == "string" and isinstance(only, str) and not re.match(r'\s*\[\s*"', only)
    return [only] if text or (kind == "object" and is_object(only)) else value


def _place(value: object, properties: Json, given: Json | None = None) -> dict[str, Any]:
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
    return StrippedArguments(
        {key: value for key, (value, _) in inner.items()},
        frozenset(names[key] for key in empty),
        (*shown, *dict.fromkeys(each for _, more in inner.values() for each in more)),
    )


def _inside(value: object, schema: object) -> tuple[object, tuple[str, ...]]:
    """Return a value without what is only filled in within it, and what was left out that could be meant.

    Only objects and lists of objects that `schema` describes are changed; the second part is as in `StrippedArguments.zeros`.
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
