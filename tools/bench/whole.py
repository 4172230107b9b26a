"""What is timed once in a server's life: its start, a session's start, 100,000 lines of output."""

import asyncio
import sys
import tempfile
from functools import partial

from tests.programs import ROOT, program
from tools.bench import adapter
from tools.bench.raw import raw_dap
from tools.bench.served import DAPEER, NOTHING, Served, served
from tools.bench.statistics import Measured, now, shuffled
from tools.bench.subjects import (
    BRIDGED_START,
    DRAIN,
    FIRST_CALL,
    MEMORY_DRAIN,
    MEMORY_IDLE,
    MEMORY_STORY,
    NEWEST_START,
    NOOP,
    OURS,
    RAW,
    SERVER_START,
    START,
    STOCK,
    Size,
)

LOOP = program("loop.py")
LINES = program("many_lines.py")


async def measure(measured: Measured, size: Size) -> None:
    """Live the whole life of some servers."""
    for _ in range(size.whole):
        await _noop_server(measured)
        await _bridge(measured)
        await _newest(measured)
        await _our_server(measured, size)


async def _noop_server(measured: Measured) -> None:
    began = now()
    async with served(*NOTHING) as server:
        await server.client.list_tools()
        measured.add_since(SERVER_START, NOOP, began)
        measured.add(MEMORY_IDLE, NOOP, server.peak_memory())


async def _bridge(measured: Measured) -> None:
    """Join a server that runs already."""
    with tempfile.TemporaryDirectory() as folder:
        where = {"XDG_RUNTIME_DIR": folder}
        running = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "dapeer", "serve", "--no-auth", "--with-stdin"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=ROOT,
            env={**adapter.environment(), **where},
        )
        assert running.stdin
        assert running.stdout
        await running.stdout.readline()
        began = now()
        async with served("dapeer", "stdio", data=False, **where) as server:
            await server.client.list_tools()
            measured.add_since(BRIDGED_START, OURS, began)
        running.stdin.close()
        await running.wait()


async def _newest(measured: Measured) -> None:
    """Ask by MCP 2026-07-28, which has no handshake."""
    began = now()
    async with served(*DAPEER, mode="auto") as server:
        await server.client.list_tools()
        measured.add_since(NEWEST_START, OURS, began)


async def _our_server(measured: Measured, size: Size) -> None:
    began = now()
    async with served(*DAPEER, data=True) as server:
        await server.client.list_tools()
        measured.add_since(SERVER_START, OURS, began)
        measured.add(MEMORY_IDLE, OURS, server.peak_memory())
        began = now()
        await server.call("dap_status")
        measured.add_since(FIRST_CALL, OURS, began)
        await _starts(measured, server, size.starts)
        measured.add(MEMORY_STORY, OURS, server.peak_memory())
        drains = {
            OURS: partial(_drain, measured, server, size.lines),
            RAW: partial(_raw_drain, measured, size.lines),
        }
        for _ in range(size.drains):
            for name in shuffled(drains):
                await drains[name]()
        measured.add(MEMORY_DRAIN, OURS, server.peak_memory())


async def _starts(measured: Measured, server: Served, times: int) -> None:
    starts = {
        OURS: partial(_story, measured, server),
        RAW: partial(_raw_start, measured, RAW, adapter.quick()),
    }
    for _ in range(times):
        for name in shuffled(starts):
            await starts[name]()
    await _raw_start(measured, STOCK, adapter.STOCK)


async def _story(measured: Measured, server: Served) -> None:
    """Start, look around, step, run to the end; the start is timed."""
    began = now()
    stop = await server.ask("dap_run", program=str(LOOP), breakpoints=[LOOP.at("inner")])
    measured.add_since(START, OURS, began)
    assert stop["locals"] == {"value": "0"}
    await server.call("dap_stacktrace")
    await server.call("dap_evaluate", expression="value + 1")
    await server.call("dap_step_over")
    await server.call("dap_clear_breakpoints")
    assert (await server.ask("dap_continue"))["exit_code"] == 0


async def _raw_start(measured: Measured, whose: str, command: tuple[str, ...]) -> None:
    began = now()
    async with raw_dap(command) as dap:
        await dap.start(adapter.launch(LOOP), str(LOOP), [LOOP.line("inner")])
        found = await dap.look()
        measured.add_since(START, whose, began)
        assert found == {"value": "0"}


async def _drain(measured: Measured, server: Served, lines: int) -> None:
    await server.call("dap_run", program=str(LINES), args=[str(lines)], stop_on_entry=True)
    began = now()
    end = await server.ask("dap_continue")
    measured.add_since(DRAIN, OURS, began)
    printed = await server.ask("dap_program_output", lines=1)
    assert (end["exit_code"], printed["lines_total"]) == (0, lines + 1)


async def _raw_drain(measured: Measured, lines: int) -> None:
    async with raw_dap(adapter.quick()) as dap:
        await dap.start(adapter.launch(LINES, args=[str(lines)], stop_on_entry=True))
        began = now()
        await dap.run_out()
        measured.add_since(DRAIN, RAW, began)
        assert dap.lines == lines + 1
