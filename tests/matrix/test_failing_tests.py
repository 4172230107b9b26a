"""What fails in tests, in each Python: `DAPEER_PYTHONS=all uv run pytest tests/matrix`."""

import asyncio
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import ask, client
from tests.json_types import Json
from tests.matrix.interpreters import chosen, with_pytest
from tests.matrix.test_stories import written
from tests.processes import LIMIT
from tests.programs import Program
from tests.pythons import python_of

VERSIONS = pytest.mark.parametrize("version", dict.fromkeys([*chosen(), "3.12"]))
"""Also the first Python where pydevd traces by `sys.monitoring`."""

OF_PYTEST = """
import pytest


@pytest.fixture
def broken():
    raise RuntimeError("no shop")  # @fixture


def test_of_a_fixture(broken):
    pass


@pytest.fixture
def torn():
    yield 1
    raise RuntimeError("not closed")  # @teardown


def test_of_a_teardown(torn):
    pass


@pytest.mark.parametrize("count", [1, 2])
def test_of_a_parameter(count):
    assert count == 1  # @parameter


def test_that_catches():
    with pytest.raises(ValueError):
        raise ValueError
"""
OF_UNITTEST = """
import unittest


class CartTest(unittest.TestCase):
    def test_1_of_each(self):
        for count in (0, 1, 2):
            with self.subTest(count=count):
                self.assertEqual(count, 0)  # @each

    def test_2_of_errors(self):
        {}["price"]  # @error

    @unittest.expectedFailure
    def test_3_expected(self):
        self.assertEqual(1, 2)


class ShopTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise OSError("no shop")  # @class

    def test_4(self):
        pass


class SoonTest(unittest.IsolatedAsyncioTestCase):
    async def test_5_of_a_coroutine(self):
        self.assertEqual(1, 2)  # @coroutine
"""
MISSING = "import no_such_module\n"


async def stops(c: Client, stop: Json) -> tuple[list[tuple[int, str]], Json]:
    """Continue at each stop; return all lines and functions, and the end."""
    seen: list[tuple[int, str]] = []
    while stop["state"] == "stopped":
        assert stop["reason"] == "exception"
        seen.append((stop["line"], stop["function"]))
        stop = await ask(c, "dap_continue")
    return seen, stop


def project(folder: Path, tests: str) -> Program:
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    written(folder, "test_missing.py", MISSING)
    return written(folder, "test_cart.py", tests)


@VERSIONS
async def test_each_failure_of_pytest_stops_where_it_is_raised(
    tmp_path: Path, version: str
) -> None:
    p, python = project(tmp_path, OF_PYTEST), with_pytest(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        files = ["--continue-on-collection-errors", "test_missing.py", "test_cart.py"]
        stop = await ask(c, "dap_run", module="pytest", args=files, python=python)
        seen, end = await stops(c, stop)
        assert seen == [
            (1, "<module>"),
            (p.line("fixture"), "broken"),
            (p.line("teardown"), "torn"),
            (p.line("parameter"), "test_of_a_parameter"),
        ]
        assert (end["state"], end["exit_code"]) == ("ended", 1)


@VERSIONS
async def test_each_failure_of_unittest_stops_where_it_is_raised(
    tmp_path: Path, version: str
) -> None:
    p, python = project(tmp_path, OF_UNITTEST), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        files = ["test_missing", "test_cart"]
        stop = await ask(c, "dap_run", module="unittest", args=files, python=python)
        seen, end = await stops(c, stop)
        assert seen == [
            (1, "<module>"),
            (p.line("each"), "test_1_of_each"),
            (p.line("each"), "test_1_of_each"),
            (p.line("error"), "test_2_of_errors"),
            (p.line("class"), "setUpClass"),
            (p.line("coroutine"), "test_5_of_a_coroutine"),
        ]
        assert (end["state"], end["exit_code"]) == ("ended", 1)


@VERSIONS
async def test_a_run_that_is_repeated_stops_at_the_failure(tmp_path: Path, version: str) -> None:
    p, python = project(tmp_path, OF_UNITTEST), python_of(version)
    name = "test_cart.CartTest.test_2_of_errors"
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", module="unittest", args=[name], python=python, repeat=3)
        assert (stop["state"], stop["line"]) == ("stopped", p.line("error"))
