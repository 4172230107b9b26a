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
from dapeer.base.schemas import unknown
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


def marked(function: ToolFunction, kind: type[Mark]) -> Iterator[tuple[str, Mark]]:
    """Yield the arguments that are marked so, with their marks."""
    for name, (hint, _) in _arguments(function).items():
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, kind):
                yield name, mark


@cache
def model(function: ToolFunction) -> type[BaseModel]:
    """Return the model that checks a tool's arguments."""
    fields: dict[str, Any] = {**_arguments(function)}
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


@cache
def _parameters(source: ToolFunction | type) -> Mapping[str, tuple[Any, Any]]:
    """Return the type and the default of each parameter of a tool, or of each field of a group.

    `...`: it is required.
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
    """Return the type and the default of each argument of a tool, those of its groups included."""
    found: dict[str, tuple[Any, Any]] = {}
    for name, (hint, default) in _parameters(source).items():
        found |= _arguments(hint) if _is_group(hint) else {name: (hint, default)}
    return found


def grouped(source: ToolFunction | type, values: Json) -> Json:
    """Return the parameters of a tool for the values of its arguments."""
    return {
        name: hint(**grouped(hint, values)) if _is_group(hint) else values[name]
        for name, (hint, _) in _parameters(source).items()
    }


@cache
def of_arguments(function: ToolFunction) -> Json:
    """Return the schema of a tool's arguments."""
    known = _known(function)
    return known["arguments"] if known else made_of_arguments(function)


@cache
def of_data(function: ToolFunction, output: type | None) -> Json | None:
    """Return the schema of a tool's data; None: it is unspecified."""
    known = _known(function)
    return known["data"] if known else made_of_data(output)


def made_of_arguments(function: ToolFunction) -> Json:
    """Make the schema of a tool's arguments."""
    return short(model(function).model_json_schema())


def made_of_data(output: type | None) -> Json | None:
    """Make the schema of a tool's data; None: it is unspecified."""
    return short(TypeAdapter(output).json_schema()) if output else None


def _known(function: ToolFunction) -> KnownTool | None:
    """Return what was written down of a tool; None: it is new, or none of dapeer's."""
    module = function.__module__
    if not module.startswith(_PREFIX):
        return None
    return known_tools(known_file(module)).get(function.__name__)


def sentence(error: ValidationError, schema: Json) -> str:
    """Return one sentence on the first invalid argument, with the allowed values."""
    first = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "arguments"
    if first["type"] == "extra_forbidden":
        return unknown([str(part) for part in first["loc"]], _inside(schema, first["loc"][:-1]))
    if first["type"] == "model_type":
        members = _inside(schema, first["loc"])["properties"]
        place = ', or text such as "a.py:12"' if "filename" in members else ""
        return f"Argument `{where}`: give an object with some of {', '.join(members)}{place}."
    if first["type"] == "missing":
        return f"Argument `{where}` is required."
    message = _IN_JSON_TERMS.get(first["type"], first["msg"])
    return f"Argument `{where}`: {message[0].lower()}{message[1:]}."


def _inside(schema: Json, where: Sequence[int | str]) -> Json:
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


def short(schema: Any) -> Any:
    """Return a schema without what says nothing to a model: titles, null alternatives, usual defaults.

    A model reads every byte of a tool list, so `Optional[int]` is an integer that may be left out.
    """
    definitions: Json = schema.get("$defs", {})
    return _shortened(schema, definitions)


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


def listed(node: Any) -> Any:
    """Return a short schema as a list of tools has it."""
    match node:
        case _ if is_array(node):
            return [listed(item) for item in node]
        case _ if is_object(node):
            return {
                key: listed(value)
                for key, value in node.items()
                if (key, value) not in _FOR_DAPEER and not (is_object(value) and value.get(RARE))
            }
        case _:
            return node


def _shortened(node: Any, definitions: Json) -> Any:
    match node:
        case _ if is_array(node):
            return [_shortened(item, definitions) for item in node]
        case {"$ref": str(ref)}:
            named: Json = definitions[ref.rpartition("/")[2]]
            # Its docstring is for readers of the code.
            return _shortened({**named, "description": None}, definitions)
        case {"anyOf": [first, {"type": "null"}], **rest}:
            return _shortened({**first, **rest}, definitions)
        case _ if is_object(node):
            return {
                key: _properties(value, definitions)
                if key == "properties"
                else _shortened(value, definitions)
                for key, value in node.items()
                if (key, value) not in _SELF_EVIDENT and key not in _NOISE
            }
        case _:
            return node


def _properties(properties: Json, definitions: Json) -> Json:
    """Shorten each property; here `title` and `default` are names, not keywords."""
    return {name: _shortened(schema, definitions) for name, schema in properties.items()}
