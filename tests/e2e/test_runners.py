"""A test of any language is debugged by its name, and stops where it fails."""

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.harness import ask, client, evaluate, needs, read, refusal
from tests.processes import LIMIT
from tests.programs import PROGRAMS, Program, copied
from tests.shown import Shows

NODE = "runners/cart.test.cjs"
NATIVE = ["gdb", "lldb-dap", "codelldb", "cdt-gdb"]


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


def needs_program(name: str, package: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"needs {name}: apt-get install {package}")


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
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="go/cart_test.go::TestTotal::of two")
        assert (stop["reason"], stop["line"]) == ("failed test", cart.line("assert"))
        assert (await ask(c, "dap_continue"))["exit_code"] == 1
        end = await ask(c, "dap_run", program="go/cart_test.go::TestEmpty")
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        told = await read(c, "dap_run", program="go/cart_test.go::TestTotl")
        assert "no test of cart_test.go is called `TestTotl`; there is `TestTotal`" in told
    shows("go", "test by id")


async def test_a_test_of_rust_is_built_and_found_in_its_program(tmp_path: Path) -> None:
    needs("gdb")
    needs_program("cargo", "cargo")
    folder = project("rust", tmp_path)
    async with asyncio.timeout(LIMIT), client(folder) as c:
        end = await ask(c, "dap_run", program="tests/whole.rs::adds")
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        told = await refusal(c, "dap_run", program="src/lib.rs::ads")
        assert "No test of lib.rs is called `ads`; there is `tests::adds`" in told
        lib = folder / "src" / "lib.rs"
        lib.write_text(lib.read_text("utf-8").replace("[2, 3]", "[2, three]"), encoding="utf-8")
        told = await refusal(c, "dap_run", program="src/lib.rs::adds")
        assert "`cargo test" in told
        assert "cannot find value `three`" in told


@pytest.mark.parametrize("adapter", NATIVE[:3])
async def test_a_test_of_rust_stops_where_it_panics(
    tmp_path: Path, adapter: str, shows: Shows
) -> None:
    needs(adapter)
    needs_program("cargo", "cargo")
    folder = project("rust", tmp_path)
    lib = marked(folder / "src" / "lib.rs")
    async with asyncio.timeout(LIMIT), client(folder) as c:
        stop = await ask(
            c, "dap_run", program="src/lib.rs::adds", type=adapter, timeout_ms=LIMIT * 1000
        )
        assert (stop["file"], stop["line"]) == (str(lib.path), lib.line("assert"))
        assert stop["locals"]["sum"] == "5"
    shows(f"rust/{adapter}", "test by id")


@pytest.mark.parametrize("adapter", NATIVE)
async def test_a_test_of_ctest_is_built_and_run_by_its_own_command(
    tmp_path: Path, adapter: str, shows: Shows
) -> None:
    needs(adapter)
    needs_program("gcc", "gcc")
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

import org.junit.jupiter.api.Test;

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
}
"""


def compiled_tests(folder: Path) -> Program:
    """Make a project of Maven's, with its tests compiled."""
    needs("jdi")
    needs_program("javac", "default-jdk-headless")
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
        told = await read(c, "dap_run", program=f"{test}::ads")
        assert "no test of CartTest.java is called `ads`; there is `adds`" in told
    shows("java", "test by id")
