"""The answers that docs/collecting.md shows: what a real server says of a real program."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
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
    {"where": "order.total is None"},
    {"plot": True},
)

CALLS: Mapping[str, Any] = {
    "program": "shop.py",
    "breakpoints": [{"calls": ["Cart.*", "price", "checkout"]}],
}
OF_CALLS: tuple[Mapping[str, Any], ...] = ({"where": "result is None and function == 'price'"},)
TIME = re.compile(r", [\d.]+ m?s(?: in all)?(?=[ ;.]|$)", re.MULTILINE)
"""How long calls took: it is another thing each time."""


Calls = Sequence[tuple[str, Mapping[str, Any]]]
UNTIL: Calls = (
    ("dap_run", {"program": "orders.py", "stop_on_entry": True, "show": "brief"}),
    ("dap_run_until", {"expression": "order.total is None", "scope": ["settle"]}),
    ("dap_run_until", {"expression": "due < paid", "show": "brief"}),
    ("dap_run", {"program": "orders.py", "breakpoints": [{"filename": "orders.py", "line": 17}], "show": "brief"}),
    ("dap_run_until", {"expression": "orders[211].total", "on": "write", "every": True}),
)  # fmt: skip
_TIME = re.compile(r"\d+\.\d s\b")


def _call(tool: str, arguments: Mapping[str, Any]) -> str:
    given = ", ".join(f"{key}={_python(value)}" for key, value in arguments.items())
    return f"{tool}({given})"


def _python(value: object) -> str:
    return "True" if value is True else json.dumps(value)


async def _answers(calls: Calls) -> list[tuple[str, str]]:
    async with client(FOLDER) as c:
        return [(_call(*each), await read(c, each[0], **each[1])) for each in calls]


def _page(calls: Calls) -> str:
    """Return calls with their answers, as Markdown; what takes another time each time takes 0.1 s."""
    told = ((call, _TIME.sub("0.1 s", text)) for call, text in asyncio.run(_answers(calls)))
    return "\n\n".join(f"    {call}\n\n```\n{answer}\n```" for call, answer in told)


def answers() -> str:
    """Return what is collected at a line."""
    return _page([("dap_run", RUN), *(("dap_collected", more) for more in MORE)])


def until() -> str:
    """Return how a program is run until something."""
    return _page(UNTIL)


def calls() -> str:
    """Return what is collected of calls."""
    more = [("dap_collected", each) for each in OF_CALLS]
    return TIME.sub("", _page([("dap_run", CALLS), *more, ("dap_call", {"n": 329})]))
