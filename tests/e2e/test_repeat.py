"""A program is run again and again until a run fails, which stays stopped at its failure."""

import asyncio
import os
import signal
import sys
from functools import partial
from pathlib import Path

import anyio
import pytest
from mcp import Client

from dapeer.adapters.definition.definition import load_all, shipped, user_folder
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.server.server import make_server
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.debugger.registry import SessionChange
from tests.harness import (
    FAKE_PROGRAM,
    adapters,
    ask,
    call,
    client,
    fake,
    needs,
    printed,
    read,
    refusal,
    text,
)
from tests.processes import LIMIT, process_gone
from tests.programs import ROOT, compiled, program

HERE = {"python": sys.executable, "repeat": 3}


def flaky(tmp_path: Path, failing: int, how: str = "raise") -> dict[str, object]:
    """Return the arguments of a Python program that fails in one of its runs."""
    args = [str(tmp_path / "runs"), str(failing), how]
    return {"program": str(program("flaky.py")), "args": args, **HERE}


def daemons(tmp_path: Path) -> list[int]:
    """Return the processes that its runs have started, and did not wait for."""
    return list(map(int, (tmp_path / "runs").read_text("utf-8").split()))


@pytest.mark.parametrize("kind", ["debugpy", "js-debug", "gdb"])
async def test_the_run_that_fails_stays_stopped_at_its_failure(kind: str, tmp_path: Path) -> None:
    needs(kind)
    own = {"debugpy": "flaky.py", "js-debug": "flaky.js"}
    p = compiled("flaky.c", tmp_path) if kind == "gdb" else program(own[kind])
    args = [str(tmp_path / "runs"), "2", "raise"]
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), type=kind, args=args, **HERE)
        assert stop["state"] == "stopped"
        assert any(f"{p.source.name}:{p.line('fail')}" in frame for frame in stop["stack"])
        runs = stop["runs"]
        assert (runs["run"], runs["of"], runs["outcome"], runs["passed"]) == (2, 3, "failed", 1)
        passed = runs["passed_session"]
        assert (await ask(c, "dap_snapshot", session_id=passed))["state"] == "ended"
        assert "run 1" in (await ask(c, "dap_program_output", session_id=passed))["text"]


async def test_runs_that_pass_end_with_all_that_they_have_started_and_the_last_one_is_kept(
    tmp_path: Path,
) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        told = await read(c, "dap_run", **flaky(tmp_path, 0, "pass"))
        assert told.startswith("All 3 runs passed, ")
        assert "exit code 0" in told
        started = daemons(tmp_path)
        assert len(started) == 3
        for pid in started:
            await process_gone(pid)
        assert [each["session_id"] for each in (await ask(c, "dap_status"))["sessions"]] == [3]
        assert "There is no session 2" in await refusal(c, "dap_snapshot", session_id=2)


async def test_what_runs_have_left_running_is_named(tmp_path: Path) -> None:
    """Daemons of each run, which end with nothing of ours."""
    starts = "import subprocess as s\np = s.Popen(['sleep', '60'], start_new_session=True, stdout=s.DEVNULL, stderr=s.DEVNULL)\n"
    (tmp_path / "a.py").write_text(f"{starts}open('pids', 'a').write(f'{{p.pid}} ')\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        told = await read(c, "dap_run", program="a.py", repeat=3)
    left = [int(each) for each in (tmp_path / "pids").read_text("utf-8").split()]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert len(left) == 3
    [note] = [line for line in told.splitlines() if "still running" in line]
    assert all(f"{pid} (sleep 60)" in note for pid in left)


@pytest.mark.parametrize(
    ("name", "source", "unknown"),
    [
        ("a.py", "def one(n):\n    return n\nfor i in range(3):\n    one(i)\n", "name 'nobody' is not defined"),
        ("a.js", "function one(n) {\n  return n;\n}\nfor (let i = 0; i < 3; i++) one(i);\n", "nobody is not defined"),
    ],
)  # fmt: skip
async def test_a_condition_that_fails_at_each_hit_ends_the_repetition_with_the_first_run(
    tmp_path: Path, name: str, source: str, unknown: str
) -> None:
    needs("debugpy" if name.endswith("py") else "js-debug")
    (tmp_path / name).write_text(source)
    point = {"filename": name, "line": 2, "condition": "nobody > 1"}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        told = await read(c, "dap_run", program=name, repeat=5, breakpoints=[point])
        first = told.splitlines()[0]
        assert first.startswith(f"Run 1 of 5 says nothing (`nobody > 1` of {name}:2 failed ")
        assert unknown in first
        # One that holds somewhere has told something.
        point["condition"] = "n === 1" if name == "a.js" else "n == 1 or (n == 2 and missing)"
        stop = await ask(c, "dap_run", program=name, repeat=5, breakpoints=[point])
        assert stop["state"] == "stopped"


async def test_an_exit_code_is_a_failure_where_nothing_stops(tmp_path: Path) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        told = await read(c, "dap_run", **flaky(tmp_path, 1, "exit"), exception_filters=[])
        assert told.startswith("Run 1 of 3 failed.\nEnded, exit code 3")
        assert "run 1" in told


async def test_a_breakpoint_ends_the_repetition_unless_it_is_until_a_failure(
    tmp_path: Path,
) -> None:
    asked = {**flaky(tmp_path, 2), "breakpoints": [program("flaky.py").at("run")]}
    async with asyncio.timeout(LIMIT), client() as c:
        first = await read(c, "dap_run", **asked)
        assert first.startswith("Run 1 of 3 stopped.\nStopped (breakpoint)")
        told = await read(c, "dap_run", **asked, until="failure", fresh=True)
        assert told.startswith("Run 1 of 3 failed. Continued from 1 stop without a failure.\n")
        assert "AssertionError: raise" in told


async def test_a_run_that_hangs_is_left_as_it_is_with_a_way_to_go_on(tmp_path: Path) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        told = await read(c, "dap_run", **flaky(tmp_path, 1, "hang"), timeout_ms=100)
        assert told.startswith("Run 1 of 3 still runs. dap_run with repeat=3 goes on.\n")
        assert "Still running" in told
        assert "run 1" in await printed(c)


PARTLY_SKIPPED = """\
import unittest
class A(unittest.TestCase):
    @unittest.skip('later')
    def test_a(self): pass
    def test_b(self): pass
"""
AS_PROGRAM = "it ran as a program; dap_run with program=test_it.py:: runs the tests of the file"


@pytest.mark.parametrize(
    ("source", "asked", "said"),
    [
        ("def test_a():\n    assert 0\nprint('imported')\n", {"program": "test_it.py", "type": "python"}, f"ran no test ({AS_PROGRAM})."),
        ("import pytest\n@pytest.mark.skip\ndef test_a(): pass\n", {"program": "test_it.py::"}, "ran no test (its output says so)."),
        ("def test_a(): pass\n", {"module": "pytest", "args": "test_it.py -k none"}, "ran no test (its output says so)."),
        ("import unittest\nclass A(unittest.TestCase):\n    pass\n", {"module": "unittest", "args": ["test_it"]}, "ran no test (its output says so)."),
        (PARTLY_SKIPPED, {"module": "unittest", "args": ["test_it"]}, ""),
        ("def test_a(): pass\nif __name__ == '__main__': test_a()\n", {}, ""),
        ("print('a script')\n", {}, ""),
        ("def test_a(): pass\n", {"program": "test_it.py::test_a"}, ""),
    ],
    ids=["as-program", "skipped", "deselected", "unittest", "partly-skipped", "main", "script", "passed"],
)  # fmt: skip
async def test_a_run_in_which_no_test_ran_is_none_that_passed(
    source: str, asked: dict[str, object], said: str, tmp_path: Path
) -> None:
    if source == PARTLY_SKIPPED and sys.version_info[:3] == (3, 12, 1):
        pytest.skip("needs another Python: unittest of 3.12.1 alone does not count what is skipped")
    tmp_path.joinpath("test_it.py").write_text(source, encoding="utf-8")
    wanted = asked or {"program": "test_it.py"}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        told = await read(c, "dap_run", **wanted, python=sys.executable, repeat=2)
        assert told.startswith(f"Run 1 of 2 {said}" if said else "All 2 runs passed, "), told


async def test_a_run_that_somebody_ends_is_the_last_and_no_failure(tmp_path: Path) -> None:
    asked = {**flaky(tmp_path, 1, "hang"), "breakpoints": [program("flaky.py").at("hang")]}
    runs_on = asyncio.Event()
    definitions = load_all(shipped(), user_folder())
    async with (
        asyncio.timeout(LIMIT),
        Debugger(definitions, ROOT) as debugger,
        Client(make_server(debugger, TOOLS)) as c,
    ):

        def heard(change: SessionChange) -> None:
            mirror = debugger.sessions[1].mirror
            if change.kind == "state" and mirror.epoch and mirror.stop is None:
                runs_on.set()

        debugger.sessions.subscribe(heard)
        waiting = asyncio.create_task(read(c, "dap_run", **asked, until="failure"))
        await runs_on.wait()
        await read(c, "dap_terminate", session_id=1)
        assert (await waiting).startswith("Run 1 of 3 was ended. Continued from 1 stop")


async def test_a_repetition_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    told: asyncio.Queue[tuple[float, float | None, str | None]] = asyncio.Queue()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        await told.put((progress, total, message))

    async with asyncio.timeout(LIMIT), client() as c:
        async with anyio.create_task_group() as tasks:
            asked = flaky(tmp_path, 2, "hang")
            tasks.start_soon(partial(c.call_tool, "dap_run", asked, progress_callback=hear))
            assert await told.get() == (1, 3, "1 of 3 runs passed")
            # The next one starts now, or hangs already.
            tasks.cancel_scope.cancel()
        for pid in adapters("debugpy"):
            await process_gone(pid)
        states = [each["state"] for each in (await ask(c, "dap_status"))["sessions"]]
        assert set(states) == {"ended"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"pid": 1, "request": "attach", "type": "fake"}, "Only a program that dap_run starts"),
        ({"program": FAKE_PROGRAM, "until": "failure", "repeat": 1}, "`until` says when"),
        ({"program": FAKE_PROGRAM, "repeat": -1}, "greater than or equal to 1"),
    ],
    ids=["attach", "once", "never"],
)
async def test_what_cannot_be_repeated_is_refused_before_anything_happens(
    arguments: dict[str, object], said: str, settings: Path
) -> None:
    adapter = fake(settings)
    async with asyncio.timeout(LIMIT), client() as c:
        told = text(await call(c, "dap_run", **{"repeat": 3, **arguments}))
        assert said in told
        assert adapter.requests() == []
