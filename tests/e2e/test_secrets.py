"""Secrets of a debugged program: masked in whatever a client is told, shown where a person wants that."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from mcp import Client
from mcp.client import ClientExtension

from dapeer.mcp.server.hub import output_uri, session_uri
from dapeer.mcp.server.toolbox import Selection
from tests.harness import DATA, Json, call, served, text
from tests.processes import LIMIT
from tests.programs import ROOT

PROGRAM = """
import sys
from collections import namedtuple

class Token:
    def __init__(self):
        self.kind = "NAME"

class Config:
    password = "hunter2-and-more"

def connect(password, token, url):
    print("DB_PASSWORD=" + password)
    sys.stdout.flush()
    opened = namedtuple("Creds", "user password")("bob", password)
    return url  # @here

try:
    connect(Config.password, Token(), "postgres://bob:hunter2-and-more@db/shop")
finally:
    raise ValueError("cannot log in with password='hunter2-and-more'")
"""
SECRET = "hunter2-and-more"


def written(folder: Path) -> tuple[str, Json]:
    """Write the program; return its path, and the place to stop at."""
    path = folder / "login.py"
    path.write_text(PROGRAM, encoding="utf-8")
    line = PROGRAM[: PROGRAM.index("# @here")].count("\n") + 1
    return str(path), {"filename": str(path), "line": line}


async def told(c: Client, folder: Path) -> str:
    """Let everything be told that holds the secret; return it all, texts, data and resources."""
    program, here = written(folder)
    # What it prints is told by every way that there is.
    calls = [
        await call(c, "dap_run", program=program, breakpoints=[here]),
        await call(c, "dap_evaluate", expression="Config.password"),
        await call(c, "dap_variables"),
        await call(c, "dap_variables", path="opened"),
        await call(c, "dap_program_output", since=0),
        await call(c, "dap_source", filename=program, line=9),
        await call(c, "dap_set_variable", path="password", value="'hunter2-and-more!'"),
        await call(c, "dap_evaluate", expression="nothing['hunter2-and-more']"),
    ]
    resources = [await c.read_resource(uri(1)) for uri in (session_uri, output_uri)]
    calls.append(await call(c, "dap_continue"))
    assert "token = Token(kind='NAME')" in text(calls[0])
    return "\n".join([*map(str, calls), *map(str, resources)])


@pytest.mark.parametrize("extensions", [(), DATA], ids=["text", "data"])
async def test_secrets_of_a_program_are_masked_wherever_they_are_told(
    tmp_path: Path, extensions: Sequence[ClientExtension]
) -> None:
    """Pitfall 20."""
    async with asyncio.timeout(LIMIT), served(ROOT, extensions=extensions) as (c, _):
        everything = await told(c, tmp_path)
        assert "<redacted: password>" in everything
        assert "--no-redact" in everything
        # What the assistant itself has written is no secret any more.
        assert SECRET not in everything.replace("nothing['hunter2-and-more']", "")


async def test_a_person_may_have_them_shown(tmp_path: Path) -> None:
    async with (
        asyncio.timeout(LIMIT),
        served(tmp_path, selection=Selection(shows_secrets=True)) as (c, _),
    ):
        everything = await told(c, tmp_path)
        assert "redacted" not in everything
        assert f"DB_PASSWORD={SECRET}" in everything
