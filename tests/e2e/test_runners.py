"""A test of any language is debugged by its name, and stops where it fails."""

import asyncio
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.harness import ask, client, evaluate, needs, read, refusal
from tests.npm import folder_of_node
from tests.processes import LIMIT
from tests.programs import PROGRAMS, Program, copied, tool
from tests.shown import Shows

NODE = "runners/cart.test.cjs"
NATIVE = ["gdb", "lldb-dap", "codelldb"]


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
    cart: Program, test: str, marker: str, error: str, shows: Shows
) -> None:
    async with asyncio.timeout(LIMIT), client(cart.path.parent) as c:
        stop = await ask(c, "dap_run", program=f"{cart.path.name}::{test}")
        assert stop["reason"] == "exception"
        assert stop["exception"].startswith(error)
        assert any(f"{cart.path.name}:{cart.line(marker)}" in frame for frame in stop["stack"])
        end = await ask(c, "dap_continue")
        assert end["state"] == "ended"
        assert "# fail 1" in end["output"]
    shows("javascript", "test by id", "exception")


async def test_each_test_of_a_newer_node_stops_where_it_fails(
    cart: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{folder_of_node(22)}{os.pathsep}{os.environ['PATH']}")
    async with asyncio.timeout(LIMIT), client(cart.path.parent) as c:
        stop = await ask(c, "dap_run", program=f"{cart.path.name}::")
        seen: list[str] = []
        while stop["state"] == "stopped":
            seen.append(next(each for each in stop["stack"] if cart.path.name in each))
            stop = await ask(c, "dap_continue")
        lines = [cart.line("assert"), cart.line("soon"), cart.line("error")]
        assert [int(re.findall(r":(\d+)", each)[0]) for each in seen] == lines


@pytest.mark.parametrize("test", ["is empty", "catches"])
async def test_a_test_that_passes_ends_without_a_stop(cart: Program, test: str) -> None:
    async with asyncio.timeout(LIMIT), client(cart.path.parent) as c:
        end = await ask(c, "dap_run", program=f"{cart.path.name}::{test}")
        assert end["state"] == "ended"
        assert "# pass 1" in end["output"]
        assert "cause" not in end


UNLIKE = """
const adds = () => { assert.equal([2, 3].length, 6); };
Object.defineProperty(adds, 'constructor', { get() {
  if (new Error().stack.includes('node_tests')) throw new Error('changed');
  return Function;
} });
it('adds', adds);
"""
"""A test that is not as our rows know tests."""


async def test_a_row_of_node_s_tests_that_fails_is_named_and_the_test_runs_as_without_it(
    cart: Program,
) -> None:
    head = "const assert = require('node:assert');\nconst { it } = require('node:test');\n"
    cart.path.write_text(head + UNLIKE, encoding="utf-8")
    async with asyncio.timeout(LIMIT), client(cart.path.parent) as c:
        end = await ask(c, "dap_run", program=f"{cart.path.name}::adds")
        told = (await ask(c, "dap_program_output", since=0))["text"]
    assert end["state"] == "ended"
    assert [each for each in end["notes"] if "patch" in each] == [
        "dapeer's patch `tests-of-node:test` is off: "
        "The program does not stop where a test of node:test fails. (Error: changed)"
    ]
    assert "# fail 1" in told
    assert "dapeer-patch" not in told


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


def project(name: str, folder: Path) -> Path:
    """Copy a project with tests."""
    return Path(shutil.copytree(PROGRAMS / "runners" / name, folder / name))


def configured(folder: Path) -> Path:
    """Have CMake prepare a project's build."""
    made = ["cmake", "-S", str(folder), "-B", str(folder / "build")]
    subprocess.run(made, check=True, capture_output=True)
    return folder


def marked(path: Path) -> Program:
    return Program(path, path)


def needs_gem(name: str) -> None:
    needs("rdbg")
    found = subprocess.run(["ruby", "-e", f"gem '{name}'"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip(f"needs {name}: apt-get install ruby-{name}")


@pytest.mark.parametrize(
    ("gem", "file", "test", "marker", "error"),
    [
        ("minitest", "cart_test.rb", "CartTest::test_adds", "assert", "Expected: 6"),
        ("minitest", "cart_test.rb", "cart::is complete", "error", "NoMethodError"),
        ("rspec", "cart_spec.rb", "cart::#total::adds", "assert", "expected: 6"),
    ],
)
async def test_a_test_of_ruby_stops_where_it_fails(
    tmp_path: Path, gem: str, file: str, test: str, marker: str, error: str, shows: Shows
) -> None:
    needs_gem(gem)
    cart = copied(f"runners/{file}", tmp_path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=f"{file}::{test}")
        assert (stop["file"], stop["line"]) == (str(cart.path), cart.line(marker))
        assert error in stop["exception"]
        assert "prices" in stop["locals"], stop
        assert (await ask(c, "dap_continue"))["state"] == "ended"
    shows("ruby", "test by id")


async def test_what_tests_of_ruby_skip_or_wait_for_stops_nobody(tmp_path: Path) -> None:
    needs_gem("minitest")
    copied("runners/cart_test.rb", tmp_path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        for test in ("test_raises", "test_skips"):
            end = await ask(c, "dap_run", program=f"cart_test.rb::CartTest::{test}")
            assert end["state"] == "ended"
            assert "1 runs" in end["output"]
        told = await read(c, "dap_run", program="cart_test.rb::test_ads")
        assert "no test of cart_test.rb is called `test_ads`; there is `test_adds`" in told


async def test_a_test_of_go_stops_where_it_fails(tmp_path: Path, shows: Shows) -> None:
    needs("delve")
    folder = project("go", tmp_path)
    cart = marked(folder / "cart_test.go")
    package = cart.path.read_text().partition("\n")[0]
    fast = "func BenchmarkFast(b *testing.B) {\n\tb.N++\n}\n"
    (folder / "fast_test.go").write_text(f'{package}\n\nimport "testing"\n\n{fast}')
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="go/cart_test.go::TestTotal::of two")
        assert (stop["reason"], stop["line"]) == ("failed test", cart.line("assert"))
        assert (await ask(c, "dap_continue"))["exit_code"] == 1
        end = await ask(c, "dap_run", program="go/cart_test.go::TestEmpty")
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        told = await read(c, "dap_run", program="go/cart_test.go::TestTotl")
        assert "no test of cart_test.go is called `TestTotl`; there is `TestTotal`" in told
        at = [{"filename": str(folder / "fast_test.go"), "line": 6}]
        stop = await ask(
            c, "dap_run", program="go/fast_test.go::BenchmarkFast", breakpoints=at, fresh=True
        )
        assert (stop["reason"], stop["line"]) == ("breakpoint", 6)
    shows("go", "test by id")


async def test_a_file_of_tests_of_go_runs_alone_and_one_that_is_left_out_says_so(
    tmp_path: Path,
) -> None:
    needs("delve")
    (tmp_path / "go.mod").write_text("module sum\n", encoding="utf-8")
    for name, first, test in (
        ("sum_test.go", "", "TestSum"),
        ("db_test.go", "//go:build integration\n\n", "TestDatabase"),
        ("sum_windows_test.go", "", "TestWindows"),
    ):
        fails = 't.Error("wrong")' if test == "TestDatabase" else "t.Log()"
        body = f'package sum\n\nimport "testing"\n\nfunc {test}(t *testing.T) {{\n\t{fails}\n}}\n'
        (tmp_path / name).write_text(first + body, encoding="utf-8")
    tags = {"buildFlags": "-tags=integration"}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        told = (await read(c, "dap_run", program="db_test.go::TestDatabase")).splitlines()[0]
        assert "db_test.go is not compiled here: it has `//go:build integration`" in told
        assert 'config={"buildFlags": "-tags=integration"} compiles it' in told
        told = await read(c, "dap_run", program="sum_windows_test.go")
        assert "sum_windows_test.go is not compiled here" in told.splitlines()[0]
        assert "TestSum" not in told
        told = await read(c, "dap_run", program="sum_test.go", config=tags)
        assert told.startswith("Ended, exit code 0")
        assert "--- PASS: TestSum" in told
        assert "TestDatabase" not in told
        told = await read(c, "dap_run", program="db_test.go", config=tags)
        assert "db_test.go:8" in told.splitlines()[0]
        await ask(c, "dap_terminate")
        places = [("db_test.go", 8), ("sum_windows_test.go", 6)]
        at = [{"filename": name, "line": line} for name, line in places]
        told = await read(c, "dap_run", program="sum_test.go", breakpoints=at, fresh=True)
        assert "db_test.go:8 (it is not compiled: it has `//go:build integration`; " in told
        assert "sum_windows_test.go:6 (it is not compiled: its name has `_windows`, " in told


async def test_a_test_of_rust_is_built_and_found_in_its_program(tmp_path: Path) -> None:
    needs("gdb")
    tool("cargo")
    folder = project("rust", tmp_path)
    async with asyncio.timeout(LIMIT), client(folder) as c:
        end = await ask(c, "dap_run", program="tests/whole.rs::adds")
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        said = await read(c, "dap_run", program="tests/whole.rs")
        assert "(whole.rs ran as a file of tests, by cargo test;" in said
        said = await read(c, "dap_run", program="tests")
        assert "1 passed; 0 failed" in said
        assert "(tests ran as a folder of tests, by cargo test)" in said
        told = await refusal(c, "dap_run", program=".")
        sources = [folder / "src" / "lib.rs", folder / "tests" / "whole.rs"]
        assert told.endswith("Give one: " + ", ".join(f"{each}::" for each in sources) + ".")
        told = await refusal(c, "dap_run", program="src/lib.rs::ads")
        assert "No test of lib.rs is called `ads`; there is `tests::adds`" in told
        lib = folder / "src" / "lib.rs"
        lib.write_text(lib.read_text("utf-8").replace("[2, 3]", "[2, three]"), encoding="utf-8")
        told = await refusal(c, "dap_run", program="src/lib.rs::adds")
        assert "`cargo test" in told
        assert "cannot find value `three`" in told


@pytest.mark.parametrize("adapter", NATIVE)
async def test_a_test_of_rust_stops_where_it_panics(
    tmp_path: Path, adapter: str, shows: Shows
) -> None:
    needs(adapter)
    tool("cargo")
    folder = project("rust", tmp_path)
    lib = marked(folder / "src" / "lib.rs")
    async with asyncio.timeout(LIMIT), client(folder) as c:
        stop = await ask(
            c, "dap_run", program="src/lib.rs::adds", type=adapter, timeout_ms=LIMIT * 1000
        )
        assert (stop["file"], stop["line"]) == (str(lib.path), lib.line("assert"))
        assert stop["locals"]["sum"] == "5"
        stop = await ask(
            c, "dap_run", program="src/lib.rs::", type=adapter, timeout_ms=LIMIT * 1000
        )
        assert stop["line"] == lib.line("assert")
    shows(f"rust/{adapter}", "test by id", "test file")


OWN_ENDS = """\
#[cfg(test)]
mod tests {
    #[test]
    fn gives_an_error() -> Result<(), String> {
        Err("no prices".into())
    }

    #[test]
    #[should_panic(expected = "nope")]
    fn panics() {
        panic!("nope");
    }
}
"""


async def test_a_test_of_rust_that_returns_an_error_stops_and_one_that_is_to_panic_alone_does_not(
    tmp_path: Path,
) -> None:
    needs("gdb")
    tool("cargo")
    folder = project("rust", tmp_path)
    shutil.rmtree(folder / "tests")
    (folder / "src" / "lib.rs").write_text(OWN_ENDS, encoding="utf-8")
    async with asyncio.timeout(LIMIT), client(folder) as c:
        # What is built is new to the machine.
        long = {"timeout_ms": LIMIT * 1000}
        stop = await ask(c, "dap_run", program="src", **long)
        assert (stop["reason"], stop["line"]) == ("error returned", 4)
        assert any("`panics` passes if it panics: a stop there" in note for note in stop["notes"])
        assert "Stopped (panic) at src/lib.rs:11" in await read(c, "dap_continue")
        assert 'Error: "no prices"' in await read(c, "dap_program_output", since=0)
        end = await ask(c, "dap_run", program="src/lib.rs::panics", **long)
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        assert any("`panics` passes if it panics" in note for note in end["notes"])
        stop = await ask(c, "dap_run", program="src/lib.rs::panics", exception_filters=["panic"])
        assert (stop["reason"], stop["line"], stop["exception"]) == ("panic", 11, "nope")


@pytest.mark.parametrize("adapter", NATIVE)
async def test_a_test_of_ctest_is_built_and_run_by_its_own_command(
    tmp_path: Path, adapter: str, shows: Shows
) -> None:
    needs(adapter)
    tool("gcc")
    folder = configured(project("ctest", tmp_path))
    cart = marked(folder / "cart_test.c")
    async with asyncio.timeout(LIMIT), client(folder) as c:
        stop = await ask(c, "dap_run", program="cart_test.c::two", type=adapter)
        assert (stop["file"], stop["line"]) == (str(cart.path), cart.line("assert"))
        assert await evaluate(c, "sum") == "5"
        await ask(c, "dap_terminate")
        end = await ask(c, "dap_run", program="build::empty", type=adapter)
        assert (end["state"], end.get("exit_code", 0)) == ("ended", 0)
        told = await refusal(c, "dap_run", program="cart_test.c::three")
        assert "No test of cart_test.c is called `three`; there is" in told
    shows(adapter, "test by id")


JUNIT = Path("/usr/share/java/junit-platform-console-standalone.jar")
CART_TEST = """package shop;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.*;
import org.junit.jupiter.params.provider.CsvSource;

class CartTest {
    @Test
    void throwing() {
        assertThrows(ArithmeticException.class, () -> System.out.println(1 / (2 - 2)));
    }

    @Test
    void adds() {
        int[] prices = {2, 3};
        assertEquals(6, prices[0] + prices[1]); // @assert
    }

    @ParameterizedTest(name = "{0} and {1}")
    @CsvSource({"1, a", "7, b"})
    void few(int count, String name) {
        assertTrue(count < 5, name); // @few
    }

    @Nested
    class Empty {
        @Test
        void total() {
            assertEquals(0, 1); // @nested
        }
    }
}
"""


def compiled_tests(folder: Path) -> Program:
    """Make a project of Maven's, with its tests compiled."""
    needs("jdi")
    tool("javac", "default-jdk-headless")
    if not JUNIT.exists():
        pytest.skip("needs JUnit: apt-get install junit5")
    (folder / "pom.xml").write_text("<project/>\n", encoding="utf-8")
    source = folder / "src" / "test" / "java" / "shop" / "CartTest.java"
    source.parent.mkdir(parents=True)
    source.write_text(CART_TEST, encoding="utf-8")
    classes = folder / "target" / "test-classes"
    subprocess.run(["javac", "-g", "-d", classes, "-cp", JUNIT, source], check=True)
    return marked(source)


async def test_a_test_of_junit_stops_once_where_it_fails(tmp_path: Path, shows: Shows) -> None:
    cart = compiled_tests(tmp_path)
    test = "src/test/java/shop/CartTest.java"
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=f"{test}::adds")
        assert (stop["file"], stop["line"]) == (str(cart.path), cart.line("assert"))
        assert "expected: <6> but was: <5>" in stop["exception"]
        # JUnit throws it on several times.
        assert (await ask(c, "dap_continue"))["state"] == "ended"
        assert (await ask(c, "dap_run", program=f"{test}::throwing"))["exit_code"] == 0
        told = await refusal(c, "dap_run", program=f"{test}::ads")
        assert "No test of CartTest.java is called `ads`; there is `CartTest::adds`" in told
        for name, marker in (("few", "few"), ("Empty::total", "nested")):
            stop = await ask(c, "dap_run", program=f"{test}::{name}")
            assert (stop["file"], stop["line"]) == (str(cart.path), cart.line(marker))
        assert "(CartTest.java ran as a file of tests, by JUnit;" in await read(
            c, "dap_run", program=test, exception_filters=[]
        )
        printed = (await ask(c, "dap_program_output", since=0))["text"]
        assert all(name in printed for name in ("adds()", "few(int, String)", "Empty"))
    shows("java", "test by id", "test file")


WHOLE = {
    "test_sum.py": ("debugpy", "def test_sum():\n    assert 1 + 1 == 3\n", 2),
    "sum.test.mjs": (
        "js-debug",
        "import test from 'node:test';\nimport assert from 'node:assert';\n"
        "test('adds', () => {\n  assert.equal(1 + 1, 3);\n});\n",
        4,
    ),
    "sum_test.rb": (
        "rdbg",
        "require 'minitest/autorun'\nclass SumTest < Minitest::Test\n  def test_sum\n"
        "    assert_equal 3, 1 + 1\n  end\nend\n",
        4,
    ),
    "sum_spec.rb": (
        "rdbg",
        "describe 'sum' do\n  it 'adds' do\n    expect(1 + 1).to eq(3)\n  end\nend\n",
        3,
    ),
    "sum_test.go": (
        "delve",
        'package sum\n\nimport "testing"\n\nfunc TestSum(t *testing.T) {\n\tif 1+1 != 3 {\n'
        '\t\tt.Error("sum")\n\t}\n}\n',
        7,
    ),
}


async def test_a_folder_runs_as_tests_where_its_runner_takes_folders(tmp_path: Path) -> None:
    needs("js-debug")
    for name in ("test_sum.py", "sum.test.mjs"):
        (tmp_path / name[-3:] / "below").mkdir(parents=True)
        (tmp_path / name[-3:] / "below" / name).write_text(WHOLE[name][1], encoding="utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", program=".py")
        assert "test_sum.py:2" in said.splitlines()[0]
        assert "(.py ran as a folder of tests, by " in said
        told = await refusal(c, "dap_run", program="mjs")
        assert "is a directory, and node:test is given files here. Give one of its files: " in told
        assert "mjs/below/sum.test.mjs." in told


@pytest.mark.parametrize("name", WHOLE)
async def test_a_file_that_its_runner_collects_runs_as_tests(
    name: str, tmp_path: Path, shows: Shows
) -> None:
    adapter, source, line = WHOLE[name]
    needs(adapter)
    if name == "sum_spec.rb":
        needs_gem("rspec")
    (tmp_path / name).write_text(source, encoding="utf-8")
    (tmp_path / "go.mod").write_text("module sum\n", encoding="utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", program=name)
        assert f"{name}:{line}" in said.splitlines()[0]
        assert f"({name} ran as a file of tests, by " in said
    shows(adapter, "test file")
