"""Rows that a Python program collects where it runs, without stopping."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dapeer.adapters.definition.table import installation_values
from dapeer.collecting.rows.table import FAILED
from tests.e2e.collecting import cells, collect, files, parsed, rows
from tests.e2e.running import listening
from tests.harness import ask, client, evaluate
from tests.processes import LIMIT
from tests.programs import program
from tests.pythons import python_of, versions

P = program("collected.py")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system with fork")


def point(marker: str, *expressions: str, **more: object) -> dict[str, object]:
    return {"file": str(P.source), "line": P.line(marker), "collect": expressions, **more}


GENERATOR = [(2, "main"), (2, "further")]
"""One frame of a generator has many callers."""
RECURSION = [(3, "factorial"), (3, "factorial"), (3, "main")]


def callers(folder: Path) -> list[tuple[int, str]]:
    return [(row.point, row.caller.split()[0]) for row in rows(folder) if row.point in {2, 3}]


@versions("3.8", "3.12", "3.13")
async def test_rows_tell_values_errors_threads_tasks_and_callers(
    tmp_path: Path, version: str
) -> None:
    python = python_of(version)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(P), breakpoints=[P.at("ready")], python=python)
        told = await collect(
            c, tmp_path,
            point("loop", "i", "10 // (i - 2)", "loud", "items", "missing"),
            point("generator", "i"),
            point("recursion", "n", "below"),
            point("task", "i"),
            point("loop", "total", condition="i > 2", max_hits=1),
        )  # fmt: skip
        assert [each["bound"] for each in told["points"]] == [True] * 5
        assert told["message"] == ""
        end = await ask(c, "dap_continue")
    assert (end["state"], end["output"]) == ("ended", "shown 0 1\n")
    found = [row for row in rows(tmp_path) if row.point == 1]
    assert [row.hit for row in found] == [1, 2, 3, 4, 5, 6, 7]
    assert [row.seconds for row in found] == sorted(row.seconds for row in found)
    line = P.source.read_text().splitlines().index("    loop(5)") + 1
    assert {row.caller for row in found[:5]} == {f"main collected.py:{line}"}
    assert [row.thread for row in found] == ["MainThread"] * 5 + [r"a\tb"] * 2
    assert [row.cells[0] for row in found[:5]] == list("01234")
    # The list is what it was at the time.
    assert [row.cells[3] for row in found[:3]] == ["[0]", "[0, 1]", "[0, 1, 2]"]
    assert found[2].cells[1].startswith(f"{FAILED}ZeroDivisionError: ")
    assert found[3].cells[1:3] == ("10", "<Loud: number=3>")
    unknown = "no `missing` in any scope of loop"
    assert {row.cells[4] for row in found} == {f"{FAILED}NameError: {unknown}"}
    assert cells(tmp_path, 2) == [("0",), ("1",), ("2",), ("0",), ("1",)]
    assert cells(tmp_path, 3) == [("1", "1"), ("2", "1"), ("3", "2")]
    assert callers(tmp_path)[3:] == GENERATOR + RECURSION
    tasks = [(row.task, *row.cells) for row in rows(tmp_path) if row.point == 4]
    assert sorted(tasks) == [("left", "0"), ("left", "1"), ("right", "0"), ("right", "1")]
    assert cells(tmp_path, 5) == [("-15",)]


@versions("3.13")
async def test_breakpoints_and_steps_hold_beside_it_and_it_ends_when_it_is_told_to(
    tmp_path: Path, version: str
) -> None:
    python = python_of(version)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(P), breakpoints=[P.at("ready")], python=python)
        await collect(c, tmp_path, point("loop", "i"), point("double", "number"))
        await ask(c, "dap_set_breakpoint", **P.at("loop", condition="i == 3"))
        stop = await ask(c, "dap_continue")
        assert (stop["line"], stop["locals"]["i"]) == (P.line("loop"), "3")
        before = len(cells(tmp_path))
        assert before in {3, 4}
        stop = await ask(c, "dap_step_over")
        assert stop["line"] == P.line("loop") - 3
        await ask(c, "dap_set_breakpoint", **P.at("double"))
        stop = await ask(c, "dap_continue")
        assert stop["line"] == P.line("double")
        # What the frame that runs collects changes at once.
        assert len(cells(tmp_path)) == 5
        assert (await collect(c, tmp_path))["points"] == []
        await ask(c, "dap_remove_breakpoint", **P.at("double"))
        assert (await ask(c, "dap_continue"))["state"] == "ended"
    assert len(rows(tmp_path)) in {5, 6}


async def test_an_expression_that_hangs_is_cut_off_and_gets_a_tenth_of_the_time(
    tmp_path: Path,
) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(P), breakpoints=[P.at("ready")])
        await collect(
            c, tmp_path, point("loop", "loud.forever", "i", "loud.counted"), point("double", "number"),
            seconds=0.05,
        )  # fmt: skip
        end = await ask(c, "dap_continue")
    assert (end["state"], end["output"]) == ("ended", "shown 0 1\n")
    found = cells(tmp_path)
    cut = f"{FAILED}cut off: it took longer than 0.05 s"
    assert [each[0] for each in found[:3]] == [cut] * 3
    waits = f"{FAILED}not evaluated here: its failures took more than a tenth of the time"
    assert found[3][0] == waits
    assert [each[1:] for each in found[:3]] == [("0", "0"), ("1", "2"), ("2", "4")]
    # What an expression runs is not collected: only the tasks' calls are.
    assert len(cells(tmp_path, 2)) == 4


async def test_what_does_not_parse_or_has_no_code_is_refused_and_the_rest_is_collected(
    tmp_path: Path,
) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(P), breakpoints=[P.at("ready")])
        told = await collect(
            c, tmp_path, point("loop", "i +"), point("loop", "(yield)"),
            {**point("loop", "i"), "line": 10_000}, {**point("loop", "i"), "line": P.line("double") + 1},
            point("loop", "i"),
        )  # fmt: skip
        assert [each["bound"] for each in told["points"]] == [False, False, False, True, True]
        assert told["points"][0]["message"] == "`i +` does not parse: invalid syntax"
        assert "no code on line 10000" in told["points"][2]["message"]
        assert told["points"][3]["line"] == P.line("double") + 3
        await ask(c, "dap_continue")
    assert {row.point for row in rows(tmp_path)} == {5}


async def test_a_killed_program_keeps_what_was_collected(tmp_path: Path) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(P), breakpoints=[P.at("ready"), P.at("over")])
        await collect(c, tmp_path, point("loop", "i"))
        await ask(c, "dap_continue")
        os.kill(int(await evaluate(c, "os.getpid()")), signal.SIGKILL)
        assert [each[0] for each in cells(tmp_path)] == list("0123401")


@needs_fork
@versions("3.13")
async def test_a_forked_process_writes_rows_of_its_own(tmp_path: Path, version: str) -> None:
    python, config = python_of(version), {"subProcess": False}
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(P), args=["fork"], breakpoints=[P.at("ready")],
                  config=config, python=python)  # fmt: skip
        told = await collect(c, tmp_path, point("loop", "i", "os.getpid()"))
        assert (await ask(c, "dap_continue"))["state"] == "ended"
    found = {each.pid: parsed(each) for each in files(tmp_path)}
    mine = found.pop(int(Path(told["file"]).stem))
    ((child, its),) = found.items()
    assert [row.hit for row in mine] == [1, 2, 3, 4, 5, 6, 7]
    assert [(row.hit, *row.cells) for row in its] == [(1, "0", str(child)), (2, "1", str(child))]


TURNS = """
import sys
import time


def turn(i):
    half = i / 2
    return half


turns = 0
while True:
    turns += 1
    turn(turns)
    if "dapeer_debuggee.collecting.collecting" not in sys.modules and turns < 0:
        print("left", flush=True)
        break
    turns = -abs(turns) if "dapeer_debuggee.collecting.collecting" in sys.modules else turns
    time.sleep(0.01)
    print("up", flush=True) if turns == 1 else None
"""
"""Says so when it was collected from and is no more."""
BY_TEXT = """(lambda texts, known, spec, *names: exec(texts["python/dapeer_debuggee/arriving.py"], known)
or known["collect"](texts, spec, *names))({!r}, {{"__name__": "dapeer"}}, {!r}, locals(), globals())"""


async def test_a_program_that_is_attached_to_is_collected_from_by_text_until_the_debugger_goes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "turns.py"
    path.write_text(TURNS, encoding="utf-8")
    texts = texts_of_modules()
    place = {"filename": str(path), "line": 8}
    spec = {"folder": str(tmp_path), "points": [
        {"id": 1, "file": str(path), "line": 8, "collect": ["half * 2 == i"], "max_hits": 3}
    ]}  # fmt: skip
    async with asyncio.timeout(LIMIT), client() as c, listening(path) as (process, port):
        await ask(c, "dap_run", request="attach", type="python", port=port, breakpoints=[place])
        await evaluate(c, BY_TEXT.format(texts, json.dumps(spec)), context="repl")
        for _ in range(3):
            await ask(c, "dap_continue")
        await ask(c, "dap_disconnect")
        assert process.stdout is not None
        while await process.stdout.readline() != b"left\n":
            pass
    assert cells(tmp_path) == [("True",)] * 3


LOOKED_AT = """
import json, pathlib, sys
import debugpy

debugpy.listen(("127.0.0.1", 0), in_process_debug_adapter=False)
texts, folder = json.load(sys.stdin)
known = {"__name__": "dapeer"}
exec(texts["python/dapeer_debuggee/arriving.py"], known)

def work():
    done = 1
    return done

def collects(*points):
    spec = json.dumps({"folder": folder, "points": points})
    known["collect"](texts, spec, locals(), globals())
    written = rows()
    work()
    return rows() != written

def rows():
    return [each.read_bytes() for each in pathlib.Path(folder).glob("*.rows")]

def ours():
    return {each for each in sys.modules if each.startswith("dapeer_debuggee")}

known["look"](texts, "{}")
print(len(ours()))
print(collects({"id": 1, "file": __file__, "line": work.__code__.co_firstlineno + 2, "collect": ["done"]}))
before = ours()
known["look"](texts, "{}")
print(ours() == before)
print(collects())
print(len(ours()), flush=True)
"""
"""Says what a look leaves of our modules, and whether rows are written while there are points and afterwards."""


def test_a_look_removes_only_what_it_brought_and_a_collector_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "looked_at.py"
    path.write_text(LOOKED_AT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-X", "frozen_modules=off", str(path)],
        input=json.dumps([texts_of_modules(), str(tmp_path)]),
        capture_output=True, text=True, timeout=LIMIT, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["0", "True", "True", "False", "0"]


def texts_of_modules() -> dict[str, str]:
    """Return the sources of the modules in a debuggee, by their paths."""
    launchers = Path(str(installation_values()["launchers"]))
    modules = (launchers / "python" / "dapeer_debuggee").rglob("*.py")
    return {each.relative_to(launchers).as_posix(): each.read_text() for each in modules}


MANY = """
import threading


def inner(n, value):
    kept = value
    if n:
        inner(n - 1, value)
    kept = n
    return kept


def left():
    for i in range(100):
        inner(2, i)


def right():
    for i in range(100):
        inner(1, [i / 2, None, i > 50, 1 << 63, "text"][i % 5])


breakpoint()
left()
right()
thread = threading.Thread(target=left, name="other")
thread.start()
thread.join()
"""
"""Functions that come by the same lines often: recursive, from several callers and threads, with values of all types."""


@versions("3.8", "3.9", "3.12", "3.13")
async def test_of_many_rows_each_tells_its_own_caller_thread_and_values(
    tmp_path: Path, version: str
) -> None:
    path = tmp_path / "many.py"
    path.write_text(MANY, encoding="utf-8")
    points: list[dict[str, object]] = [
        {"file": str(path), "line": MANY.splitlines().index(line) + 1, "collect": ["n", "value"]}
        for line in ("    kept = value", "    return kept")
    ]
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(path), python=python_of(version))
        await collect(c, tmp_path, *points)
        assert (await ask(c, "dap_continue"))["state"] == "ended"
    values = ["{}", "None", "{}", str(1 << 63), "'text'"]
    plain = [(i, values[i % 5].format(i / 2 if i % 5 == 0 else i > 50)) for i in range(100)]
    top = [("left", "MainThread", 2, str(i)) for i in range(100)]
    top += [("right", "MainThread", 1, value) for _, value in plain]
    top += [("left", "other", 2, str(i)) for i in range(100)]
    for point_id, deepest_first in ((1, False), (2, True)):
        wanted = [
            (thread, caller if n == depth else "inner", str(n), value)
            for caller, thread, depth, value in top
            for n in (range(depth + 1) if deepest_first else range(depth, -1, -1))
        ]
        found = [row for row in rows(tmp_path) if row.point == point_id]
        assert [(row.thread, row.caller.split()[0], *row.cells) for row in found] == wanted
        assert [row.hit for row in found] == [*range(1, len(wanted) + 1)]
