"""The official MCP Inspector, which shares no code with our server's library, as a client."""

import asyncio
import json
import shutil
import subprocess
import sys
from typing import Any

import pytest

from dapeer.tools import TOOLS
from tests.mcp.small import TOKEN
from tests.mcp.wire import serving
from tests.processes import LIMIT
from tests.programs import program

PACKAGE = "@modelcontextprotocol/inspector@2.12.0"
SECONDS_TO_INSTALL = 300

STDIO = (sys.executable, "-m", "dapeer", "stdio")


@pytest.fixture(scope="session")
def npx() -> str:
    """Return npx; the test is skipped where it cannot give us the Inspector."""
    path = shutil.which("npx")
    if path is None:
        pytest.skip("needs npx: install Node.js 20 or newer")
    try:
        done = subprocess.run(
            [path, "-y", PACKAGE, "--cli", "--help"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_INSTALL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"npx did not get {PACKAGE} in time")
    if done.returncode:
        pytest.skip(f"npx cannot get {PACKAGE}: {done.stderr.strip().splitlines()[-1:]}")
    return path


async def inspect(npx: str, *arguments: str) -> dict[str, Any]:
    """Run the Inspector and return what it prints."""
    process = await asyncio.create_subprocess_exec(
        npx,
        "-y",
        PACKAGE,
        "--cli",
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(LIMIT):
        out, error = await process.communicate()
    assert process.returncode == 0, error.decode()
    return json.loads(out)


def over_http(url: str, path: str, transport: str) -> tuple[str, ...]:
    """Return the Inspector's arguments for a server that wants a token."""
    header = f"Authorization: Bearer {TOKEN}"
    return (f"{url}{path}", "--transport", transport, "--header", header)


async def test_the_inspector_lists_and_calls_tools_over_stdio(npx: str) -> None:
    listed = await inspect(npx, *STDIO, "--method", "tools/list", "--strict")
    assert {tool["name"] for tool in listed["tools"]} == {tool.name for tool in TOOLS}
    called = await inspect(npx, *STDIO, "--method", "tools/call", "--tool-name", "dap_status")
    assert called["content"][0]["type"] == "text"


@pytest.mark.parametrize(("path", "transport"), [("/mcp", "http"), ("/sse", "sse")])
async def test_the_inspector_lists_and_calls_tools_over_http(
    npx: str, path: str, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAPEER_TOKEN", TOKEN)
    p = program("loop.py")
    breakpoints = json.dumps([p.at("inner")])
    async with serving() as (_, url):
        server = over_http(url, path, transport)
        listed = await inspect(npx, *server, "--method", "tools/list")
        assert {tool["name"] for tool in listed["tools"]} == {tool.name for tool in TOOLS}
        run = ("--tool-name", "dap_run", "--tool-arg", f"program={p}")
        stop = await inspect(
            npx, *server, "--method", "tools/call", *run, f"breakpoints={breakpoints}"
        )
        assert stop["structuredContent"]["line"] == p.line("inner")
        resources = await inspect(npx, *server, "--method", "resources/list")
        assert "debug://sessions/1" in [resource["uri"] for resource in resources["resources"]]
        end = await inspect(npx, *server, "--method", "tools/call", "--tool-name", "dap_terminate")
        assert not end.get("isError")


async def test_the_inspector_speaks_the_newest_protocol_with_us(
    npx: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAPEER_TOKEN", TOKEN)
    async with serving() as (_, url):
        server = (*over_http(url, "/mcp", "http"), "--protocol-era", "modern")
        prompts = await inspect(npx, *server, "--method", "prompts/list")
        assert "explain_crash" in [prompt["name"] for prompt in prompts["prompts"]]
