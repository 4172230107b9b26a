"""A breakpoint that collects stops nobody: each hit is a row, and what could not be collected is said."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client

from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.server.server import make_server
from dapeer.peers import Peers
from dapeer.sessions.debugger.debugger import Debugger
from tests.harness import DATA, ask, client, evaluate, listed, needs, read, refusal
from tests.processes import LIMIT
from tests.programs import ROOT, Program
from tests.pythons import python_of, versions

CART_JS = """
function total(items, index) {
  const name = index === 3 ? undefined : "multi\\nline | " + index;
  return items.length + index; // @total
}
let sum = 0;
for (let index = 0; index < 12; index++) sum += total([1, 2], index);
console.log("sum", sum);
"""
CART_C = """
#include <stdio.h>
static int total(int index, const char *name) {
    int value = index * 2;
    return value; // @total
}
int main(void) {
    int sum = 0;
    for (int index = 0; index < 12; index++) sum += total(index, index == 3 ? 0 : "a\\n|b");
    printf("sum %d\\n", sum);
    return 0;
}
"""


def written(folder: Path, name: str, text: str) -> Program:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return Program(path, path)


async def test_log_points_bring_rows_of_several_expressions_each_with_its_own_errors(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    p = written(tmp_path, "cart.js", CART_JS)
    point = p.at("total", collect=["name", "index", "items.length", "index > 9 ? lost : 'there'"])
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(p), breakpoints=[point])
        rows = "\n".join(end["collected"])
        assert end["collected"][0] == f"cart.js:{p.line('total')}: 12 rows, log points"
        assert "always items.length = 2" in rows
        assert "#4 name = undefined, index = 3" in rows
        assert "'multi\\nline | 0'" in rows
        assert "(ReferenceError: lost is not defined)" in rows
        # What is collected is no output, and hides none.
        assert end["output"] == "sum 90\n"
        assert "logged" not in end
        assert "breakpoints" not in end


LOOPS = {
    "js-debug": ("loop.js", "let sum = 0;\nfor (let i = 0; i < 1e6; i++) {\n  sum += i; // @sum\n}\nconsole.log(sum);\n"),
    "delve": ("loop.go", "package main\n\nfunc main() {\n\tsum := 0\n\tfor i := 0; i < 1e6; i++ {\n\t\tsum += i // @sum\n\t}\n\tprintln(sum)\n}\n"),
    "jdi": ("Loop.java", "class Loop {\n  public static void main(String[] a) {\n    long sum = 0;\n    for (int i = 0; i < 1000000; i++) {\n      sum += i; // @sum\n    }\n    System.out.println(sum);\n  }\n}\n"),
}  # fmt: skip


@pytest.mark.parametrize("adapter", LOOPS)
async def test_a_log_point_is_gone_once_it_has_brought_the_rows_that_were_wanted(
    tmp_path: Path, adapter: str
) -> None:
    needs(adapter)
    p = written(tmp_path, *LOOPS[adapter])
    # Each hit of a million would take minutes.
    point = p.at("sum", collect=["i"], max_hits=20)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(p), breakpoints=[point])
        assert (end["state"], end["output"]) == ("ended", "499999500000\n")
        assert ": 20 rows, then removed" in end["collected"][0]
        assert end["collected"][-1] == "  #20 i = 19"
        assert "breakpoints" not in end
        # It is there again in the next run.
        end = await ask(c, "dap_restart")
        assert ": 20 rows, then removed" in end["collected"][0]


async def test_native_programs_collect_by_log_points(tmp_path: Path) -> None:
    needs("gdb")
    source = written(tmp_path, "cart.c", CART_C)
    built = tmp_path / "cart"
    command = ["gcc", "-g", "-O0", "-o", str(built), str(source)]
    assert await (await asyncio.create_subprocess_exec(*command)).wait() == 0
    wanted = {"condition": "index != 5", "max_hits": 10}
    point = source.at("total", collect=["index", "name", "nowhere"], **wanted)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(built), type="gdb", breakpoints=[point])
        assert end["collected"][0] == "cart.c:5: 10 rows, 11 hits, log points"
        rows = "\n".join(end["collected"])
        assert 'always nowhere = (No symbol "nowhere" in current context.)' in rows
        assert "#4 index = 3, name = 0x0" in rows
        assert end["output"] == "sum 132\n"


async def test_what_an_adapter_cannot_is_said_by_name_and_stops_nobody(tmp_path: Path) -> None:
    needs("rdbg")
    p = written(tmp_path, "cart.rb", "total = 1\nputs total # @total\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        points = [p.at("total", collect=["total"])]
        end = await ask(c, "dap_run", program=str(p), breakpoints=points)
        assert end["state"] == "ended"
        assert end["breakpoints"] == {"not collected": ["cart.rb:2 (rdbg has no log points)"]}


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"collect": ["total +"]}, "`total +` does not parse: invalid syntax."),
        ({"collect": ["x = 1"]}, "`x = 1` does not parse"),
        ({"collect": ["x"], "condition": "if"}, "`if` does not parse"),
        ({"collect": ["x\0"]}, "does not parse"),
        ({"collect": ["(" * 500]}, "does not parse"),
        ({"collect": [" "]}, "An expression of `collect` is empty."),
        ({"collect": ["x"] * 31}, "`collect` takes 30 expressions"),
        ({"collect": ["x"], "log_message": "{x}"}, "`collect` and `log_message` exclude each other."),
        ({"collect": ["x"], "hit_condition": "3"}, "`collect` and `hit_condition` exclude"),
        ({"max_hits": 3}, "`max_hits` is for `collect`."),
    ],
)  # fmt: skip
async def test_what_cannot_be_collected_is_refused_before_anything_runs(
    tmp_path: Path, wanted: dict[str, object], why: str
) -> None:
    path = tmp_path / "shop.py"
    path.write_text("x = 1\n", encoding="utf-8")
    async with client(tmp_path) as c:
        point = {"filename": str(path), "line": 1, **wanted}
        assert why in await refusal(c, "dap_run", program=str(path), breakpoints=[point])
        assert why in await refusal(c, "dap_set_breakpoint", **point)
        assert await read(c, "dap_breakpoints") == "No breakpoints."
        assert (await ask(c, "dap_status"))["sessions"] == []


SHOP = """
import threading


def price(number):
    if number == 211:
        return None
    return number * 10


def total(count):
    whole = 0
    for number in range(count):
        cost = price(number)
        whole += cost or 0  # @cost
    return whole


thread = threading.Thread(target=total, args=(300,), name="counts")
thread.start()
thread.join()
print("done")  # @done
"""


LATE = """\
import threading
total = 0  # @first
threading.Event().wait()
print(total)  # @late
"""


async def test_a_point_without_a_row_is_named_while_the_program_lives(tmp_path: Path) -> None:
    p = written(tmp_path, "late.py", LATE)
    points = [p.at("first"), p.at("late", collect=["total"])]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=points)
        assert await refusal(c, "dap_collected") == (
            "No row has come yet of: late.py:4. The program is stopped: dap_continue goes on."
        )
        await read(c, "dap_continue", wait_until_paused=False)
        assert await refusal(c, "dap_collected") == (
            "No row has come yet of: late.py:4. The program runs on: ask again."
        )
        await read(c, "dap_terminate")
        assert "Nothing was collected. " in await refusal(c, "dap_collected")


async def test_one_call_finds_the_odd_one_of_a_whole_run_and_another_looks_closer(
    tmp_path: Path,
) -> None:
    p = written(tmp_path, "shop.py", SHOP)
    point = p.at("cost", collect=["cost", "count", "lost"])
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        # Codex reads the list once, so these are there from the start.
        assert {"dap_collected", "dap_call"} <= await listed(c)
        assert "no debug session" in await refusal(c, "dap_collected")
        end = await ask(c, "dap_run", program=str(p), breakpoints=[point])
        rows = end["collected"]
        assert end["state"] == "ended"
        assert rows[0].startswith(f"shop.py:{p.line('cost')} from Thread.run")
        assert ": 300 rows, tracer" in rows[0]
        assert "thread = counts, count = 300, lost = (NameError: no `lost`" in rows[1]
        assert "  #212 cost = None  ← cost the only None" in rows
        # What was told once is not told again; whoever wants more asks for it, also after the end.
        assert "collected" not in await ask(c, "dap_wait_until_paused")
        near = await read(c, "dap_collected", rows="211-213", at="shop.py:15")
        assert near.endswith("#211 cost = 2100\n  #212 cost = None\n  #213 cost = 2120")
        assert "#212" in await read(c, "dap_collected", where="cost is None")
        assert "caller Thread.run" in await read(c, "dap_collected", by="caller")
        assert "▁" in await read(c, "dap_collected", plot=True)
        assert "There are rows of: shop.py:15." in await refusal(c, "dap_collected", at="x.py:1")
        assert "no range of rows" in await refusal(c, "dap_collected", rows="x")
        assert "knows no `open('x')`" in await refusal(c, "dap_collected", where="open('x')")


EXPECTED = """
def settle(totals):
    paid = 0
    for total in totals:

        paid += total or 0  # @paid
    return paid


print(settle([1, 2, None, 4]))
"""


async def test_the_condition_of_what_is_expected_is_evaluated_once_per_hit(tmp_path: Path) -> None:
    p = written(tmp_path, "paid.py", EXPECTED)
    point = {"filename": str(p), "line": p.line("paid"), "expect": "total is not None"}
    counted = "__import__('sys').path.append('') or total != 2"
    before = "__import__('sys').path.count('')"
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), stop_on_entry=True)
        count = int(await evaluate(c, before))
        await ask(c, "dap_set_breakpoint", **point, condition=counted)
        stop = await ask(c, "dap_continue")
        assert (stop["state"], stop["line"]) == ("stopped", p.line("paid"))
        assert [each.partition(" total")[2] for each in stop["collected"][1:]] == [
            " = 1",
            " = None  ← not (total is not None)",
        ]
        assert int(await evaluate(c, before)) == count + 3


@versions("3.8", "3.11", "3.13")
async def test_it_stops_where_what_is_expected_does_not_hold_with_the_row_before(
    tmp_path: Path, version: str
) -> None:
    p = written(tmp_path, "paid.py", EXPECTED)
    line = p.line("paid")
    point = {"filename": str(p), "line": line - 1, "expect": "total is not None"}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        python = python_of(version)
        stop = await ask(c, "dap_run", program=str(p), python=python, breakpoints=[point])
        assert (stop["state"], stop["function"], stop["line"]) == ("stopped", "settle", line)
        assert stop["collected"][1:] == [
            "  #2 total = 2",
            "  #3 total = None  ← not (total is not None)",
        ]
        assert stop["breakpoints"] == {"moved": [f"paid.py:{line - 1} → {line}"]}
        assert "expects total is not None" in await read(c, "dap_breakpoints")
        assert (await ask(c, "dap_step_over"))["line"] == line - 2
        wrong: dict[str, dict[str, object]] = {
            "`expect` is for a line": {"function": "settle", "expect": "total"},
            "`column` is for a line": {"function": "settle", "column": 3},
            "`at` is for a line": {"calls": ["settle"], "at": "total"},
            "exclude each other": {**point, "hit_condition": "3"},
            "does not parse": {**point, "expect": "total is"},
        }
        for why, given in wrong.items():
            assert why in await refusal(c, "dap_set_breakpoint", **given)
        (tmp_path / "cart.js").write_text("let total = 1;\n")
        js = {"filename": "cart.js", "line": 1, "expect": "total > 1"}
        told = await refusal(c, "dap_set_breakpoint", **js)
        assert 'condition="!(total > 1)"' in told
        end = await ask(c, "dap_continue")
        assert (end["state"], end["output"]) == ("ended", "7\n")
        order = await read(c, "dap_collected", timeline=True)
        assert "#4 paid.py" in order


async def test_collecting_begins_changes_and_ends_while_a_program_is_stopped(
    tmp_path: Path,
) -> None:
    source = "def f(n):\n    return n  # @f\n\n\nf(1)\nf(2)  # @first\nf(3)\nf(4)  # @second\nf(5)\nprint()  # @end\n"
    p = written(tmp_path, "steps.py", source)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stops = [p.at(name) for name in ("first", "second", "end")]
        await ask(c, "dap_run", program=str(p), breakpoints=stops)
        place = p.at("f")
        told = await read(c, "dap_set_breakpoint", **place, collect="n", condition="n > 2")
        assert "verified" in told
        assert "collects n" in told
        second = await ask(c, "dap_continue")
        assert second["line"] == p.line("second")
        assert second["collected"] == [
            "steps.py:2 from <module> steps.py:7: 1 row, tracer",
            "  #1 n = 3",
        ]
        await ask(c, "dap_set_breakpoint", **place, collect=["n", "n * 2"])
        third = await ask(c, "dap_continue")
        assert "n * 2 = 10" in "\n".join(third["collected"])
        await ask(c, "dap_remove_breakpoint", **place)
        assert "collected" not in await ask(c, "dap_restart")


async def test_a_killed_program_keeps_what_it_has_collected(tmp_path: Path) -> None:
    source = "import os, signal\nfor number in range(50):\n    cost = number  # @cost\nos.kill(os.getpid(), signal.SIGKILL)\n"
    p = written(tmp_path, "killed.py", source)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        points = [p.at("cost", collect=["number"])]
        end = await ask(c, "dap_run", program=str(p), breakpoints=points)
        # Who has buried the process first has seen the signal, or only an exit code.
        assert end["cause"].removeprefix("probably ") == "killed by SIGKILL"
        assert "50 rows" in end["collected"][0]
        assert end["collected"][-1] == "  #50 number = 49"


async def test_rows_that_a_program_could_not_write_are_told(tmp_path: Path) -> None:
    pytest.importorskip("resource", reason="a program's files are limited on POSIX only")
    source = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))\nfor n in range(9):\n    n += 1  # @n\n"
    p = written(tmp_path, "full.py", source)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("n", collect=["n"])])
        assert end["collected"] == [
            "9 rows lost: the program could not write what it collected (File too large)"
        ]


@asynccontextmanager
async def two_assistants(project: Path) -> AsyncGenerator[tuple[Client, Client]]:
    """Serve two clients the same sessions."""
    async with (
        asyncio.timeout(LIMIT),
        Debugger(load_all(shipped()), project) as debugger,
        Peers(debugger) as peers,
        Client(make_server(debugger, TOOLS, peers=peers), extensions=DATA) as other,
        Client(make_server(debugger, TOOLS, peers=peers), extensions=DATA) as one,
    ):
        yield one, other


async def test_what_two_assistants_collect_on_one_line_is_not_mixed(tmp_path: Path) -> None:
    p = written(tmp_path, "shop.py", SHOP)
    cost = p.at("cost", collect=["cost"])
    async with two_assistants(tmp_path) as (one, other):
        only_last = {"condition": "number > 290", "collect": ["number", "count"]}
        await ask(other, "dap_set_breakpoint", **p.at("cost", **only_last))
        stop = await ask(one, "dap_run", program=str(p), breakpoints=[cost, p.at("done")])
        assert "300 rows" in stop["collected"][0]
        assert "number" not in "\n".join(stop["collected"])
        theirs = await ask(other, "dap_snapshot", session_id=1)
        assert "9 rows" in theirs["collected"][0]
        # Each takes away its own.
        await ask(other, "dap_remove_breakpoint", **p.at("cost"))
        assert "(of another assistant)\n" in await read(other, "dap_breakpoints")
        told = await read(other, "dap_clear_breakpoints")
        assert told == "Removed 1 breakpoint.\n(1 of other assistants stay: they collect)"
        end = await ask(one, "dap_restart")
        assert "300 rows" in end["collected"][0]
        assert "Nothing was collected." in await refusal(other, "dap_collected", session_id=2)


async def test_log_points_of_one_line_bring_the_rows_of_two_assistants(tmp_path: Path) -> None:
    needs("js-debug")
    p = written(tmp_path, "cart.js", CART_JS)
    async with two_assistants(tmp_path) as (one, other):
        await ask(
            other, "dap_set_breakpoint", **p.at("total", condition="index > 8", collect="name")
        )
        points = [p.at("total", collect=["index", "lost"])]
        end = await ask(one, "dap_run", program=str(p), breakpoints=points)
        assert "12 rows, log points" in end["collected"][0]
        assert "always lost = (ReferenceError: lost is not defined)" in end["collected"][1]
        theirs = await ask(other, "dap_snapshot", session_id=1)
        assert "3 rows, log points" in theirs["collected"][0]
        assert "'multi" in theirs["collected"][-1]
        # What one collects does not keep the other from stopping there; then it says that it does not.
        await ask(other, "dap_set_breakpoint", **p.at("total"))
        stop = await ask(one, "dap_restart")
        assert stop["line"] == p.line("total")
        why = f"cart.js:{p.line('total')} (js-debug cannot collect where a breakpoint stops)"
        assert stop["breakpoints"]["not collected"] == [why]


async def test_what_an_assistant_collects_ends_when_it_goes(tmp_path: Path) -> None:
    p = written(tmp_path, "shop.py", SHOP)
    async with (
        asyncio.timeout(LIMIT),
        Debugger(load_all(shipped()), tmp_path) as debugger,
        Peers(debugger) as peers,
        Client(make_server(debugger, TOOLS, peers=peers), extensions=DATA) as stays,
    ):
        async with Client(make_server(debugger, TOOLS, peers=peers), extensions=DATA) as goes:
            await ask(goes, "dap_set_breakpoint", **p.at("cost", collect=["cost"]))
            await ask(goes, "dap_set_breakpoint", function="main", collect=["cost"])
            await ask(goes, "dap_set_breakpoint", **p.at("done"))
            assert "collects cost" in await read(stays, "dap_breakpoints")
        left = await ask(stays, "dap_breakpoints")
        assert [each["line"] for each in left["breakpoints"]] == [p.line("done")]
        assert "collecting" not in left


async def test_the_demo_finds_the_bug_of_the_shop_in_one_call() -> None:
    command = (sys.executable, "-m", "dapeer", "demo", "--collect")
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
    )
    async with asyncio.timeout(LIMIT):
        out, _ = await process.communicate()
    told = out.decode()
    assert process.returncode == 0, told
    assert told.count("\n→ ") == 1
    assert "#1 total = 90.0, self.discount = 0.1" in told
    assert "in line 27. Return `total` there." in " ".join(told.split())
