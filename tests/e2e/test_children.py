"""Programs that start programs: each process is a session, and the program stops wherever one does."""

import asyncio
import os
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest
from mcp import Client

from tests.e2e.running import free_port, started
from tests.e2e.test_server_end import server
from tests.harness import (
    Json,
    adapters,
    ask,
    client,
    evaluate,
    has_all,
    needs,
    pid_of,
    printed,
    read,
    refusal,
)
from tests.processes import LIMIT, process_gone
from tests.programs import Program, program
from tests.shown import Shows

WAYS = ["script", "spawn", "fork", "os_fork"]
CALLED = {
    "script": "children.py child", "spawn": "multiprocessing", "fork": "children.py fork",
    "os_fork": "children.py os_fork",
}  # fmt: skip


async def sessions(c: Client) -> dict[int, Json]:
    """Return what dap_status tells, by session."""
    return {row["session_id"]: row for row in (await ask(c, "dap_status"))["sessions"]}


async def killed(c: Client, session: int) -> None:
    """Return once dapeer knows what has killed a process."""
    while "killed" not in str((await sessions(c))[session].get("cause")):
        pass


@pytest.mark.parametrize("how", WAYS)
async def test_a_breakpoint_in_a_child_is_the_next_stop_of_the_program(
    how: str, shows: Shows
) -> None:
    """Pitfall 14: four of six peers hang here."""
    p = program("children.py")
    wanted = [p.at("child"), p.at("parent")]
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), args=[how], breakpoints=wanted)
        assert (stop["line"], stop["parent"]) == (p.line("child"), 1)
        assert stop["output"] == f"parent starts {how}\n"
        known = await sessions(c)
        assert (known[1]["state"], known[stop["session_id"]]["parent"]) == ("running", 1)
        # A child is called what was started, not what the debugger has made of that.
        assert CALLED[how] in known[stop["session_id"]]["name"]
        assert "pydevd" not in known[stop["session_id"]]["name"]
        # What has the focus is what has stopped.
        assert await evaluate(c, "number + 1") in {"4", "6"}
        await ask(c, "dap_set_breakpoint", **p.at("child_prints"))
        assert (await ask(c, "dap_continue"))["line"] == p.line("child_prints")
        stop = await ask(c, "dap_continue")
        assert (stop["line"], stop["session_id"]) == (p.line("parent"), 1)
        assert "parent" not in stop
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"], end["session_id"]) == ("ended", 0, 1)
        output = await ask(c, "dap_program_output", since=0)
        assert output["text"].splitlines()[::2] == [f"parent starts {how}", "parent saw 0"]
        assert output["text"].count("child") == 1
        assert output["ended"]
    shows("python", "children")


async def test_a_program_that_replaces_itself_goes_on_as_its_own_child() -> None:
    p = program("children.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(
            c, "dap_run", program=str(p), args=["replace"], breakpoints=[p.at("child")]
        )
        assert (stop["line"], stop["parent"]) == (p.line("child"), 1)
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        text = (await ask(c, "dap_program_output"))["text"]
        assert text == "parent starts replace\nchild 25\n"


IN_TURN = """
import os, sys, time
said, rest = os.pipe(), os.pipe()
def work(name):
    print(name, flush=True)
    os.write(said[1], b"x")
    os.read(rest[0], 1)
    here = name
    os._exit(0)
for name in ("one", "two"):
    if not os.fork():
        work(name)
for _ in range(2):
    os.read(said[0], 1)
print("both", flush=True)
os.write(rest[1], b"xx")
for _ in range(2):
    os.wait()
print("done", flush=True)
"""
"""Two processes that stop at one breakpoint at once, after all that was printed."""


async def test_output_is_told_once_where_the_next_stop_is_another_process_s(
    tmp_path: Path,
) -> None:
    (tmp_path / "turns.py").write_text(IN_TURN)
    at = {"filename": "turns.py", "line": 8}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        first = await ask(c, "dap_run", program="turns.py", breakpoints=[at])
        second = await ask(c, "dap_continue")
        end = await ask(c, "dap_continue")
        assert first["session_id"] != second["session_id"]
        told = [each.get("output", "") for each in (first, second, end)]
        assert sorted("".join(told).split()) == ["both", "done", "one", "two"]


RELOADED = """
import os, subprocess, sys
if "WERKZEUG_RUN_MAIN" in os.environ:
    runs = int(os.environ["WERKZEUG_RUN_MAIN"])
    print("run", runs, sys.argv[1:])
    sys.exit(3 if runs < 2 else 0)
for runs in (1, 2):
    command = getattr(sys, "orig_argv", [sys.executable, *sys.argv])
    code = subprocess.call(command, env={**os.environ, "WERKZEUG_RUN_MAIN": str(runs)})
print("ended", code)
sys.exit(3)
"""
"""As Flask's reloader does it, which starts the process anew that has exited with 3."""


async def test_a_reloader_starts_the_program_again_without_a_stop(tmp_path: Path) -> None:
    (tmp_path / "serves.py").write_text(RELOADED)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="serves.py", args=["a b"])
        assert (stop["exit_code"], stop["session_id"]) == (3, 1)
        assert stop["output"].splitlines() == ["run 1 ['a b']", "run 2 ['a b']", "ended 0"]
        names = {row["name"] for row in (await sessions(c)).values()}
        assert names == {"serves.py", "serves.py a b"}


OUTLIVED = """
import subprocess, sys, time
if sys.argv[1:]:
    sys.exit(0)  # @child
subprocess.call([sys.executable, __file__, "child"])
print("over", flush=True)
time.sleep(60)
"""


async def test_the_silence_of_a_child_that_has_ended_is_not_told_of_its_parent(
    tmp_path: Path,
) -> None:
    p = Program(tmp_path / "outlived.py", tmp_path / "outlived.py")
    p.source.write_text(OUTLIVED)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("child")])
        await ask(c, "dap_continue", wait_until_paused=False)
        await printed(c, "over")
        waits = {"session_id": stop["session_id"], "timeout_ms": 3000}
        told = await read(c, "dap_wait_until_paused", **waits)
        assert "may hang" not in told


async def test_a_process_that_is_killed_at_its_stop_is_named_with_its_parent() -> None:
    p = program("children.py")
    async with asyncio.timeout(LIMIT), client() as c:
        wanted = [p.at("child"), p.at("parent")]
        await ask(c, "dap_run", program=str(p), args=["script"], breakpoints=wanted)
        os.kill(await pid_of(c), signal.SIGKILL)
        await killed(c, 2)
        cause = "was killed by SIGKILL while it was stopped; its parent, session 1, is still there"
        for tool, more in (("dap_evaluate", {"expression": "number"}), ("dap_step_over", {})):
            assert has_all(await refusal(c, tool, session_id=2, **more), cause, "option")
        stop = await ask(c, "dap_wait_until_paused")
        assert (stop["session_id"], stop["line"]) == (1, p.line("parent"))


GATED = """
import multiprocessing, os, sys

def work(gate):
    sys.stdout.write(f"pid {os.getpid()}\\n")  # one write: children may print at once
    open(gate).readline()
    done = gate

for gate in sys.argv[1:]:
    multiprocessing.get_context("fork").Process(target=work, args=(gate,)).start()
open("end").readline()
"""
"""Each child waits until its gate, a named pipe, is opened; the parent until the end."""


def gates(folder: Path, *names: str) -> list[int]:
    """Make the named pipes, open at both ends, so that nobody waits for the other one."""
    for name in (*names, "end"):
        os.mkfifo(folder / name)
    return [os.open(folder / name, os.O_RDWR) for name in names]


async def stopped_by(c: Client, gate: int) -> int:
    """Let the child behind a gate run into its breakpoint; return its session."""

    async def stopped() -> set[int]:
        return {number for number, row in (await sessions(c)).items() if row["state"] == "stopped"}

    before = await stopped()
    os.write(gate, b"open\n")
    while not (new := await stopped() - before):
        pass
    return new.pop()


async def test_no_other_process_answers_unsaid_for_the_one_of_the_last_answer(
    tmp_path: Path,
) -> None:
    """Celery's workers: one was killed at its stop, and another answered for it."""
    (tmp_path / "gated.py").write_text(GATED)
    pipes = gates(tmp_path, "one", "two")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(
            c, "dap_run", program="gated.py", args=["one", "two"], wait_until_paused=False,
            breakpoints=[{"filename": "gated.py", "line": 7}],
        )  # fmt: skip
        one = await stopped_by(c, pipes[0])
        said = f"(the call went to session {one}, because session 1 was running)"
        assert said in await refusal(c, "dap_evaluate", expression="nonesuch")
        # That was the last answer.
        assert "session" not in await read(c, "dap_evaluate", expression="gate")
        two = await stopped_by(c, pipes[1])
        assert await evaluate(c, "gate") == "'one'"
        os.kill(await pid_of(c), signal.SIGKILL)
        await killed(c, one)
        for tool, more in {
            "dap_evaluate": {"expression": "gate"}, "dap_variables": {}, "dap_step_over": {},
            "dap_set_variable": {"path": "gate", "value": "1"}, "dap_continue": {},
        }.items():  # fmt: skip
            told = await refusal(c, tool, **more)
            assert has_all(
                told, f"Session {one} was killed by SIGKILL while it was stopped",
                f"Stopped: {two} (gated.py", "stopped at gated.py:7). Give session_id.",
            )  # fmt: skip
        # The error has told it already.
        assert "killed" not in await read(c, "dap_snapshot", session_id=two)
        assert await evaluate(c, "gate", session_id=two) == "'two'"
    for pipe in pipes:
        os.close(pipe)


async def test_processes_that_were_killed_while_the_program_runs_on_are_told_once(
    tmp_path: Path,
) -> None:
    """Workers of uvicorn that it killed before they served, so that no breakpoint was reached."""
    (tmp_path / "uvicorn.py").write_text(GATED)
    names = ["one", "two", "three"]
    pipes = gates(tmp_path, *names)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="uvicorn.py", args=names, wait_until_paused=False)
        said = ""
        while said.count("\n") < len(names):
            said = await printed(c)
        # The last one as a parent ends a child that it needs no more.
        for pid, number in zip(said.split()[1::2], (9, 9, 15), strict=True):
            os.kill(int(pid), number)
        for session in await sessions(c):
            if session > 1:
                await killed(c, session)
        told = await read(c, "dap_wait_until_paused", timeout_ms=0)
        assert re.search(r"sessions \d, \d were killed by SIGKILL\. uvicorn kills a worker", told)
        assert "SIGTERM" not in told
        assert "killed" not in await read(c, "dap_snapshot")
    for pipe in pipes:
        os.close(pipe)


async def test_of_two_children_that_stop_each_is_told_once() -> None:
    p = program("children.py")
    async with asyncio.timeout(LIMIT), client() as c:
        one = await ask(c, "dap_run", program=str(p), args=["two"], breakpoints=[p.at("child")])
        two = await ask(c, "dap_continue")
        assert {one["session_id"], two["session_id"]} == {2, 3}
        assert {one["locals"]["number"], two["locals"]["number"]} == {"3", "4"}
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        assert "parent saw [0, 0]" in end["output"]


async def test_a_child_is_stepped_while_its_sibling_stays_where_it_is() -> None:
    p = program("children.py")
    async with asyncio.timeout(LIMIT), client() as c:
        one = await ask(c, "dap_run", program=str(p), args=["two"], breakpoints=[p.at("child")])
        this = one["session_id"]
        other = 5 - this
        stop = await ask(c, "dap_step_over", session_id=this)
        assert (stop["session_id"], stop["line"]) == (this, p.line("child_prints"))
        waited = await ask(c, "dap_wait_until_paused", session_id=other)
        assert (waited["session_id"], waited["line"]) == (other, p.line("child"))
        assert f"session {this} is stopped, too" in waited["notes"]
        # One child of several may be ended by itself: its parent goes on.
        pid = await pid_of(c)
        await ask(c, "dap_terminate", session_id=other)
        await process_gone(pid)
        assert (await ask(c, "dap_continue", session_id=this))["state"] == "ended"
        states = {number: row["state"] for number, row in (await sessions(c)).items()}
        assert states == {1: "ended", 2: "ended", 3: "ended"}


@pytest.mark.parametrize("how", ["subprocess", "fork", "execv"])
async def test_children_that_are_not_followed_run_on_by_themselves(how: str) -> None:
    p = program("children.py")
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(
            c, "dap_run", program=str(p), args=[how], breakpoints=[p.at("child")],
            follow_children=False,
        )  # fmt: skip
        assert end["state"] == "ended"
        assert list(await sessions(c)) == [1]
        text = (await ask(c, "dap_program_output"))["text"]
        assert ("executed" if how == "execv" else "parent saw 0") in text


async def test_the_whole_program_is_restarted_and_ended_whichever_process_has_the_focus() -> None:
    p = program("children.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), args=["fork"], breakpoints=[p.at("child")])
        said = await refusal(c, "dap_disconnect", terminate_debuggee=False)
        assert "cannot leave a program running" in said
        assert [row["state"] for row in (await sessions(c)).values()] == ["running", "stopped"]
        pids = [await pid_of(c), int(await evaluate(c, "__import__('os').getppid()"))]
        stop = await ask(c, "dap_restart")
        assert (stop["session_id"], stop["parent"]) == (4, 3)
        for pid in pids:
            await process_gone(pid)
        pid = await pid_of(c)
        await ask(c, "dap_terminate")
        await process_gone(pid)
        states = [row["state"] for row in (await sessions(c)).values()]
        assert states == ["ended"] * 4


KILLED = {
    "debugpy": ("children.py", "two", "child", "debugpy_adapter"),
    "js-debug": ("children.js", "fork", "square", "vsDebugServer"),
}


@pytest.mark.parametrize("adapter", KILLED)
async def test_an_adapter_that_is_killed_takes_all_sessions_of_its_program_along(
    adapter: str,
) -> None:
    needs(adapter)
    name, how, marker, word = KILLED[adapter]
    p = program(name)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), args=[how], breakpoints=[p.at(marker)])
        for pid in adapters(word):
            os.kill(pid, signal.SIGKILL)
        assert (await ask(c, "dap_program_output", category="stderr", wait_ms=LIMIT * 1000))[
            "ended"
        ]
        known = await sessions(c)
        assert {row["state"] for row in known.values()} == {"ended"}
        assert "the adapter ended unexpectedly" in known[1]["cause"]


LISTENS = """
import debugpy, runpy, sys
debugpy.listen(("127.0.0.1", int(sys.argv[1])))
print("listening")
debugpy.wait_for_client()
sys.argv[1:] = ["two"]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


async def test_an_attached_program_and_its_children_run_on_when_they_are_left() -> None:
    p = program("children.py")
    port = free_port()
    code = LISTENS.replace("sys.argv[0]", repr(str(p)))
    async with (
        asyncio.timeout(LIMIT),
        client() as c,
        started(sys.executable, "-Xfrozen_modules=off", "-c", code, str(port)) as process,
    ):
        assert process.stdout is not None
        await process.stdout.readline()
        stop = await ask(
            c, "dap_run", request="attach", type="debugpy", port=port, breakpoints=[p.at("child")],
            timeout_ms=LIMIT * 1000,
        )  # fmt: skip
        assert stop["parent"] == 1
        assert "The program runs on" in await read(c, "dap_disconnect")
        assert {row["state"] for row in (await sessions(c)).values()} == {"ended"}
        printed_there = await process.stdout.read()
        assert b"parent saw [0, 0]" in printed_there


async def test_nothing_of_a_program_with_children_outlives_a_server_that_is_killed() -> None:
    p = program("children.py")
    async with asyncio.timeout(LIMIT), server() as wire:
        stop = await wire.tool("dap_run", program=str(p), args=["two"], breakpoints=[p.at("child")])
        assert stop["parent"] == 1
        wire.process.kill()


# -- js-debug debugs even the first process in a child session


@pytest.fixture
def js() -> Path:
    """Return the program; the test is skipped where the adapter is missing."""
    needs("js-debug")
    return program("children.js").path


async def test_with_js_debug_the_program_is_its_first_child(js: Path) -> None:
    p = program("children.js")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(js), wait_until_paused=False)
        await ask(c, "dap_terminate")
        stop = await ask(c, "dap_run", program=str(js), breakpoints=[p.at("square")])
        assert (stop["line"], stop["locals"]["number"]) == (p.line("square"), "4")
        first = (await sessions(c))[stop["parent"]]
        assert first["state"] == "running"
        # Who names the first session means the program.
        assert (await evaluate(c, "number * 2", session_id=first["session_id"])) == "8"
        assert len((await ask(c, "dap_breakpoints"))["breakpoints"]) == 1
        end = await ask(c, "dap_continue")
        assert (end["state"], end["session_id"]) == ("ended", first["session_id"])
        assert "alone 16" in await printed(c)


async def test_with_js_debug_children_of_the_program_are_followed_or_not(
    js: Path, shows: Shows
) -> None:
    p = program("children.js")
    wanted = [p.at("square"), p.at("parent")]
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(js), args=["fork"], breakpoints=wanted)
        assert (stop["line"], stop["session_id"], stop["parent"]) == (p.line("square"), 3, 2)
        names = [each["name"] for each in (await sessions(c)).values()]
        assert names[0] == "children.js"
        assert all(re.fullmatch(r"children\.js( child)? \[\d+\]", each) for each in names[1:]), (
            names
        )
        stop = await ask(c, "dap_continue")
        assert (stop["line"], stop["session_id"], stop["parent"]) == (p.line("parent"), 2, 1)
        await ask(c, "dap_terminate")
        assert "ended by dap_terminate" in await read(c, "dap_status")
        stop = await ask(c, "dap_run", program=str(js), args=["fork"], follow_children=False)
        assert (stop["line"], stop["session_id"]) == (p.line("parent"), 5)
        assert "child 9" in stop["output"]
        # Children end before their parents, or js-debug hangs.
        await ask(c, "dap_disconnect")
        assert {row["state"] for row in (await sessions(c)).values()} == {"ended"}
    shows("js-debug", "children")


@pytest.mark.parametrize("by", ["program", "runtimeExecutable"])
async def test_a_script_that_npm_starts_is_debugged(by: str, tmp_path: Path) -> None:
    needs("js-debug")
    if shutil.which("npm") is None:
        pytest.skip("needs npm: apt-get install npm")
    (tmp_path / "package.json").write_text('{"scripts": {"hi": "node hi.js"}}')
    (tmp_path / "hi.js").write_text("const a = 1;\nconsole.log(a);\n")
    asked = {
        "program": {"program": "npm", "args": ["run", "hi"]},
        "runtimeExecutable": {
            "type": "node",
            "config": {"runtimeExecutable": "npm", "runtimeArgs": ["run", "hi"]},
        },
    }[by]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = [{"filename": "hi.js", "line": 2}]
        stop = await ask(c, "dap_run", **asked, breakpoints=at)
        assert (stop["line"], stop["locals"]["a"]) == (2, "1")
