"""A session that is sick: no call about another one fails by it, waits for it, or speaks of it as its own."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import (
    FAKE_PROGRAM,
    Json,
    adapters,
    ask,
    call,
    client,
    data,
    fake,
    needs,
    pid_of,
    printed,
    read,
    refusal,
)
from tests.processes import LIMIT, command_line, descendants, process_gone
from tests.programs import compiled, program

LINE = {"filename": FAKE_PROGRAM, "line": 3}
GONE = "Server[pid=16371] disconnected unexpectedly"
LONG = "request = 300\ncontrol = 300"
"""Time-outs of an adapter for which nobody would want to wait."""
SICK: dict[str, tuple[list[object], str]] = {
    "silent": (["hold"], " yet: its adapter does not answer"),
    "refusing": ([{"fail": {"message": GONE}}], f": {GONE}"),
}

each_illness = pytest.mark.parametrize("illness", SICK)


@asynccontextmanager
async def beside(settings: Path, command: str, illness: str) -> AsyncGenerator[tuple[Client, str]]:
    """Run a program whose adapter does not take a command, and a healthy one; give what is told of the first."""
    answer, why = SICK[illness]
    fake(settings, {command: answer}, name="sick", timeouts=LONG)
    fake(settings, name="calm")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="sick")
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="calm")
        yield c, f"session 1 (ten.fake) has not applied {{}}{why}"


def notes(answer: Json) -> str:
    return "\n".join(answer.get("notes", ()))


@each_illness
async def test_a_program_starts_beside_a_session_that_does_not_take_its_breakpoints(
    settings: Path, illness: str
) -> None:
    async with beside(settings, "setBreakpoints", illness) as (c, told):
        result = await call(
            c, "dap_run", program=FAKE_PROGRAM, type="calm", breakpoints=[LINE], name="third"
        )
        start = data(result)
        assert (start["session_id"], start["state"], start["line"]) == (3, "stopped", 1)
        assert told.format("the breakpoints") in notes(start)
        # It is told once.
        assert "notes" not in await ask(c, "dap_snapshot")


@each_illness
async def test_breakpoints_are_set_and_removed_beside_a_session_that_does_not_take_them(
    settings: Path, illness: str
) -> None:
    async with beside(settings, "setBreakpoints", illness) as (c, line):
        result = await ask(c, "dap_set_breakpoint", **LINE)
        assert result["state"] == "verified"
        told = line.format("the breakpoints")
        assert told in notes(result)
        assert f"({told}" in await read(c, "dap_remove_breakpoint", **LINE)
        await ask(c, "dap_set_breakpoint", **LINE)
        assert told in notes(await ask(c, "dap_clear_breakpoints"))


@each_illness
async def test_functions_are_stopped_at_beside_a_session_that_does_not_take_them(
    settings: Path, illness: str
) -> None:
    async with beside(settings, "setFunctionBreakpoints", illness) as (c, told):
        result = await call(c, "dap_set_function_breakpoints", names=["main"])
        assert told.format("the function breakpoints") in notes(data(result))
        assert "main: verified" in await read(c, "dap_set_function_breakpoints", names=["main"])


RAISED = {"supportsConfigurationDoneRequest": True,
          "exceptionBreakpointFilters": [{"filter": "raised", "label": "Raised"}]}  # fmt: skip


async def test_exceptions_are_chosen_for_those_adapters_that_know_them(settings: Path) -> None:
    other = {**RAISED, "exceptionBreakpointFilters": [{"filter": "thrown", "label": "Thrown"}]}
    stranger = fake(settings, name="stranger", capabilities=other)
    calm = fake(settings, name="calm", capabilities=RAISED)
    async with asyncio.timeout(LIMIT), client() as c:
        for name in ("stranger", "calm"):
            await ask(c, "dap_run", program=FAKE_PROGRAM, type=name)
        result = await ask(c, "dap_set_exception_breakpoints", filters=["raised"])
        assert "session 1 (ten.fake) stops only at some of them" in notes(result)
        assert "It offers: thrown" in notes(result)
        assert [each.requests()[-1]["arguments"] for each in (calm, stranger)] == [
            {"filters": ["raised"]},
            {"filters": []},
        ]
        said = await refusal(c, "dap_set_exception_breakpoints", filters=["never"])
        assert "no exception filter 'never'" in said
        assert calm.requests()[-1]["arguments"] == {"filters": ["raised"]}


@contextmanager
def asleep(pid: int) -> Generator[None]:
    """Let a process do nothing meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def adapter_process() -> int:
    """Return the process of the only adapter: of those that lead a session the one that is no reaper."""
    ours = [pid for pid in descendants(os.getpid()) if os.getsid(pid) == pid]
    return next(pid for pid in ours if "reaper" not in command_line(pid))


LOOKING: dict[str, Json] = {
    "dap_status": {},
    "dap_breakpoints": {},
    "dap_snapshot": {},
    "dap_current_location": {},
    "dap_threads": {},
    "dap_stacktrace": {},
    "dap_scopes": {},
    "dap_variables": {},
    "dap_evaluate": {"expression": "value"},
    "dap_source": {},
    "dap_history": {},
    "dap_program_output": {},
}


@pytest.mark.parametrize("adapter", ["debugpy", "gdb"])
async def test_an_adapter_that_sleeps_keeps_nobody_from_debugging_another_program(
    adapter: str, tmp_path: Path
) -> None:
    needs(adapter)
    p = program("loop.py") if adapter == "debugpy" else compiled("loop.c", tmp_path)
    run = {"program": str(p), "type": adapter}
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", **run, breakpoints=[p.at("inner")])
        with asleep(adapter_process()):
            start = await ask(c, "dap_run", **run, breakpoints=[p.at("middle")])
            assert (start["session_id"], start["state"]) == (2, "stopped")
            told = f"session 1 ({p.path.name}) has not applied the breakpoints yet"
            assert told in notes(start)
            for tool, arguments in LOOKING.items():
                await read(c, tool, **arguments)
            assert (await ask(c, "dap_step_over"))["session_id"] == 2
            assert told in notes(await ask(c, "dap_set_breakpoint", **p.at("inner_return")))
            assert "ended." in await read(c, "dap_terminate")
        # It has heard all, and does it when it wakes up.
        assert (await ask(c, "dap_step_over", session_id=1))["state"] == "stopped"
        assert (await read(c, "dap_breakpoints")).count(" verified") == 3


async def test_an_adapter_that_reads_nothing_is_told_to_be_silent_and_can_be_ended(
    settings: Path,
) -> None:
    fake(settings)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        [pid] = adapters("fake_adapter")
        with asleep(pid):
            long = "x" * 1_000_000
            said = await refusal(c, "dap_evaluate", expression=long, timeout_ms=200)
            assert "did not answer `evaluate`" in said
            assert await read(c, "dap_terminate") == "Session 1 ended."
            await process_gone(pid)


async def test_a_program_starts_when_another_one_has_just_been_killed() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        pid = await pid_of(c)
        os.kill(pid, signal.SIGKILL)
        start = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        assert (start["session_id"], start["line"]) == (2, p.line("inner"))
        await process_gone(pid)


async def test_who_looks_is_told_that_the_program_was_resumed_meanwhile(settings: Path) -> None:
    asked = {"event": ["output", {"category": "stdout", "output": "asked\n"}]}
    gone = {"release": ["evaluate", {"fail": {"message": "there is no such frame"}}]}
    fake(settings, {"evaluate": [asked, "hold"], "next": [gone, "default"]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        looking = asyncio.create_task(refusal(c, "dap_variables", path="other"))
        await printed(c, "asked")
        assert (await ask(c, "dap_step_over"))["line"] == 2
        assert "The program was resumed by another call of a tool during this call" in await looking
