"""What is attached to lives, and runs as fast as before, whatever ends its debugger: all of the table."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.attached import (
    CALL,
    DEBUGGED,
    ENDS,
    PHASES,
    Debugged,
    adapter_killed,
    busy,
    cancel,
    injections,
    named,
    outlives,
    running,
    stall_gdb,
    starve,
)
from tests.e2e.test_server_end import Wire, server
from tests.processes import LIMIT
from tests.pythons import python_of, versions


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("debugged", DEBUGGED, ids=str)
async def test_an_attached_program_lives_and_is_as_fast_as_before(
    debugged: Debugged, phase: str, end: str, tmp_path: Path
) -> None:
    await outlives(debugged, phase, end, tmp_path)


@pytest.mark.parametrize(
    ("adapter", "phase", "end"),
    [
        ("gdb", "running", "server killed"),
        ("gdb", "evaluating", "client gone"),
        ("lldb-dap", "running", "server terminated"),
        ("lldb-dap", "evaluating", "server killed"),
        ("debugpy", "running", "server killed"),
        ("delve", "running", "client gone"),
        ("delve", "running", "server killed"),
    ],
)
async def test_an_attached_program_lives_where_its_debugger_is_starved(
    adapter: str, phase: str, end: str, tmp_path: Path
) -> None:
    debugged = named(adapter)
    debugged.check()
    async with (
        asyncio.timeout(3 * LIMIT),
        running(debugged, tmp_path) as program,
        server() as wire,
    ):
        starve(wire)
        with busy():
            await PHASES[phase](wire, program)
            starve(wire)
            await ENDS[end](wire)
            await program.lives_as_before()


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("adapter", ["debugpy", "jdi", "js-debug"])
async def test_a_program_lives_where_somebody_kills_its_debugger(
    adapter: str, phase: str, tmp_path: Path
) -> None:
    debugged = named(adapter)
    debugged.check()
    async with (
        asyncio.timeout(3 * LIMIT),
        running(debugged, tmp_path) as program,
        server() as wire,
    ):
        await PHASES[phase](wire, program)
        await adapter_killed(wire)
        await program.lives_as_before()


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb", "delve"])
async def test_where_somebody_kills_it_the_answer_says_what_became_of_the_program(
    adapter: str, tmp_path: Path
) -> None:
    debugged = named(adapter)
    debugged.check()
    async with asyncio.timeout(LIMIT), running(debugged, tmp_path) as program, server() as wire:
        await PHASES["running"](wire, program)
        await adapter_killed(wire)
        said = str((await wire.tool("dap_wait_until_paused"))["cause"])
        before, _, fate = said.partition("; ")
        assert before.endswith("killed by SIGKILL")
        if fate == "the program runs on":
            await program.lives_as_before()
        else:
            number = await program.ended()
            by = f", killed by {signal.Signals(-number).name}" if number < 0 else ""
            assert fate.startswith(f"the program has ended{by}")


INJECTING_ENDS = {**ENDS, "call cancelled": cancel, "gdb stalled": stall_gdb}


@versions("3.8", "3.9", "3.10", "3.12", "3.13")
@pytest.mark.parametrize("end", INJECTING_ENDS.values(), ids=INJECTING_ENDS)
async def test_a_python_program_lives_whatever_ends_while_the_debugger_is_put_into_it(
    end: Callable[[Wire], Awaitable[None]],
    version: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    python = replace(named("debugpy"), python=python_of(version))
    python.check()
    async with asyncio.timeout(3 * LIMIT), running(python, tmp_path) as program:
        with injections(tmp_path, monkeypatch) as begun:
            async with server() as wire:
                arguments = {"request": "attach", **program.where, "timeout_ms": 60_000}
                call = {"name": "dap_run", "arguments": arguments}
                await wire.send("tools/call", call, id=CALL)
                await begun.wait()
                await end(wire)
                await program.lives_as_before()
