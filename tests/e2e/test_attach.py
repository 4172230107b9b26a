"""Attaching to a program that runs already."""

import asyncio
import shutil
import socket
import sys
from pathlib import Path

import pytest

from tests.e2e.running import free_port, listening, needs_ptrace, started
from tests.harness import ask, call, client, read, refusal, text
from tests.processes import LIMIT, process_gone
from tests.programs import compiled, program

needs_gdb = pytest.mark.skipif(
    shutil.which("gdb") is None, reason="needs gdb on PATH: apt-get install gdb"
)


async def test_a_program_that_listens_is_attached_stopped_changed_and_left_alone() -> None:
    p = program("endless_loop.py")
    async with (
        asyncio.timeout(LIMIT),
        client() as c,
        listening(program("endless_loop.py").path) as (process, port),
    ):
        await read(c, "dap_set_breakpoint", **p.at("turn"))
        stop = await ask(c, "dap_run", request="attach", type="python", port=port)
        assert (stop["reason"], stop["line"]) == ("breakpoint", p.line("turn"))
        assert int((await ask(c, "dap_evaluate", expression="turns"))["result"]) > 0
        await read(c, "dap_disconnect")
        assert process.returncode is None
        # It goes on by itself: the breakpoint is gone with the debugger.
        again = await ask(c, "dap_run", request="attach", type="python", port=port,
                          host="127.0.0.1")  # fmt: skip
        assert (again["reason"], again["line"]) == ("breakpoint", p.line("turn"))
        await read(c, "dap_clear_breakpoints")
        await read(c, "dap_evaluate", expression="running = False", context="repl")
        await ask(c, "dap_continue")
        await process_gone(process.pid)


async def test_what_was_attached_is_ended_only_when_asked() -> None:
    async with (
        asyncio.timeout(LIMIT),
        client() as c,
        listening(program("sleeper.py").path) as (process, port),
    ):
        await ask(c, "dap_run", request="attach", type="python", port=port,
                  wait_until_paused=False)  # fmt: skip
        await read(c, "dap_disconnect", terminate_debuggee=True)
        await process_gone(process.pid)


async def test_an_attached_program_outlives_the_server() -> None:
    async with asyncio.timeout(LIMIT), listening(program("sleeper.py").path) as (process, port):
        async with client() as c:
            await ask(c, "dap_run", request="attach", type="python", port=port,
                      wait_until_paused=False)  # fmt: skip
        async with client() as c:
            # Still there, and free for the next one.
            await ask(c, "dap_run", request="attach", type="python", port=port,
                      wait_until_paused=False)  # fmt: skip
        assert process.returncode is None


async def test_a_port_where_nobody_listens_is_refused_and_named() -> None:
    port = free_port()
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", request="attach", type="python", port=port)
        assert str(port) in message


async def test_a_port_where_somebody_else_listens_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        async with asyncio.timeout(2 * LIMIT), client() as c:
            await refusal(c, "dap_run", request="attach", type="python", port=port, timeout_ms=2000)


@needs_gdb
@needs_ptrace
async def test_a_python_process_is_attached_by_its_id() -> None:
    p = program("endless_loop.py")
    async with asyncio.timeout(LIMIT), client() as c, started(sys.executable, str(p)) as process:
        await read(c, "dap_set_breakpoint", **p.at("turn"))
        stop = await ask(c, "dap_run", request="attach", type="python", pid=process.pid)
        assert stop["line"] == p.line("turn")
        await read(c, "dap_disconnect")
        assert process.returncode is None


@needs_ptrace
async def test_a_c_process_is_attached_by_its_id(tmp_path: Path) -> None:
    p = compiled("endless.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c, started(str(p)) as process:
        assert process.stdout is not None
        await process.stdout.readline()
        stop = await ask(c, "dap_run", request="attach", type="gdb", pid=process.pid)
        assert stop["state"] == "stopped"
        await read(c, "dap_disconnect")
        assert process.returncode is None


async def test_a_process_that_does_not_exist_is_refused_and_named() -> None:
    """facts/adapters.md 5: debugpy never answers."""
    async with started(sys.executable, "-c", "") as process:
        await process.wait()
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", request="attach", type="python", pid=process.pid)
        assert str(process.pid) in message


async def test_attaching_to_nothing_is_refused() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", request="attach", type="python")
        assert "pid" in message
        assert "port" in message
        result = await call(c, "dap_run", request="attach", type="python", pid=1, port=2)
        assert result.is_error
        assert "pid" in text(result)


async def test_an_attached_program_cannot_be_given_arguments() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(
            c, "dap_run", request="attach", type="python", port=free_port(), args=["x"]
        )
        assert "args" in message
