"""The answers that README.md and docs/collecting.md show: what a real server says of a real program."""

import asyncio
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
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
_FRAMES = re.compile(r"\d+ frames of installed packages")
"""A test runner's frames are others in each of its versions."""


def _call(tool: str, arguments: Mapping[str, Any]) -> str:
    given = ", ".join(f"{key}={_python(value)}" for key, value in arguments.items())
    return f"{tool}({given})"


def _python(value: object) -> str:
    return "True" if value is True else json.dumps(value)


async def _answers(calls: Calls) -> list[tuple[str, str]]:
    # In a folder of its own, with this project's pytest, but without its configuration and without the plugin that warns of that.
    with tempfile.TemporaryDirectory() as place:
        folder = shutil.copytree(FOLDER, Path(place) / "orders")
        (folder / ".venv").symlink_to(sys.prefix)
        (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:asyncio\n")
        async with client(folder) as c:
            return [(_call(*each), await read(c, each[0], **each[1])) for each in calls]


def _page(calls: Calls) -> str:
    """Return calls with their answers, as Markdown; what takes another time each time takes 0.1 s."""
    return "\n\n".join(
        f"    {call}\n\n```\n{_FRAMES.sub('40 frames of installed packages', _TIME.sub('0.1 s', text))}\n```"
        for call, text in asyncio.run(_answers(calls))
    )


FAILING_TEST: Calls = (
    ("dap_run", {"program": "discount_test.py::test_a_tenth_is_taken_off"}),
    ("dap_evaluate", {"expressions": ["discounted([40, 60], 90)"]}),
)


def collected_run() -> str:
    """Return what is collected at a line over a whole run, as the README shows it."""
    return _page([("dap_run", RUN)])


def failing_test() -> str:
    """Return the stop of a test that fails, and one evaluation there, as the README shows them."""
    return _page(FAILING_TEST)


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
