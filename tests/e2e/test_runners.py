"""A test of any language is debugged by its name, and stops where it fails."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import ask, client, needs, read, refusal
from tests.processes import LIMIT
from tests.programs import Program, copied

NODE = "runners/cart.test.cjs"


@pytest.fixture
def cart(tmp_path: Path) -> Program:
    needs("js-debug")
    return copied(NODE, tmp_path)


@pytest.mark.parametrize(
    ("test", "marker", "error"),
    [
        ("cart::adds", "assert", "AssertionError"),
        ("adds soon", "soon", "AssertionError"),
        ("breaks", "error", "TypeError"),
    ],
)
async def test_a_test_of_node_stops_where_it_fails_also_when_it_is_asynchronous(
    cart: Program, test: str, marker: str, error: str
) -> None:
    async with asyncio.timeout(LIMIT), client(cart.path.parent) as c:
        stop = await ask(c, "dap_run", program=f"{cart.path.name}::{test}")
        assert stop["reason"] == "exception"
        assert stop["exception"].startswith(error)
        assert any(f"{cart.path.name}:{cart.line(marker)}" in frame for frame in stop["stack"])
        end = await ask(c, "dap_continue")
        assert end["state"] == "ended"
        assert "# fail 1" in end["output"]


@pytest.mark.parametrize("test", ["is empty", "catches"])
async def test_a_test_that_passes_ends_without_a_stop(cart: Program, test: str) -> None:
    async with asyncio.timeout(LIMIT), client(cart.path.parent) as c:
        end = await ask(c, "dap_run", program=f"{cart.path.name}::{test}")
        assert end["state"] == "ended"
        assert "# pass 1" in end["output"]
        assert "cause" not in end


async def test_of_a_test_that_there_is_not_the_nearest_are_told(cart: Program) -> None:
    async with asyncio.timeout(LIMIT), client(cart.path.parent) as c:
        end = await read(c, "dap_run", program=f"{cart.path.name}::add")
        assert "no test of cart.test.cjs is called `add`; there is `adds`" in end


async def test_without_a_sign_of_a_runner_nobody_guesses(tmp_path: Path) -> None:
    (tmp_path / "sum.test.js").write_text("test('adds', () => {});\n", encoding="utf-8")
    async with client(tmp_path) as c:
        told = await refusal(c, "dap_run", program="sum.test.js::adds")
        assert "No test runner is known for sum.test.js" in told
        assert "Jest" in told


async def test_a_runner_that_is_not_installed_is_named_with_its_command(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"devDependencies": {"jest": "*"}}', encoding="utf-8")
    (tmp_path / "sum.test.js").write_text("test('adds', () => {});\n", encoding="utf-8")
    async with client(tmp_path) as c:
        told = await refusal(c, "dap_run", program="sum.test.js::adds")
        assert "node_modules/jest/bin/jest.js" in told
        assert "npm install --save-dev jest" in told
