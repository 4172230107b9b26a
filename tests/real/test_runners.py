"""Tests of real runners, debugged by their names: each stops in the test's own frame, where it fails."""

import asyncio
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.e2e.test_runners import UNLIKE
from tests.harness import needs
from tests.npm import folder_of_node
from tests.real.assistant import assistant, line_of
from tests.real.software import node_modules, package
from tests.shown import Shows

SECONDS = 120

TESTS = """
const total = (prices) => prices.reduce((sum, price) => sum + price, 0);

describe('cart', () => {
  it('is empty', () => {
    expect(total([])).toBe(0);
  });
  it('catches', () => {
    expect(() => total(null)).toThrow(TypeError);
  });
  it('adds', () => {
    const prices = [2, 3];
    expect(total(prices)).toBe(6); // six
  });
  it('adds soon', async () => {
    const prices = [1, 3];
    await new Promise((done) => setTimeout(done, 1));
    expect(total(prices)).toBe(7); // seven
  });
  it('breaks', () => {
    const prices = null;
    total(prices);
  });
});
"""

RUNNERS = {
    "jest": ("cart.test.js", ""),
    "vitest": ("cart.test.ts", "import { describe, expect, it } from 'vitest';\n"),
    "mocha": ("cart.spec.js", "const assert = require('node:assert');\n"),
}


MODULES = ["jest", "vitest-3", "vitest-4", "vitest-5", "mocha-11", "mocha-12"]
"""The current majors of each runner, and those before that projects still have."""


def project(modules: str, folder: Path) -> Path:
    """Make a project that has a version of a runner installed; return its file of tests."""
    needs("js-debug")
    runner = modules.partition("-")[0]
    (folder / "node_modules").symlink_to(node_modules(modules))
    described = json.dumps({"devDependencies": {runner: "*"}})
    (folder / "package.json").write_text(described, encoding="utf-8")
    file, head = RUNNERS[runner]
    path = folder / file
    tests = TESTS if runner != "mocha" else in_words_of_node(TESTS)
    path.write_text(head + tests, encoding="utf-8")
    return path


def in_words_of_node(tests: str) -> str:
    """Return tests with the assertions that come with Node.js."""
    equal = re.sub(r"expect\((.+)\)\.toBe\((.+)\);", r"assert.strictEqual(\1, \2);", tests)
    return re.sub(r"expect\((.+)\)\.toThrow\((.+)\);", r"assert.throws(\1, \2);", equal)


@pytest.mark.parametrize("modules", MODULES)
async def test_javascript_stops_in_the_test_that_fails(
    tmp_path: Path, modules: str, shows: Shows
) -> None:
    cart = project(modules, tmp_path)
    adds, soon = line_of(cart, "// six"), line_of(cart, "// seven")
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(program=f"{cart.name}::cart::adds soon")
        assert f"{cart.name}:{soon}" in stop.splitlines()[0], stop
        assert "prices = (2) [1, 3]" in stop
        await a.read("dap_terminate")
        stop = await a.run(program=f"{cart.name}::")
        assert f"{cart.name}:{adds}" in stop.splitlines()[0], stop
        assert "prices = (2) [2, 3]" in stop
        stop = await a.read("dap_continue")
        assert f"{cart.name}:{soon}" in stop.splitlines()[0], stop
        stop = await a.read("dap_continue")
        assert "TypeError" in stop
        assert "in total" in stop.splitlines()[0] or "global.total" in stop.splitlines()[0], stop
        assert "Ended" in await a.read("dap_continue")
        end = await a.run(program=f"{cart.name}::cart::ads")
        assert f"no test of {cart.name} is called `cart::ads`; there is `adds`" in end
    shows("typescript" if modules.startswith("vitest") else "javascript", "test by id")


HOOKS = """
describe('cart', () => {
  let prices;
  beforeEach(() => {
    prices = [2];
    return undefined;
  });
  it('is filled', () => {
    if (prices.length !== 1) throw new Error('not filled');
  });
});
describe('shop', () => {
  beforeEach(() => {
    const prices = null;
    prices.length; // hook
  });
  it('opens', () => {});
});
"""


@pytest.mark.parametrize("modules", ["jest", "vitest-5", "mocha-12"])
async def test_javascript_of_a_newer_node_stops_in_the_test_that_fails(
    tmp_path: Path, modules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{folder_of_node(22)}{os.pathsep}{os.environ['PATH']}")
    cart = project(modules, tmp_path)
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(program=f"{cart.name}::")
        assert f"{cart.name}:{line_of(cart, '// six')}" in stop.splitlines()[0], stop
        stop = await a.read("dap_continue")
        assert f"{cart.name}:{line_of(cart, '// seven')}" in stop.splitlines()[0], stop
        assert "TypeError" in await a.read("dap_continue")


@pytest.mark.parametrize("modules", MODULES)
async def test_javascript_stops_in_the_hook_that_fails(tmp_path: Path, modules: str) -> None:
    cart = project(modules, tmp_path)
    head = "import { beforeEach, describe, it } from 'vitest';\n" * modules.startswith("vitest")
    cart.write_text(head + HOOKS, encoding="utf-8")
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(program=f"{cart.name}::")
        assert f"{cart.name}:{line_of(cart, '// hook')}" in stop.splitlines()[0], stop
        assert "prices = null" in stop
        assert "Ended" in await a.read("dap_continue")


@pytest.mark.parametrize("modules", MODULES)
async def test_a_row_of_a_runner_that_fails_is_named_and_the_tests_run_as_without_it(
    tmp_path: Path, modules: str
) -> None:
    cart = project(modules, tmp_path)
    head = RUNNERS[modules.partition("-")[0]][1]
    equal = "assert.equal([2].length, 6)" if "assert" in head else "expect([2].length).toBe(6)"
    cart.write_text(
        head + UNLIKE.replace("assert.equal([2, 3].length, 6)", equal), encoding="utf-8"
    )
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        end = await a.run(program=f"{cart.name}::adds")
        # Without the row, Jest is stopped where it rejects a promise of its own.
        end += await a.read("dap_continue") if modules == "jest" else ""
        told = await a.read("dap_program_output", since=0)
    assert "Ended" in end
    assert end.count("dapeer's patch `tests-of-") == 1
    assert "is off: The program does not stop where a test of" in end
    assert "(Error: changed)" in end
    assert re.search(r"\b1 fail", told), told
    assert "dapeer-patch" not in told


GOOGLE_TEST = """
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

static int total(const std::vector<int>& prices) {
  return std::accumulate(prices.begin(), prices.end(), 0);
}

TEST(Cart, IsEmpty) { EXPECT_EQ(total({}), 0); }

TEST(Cart, Adds) {
  std::vector<int> prices{2, 3};
  int sum = total(prices);
  EXPECT_EQ(sum, 6);
}

TEST(Cart, Throws) {
  std::vector<int> prices{2, 3};
  prices.at(7);
}
"""

CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(cart CXX)
set(CMAKE_BUILD_TYPE Debug)
enable_testing()
find_package(GTest REQUIRED)
add_executable(cart_test cart_test.cpp)
target_link_libraries(cart_test GTest::gtest GTest::gtest_main)
include(GoogleTest)
gtest_discover_tests(cart_test)
"""


async def test_googletest_stops_at_the_expectation_by_its_source_or_its_program(
    tmp_path: Path,
) -> None:
    needs("gdb")
    package("libgtest-dev")
    (tmp_path / "CMakeLists.txt").write_text(CMAKE, encoding="utf-8")
    cart = tmp_path / "cart_test.cpp"
    cart.write_text(GOOGLE_TEST, encoding="utf-8")
    configure(tmp_path)
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        for program in ("cart_test.cpp::Cart::Adds", "build/cart_test::Cart.Adds"):
            stop = await a.run(program=program)
            assert f"cart_test.cpp:{line_of(cart, 'EXPECT_EQ(sum')}" in stop.splitlines()[0], stop
            assert "sum = 5" in stop
            await a.read("dap_terminate")
        stop = await a.run(program="cart_test.cpp::Throws")
        assert f"cart_test.cpp:{line_of(cart, 'prices.at')}" in stop.splitlines()[0], stop


def configure(folder: Path) -> None:
    subprocess.run(["cmake", "-S", folder, "-B", folder / "build"], check=True, capture_output=True)
