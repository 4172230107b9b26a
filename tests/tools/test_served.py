"""What is true of every tool that is served."""

import json
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator

from dapeer.base.errors import ArgumentError
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.front import KNOWN
from dapeer.peers import Peers
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.debugger.focus import Focus
from dapeer.tools.base.call import Call
from dapeer.tools.base.tool import Tool
from tests.programs import ROOT
from tools import known_answers

ALL = known_answers.EVERY
CHANGING = {tool.name for tool in ALL if tool.kinds is not None}
"""Tools that change something: the program, what it does next, or where it will stop."""
RESUMING = {tool.name for tool in ALL if tool.resumes}
OF_LEAN = {tool.name for tool in ALL if tool.is_lean}
NONE: frozenset[str] = frozenset()
"""What adapters support while none runs."""

READ = ("name", "description", "inputSchema")
"""What hosts show a model of a tool."""

each_tool = pytest.mark.parametrize("tool", ALL, ids=[tool.name for tool in ALL])


def test_what_a_client_is_told_before_the_server_is_loaded_is_up_to_date() -> None:
    for path, now in known_answers.descriptions().items():
        assert path.read_text("utf-8") == now, "run `uv run python -m tools.known_answers`"
    now = known_answers.made()
    assert Path(KNOWN).read_text("utf-8") == now, "run `uv run python -m tools.known_answers`"


def test_no_tool_is_declared_that_is_not_offered() -> None:
    """A new file of tools goes into the list of `mcp/all_tools.py`."""
    declared = re.compile(r"^@tool\(.*?^async def (\w+)", re.DOTALL | re.MULTILINE)
    texts = [path.read_text("utf-8") for path in (ROOT / "server" / "dapeer").rglob("*.py")]
    assert {*chain.from_iterable(map(declared.findall, texts))} == {tool.name for tool in ALL}


def test_the_tools_are_known_as_data_without_loading_them() -> None:
    """Commands and scripts are made of it at each start."""
    ask = (
        "import sys; from dapeer.tools.base.known_tools import known_tools; "
        "print(*known_tools(), *{'anyio', 'dapeer.tools.base.tool', 'mcp', 'pydantic'}.intersection(sys.modules))"
    )
    told = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert told.stdout.split() == [tool.name for tool in TOOLS]


def properties(tool: Tool) -> dict[str, Any]:
    return cast("dict[str, Any]", tool.input_schema["properties"])


def a_call() -> Call:
    async def progress(
        text: str, done: float | None = None, total: float | None = None
    ) -> None: ...

    debugger = Debugger({}, Path("/project"))
    return Call(debugger, progress, Peers(debugger), Focus(debugger))


def test_what_a_model_reads_of_the_tools_is_short() -> None:
    """As listed before any start, without a Neovim; `lean` is what `--tools lean` lists. Every model reads all of it in every conversation."""
    listed = json.loads(Path(KNOWN).read_text("utf-8"))["lists"]["tools/list"]["tools"]
    read = {tool["name"]: {key: tool[key] for key in READ} for tool in listed}
    lean = [read[name] for name in sorted(OF_LEAN & read.keys())]
    assert size([*read.values()]) <= 15_000
    assert size(read["dap_run"]) <= 2_600
    assert size(lean) <= 5_000


def size(read: object) -> int:
    """Return the bytes of it as JSON."""
    return len(json.dumps(read, ensure_ascii=False, separators=(",", ":")).encode())


def test_no_two_tools_have_one_name() -> None:
    assert len({tool.name for tool in ALL}) == len(ALL)


@each_tool
def test_a_name_is_one_that_every_client_accepts(tool: Tool) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_]{1,40}", tool.name)
    assert set(tool.groups) <= {"dap", "nvim", "opencode"}


@each_tool
def test_a_title_is_short(tool: Tool) -> None:
    assert 0 < len(tool.title) <= 30


@each_tool
def test_a_description_is_one_to_three_plain_sentences(tool: Tool) -> None:
    text = tool.description
    assert text[0].isupper()
    assert text.endswith(".")
    assert 1 <= len(re.findall(r"\.(?=\s|$)", text)) <= 3
    assert not re.search(r"^\s*[-*#]|\*\*", text, re.MULTILINE)


@each_tool
def test_read_only_are_exactly_the_tools_that_change_nothing(tool: Tool) -> None:
    assert tool.read_only is (tool.name not in CHANGING)


@each_tool
def test_what_is_read_only_is_not_destructive_and_may_be_called_again(tool: Tool) -> None:
    if tool.read_only:
        assert not tool.destructive
        assert tool.idempotent


@each_tool
def test_what_resumes_may_not_be_called_again_for_nothing(tool: Tool) -> None:
    if tool.name in RESUMING:
        assert not tool.idempotent


@each_tool
def test_what_resumes_can_be_told_not_to_wait_and_for_how_long(tool: Tool) -> None:
    if tool.name in RESUMING:
        assert {"wait_until_paused", "timeout_ms", "session_id"} <= properties(tool).keys()


@each_tool
def test_no_tool_names_one_that_a_client_may_not_see_beside_it(tool: Tool) -> None:
    shown = json.dumps([tool.description, tool.input_schema])
    for name in {*re.findall(r"\b(?:dap|nvim|opencode)_\w+", shown)} - {tool.name}:
        named = next(other for other in ALL if other.name == name)
        assert named.read_only or not tool.read_only, name
        assert named.needs is None or named.needs == tool.needs, name
        assert {*tool.groups} <= {*named.groups}, name
        assert name in OF_LEAN or tool.name not in OF_LEAN, name


@each_tool
def test_the_schemas_are_valid_json_schema(tool: Tool) -> None:
    Draft202012Validator.check_schema(tool.input_schema)
    assert tool.input_schema["type"] == "object"
    assert tool.input_schema["additionalProperties"] is False
    if tool.output_schema is not None:
        Draft202012Validator.check_schema(tool.output_schema)


@each_tool
def test_the_schemas_hold_nothing_that_tells_a_model_nothing(tool: Tool) -> None:
    for each in (tool.input_schema, tool.output_schema or {}):
        assert not {"$defs", "$ref", "anyOf", "title"} & set(keywords(each))


def keywords(schema: object) -> list[str]:
    """Return the keywords of a schema and all in it; names of properties are none."""
    if not isinstance(schema, dict):
        return []
    fields = cast("dict[str, Any]", schema)
    found = list(fields)
    for key, value in fields.items():
        for inner in value.values() if key == "properties" else [value]:
            found += keywords(inner)
    return found


@each_tool
async def test_an_unknown_argument_is_refused_before_anything_happens(tool: Tool) -> None:
    call = a_call()
    with pytest.raises(ArgumentError, match="Unknown argument `nonsense`") as caught:
        await tool(call, {**needed(tool), "nonsense": 1})
    listed = ", ".join(tool.schema_for(frozenset())["properties"]) or "none"
    assert str(caught.value) == f"Unknown argument `nonsense`; allowed are: {listed}."
    assert call.debugger.sessions == {}
    assert call.debugger.breakpoints.by_path == {}


@each_tool
async def test_each_argument_of_a_wrong_kind_is_named(tool: Tool) -> None:
    for name in properties(tool):
        # Nothing that a client can send fits less than a list of lists.
        with pytest.raises(ArgumentError, match=f"^Argument `{name}"):
            await tool(a_call(), {**needed(tool), name: [[[]]]})


@each_tool
async def test_each_argument_that_is_needed_is_named_when_it_is_missing(tool: Tool) -> None:
    for name in tool.input_schema.get("required", ()):
        given = {key: value for key, value in needed(tool).items() if key != name}
        with pytest.raises(ArgumentError, match=f"^Argument `{name}` is required"):
            await tool(a_call(), given)


def needed(tool: Tool) -> dict[str, object]:
    """Return some value for every argument that a tool needs."""
    some: dict[str, object] = {"string": "x", "integer": 1, "array": []}
    kinds = {name: properties(tool)[name]["type"] for name in tool.input_schema.get("required", ())}
    return {name: some[kind] for name, kind in kinds.items()}


@pytest.mark.parametrize("given", ["shop.py", 3, "shop.py:"])
async def test_a_breakpoint_that_is_none_names_what_one_has(given: object) -> None:
    run = next(tool for tool in ALL if tool.name == "dap_run")
    with pytest.raises(ArgumentError) as caught:
        await run(a_call(), {"program": "shop.py", "breakpoints": [given]})
    said = str(caught.value)
    assert said.startswith("Argument `breakpoints.0`: give an object with some of filename, line, ")
    assert said.endswith(', or text such as "a.py:12".')
