"""What a model has to read, in bytes, and how often it has to ask."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mcp.types import Tool

from tests.harness import data, text
from tests.programs import program
from tools.bench.served import DAPEER, Json, Served, served

LOOP = program("loop.py")
LOOKS = ("dap_stacktrace", "dap_variables", "dap_snapshot", "dap_current_location")


@dataclass(frozen=True)
class Reading:
    """Sizes in bytes of UTF-8, and counts."""

    tools: int
    """The tool list as a model sees it: names, descriptions, input schemas."""
    instructions: int
    stop_text: int
    """The first stop in the small scenario: a loop, nested calls, a breakpoint in the inner one."""
    stop_data: int
    step_text: int
    """The stop after one step, with what has changed."""
    step_data: int
    calls: int
    """From nothing to a stop with its stack and locals."""
    requests: int
    """DAP requests that the four looks at a stop have cost together."""


async def read() -> Reading:
    """Ask a server for everything once. Its log tells which DAP requests it has sent."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        options = ("--log-level", "debug", "--log-file", str(log))
        async with served(*DAPEER, *options, data=True) as server:
            return await _read(server, log)


async def _read(server: Served, log: Path) -> Reading:
    tools = (await server.client.list_tools()).tools
    stop = await server.call("dap_run", program=str(LOOP), breakpoints=[LOOP.at("inner")])
    calls = server.calls
    assert data(stop).keys() >= {"stack", "locals"}
    step = await server.call("dap_step_over")
    before = _requests(log)
    assert before
    for look in LOOKS:
        await server.call(look)
    after = _requests(log)
    await server.call("dap_terminate")
    return Reading(
        tools=size([seen(tool) for tool in tools]),
        instructions=len((server.client.instructions or "").encode()),
        stop_text=len(text(stop).encode()),
        stop_data=size(data(stop)),
        step_text=len(text(step).encode()),
        step_data=size(data(step)),
        calls=calls,
        requests=after - before,
    )


def size(value: object) -> int:
    """Return the bytes of a value as compact JSON.

    >>> size({"a": "ä"})
    10
    """
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def seen(tool: Tool) -> Json:
    """Return what a model reads of a tool."""
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }


def _requests(log: Path) -> int:
    """Return how many DAP requests the server has sent, as its channel logs them."""
    return log.read_text(encoding="utf-8").count("-> request #")
