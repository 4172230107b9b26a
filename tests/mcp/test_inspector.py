"""The official MCP Inspector, which shares no code with our server's library, as a client."""

import asyncio
import json
import sys
from functools import partial
from typing import Any

import pytest

from dapeer.mcp.all_tools import TOOLS
from tests import npm
from tests.hosts.page import COMMAND, DATA, REFUSED, RESULT, refusal, row, shown
from tests.mcp.small import TOKEN
from tests.mcp.wire import serving
from tests.processes import LIMIT
from tests.programs import program

pytestmark = pytest.mark.real

STDIO = (sys.executable, "-m", "dapeer", "stdio")
CALL = ("--method", "tools/call", "--tool-name")


FAILED = 5
"""The Inspector's exit code when a tool reports an error."""


async def inspect(*arguments: str, code: int = 0) -> dict[str, Any]:
    """Run the Inspector and return what it prints. It is a process, and a client, of its own."""
    process = await asyncio.create_subprocess_exec(
        *npm.inspector(),
        "--cli",
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(LIMIT):
        out, error = await process.communicate()
    assert process.returncode == code, error.decode()
    return json.loads(out)


def names(listed: dict[str, Any]) -> set[str]:
    return {tool["name"] for tool in listed["tools"]}


def uris(listed: dict[str, Any]) -> set[str]:
    return {resource["uri"] for resource in listed["resources"]}


OURS = {tool.name for tool in TOOLS if tool.needs is None}
"""What is listed while no adapter lives."""


async def test_the_inspector_lists_and_calls_tools_over_stdio() -> None:
    assert names(await inspect(*STDIO, "--method", "tools/list", "--strict")) == OURS
    called = await inspect(*STDIO, *CALL, "dap_status")
    assert called["content"][0]["type"] == "text"


async def test_the_page_of_hosts_says_what_the_inspector_shows() -> None:
    result, with_data, refused = await asyncio.gather(
        inspect(*COMMAND, *CALL, RESULT),
        inspect(*COMMAND, "--data", *CALL, RESULT),
        inspect(*COMMAND, *CALL, REFUSED, code=FAILED),
    )
    assert row("MCP Inspector") == [
        npm.INSPECTOR.rpartition("@")[2],
        shown(text_of(result)),
        "its text and its data"
        if with_data == {**result, "structuredContent": DATA}
        else repr(with_data),
        refusal(text_of(refused), marked=bool(refused.get("isError"))),
        "no",
    ]


def text_of(result: dict[str, Any]) -> str:
    assert "structuredContent" not in result
    return result["content"][0]["text"]


async def test_the_inspector_works_at_one_session_over_both_transports_and_eras_of_http(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DAPEER_TOKEN", TOKEN)
    p = program("loop.py")
    token = ("--header", f"Authorization: Bearer {TOKEN}")
    async with serving() as (_, url):
        http = partial(inspect, f"{url}/mcp", "--transport", "http", *token)
        sse = partial(inspect, f"{url}/sse", "--transport", "sse", *token)
        assert names(await http("--method", "tools/list")) == OURS
        given = (f"program={p}", f"breakpoints={json.dumps([p.at('inner')])}")
        stop = await http(*CALL, "dap_run", "--tool-arg", *given)
        assert "structuredContent" not in stop
        assert f"loop.py:{p.line('inner')}" in stop["content"][0]["text"]
        assert "debug://sessions/1" in uris(await http("--method", "resources/list"))
        prompts = await http("--protocol-era", "modern", "--method", "prompts/list")
        assert "explain_crash" in {prompt["name"] for prompt in prompts["prompts"]}
        # A live adapter can do more.
        assert names(await sse("--method", "tools/list")) > OURS
        assert "debug://sessions/1" in uris(await sse("--method", "resources/list"))
        assert not (await sse(*CALL, "dap_terminate")).get("isError")
