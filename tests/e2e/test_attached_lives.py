"""What is attached to lives, and runs as fast as before, whatever ends its debugger."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.e2e.attached import (
    DEBUGGED,
    SCRIPT,
    Attached,
    Debugged,
    adapter_of,
    injections,
    named,
    running,
)
from tests.e2e.test_server_end import Wire, server
from tests.processes import LIMIT, command_line, descendants

CALL = 1000
"""The id of the call that lasts while the debugger ends."""


# -- phases of debugging


async def run(wire: Wire, program: Attached) -> None:
    """Attach with a breakpoint whose condition the debugger asks for at each turn."""
    at = program.program.at("step", condition="n < 0")
    state = await attach(wire, program, breakpoints=[at], wait_until_paused=False)
    assert state == "running"


async def stop(wire: Wire, program: Attached) -> None:
    """Attach with a breakpoint, and wait until the program stops there."""
    assert await attach(wire, program, breakpoints=[program.program.at("step")]) == "stopped"


async def evaluate(wire: Wire, program: Attached) -> None:
    """Call a function of the stopped program that takes longer than the server waits."""
    await stop(wire, program)
    arguments = {"expressions": [program.debugged.nap], "timeout_ms": 60_000}
    await wire.send("tools/call", {"name": "dap_evaluate", "arguments": arguments}, id=CALL)
    await program.naps()


async def attach(wire: Wire, program: Attached, **how: object) -> str:
    """Attach, and return the program's state."""
    kind = program.debugged.adapter
    start = await wire.tool("dap_run", request="attach", type=kind, **program.where, **how)
    return str(start["state"])


# -- what ends the debugger


def sends(number: signal.Signals) -> Callable[[Wire], Awaitable[None]]:
    """Return what sends a signal to the server, and waits for its end."""

    async def end(wire: Wire) -> None:
        wire.process.send_signal(number)
        await wire.process.wait()

    return end


async def leave(wire: Wire) -> None:
    """End the client: the server ends after it."""
    assert wire.process.stdin is not None
    wire.process.stdin.close()
    await wire.process.wait()


async def disconnect_stalled(wire: Wire) -> None:
    """Have the adapter answer nothing, and end its session."""
    os.kill(adapter_of(wire.process.pid), signal.SIGSTOP)
    await wire.request("tools/call", {"name": "dap_disconnect", "arguments": {}})


PHASES = [run, stop, evaluate]
ENDS = {
    "server killed": sends(signal.SIGKILL),
    "server terminated": sends(signal.SIGTERM),
    "client gone": leave,
    "adapter stalled": disconnect_stalled,
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("reach", PHASES, ids=lambda phase: phase.__name__)
@pytest.mark.parametrize("debugged", DEBUGGED, ids=str)
async def test_an_attached_program_lives_and_is_as_fast_as_before(
    debugged: Debugged,
    reach: Callable[[Wire, Attached], Awaitable[None]],
    end: Callable[[Wire], Awaitable[None]],
    tmp_path: Path,
) -> None:
    debugged.check()
    async with asyncio.timeout(LIMIT), running(debugged, tmp_path) as program, server() as wire:
        await reach(wire, program)
        await end(wire)
        await program.lives_as_before()


async def cancel(wire: Wire) -> None:
    """Give up the call that attaches."""
    await wire.send("notifications/cancelled", {"requestId": CALL})


async def stall_gdb(wire: Wire) -> None:
    """Stop the gdb that attaches, until the server gives the attach up."""
    below = descendants(wire.process.pid)
    os.kill(next(pid for pid in below if SCRIPT in command_line(pid)), signal.SIGSTOP)
    await wire.answer(CALL)


INJECTING_ENDS = {**ENDS, "call cancelled": cancel, "gdb stalled": stall_gdb}


@pytest.mark.parametrize("end", INJECTING_ENDS.values(), ids=INJECTING_ENDS)
async def test_a_python_program_lives_whatever_ends_while_the_debugger_is_put_into_it(
    end: Callable[[Wire], Awaitable[None]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = named("debugpy")
    python.check()
    async with asyncio.timeout(LIMIT), running(python, tmp_path) as program:
        with injections(tmp_path, monkeypatch) as begun:
            async with server() as wire:
                arguments = {"request": "attach", **program.where, "timeout_ms": 60_000}
                call = {"name": "dap_run", "arguments": arguments}
                await wire.send("tools/call", call, id=CALL)
                await begun.wait()
                await end(wire)
                await program.lives_as_before()
