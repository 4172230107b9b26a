"""A model in OpenCode debugs with our tools, which `dapeer opencode register` has brought it."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from dapeer.cli.main import main
from dapeer.integrations.opencode.client import OpenCode as OpenCodeClient
from dapeer.integrations.opencode.client import OpenCodeFailed
from dapeer.integrations.opencode.registrations import configuration
from dapeer.integrations.opencode.registrations import register as register_with
from dapeer.integrations.variables import OPENCODE_PASSWORD
from dapeer.mcp.server.integration import Core
from tests.harness import has_all
from tests.mcp.wire import serving
from tests.opencode.server import OpenCode, free_port
from tests.opencode.story import story
from tests.processes import LIMIT
from tests.programs import copied


async def test_a_model_in_opencode_finds_a_bug_with_the_debugger(
    shared: OpenCode, tmp_path: Path
) -> None:
    shop = copied("shop.py", tmp_path)

    prompt = shared.provider.plays(
        "The order is too cheap: find out why, with the debugger.", *story(shop, "shop.py")
    )
    async with serving("--port", "0", cwd=tmp_path):
        assert await register(shared, tmp_path) == (
            f"OpenCode at {shared.url} has the tools as dapeer_*, in sessions of {tmp_path}.\n"
        )
        assert shared.ask("GET", "/mcp", directory=tmp_path) == {"dapeer": {"status": "connected"}}
        said = await asyncio.to_thread(prompted, shared, prompt, tmp_path)
        offered = shared.provider.offered()["dapeer_dap_run"]["parameters"]
    assert said == f"9.0 is taken off of a sum that line {shop.line('item_cost')} reduced."
    assert offered["additionalProperties"] is False


async def test_what_keeps_the_tools_from_opencode_is_told(
    shared: OpenCode,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)

    async def told(*more: str, password: str = shared.password) -> str:
        monkeypatch.setenv(OPENCODE_PASSWORD, password)
        # In a thread, for it has a loop of its own.
        await asyncio.to_thread(main, ["opencode", "register", "--url", shared.url, *more])
        return "".join(capsys.readouterr())

    assert f"No dapeer server serves HTTP for {tmp_path}." in await told()
    async with serving("--port", "0", cwd=tmp_path):
        (line,) = (await told(password="guessed")).splitlines()
        assert has_all(line, shared.url, "password", "$OPENCODE_SERVER_PASSWORD")
        nowhere = f"http://127.0.0.1:{free_port()}"
        absent = await told("--url", nowhere)
        assert absent.startswith(f"dapeer: OpenCode at {nowhere} cannot be reached (")
        assert "is not an address" in await told("--url", "me:secret@here")
        assert "`a tool` cannot be a prefix" in await told("--name", "a tool")
        assert f"{tmp_path / 'no'} does not exist." in await told("--directory", "no")
    core = Core("http://127.0.0.1:1/mcp", "wrong")
    async with OpenCodeClient(shared.url, {OPENCODE_PASSWORD: shared.password}) as client:
        with pytest.raises(OpenCodeFailed, match="cannot reach dapeer at"):
            await register_with(client, core, tmp_path, name="dapeer")


def test_a_call_may_take_long_and_the_token_is_shown_in_a_header() -> None:
    config = configuration(Core("http://127.0.0.1:1/mcp", "a-token"))
    assert config["headers"] == {"Authorization": "Bearer a-token"}
    assert config["oauth"] is False
    assert config["timeout"] >= 600_000
    assert "headers" not in configuration(Core("http://127.0.0.1:1/mcp", ""))


def prompted(opencode: OpenCode, prompt: str, directory: Path) -> str:
    """Have a prompt answered, and return what the model says at last."""
    session = opencode.ask("POST", "/session", {"title": "bug"}, directory)["id"]
    parts = {"parts": [{"type": "text", "text": prompt}]}
    answer = opencode.ask("POST", f"/session/{session}/message", parts, directory)
    said = [part["text"] for part in answer["parts"] if part["type"] == "text"]
    return "".join(said) or str(answer["info"].get("error"))


async def register(opencode: OpenCode, directory: Path) -> str:
    """Run `dapeer opencode register`, and return what it says."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "dapeer", "opencode", "register", "--url", opencode.url,
        cwd=directory,
        env=os.environ | {OPENCODE_PASSWORD: opencode.password},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    async with asyncio.timeout(LIMIT):
        out, _ = await process.communicate()
    return out.decode()
