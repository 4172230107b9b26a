"""What OpenCode puts before its model, as `docs/hosts.md` says it."""

import asyncio
import json
from pathlib import Path

import pytest

from tests import npm
from tests.hosts.page import COMMAND, REFUSED, RESULT, instructed, refusal, row, shown
from tests.opencode.provider import Call, Json, Say
from tests.opencode.server import OpenCode
from tests.opencode.test_registered import prompted

pytestmark = pytest.mark.real


async def test_the_page_says_what_opencode_puts_before_its_model(
    shared: OpenCode, tmp_path: Path
) -> None:
    commands = {"text": COMMAND, "data": (*COMMAND, "--data")}
    servers = {name: {"type": "local", "command": command} for name, command in commands.items()}
    (tmp_path / "opencode.json").write_text(json.dumps({"mcp": servers}))
    steps = (Call(f"text_{RESULT}"), Call(f"data_{RESULT}"), Call(f"text_{REFUSED}"))
    prompt = shared.provider.plays("Look, as a host does.", *steps, Say("I have looked."))
    assert await asyncio.to_thread(prompted, shared, prompt, tmp_path) == "I have looked."
    messages: list[Json] = next(
        one["messages"]
        for one in reversed(shared.provider.requests)
        if prompt in str(one) and one.get("tools")
    )
    result, with_data, refused = (one["content"] for one in messages if one["role"] == "tool")
    assert row("OpenCode") == [
        npm.OPENCODE,
        shown(result),
        shown(with_data),
        refusal(refused, marked=False),
        instructed(messages),
    ]
    shared.ask("POST", "/instance/dispose", directory=tmp_path)
