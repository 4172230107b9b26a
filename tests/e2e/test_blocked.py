"""Why does it hang? Programs that no debugger can stop, because all their threads wait."""

import asyncio
import re

from mcp import Client

from tests.e2e.running import listening
from tests.harness import ask, client, evaluate, printed, read, refusal
from tests.processes import LIMIT
from tests.programs import Program, program

P = program("blocked.py")


async def blocked(c: Client, kind: str) -> None:
    """Run the program into what it never returns from: from a breakpoint on that very line."""
    await ask(c, "dap_run", program=str(P), args=[kind], breakpoints=[P.at(kind)])
    await read(c, "dap_continue", wait_until_paused=False)


def at(p: Program, marker: str, function: str) -> str:
    return f"fixtures/programs/{p.source.name}:{p.line(marker)} in {function}"


async def test_a_deadlock_is_told_thread_by_thread() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await blocked(c, "deadlock")
        # Its other thread may still be on its way.
        while (paused := await ask(c, "dap_pause"))["state"] == "stopped":
            await read(c, "dap_continue", wait_until_paused=False)
        assert (paused["state"], paused["pausing"]) == ("running", True)
        main, other = paused["threads"]
        assert main.startswith("1 MainThread blocked at ")
        assert "other blocked at " in other
        assert all(each.endswith(at(P, "deadlock", "transfer")) for each in (main, other))
        # It answers from now on, too, and says why nothing else can be asked.
        rows = (await ask(c, "dap_threads"))["threads"]
        assert {(row["state"], row["line"]) for row in rows} == {("blocked", P.line("deadlock"))}
        stack = (await ask(c, "dap_stacktrace", thread_id=rows[0]["thread_id"]))["threads"][0]
        functions = [frame["function"] for frame in stack["frames"]]
        assert functions[:3] == ["transfer", "deadlock", "<module>"]
        assert "a pause is pending" in await refusal(c, "dap_evaluate", expression="1")
        assert await read(c, "dap_terminate") == "Session 1 ended."


async def test_a_pending_pause_stops_the_program_when_it_runs_on() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await blocked(c, "accept")
        paused = await ask(c, "dap_pause")
        assert paused["threads"] == [
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
        assert paused["tasks"] == [
            f"Task-1 serve() at {at(P, 'asyncio', 'serve')}",
            f"printer worker() at {at(P, 'worker', 'worker')}, inside get; awaited by Task-1",
        ]
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
        paused = await read(c, "dap_pause", timeout_ms=1000)
        assert "Not stopped yet" in paused
        assert "the adapter does not answer `continue` now" in paused
        assert "C code that keeps the GIL" in paused
        assert f"its last stop was parse fixtures/programs/blocked.py:{P.line('regex')}" in paused
        assert "keeps the GIL" in await read(c, "dap_threads")
        (session,) = (await ask(c, "dap_status"))["sessions"]
        assert session["state"] == "running"
        assert await read(c, "dap_terminate") == "Session 1 ended."
        assert "Ended by dap_terminate" in await read(c, "dap_snapshot")


async def test_a_program_that_was_attached_to_tells_where_it_is_blocked() -> None:
    p = program("sleeper.py")
    async with asyncio.timeout(LIMIT), client() as c, listening(p.path) as (_, port):
        running = await ask(
            c, "dap_run", request="attach", type="python", port=port, timeout_ms=1000
        )
        assert running["state"] == "running"
        [thread] = (await ask(c, "dap_pause"))["threads"]
        assert thread.endswith(at(p, "sleep", "<module>"))


async def test_the_end_of_waiting_tells_where_the_program_is() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await blocked(c, "queue")
        waited = await ask(c, "dap_wait_until_paused", timeout_ms=2000)
        assert waited["threads"] == [f"1 MainThread at {at(P, 'queue', 'consume')}, inside wait"]
