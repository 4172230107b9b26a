"""Requests that no list of a server has room for: long names, and cursors that it has not given."""

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from tests.harness import client

LONG = "x" * 1_000_000


async def test_the_name_of_an_unknown_tool_or_prompt_is_repeated_in_part() -> None:
    async with client() as c:
        for ask in (c.call_tool, c.get_prompt):
            with pytest.raises(MCPError, match=r"Unknown (tool|prompt): x+… ") as caught:
                await ask(LONG)
            assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "name", ["list_tools", "list_resources", "list_resource_templates", "list_prompts"]
)
async def test_a_cursor_that_no_list_has_given_is_rejected(name: str) -> None:
    async with client() as c:
        with pytest.raises(MCPError, match="Leave `cursor` out") as caught:
            await listing(c, name)
        assert caught.value.code == INVALID_PARAMS


async def listing(c: Client, name: str) -> object:
    """Ask for a page of a list."""
    return await getattr(c, name)(cursor="nonsense")
