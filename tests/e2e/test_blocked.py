"""Why does it hang? Programs that no debugger can stop, because all their threads wait."""

import asyncio
import os
import re
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.e2e.running import listening
from tests.harness import ask, client, evaluate, has_all, pid_of, printed, read, refusal
from tests.processes import LIMIT
from tests.programs import Program, program

P = program("blocked.py")


async def blocked(c: Client, kind: str) -> None:
    """Run the program into what it never returns from: from a breakpoint on that very line."""
    await ask(c, "dap_run", program=str(P), args=[kind], breakpoints=[P.at(kind)])
    await read(c, "dap_continue", wait_until_paused=False)


def at(p: Program, marker: str, function: str) -> str:
    return f"fixtures/programs/{p.source.name}:{p.line(marker)} in {function}"


def without_ids(lines: Sequence[str]) -> list[str]:
    """Return lines without the ids of their frames, each of which has one."""
    found = [re.subn(r" \[frame_id \d+\]", "", each) for each in lines]
    assert all(count == 1 for _, count in found)
    return [text for text, _ in found]


async def test_a_deadlock_is_told_thread_by_thread() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await blocked(c, "deadlock")
        # Its other thread may still be on its way.
        while (paused := await ask(c, "dap_pause"))["state"] == "stopped":
            await read(c, "dap_continue", wait_until_paused=False)
        assert (paused["state"], paused["pausing"]) == ("running", True)
        main, other = without_ids(paused["threads"])
        assert main.startswith("1 MainThread blocked at ")
        assert "other blocked at " in other
        assert all(each.endswith(at(P, "deadlock", "transfer")) for each in (main, other))
        # It answers from now on, too, and says why nothing else can be asked.
        rows = (await ask(c, "dap_threads"))["threads"]
        assert {(row["state"], row["line"]) for row in rows} == {("blocked", P.line("deadlock"))}
        stack = (await ask(c, "dap_stacktrace", thread_id=rows[0]["thread_id"]))["threads"][0]
        functions = [frame["function"] for frame in stack["frames"]]
        assert functions[:3] == ["transfer", "deadlock", "<module>"]
        assert "a pause is pending" in await refusal(c, "dap_scopes")
        assert await read(c, "dap_terminate") == "Session 1 ended."


async def test_a_pending_pause_stops_the_program_when_it_runs_on() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await blocked(c, "accept")
        paused = await ask(c, "dap_pause")
        assert without_ids(paused["threads"]) == [
            f"1 MainThread blocked at {at(P, 'accept', 'listen')}, inside accept"
        ]
        _, writer = await asyncio.open_connection("127.0.0.1", int((await printed(c)).split()[1]))
        stop = await ask(c, "dap_wait_until_paused")
        writer.close()
        assert (stop["reason"], stop["line"]) == ("pause", P.line("accepted"))
        assert await evaluate(c, "server.fileno() > 0") == "True"


async def test_an_idle_event_loop_tells_what_its_tasks_wait_for() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await blocked(c, "asyncio")
        paused = await ask(c, "dap_pause")
        [thread] = paused["threads"]
        assert "blocked at fixtures/programs/blocked.py" in thread
        assert "inside select" in thread
        assert without_ids([each.partition(";")[0] for each in paused["tasks"]]) == [
            f"Task-1 serve() at {at(P, 'asyncio', 'serve')}",
            f"printer worker() at {at(P, 'worker', 'worker')}, inside get",
        ]
        assert paused["tasks"][1].endswith("; awaited by Task-1")
        assert "printer waits for Queue jobs, for an item; it is empty" in str(paused["waits"])
        # What the event loop calls of itself is one line, as in a program that is stopped.
        _, _, innermost, loop, own, *_ = (await read(c, "dap_stacktrace")).splitlines()
        assert innermost.startswith("  #0 select ")
        assert re.fullmatch(r"  #1 to #(\d+) \1 frames of Python's library: start_frame=1", loop)
        assert " <module> fixtures/programs/blocked.py:" in own


async def test_tasks_are_listed_where_the_program_is_stopped() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(P), args=["asyncio"], breakpoints=[P.at("worker")])
        told = await ask(c, "dap_threads")
        [thread] = told["threads"]
        assert (thread["state"], thread["line"]) == ("stopped", P.line("worker"))
        assert [task.split()[0] for task in told["tasks"]] == ["Task-1", "printer"]


async def test_a_look_at_code_that_keeps_the_debugger_out_destroys_nothing() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await blocked(c, "regex")
        paused = await read(c, "dap_pause", timeout_ms=3000)
        assert "Not stopped yet" in paused
        assert "the adapter does not answer `continue` now" in paused
        assert re.search("now: (perhaps )?C code keeps the GIL", paused)
        assert f"its last stop was parse fixtures/programs/blocked.py:{P.line('regex')}" in paused
        assert "keeps the GIL" in await read(c, "dap_threads")
        (session,) = (await ask(c, "dap_status"))["sessions"]
        assert session["state"] == "running"
        assert await read(c, "dap_terminate") == "Session 1 ended."
        assert "Ended by dap_terminate" in await read(c, "dap_snapshot")


async def test_py_spy_tells_the_place_where_the_adapter_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = f"    match (/usr/lib/python3.11/re.py:1)\n    parse ({P}:{P.line('regex')})"
    spy = tmp_path / "py-spy"
    spy.write_text(f"#!/bin/sh\necho 'Thread 1 (active+gil): \"MainThread\"\n{frames}'\n")
    async with asyncio.timeout(LIMIT), client() as c:
        await blocked(c, "regex")
        monkeypatch.setenv("PATH", str(tmp_path))
        told = await read(c, "dap_threads")
        assert has_all(told, "now: perhaps C code keeps the GIL", "`pip install py-spy`")
        spy.chmod(0o700)
        told = await read(c, "dap_threads")
        assert f"MainThread (running) at {at(P, 'regex', 'parse')}, inside match" in told
        assert "now: C code keeps the GIL, such as that of a regular expression" in told
        assert "frame_id" not in told
        stack = await read(c, "dap_stacktrace")
        assert "these frames have no variables" in stack
        assert "#1 parse fixtures/programs/blocked.py" in stack
        spy.write_text("#!/bin/sh\necho 'Permission Denied: Try sudo !!' >&2\n")
        told = await read(c, "dap_threads")
        assert has_all(told, "py-spy read nothing: the system lets", "ptrace_scope", "`sudo py-spy")
        assert "!!" not in told
        await read(c, "dap_terminate")


async def test_a_process_that_a_signal_has_stopped_is_told_as_that() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(P), args=["regex"], breakpoints=[P.at("regex")])
        os.kill(await pid_of(c), signal.SIGSTOP)
        told = await read(c, "dap_continue", timeout_ms=3000)
        assert has_all(told, "does not answer", "a signal has stopped its process")
        await read(c, "dap_terminate")


async def test_a_program_that_was_attached_to_tells_where_it_is_blocked() -> None:
    p = program("sleeper.py")
    async with asyncio.timeout(LIMIT), client() as c, listening(p.path) as (process, port):
        running = await ask(
            c, "dap_run", request="attach", type="python", port=port, timeout_ms=3000
        )
        assert running["state"] == "running"
        assert without_ids(running["threads"]) == [f"1 MainThread at {at(p, 'sleep', '<module>')}"]
        [thread] = without_ids((await ask(c, "dap_pause"))["threads"])
        assert thread.endswith(at(p, "sleep", "<module>"))
        # It may be on another machine, where only a person can read it.
        process.send_signal(signal.SIGSTOP)
        told = await read(c, "dap_threads")
        process.send_signal(signal.SIGCONT)
        assert f" --pid {process.pid}`, where the program runs, tells in which function" in told


async def test_the_end_of_waiting_tells_where_the_program_is() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await blocked(c, "queue")
        waited = await ask(c, "dap_wait_until_paused", timeout_ms=4000)
        assert without_ids(waited["threads"]) == [
            f"1 MainThread at {at(P, 'queue', 'consume')}, inside wait"
        ]


W = program("waiting.py")


async def deadlocked(c: Client, kind: str) -> dict[str, Any]:
    """Run the program into a deadlock, and return what dap_pause tells of it."""
    await ask(c, "dap_run", program=str(W), args=[kind], wait_until_paused=False)
    # Its threads may still be on their way.
    while "deadlock" not in (paused := await ask(c, "dap_pause")):
        if paused["state"] == "stopped":
            await ask(c, "dap_continue", wait_until_paused=False)
    return paused


async def test_a_circle_over_tasks_threads_futures_and_locks_is_named_member_by_member() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        paused = await deadlocked(c, "chain")

        def since(marker: str) -> str:
            return f"since waiting.py:{W.line(marker)}"

        circle = [re.sub(r"Task-\d", "Task", each) for each in paused["deadlock"]]
        assert sorted(circle) == [
            f"task Task waits for asyncio Lock ledger, held by task order {since('ordered')}",
            "task order waits for Future, run by thread asyncio_0",
            f"thread asyncio_0 waits for Lock first, held by thread lower {since('lower')}",
            f"thread lower waits for Lock second, held by thread upper {since('upper')}",
            "thread upper waits for Future, ended by task Task",
        ]
        assert paused["waits"] == ["task Task-1 waits for task order"]


BESIDE = """\
import threading

class Account:
    def __init__(self):
        self.lock = threading.Lock()

def move(mine, other, both):
    with mine.lock:
        both.wait()
        with other.lock:
            pass

def begin(one, two, both):
    for name, pair in {"left": (one, two), "right": (two, one)}.items():
        threading.Thread(target=move, args=(*pair, both), name=name, daemon=True).start()

begin(Account(), Account(), threading.Barrier(2))
while True:
    threading.Event().wait(0.01)
"""


async def test_a_stop_of_one_thread_names_the_deadlock_of_the_others(tmp_path: Path) -> None:
    path = tmp_path / "beside.py"
    path.write_text(BESIDE)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(
            c, "dap_run", program=str(path), breakpoints=[{"filename": str(path), "line": 19}]
        )
        await ask(c, "dap_clear_breakpoints")
        stop: dict[str, Any] = {}
        # The two may still be on their way.
        while not stop.get("deadlock"):
            await ask(c, "dap_continue", wait_until_paused=False)
            stop = await ask(c, "dap_pause")
            assert (stop["state"], stop["reason"]) == ("stopped", "pause")
        assert sorted(stop["deadlock"]) == [
            "thread left waits for Lock other.lock, held by thread right since beside.py:8",
            "thread right waits for Lock other.lock, held by thread left since beside.py:8",
        ]
        assert "Deadlock:\n" in await read(c, "dap_threads")


async def test_a_frame_that_is_blocked_is_read_without_running_anything() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        paused = await deadlocked(c, "attributes")
        back = next(each for each in paused["threads"] if " back " in each)
        frame = int(re.findall(r"frame_id (\d+)", back)[0])
        assert "source = Account(name='bob', " in await read(c, "dap_variables", frame_id=frame)
        assert "name = 'bob'" in await read(c, "dap_variables", frame_id=frame, path="source")
        for kind, known in (("named", True), ("indexed", False)):
            of_kind = await read(c, "dap_variables", frame_id=frame, path="source", filter=kind)
            assert ("name = 'bob'" in of_kind) is known
        assert await evaluate(c, "target.name", frame_id=frame) == "'ada'"
        # What cannot be read is run by another thread.
        assert await evaluate(c, "target.name.upper() + '!'", frame_id=frame) == "'ADA!'"
        assert "ZeroDivisionError" in await refusal(
            c, "dap_evaluate", expressions=["1/0"], frame_id=frame
        )
        given: dict[str, Any] = {"frame_id": frame, "max_chars": 30_000}
        assert await evaluate(c, "'x' * 20_000", **given) == repr("x" * 20_000)
        assert await evaluate(c, "'x' * 700", **given) == repr("x" * 700)
        told = await read(c, "dap_evaluate", expressions=["'x' * 700"] * 2, context="repl", **given)
        assert told.count("x" * 700) == 2
        assert told.endswith("(`context` has no effect in a thread that runs)")
        sleeps = "__import__('time').sleep(0.2)"
        late = await ask(c, "dap_evaluate", expressions=[sleeps, "1"], frame_id=frame, timeout_ms=1)
        assert ["error" in each for each in late["values"]] == [True, True]
        # Without an id it is the first thread's.
        assert await evaluate(c, "source.name") == "'ada'"
        assert "would run code" in await refusal(c, "dap_variables", path="target.name.upper()")
        assert "There is no frame 999" in await refusal(c, "dap_variables", frame_id=999)


async def test_who_waits_for_a_thread_that_sleeps_is_in_no_deadlock() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(W), args=["slow_holder"], wait_until_paused=False)
        # Before that, the main thread waits until the holder has started.
        while "waits for Lock" not in str((told := await ask(c, "dap_threads")).get("waits")):
            pass
        held = f"held by thread holder since waiting.py:{W.line('held')}"
        assert told["waits"] == [f"thread MainThread waits for Lock first, {held}"]
        assert "deadlock" not in told
