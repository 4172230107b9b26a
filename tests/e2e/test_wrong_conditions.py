"""A condition that cannot be evaluated is told, whatever the adapter makes of it; or the program stops there."""

import asyncio
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from dapeer.sessions.outcomes import UNMET
from tests.harness import ask, call, client, read, refusal, text
from tests.languages import DEFINITIONS, Language, named, program_of, ready
from tests.processes import LIMIT
from tests.programs import program
from tests.shown import Shows


@pytest.mark.parametrize("condition", ["nope > 3", "value ="])
async def test_a_wrong_condition_is_told_under_every_adapter(
    language: Language, build: Path, condition: str
) -> None:
    p = program_of(language, build)
    # In a shell, `>` would write a file.
    python = language.adapter == "debugpy"
    wrong = p.at("inner", condition=condition if python else condition.replace(">", "-gt"))
    async with asyncio.timeout(LIMIT), client() as c:
        if python and condition == "value =":
            said = await refusal(c, "dap_run", program=str(p), breakpoints=[wrong])
            assert said.startswith("`condition`: `value =` does not parse: invalid syntax.")
            return
        end = await ask(c, "dap_run", type=language.adapter, program=str(p), breakpoints=[wrong])
        if end["state"] == "stopped":
            assert end["line"] == p.line("inner")
            assert "round 1" not in end.get("output", "")
            return
        assert "total" in end["output"]
        said = await read(c, "dap_snapshot")
        assert told(language, end, p.line("inner")), said
        printed = (await ask(c, "dap_program_output", since=0))["text"]
        assert "nope" not in printed
        assert "rror" not in printed


def told(language: Language, end: dict[str, object], line: int) -> bool:
    """Whether the end of a program tells that a condition could not be evaluated, and where."""
    breakpoints = str(end.get("breakpoints", ""))
    if not language.can("condition_errors"):
        return "or could not be evaluated" in breakpoints
    notes = str(end.get("notes", ""))
    return bool(re.search(rf"condition .*failed .*at \S+:{line}: ", notes)) or (
        "never bound" in breakpoints and "(" in breakpoints and UNMET not in breakpoints
    )


LIBRARY = "int {name}(int x) {{\n  int y = x * 10;\n  return y;\n}}\n"
USES_LIBRARIES = """
#include <dlfcn.h>
int linked(int);
int main(void) {
  void *library = dlopen("./libloaded.so", RTLD_NOW);
  int (*loaded)(int) = (int (*)(int)) dlsym(library, "loaded");
  int total = 0;
  for (int i = 0; i < 5; i++) total += linked(i) + loaded(i);
  return total != 200;
}
"""


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_a_condition_holds_in_libraries_that_come_later(
    adapter: str, tmp_path: Path, shows: Shows
) -> None:
    ready(named(adapter))
    for name in ("linked", "loaded"):
        (tmp_path / f"{name}.c").write_text(LIBRARY.format(name=name))
        built("-shared", "-fPIC", f"{name}.c", "-o", f"lib{name}.so", cwd=tmp_path)
    (tmp_path / "uses.c").write_text(USES_LIBRARIES)
    built("uses.c", "-o", "uses", "-L.", "-llinked", "-Wl,-rpath,$ORIGIN", "-ldl", cwd=tmp_path)
    wanted = [
        {"filename": f"{name}.c", "line": 3, "condition": condition}
        for name, condition in {"linked": "y == 20", "loaded": "x == 3"}.items()
    ]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", type=adapter, program="uses", breakpoints=wanted)
        assert (Path(stop["file"]).name, stop["locals"]["y"]) == ("linked.c", "20")
        stop = await ask(c, "dap_continue")
        assert (Path(stop["file"]).name, stop["locals"]["y"]) == ("loaded.c", "30")
        assert (await ask(c, "dap_continue"))["exit_code"] == 0
    shows(adapter, "library")


async def test_a_wrong_condition_in_a_library_that_comes_later_is_told_with_gdb_s_reason(
    tmp_path: Path,
) -> None:
    ready(named("gdb"))
    for name in ("linked", "loaded"):
        (tmp_path / f"{name}.c").write_text(LIBRARY.format(name=name))
        built("-shared", "-fPIC", f"{name}.c", "-o", f"lib{name}.so", cwd=tmp_path)
    (tmp_path / "uses.c").write_text(USES_LIBRARIES)
    built("uses.c", "-o", "uses", "-L.", "-llinked", "-Wl,-rpath,$ORIGIN", "-ldl", cwd=tmp_path)
    wanted = [{"filename": "linked.c", "line": 3, "condition": "nope > 3"}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", type="gdb", program="uses", breakpoints=wanted)
        assert end["exit_code"] == 0
        assert 'No symbol "nope" in current context' in str(end)


PYTHON = str(Path(sys.executable).resolve())
EXTENSION = """
#include <Python.h>
static PyObject *times(PyObject *self, PyObject *number) {
  long y = PyLong_AsLong(number) * 10;
  return PyLong_FromLong(y);
}
static PyMethodDef METHODS[] = {{"times", times, METH_O, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "fast", NULL, -1, METHODS};
PyMODINIT_FUNC PyInit_fast(void) { return PyModule_Create(&MODULE); }
"""


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_a_condition_holds_in_an_extension_of_python(adapter: str, tmp_path: Path) -> None:
    ready(named(adapter))
    headers = Path(sysconfig.get_paths()["include"])
    if not (headers / "Python.h").exists():
        pytest.skip("needs Python's headers (Debian: apt-get install python3-dev)")
    (tmp_path / "fast.c").write_text(EXTENSION)
    built("-shared", "-fPIC", f"-I{headers}", "fast.c", "-o", "fast.so", cwd=tmp_path)
    (tmp_path / "use.py").write_text("import fast\nprint([fast.times(i) for i in range(5)])\n")
    at = {"filename": "fast.c", "line": 5, "condition": "y == 20"}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(
            c, "dap_run", type=adapter, program=PYTHON, args=["use.py"], breakpoints=[at]
        )
        assert (Path(stop["file"]).name, stop["locals"]["y"]) == ("fast.c", "20")
        assert (await ask(c, "dap_continue"))["output"] == "[0, 10, 20, 30, 40]\n"


async def test_a_condition_that_reads_as_a_mark_of_gdb_is_not_told_as_wrong(tmp_path: Path) -> None:
    ready(named("gdb"))
    (tmp_path / "n.c").write_text(
        "int main(void) {\n  int N = 4, x = 0;\n  x += N;\n  return x;\n}\n"
    )
    built("n.c", "-o", "n", cwd=tmp_path)
    at = {"filename": "n.c", "line": 3, "condition": "N*2 > 400"}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", type="gdb", program="n", breakpoints=[at])
        assert end["exit_code"] == 4
        assert "failed" not in str(end)
        assert "could not be evaluated" not in str(end)


def built(*arguments: str, cwd: Path) -> None:
    subprocess.run(["gcc", "-g", *arguments], cwd=cwd, timeout=LIMIT, check=True)


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb", "js-debug", "delve"])
async def test_a_part_of_a_log_message_that_cannot_be_evaluated_is_told_and_leaves_the_others(
    adapter: str, build: Path
) -> None:
    ready(named(adapter))
    p = program_of(named(adapter), build)
    logged = p.at("inner", log_message="v={value} {nope} {value+1}")
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", type=adapter, program=str(p), breakpoints=[logged])
        first, *more = end["logged"]
        assert re.search(r"#1 .*v=0 \{[^{}\n]*nope[^{}\n]*\} 1$", first), first
        assert len(more) == 4
        (note,) = [each for each in end["notes"] if each.startswith("log message")]
        assert re.search(rf"failed 5 times at \S+:{p.line('inner')}: .*nope", note), note
        # It has said something, so it was hit.
        assert "breakpoints" not in end


async def test_a_hit_condition_that_is_not_understood_is_told_under_every_adapter(
    language: Language, build: Path
) -> None:
    p = program_of(language, build)
    async with asyncio.timeout(LIMIT), client() as c:
        wrong = p.at("inner", hit_condition="often")
        if DEFINITIONS[language.adapter].quirks.hit_conditions:
            said = await refusal(
                c, "dap_run", type=language.adapter, program=str(p), breakpoints=[wrong]
            )
            assert said.startswith(
                f"`hit_condition`: {language.adapter} does not understand `often`. Nothing was changed"
            )
            return
        stop = await ask(c, "dap_run", type=language.adapter, program=str(p), breakpoints=[wrong])
        told = str(stop.get("notes", "")) + str(stop.get("breakpoints", ""))
        assert f":{p.line('inner')}" in told
        assert "hit condition" in told or "never bound" in told
        assert "x1b" not in told, "it is read outside of terminals"


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "js-debug"])
async def test_a_number_as_hit_condition_is_that_of_the_hit(adapter: str, build: Path) -> None:
    ready(named(adapter))
    p = program_of(named(adapter), build)
    async with asyncio.timeout(LIMIT), client() as c:
        third = p.at("inner", hit_condition="3")
        stop = await ask(c, "dap_run", type=adapter, program=str(p), breakpoints=[third])
        assert stop["locals"]["value"] == "2"


async def test_of_two_conditions_that_may_have_failed_the_one_that_the_error_names_is_told() -> (
    None
):
    ready(named("js-debug"))
    p = program("loop.js")
    async with asyncio.timeout(LIMIT), client() as c:
        one = p.at("inner", condition="nope > 3")
        others = [p.at(place, condition="value.no.more") for place in ("middle", "inner_return")]
        end = await ask(c, "dap_run", program=str(p), breakpoints=[one, *others])
        first, second = sorted(end["notes"])
        assert (
            f"condition `nope > 3` failed 5 times at fixtures/programs/loop.js:{p.line('inner')}: "
            in first
        )
        assert f"(at loop.js:{p.line('inner_return')} or loop.js:{p.line('middle')})" in second


@pytest.mark.parametrize(
    ("file", "wanted", "said"),
    [
        ("a.py", {"condition": "x =="}, "`condition`: `x ==` does not parse: invalid syntax."),
        ("a.py", {"condition": "[x for x in (y := [1])]"}, "`condition`: `[x for x in (y := [1])]` does not parse: assignment expression cannot"),
        ("a.py", {"condition": "f'{x' =="}, ""),
        ("a.py", {"condition": "x\0"}, "`condition`: "),
        ("a.py", {"log_message": "x = {x +}"}, "`log_message`: `x +` does not parse: invalid syntax."),
        ("a.py", {"log_message": "x = {x:.2f}"}, "`log_message`: `x:.2f` does not parse"),
        ("a.py", {"log_message": "x = {x} { {1: 2}[1] } {} {"}, ""),
        ("a.py", {"hit_condition": "every 3rd"}, "`hit_condition`: debugpy does not understand `every 3rd`."),
        ("a.py", {"hit_condition": "% 3"}, ""),
        ("a.js", {"condition": "x > 3 &&"}, "`condition`: `x > 3 &&` is not complete."),
        ("a.js", {"condition": "x >"}, "`condition`: `x >` is not complete."),
        ("a.js", {"log_message": "x = {x +}"}, "`log_message`: `x +` is not complete."),
        ("a.js", {"log_message": "x = {x++} {y} +"}, ""),
        ("a.js", {"collect": ["x", "x =="]}, "`x ==` is not complete."),
        ("a.rb", {"log_message": "op = {:+} {x.reduce(:+)}"}, ""),
        ("a.sh", {"log_message": "x = ${x:-a +}"}, ""),
        ("a.js", {"hit_condition": "every 3rd"}, "`hit_condition`: chrome or js-debug does not"),
        ("a.js", {"hit_condition": ">= 3"}, ""),
        ("a.rs", {"hit_condition": ">= 3"}, ""),
        ("a.rs", {"hit_condition": "every 3rd"}, "`hit_condition`: codelldb or gdb or lldb-dap does not"),
        ("a.rb", {"condition": "op == :=="}, ""),
        ("a.pl", {"condition": "$page > $="}, ""),
    ],
)  # fmt: skip
async def test_what_cannot_be_evaluated_is_refused_when_it_is_set(
    file: str, wanted: dict[str, str], said: str, tmp_path: Path
) -> None:
    tmp_path.joinpath(file).write_text("x = 1\n", encoding="utf-8")
    async with client(tmp_path) as c:
        result = await call(c, "dap_set_breakpoint", filename=f"{file}:1", **wanted)
        assert text(result).startswith(said or f"{file}:1 ")
        assert result.is_error is bool(said)
        if said:
            assert await read(c, "dap_breakpoints") == "No breakpoints."
