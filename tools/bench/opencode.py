"""What a call of one of OpenCode's tools costs, in a real OpenCode: `uv run python -m tools.bench.opencode` prints the table.

Each round calls a tool that does next to nothing, by `opencode_tool_call`, and then sends OpenCode the same order by HTTP
and waits for its answer, which comes after a second request to the relay.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from dapeer.integrations.opencode.client import OpenCode as OpenCodeClient
from dapeer.integrations.opencode.messages import new_id
from dapeer.integrations.opencode.relay import NAME
from dapeer.integrations.variables import OPENCODE_PASSWORD
from tests.harness import read, served
from tests.opencode.server import OpenCode, install_relay, opencode
from tools.bench.statistics import Measured, Samples, in_turn
from tools.bench.subjects import OURS, RAW

ROUNDS = 10
PASSWORD = "open, please"

Tools = Mapping[str, Mapping[str, Any]]


async def bare(
    known: OpenCodeClient, project: Path, tool: str, arguments: Mapping[str, Any]
) -> None:
    """Have the relay call a tool in a session of its own, by nothing but HTTP."""
    session = await known.post("/session", {"title": "bench"}, project)
    order = json.dumps({"dapeer": {"tool": tool, "arguments": arguments}})
    body = {
        "messageID": new_id(),
        "model": {"providerID": "dapeer", "modelID": NAME},
        "parts": [{"type": "text", "text": order}],
    }
    await known.post(f"/session/{session['id']}/message", body, project, seconds=None)
    await known.delete(f"/session/{session['id']}", project)


async def rows(server: OpenCode, tools: Tools) -> list[str]:
    """Return the rows of the table."""
    known = OpenCodeClient(server.url, {OPENCODE_PASSWORD: PASSWORD})
    measured = Measured()
    async with served(server.project, opencode=known) as (client, _):
        for number in range(ROUNDS + 1):
            for tool, arguments in tools.items():
                given = {"name": tool, "arguments": arguments}
                ours = partial(read, client, "opencode_tool_call", **given)
                if number:
                    http = partial(bare, known, server.project, tool, arguments)
                    await in_turn(measured, tool, {OURS: ours, RAW: http})
                else:
                    await in_turn(measured, f"{tool}, the first time", {OURS: ours})
    found = {
        tool: measured.of(tool) for first in tools for tool in (f"{first}, the first time", first)
    }
    return [_row(tool, found[tool]) for tool in sorted(found, key=lambda one: "first" not in one)]


def _row(what: str, times: Mapping[str, Samples]) -> str:
    ours, http = times[OURS], times.get(RAW)
    if http is None:
        return f"| {what} | {ours.median:,.0f} | | |"
    return f"| {what} | {_told(ours)} | {_told(http)} | {ours.median / http.median:.2f} |"


def _told(samples: Samples) -> str:
    low, high = samples.spread
    return f"{samples.median:,.0f} ({low:,.0f} to {high:,.0f})"


def main() -> None:
    """Print the table."""
    folder = Path(tempfile.mkdtemp(prefix="dapeer-bench-"))
    install_relay(folder)
    with opencode(folder, password=PASSWORD) as server:
        file = server.project / "tea.txt"
        file.write_text("tea\n", encoding="utf-8")
        tools: Tools = {
            "read": {"filePath": str(file)},
            "bash": {"command": "true", "description": "nothing"},
        }
        table = asyncio.run(rows(server, tools))
    head = [
        "| | dapeer, ms | the same order by HTTP, ms | / HTTP |",
        "| --- | ---: | ---: | ---: |",
    ]
    sys.stdout.write("\n".join([*head, *table, ""]))


if __name__ == "__main__":
    main()
