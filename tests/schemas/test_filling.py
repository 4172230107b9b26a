"""Arguments that a client gives only because the schema has them count as left out, for every tool."""

from typing import Any

import pytest

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json
from dapeer.base.schemas import convert_arguments, without_filled
from dapeer.tools.base import schema
from dapeer.tools.base.tool import Tool
from tests.tools.test_served import ALL, a_call, needed
from tools.pages import lua_tools

ZEROS: dict[str, Any] = {
    "string": "", "integer": 0, "number": 0, "boolean": False, "array": [], "object": {},
}  # fmt: skip
each_tool = pytest.mark.parametrize("tool", ALL, ids=[tool.name for tool in ALL])


def an(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def filled(of: Json, *kinds: str) -> dict[str, Any]:
    """Return every optional argument of a schema with the zero of its type, if it is one of these types."""
    return {
        name: ZEROS[each["type"]]
        for name, each in of["properties"].items()
        if each.get("type") in (kinds or ZEROS) and name not in of.get("required", ())
    }


TEXT, NUMBER, LIST = {"type": "string"}, {"type": "integer", "minimum": 1}, {"type": "array"}
WAIT, CLEARS = {"type": "boolean", "default": True}, {**LIST, "description": "[] for none"}
TIME = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "arguments", "kept"),
    [
        (an(a=TEXT, b=NUMBER, c=LIST, d={"type": "object"}), {"a": "", "b": 0, "c": [], "d": {}}, {}),
        (an(a=TEXT), {"a": " "}, {"a": " "}),
        ({**an(a=TEXT), "required": ["a"]}, {"a": ""}, {"a": ""}),
        (an(a={"enum": ["", "x"], "type": "string"}), {"a": ""}, {"a": ""}),
        (an(a={"enum": ["x"], "type": "string"}), {"a": ""}, {}),
        (an(a=CLEARS, t=TIME, w=WAIT), {"a": [], "t": 0, "w": False}, {"a": [], "t": 0, "w": False}),
        (an(a=TEXT, b=TEXT, t=TIME, w=WAIT), {"a": "", "b": "", "t": 0, "w": False}, {"t": 0, "w": False}),
        (an(myName=TEXT), {"my_name": "", "unknown": ""}, {"my_name": "", "unknown": ""}),
        (an(my_name=TEXT), {"myName": ""}, {}),
        (an(env={"type": "object"}), {"env": {"A": ""}}, {"env": {"A": ""}}),
        (an(args={"type": "array", "items": TEXT}), {"args": [""]}, {"args": [""]}),
        (an(l={**LIST, "items": an(a=TEXT, b=TEXT)}), {"l": [{"a": "", "b": "x"}]}, {"l": [{"b": "x"}]}),
    ],
)  # fmt: skip
def test_what_is_empty_counts_as_left_out_where_it_can_mean_nothing(
    schema: dict[str, Any], arguments: dict[str, Any], kept: dict[str, Any]
) -> None:
    assert without_filled(arguments, schema).arguments == kept


def test_with_three_empty_arguments_zeros_that_could_be_meant_are_left_out_and_named() -> None:
    schema = an(a=TEXT, b=NUMBER, c=LIST, e=CLEARS, t=TIME, w=WAIT, off={"type": "boolean"})
    found = without_filled({**filled(schema), "a": ""}, schema)
    assert found.arguments == {}
    [line] = found.notes()
    assert line.endswith(": e=[], t=0, w=false")
    found = without_filled({**filled(schema), "a": "x"}, schema)
    assert found.arguments == {"a": "x", "e": [], "t": 0, "w": False, "off": False}
    assert not [*found.notes()]


@each_tool
def test_a_call_with_everything_filled_in_is_the_call_without(tool: Tool) -> None:
    for kinds in ((), ("string",), ("string", "array", "object")):
        given = without_filled(
            {**needed(tool), **filled(tool.input_schema, *kinds)}, tool.input_schema
        )
        unexplained = set(given.arguments) - needed(tool).keys()
        assert not unexplained or len(given.empty) < 3
        assert all(given.arguments[name] in (0, []) for name in unexplained)
        schema.arguments_model(tool.function).model_validate(
            convert_arguments(given.arguments, tool.input_schema)
        )


@pytest.mark.parametrize("tool", lua_tools(), ids=lambda tool: tool.name)
def test_so_it_is_for_what_neovim_offers(tool: Any) -> None:  # noqa: ANN401 - a tool of Neovim
    given = without_filled(
        filled(tool.input_schema, "string", "array", "object"), tool.input_schema
    )
    assert given.arguments == {}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("dap_clear_breakpoints", {"filename": ""}), ("dap_terminate", {"thread_ids": [], "session_id": 0})],
)  # fmt: skip
async def test_what_removes_or_ends_is_refused_where_it_would_do_more(
    name: str, arguments: dict[str, Any]
) -> None:
    tool = next(tool for tool in ALL if tool.name == name)
    call = a_call()
    call.debugger.breakpoints.add("/project/a.py", {"line": 1}, "")
    with pytest.raises(ArgumentError, match=r"is empty, and without it dap_.* would do more"):
        await tool(call, arguments)
    assert call.debugger.breakpoints.by_path
