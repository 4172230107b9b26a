"""What is in the values of compiled programs, as each adapter tells them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.harness import ask, client, evaluate, needs, refusal
from tests.programs import PROGRAMS, ROOT, Program, compiled
from tests.real.assistant import line_of
from tests.shown import Shows


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return compiled("shapes.cpp", tmp_path_factory.mktemp("shapes"), options=("-std=c++17",))


SHOWN = {
    "gdb": {
        "inv": "{id = 3, items = std::vector of length 2, capacity 2 = {",
        "first": ' → {id = 1, name = "bolt"}',
        "numbers": "{1, 2, 3}",
        "ages": '{["Ada"] = 36}',
        "some": "= 5}",
        "either": '"hello"',
        "owned": '{id = 7, name = "owned"}',
        "shared": '{id = 8, name = "shared"}',
        "list": " → {value = 49, next = 0x",
        "raw": "{9, 8, 7}",
        "text": "(3000 chars)",
        "many": "std::vector of length 200000, capacity 200000 = {3, 3, 3",
    },
    "lldb-dap": {
        "inv": '{id:3, items:size=2 {{id:1, name:"bolt"}, {id:2, name:"nut"}}',
        "first": '{id:1, name:"bolt"}',
        "numbers": "size=3 {1, 2, 3}",
        "list": "{value:49, next:0x",
        "raw": "{9, 8, 7}",
        "many": "size=200000 {3, 3, 3",
    },
}
SHOWN["codelldb"] = SHOWN["lldb-dap"]
SHOWN["cdt-gdb"] = {
    "list": " → {value: 49, next: 0x",
    "first": ' → {id: 1, name: "bolt"}',
    "inv": "{id: 3, items: std::vector of length 2, capacity 2 = {",
    "numbers": "{1, 2, 3}",
    "ages": '{["Ada"] = 36}',
    "text": "(3000 chars)",
    "many": "std::vector of length 200000, capacity 200000 = {3, 3, 3",
}


@pytest.mark.parametrize("adapter", SHOWN)
async def test_a_value_says_in_one_line_what_is_in_it(
    shapes: Program, adapter: str, shows: Shows
) -> None:
    needs(adapter)
    async with client() as c:
        stop = await ask(
            c, "dap_run", program=str(shapes), type=adapter, breakpoints=[shapes.at("work")]
        )
        # Of so many the stop shows those that the lines around it name.
        others = (await ask(c, "dap_variables"))["variables"]
        values = {each["name"]: each["value"] for each in others} | stop["locals"]
        wrong = {
            name: values.get(name)
            for name, part in SHOWN[adapter].items()
            if part not in values.get(name, "")
        }
        assert not wrong
        assert await evaluate(c, "inv.total()") == "2"
        assert await evaluate(c, "*at") == "1"
    shows(adapter, "values")


async def test_a_variable_without_a_value_costs_no_other_its_own(tmp_path: Path) -> None:
    needs("gdb")
    program = compiled("optimised.cpp", tmp_path, options=("-std=c++17", "-O2"))
    async with client() as c:
        stop = await ask(
            c, "dap_run", program=str(program), type="gdb", breakpoints=[program.at("work")]
        )
        assert stop["locals"]["at"] == "<optimized out>"
        assert stop["locals"]["kept"].startswith("{{left = 1, right = 2}")
        assert "notes" not in stop


async def test_a_long_container_is_opened_at_its_beginning_or_at_any_page(shapes: Program) -> None:
    needs("gdb")
    async with client() as c:
        await ask(c, "dap_run", program=str(shapes), type="gdb", breakpoints=[shapes.at("work")])
        listed = await ask(c, "dap_variables", path="many", start=998)
        assert [v["name"] for v in listed["variables"]] == ["[998]", "[999]", "…"]
        assert "only the first 1000" in listed["variables"][-1]["value"]
        page = await ask(c, "dap_variables", path="many", filter="indexed", start=5000, count=2)
        assert [v["name"] for v in page["variables"]] == ["[5000]", "[5001]"]


RUST_SHOWN = {
    "gdb": {
        "text": '"hello"',
        "items": "Vec(size=1) = {",
        "stock": '["bolt"] = 10',
        "some": "Some(5)",
        "failed": 'Err("bad")',
        "shape": "Rect{w: 1, h: 2}",
    },
    "lldb-dap": {
        "text": '"hello"',
        "items": 'size=1 {{id:1, name:"bolt"}}',
        "stock": '"bolt"',
        "some": "Some(5)",
        "failed": 'Err("bad")',
        "shape": "Rect{w:1, h:2}",
    },
}
RUST_SHOWN["codelldb"] = RUST_SHOWN["lldb-dap"]


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Program:
    rustc = shutil.which("rustc")
    if rustc is None:
        pytest.skip("needs rustc: https://rustup.rs, or apt-get install rustc")
    source = PROGRAMS / "shapes.rs"
    built = tmp_path_factory.mktemp("crate") / "shapes"
    subprocess.run([rustc, "-g", "-o", built, source], check=True, capture_output=True)
    return Program(source, built)


@pytest.mark.parametrize("adapter", RUST_SHOWN)
async def test_values_of_rust_read_as_rust(crate: Program, adapter: str) -> None:
    needs(adapter)
    async with client() as c:
        stop = await ask(
            c, "dap_run", program=str(crate), type=adapter, breakpoints=[crate.at("work")]
        )
        wrong = {
            name: stop["locals"].get(name)
            for name, part in RUST_SHOWN[adapter].items()
            if part not in stop["locals"].get(name, "")
        }
        assert not wrong
        listed = await ask(c, "dap_variables", path="items[0]")
        assert "bolt" in str(listed)
        # What the adapter prints of itself is no output of the program.
        assert "output" not in stop


async def test_a_refused_expression_reads_without_colours(crate: Program) -> None:
    needs("gdb")
    async with client() as c:
        await ask(c, "dap_run", program=str(crate), type="gdb", breakpoints=[crate.at("work")])
        said = await refusal(c, "dap_evaluate", expression="items.len()")
        assert "Vec" in said
        assert "\x1b" not in said


async def test_a_text_in_an_array_ends_where_the_program_says_so(tmp_path: Path) -> None:
    needs("gdb")
    source = ROOT / "fixtures" / "answers" / "playlist.c"
    playlist = compiled(source.name, tmp_path, source)
    place = {"filename": str(source), "line": line_of(source, "sum += ")}
    async with client() as c:
        await ask(c, "dap_run", program=str(playlist), breakpoints=[place])
        assert await evaluate(c, "list->first->title") == '"So What"'
