"""`dapeer stdio` as a process: its channel stays clean, and nothing outlives it (pitfalls 17, 18)."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dapeer.mcp.data_extension import EXTENSION
from tests.harness import FAKE_PROGRAM, fake
from tests.processes import LIMIT, command_line, descendants, process_gone
from tests.programs import ROOT, compiled, program

INITIALIZE: dict[str, Any] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"extensions": {EXTENSION: {}}},
    "clientInfo": {"name": "test", "version": "1"},
}


@dataclass
class Wire:
    """A server process, and the lines to and from it."""

    process: Process
    number: int = 0

    async def send(self, method: str, params: object, **fields: object) -> None:
        assert self.process.stdin is not None
        message = {"jsonrpc": "2.0", "method": method, "params": params, **fields}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        await self.process.stdin.drain()

    async def request(self, method: str, params: object) -> dict[str, Any]:
        """Ask, and return the result."""
        self.number += 1
        await self.send(method, params, id=self.number)
        return await self.answer(self.number)

    async def answer(self, number: int) -> dict[str, Any]:
        """Return the result of a request. Every line that the server prints must be JSON-RPC; results of other requests are lost."""
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            if message.get("id") == number:
                return message["result"]
        raise AssertionError

    async def tool(self, name: str, **arguments: object) -> dict[str, Any]:
        result = await self.request("tools/call", {"name": name, "arguments": arguments})
        assert not result.get("isError"), result
        return result["structuredContent"]


@asynccontextmanager
async def server(*options: str, stderr: int = DEVNULL) -> AsyncGenerator[Wire]:
    """Start `dapeer stdio` and shake hands."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "dapeer", "stdio", *options,
        stdin=PIPE, stdout=PIPE, stderr=stderr, cwd=ROOT, limit=1 << 26,
    )  # fmt: skip
    wire = Wire(process)
    try:
        await wire.request("initialize", INITIALIZE)
        await wire.send("notifications/initialized", {})
        yield wire
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_what_a_program_writes_to_descriptor_1_stays_out_of_the_channel() -> None:
    """Pitfall 17: `Wire.request` fails on any line that is not JSON-RPC."""
    async with asyncio.timeout(LIMIT), server() as wire:
        end = await wire.tool("dap_run", program=str(program("prints_to_fd1.py")))
        assert end["exit_code"] == 0
        output = await wire.tool("dap_program_output")
        assert "written to fd 1" in output["text"]
        assert "echoed by a child" in output["text"]


async def test_a_program_that_reads_input_does_not_eat_the_channel() -> None:
    """Pitfall 17."""
    async with asyncio.timeout(LIMIT), server() as wire:
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(
                wire.tool("dap_run", program=str(program("reads_stdin.py")))
            )
        assert "nobody there" in running.result()["output"]
        assert (await wire.request("tools/list", {}))["tools"]


def close_stdin(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.close()


def signalled(number: signal.Signals) -> Callable[[Process], None]:
    return lambda process: process.send_signal(number)


@pytest.mark.parametrize(
    ("end", "stopped"),
    [
        (close_stdin, "endless_loop.py"),
        (signalled(signal.SIGTERM), "endless.c"),
        (signalled(signal.SIGINT), "endless_loop.py"),
        (signalled(signal.SIGKILL), "endless.c"),
    ],
    ids=["stdin closed", "SIGTERM", "SIGINT", "SIGKILL"],
)
async def test_nothing_outlives_the_server(
    end: Callable[[Process], None], stopped: str, tmp_path: Path
) -> None:
    """Pitfall 18: adapter, launcher, debuggee and reaper, of one that runs and of one that is stopped, are gone."""
    programs = program("endless_loop.py"), compiled("endless.c", tmp_path)
    async with asyncio.timeout(LIMIT), server() as wire:
        for p in programs:
            stops = p.source.name == stopped
            how = {"breakpoints": [p.at("turn")]} if stops else {"wait_until_paused": False}
            state = (await wire.tool("dap_run", program=str(p), **how))["state"]
            assert state == ("stopped" if stops else "running")
        pids = descendants(wire.process.pid)
        assert len(pids) >= 5
        end(wire.process)
        for pid in (wire.process.pid, *pids):
            await process_gone(pid)


async def test_nothing_outlives_a_server_that_is_killed_while_its_adapter_hangs() -> None:
    p = program("endless_repr.py")
    async with asyncio.timeout(LIMIT), server() as wire:
        await wire.tool("dap_run", program=str(p), breakpoints=[p.at("before")])
        await wire.send(
            "tools/call",
            {"name": "dap_run_to", "arguments": p.at("look")},
            id=1000,
        )
        await wire.tool("dap_status")
        pids = descendants(wire.process.pid)
        os.kill(wire.process.pid, signal.SIGKILL)
        for pid in (wire.process.pid, *pids):
            await process_gone(pid)


async def test_a_stubborn_adapter_and_its_program_do_not_outlive_a_killed_server(
    settings: Path,
) -> None:
    """Pitfall 18: they ignore SIGTERM and the end of their pipes, and have left their group."""
    fake(
        settings,
        {"launch": ["default", {"debuggee": "sleep"}]},
        start=[{"ignore": "terminate"}, {"ignore": "eof"}],
    )
    async with asyncio.timeout(LIMIT), server() as wire:
        await wire.tool("dap_run", program=FAKE_PROGRAM, type="fake")
        pids = descendants(wire.process.pid)
        assert sum("time.sleep(60)" in command_line(pid) for pid in pids) == 1
        os.kill(wire.process.pid, signal.SIGKILL)
        for pid in (wire.process.pid, *pids):
            await process_gone(pid)
