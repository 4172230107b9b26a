"""The real Claude Code with dapeer's plugin, installed as a user would: what its model reads of a bug that it finds."""

import asyncio
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
def home(tmp_path: Path) -> Path:
    """Give the home of somebody whose `uvx` takes dapeer from a wheel of this tree."""
    command = ("uv", "build", "--wheel", "--quiet", "--out-dir", tmp_path / "wheels")
    subprocess.run(command, cwd=ROOT, check=True)
    return tmp_path


async def test_a_model_finds_a_bug_with_the_plugin_and_reads_plain_text(home: Path) -> None:
    shop = copied("shop.py", home)
    with provider() as model:
        variables = at_home(model, home)
        for words in (("marketplace", "add", str(ROOT)), ("install", "dapeer@dapeer")):
            await claude("plugin", *words, variables=variables)
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
    """Return the variables of somebody who installs from this tree instead of from PyPI."""
    kept = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")
    return {
        **os.environ,
        **environment(model, home),
        "UV_FIND_LINKS": str(home / "wheels"),
        "UV_CACHE_DIR": kept,
    }


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
