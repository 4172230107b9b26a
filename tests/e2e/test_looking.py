"""Who only looks runs no code of the program: what a look cannot tell without is refused, or asked for as an evaluation."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client

from dapeer.adapters.definition.loading import load_all, shipped
from dapeer.mcp.server.server import make_server
from dapeer.mcp.server.toolbox import Selection
from dapeer.sessions.debugger import Debugger
from dapeer.tools import TOOLS
from tests.harness import DATA, ask, call, data, evaluate, needs, read, refusal
from tests.programs import compiled

PYTHON = """\
ran = []

class Shelf:
    size = 2

    @property
    def label(self):
        ran.append("property")
        return self

    def __getitem__(self, index):
        ran.append("getitem")
        return index

    def __dir__(self):
        ran.append("dir")
        return ["size", "label"]

    def __getattr__(self, name):
        ran.append("getattr")
        raise AttributeError(name)

shelf = Shelf()
numbers = list(range(300))
ran.clear()
print("here")
"""
JAVASCRIPT = """\
const ran = [];
class Shelf { get label() { ran.push("getter"); return {a: 1}; } }
const shelf = new Shelf();
Object.defineProperty(shelf, "own", { enumerable: true, get() { ran.push("own"); return {b: 2}; } });
console.log("here");
console.log(ran.length);
"""


CPP = """\
static int ran = 0;
struct Shelf {
  int a[4];
  int& operator[](int i) { ran++; return a[i]; }
  int& operator*() { ran++; return a[0]; }
};
int main() {
  Shelf shelf{{1, 2, 3, 4}};
  shelf[1] = *shelf;
  ran = 0;
  return ran;
}
"""


@asynccontextmanager
async def looking(project: Path) -> AsyncGenerator[tuple[Client, Client]]:
    """Give two clients of one debugger: one may do everything, the other only look."""
    async with (
        Debugger(load_all(shipped()), project) as debugger,
        Client(make_server(debugger, TOOLS), extensions=DATA) as doing,
        Client(
            make_server(debugger, TOOLS, selection=Selection(read_only=True)), extensions=DATA
        ) as looks,
    ):
        yield doing, looks


async def test_a_look_runs_no_code_of_a_python_program(tmp_path: Path) -> None:
    (tmp_path / "shelf.py").write_text(PYTHON, "utf-8")
    async with looking(tmp_path) as (doing, c):
        at = {"filename": "shelf.py", "line": PYTHON.count("\n")}
        await ask(doing, "dap_run", program="shelf.py", breakpoints=[at])
        for path in ("shelf.label", "shelf[3]", "numbers[250]", "shelf.label.size", "abs"):
            told = await refusal(c, "dap_variables", path=path)
            assert f"{path} is not among the variables that the adapter shows" in told
        for text in ("shelf.", "shelf.label.", "shelf.la"):
            told = await refusal(c, "dap_completions", text=text)
            assert "may run code of the program" in told
        told = await refusal(c, "dap_wait_until_paused", evaluate=["shelf.label"])
        assert told == "Evaluating may run code of the program. Leave `evaluate` out."
        assert (await ask(c, "dap_wait_until_paused"))["state"] == "stopped"
        assert "shelf" in await read(c, "dap_completions", text="she")
        assert await evaluate(doing, "ran") == "[]"
        # What is shown is told.
        assert "249" not in await read(c, "dap_variables", path="numbers")
        assert (await ask(c, "dap_variables", path="numbers[7]"))["value"] == "7"
        # Who may do more is told more.
        assert (await ask(doing, "dap_variables", path="numbers[250]"))["value"] == "250"
        assert "label" in await read(doing, "dap_completions", text="shelf.")


async def test_a_getter_of_a_javascript_program_runs_for_nobody_who_only_looks(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    (tmp_path / "shelf.js").write_text(JAVASCRIPT, "utf-8")
    async with looking(tmp_path) as (doing, c):
        at = {"filename": "shelf.js", "line": 5}
        await ask(doing, "dap_run", program="shelf.js", breakpoints=[at])
        await refusal(c, "dap_variables", path="shelf.label")
        await refusal(c, "dap_variables", path="shelf.own")
        await refusal(c, "dap_completions", text="shelf.own.")
        shown = data(await call(c, "dap_variables", path="shelf"))["variables"]
        [getter] = [each for each in shown if each["name"] == "own"]
        told = await refusal(c, "dap_variables", variables_reference=getter["variables_reference"])
        assert "getter" in told
        assert await evaluate(doing, "ran.length") == "0"
        reference = getter["variables_reference"]
        await ask(doing, "dap_variables", variables_reference=reference)
        assert await evaluate(doing, "ran.length") == "1"


async def test_an_operator_of_a_cpp_program_runs_for_nobody_who_only_looks(tmp_path: Path) -> None:
    needs("gdb")
    (tmp_path / "shelf.cpp").write_text(CPP, "utf-8")
    compiled("shelf.cpp", tmp_path, tmp_path / "shelf.cpp")
    async with looking(tmp_path) as (doing, c):
        at = {"filename": "shelf.cpp", "line": 11}
        await ask(doing, "dap_run", program="shelf", type="gdb", breakpoints=[at])
        for tool in ("dap_read_memory", "dap_disassemble"):
            for address in ("shelf[2]", "*shelf"):
                told = await refusal(c, tool, address=address)
                assert told.startswith(f"Evaluating {address} may run code of the program")
        await refusal(c, "dap_variables", path="shelf[2]")
        assert await evaluate(doing, "ran") == "0"
        assert (await ask(c, "dap_variables", path="shelf.a[2]"))["value"] == "3"
        assert (await ask(c, "dap_read_memory", address="&shelf", count=4))["hex"] == "01000000"
