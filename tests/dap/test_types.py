"""Our hand-written types against the protocol's JSON schema, which debugpy's wheel carries."""

import ast
import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NotRequired, get_args, get_origin, get_type_hints, is_typeddict

import debugpy  # noqa: T100 - for its data, not to stop here
import pytest

from dapeer.base.json_types import Json
from dapeer.dap import sent_requests, types

SCHEMA = "_vendored/pydevd/_pydevd_bundle/_debug_adapter/debugProtocol.json"
JSON_TYPES = {str: "string", int: "integer", bool: "boolean", list: "array", Sequence: "array"}


def read_definitions() -> Json:
    path = Path(inspect.getfile(debugpy)).parent / SCHEMA
    return json.loads(path.read_text(encoding="utf-8"))["definitions"]


DEFINITIONS = read_definitions()
TYPES = list(
    {
        name: value
        for module in (types, types, sent_requests)
        for name, value in inspect.getmembers(module, is_typeddict)
    }.values()
)


def definition_of(name: str) -> Json:
    """Return the schema of a type; `StoppedEventBody` is the body of the event `StoppedEvent`."""
    if name in DEFINITIONS:
        return DEFINITIONS[name]
    parts = DEFINITIONS[name.removesuffix("Body")]["allOf"]
    return parts[-1]["properties"]["body"]


def optional(hint: object) -> bool:
    return get_origin(hint) is NotRequired


def bare(hint: object) -> object:
    inner = get_args(hint)[0] if optional(hint) else hint
    return get_origin(inner) or inner


def json_types(schema: Json) -> set[str]:
    """Return the JSON types that a property may have."""
    if "$ref" in schema:
        schema = DEFINITIONS[schema["$ref"].rpartition("/")[2]]
    kind = schema.get("type", "object")
    return {kind} if isinstance(kind, str) else set(kind)


def test_the_module_has_types() -> None:
    assert len(TYPES) > 5


@pytest.mark.parametrize("ours", TYPES, ids=lambda ours: ours.__name__)
def test_a_type_has_only_the_keys_that_the_schema_has(ours: type) -> None:
    keys = get_type_hints(ours).keys()
    assert keys <= definition_of(ours.__name__)["properties"].keys()


@pytest.mark.parametrize("ours", TYPES, ids=lambda ours: ours.__name__)
def test_a_key_is_required_exactly_when_the_schema_requires_it(ours: type) -> None:
    hints = get_type_hints(ours, include_extras=True)
    required = {key for key, hint in hints.items() if not optional(hint)}
    assert required == hints.keys() & set(definition_of(ours.__name__).get("required", []))


@pytest.mark.parametrize("ours", TYPES, ids=lambda ours: ours.__name__)
def test_a_key_has_the_type_that_the_schema_gives_it(ours: type) -> None:
    properties = definition_of(ours.__name__)["properties"]
    for key, hint in get_type_hints(ours, include_extras=True).items():
        expected = JSON_TYPES.get(bare(hint), "object")  # type: ignore[arg-type]
        assert expected in json_types(properties[key]), key


def test_every_request_that_is_sent_has_the_arguments_and_the_answer_of_its_command() -> None:
    (sends,) = ast.parse(inspect.getsource(sent_requests.SendRequest)).body
    assert isinstance(sends, ast.ClassDef)
    overloads = [each for each in sends.body if isinstance(each, ast.AsyncFunctionDef)]
    assert len(overloads) > 30
    for each in overloads:
        (command,) = get_args(annotated(each.args.args[1].annotation))
        arguments = ast.unparse(each.args.args[2].annotation or each).removesuffix(" | None")
        name = f"{command[0].upper()}{command[1:]}"
        if arguments == "Nothing":
            assert not definition_of(f"{name}Request").get("arguments")
        else:
            assert arguments == f"{name}Arguments"
        if command in types.RESPONSES:
            assert annotated(each.returns) is types.RESPONSES[command]


def annotated(annotation: ast.expr | None) -> object:
    """Return what an annotation of `sent_requests` is."""
    return eval(ast.unparse(annotation or ast.Constant(None)), dict(vars(sent_requests)))  # noqa: S307
