"""Where a program breaks down, the user's own frame comes first, in every language."""

import asyncio
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.harness import ask, call, client, data, needs, read, text
from tests.processes import LIMIT
from tests.programs import PROGRAMS, Program, compiled, program, tool
from tests.shown import Shows

NATIVE = ["gdb", "lldb-dap", "codelldb"]


def folded(stop: dict[str, Any]) -> str:
    """Return the line of a stack that stands for the innermost frames."""
    assert re.match(r"\d+ frames of ", stop["stack"][0]), stop["stack"]
    return stop["stack"][0]


def java_built(name: str, folder: Path) -> str:
    """Compile a Java program into a folder; return its class file."""
    subprocess.run(["javac", "-g", "-d", folder, PROGRAMS / name], check=True)
    return str((folder / name).with_suffix(".class"))


@pytest.mark.parametrize("adapter", NATIVE)
async def test_a_failed_assertion_in_c_shows_the_function_that_asserts(
    adapter: str, tmp_path: Path
) -> None:
    needs(adapter)
    p = compiled("abort.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), type=adapter)
        assert (stop["line"], stop["function"].partition("(")[0]) == (p.line("assert"), "half")
        assert stop["exception"] == "half: Assertion `number % 2 == 0' failed."
        assert stop["locals"]["number"] == "7"
        assert f"→ {p.line('assert')} " in stop["source"]
        assert "the C library" in folded(stop)
        # What is not told a frame for is what is evaluated in, too.
        assert (await ask(c, "dap_evaluate", expression="number + 1"))["result"] == "8"
        frames = (await ask(c, "dap_stacktrace"))["frames"]
        users = [frame for frame in frames if "of" not in frame]
        assert [frame["line"] for frame in users][:1] == [p.line("assert")]
        assert frames[0]["of"] == "the C library"


def rust_built(name: str, folder: Path) -> Program:
    """Compile a Rust program into a folder."""
    target = folder / Path(name).stem
    subprocess.run([tool("rustc"), "-g", "-o", target, PROGRAMS / name], check=True)
    return Program(PROGRAMS / name, target)


@pytest.mark.parametrize("adapter", NATIVE)
async def test_a_double_free_shows_who_freed_twice(
    adapter: str, tmp_path: Path, shows: Shows
) -> None:
    needs(adapter)
    p = compiled("abort.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), type=adapter, args=["free"])
        assert (stop["line"], stop["function"].partition("(")[0]) == (p.line("free"), "twice")
        assert (await ask(c, "dap_evaluate", expression="text != 0"))["result"] in {"1", "true"}
        assert "the C library" in folded(stop)
    shows(adapter, "crash frame")


async def test_gdb_names_the_signal(tmp_path: Path) -> None:
    p = compiled("abort.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        assert (await read(c, "dap_run", program=str(p))).startswith("Stopped (signal: SIGABRT)")


@pytest.mark.parametrize("adapter", NATIVE)
async def test_an_exception_of_cpp_that_nobody_catches_shows_who_threw_it(
    adapter: str, tmp_path: Path, shows: Shows
) -> None:
    needs(adapter)
    p = compiled("throw.cpp", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), type=adapter)
        assert stop["line"] == p.line("own")
        assert "check" in stop["function"]
        assert "the C++ library" in folded(stop)
        assert "SIGABRT" in str(stop)
        assert stop["exception"].splitlines() == ["'CartError'", "  what():  too much"]
    shows(adapter, "crash frame", "exception")


FREED = """\
#include <stdlib.h>
int main(int argc, char **argv) {
    int *counts = malloc(4 * sizeof *counts);
    free(counts);
    (void)argv;
    return counts[argc];
}
"""


@pytest.mark.parametrize("adapter", NATIVE)
async def test_a_report_of_a_sanitizer_stops_at_the_line_that_it_is_of(
    adapter: str, tmp_path: Path
) -> None:
    needs(adapter)
    source = tmp_path / "freed.c"
    source.write_text(FREED)
    try:
        p = compiled("", tmp_path, source, ["-fsanitize=address"])
    except subprocess.CalledProcessError:
        pytest.skip("needs libasan: it comes with gcc")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), type=adapter)
        assert (stop["reason"], stop["line"], stop["locals"]["argc"]) == ("sanitizer", 6, "1")
        assert stop["exception"].startswith("AddressSanitizer: heap-use-after-free on address")
        assert "the sanitizer" in folded(stop)
        # What follows is the legend.
        assert "freed by thread T0 here" in await read(c, "dap_program_output", since=0)


@pytest.mark.parametrize("adapter", ["gdb", "codelldb"])
async def test_a_throw_is_an_exception_where_the_adapter_says_breakpoint(
    adapter: str, tmp_path: Path
) -> None:
    needs(adapter)
    p = compiled("throw.cpp", tmp_path)
    throw = {"gdb": "throw", "codelldb": "cpp_throw"}[adapter]
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), type=adapter, exception_filters=[throw])
        assert (stop["reason"], stop["function"].partition("(")[0]) == ("exception", "main")


@pytest.mark.parametrize(
    ("adapter", "throw"), [("gdb", "throw"), ("lldb-dap", "cpp_throw"), ("codelldb", "cpp_throw")]
)
async def test_a_throw_of_cpp_has_its_type_and_its_text_without_running_code_of_the_program(
    adapter: str, throw: str, tmp_path: Path
) -> None:
    needs(adapter)
    p = compiled("thrown.cpp", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), type=adapter, exception_filters=[throw])
        said = 'std::out_of_range: index 7 of "a"\nis out of range'
        assert (stop["reason"], stop["line"]) == ("exception", p.line("out_of_range"))
        assert stop["exception"] == said
        texts = {"own": "CartError: cart 1", "number": "int", "loud": "Loud"}
        for marker, text in texts.items():
            stop = await ask(c, "dap_continue")
            assert (stop["line"], stop["exception"]) == (p.line(marker), text)
            assert "output" not in stop


@pytest.mark.parametrize("adapter", NATIVE)
async def test_a_panic_of_rust_stops_with_its_message(
    adapter: str, tmp_path: Path, shows: Shows
) -> None:
    needs(adapter)
    p = rust_built("panic.rs", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), type=adapter)
        assert (stop["reason"], stop["line"]) == ("panic", p.line("index"))
        assert stop["exception"].startswith("index out of bounds")
        assert stop["locals"]["index"] == "7"
        assert "the Rust runtime" in folded(stop)
        end = await ask(c, "dap_continue")
        assert (end["state"], end.get("exit_code", 101)) == ("ended", 101)
        # Nothing is left of it where nobody wants it.
        end = await ask(
            c,
            "dap_run",
            program=str(p),
            type=adapter,
            exception_filters=[],
            timeout_ms=LIMIT * 1000,
        )
        assert end["state"] == "ended"
    shows(f"rust/{adapter}", "crash frame", "exception")


async def test_an_error_of_ruby_that_nobody_rescues_stops_where_it_was_raised(shows: Shows) -> None:
    needs("rdbg")
    p = program("uncaught.rb")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p))
        assert (stop["reason"], stop["line"]) == ("exception", p.line("sum"))
        assert "invalid value for Integer" in stop["exception"]
        assert stop["locals"]["item"] == '"x"'
        assert (await ask(c, "dap_continue"))["state"] == "ended"
    shows("ruby", "crash frame", "exception")


@pytest.mark.parametrize(
    ("adapter", "name", "marker", "error"),
    [
        ("perl", "uncaught.pl", "divide", "Illegal division by zero"),
        ("bash-dap", "uncaught.sh", "missing", "frobnicate: command not found"),
        ("rdbg", "uncaught.rb", "sum", 'invalid value for Integer(): "x" (ArgumentError)'),
    ],
)
async def test_a_program_that_has_ended_by_an_error_tells_it_and_its_place(
    adapter: str, name: str, marker: str, error: str
) -> None:
    needs(adapter)
    p = program(name)
    async with asyncio.timeout(LIMIT), client() as c:
        result = await call(c, "dap_run", program=str(p), exception_filters=[])
        end = data(result)
        assert (end["state"], end["file"], end["line"]) == ("ended", str(p), p.line(marker))
        assert end["exception"] == error
        assert text(result).splitlines()[1].endswith(f"{name}:{p.line(marker)}: {error}")


async def test_an_end_of_which_nothing_was_printed_has_no_place() -> None:
    needs("bash-dap")
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", program=str(program("uncaught.sh")), args=["1"])
        assert (end["state"], end["exit_code"], end.get("file")) == ("ended", 1, None)


async def test_a_program_of_ruby_that_exits_is_at_its_end(tmp_path: Path) -> None:
    needs("rdbg")
    script = tmp_path / "leaves.rb"
    script.write_text(
        "begin\n  exit 1\nrescue SystemExit\n  puts 'not yet'\nend\nexit 3\n", "utf-8"
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(script))
        assert (end["state"], end["output"]) == ("ended", "not yet\n")


async def test_an_error_that_nobody_catches_stops_a_node_program(shows: Shows) -> None:
    needs("js-debug")
    p = program("kinds.js")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p))
        assert (stop["line"], stop["locals"]["total"]) == (p.line("own"), "4")
        assert stop["stack"][-1].endswith("frames of Node.js")
    shows("javascript", "crash frame", "exception")


async def test_a_frame_that_awaits_says_why_it_has_no_locals(tmp_path: Path) -> None:
    needs("js-debug")
    library = tmp_path / "node_modules" / "library.js"
    library.parent.mkdir()
    library.write_text(
        "exports.get = async () => { await null; await null; throw new Error('no'); };\n"
    )
    script = tmp_path / "awaits.js"
    script.write_text(
        "const { get } = require('library');\n"
        "async function load() {\n  return 1 + (await get());\n}\nload();\n"
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(script))
        assert (stop["function"], stop["line"], stop["locals"]) == ("load", 3, {})
        assert "no locals: Variables not available in async stacks" in stop["notes"]


async def test_a_panic_of_go_shows_the_goroutines_own_code(shows: Shows) -> None:
    needs("delve")
    p = program("panic.go")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), timeout_ms=LIMIT * 1000)
        assert "nil pointer dereference" in stop["exception"]
        assert stop["line"] == p.line("nil")
        assert stop["locals"]["i"] == "1"
        assert "the Go runtime" in folded(stop)
        assert stop["stack"][2].endswith("frames of Go's library")
    shows("go", "crash frame", "exception")


async def test_an_exception_that_java_throws_shows_who_called_the_library(
    tmp_path: Path, shows: Shows
) -> None:
    needs("jdi")
    built = java_built("Uncaught.java", tmp_path)
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        stop = await ask(c, "dap_run", program=built)
        assert "IndexOutOfBounds" in stop["exception"]
        assert stop["function"] == "Uncaught.pick"
        assert stop["locals"]["index"] == "7"
        assert "the Java library" in folded(stop)
    shows("java", "crash frame", "exception")
