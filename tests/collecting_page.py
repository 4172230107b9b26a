"""The answers that docs/collecting.md shows: what a real server says of a real program."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from tests.harness import client, read
from tests.programs import ROOT

FOLDER = ROOT / "fixtures" / "collecting"

RUN: Mapping[str, Any] = {
    "program": "orders.py",
    "breakpoints": [
        {"filename": "orders.py", "line": 12, "collect": ["order.total", "len(items)", "due"]}
    ],
}
MORE: tuple[Mapping[str, Any], ...] = (
    {"rows": "210-213"},
    {"where": "order.total is None"},
    {"by": "caller"},
    {"plot": True},
)


def _call(tool: str, arguments: Mapping[str, Any]) -> str:
    given = ", ".join(f"{key}={_python(value)}" for key, value in arguments.items())
    return f"{tool}({given})"


def _python(value: object) -> str:
    return "True" if value is True else json.dumps(value)


async def _answers() -> list[tuple[str, str]]:
    async with client(FOLDER) as c:
        told = [(_call("dap_run", RUN), await read(c, "dap_run", **RUN))]
        told += [
            (_call("dap_collected", more), await read(c, "dap_collected", **more)) for more in MORE
        ]
    return told


def answers() -> str:
    """Return each call with its answer, as Markdown."""
    blocks = [f"    {call}\n\n```\n{answer}\n```" for call, answer in asyncio.run(_answers())]
    return "\n\n".join(blocks)
