"""A test is debugged by its name, and stops where it fails."""

import asyncio
import sys
import venv
from asyncio.subprocess import DEVNULL
from pathlib import Path

import pytest

from tests.harness import ask, client, evaluate, read, refusal
from tests.processes import LIMIT
from tests.programs import PROGRAMS, Program, copied, program
from tests.shown import Shows

CART = program("cart_test.py")
HERE = {"python": sys.executable}


@pytest.fixture
def cart(tmp_path: Path) -> Program:
    """Copy the tests into a project of their own, so that nobody else's options are theirs."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return copied("cart_test.py", tmp_path)


async def test_a_test_stops_at_the_assertion_that_fails_and_shows_its_values(
    cart: Program, shows: Shows
) -> None:
    async with asyncio.timeout(LIMIT), client(cart.path.parent) as c:
        stop = await ask(c, "dap_run", program="cart_test.py::test_total[2]", **HERE)
        assert (stop["reason"], stop["line"]) == ("exception", CART.line("assert"))
        assert stop["function"] == "test_total"
        own, pytests = stop["stack"]
        assert own == f"test_total cart_test.py:{CART.line('assert')}"
        assert pytests.endswith(" frames of installed packages"), (
            "nothing of the runner that shows it"
        )
        assert stop["exception"].startswith("AssertionError: assert 4 == (2 + 3)")
        # Nothing of what pytest makes of an assertion.
        assert stop["locals"] == {"price": "2", "prices": "[2, 3]"}
        # Nor what it says of itself before the first test, nor the letter for one that has failed.
        said = stop.get("output", "")
        assert "rootdir" not in said
        assert "F" not in said.splitlines()
        assert await evaluate(c, "total(prices) + price") == "6"
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 1)
        assert "1 failed" in end["output"]
        assert "test_total[2]" in (await ask(c, "dap_status"))["sessions"][0]["name"]
    shows("python", "test by id", "exception", "crash frame")


DOCUMENTED = """
def half(n):
    '''
    >>> n = failed = 4
    >>> half(n)
    3
    >>> half('x')
    '''
    return n // 2
"""


async def test_an_example_that_fails_stops_at_its_line_or_where_it_raises(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "halves.py").write_text(DOCUMENTED, encoding="utf-8")
    given = ["--doctest-modules", "halves.py"]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", module="pytest", args=given, **HERE)
        assert (stop["line"], stop["exception"]) == (5, "AssertionError: expected 3, got 2")
        assert stop["locals"]["n"] == "4"
        given += ["--doctest-continue-on-failure"]
        stop = await ask(c, "dap_run", module="pytest", args=given, fresh=True, **HERE)
        assert stop["line"] == 5
        stop = await ask(c, "dap_continue")
        assert (stop["line"], stop["locals"]) == (9, {"n": "'x'"})
        assert stop["exception"].startswith("TypeError: unsupported operand")
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 1)


async def test_only_what_fails_stops(cart: Program) -> None:
    """Not what is skipped, expected to fail, or caught by the test; nor the runner's own end."""
    async with asyncio.timeout(LIMIT), client(cart.path.parent) as c:
        stop = await ask(c, "dap_run", module="pytest", args=["cart_test.py"], **HERE)
        stops: list[tuple[int, str]] = []
        while stop["state"] == "stopped":
            stops.append((stop["line"], stop["function"]))
            stop = await ask(c, "dap_continue")
        assert stops == [
            (CART.line("assert"), "test_total"),
            (CART.line("assert"), "test_total"),
            (CART.line("fixture"), "broken"),
            (CART.line("equal"), "test_total"),
        ]
        assert "3 failed, 3 passed, 2 skipped, 1 xfailed, 1 error" in stop["output"]


async def test_tests_that_pass_end_with_the_runners_summary(cart: Program) -> None:
    test = f"{cart}::CartTest::test_of_errors"
    async with asyncio.timeout(LIMIT), client(cart.path.parent) as c:
        end = await ask(c, "dap_run", program=test, args=["-q"], **HERE)
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        assert "1 passed" in end["output"]


async def test_breakpoints_stop_a_test_before_it_fails_and_filters_keep_it_from_stopping(
    cart: Program,
) -> None:
    async with asyncio.timeout(LIMIT), client(cart.path.parent) as c:
        end = await ask(
            c, "dap_run", program="cart_test.py::CartTest", exception_filters=[],
            breakpoints=[{"filename": "cart_test.py", "line": CART.line("raise")}], **HERE
        )  # fmt: skip
        assert (end["reason"], end["line"]) == ("breakpoint", CART.line("raise"))
        assert (await ask(c, "dap_continue"))["exit_code"] == 1


async def test_options_of_a_project_do_not_keep_its_tests_from_being_debugged(
    cart: Program,
) -> None:
    ini = "[pytest]\naddopts = -n 2 --dist loadscope --pdb --trace -p no:cacheprovider\n"
    (cart.path.parent / "pytest.ini").write_text(ini, encoding="utf-8")
    async with asyncio.timeout(LIMIT), client(cart.path.parent) as c:
        stop = await ask(c, "dap_run", program="cart_test.py::CartTest::test_total", **HERE)
        assert (stop["reason"], stop["line"]) == ("exception", CART.line("equal"))
        said = "While they are debugged, the tests run without -n, --trace, --pdb."
        assert said in [*stop.get("notes", ()), *stop.get("output", "").splitlines()]
        assert (await ask(c, "dap_continue"))["exit_code"] == 1


@pytest.mark.parametrize(
    ("text", "test", "line", "told"),
    [
        ("import no_such_module\n", "test_bad.py::test", 1, "No module named"),
        ("def test(:\n", "test_bad.py::test", None, "SyntaxError"),
        ("def test(): pass\n", "test_bad.py::test_other", None, "not found"),
    ],
    ids=["import", "syntax", "name"],
)
async def test_what_cannot_be_collected_is_told(
    tmp_path: Path, text: str, test: str, line: int | None, told: str
) -> None:
    (tmp_path / "test_bad.py").write_text(text, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=test, **HERE)
        if line is not None:
            assert (stop["state"], stop["line"]) == ("stopped", line)
            stop = await ask(c, "dap_continue")
        assert stop["state"] == "ended"
        assert stop["exit_code"] > 0
        assert told in (await ask(c, "dap_program_output"))["text"]


async def test_a_test_of_no_file_is_refused() -> None:
    async with client(PROGRAMS) as c:
        assert "nowhere.py does not exist" in await refusal(
            c, "dap_run", program="nowhere.py::test_total"
        )


@pytest.mark.parametrize(
    "asked",
    [
        {"module": "unittest", "args": ["failing_test.MeanTest.test_mean_of_one_and_two"]},
        {"program": "failing_test.py::MeanTest::test_mean_of_one_and_two"},
    ],
    ids=["dotted", "node"],
)
async def test_unittest_stops_at_the_assertion_too(
    tmp_path: Path, asked: dict[str, object]
) -> None:
    """A node id is unittest's where the interpreter has no pytest."""
    p = copied("failing_test.py", tmp_path)
    venv.create(tmp_path / ".venv", symlinks=True)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", **asked, python=str(tmp_path / ".venv"))
        assert (stop["reason"], stop["line"]) == ("exception", p.line("assert"))
        assert stop["exception"] == "AssertionError: 1 != 1.5"
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 1)
        text = await read(c, "dap_program_output")
        assert "FAILED (failures=1)" in text
        assert ("pytest is not installed" in text) == ("program" in asked)


SUBTESTS = """
import unittest

class PriceTest(unittest.TestCase):
    def test_of_each(self):
        for count in (1, 2):
            with self.subTest(count=count):
                price = 3 * count
                self.assertEqual(price, 3)
"""
MANAGE = """
import sys, unittest

if sys.argv[1] == "test":
    suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[2:])
    sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
print("not a test:", sys.argv[1:])
sys.exit(3)
"""
"""What Django's is to a debugger: unittest's tests, and an exit code at their end."""


async def test_a_program_of_the_project_that_runs_tests_stops_at_the_assertion_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "prices.py").write_text(SUBTESTS, encoding="utf-8")
    (tmp_path / "manage.py").write_text(MANAGE, encoding="utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        asked = {"program": "manage.py", "args": ["test", "prices"]}
        stop = await ask(c, "dap_run", **asked, **HERE)
        assert (stop["line"], stop["function"]) == (9, "test_of_each")
        assert (stop["locals"]["count"], stop["locals"]["price"]) == ("2", "6")
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 1)
        other = {"program": "manage.py", "args": ["migrate"], "exception_filters": []}
        end = await ask(c, "dap_run", **other, **HERE)
        assert (end["exit_code"], end["output"]) == (3, "not a test: ['migrate']\n")


SEEN = """
import json, sys, unittest

class SeenTest(unittest.TestCase):
    def test_what_is_seen(self):
        main = sys.modules["__main__"]
        facts = [main.__name__, main.__file__, main.__package__, main.__spec__.name]
        with open("seen.json", "w") as file:
            json.dump([facts, sys.argv, sys.path[:2]], file)
"""


@pytest.mark.parametrize("runner", ["pytest", "unittest"])
async def test_a_test_sees_what_it_sees_without_a_debugger(runner: str, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "test_seen.py").write_text(SEEN, encoding="utf-8")
    test = {"pytest": "test_seen.py", "unittest": "test_seen.SeenTest.test_what_is_seen"}[runner]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        plain = await asyncio.create_subprocess_exec(
            sys.executable, "-m", runner, test, cwd=tmp_path, stdout=DEVNULL, stderr=DEVNULL
        )
        assert await plain.wait() == 0
        wanted = (tmp_path / "seen.json").read_text()
        (tmp_path / "seen.json").unlink()
        assert (await ask(c, "dap_run", module=runner, args=[test], **HERE))["exit_code"] == 0
        assert (tmp_path / "seen.json").read_text() == wanted


GROUPS = """
class TestGroup:
    def test_sum(self):
        one = 1
        assert one == 2

    def test_both(self):
        pass


class TestOther:
    def test_both(self):
        pass
"""


async def test_a_method_is_found_without_its_class_where_one_class_has_it(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "test_a.py").write_text(GROUPS, encoding="utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="test_a.py::test_sum", **HERE)
        assert (stop["reason"], stop["line"], stop["locals"]["one"]) == ("exception", 5, "1")
        await ask(c, "dap_terminate")
        told = await refusal(c, "dap_run", program="test_a.py::test_both", **HERE)
        assert "test_a.py::TestGroup::test_both" in told
        assert "test_a.py::TestOther::test_both" in told
