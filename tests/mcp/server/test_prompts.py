"""What the server tells assistants and people beforehand."""

import re

import pytest
from mcp import Client, MCPError
from mcp.types import TextContent

from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.server.instructions import INSTRUCTIONS, instructions
from dapeer.mcp.server.prompts import PROMPTS, Prompt
from dapeer.mcp.server.server import make_server
from dapeer.mcp.server.toolbox import Selection
from dapeer.sessions.debugger.debugger import Debugger
from tests.mcp.small import in_memory
from tests.programs import ROOT

NAMES = {tool.name for tool in TOOLS}
MENTIONED = re.compile(r"\bdap_\w+")


def test_the_instructions_are_short() -> None:
    assert len(INSTRUCTIONS) < 1500


def test_the_instructions_name_tools_that_exist() -> None:
    mentioned = set(MENTIONED.findall(INSTRUCTIONS))
    assert mentioned <= NAMES
    assert {"dap_run", "dap_evaluate", "dap_program_output", "dap_terminate"} <= mentioned


@pytest.mark.parametrize(
    ("selection", "begins"),
    [
        (Selection(), "0. dap_status"),
        (Selection(groups=["dap"]), "0. dap_status"),
        (Selection(groups=["lean"]), "1. Start: ONE dap_run"),
        (Selection(read_only=True), "You only look"),
        (Selection(groups=["lsp"]), ""),
    ],
    ids=["all", "dap", "lean", "read-only", "lsp"],
)
async def test_the_instructions_name_what_is_offered_only(
    selection: Selection, begins: str
) -> None:
    async with (
        Debugger(load_all(shipped()), ROOT) as debugger,
        Client(make_server(debugger, TOOLS, selection=selection)) as client,
    ):
        told = client.instructions or ""
        offered = {tool.name for tool in (await client.list_tools()).tools}
    mentioned = set(MENTIONED.findall(told))
    assert mentioned <= offered
    assert told.partition("\n\n")[2].startswith(begins)
    assert ("nvim_" in told) == (selection == Selection())


def test_a_server_of_few_tools_says_how_to_use_them() -> None:
    assert instructions(NAMES | {"nvim_"}) == INSTRUCTIONS


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
def test_a_prompt_names_tools_that_exist(prompt: Prompt) -> None:
    mentioned = set(MENTIONED.findall(prompt.text))
    assert mentioned
    assert mentioned <= NAMES


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
async def test_a_prompt_carries_its_arguments(prompt: Prompt) -> None:
    values = {name: f"the $value of {name}" for name in prompt.arguments}
    async with in_memory() as server, Client(server) as client:
        result = await client.get_prompt(prompt.name, values)
    content = result.messages[0].content
    assert isinstance(content, TextContent)
    assert all(value in content.text for value in values.values())


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("explain_everything", {}, "Unknown prompt: explain_everything. There are: debug_failing"),
        ("explain_crash", {}, "Prompt explain_crash needs: program."),
        ("explain_crash", {"program": ""}, "Prompt explain_crash needs: program."),
    ],
)
async def test_a_wrong_prompt_is_a_helpful_error(
    name: str, arguments: dict[str, str], sentence: str
) -> None:
    async with in_memory() as server, Client(server) as client:
        with pytest.raises(MCPError, match=sentence):
            await client.get_prompt(name, arguments)


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        (Selection(), [*PROMPTS]),
        (Selection(groups=["lean"]), [*PROMPTS]),
        (Selection(read_only=True), []),
        (Selection(groups=["lsp"]), []),
    ],
    ids=["all", "lean", "read-only", "lsp"],
)
async def test_a_prompt_is_offered_where_its_tools_are_and_says_which_are_not(
    selection: Selection, names: list[str]
) -> None:
    async with in_memory(TOOLS, selection=selection) as server, Client(server) as client:
        offered = {tool.name for tool in (await client.list_tools()).tools}
        prompts = (await client.list_prompts()).prompts
        assert [each.name for each in prompts] == names
        for each in prompts:
            values = {name.name: "x" for name in each.arguments or []}
            content = (await client.get_prompt(each.name, values)).messages[0].content
            assert isinstance(content, TextContent)
            text, _, note = content.text.partition("\n(This server offers no ")
            assert set(MENTIONED.findall(text)) - offered == set(MENTIONED.findall(note))
