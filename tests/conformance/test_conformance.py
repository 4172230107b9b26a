"""The official suite, against `dapeer serve` and a Neovim that registers the suite's tools.

So it goes the whole way: Lua, Neovim, server, HTTP, and a client that shares no code with ours.
"""

import asyncio
import os
from pathlib import Path

import pytest
from mcp import Client
from mcp.types import Tool

from tests import npm
from tests.mcp.small import LEGACY, streamable
from tests.mcp.wire import serving
from tests.neovim.editor import neovim
from tests.processes import LIMIT

pytestmark = pytest.mark.real

HERE = Path(__file__).parent
VERSIONS = ("2025-11-25", "2026-07-28")


async def test_the_server_passes_the_official_suite_but_for_what_it_does_not_offer(
    tmp_path: Path,
) -> None:
    suite = npm.conformance()
    rc = f"dofile('{HERE / 'fixture.lua'}')"
    async with (
        neovim(tmp_path, dap=False, rc=rc) as editor,
        serving("--no-auth", "--nvim", editor.socket) as (_, url),
    ):
        schema = (await listed(url))["nvim_json_schema_2020_12_tool"].input_schema
        assert schema == SCHEMA
        told = await asyncio.gather(*(run(suite, url, version, tmp_path) for version in VERSIONS))
    assert all(code == 0 for code, _ in told), "\n".join(text for _, text in told)


async def listed(url: str) -> dict[str, Tool]:
    """Return the tools that the server lists, by name."""
    async with Client(streamable(url, None), mode=LEGACY) as client:
        return {tool.name: tool for tool in (await client.list_tools()).tools}


async def run(
    suite: tuple[str, str], url: str, version: str, tmp_path: Path
) -> tuple[int | None, str]:
    """Run the scenarios of a version; return the exit code and the summary."""
    process = await asyncio.create_subprocess_exec(
        *suite,
        "server",
        *("--url", f"{url}/mcp", "--suite", "all", "--spec-version", version),
        *("--expected-failures", str(HERE / f"{version}.yml")),
        *("--output-dir", str(tmp_path / version)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=os.environ | {"NO_COLOR": "1"},
    )
    async with asyncio.timeout(LIMIT):
        out, _ = await process.communicate()
    summary = out.decode().partition("=== SUMMARY ===")
    return process.returncode, f"{version}: {summary[2] or summary[0]}"


SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""What the suite's scenario json-schema-2020-12 compares, in a tool whose name has no prefix."""
