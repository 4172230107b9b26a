"""The real Claude Code with dapeer's plugin, installed as a user would: what its model reads of a bug that it finds."""

import asyncio
import json
import os
import subprocess
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import npm
from tests.hosts.anthropic import provider
from tests.hosts.test_claude_code import environment
from tests.opencode.provider import Call, Provider, Say
from tests.processes import LIMIT
from tests.programs import ROOT, Program, copied

SERVER = "mcp__plugin_dapeer_dapeer"
"""What Claude Code calls the tools of the plugin's server."""
GOODS = "sum(i.price * i.quantity for i in self.items)"
READ = f"""\
Ended, exit code 0
Collected:
  shop.py:27 from main shop.py:36: 1 row, tracer
    #1 {GOODS} = 100.0, total = 90.0, total * (1 - self.discount) = 81.0
Output:
  Ada: goods 100.00, discount 10 %, to pay 81.00"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Give an unpacked copy of what is committed here."""
    folder = tmp_path / "unpacked"
    folder.mkdir()
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True)
    subprocess.run(["tar", "--extract"], cwd=folder, input=archive.stdout, check=True)
    return folder


async def test_a_model_finds_a_bug_with_the_plugin_and_reads_plain_text(
    repository: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    shop = copied("shop.py", home)
    with provider() as model:
        variables = at_home(model, home)
        for words in (("marketplace", "add", str(repository)), ("install", "dapeer@dapeer")):
            await claude("plugin", *words, variables=variables)
        assert "✔ Connected" in await claude("mcp", "list", variables=variables)
        prompt = model.plays("Why 81.00?", looks(shop), Say("The discount is taken twice."))
        said = await claude("-p", prompt, "--allowedTools", SERVER, variables=variables)
    assert said == "The discount is taken twice.\n"
    messages = model.asked()
    [read] = (one["content"] for one in messages if one["role"] == "tool")
    assert read == READ


def looks(shop: Program) -> Call:
    """Have the model ask for what the shop adds up, in one call."""
    collect = [GOODS, "total", "total * (1 - self.discount)"]
    point = {"filename": "shop.py", "line": shop.line("total"), "collect": collect}
    return Call(f"{SERVER}__dap_run", {"program": "shop.py", "breakpoints": [point]})


def at_home(model: Provider, home: Path) -> Mapping[str, str]:
    """Return the variables of somebody with an empty home, and with what uv has fetched before."""
    kept = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")
    # The first start makes the environment of the plugin, which takes a while on a busy machine.
    patient = {"UV_CACHE_DIR": kept, "MCP_TIMEOUT": "120000"}
    return {**os.environ, **environment(model, home), **patient}


async def claude(*words: str, variables: Mapping[str, str]) -> str:
    """Run Claude Code to its end, and return what it says."""
    process = await asyncio.create_subprocess_exec(
        npm.claude(),
        *words,
        cwd=variables["HOME"],
        env=variables,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
    async with asyncio.timeout(LIMIT):
        out, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return out.decode()


@pytest.mark.parametrize(
    ("runner", "runs_again"),
    [
        (("uvx", "--from"), ("uvx", "--from")),
        (("uv", "run", "--no-project", "--with"), ("uvx", "--from")),
        (("uvx", "pipx", "run", "--spec"), ("pipx", "run", "--spec")),
    ],
)
def test_what_runs_from_a_wheel_for_once_is_installed_with_that_wheel(
    tmp_path: Path, runner: tuple[str, ...], runs_again: tuple[str, ...]
) -> None:
    build = ("uv", "build", "--wheel", "--quiet", "--out-dir", tmp_path)
    subprocess.run(build, cwd=ROOT, check=True)
    [wheel] = tmp_path.glob("*.whl")
    kept = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")
    subprocess.run(
        [*runner, wheel, "dapeer", "install", "cursor", "--yes"],
        cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path), "UV_CACHE_DIR": kept}, check=True,
    )  # fmt: skip
    entry = json.loads((tmp_path / ".cursor/mcp.json").read_text())["mcpServers"]["dapeer"]
    assert Path(entry["command"]).name == runs_again[0]
    assert entry["args"] == [*runs_again[1:], str(wheel), "dapeer", "stdio"]
