"""OpenCode's tools, as tools for any client: the relay plugin in a real OpenCode, no model at all."""

import asyncio
import base64
import json
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import ImageContent, TextContent

from dapeer.cli.main import main
from dapeer.integrations.opencode.catalogue import CONNECTED, follow_events
from dapeer.integrations.opencode.client import OpenCode as OpenCodeClient
from dapeer.integrations.variables import OPENCODE_PASSWORD
from tests.harness import ask, call, read, refusal, served
from tests.opencode.server import OpenCode, install_relay, opencode

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

DOUBLE = """
export default {
  description: "Double a number.\\nAny number.",
  args: { n: { type: "number" } },
  execute: async ({ n }) => String(2 * n),
}
"""

ECHO = """
import json, sys

tool = {"name": "echo", "description": "Say it again.", "inputSchema": {
    "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}
for line in sys.stdin:
    asked = json.loads(line)
    answers = {
        "initialize": lambda params: {"protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "echo", "version": "1"}},
        "tools/list": lambda params: {"tools": [tool]},
        "tools/call": lambda params: {"content": [{"type": "text", "text": params["arguments"]["text"]}]},
    }
    if "id" in asked and asked["method"] in answers:
        result = answers[asked["method"]](asked.get("params"))
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""

BREW = """---
name: brew
description: How to brew tea.
---
Boil water.
"""

OLDER = """
export const Older = async () => ({
  config: async (config) => {
    const { dapeer } = config.provider
    config.provider = { ...config.provider, dapeer: { ...dapeer, models: { "relay-0": dapeer.models["relay-1"] } } }
  },
})
"""


@asynccontextmanager
async def knowing(
    server: OpenCode, project: Path, files: dict[str, str] | None = None, **config: object
) -> AsyncGenerator[Client]:
    """Give a client of a server of ours that knows an OpenCode, whose project has a configuration."""
    for name, text in {"opencode.json": json.dumps(config), **(files or {})}.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    known = OpenCodeClient(server.url, {OPENCODE_PASSWORD: server.password})
    async with served(project, opencode=known) as (c, _):
        yield c


def sessions(server: OpenCode, project: Path) -> list[Any]:
    """Return the sessions of a project."""
    return server.ask("GET", "/session", directory=project)


def asked(server: OpenCode, project: Path) -> list[Any]:
    """Return what OpenCode asks somebody."""
    return [
        ask
        for kind in ("permission", "question")
        for ask in server.ask("GET", f"/{kind}", directory=project)
    ]


@asynccontextmanager
async def furnished(server: OpenCode, folder: Path) -> AsyncGenerator[Client]:
    """Give a client of a project with a tool, a skill, an MCP server and rules; no session is left."""
    files = {
        ".opencode/tool/double.js": DOUBLE,
        ".opencode/skill/brew/SKILL.md": BREW,
        "echo.py": ECHO,
    }
    echo = {"type": "local", "command": [sys.executable, str(folder / "echo.py")]}
    async with knowing(
        server,
        folder,
        files,
        permission={"webfetch": "deny"},
        mcp={"loc al": echo},
        agent={"build": {"permission": {"glob": "deny"}}},
    ) as c:
        yield c
    assert sessions(server, folder) == []


async def called(c: Client, tool: str, /, **arguments: object) -> str:
    """Return what a tool of OpenCode has answered."""
    return await read(c, "opencode_tool_call", name=tool, arguments=arguments)


async def refused(c: Client, tool: str, /, **arguments: object) -> str:
    """Return why a tool of OpenCode has not been called, or has failed."""
    return await refusal(c, "opencode_tool_call", name=tool, arguments=arguments)


async def test_the_tools_of_opencode_are_listed_under_its_rules(
    shared: OpenCode, tmp_path: Path
) -> None:
    async with furnished(shared, tmp_path) as c:
        listed = await read(c, "opencode_tools")
        assert "double(n): Double a number.\n" in listed
        assert "loc_al_echo(text): Say it again.\n" in listed
        assert "read(filePath, offset?, limit?): " in listed
        assert "webfetch" not in listed
        assert "glob(" not in listed
        assert "MCP server loc al: connected" in listed
        told = await ask(c, "opencode_tools", name="double")
        assert told["tools"] == [
            {
                "name": "double",
                "description": "Double a number.\nAny number.",
                "input_schema": {
                    "type": "object",
                    "properties": {"n": {"type": "number"}},
                    "required": ["n"],
                },
            }
        ]
        double = (await read(c, "opencode_tools", name="doub")).splitlines()
        assert json.loads(double[2]) == told["tools"][0]["input_schema"]
        assert "glob(" in await read(c, "opencode_tools", agent="plan")


async def test_a_tool_that_is_named_in_full_is_returned_alone_else_those_that_begin_so_first(
    shared: OpenCode, tmp_path: Path
) -> None:
    tools = {
        f".opencode/tool/{name}.js": DOUBLE for name in ("brew_tea", "tea", "teapot", "a_teapot")
    }
    async with knowing(shared, tmp_path, tools) as c:
        for given, found in (
            ("tea", ["tea"]),
            ("teapot", ["teapot"]),
            ("teap", ["teapot", "a_teapot"]),
        ):
            told = await ask(c, "opencode_tools", name=given)
            assert [one["name"] for one in told["tools"]] == found


async def test_the_skills_of_opencode_are_listed_and_read(shared: OpenCode, tmp_path: Path) -> None:
    async with furnished(shared, tmp_path) as c:
        assert "brew: How to brew tea." in await read(c, "opencode_skills")
        assert (await read(c, "opencode_skills", name="brew")).strip() == "Boil water."
        assert "no skill `wash` here. It has: " in await refusal(c, "opencode_skills", name="wash")
        assert "Boil water." in await called(c, "skill", name="brew")


async def test_the_tools_of_opencode_are_called_under_its_rules(
    shared: OpenCode, tmp_path: Path
) -> None:
    async with furnished(shared, tmp_path) as c:
        assert await called(c, "double", n=21) == "42"
        assert await called(c, "loc_al_echo", text="tea") == "tea"
        assert "Argument `n` is required." in await refused(c, "double")
        assert "OpenCode's rules deny glob here." in await refused(c, "glob", pattern="*")
        assert "offers no tool `loc_al_eco` here; it has loc_al_echo." in await refused(
            c, "loc_al_eco"
        )
        assert "File not found" in await refused(c, "read", filePath=str(tmp_path / "none"))


async def test_an_image_and_a_long_text_of_an_opencode_tool_arrive(
    shared: OpenCode, tmp_path: Path
) -> None:
    image = tmp_path / "dot.png"
    image.write_bytes(base64.b64decode(PIXEL))
    async with furnished(shared, tmp_path) as c:
        result = await call(
            c, "opencode_tool_call", name="read", arguments={"filePath": str(image)}
        )
        text, seen = result.content
        assert isinstance(text, TextContent)
        assert isinstance(seen, ImageContent)
        assert (seen.mime_type, seen.data) == ("image/png", PIXEL)
        long = await called(
            c, "bash", command="head -c 99999 /dev/zero | tr '\\0' k", description="much"
        )
        assert "k" * 40_000 in long
        assert "Full output saved to: " in long
        assert 50_000 < len(long) < 55_000


async def test_a_call_that_needs_a_permission_says_so_and_goes_on_when_it_has_it(
    shared: OpenCode, tmp_path: Path
) -> None:
    bash = {"name": "bash", "arguments": {"command": "echo $((6 * 7))", "description": "reckon"}}
    async with knowing(shared, tmp_path, permission={"bash": "ask"}) as c:

        async def waiting() -> str:
            told = await read(c, "opencode_tool_call", **bash)
            found = re.match(r"Needs input; .* session_id (ses_\w+):\n  (per_\w+): (.*)", told)
            assert found, told
            assert found[3].startswith("may it bash echo $((6 * 7))? decision once,")
            assert [one["id"] for one in asked(shared, tmp_path)] == [found[2]]
            return found[1]

        told = await ask(c, "opencode_reply", session_id=await waiting(), decision="once")
        assert told == {"state": "done", "output": "42\n"}
        assert sessions(shared, tmp_path) == []
        told = await refusal(c, "opencode_reply", session_id=await waiting(), decision="reject")
        assert "rejected permission" in told
        assert sessions(shared, tmp_path) == []
        await ask(c, "opencode_abort", session_id=await waiting())
        assert (sessions(shared, tmp_path), asked(shared, tmp_path)) == ([], [])
        question = {"question": "Tea?", "header": "Tea", "options": list[str]()}
        arguments = {"questions": [question]}
        told = await ask(c, "opencode_tool_call", name="question", arguments=arguments)
        told = await read(c, "opencode_reply", session_id=told["session_id"], answers=["Please"])
        assert "Please" in told
        assert (sessions(shared, tmp_path), asked(shared, tmp_path)) == ([], [])


async def test_what_a_permission_is_for_is_told_where_its_patterns_do_not_tell_it(
    shared: OpenCode, tmp_path: Path
) -> None:
    write = {"filePath": str(tmp_path / "tea.txt"), "content": "Boil water.\n"}
    async with knowing(shared, tmp_path, permission={"edit": "ask"}) as c:
        told = await read(c, "opencode_tool_call", name="write", arguments=write)
        assert "+Boil water." in told
        (session,) = re.findall(r"session_id (ses_\w+)", told)
        await read(c, "opencode_reply", session_id=session, decision="once")
        assert (tmp_path / "tea.txt").read_text() == "Boil water.\n"


async def test_a_call_that_nobody_waits_for_is_stopped_and_leaves_nothing(
    shared: OpenCode, tmp_path: Path
) -> None:
    sleep = {"name": "bash", "arguments": {"command": "sleep 60", "description": "sleep"}}
    runs = asyncio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001
        if "(running)" in (message or ""):
            runs.set()

    async with (
        knowing(shared, tmp_path) as c,
        OpenCodeClient(shared.url, {OPENCODE_PASSWORD: shared.password}) as known,
        aclosing(follow_events(known)) as events,
    ):
        told = await refusal(c, "opencode_tool_call", **sleep, timeout_ms=1000)
        assert "The tool timed out and was stopped." in told
        assert sessions(shared, tmp_path) == []

        assert (await anext(events))["type"] == CONNECTED
        calling = c.call_tool("opencode_tool_call", sleep, progress_callback=hear)
        waiting = asyncio.create_task(calling)
        await runs.wait()
        (session,) = sessions(shared, tmp_path)
        assert session["metadata"] == {"dapeer": "relay"}
        waiting.cancel()
        async for event in events:
            if event["type"] == "session.deleted":
                break
        assert sessions(shared, tmp_path) == []


async def test_a_relay_that_is_missing_or_of_another_version_is_told(
    shared: OpenCode, tmp_path: Path
) -> None:
    (tmp_path / "without").mkdir()
    async with knowing(shared, tmp_path / "without", disabled_providers=["dapeer"]) as c:
        why = "OpenCode has not loaded dapeer's relay plugin, which runs its tools. Run `dapeer opencode install`, then restart OpenCode."
        listed = await read(c, "opencode_tools")
        assert "read(filePath, offset?, limit?): " in listed
        assert why in listed
        assert why in await refusal(c, "opencode_tool_call", name="read")
    files = {".opencode/plugin/older.js": OLDER}
    async with knowing(shared, tmp_path / "older", files) as c:
        told = await refusal(c, "opencode_tool_call", name="read")
        assert "is of another version of dapeer. Run `dapeer opencode install`" in told


def test_the_relay_is_never_the_model_of_who_has_chosen_none(tmp_path: Path) -> None:
    install_relay(tmp_path)
    with opencode(tmp_path, OPENCODE_CONFIG_CONTENT="{}", OPENCODE_MODELS_PATH="") as server:
        session = server.ask("POST", "/session", {"title": "tea"})["id"]
        said = {"noReply": True, "parts": [{"type": "text", "text": "Tea?"}]}
        told = server.ask("POST", f"/session/{session}/message", said)
        assert told["info"]["model"]["providerID"] != "dapeer"
        known = server.ask("GET", "/config/providers")["providers"]
        assert "dapeer" in [one["id"] for one in known]


def test_the_relay_is_installed_and_removed_and_a_file_of_the_persons_stays(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = settings / "opencode" / "plugin" / "dapeer-relay.js"

    def told(command: str) -> str:
        main(["opencode", command])
        out, err = capsys.readouterr()
        return (out + err).replace(str(plugin), "FILE")

    assert told("remove") == "The relay plugin is not installed: there is no FILE.\n"
    assert "was installed in FILE; restart OpenCode" in told("install")
    assert "is in FILE already" in told("install")
    ours = plugin.read_text()
    plugin.write_text(ours + "// of an older version\n")
    assert "was brought up to date in FILE; restart OpenCode" in told("install")
    assert plugin.read_text() == ours
    assert "was removed from FILE; restart OpenCode" in told("remove")
    assert not plugin.exists()
    plugin.write_text("export const Mine = 1\n")
    for command in ("install", "remove"):
        assert told(command) == (
            "dapeer: FILE is not a file of dapeer's, so it was left alone. Move it away first.\n"
        )
    assert plugin.read_text() == "export const Mine = 1\n"
    plugin.unlink()
    plugin.parent.rmdir()
    plugin.parent.write_text("")
    assert "Cannot read FILE: Not a directory." in told("install")
