"""What the server tells assistants and people beforehand."""

import re

import pytest
from mcp import Client, MCPError
from mcp.types import TextContent

from dapeer.mcp.server.instructions import INSTRUCTIONS
from dapeer.mcp.server.prompts import PROMPTS, Prompt
from dapeer.tools import TOOLS
from tests.mcp.small import in_memory

NAMES = {tool.name for tool in TOOLS}
MENTIONED = re.compile(r"\bdap_\w+")


def test_the_instructions_are_short() -> None:
    assert len(INSTRUCTIONS) < 1500


def test_the_instructions_name_tools_that_exist() -> None:
    mentioned = set(MENTIONED.findall(INSTRUCTIONS))
    assert mentioned <= NAMES
    assert {"dap_run", "dap_evaluate", "dap_program_output", "dap_terminate"} <= mentioned


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
