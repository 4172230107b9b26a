"""One flow under every adapter: what one cannot do, its definition says, not this test."""

import asyncio
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp import Client

from dapeer.adapters.definition import Definition, load_all, shipped
from dapeer.adapters.detection import detect
from tests.harness import ask, client, evaluate, read, refusal
from tests.processes import LIMIT
from tests.programs import PROGRAMS, Program, compiled

DEFINITIONS = load_all(shipped())


@dataclass(frozen=True)
class Language:
    """The same program in a language, and how it is looked at there."""

    adapter: str
    source: str
    value: str = "value"
    """The argument of `inner`, as an expression."""
    sum: str = "value + 40"
    condition: str = "value == 2"
    path: str = "value"
    """The argument as a variable, where it is not among the locals."""
    changed: str = "doubled"
    stack: tuple[str, ...] = ("inner", "middle")
    """Beginnings of the innermost functions."""

    def __str__(self) -> str:
        return self.adapter

    @property
    def definition(self) -> Definition:
        return DEFINITIONS[self.adapter]

    def can(self, what: str) -> bool:
        return what not in self.definition.cannot


LANGUAGES = [
    Language("debugpy", "loop.py"),
    Language("gdb", "loop.c"),
    Language("lldb-dap", "loop.c"),
    Language("codelldb", "loop.c"),
    Language("cdt-gdb", "loop.c"),
    Language("delve", "loop.go", stack=("main.inner", "main.middle")),
    Language("js-debug", "loop.js", stack=("global.inner", "global.middle")),
    Language(
        "bash-dap", "loop.sh", value="$value", sum="$((value + 40))", condition="[[ $value == 2 ]]"
    ),
    Language("cmake", "cmake/CMakeLists.txt", path="Locals.value",
             changed="Locals.doubled", stack=("math", "inner")),
    Language("rdbg", "loop.rb", stack=("Object#inner", "Object#middle")),
    Language("perl", "loop.pl", value="$value", sum="$value + 40", condition="$value == 2",
             path="$value", changed="$doubled"),
    Language("jdi", "Loop.java", stack=("Loop.inner", "Loop.middle")),
]  # fmt: skip


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for what is compiled, once for all tests."""
    return tmp_path_factory.mktemp("build")


def ready(language: Language) -> None:
    """Skip the test where the adapter is missing; its own hint says how to get it."""
    detection = detect(language.definition)
    if not detection.ready:
        pytest.skip(f"needs {language.adapter}: {detection.install}")


def program_of(language: Language, build: Path) -> Program:
    """Return the program, compiled where it has to be."""
    source = PROGRAMS / language.source
    match source.suffix:
        case ".c":
            built = build / source.stem
            return Program(source, built) if built.exists() else compiled(language.source, build)
        case ".java":
            built = build / f"{source.stem}.class"
            if not built.exists():
                subprocess.run(
                    [shutil.which("javac") or "javac", "-g", "-d", build, source], check=True
                )
            return Program(source, built)
        case _:
            return Program(source, source)


@pytest.fixture(params=LANGUAGES, ids=str)
def language(request: pytest.FixtureRequest) -> Language:
    ready(request.param)
    return request.param


async def test_the_whole_flow_works_under_every_adapter(language: Language, build: Path) -> None:
    p = program_of(language, build)
    async with asyncio.timeout(LIMIT), client() as c:
        value = await a_condition_decides_where_it_stops(c, language, p)
        await stack_variables_and_expressions_are_there(c, language, value)
        value = await a_variable_is_set(c, language, value)
        await a_step_shows_the_next_line_and_what_it_has_done(c, language, p, value)
        await the_end_is_told_with_all_output(c, language)


async def a_condition_decides_where_it_stops(c: Client, language: Language, p: Program) -> int:
    """Return the value of the argument where it has stopped."""
    breakpoint_ = p.at("inner", condition=language.condition)
    stop = await ask(c, "dap_run", type=language.adapter, program=str(p), breakpoints=[breakpoint_])
    assert stop["state"] == "stopped", stop
    assert stop["reason"].startswith("breakpoint")
    assert (stop["file"], stop["line"]) == (str(p.source), p.line("inner"))
    if language.can("condition"):
        return 2
    assert "condition" in await read(c, "dap_breakpoints")
    return 0


async def stack_variables_and_expressions_are_there(
    c: Client, language: Language, value: int
) -> None:
    frames = (await ask(c, "dap_stacktrace"))["frames"]
    for frame, function in zip(frames, language.stack, strict=False):
        assert frame["function"].startswith(function), frames
    assert await variable(c, language.path) == str(value)
    assert str(value) in await evaluate(c, language.value)
    if language.can("expressions"):
        assert str(value + 40) in await evaluate(c, language.sum)


async def a_variable_is_set(c: Client, language: Language, value: int) -> int:
    """Return the value that the argument has now."""
    if not language.can("set_variable"):
        said = await refusal(c, "dap_set_variable", path=language.path, value="50")
        assert language.adapter in said
        return value
    await ask(c, "dap_set_variable", path=language.path, value="50")
    assert "50" in await evaluate(c, language.value)
    return 50


async def a_step_shows_the_next_line_and_what_it_has_done(
    c: Client, language: Language, p: Program, value: int
) -> None:
    stop = await ask(c, "dap_step_over")
    assert stop["line"] == p.line("inner_return")
    assert await variable(c, language.changed) == str(value * 2)


async def the_end_is_told_with_all_output(c: Client, language: Language) -> None:
    await ask(c, "dap_clear_breakpoints")
    end = await ask(c, "dap_continue")
    assert end["state"] == "ended", end
    assert end.get("exit_code") == (0 if language.can("exit_code") else None)
    output = (await ask(c, "dap_program_output", since=0))["text"]
    for line in ("round 0", "round 4", "total"):
        assert line in output


async def variable(c: Client, path: str) -> str:
    """Return the value of a variable, without quotes."""
    found = await ask(c, "dap_variables", path=path)
    return str(found["value"]).strip("\"'")
