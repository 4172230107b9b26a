"""Calls that a Python program collects: arguments, results, and what they changed."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from dapeer.collecting.rows.table import FAILED, CollectedRow
from tests.e2e.collecting import collect, rows
from tests.harness import ask, client, has_all, read, refusal
from tests.processes import LIMIT
from tests.programs import program
from tests.pythons import python_of, versions
from tools.collecting_page import TIME

P = program("called.py")


def tree(found: list[CollectedRow]) -> list[tuple[str, ...]]:
    """Return calls as they began, indented, with arguments, result and what was changed."""
    ordered = sorted(found, key=lambda row: row.seconds)
    told = [(row.cells[0], int(row.cells[1]), *row.cells[3:6], *row.cells[7:]) for row in ordered]
    return [("  " * depth + name, *rest) for name, depth, *rest in told]


async def called(folder: Path, python: str) -> list[CollectedRow]:
    """Run the program, and return what it has collected."""
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(P), breakpoints=[P.at("ready")], python=python)
        told = await collect(
            c, folder,
            {"function": "Order.*", "calls": True, "collect": []},
            {"function": "called.checkout", "calls": True, "collect": ["note", "order.paid"]},
            {"function": "numbers", "calls": True},
            {"function": "waits", "calls": True},
            {"function": "ackermann", "calls": True, "condition": "m == 0", "max_hits": 2},
            {"function": "nowhere.*", "calls": True},
        )  # fmt: skip
        assert [each["bound"] for each in told["points"]] == [True] * 6
        assert told["points"][0]["line"] == 7
        assert told["points"][5]["message"] == "no function nowhere.* is loaded yet"
        end = await ask(c, "dap_continue")
    assert (end["state"], end["output"]) == ("ended", "over\n")
    return rows(folder)


@versions("3.8", "3.9", "3.12", "3.13")
async def test_calls_tell_arguments_results_errors_and_what_they_changed(
    tmp_path: Path, version: str
) -> None:
    found = await called(tmp_path, python_of(version))
    before, after = "Order(prices=[3, 1, 2], paid=False)", "Order(prices=[1, 2, 3], paid=True)"
    orders = tree([row for row in found if row.point in {1, 2}])
    assert orders[0] == ("Order.__init__", "self=<Order>, prices=[3, 1, 2]", "None",
                         f"self: <Order> → {before}")  # fmt: skip
    name, arguments, result, changed, *more = orders[1]
    assert (name, arguments) == ("checkout", f"orders=[{before}], note='a\\tb', rest=(1,)")
    assert (result, changed) == ("1", f"orders: [{before}] → [{after}]")
    assert more == [r"'a\tb'", "True"]
    assert orders[2] == ("  Order.total", f"self={before}, discount=1", "5", "")
    assert orders[3][0] == "  Order.pay"
    assert orders[3][3] == f"self: {before} → {after}"
    assert orders[4][2] == "None"
    assert orders[6][2] == f"{FAILED}ValueError: nothing to pay"
    assert all(float(row.cells[2]) > 0 for row in found)


async def test_a_generator_is_one_call_and_a_condition_and_a_number_of_calls_bound_them(
    tmp_path: Path,
) -> None:
    found = await called(tmp_path, sys.executable)
    assert tree([row for row in found if row.point == 3]) == [("numbers", "n=3", "'done'", "")]
    awaited = tree([row for row in found if row.point == 4])
    assert awaited == [("waits", "n=1", "1", ""), ("  waits", "n=0", "0", "")]
    leaves = [row for row in found if row.point == 5]
    assert [row.cells[3] for row in leaves] == ["m=0, n=1", "m=0, n=2"]
    assert leaves[0].caller.startswith("ackermann called.py:")


@versions("3.13")
async def test_a_function_that_is_imported_later_is_collected_from_when_it_begins(
    tmp_path: Path, version: str
) -> None:
    python = python_of(version)
    (tmp_path / "later.py").write_text(
        "def twice(n, seen):\n    n *= 2\n    seen.add(n)\n    return n\n"
    )
    main = tmp_path / "main.py"
    main.write_text(
        "import sys\nimport later\nseen = set()\nlater.twice(4, seen)\nlater.twice(2, seen)\n"
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(
            c, "dap_run", program=str(main), breakpoints=[{"filename": str(main), "line": 1}], python=python
        )  # fmt: skip
        told = await collect(
            c, tmp_path, {"function": "later.twice", "collect": ["n", "seen"]},
            {"function": "later.twice", "calls": True},
        )  # fmt: skip
        assert told["points"][0]["message"] == "no function later.twice is loaded yet"
        assert (await ask(c, "dap_continue"))["state"] == "ended"
    found = rows(tmp_path)
    assert [row.cells for row in found if row.point == 1] == [("4", "set()"), ("2", "{8}")]
    changed = [row.cells[5] for row in found if row.point == 2]
    assert changed[0] == "seen: set() → {8}"
    assert changed[1].startswith("seen: {8} → {")


LAMBDAS = """
double = lambda x: x * 2
class Cart:
    key = lambda self: 3
    def total(self):
        return sorted([3, 1], key=lambda price: -price)
cart = Cart()
print(double(4), cart.key(), cart.total())
"""


@versions("3.8", "3.13")
async def test_a_lambda_is_recorded_under_its_name_in_the_module_or_class_or_under_its_line(
    tmp_path: Path, version: str
) -> None:
    main = tmp_path / "shop.py"
    main.write_text(LAMBDAS)
    start = {"python": python_of(version), "breakpoints": [{"calls": ["double", "Cart.*"]}]}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        told = (await read(c, "dap_run", program=str(main), **start)).splitlines()
    assert [re.split(r"\(|, but", line.strip())[0] for line in told if "#" in line] == [
        "#1 double",
        "#2 Cart.key",
        "#3 Cart.total",
        "#4 Cart.total.<locals>.<lambda>:6",
        "#5 alike",
    ]
    assert [line for line in told if "Never" in line] == []


SHOP = """
class Cart:
    def __init__(self):
        self.items = []

    def add(self, n):
        self.items.append(n)
        return len(self.items)


def price(n):
    if n == 211:
        return None
    return n * 10


def total(count):
    cart = Cart()
    for n in range(count):
        cart.add(n)
        price(n)
    return count


print(total(300))
"""


async def test_one_call_of_a_tool_shows_the_odd_call_of_a_whole_run(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    point = {"calls": ["shop.price", "Cart.*", "total", "shop.nowhere"]}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program="shop.py", breakpoints=[point])
        told = [TIME.sub("", line) for line in end["collected"]]
        assert told[0] == f"calls of {', '.join(point['calls'])}: 602 calls, tracer"
        assert any(line.startswith("  #1 total(count=300) → 300") for line in told)
        assert any("#2 Cart.__init__(self=<Cart>) → None; changes self to" in line for line in told)
        assert any(
            line.startswith("    #426 price(n=211) → None  ← result the only") for line in told
        )
        assert end["breakpoints"] == {"never called": ["shop.nowhere"]}
        # Another call looks further, also after the end.
        odd = await read(c, "dap_collected", where="result is None and 'n=2' in arguments")
        assert TIME.sub("", odd).endswith(
            "\n  #426 price(n=211) → None  from total shop.py:21  within #1"
        )
        near = await read(c, "dap_collected", rows="425-427", at="Cart.*")
        assert [line.split("(")[0].strip() for line in near.splitlines()[1:]] == [
            "#425 Cart.add", "#426 price", "#427 Cart.add",
        ]  # fmt: skip
        by = await read(c, "dap_collected", by="caller", where="function == 'price'")
        assert "caller total shop.py:21: 300 calls" in by
        assert "▁" in await read(c, "dap_collected", plot=True, where="function == 'Cart.add'")
        assert "changes self" in await read(c, "dap_collected", changes=True, where="changed != ''")


async def test_functions_are_collected_from_while_a_program_is_stopped_and_in_later_runs(
    tmp_path: Path,
) -> None:
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = {"filename": "shop.py", "line": 25}
        await ask(c, "dap_run", program="shop.py", breakpoints=[stop])
        wanted = {"function": "Cart.add", "collect": ["n", "self.items"], "condition": "n > 1"}
        told = await read(c, "dap_set_breakpoint", **wanted, max_hits=2)
        assert has_all(told, "Cart.add verified", "if n > 1", "n, self.items", "at most 2")
        told = await read(c, "dap_set_breakpoint", calls="price, shop.gone")
        assert told.endswith("verified: no function shop.gone is loaded yet")
        rows = (await ask(c, "dap_continue"))["collected"]
        assert "Cart.add from total shop.py:20: 2 rows, tracer" in rows
        assert "  #2 n = 3, self.items = [0, 1, 2]" in rows
        assert any("price(n=211) → None" in row for row in rows)
        listed = await read(c, "dap_breakpoints")
        assert "calls of price, shop.gone" in listed
        await ask(c, "dap_remove_breakpoint", function="Cart.add")
        await ask(c, "dap_remove_breakpoint", filename="shop.py", line=25)
        again = await ask(c, "dap_restart")
        assert [row for row in again["collected"] if not row.startswith(" ")] == [
            "calls of price, shop.gone: 300 calls, tracer"
        ]
        await ask(c, "dap_clear_breakpoints")
        assert await read(c, "dap_breakpoints") == "No breakpoints."


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"calls": ["f("]}, "`calls`: `f(` is no name."),
        ({"calls": ["f"], "collect": ["n +"]}, "`n +` does not parse"),
        ({"calls": ["f"], "log_message": "{n}"}, "exclude each other"),
        ({"calls": ["f"], "line": 3}, "has `filename` and `line`, or `function`, or `calls`."),
        ({}, "has `filename` and `line`, or `function`, or `calls`."),
        (
            {"function": "f", "condition": "n"},
            "with `function` that has more than a name needs `collect`.",
        ),
        ({"function": "f if g()"}, "with `function` that has more than a name needs `collect`."),
        ({"function": "f", "collect": ["if"]}, "`if` does not parse"),
    ],
)
async def test_calls_that_cannot_be_collected_are_refused_before_anything_runs(
    tmp_path: Path, wanted: dict[str, object], why: str
) -> None:
    path = tmp_path / "shop.py"
    path.write_text("x = 1\n", encoding="utf-8")
    async with client(tmp_path) as c:
        assert why in await refusal(c, "dap_run", program=str(path), breakpoints=[wanted])
        assert why in await refusal(c, "dap_set_breakpoint", **wanted)
        assert await read(c, "dap_breakpoints") == "No breakpoints."


async def test_two_runs_part_at_the_first_call_that_ends_differently(tmp_path: Path) -> None:
    (tmp_path / "rates.py").write_text(
        "import sys\n\n\ndef rate(n):\n    return 0 if n == int(sys.argv[1]) else n * 2\n\n\n"
        "def total(n):\n    return rate(n) + (total(n - 1) if n else 0)\n\n\ntotal(9)\n"
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        points = [{"calls": ["rates.*"]}]
        for bad in ("7", "99"):
            await ask(c, "dap_run", program="rates.py", args=[bad], breakpoints=points, fresh=True)
        told = TIME.sub("", await read(c, "dap_compare", a=1, b=2))
    assert "Values part at rate: `result` differs." in told
    assert "a #6 rate(n=7) → 0\nb #6 rate(n=7) → 14" in told
