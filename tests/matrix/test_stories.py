"""What everybody does with a Python program, in each Python: `DAPEER_PYTHONS=all uv run pytest tests/matrix`."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.e2e.running import needs_ptrace, started
from tests.harness import ask, client, evaluate, read
from tests.matrix.interpreters import story, with_pytest
from tests.processes import LIMIT
from tests.programs import Program
from tests.pythons import python_of

SHOP = """
import threading


class Cart:
    def __init__(self):
        self.prices = []

    def add(self, price):
        if price < 0:
            raise ValueError(f"no price: {price}")  # @raise
        self.prices.append(price)  # @add
        return len(self.prices)


def fill(cart, prices):
    for price in prices:
        try:
            cart.add(price)  # @call
        except ValueError:
            skipped = price  # @caught
    return sum(cart.prices)  # @sum


cart = Cart()
print(fill(cart, [3, -1, 4, 5]))  # @fill
cart.add(-2)  # @fatal
"""


def shop(folder: Path) -> Program:
    return written(folder, "shop.py", SHOP)


def written(folder: Path, name: str, text: str) -> Program:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return Program(path, path)


@story()
async def test_a_breakpoint_stops_with_the_values_and_an_expression_is_evaluated(
    tmp_path: Path, version: str
) -> None:
    p, python = shop(tmp_path), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("add")], python=python)
        assert (stop["reason"], stop["line"]) == ("breakpoint", p.line("add"))
        frames = [re.sub(r" \[\d+\]$", "", frame) for frame in stop["stack"]]
        assert [frame.removeprefix("Cart.") for frame in frames] == [
            f"add shop.py:{p.line('add')}",
            f"fill shop.py:{p.line('call')}",
            f"<module> shop.py:{p.line('fill')}",
        ]
        assert stop["locals"]["price"] == "3"
        assert await evaluate(c, "price * len(self.prices) + 2") == "2"
        running = await evaluate(c, "__import__('sys').version_info[:2]")
        assert running == str(tuple(int(part) for part in version.rstrip("t").split(".")))
        stop = await ask(c, "dap_step_over")
        assert (stop["line"], stop["reason"]) == (p.line("add") + 1, "step")


@story()
async def test_a_condition_stops_where_it_holds_and_a_hit_condition_counts(
    tmp_path: Path, version: str
) -> None:
    p, python = shop(tmp_path), python_of(version)
    wanted = [p.at("add", condition="price > 3"), p.at("call", hit_condition="4")]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=wanted, python=python)
        assert (stop["line"], stop["locals"]["price"]) == (p.line("add"), "4")
        stop = await ask(c, "dap_continue")
        assert (stop["line"], stop["locals"]["price"]) == (p.line("call"), "5")


@story()
async def test_a_step_over_a_call_that_raises_arrives_where_it_is_caught(
    tmp_path: Path, version: str
) -> None:
    p, python = shop(tmp_path), python_of(version)
    wanted = [p.at("call", condition="price < 0")]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=wanted, python=python)
        stop = await ask(c, "dap_step_over")
        assert (stop["state"], stop.get("line")) == ("stopped", p.line("caught") - 1)


@story()
async def test_an_uncaught_exception_stops_where_it_is_raised_with_its_values(
    tmp_path: Path, version: str
) -> None:
    p, python = shop(tmp_path), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), python=python)
        assert (stop["reason"], stop["line"]) == ("exception", p.line("raise"))
        assert stop["exception"] == "ValueError: no price: -2"
        assert stop["locals"]["price"] == "-2"
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 1)


TESTS = """
import unittest


def total(prices):
    return sum(prices)


def test_of_pytest():
    prices = [2, 3]
    assert total(prices) == 6  # @pytest


class CartTest(unittest.TestCase):
    def test_of_unittest(self):
        prices = [2, 4]
        self.assertEqual(total(prices), 7)  # @unittest
"""


@story()
@pytest.mark.parametrize(
    "test", ["test_cart.py::test_of_pytest", "test_cart.py::CartTest::test_of_unittest"]
)
async def test_a_failing_test_of_pytest_stops_at_the_assertion(
    tmp_path: Path, version: str, test: str
) -> None:
    p, python = written(tmp_path, "test_cart.py", TESTS), with_pytest(version)
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=test, python=python)
        marker = test.rpartition("_")[2]
        assert (stop["reason"], stop.get("line")) == ("exception", p.line(marker))
        assert stop["exception"].startswith("AssertionError: ")
        assert stop["locals"]["prices"] in {"[2, 3]", "[2, 4]"}
        assert (await ask(c, "dap_continue"))["exit_code"] == 1


@story()
async def test_a_failing_test_of_unittest_stops_at_the_assertion(
    tmp_path: Path, version: str
) -> None:
    p, python = written(tmp_path, "test_cart.py", TESTS), python_of(version)
    name = "test_cart.CartTest.test_of_unittest"
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", module="unittest", args=[name], python=python)
        assert (stop["reason"], stop.get("line")) == ("exception", p.line("unittest"))
        assert stop["exception"] == "AssertionError: 6 != 7"
        assert (await ask(c, "dap_continue"))["exit_code"] == 1


@story()
async def test_rows_are_collected_without_a_stop(tmp_path: Path, version: str) -> None:
    p, python = shop(tmp_path), python_of(version)
    point = p.at("call", collect=["price", "cart.prices"])
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(
            c, "dap_run", program=str(p), breakpoints=[point], exception_filters=[], python=python
        )
        # The traceback goes another way than what is printed, and may come first.
        assert (stop["state"], "12" in stop["output"].splitlines()) == ("ended", True)
        rows = "\n".join(stop["collected"])
        assert "4 rows" in rows
        for row in ("price = 3, cart.prices = []", "price = -1, cart.prices = [3]"):
            assert row in rows


@story()
async def test_calls_tell_arguments_results_and_errors(tmp_path: Path, version: str) -> None:
    p, python = shop(tmp_path), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), stop_on_entry=True, python=python)
        await read(c, "dap_set_breakpoint", calls=["Cart.add"])
        end = await ask(c, "dap_continue")
        assert (end["reason"], end["line"]) == ("exception", p.line("raise"))
        told = await read(c, "dap_collected", rows="1-20")
        for call in ("price=3", "price=-1", "→ 1", "→ 3", "ValueError: no price: -1"):
            assert call in told


@story()
async def test_a_program_runs_until_a_value_changes(tmp_path: Path, version: str) -> None:
    p, python = shop(tmp_path), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("fill")], python=python)
        view = await ask(c, "dap_run_until", expression="len(cart.prices)", on="change")
        assert view["reason"] == "until"
        assert f"shop.py:{p.line('add')} in Cart.add changed" in view["until"][0]
        assert "0 → 1" in view["until"][0]


LOOP = """
import time

turns = 0
running = True
print("ready", flush=True)
while running:
    turns += 1
    time.sleep(0.01)  # @turn
print("turns", turns > 0, flush=True)
"""


@needs_ptrace
@story()
async def test_a_running_program_is_attached_to_and_goes_on_after_the_detach(
    tmp_path: Path, version: str
) -> None:
    p, python = written(tmp_path, "loop.py", LOOP), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c, started(python, str(p)) as process:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        await read(c, "dap_set_breakpoint", **p.at("turn"))
        stop = await ask(c, "dap_run", request="attach", type="python", pid=process.pid)
        assert (stop["reason"], stop["line"]) == ("breakpoint", p.line("turn"))
        assert int(await evaluate(c, "turns")) > 0
        await read(c, "dap_evaluate", expression="running = False", context="repl")
        await read(c, "dap_disconnect")
        assert await process.stdout.readline() == b"turns True\n"
        assert await process.wait() == 0


FAMILY = """
import multiprocessing
import subprocess
import sys


def child(number):
    return number * 2  # @child


if __name__ == "__main__":
    if sys.argv[1:] == ["script"]:
        print(child(3))
    else:
        print("script", subprocess.call([sys.executable, __file__, "script"]), flush=True)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print("pool", pool.map(child, [4]))  # @pool
"""


@story()
async def test_children_stop_at_a_breakpoint_each_as_a_session(
    tmp_path: Path, version: str
) -> None:
    p, python = written(tmp_path, "family.py", FAMILY), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("child")], python=python)
        seen: list[tuple[int, str]] = []
        while stop["state"] == "stopped":
            assert stop["parent"] == 1
            seen.append((stop["line"], stop["locals"]["number"]))
            stop = await ask(c, "dap_continue")
        assert seen == [(p.line("child"), "3"), (p.line("child"), "4")]
        assert (stop["state"], stop["exit_code"]) == ("ended", 0)
        assert (await ask(c, "dap_program_output", since=0))["text"].splitlines() == [
            "6", "script 0", "pool [8]",
        ]  # fmt: skip


TASKS = """
import asyncio


async def load(item):
    await asyncio.sleep(0)
    return item  # @load


async def both():
    return await asyncio.gather(load(1), load(2))


async def main():
    await asyncio.ensure_future(both())  # @main


asyncio.run(main())
"""


@story()
async def test_tasks_are_listed_where_they_are(tmp_path: Path, version: str) -> None:
    p, python = written(tmp_path, "tasks.py", TASKS), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("load")], python=python)
        assert stop["stack"][0].startswith(f"load tasks.py:{p.line('load')}")
        tasks = "\n".join((await ask(c, "dap_threads"))["tasks"])
        assert f"tasks.py:{p.line('main')} in main" in tasks
        assert f"tasks.py:{p.line('load') - 1} in load" in tasks


@story()
@pytest.mark.parametrize("name", ["io", "queue", "threading", "socket", "weakref"])
async def test_a_file_of_the_program_that_is_called_as_one_of_python_is_debugged(
    tmp_path: Path, version: str, name: str
) -> None:
    (tmp_path / "shelf").mkdir()
    written(tmp_path, "shelf/__init__.py", "")
    p = written(tmp_path, f"shelf/{name}.py", "def stored(book):\n    return book * 2  # @own\n")
    main = written(tmp_path, "main.py", f"from shelf.{name} import stored\nprint(stored(4))\n")
    python = python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(main), breakpoints=[p.at("own")], python=python)
        assert (stop["reason"], stop["line"]) == ("breakpoint", 2)
        assert stop["locals"]["book"] == "4"
        assert (await ask(c, "dap_continue"))["exit_code"] == 0


DEEP = """
class Node:
    def __init__(self, kids=()):
        self.kids = kids

    def depth(self):
        return max((kid.depth() for kid in self.kids), default=0) + 1


node = Node()
for _ in range(900):
    node = Node([node])
print(node.depth())
"""


@story()
async def test_an_error_at_the_limit_of_recursion_is_the_programs(
    tmp_path: Path, version: str
) -> None:
    p, python = written(tmp_path, "deep.py", DEEP), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), python=python)
        if stop["state"] == "stopped":
            assert stop["exception"].startswith("RecursionError: ")
            assert "pydevd" not in stop["exception"]
            assert Path(stop["file"]) == p.path


BY_NAME = """
import asyncio
import functools
import json


def counted(n):
    yield n


async def awaited(n):
    return n


async def streamed(n):
    yield n


def wrapped(function):
    @functools.wraps(function)
    def wrapper(n):
        return function(n)

    return wrapper


@wrapped
def decorated(n):
    return n


class Cart:
    def add(self, n):
        return n


class Other:
    def add(self, n):
        return n


async def main():
    return await awaited(2), [n async for n in streamed(3)]


doubled = lambda n: n * 2
made = {}
exec(compile("def rule(n):\\n    return n\\n", "<rules>", "exec"), made)
print(list(counted(1)), asyncio.run(main()), decorated(4), Other().add(5), Cart().add(6), doubled(7), made["rule"](8))
print(json.dumps(9), end="")
"""
NAMES = [
    "counted",
    "awaited",
    "streamed if n == 3",
    "by_name.decorated",
    "Cart.add",
    "doubled",
    "rule",
]
"""In the order in which the program calls them, with 1, 2, … as `n`, but for the fifth."""


@story()
async def test_a_breakpoint_at_a_function_stops_in_whatever_kind_of_function_has_the_name(
    tmp_path: Path, version: str
) -> None:
    p, python = written(tmp_path, "by_name.py", BY_NAME), python_of(version)
    names = [*NAMES, "json.dumps", "dumps", "Cart.gone", "main if n == 9"]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await read(c, "dap_set_function_breakpoints", names=names)
        stop = await ask(c, "dap_run", program=str(p), python=python)
        values: list[str] = []
        while len(values) < len(NAMES):
            assert stop["reason"] == "function breakpoint"
            values.append(stop["locals"]["n"])
            if stop["function"] == "counted":
                assert (await ask(c, "dap_step_over"))["line"] == stop["line"] + 1
                # A look that calls it does not stop in it.
                assert await evaluate(c, "list(counted(3))") == "[3]"
            stop = await ask(c, "dap_continue")
        assert values == ["1", "2", "3", "4", "6", "7", "8"]
        assert (stop["function"], stop["locals"]["obj"]) == ("dumps", "9")
        end = await ask(c, "dap_continue")
    assert (end["state"], end["output"].splitlines()[-1]) == ("ended", "9")
    assert end["breakpoints"]["not hit"] == [
        "Cart.gone",
        "main if n == 9 (or its condition never held)",
    ]
