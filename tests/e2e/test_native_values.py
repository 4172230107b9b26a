"""What is in the values of compiled programs, as each adapter tells them."""

import re
import subprocess
from pathlib import Path

import pytest

from dapeer.adapters.choice.detection import detect
from tests.e2e.test_collecting import written
from tests.e2e.test_patches_that_do_not_fit import first_on_path
from tests.harness import ask, client, evaluate, needs, read, refusal
from tests.languages import named
from tests.programs import PROGRAMS, ROOT, Program, compiled, tool
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
        "padded": '"bolt"',
        "hidden": r'"x\000secret',
        "key": r'"\000\000\000\000\000\a',
        "boards": "{{cells = {1, 2, 3}, sums = {_M_elems = {4, 5}}}, {cells = {6, 7, 8}",
        "grid": "{{1, 2}, {3, 4}}",
    },
    "lldb-dap": {
        "first": '{id:1, name:"bolt"}',
        "numbers": "size=3 {1, 2, 3}",
        "list": "{value:49, next:0x",
        "raw": "{9, 8, 7}",
        "many": "size=200000 {3, 3, 3",
        "boards": "{{cells:{1, 2, 3}, sums:{4, 5}}, {cells:{6, 7, 8}, sums:{9, 10}}}",
        "grid": "{{1, 2}, {3, 4}}",
        "padded": '"bolt',
    },
}
SHOWN["codelldb"] = SHOWN["lldb-dap"]


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
        # LLDB's adapter shows less of a struct on a busy machine.
        assert await evaluate(c, "inv.items") in (
            "std::vector of length 2, capacity 2 = {...}",
            'std::vector of length 2, capacity 2 = {{id = 1, name = "bolt"}, {id = 2, name = "nut"}}',
            'size=2 {{id:1, name:"bolt"}, {id:2, name:"nut"}}',
        )
        assert await evaluate(c, "inv.total()") == "2"
        assert await evaluate(c, "*at") == "1"
    shows(adapter, "values")


REFERENCES = """
struct Item { int id; };
static int use(int &n, const double &x, int &&moved, Item &item) {
  n += 1;
  return item.id;  // @used
}
int main() {
  int n = 0;
  double x = 1.5;
  Item item{3};
  for (int i = 0; i < 3; i++) use(n, x, i + 5, item);
}
"""


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_a_reference_is_its_value_in_rows_as_at_a_stop(adapter: str, tmp_path: Path) -> None:
    needs(adapter)
    p = written(tmp_path, "refers.cpp", REFERENCES)
    built = compiled("refers.cpp", tmp_path, p.path).path
    names = ["n", "x", "moved", "item"]
    async with client(tmp_path) as c:
        end = await ask(
            c,
            "dap_run",
            program=str(built),
            type=adapter,
            breakpoints=[p.at("used", collect=names)],
            timeout_ms=60_000,
        )
        told = "\n".join(end["collected"])
        for n in (1, 2, 3):
            # LLDB has the address of what it stands for before it.
            assert re.search(
                rf"#{n} n = (0x\w+ )?{n}, moved = (0x\w+ )?{n + 4}$", told, re.MULTILINE
            )
        assert re.search(r"x = (0x\w+ )?1\.5, item = (0x\w+ )?\{id( = |:)3\}$", told, re.MULTILINE)
        stop = await ask(c, "dap_run", program=str(built), type=adapter, breakpoints=[p.at("used")])
        assert {name: stop["locals"][name].split()[-1] for name in names[:3]} == {
            "n": "1", "x": "1.5", "moved": "5",
        }  # fmt: skip


async def test_a_row_of_lldb_that_fails_is_named_once_and_lldb_shows_the_values_itself(
    shapes: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("lldb-dap")
    found = Path(detect(named("lldb-dap").definition).found["lldb-dap"])
    changed = "script lldb.SBValue.GetNumChildren = lambda value, more: 0"
    path = first_on_path(tmp_path, found.name, "--pre-init-command", changed)
    monkeypatch.setenv("PATH", path)
    async with client() as c:
        stop = await ask(
            c, "dap_run", program=str(shapes), type="lldb-dap", breakpoints=[shapes.at("work")]
        )
        told = [note for note in stop["notes"] if "dapeer's patch `lldb-values` is off: " in note]
        assert len(told) == 1
        values = {v["name"]: v["value"] for v in (await ask(c, "dap_variables"))["variables"]}
        assert values["many"] == "size=200000"
        assert "items:size=2" in stop["locals"]["inv"].replace(": ", ":")
        assert "lldb-values" not in await read(c, "dap_step_over")


async def test_a_variable_without_a_value_costs_no_other_its_own(tmp_path: Path) -> None:
    needs("gdb")
    program = compiled("optimised.cpp", tmp_path, options=("-std=c++17", "-O2"))
    async with client() as c:
        stop = await ask(
            c, "dap_run", program=str(program), type="gdb", breakpoints=[program.at("work")]
        )
        assert stop["locals"]["at"] == "<optimized out>"
        assert stop["locals"]["kept"].startswith("{{left = 1, right = 2}")
        assert [note.partition(",")[0] for note in stop["notes"]] == ["the program is optimised"]


async def test_a_long_container_is_opened_at_its_beginning_or_at_any_page(shapes: Program) -> None:
    needs("gdb")
    async with client() as c:
        await ask(c, "dap_run", program=str(shapes), type="gdb", breakpoints=[shapes.at("work")])
        listed = await ask(c, "dap_variables", path="many", start=998, count=3)
        assert [v["name"] for v in listed["variables"]] == ["[998]", "[999]", "[1000]"]
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
        "empty": 'Some("")',
        "none": "None",
        "levels": "Low",
    },
    "lldb-dap": {
        "text": '"hello"',
        "items": 'size=1 {{id:1, name:"bolt"}}',
        "stock": '"bolt"',
        "some": "Some(5)",
        "failed": 'Err("bad")',
        "shape": "Rect{w:1, h:2}",
        "empty": 'Some("")',
        "none": "None",
        "levels": """{Low, High('\\x03'), Named("x")}""",
    },
}
RUST_SHOWN["codelldb"] = RUST_SHOWN["lldb-dap"]


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Program:
    source = PROGRAMS / "shapes.rs"
    built = tmp_path_factory.mktemp("crate") / "shapes"
    subprocess.run([tool("rustc"), "-g", "-o", built, source], check=True, capture_output=True)
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


OPTIMISED = """\
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int work(int n, const char *tag) {
  int *v = malloc(n * sizeof *v), sum = 0;
  for (int i = 0; i < n; i++) v[i] = i * n;
  for (int i = 0; i < n; i++) sum += v[i];
  printf("%d\\n", sum);
  return sum;
}
int main(int argc, char **argv) { return work(argc + 3, argv[0]) > 1000; }
"""


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_an_optimised_program_is_said_to_be_one_once(adapter: str, tmp_path: Path) -> None:
    needs(adapter)
    source = tmp_path / "optimised.c"
    source.write_text(OPTIMISED)
    p = compiled("", tmp_path, source, ["-O2"])
    at = [{"filename": str(source), "line": line} for line in (7, 8)]
    async with client(tmp_path) as c:
        said = await read(c, "dap_run", type=adapter, program=str(p), breakpoints=at)
        assert "(the program is optimised, so some values are gone" in said
        printed = await ask(c, "dap_program_output", since=0)
        assert "error: " not in printed["text"]
        assert "optimised, so" not in await read(c, "dap_continue")


DYNAMIC = """\
trait Area { fn area(&self) -> f64; }
struct Square { side: f64 }
struct Circle { r: f64, name: String }
impl Area for Square { fn area(&self) -> f64 { self.side * self.side } }
impl Area for Circle { fn area(&self) -> f64 { self.r + self.name.len() as f64 } }
fn main() {
    let plain = vec![10, 20];
    let one: Box<dyn Area> = Box::new(Circle { r: 4.0, name: "one".into() });
    let all: Vec<Box<dyn Area>> = vec![Box::new(Square { side: 2.0 })];
    let r: &dyn Area = &Square { side: 5.0 };
    println!("{} {} {}", one.area() + r.area(), all[0].area(), plain[1]);
}
"""


def rust_built(folder: Path, text: str) -> Path:
    """Compile a program `dynamic` of Rust into a folder; return its source."""
    source = folder / "dynamic.rs"
    source.write_text(text)
    subprocess.run([tool("rustc"), "-g", "-o", folder / "dynamic", source], check=True)
    return source


async def test_behind_a_trait_object_of_rust_is_the_object(tmp_path: Path) -> None:
    needs("gdb")
    source = rust_built(tmp_path, DYNAMIC)
    at = [{"filename": str(source), "line": 11}]
    async with client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="dynamic", breakpoints=at)
        assert stop["locals"] == {
            "plain": "Vec(size=2) = {10, 20}",
            "one": 'dyn dynamic::Area = {value = dynamic::Circle {r: 4, name: "one"}}',
            "all": "Vec(size=1) = {dyn dynamic::Area = {value = dynamic::Square {side: 2}}}",
            "r": "dyn dynamic::Area = {value = dynamic::Square {side: 5}}",
        }
        assert "r: f64 = 4" in await read(c, "dap_variables", path="one.value")
        assert "dap_variables with this path" in await refusal(
            c, "dap_evaluate", expression="plain[1]"
        )
        assert "no method can be called" in await refusal(
            c, "dap_evaluate", expression="plain.len()"
        )


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


async def test_what_a_script_of_a_library_says_in_gdb_is_no_output_of_the_program(
    tmp_path: Path,
) -> None:
    needs("gdb")
    source = tmp_path / "nameless.cpp"
    source.write_text(
        "#include <memory>\nint main() {\n  auto more = [](int a) { return a + 1; };\n"
        "  auto kept = std::make_shared<int>(more(1));\n  return *kept;\n}\n"
    )
    p = compiled("", tmp_path, source)
    at = [{"filename": str(source), "line": 5}]
    async with client() as c:
        await ask(c, "dap_run", type="gdb", program=str(p), breakpoints=at)
        assert "xmethod" in await refusal(c, "dap_evaluate", expression="more(1)")
        end = await ask(c, "dap_continue")
        assert (end["exit_code"], end.get("output", "")) == (2, "")


PRINTER = """
class Printer:
    def to_string(self):
        return "std::bag with 2"

    def children(self):
        return iter([("first", 1), ("second", 2)])

    def display_hint(self):
        raise ValueError("no hint")


def printer_of(value):
    return Printer() if value.type.strip_typedefs().name == "playlist" else None


gdb.pretty_printers.append(printer_of)
"""


async def test_a_printer_that_raises_changes_no_other_value(tmp_path: Path) -> None:
    needs("gdb")
    source = ROOT / "fixtures" / "answers" / "playlist.c"
    playlist = compiled(source.name, tmp_path, source)
    (tmp_path / "printer.py").write_text(PRINTER)
    place = {"filename": str(source), "line": line_of(source, "sum += ")}
    async with client() as c:
        await ask(c, "dap_run", program=str(playlist), breakpoints=[place])
        await read(
            c, "dap_evaluate", expression=f"source {tmp_path / 'printer.py'}", context="repl"
        )
        assert "std::bag with 2" in await evaluate(c, "*list")
        # Other values are shown as before.
        assert " → {title = " in await evaluate(c, "list->first")
