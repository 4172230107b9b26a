"""The life of one collected call: each line that it executed, with what the line changed."""

import asyncio
from pathlib import Path

import pytest

from tests.e2e.running import listening
from tests.harness import ask, client, has_all, read, refusal
from tests.processes import LIMIT
from tests.pythons import python_of, versions
from tools.collecting_page import TIME

LIFE = """
class Item:
    def __init__(self, price):
        self.price = price


def checkout(prices):
    total = 0.0
    seen = []
    for item in map(Item, prices):
        if item.price is None:
            total = None
            break
        total += item.price
        seen.append(total)
    return total


for n in range(60):
    prices = [float(n + each) for each in range(30)]
    if n == 41:
        prices[20] = None
    try:
        print(checkout(prices) + 1)
    except TypeError:
        breakpoint()
"""


@versions("3.9", "3.12", "3.13")
async def test_the_life_of_one_odd_call_shows_the_line_that_made_it_odd(
    tmp_path: Path, version: str
) -> None:
    (tmp_path / "shop.py").write_text(LIFE, encoding="utf-8")
    python = python_of(version)
    points = [{"calls": ["checkout"]}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="shop.py", breakpoints=points, python=python)
        told = (await read(c, "dap_call", n=42)).splitlines()
        # The first program is still where it was.
        assert (await ask(c, "dap_continue"))["state"] == "ended"
        assert len((await ask(c, "dap_status"))["sessions"]) == 1
    assert told[0].startswith("#42 checkout(prices=[41.0, ")
    assert "→ None" in told[0]
    assert told[1].startswith("The program ran again for its lines (")
    assert told[1].endswith(" s).")
    assert told[2:] == [
        "   8 total = 0.0   total = 0.0",
        "   9 seen = []   seen = []",
        "  10 for item in map(Item, prices):   item = Item(price=41.0)",
        "  11     if item.price is None:",
        "  14     total += item.price   total 0.0 → 41.0",
        "  15     seen.append(total)   seen[0] = 41.0",
        "  10 for item in map(Item, prices):   item Item(price=41.0) → Item(price=42.0)",
        "  11     if item.price is None:",
        "  14     total += item.price   total 41.0 → 83.0",
        "  15     seen.append(total)   seen[1] = 83.0",
        "  … 18 more turns of 10-15 alike; the last: item Item(price=59.0) → Item(price=60.0), total 950.0 → 1010.0, seen[19] = 1010.0",
        "  10 for item in map(Item, prices):   item Item(price=60.0) → Item(price=None)",
        "  11     if item.price is None:",
        "  12         total = None   total 1010.0 → None",
        "  13         break",
        "  16 return total",
    ]


async def test_a_call_that_cannot_be_told_line_by_line_is_refused_with_the_reason(
    tmp_path: Path,
) -> None:
    (tmp_path / "once.py").write_text(
        "import os\n\n\ndef f(n):\n    return os.path.exists('ran')\n\n\ndef g():\n    return 2\n\n\n"
        "f(1)\ng()\nopen('ran', 'w').close()\n"
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        points = [{"calls": ["f"]}, {"calls": ["g"]}]
        await ask(c, "dap_run", program="once.py", breakpoints=points)
        assert has_all(await refusal(c, "dap_call", n=7), "#7", "#1 to #1", "dap_collected")
        two = await refusal(c, "dap_call", n=1)
        assert has_all(two, "#1 f(n=1) → False", "`at`")
        assert has_all(await refusal(c, "dap_call", n=1, at="h"), "#1 is of f", "`h`")
        other = TIME.sub("", await read(c, "dap_call", n=1, at="f"))
        assert ", and went another way: there this call is f(n=1) → True.\n  5 return" in other
        await ask(c, "dap_clear_breakpoints")
        await ask(c, "dap_run", program="once.py")
        assert (await refusal(c, "dap_call", n=1)).startswith("No calls were collected.")


GOES_ON = """
import threading


def double(n):
    if n == 7:
        raise ValueError(n)
    return n + n


for n in range(10):
    try:
        double(n)
    except ValueError:
        pass
print("serves", flush=True)
threading.Event().wait()
"""


@versions("3.13")
@pytest.mark.parametrize(("n", "last"), [(6, "return n + n"), (8, "← raises")])
async def test_a_program_that_never_ends_is_run_again_until_the_call_is_over(
    tmp_path: Path, version: str, n: int, last: str
) -> None:
    (tmp_path / "serve.py").write_text(GOES_ON, encoding="utf-8")
    python = python_of(version)
    points = [{"calls": ["double"]}, {"filename": "serve.py", "line": 17}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="serve.py", breakpoints=points, python=python)
        told = (await read(c, "dap_call", n=n)).splitlines()
    assert told[0].startswith(f"#{n} double(n={n - 1}) ")
    assert told[1].endswith(" s).")
    assert told[-1].endswith(last)


ATTACHED = """
import time

print("up", flush=True)


def f(n):
    return n + 1


for n in range(10_000):
    f(1)
    time.sleep(0.01)
"""


async def test_a_program_that_was_attached_to_is_not_run_again_for_a_call(tmp_path: Path) -> None:
    path = tmp_path / "there.py"
    path.write_text(ATTACHED, encoding="utf-8")
    points = [{"calls": ["f"]}, {"filename": "there.py", "line": 13}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c, listening(path) as (_, port):
        there = {"request": "attach", "type": "python", "port": port}
        await ask(c, "dap_run", **there, breakpoints=points)
        await ask(c, "dap_continue")
        assert "  #1 f(n=1) → 2" in await read(c, "dap_collected")
        assert has_all(await refusal(c, "dap_call", n=1), "dap_run", "Collect on the lines")
