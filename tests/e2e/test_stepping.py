"""How a program is made to go on, and how it is waited for."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import (
    FAKE_PROGRAM,
    ask,
    call,
    client,
    data,
    fake,
    needs,
    printed,
    read,
    refusal,
    text,
)
from tests.processes import LIMIT
from tests.programs import Program, compiled, program

HOOKED = """\
import sys
try:
    raise ValueError
except ValueError:
    sys.excepthook(*sys.exc_info())
    print("over")
"""
NAP_C = """
#include <stdio.h>
#include <unistd.h>
static int nap(void) {
    usleep(300000); // @call
    return 1; // @after
}
int main(void) {
    puts("begun");
    fflush(stdout);
    for (;;) {
        nap(); // @caller
    }
}
"""
NAP_GO = """package main

import (
	"fmt"
	"time"
)

func nap() int {
	time.Sleep(300 * time.Millisecond) // @call
	return 1 // @after
}

func main() {
	fmt.Println("begun")
	for {
		nap() // @caller
	}
}
"""


async def test_steps_go_over_into_and_out_of_calls() -> None:
    p = program("steps.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("twice")])
        assert (await ask(c, "dap_step_over"))["line"] == p.line("twice_next")
        into = await ask(c, "dap_step_into")
        assert (into["function"], into["line"]) == ("add", p.line("add"))
        out = await ask(c, "dap_step_out")
        assert out["function"] == "twice"
        assert into["reason"] == out["reason"] == "step"


async def test_a_step_into_what_dapeer_has_replaced_stays_in_the_program(tmp_path: Path) -> None:
    (tmp_path / "hooked.py").write_text(HOOKED)
    at = {"filename": "hooked.py", "line": 5}
    start = {"breakpoints": [at], "exception_filters": []}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="hooked.py", **start)
        into = await ask(c, "dap_step_into")
        assert (Path(into["file"]).name, into["line"]) == ("hooked.py", 6)


async def test_running_to_a_line_stops_there_once() -> None:
    """Pitfall 9: an earlier stop, that on entry, is not taken for the one that is waited for."""
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), stop_on_entry=True)
        stop = await ask(c, "dap_run_to", **p.at("inner"))
        assert (stop["state"], stop["line"]) == ("stopped", p.line("inner"))
        assert stop["reason"] != "entry"
        assert "loop.py" not in await read(c, "dap_breakpoints")
        # Nothing was left behind in the program either.
        assert (await ask(c, "dap_continue"))["state"] == "ended"


async def test_running_to_a_line_that_is_never_reached_ends_with_the_program() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("after_loop")])
        assert (await ask(c, "dap_run_to", **p.at("inner")))["state"] == "ended"


async def test_running_to_a_line_still_stops_at_breakpoints_on_the_way() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("middle")])
        await read(c, "dap_set_breakpoint", **p.at("inner_return"))
        stop = await ask(c, "dap_run_to", **p.at("after_loop"))
        assert stop["line"] == p.line("inner_return")
        listed = await read(c, "dap_breakpoints")
        assert f"loop.py:{p.line('after_loop')}" not in listed
        assert f"loop.py:{p.line('inner_return')}" in listed


async def test_running_to_a_line_with_a_breakpoint_keeps_that_breakpoint() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("middle")])
        await read(c, "dap_set_breakpoint", **p.at("inner", condition="value == 4"))
        assert (await ask(c, "dap_run_to", **p.at("inner")))["locals"]["value"] == "0"
        await read(c, "dap_remove_breakpoint", **p.at("middle"))
        assert (await ask(c, "dap_continue"))["locals"]["value"] == "4"


async def test_a_jump_to_a_line_runs_nothing_in_between() -> None:
    p = program("locals_change.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("first")])
        stop = await ask(c, "dap_goto", line=p.line("second"))
        assert stop["line"] == p.line("second")
        assert stop["locals"]["count"] == "1"


async def test_an_endless_loop_can_be_paused_changed_and_left() -> None:
    """Pitfall 11."""
    p = program("endless_loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        started = await ask(c, "dap_run", program=str(p), wait_until_paused=False)
        assert started["state"] == "running"
        # Before its first line `running` is not there yet.
        await ask(c, "dap_program_output", since=0, wait_ms=LIMIT * 1000)
        stop = await ask(c, "dap_pause")
        assert (stop["state"], stop["reason"]) == ("stopped", "pause")
        frames = (await ask(c, "dap_stacktrace"))["frames"]
        await read(c, "dap_evaluate", expression="running = False", context="repl",
                   frame_id=frames[-1]["frame_id"])  # fmt: skip
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 0)


async def test_a_busy_loop_that_prints_can_be_paused() -> None:
    """Pitfall 5: a stop is not lost among thousands of output events."""
    p = program("busy_loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), timeout_ms=2000)
        stop = await ask(c, "dap_pause")
        assert stop["state"] == "stopped"
        assert (await ask(c, "dap_step_over"))["state"] == "stopped"


async def test_pausing_what_is_paused_and_waiting_for_it_return_its_stop_at_once() -> None:
    """Pitfall 11: a pause of a stopped program must not hang."""
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        result = await call(c, "dap_pause")
        assert "stopped" in text(result).lower()
        assert (await ask(c, "dap_snapshot"))["line"] == p.line("inner")
        waited = await ask(c, "dap_wait_until_paused", timeout_ms=1)
        assert (waited["state"], waited["line"]) == ("stopped", p.line("inner"))


async def test_a_resume_that_does_not_wait_says_that_it_runs_and_no_other_can_follow() -> None:
    p = program("endless_loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("started")])
        gone = await ask(c, "dap_continue", wait_until_paused=False)
        assert gone["state"] == "running"
        for tool in ("dap_continue", "dap_step_over", "dap_step_into", "dap_step_out"):
            assert "running" in await refusal(c, tool)


async def test_acting_without_a_session_is_refused_with_what_to_do() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        for tool in ("dap_continue", "dap_pause", "dap_snapshot", "dap_stacktrace", "dap_restart"):
            assert "dap_run" in await refusal(c, tool)


async def test_waiting_for_what_has_ended_returns_the_end_at_once() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(program("exit3.py")), exception_filters=[])
        waited = await ask(c, "dap_wait_until_paused", timeout_ms=1)
        assert (waited["state"], waited["exit_code"]) == ("ended", 3)


async def test_two_waits_see_the_same_stop() -> None:
    p = program("endless_loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), wait_until_paused=False)
        async with asyncio.TaskGroup() as tasks:
            waits = [tasks.create_task(ask(c, "dap_wait_until_paused")) for _ in range(2)]
            await read(c, "dap_set_breakpoint", **p.at("turn"))
        first, second = (wait.result() for wait in waits)
        assert first["line"] == second["line"] == p.line("turn")
        assert first["stop"] == second["stop"]


async def test_of_two_continues_at_once_each_gets_a_clear_answer() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        async with asyncio.TaskGroup() as tasks:
            calls = [tasks.create_task(call(c, "dap_continue")) for _ in range(2)]
        answers = [task.result() for task in calls]
        told = [a for a in answers if not a.is_error]
        refused = [a for a in answers if a.is_error]
        assert told
        assert all(data(a)["line"] == p.line("inner") for a in told)
        assert all("running" in text(a) for a in refused)
        # Whichever it was, the session is at a stop that can be looked at.
        assert (await ask(c, "dap_snapshot"))["locals"]["value"] in ("1", "2")


async def test_inspection_and_pause_answer_while_a_continue_waits() -> None:
    """Pitfall 11: a blocked continue must not block anything else."""
    p = program("endless_loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("started")])
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(ask(c, "dap_continue"))
            await printed(c)
            assert "running" in await refusal(c, "dap_variables")
            assert "running" in await read(c, "dap_status")
            stop = await ask(c, "dap_pause")
            assert stop["state"] == "stopped"
        assert waiting.result()["reason"] == "pause"


async def test_a_client_that_gives_up_a_wait_leaves_the_session_usable() -> None:
    """Pitfall 11: cancellation ends the call, and only the call."""
    p = program("endless_loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("started")])
        waiting = asyncio.create_task(ask(c, "dap_continue"))
        await printed(c)
        waiting.cancel()
        await asyncio.wait({waiting})
        assert waiting.cancelled()
        assert (await ask(c, "dap_pause"))["state"] == "stopped"


async def test_a_step_over_a_long_call_can_be_waited_for_again(settings: Path) -> None:
    fake(settings, {"next": ["ok"], "pause": ["default"]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (await ask(c, "dap_step_over", timeout_ms=10))["state"] == "running"
        assert (await ask(c, "dap_wait_until_paused", timeout_ms=10))["state"] == "running"
        assert (await ask(c, "dap_pause"))["reason"] == "pause"


async def test_a_stop_before_the_response_of_its_step_wins(settings: Path) -> None:
    stopped = {"reason": "step", "threadId": 1, "allThreadsStopped": True}
    fake(
        settings,
        {"next": [{"line": 7}, {"event": ["stopped", stopped]}, "ok"]},
    )
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        stop = await ask(c, "dap_step_over")
        assert (stop["state"], stop["reason"], stop["line"]) == ("stopped", "step", 7)
        again = await ask(c, "dap_snapshot")
        assert (again["state"], again["line"]) == ("stopped", 7)


async def test_an_end_before_the_response_of_its_step_wins(settings: Path) -> None:
    fake(
        settings,
        {"next": [{"event": ["exited", {"exitCode": 5}]}, {"event": ["terminated"]},
                  "ok"]},
    )  # fmt: skip
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        end = await ask(c, "dap_step_over")
        assert (end["state"], end["exit_code"]) == ("ended", 5)


async def test_a_step_that_the_adapter_refuses_leaves_the_program_stopped(settings: Path) -> None:
    fake(settings, {"next": [{"fail": {"message": "not now"}}]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert "not now" in await refusal(c, "dap_step_over")
        stop = await ask(c, "dap_snapshot")
        assert (stop["state"], stop["line"]) == ("stopped", 1)


async def test_events_that_are_no_stop_end_no_wait(settings: Path) -> None:
    """Pitfalls 3 and 10: module, thread, output and unknown events, many in a row."""
    noise = [
        {"event": [name, body]}
        for name, body in (
            ("module", {"reason": "new", "module": {"id": 1, "name": "m"}}),
            ("thread", {"reason": "started", "threadId": 2}),
            ("output", {"category": "stdout", "output": "noise\n"}),
            ("availableEvents", ["a", "b"]),
            ("customText", "just text"),
            ("debugpySockets", {"sockets": [{"port": 1}]}),
            ("loadedSource", {"reason": "new", "source": {"name": "x"}}),
            ("nothing", None),
        )
    ]
    stopped = {"reason": "step", "threadId": 1}
    step = ["ok", *noise * 3, {"line": 2}, {"event": ["stopped", stopped]}]
    fake(settings, {"next": step})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        stop = await ask(c, "dap_step_over")
        assert (stop["state"], stop["line"]) == ("stopped", 2)
        assert stop["output"].count("noise") == 3


async def test_a_request_that_would_end_the_program_is_not_sent() -> None:
    needs("perl")
    p = program("loop.pl")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        assert "Use dap_run_to with a line after the call" in await refusal(c, "dap_step_out")
        stop = await ask(c, "dap_run_to", filename=str(p), line=p.line("middle") + 1)
        assert stop["function"] == "middle"


@pytest.mark.parametrize(
    ("adapter", "name", "source"), [("gdb", "nap.c", NAP_C), ("delve", "nap.go", NAP_GO)]
)
async def test_a_step_begins_in_the_frame_that_was_shown_though_its_call_still_runs(
    tmp_path: Path, adapter: str, name: str, source: str
) -> None:
    needs(adapter)
    path = tmp_path / name
    path.write_text(source)
    p = compiled(name, tmp_path, path) if adapter == "gdb" else Program(path, path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), type=adapter, wait_until_paused=False)
        await printed(c, "begun")
        stop = await ask(c, "dap_pause")
        assert stop["line"] == p.line("call")
        over = await ask(c, "dap_step_over")
        assert (over["reason"], over["line"]) == ("step", p.line("after"))
        await ask(c, "dap_continue", wait_until_paused=False)
        await ask(c, "dap_pause")
        out = await ask(c, "dap_step_out")
        assert (out["function"].removeprefix("main."), out["line"]) == ("main", p.line("caller"))
