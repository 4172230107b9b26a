"""The arguments and the data of a tool as JSON Schemas, made of the types of its function.

A parameter that is a dataclass stands for its fields, each of which is an argument: so tools share arguments, and a tool with
many has them in groups. The schema is flat.

pydantic takes 45 ms to make those of all tools, so dapeer's own were made before: `known_tools` has them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeGuard, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model

from dapeer.base.json_types import Json, is_array, is_object
from dapeer.base.schemas import unknown_argument_sentence
from dapeer.tools.base.call import Reply
from dapeer.tools.base.known_tools import known_file, known_tools

if TYPE_CHECKING:
    from dapeer.tools.base.known_tools import KnownTool

ToolFunction = Callable[..., Coroutine[Any, Any, Reply]]
Mark = TypeVar("Mark")

_PREFIX: Final = f"{__name__.partition('.')[0]}."
"""With which the names of dapeer's own modules begin."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Marks an argument that is of use only where an adapter supports a request, or an option of requests."""

    supported: str


RARE: Final = "x-rare"
"""Marks a property of an argument's object that no list of tools has; pages have it."""


class Unlisted:
    """Marks an argument that callers may give, but no model has to see: another one says the same."""


class Narrows:
    """Marks an argument without which a tool removes or ends more.

    An empty one is refused, never taken as left out.
    """


def marked_arguments(function: ToolFunction, kind: type[Mark]) -> Iterator[tuple[str, Mark]]:
    """Yield (argument, mark) for each argument of a tool's function that has a mark of this type.

    Marks are in the arguments' annotations.
    """
    for name, (hint, _) in _arguments(function).items():
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, kind):
                yield name, mark


@cache
def arguments_model(function: ToolFunction) -> type[BaseModel]:
    """Return the pydantic model that checks a tool's arguments, and rejects unknown ones.

    It is made once for each function.
    """
    fields: dict[str, Any] = {**_arguments(function)}
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


@cache
def _parameters(source: ToolFunction | type) -> Mapping[str, tuple[Any, Any]]:
    """Return (type, default) of each parameter of a tool's function, or of a dataclass's fields, by name.

    The default `...` means that it is required. The parameter `call` is left out. The result is cached: the
    caller must not change it.

    Raises:
        KeyError: A parameter has no annotation.
        NameError: An annotation names what is not defined.
    """
    hints = get_type_hints(source, include_extras=True)
    return {
        name: (hints[name], ... if each.default is inspect.Parameter.empty else each.default)
        for name, each in inspect.signature(source).parameters.items()
        if name != "call"
    }


def _is_group(hint: object) -> TypeGuard[type]:
    return is_dataclass(hint)


def _arguments(source: ToolFunction | type) -> Mapping[str, tuple[Any, Any]]:
    """Return (type, default) of each argument of a tool, by name.

    A parameter that is a dataclass gives an argument for each of its fields.
    """
    found: dict[str, tuple[Any, Any]] = {}
    for name, (hint, default) in _parameters(source).items():
        found |= _arguments(hint) if _is_group(hint) else {name: (hint, default)}
    return found


def keyword_arguments(source: ToolFunction | type, values: Json) -> Json:
    """Return the keyword arguments with which to call a tool's function, given its arguments' values.

    Values that belong to a parameter that is a dataclass are put into an object of that. `values` must have every argument.
    """
    return {
        name: hint(**keyword_arguments(hint, values)) if _is_group(hint) else values[name]
        for name, (hint, _) in _parameters(source).items()
    }


@cache
def arguments_schema(function: ToolFunction) -> Json:
    """Return the JSON Schema of a tool's arguments.

    It is read from the file of known tools, or made for a tool that is not there.
    """
    known = _known_tool(function)
    return known["arguments"] if known else make_arguments_schema(function)


@cache
def data_schema(function: ToolFunction, output: type | None) -> Json | None:
    """Return the JSON Schema of the data of a tool's replies; None: the tool does not specify it.

    It is that of the file of known tools, or made of the type `output` for a tool that is not there.
    """
    known = _known_tool(function)
    return known["data"] if known else make_data_schema(output)


def make_arguments_schema(function: ToolFunction) -> Json:
    """Make the JSON Schema of a tool's arguments from its function's types; `shorten_schema` shortens it."""
    return shorten_schema(arguments_model(function).model_json_schema())


def make_data_schema(output: type | None) -> Json | None:
    """Make the JSON Schema of a type of data, shortened as by `shorten_schema`; None if there is no type."""
    return shorten_schema(TypeAdapter(output).json_schema()) if output else None


def _known_tool(function: ToolFunction) -> KnownTool | None:
    """Return what the file of known tools says of a tool's function.

    None: the function is not dapeer's, or the file does not have it yet.
    """
    module = function.__module__
    if not module.startswith(_PREFIX):
        return None
    return known_tools(known_file(module)).get(function.__name__)


def describe_validation_error(error: ValidationError, schema: Json) -> str:
    """Return one sentence on the first invalid argument of a call, for the assistant that made the call.

    It names the argument, and says what is allowed there, that it is required, or that it is unknown. `schema` is
    the tool's input schema as the client knows it. Of an unknown argument the name that may be meant is told, or
    all that exist there; of one that has to be an object its properties.
    """
    first = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "arguments"
    if first["type"] == "extra_forbidden":
        return unknown_argument_sentence(
            [str(part) for part in first["loc"]], _schema_at(schema, first["loc"][:-1])
        )
    if first["type"] == "model_type":
        members = _schema_at(schema, first["loc"])["properties"]
        place = ', or text such as "a.py:12"' if "filename" in members else ""
        return f"Argument `{where}`: give an object with some of {', '.join(members)}{place}."
    if first["type"] == "missing":
        return f"Argument `{where}` is required."
    message = _IN_JSON_TERMS.get(first["type"], first["msg"])
    return f"Argument `{where}`: {message[0].lower()}{message[1:]}."


def _schema_at(schema: Json, where: Sequence[int | str]) -> Json:
    """Return the schema of a part of the arguments, by its path of property names and list indexes."""
    for part in where:
        schema = schema["items"] if isinstance(part, int) else schema["properties"][part]
    return schema


_IN_JSON_TERMS = {
    "is_instance_of": "Input should be a valid list",
    "sequence_str": "Input should be a valid list",
    "dict_type": "Input should be a valid object",
    "mapping_type": "Input should be a valid object",
}
"""Messages in JSON's terms by pydantic's types of error; the first two are for Sequence only."""


def shorten_schema(schema: Any) -> Any:
    """Return a JSON Schema without what says nothing to a model: titles, nulls, usual defaults.

    A model reads every byte of a tool list, so `Optional[int]` is an integer that may be left out. References are replaced by what they
    name. The given schema stays unchanged.

    >>> shorten_schema({"type": "integer", "default": 0}), shorten_schema({"type": "boolean", "default": False})
    ({'type': 'integer', 'default': 0}, {'type': 'boolean'})
    """
    definitions: Json = schema.get("$defs", {})
    return _shortened_schema(schema, definitions)


_NOISE = {"title", "$defs"}
_SELF_EVIDENT: tuple[tuple[str, Any], ...] = (
    ("default", None),
    ("default", []),
    ("description", None),
    ("additionalProperties", True),
    ("default", False),
    # Of timeouts; who has waited is told how long.
    ("default", 10_000),
    ("default", 30_000),
    ("minimum", 0),
    ("maximum", 65535),
)
_FOR_DAPEER: tuple[tuple[str, Any], ...] = (("default", 0), ("minimum", 1))
"""What a schema keeps because it says which arguments a client only fills in; no list of tools has it."""


def schema_for_list(node: Any) -> Any:
    """Return a shortened schema, or a part of it, as a list of tools has it.

    It lacks properties marked as `RARE`, and the defaults and minimums that only dapeer itself reads. `node` is the schema or the part; it
    stays unchanged.
    """
    match node:
        case _ if is_array(node):
            return [schema_for_list(item) for item in node]
        case _ if is_object(node):
            return {
                key: schema_for_list(value)
                for key, value in node.items()
                if (key, value) not in _FOR_DAPEER and not (is_object(value) and value.get(RARE))
            }
        case _:
            return node


def _shortened_schema(node: Any, definitions: Json) -> Any:
    """Return a part of a schema without noise, its references replaced by what they name.

    Noise is titles, `$defs`, the keys with values of `_SELF_EVIDENT`, and `null` as the second of two
    alternatives in `anyOf`, which leaves the schema of the first; elsewhere `null` stays. Of an object with
    `$ref`, only what is referred to is returned, without its description; other keys beside `$ref` are
    dropped. `definitions` is the schema's `$defs`, which must have all that is referred to; none may refer
    to itself. `node` is that part, of any type of JSON; it stays unchanged.
    """
    match node:
        case _ if is_array(node):
            return [_shortened_schema(item, definitions) for item in node]
        case {"$ref": str(ref)}:
            named: Json = definitions[ref.rpartition("/")[2]]
            # Its docstring is for readers of the code.
            return _shortened_schema({**named, "description": None}, definitions)
        case {"anyOf": [first, {"type": "null"}], **rest}:
            return _shortened_schema({**first, **rest}, definitions)
        case _ if is_object(node):
            return {
                key: _properties(value, definitions)
                if key == "properties"
                else _shortened_schema(value, definitions)
                for key, value in node.items()
                if key not in _NOISE and not _is_self_evident(key, value)
            }
        case _:
            return node


def _is_self_evident(key: str, value: object) -> bool:
    """Return whether a key with this value is in `_SELF_EVIDENT`; a number is never equal to a flag here."""
    return any(
        (key, value) == each and isinstance(value, bool) == isinstance(each[1], bool)
        for each in _SELF_EVIDENT
    )


def _properties(properties: Json, definitions: Json) -> Json:
    """Shorten each property; here `title` and `default` are names, not keywords."""
    return {name: _shortened_schema(schema, definitions) for name, schema in properties.items()}
