"""Who only looks runs no code of the program: what a look cannot tell without is refused, or asked for as an evaluation."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client

from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.server.server import make_server
from dapeer.mcp.server.toolbox import Selection
from dapeer.sessions.debugger.debugger import Debugger
from tests.harness import DATA, Json, ask, call, client, data, evaluate, needs, read, refusal
from tests.processes import LIMIT
from tests.programs import compiled
from tests.pythons import python_of, versions

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
RECORDS = """\
import collections, dataclasses
records = []


def hook(name, result=None):
    def f(self, *a, **k):
        records.append(name)
        return result
    return f
class Meta(type):
    __repr__ = hook("meta repr", "M"); __str__ = hook("meta str", "M"); __eq__ = hook("meta eq", False); __hash__ = hook("meta hash", 1)
    __instancecheck__ = hook("meta instancecheck", False); __len__ = hook("meta len", 1); __bool__ = hook("meta bool", True)
    def __getattribute__(cls, name):
        records.append("meta getattribute " + name)
        return type.__getattribute__(cls, name)
class D:
    def __get__(self, *a): records.append("descriptor"); return 1
class Odd(metaclass=Meta):
    slot = D()
    def __init__(self): object.__setattr__(self, "x", 1)
    __repr__ = hook("repr", "R"); __str__ = hook("str", "S"); __len__ = hook("len", 1); __bool__ = hook("bool", True)
    __eq__ = hook("eq", False); __hash__ = hook("hash", 7); __iter__ = hook("iter", iter(())); __getattr__ = hook("getattr", 1)
    __dir__ = hook("dir", []); __format__ = hook("format", "")
    def __getattribute__(self, name):
        records.append("getattribute " + name)
        return object.__getattribute__(self, name)
    @property
    def p(self): records.append("property"); return 1
    @property
    def __class__(self): records.append("class"); return int
@dataclasses.dataclass
class Data:
    odd: object
N = collections.namedtuple("N", "odd")
def look(odd, box, n):
    every = [odd]
    if n == 2:
        box["k"] = [odd]
    return [odd, box]
odd = Odd()
box = {"a": odd, "l": [odd], "t": (odd,), "d": Data(odd), "n": N(odd), "q": collections.deque([odd]), "c": Odd}
records.clear()
for n in range(3):
    look(odd, box, n)
print(records)
"""
ASKED = """\
import asyncio, os, sys, threading, types
ran = []


def hook(name, result=None):
    def f(self, *a, **k):
        ran.append(name)
        return result
    return f
class Odd:
    __repr__ = hook("repr", "R"); __str__ = hook("str", "S"); __len__ = hook("len", 1); __bool__ = hook("bool", True)
    __eq__ = hook("eq", False); __hash__ = hook("hash", 7); __iter__ = hook("iter", iter(())); __getattr__ = hook("getattr", 1)
    __dir__ = hook("dir", []); __format__ = hook("format", ""); __fspath__ = hook("fspath", "p")
    __class__ = property(hook("class", int)); __doc__ = property(hook("doc", "D"))
class Thread(threading.Thread):
    name = property(hook("thread name", "Odd"), lambda self, name: None)
    getName = hook("thread getName", "Odd"); is_alive = hook("thread is_alive", True)
    __repr__ = hook("thread repr", "T"); __eq__ = hook("thread eq", False); __hash__ = threading.Thread.__hash__
class Task(asyncio.Task):
    get_name = hook("task get_name", "Odd"); get_coro = hook("task get_coro"); done = hook("task done", False)
    __repr__ = hook("task repr", "T"); __eq__ = hook("task eq", False); __hash__ = asyncio.Task.__hash__
class Lazy(types.ModuleType):
    __getattr__ = hook("module getattr"); __dir__ = hook("module dir", []); __repr__ = hook("module repr", "M")
    __file__ = property(hook("module file", "f")); __version__ = property(hook("module version", "v"))
class Loader:
    get_source = hook("loader get_source", "a\\nb\\nc"); __getattr__ = hook("loader getattr", 1)
class Lock:
    def __init__(self): self.lock = threading.Lock()
    def __enter__(self): self.lock.acquire()
    def __exit__(self, *a): self.lock.release()
    __getattr__ = hook("lock getattr"); __eq__ = hook("lock eq", False); __hash__ = hook("lock hash", 1); __repr__ = hook("lock repr", "L")
def waits(started, lock):
    started.set()
    with lock:
        pass
def look(odd, thread, task):
    here = odd
    return here
sys.modules["lazy"], sys.modules["object"] = Lazy("lazy"), Odd()
made = types.ModuleType("made", Odd())
made.__dict__.update(
    __getattr__=lambda name: ran.append(name), __file__=Odd(), __version__=Odd(), __package__=Odd(), __loader__=Loader(), __spec__=Odd()
)
look = types.FunctionType(look.__code__.replace(co_filename=os.path.join(os.path.dirname(__file__), "made.py")), made.__dict__)
async def main():
    lock, started = Lock(), threading.Event()
    lock.lock.acquire()
    thread = Thread(target=waits, args=(started, lock))
    threading.Thread.start(thread)
    started.wait()
    task = Task(asyncio.sleep(60), loop=asyncio.get_running_loop())
    await asyncio.sleep(0)
    now = 1
    look(Odd(), thread, task)
    lock.lock.release()
asyncio.run(main())
"""
LOOKS: tuple[tuple[str, Json], ...] = (
    ("dap_threads", {}),
    ("dap_stacktrace", {}),
    ("dap_modules", {}),
    ("dap_set_breakpoint", {"filename": "asked.py", "line": 3}),
    ("dap_breakpoints", {}),
    ("dap_remove_breakpoint", {"filename": "asked.py", "line": 3}),
    ("dap_set_exception_breakpoints", {"filters": ["uncaught"]}),
    ("dap_scopes", {}),
    ("dap_variables", {}),
    ("dap_snapshot", {}),
    ("dap_current_location", {}),
    ("dap_source", {}),
    ("dap_status", {}),
    ("dap_history", {}),
    ("dap_completions", {"text": "o"}),
)
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


@versions("3.8", "3.13")
async def test_rows_calls_and_stops_run_no_code_of_a_python_program(
    tmp_path: Path, version: str
) -> None:
    (tmp_path / "odd.py").write_text(RECORDS, "utf-8")
    lines = RECORDS.splitlines()
    inside, last = (1 + lines.index(each) for each in ("    every = [odd]", "print(records)"))
    points = [
        {"filename": "odd.py", "line": inside + 1, "collect": ["odd", "every", "box", "n"]},
        {"calls": ["look"]},
        {"filename": "odd.py", "line": inside, "hit_condition": "3"},
        {"filename": "odd.py", "line": last},
    ]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        start = {"breakpoints": points, "python": python_of(version)}
        first = await ask(c, "dap_run", program="odd.py", **start)
        assert first["line"] == inside
        returned = await ask(c, "dap_step_out")
        assert returned["locals"]["(return) look"].startswith("[<Odd: x=1>, ")
        stop = await ask(c, "dap_continue")
        assert (stop["line"], stop["locals"]["odd"]) == (last, "<Odd: x=1>")
        await read(c, "dap_variables", path="box.a")
        end = await ask(c, "dap_continue")
        told = (first, returned, stop, end)
        rows = "\n".join(line for each in told for line in each.get("collected", ()))
    assert "always odd = <Odd: x=1>, every = [<Odd: x=1>]" in rows
    assert "look(odd=<Odd: x=1>" in rows
    assert end["output"] == "[]\n"


@versions("3.8", "3.13")
async def test_no_view_of_a_stop_runs_code_of_a_python_program(
    tmp_path: Path, version: str
) -> None:
    (tmp_path / "asked.py").write_text(ASKED, "utf-8")
    (tmp_path / "made.py").write_text(ASKED, "utf-8")
    lines = ASKED.splitlines()
    places = [
        {"filename": "asked.py", "line": 1 + lines.index("    now = 1")},
        {"filename": "made.py", "line": 1 + lines.index("    here = odd")},
    ]
    ran = "__import__('__main__').ran"
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        python = python_of(version)
        await ask(c, "dap_run", program="asked.py", breakpoints=places, python=python)
        # debugpy itself reads the names and the numbers of threads at each stop.
        await evaluate(c, f"{ran}.clear()")
        stop = await ask(c, "dap_continue")
        assert stop["file"].endswith("made.py")
        assert await evaluate(c, f"[each for each in {ran} if each[:6] != 'thread']") == "[]"
        await evaluate(c, f"{ran}.clear()")
        told = {}
        for tool, arguments in LOOKS:
            told[tool] = await read(c, tool, **arguments)
            assert (tool, await evaluate(c, ran)) == (tool, "[]")
    assert "waits for Lock" in told["dap_threads"]
    assert "made.py" in told["dap_modules"]
    assert "odd" in told["dap_completions"]


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
