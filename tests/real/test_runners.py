"""Tests of real runners, debugged by their names: each stops in the test's own frame, where it fails."""

import asyncio
import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.harness import needs
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


def project(runner: str, folder: Path) -> Path:
    """Make a project that has a runner installed; return its file of tests."""
    needs("js-debug")
    (folder / "node_modules").symlink_to(node_modules(runner))
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


@pytest.mark.parametrize("runner", RUNNERS)
async def test_javascript_stops_in_the_test_that_fails(
    tmp_path: Path, runner: str, shows: Shows
) -> None:
    cart = project(runner, tmp_path)
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
    shows("typescript" if runner == "vitest" else "javascript", "test by id")


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
