"""What is attached to lives, and runs as fast as before, whatever ends its debugger: all of the table."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.e2e.attached import (
    CALL,
    DEBUGGED,
    ENDS,
    PHASES,
    Debugged,
    cancel,
    injections,
    named,
    outlives,
    running,
    stall_gdb,
)
from tests.e2e.test_server_end import Wire, server
from tests.processes import LIMIT


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("debugged", DEBUGGED, ids=str)
async def test_an_attached_program_lives_and_is_as_fast_as_before(
    debugged: Debugged, phase: str, end: str, tmp_path: Path
) -> None:
    await outlives(debugged, phase, end, tmp_path)


INJECTING_ENDS = {**ENDS, "call cancelled": cancel, "gdb stalled": stall_gdb}


@pytest.mark.parametrize("end", INJECTING_ENDS.values(), ids=INJECTING_ENDS)
async def test_a_python_program_lives_whatever_ends_while_the_debugger_is_put_into_it(
    end: Callable[[Wire], Awaitable[None]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = named("debugpy")
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
