"""The real Claude Code, with our server and a scripted model behind it."""

import asyncio
import json
import os
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import npm
from tests.hosts.anthropic import provider
from tests.hosts.page import COMMAND, REFUSED, RESULT, instructed, refusal, row, shown
from tests.opencode.provider import Call, Provider, Say
from tests.processes import LIMIT

pytestmark = pytest.mark.real

SERVERS = {
    name: {"command": COMMAND[0], "args": [*COMMAND[1:], *options]}
    for name, options in (("text", ()), ("data", ("--data",)))
}
SWITCHES = {
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    # Otherwise the model is asked before our tools are there.
    "MCP_CONNECTION_NONBLOCKING": "0",
    "MCP_CONNECT_TIMEOUT_MS": str(LIMIT * 1000),
}


async def test_the_page_says_what_claude_code_puts_before_its_model(tmp_path: Path) -> None:
    program = npm.claude()
    with provider() as model:
        prompt = model.plays(
            "Look.",
            Call(f"mcp__text__{RESULT}"),
            Call(f"mcp__data__{RESULT}"),
            Call(f"mcp__text__{REFUSED}"),
            Say("I have looked."),
        )
        assert await prompted(program, prompt, model, tmp_path) == "I have looked.\n"
    messages = model.asked()
    result, with_data, refused = (one for one in messages if one["role"] == "tool")
    assert row("Claude Code") == [
        npm.CLAUDE,
        shown(result["content"]),
        shown(with_data["content"]),
        refusal(refused["content"], marked="is_error" in refused),
        instructed(messages),
    ]


async def prompted(program: Path, prompt: str, model: Provider, home: Path) -> str:
    """Prompt it once, and return what it says at the end."""
    process = await asyncio.create_subprocess_exec(
        program, "-p", prompt, "--strict-mcp-config",
        "--mcp-config", json.dumps({"mcpServers": SERVERS}), "--allowedTools", "mcp__text,mcp__data",
        cwd=home, env=environment(model, home), stdin=DEVNULL, stdout=PIPE, stderr=PIPE,
    )  # fmt: skip
    async with asyncio.timeout(LIMIT):
        out, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return out.decode()


def environment(model: Provider, home: Path) -> Mapping[str, str]:
    """Return the variables of a Claude Code that is at home in a folder, and talks to nobody else."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(home),
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "none",
        **SWITCHES,
    }
