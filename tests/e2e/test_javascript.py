"""What only JavaScript has: sources that are compiled to others, and Node.js's own code among them."""

import asyncio
import os
import shutil
import socket
from collections.abc import Iterable
from pathlib import Path

import pytest
from mcp import Client

from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.adapters.process.children import duplicated, why_not_allowed
from dapeer.base.system.ownership import sockets_connected_to
from dapeer.dap.messages import Message, Request
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.server.server import make_server
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from tests.e2e.running import free_port, started
from tests.harness import DATA, ask, client, needs, read
from tests.processes import LIMIT, descendants
from tests.programs import PROGRAMS, Program
from tests.sockets import needs_tables

hastens = pytest.mark.skipif(
    bool(why_not_allowed()),
    reason="the system does not let dapeer hasten a program: needs Linux 5.6 and kernel.yama.ptrace_scope=0",
)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return a project of TypeScript that is compiled, with source maps."""
    needs("js-debug")
    return Path(shutil.copytree(PROGRAMS / "typescript", tmp_path / "shop"))


@pytest.mark.parametrize("name", ["compiled/shop.js", "src/shop.ts"])
async def test_a_breakpoint_in_typescript_stops_what_it_is_compiled_to(
    shop: Path, name: str
) -> None:
    source = shop / "src" / "shop.ts"
    wanted = Program(source, source).at("sum", condition="item.name === 'spoon'")
    async with asyncio.timeout(LIMIT), client(shop) as c:
        stop = await ask(c, "dap_run", program=name, breakpoints=[wanted])
        assert (stop["file"], stop["line"]) == (str(source), wanted["line"])
        assert stop["locals"]["sum"] == "40"
        # The adapter's own words are none of the program's, which prints a path, too.
        assert "output" not in stop
        end = await ask(c, "dap_continue")
        assert end["output"].endswith(f"{shop / 'compiled' / 'shop.js'} 42\n")


async def test_what_is_said_of_source_maps_is_said_by_its_name_and_not_of_packages(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    package = tmp_path / "node_modules" / "one.js"
    package.parent.mkdir()
    text = "console.log('Could not read source map for one');\n//# sourceMappingURL=gone.js.map\n"
    package.write_text(text)
    (tmp_path / "main.js").write_text(f"require('./node_modules/one.js');\n{text}")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program="main.js")
        assert sorted(line.partition(" of ")[0] for line in end["output"].splitlines()) == [
            "Could not read source map for one",
            "Could not read source map for one",
            "js-debug could not read the source map",
        ]


async def test_a_build_that_is_older_than_its_source_is_said_to_be(shop: Path) -> None:
    os.utime(shop / "compiled" / "shop.js", (0, 0))
    async with asyncio.timeout(LIMIT), client(shop) as c:
        end = await ask(c, "dap_run", program="src/shop.ts")
        assert "compiled/shop.js runs instead of " in end["output"]
        assert "and is older. Build it again." in end["output"]


async def test_the_newest_of_several_builds_of_its_name_runs_and_is_said_to(shop: Path) -> None:
    shutil.copytree(shop / "compiled", shop / "older")
    os.utime(shop / "older" / "shop.js", (0, 0))
    async with asyncio.timeout(LIMIT), client(shop) as c:
        told = (await ask(c, "dap_run", program="src/shop.ts"))["output"].splitlines()
        assert told[0] == (
            f"dapeer: {shop}/compiled/shop.js runs instead of {shop}/src/shop.ts, one of its 2 builds. "
            f"To run another, give its path: {shop}/older/shop.js"
        )


MINIFIED = """\
function total(n){let t=0,e=-1;for(const o of n)t+=o,o>e&&(e=o);return t*1e3+e}console.log(total([3,9,4]));
//# sourceMappingURL=best.js.map
"""
MAP = """{"version":3,"sources":["best.ts"],"names":["values","sum","best","value"],"mappings":"AAAA,SAAS,MAAMA,EAA0B,\
CACvC,IAAIC,EAAM,EACNC,EAAO,GACX,UAAWC,KAASH,EAClBC,GAAOE,EACHA,EAAQD,IACVA,EAAOC,GAGX,OAAOF,EAAM,IAAOC,CACtB,\
CACA,QAAQ,IAAI,MAAM,CAAC,EAAG,EAAG,CAAC,CAAC,CAAC"}"""
BEST = """\
function total(values: number[]): number {
  let sum = 0;
  let best = -1;
  for (const value of values) {
    sum += value;
    if (value > best) {
      best = value;
    }
  }
  return sum * 1000 + best;
}
console.log(total([3, 9, 4]));
"""


async def test_a_minified_program_is_debugged_by_the_names_of_its_source(tmp_path: Path) -> None:
    needs("js-debug")
    for name, text in (("best.js", MINIFIED), ("best.js.map", MAP), ("best.ts", BEST)):
        (tmp_path / name).write_text(text)
    (tmp_path / "package.json").write_text("{}")
    holds = "sum === 16 && best === 9 && values.some(e => e === best)"
    points = [
        {"filename": "best.ts", "line": 5, "collect": ["value", "best"], "condition": "value > 3"},
        {"filename": "best.ts", "line": 6, "log_message": "sum {sum}"},
        {"filename": "best.ts", "line": 10, "condition": holds},
    ]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await read(c, "dap_run", program="best.js", breakpoints=points)
        assert "at best.ts:10 in " in stop
        assert "#1 value = 9, best = 3\n    #2 value = 4, best = 9" in stop
        assert "#1 sum 3\n  #2 sum 12\n  #3 sum 16" in stop
        assert "25" in await read(c, "dap_evaluate", expression="sum + best")


async def test_a_breakpoint_is_sent_to_the_session_that_runs_the_program_alone(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    loop = tmp_path / "loop.js"
    loop.write_text("let n = 0;\nfor (;;) {\n  n += 1;\n}\n")
    asked: list[int] = []

    def heard(session: Session, message: Message) -> None:
        if isinstance(message, Request) and message.command == "setBreakpoints":
            asked.append(session.id)

    async with (
        asyncio.timeout(LIMIT),
        Debugger(load_all(shipped()), tmp_path) as debugger,
        Client(make_server(debugger, TOOLS), extensions=DATA) as c,
    ):
        stop = await ask(c, "dap_run", program="loop.js", stop_on_entry=True)
        debugger.sessions[1].program.subscribe(heard)
        await ask(c, "dap_set_breakpoint", filename="loop.js", line=3)
        assert asked == [stop["session_id"]]
        assert (await ask(c, "dap_continue"))["line"] == 3


async def test_a_program_outside_of_the_project_has_a_project_of_its_own(
    shop: Path, tmp_path: Path
) -> None:
    (shop / "package.json").write_text("{}")
    here = tmp_path / "here"
    here.mkdir()
    source = shop / "src" / "shop.ts"
    wanted = Program(source, source).at("sum")
    async with asyncio.timeout(LIMIT), client(here) as c:
        program = str(shop / "compiled" / "shop.js")
        stop = await ask(c, "dap_run", program=program, breakpoints=[wanted])
        assert (stop["file"], stop["line"]) == (str(source), wanted["line"])


async def test_a_step_passes_the_code_of_node_by(tmp_path: Path) -> None:
    needs("js-debug")
    source = tmp_path / "events.js"
    source.write_text(
        'const { EventEmitter } = require("node:events");\n'
        "const bell = new EventEmitter();\n"
        'bell.on("ring", (times) => {\n'
        "  console.log(times);\n"
        "});\n"
        'bell.emit("ring", 3);\n'
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = {"filename": str(source), "line": 6}
        await ask(c, "dap_run", program=str(source), breakpoints=[at])
        stop = await ask(c, "dap_step_into")
        assert (stop["file"], stop["line"]) == (str(source), 4)


async def test_the_locals_of_a_module_are_its_own_variables_outside_of_functions(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    module = tmp_path / "module.mjs"
    module.write_text(
        "let total = 0;\nfunction add(n) {\n  return n + total;\n}\ntotal = add(4);\nconsole.log(total);\n"
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        wanted = [{"filename": str(module), "line": line} for line in (3, 6)]
        stop = await ask(c, "dap_run", program=str(module), breakpoints=wanted)
        assert (stop["locals"]["n"], "total" in stop["locals"]) == ("4", False)
        assert (await ask(c, "dap_continue"))["locals"]["total"] == "4"


async def test_an_error_of_a_module_at_which_node_lets_nobody_stop_is_told_with_a_way(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    (tmp_path / "fails.mjs").write_text("const n = null;\nn.length;\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program="fails.mjs")
        assert end["state"] == "ended"
        # What has ended it is told above the last lines of its output.
        assert (end["file"], end["line"]) == (str(tmp_path / "fails.mjs"), 2)
        assert end["exception"].startswith("TypeError: Cannot read properties of null")
        assert 'exception_filters=["all"] does' in end["notes"][-1]
        stop = await ask(c, "dap_run", program="fails.mjs", exception_filters=["all"], fresh=True)
        assert (stop["reason"], stop["line"]) == ("exception", 2)


async def test_a_condition_decides_which_rows_are_collected_and_which_messages_are_said(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    source = tmp_path / "odd.js"
    source.write_text(
        "let total = 0;\nfor (let i = 0; i < 6; i++) {\n  const name = `it's ${i}`;\n  total += i;\n}\n"
        "process.exitCode = total;\n"
    )
    wanted = [
        {"filename": "odd.js", "line": 4, "condition": "i > 3", "collect": ["i", "name"]},
        {"filename": "odd.js", "line": 3, "condition": "i === 2 // two", "log_message": "at {i}"},
        {"filename": "odd.js", "line": 6, "condition": "nobody > 2", "log_message": "{total}"},
    ]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program="odd.js", breakpoints=wanted)
        assert (end["state"], end["exit_code"]) == ("ended", 15)
        assert [row.partition(", name")[0].strip() for row in end["collected"][1:]] == [
            "#1 i = 4",
            "#2 i = 5",
        ]
        assert "it's 5" in end["collected"][-1]
        assert end["logged"] == ["odd.js:3 #1 at 2"]
        # It was bound, for it was evaluated there.
        assert end["breakpoints"] == {"not hit": ["odd.js:6"]}
        assert "`nobody > 2` failed at odd.js:6" in str(end["notes"])


async def test_log_points_leave_the_output_of_an_attached_program_alone_and_quote_strings(
    waits: Path,
) -> None:
    port = free_port()
    text = """["'", "8"][n % 2]"""
    wanted = {"filename": str(waits), "line": 3, "collect": [text], "max_hits": 2}
    async with (
        asyncio.timeout(LIMIT),
        started("node", f"--inspect=127.0.0.1:{port}", str(waits), says=b"listening on") as program,
        client(waits.parent) as c,
    ):
        stops = {"filename": str(waits), "line": 4, "hit_condition": "4"}
        stop = await ask(
            c, "dap_run", request="attach", port=port, type="node", breakpoints=[wanted, stops]
        )
        rows = stop["collected"]
        assert {row.partition("2] = ")[2] for row in rows[1:]} == {"'8'", "'\\''"}
        await read(c, "dap_disconnect")
        program.kill()
        assert program.stdout is not None
        assert await program.stdout.read() == b""


@pytest.fixture
def waits(tmp_path: Path) -> Path:
    """Return a program that comes to its third line again and again."""
    needs("js-debug")
    path = tmp_path / "waits.js"
    path.write_text("let n = 0;\nsetInterval(() => {\n  n += 1;\n}, 10);\n")
    return path


def ends_within(pids: Iterable[int]) -> list[bool]:
    """Return of each end of a TCP connection between two of these processes whether it sends at once."""
    found: list[bool] = []
    for pid in pids:
        for number in sockets_connected_to(pid, {*pids} - {pid}).values():
            with duplicated(pid, number) as file, socket.socket(fileno=os.dup(file)) as end:
                found.append(bool(end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
    return found


@needs_tables
@hastens
async def test_a_program_sends_its_debuggers_messages_at_once(waits: Path) -> None:
    """Else most of them wait for an acknowledgement, which takes 40 ms."""
    async with asyncio.timeout(LIMIT), client(waits.parent) as c:
        at = {"filename": str(waits), "line": 3}
        await ask(c, "dap_run", program=str(waits), breakpoints=[at])
        assert ends_within(descendants(os.getpid())) == [True, True]


async def test_a_program_is_debugged_where_its_messages_cannot_be_hastened(
    waits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is told once, and the next program is tried again."""

    def fail(*_: object) -> None:
        raise PermissionError("not here")

    async with asyncio.timeout(LIMIT), client(waits.parent) as c:
        at = {"filename": str(waits), "line": 3}
        with monkeypatch.context() as patched:
            patched.setattr("dapeer.adapters.process.children.set_nodelay_between", fail)
            stop = await ask(c, "dap_run", program=str(waits), breakpoints=[at])
        assert (stop["state"], stop["line"]) == ("stopped", 3)
        assert "not here" in str(stop["notes"])
        again = await ask(c, "dap_run", program=str(waits), breakpoints=[at])
        assert "not here" not in str(again)


@needs_tables
@hastens
async def test_a_program_that_was_attached_to_does_so_too(waits: Path) -> None:
    port = free_port()
    async with (
        asyncio.timeout(LIMIT),
        started("node", f"--inspect=127.0.0.1:{port}", str(waits), says=b"listening on"),
        client(waits.parent) as c,
    ):
        at = {"filename": str(waits), "line": 3}
        await ask(c, "dap_run", type="js-debug", request="attach", port=port, breakpoints=[at])
        assert ends_within(descendants(os.getpid())) == [True, True]


HOLES = """
class Order {
  constructor() { this._total = 3; }
  get total() { return this._total; }
}
const order = new Order();
const sparse = [];
sparse[1000] = 1;
sparse[2] = 5;
console.log(order.total);
"""


async def test_a_getter_is_shown_as_one_and_a_sparse_array_by_what_it_holds(tmp_path: Path) -> None:
    needs("js-debug")
    (tmp_path / "holes.js").write_text(HOLES)
    at = {"filename": "holes.js", "line": 10}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="holes.js", breakpoints=[at])
        listed = await ask(c, "dap_variables", path="order")
        (getter,) = [each for each in listed["variables"] if each["name"] == "total"]
        assert getter["value"] == "(getter: ask for it by its path)"
        assert "type" not in getter
        assert await read(c, "dap_variables", path="order.total") == "  order.total = 3"
        sparse = (await ask(c, "dap_variables", path="sparse", filter="indexed"))["variables"]
        held = {each["name"]: each["value"] for each in sparse if each["name"].isdigit()}
        assert held == {"2": "5", "1000": "1"}
        page = await ask(c, "dap_variables", path="sparse", filter="indexed", start=1)
        names = [each["name"] for each in page["variables"]]
        assert [each for each in names if each.isdigit()] == ["1000"]
