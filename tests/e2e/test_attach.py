"""Attaching to a program that runs already."""

import asyncio
import os
import re
import shutil
import socket
import sys
from pathlib import Path

import pytest

from tests import second_user
from tests.e2e.running import free_port, go_built, listening, needs_ptrace, started
from tests.e2e.test_languages_withstand import end
from tests.harness import ask, call, client, evaluate, is_version, needs, read, refusal, text
from tests.processes import LIMIT, process_gone
from tests.programs import Program, compiled, copied, program
from tests.shown import Shows
from tests.sockets import needs_tables

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


LOOKED_AT = """
import asyncio
import re
import sys
import time


class Cart:
    def __init__(self):
        self.total = 3


def change(found):
    cart, deep = Cart(), {"a": [[1, 2], [3, 4]]}
    return str(cart.total)  # @change


async def inner():
    return re.sub("a", change, "a")


async def outer():
    return await asyncio.create_task(inner(), name="inner")  # @outer


def replaced():
    modules = [m for n, m in list(sys.modules.items()) if n.startswith(("pydevd", "_pydevd"))]
    classes = [c for m in modules for c in list(vars(m).values()) if isinstance(c, type)]
    held = [v for each in modules + classes + [sys] for v in list(vars(each).values())]
    ours = [v for v in held if str(getattr(v, "__module__", "")).startswith("in_debuggee")]
    return bool(ours) or "in_debuggee" in sys.modules


told = None
while True:
    if told != replaced():
        told = replaced()
        print("mended" if told else "stock", flush=True)
    asyncio.run(outer())
    time.sleep(0.01)
"""


async def test_an_attached_program_is_told_as_one_that_was_started_and_left_as_it_was(
    tmp_path: Path,
) -> None:
    path = tmp_path / "looked_at.py"
    path.write_text(LOOKED_AT, encoding="utf-8")
    p = Program(path, path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c, listening(path) as (process, port):
        for _ in range(2):
            stop = await ask(
                c, "dap_run", request="attach", type="python", port=port,
                breakpoints=[p.at("change")],
            )  # fmt: skip
            assert stop["locals"]["deep"] == "{'a': [[1, 2], [3, 4]]}"
            assert stop["locals"]["cart"] == "Cart(total=3)"
            lines = [line.partition(" [")[0] for line in stop["stack"]]
            assert lines[1].startswith("sub re")
            assert "(task inner, awaited by task Task-" in stop["stack"][3]
            assert lines[4] == f"outer looked_at.py:{p.line('outer')}"
            assert await evaluate(c, "deep") == "{'a': [[1, 2], [3, 4]]}"
            await read(c, "dap_disconnect")
            assert process.stdout is not None
            assert [await process.stdout.readline() for _ in range(2)] == [b"mended\n", b"stock\n"]


async def test_an_attached_program_that_is_left_as_it_is_tells_what_debugpy_leaves_out(
    tmp_path: Path,
) -> None:
    path = tmp_path / "as_it_is.py"
    text = LOOKED_AT.replace("import time\n", "import time\n\nsys.modules['in_debuggee'] = None\n")
    path.write_text(text, encoding="utf-8")
    p = Program(path, path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c, listening(path) as (_, port):
        stop = await ask(
            c, "dap_run", request="attach", type="python", port=port, breakpoints=[p.at("change")]
        )
        assert stop["locals"]["deep"] == "{'a': [[1, 2], [3, 4]]}"
        assert "cart" in stop["locals"]
        (note,) = [each for each in stop["notes"] if "left out" in each]
        assert re.fullmatch(r"\d+ frames of Python's library left out by justMyCode", note)
        await read(c, "dap_disconnect")


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


@pytest.mark.parametrize("kind", ["python", "js-debug", "gdb"])
async def test_a_port_where_nobody_listens_is_refused_and_named(kind: str) -> None:
    if kind != "python":
        needs(kind)
    port = free_port()
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", request="attach", type=kind, port=port)
        assert str(port) in message or "Connection refused" in message
        assert (await ask(c, "dap_status"))["sessions"] == []


@second_user.needed
@needs_tables
@pytest.mark.parametrize("kind", ["python", "delve", "js-debug", "gdb"])
async def test_a_port_at_which_another_user_listens_is_refused_and_told_nothing(kind: str) -> None:
    needs("debugpy" if kind == "python" else kind)
    with second_user.runs(second_user.THIEF, 0) as thief:
        port = int(second_user.says(thief))
        async with asyncio.timeout(LIMIT), client() as c:
            message = await refusal(c, "dap_run", request="attach", type=kind, port=port)
            assert (await ask(c, "dap_status"))["sessions"] == []
        assert message.startswith(
            f"Another user of this machine (nobody) listens at 127.0.0.1:{port}. Nothing was sent."
        )
        # A connection that ends is told with all that came; the first may be none of dapeer's.
        with socket.create_connection(("127.0.0.1", port)):
            pass
        assert second_user.says(thief) == "b''"


async def test_a_port_where_no_debugger_listens_is_given_up() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example.org ESMTP\r\n")
        await writer.drain()
        writer.close()

    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with (
            asyncio.timeout(2 * LIMIT),
            client() as c,
            await asyncio.start_server(greet, "127.0.0.1", 0) as other,
        ):
            for port in (silent.getsockname()[1], other.sockets[0].getsockname()[1]):
                message = await refusal(c, "dap_run", request="attach", type="python", port=port)
                assert message.startswith(f"What listens at port {port} is not a debug adapter.")


@needs_gdb
@needs_ptrace
async def test_a_python_process_is_attached_by_its_id_again_and_again(shows: Shows) -> None:
    p = program("endless_loop.py")
    async with asyncio.timeout(LIMIT), client() as c, started(sys.executable, str(p)) as process:
        for _ in range(2):
            # Which adapter fits is told by the process itself.
            stop = await ask(
                c, "dap_run", request="attach", pid=process.pid, breakpoints=[p.at("turn")]
            )
            assert stop["line"] == p.line("turn")
            again = await refusal(c, "dap_run", request="attach", pid=process.pid)
            assert f"debugged already, in session {stop['session_id']}" in again
            assert "The program runs on." in await read(c, "dap_disconnect")
            # As data, too.
            last = (await ask(c, "dap_status"))["sessions"][-1]
            assert (last["state"], last["cause"]) == ("ended", "detached; the program runs on")
            assert process.returncode is None
    shows("python", "attach")


@needs_ptrace
@pytest.mark.parametrize("kind", ["gdb", "lldb-dap", "codelldb", "cdt-gdb"])
async def test_a_compiled_process_is_attached_by_its_id_and_outlives_whoever_leaves_it(
    kind: str, tmp_path: Path, shows: Shows
) -> None:
    needs(kind)
    p = compiled("endless.c", tmp_path)
    async with asyncio.timeout(LIMIT), started(str(p)) as process:
        assert process.stdout is not None
        await process.stdout.readline()
        async with client() as c:
            stop = await ask(
                c, "dap_run", request="attach", type=kind, pid=process.pid,
                breakpoints=[p.at("turn")],
            )  # fmt: skip
            assert (stop["reason"], stop["line"]) == ("breakpoint", p.line("turn"))
            assert int(stop["locals"]["turns"]) > 0
            # Its adapter is at it already: another one cannot be.
            twice = await refusal(c, "dap_run", request="attach", pid=process.pid, type="gdb")
            assert f"Process {process.pid} is debugged already" in twice
            assert "The program runs on." in await read(c, "dap_disconnect")
        async with client() as c:
            # Nothing of the breakpoint is left in it; it runs when the server ends.
            await ask(c, "dap_run", request="attach", type=kind, pid=process.pid,
                      wait_until_paused=False)  # fmt: skip
        async with client() as c:
            await ask(c, "dap_run", request="attach", pid=process.pid)
            if (await ask(c, "dap_status"))["sessions"][0]["state"] != "stopped":
                await ask(c, "dap_pause")
            await read(c, "dap_run_to", **p.at("turn"))
            await read(c, "dap_evaluate", expression="running = 0", context="watch")
            await read(c, "dap_disconnect")
        # The value that it was given ends it: so it ran.
        await process_gone(process.pid)
    shows(kind, "attach")


@needs_gdb
@needs_ptrace
@pytest.mark.parametrize("kind", ["debugpy", "gdb"])
async def test_a_process_that_is_attached_by_its_id_and_killed_has_ended(
    kind: str, tmp_path: Path
) -> None:
    needs(kind)
    python = program("endless_loop.py")
    p = python if kind == "debugpy" else compiled("endless.c", tmp_path)
    command = (sys.executable, str(p)) if p is python else (str(p),)
    async with asyncio.timeout(LIMIT), client() as c, started(*command) as process:
        await ask(
            c, "dap_run", request="attach", type=kind, pid=process.pid, breakpoints=[p.at("turn")]
        )
        process.kill()
        await end(c)
        session = (await ask(c, "dap_status"))["sessions"][0]
        assert (session["state"], session["cause"]) == ("ended", "killed by SIGKILL")


async def test_node_is_attached_at_its_inspector_and_left_running(
    tmp_path: Path, shows: Shows
) -> None:
    needs("js-debug")
    p = copied("endless.js", tmp_path)
    port = free_port()
    node = shutil.which("node") or "node"
    async with (
        asyncio.timeout(LIMIT),
        client(tmp_path) as c,
        started(node, f"--inspect=127.0.0.1:{port}", str(p)) as process,
    ):
        assert process.stdout is not None
        await process.stdout.readline()
        by_id = await refusal(c, "dap_run", request="attach", pid=process.pid)
        assert f"kill -USR1 {process.pid}" in by_id
        stop = await ask(
            c, "dap_run", request="attach", type="node", port=port, breakpoints=[p.at("turn")]
        )
        assert (stop["reason"], stop["line"]) == ("breakpoint", p.line("turn"))
        assert await evaluate(c, "turns > 0") == "true"
        assert "The program runs on." in await read(c, "dap_disconnect")
        assert process.returncode is None
        # It is free for the next one, who ends it.
        await ask(c, "dap_run", request="attach", type="node", port=port)
        await ask(c, "dap_evaluate", expression="turns = -9")
        await read(c, "dap_clear_breakpoints")
        await read(c, "dap_disconnect")
        await process_gone(process.pid)
    shows("js-debug", "attach")


async def test_a_ruby_program_that_listens_is_attached_to(shows: Shows) -> None:
    needs("rdbg")
    p = program("loop.rb")
    port = free_port()
    ruby = shutil.which("ruby") or "ruby"
    rdbg = ("-e", "load Gem.bin_path('debug', 'rdbg')", "--", "--open", "--host", "127.0.0.1")
    async with (
        asyncio.timeout(LIMIT),
        client() as c,
        started(
            ruby, *rdbg, "--port", str(port), "-c", "--", ruby, str(p), says=b"wait for debugger"
        ) as process,
    ):
        stop = await ask(
            c, "dap_run", request="attach", type="ruby", port=port, breakpoints=[p.at("inner")]
        )
        while stop["reason"] == "pause":
            stop = await ask(c, "dap_continue")
        assert (stop["file"], stop["line"]) == (str(p.source), p.line("inner"))
        await read(c, "dap_clear_breakpoints")
        # Version 1.4 keeps them where dapeer has not started it.
        rounds = 4 if is_version("rdbg", "1.4.") else 0
        states = [(await ask(c, "dap_continue"))["state"] for _ in range(rounds + 1)]
        assert states == ["stopped"] * rounds + ["ended"]
        await process.wait()
    shows("ruby", "attach")


@needs_ptrace
async def test_a_go_process_is_attached_by_its_id_and_runs_on(tmp_path: Path, shows: Shows) -> None:
    needs("delve")
    p = program("endless.go")
    built = go_built(p.source, tmp_path)
    async with asyncio.timeout(LIMIT), client() as c, started(built) as process:
        assert process.stdout is not None
        await process.stdout.readline()
        stop = await ask(
            c, "dap_run", request="attach", pid=process.pid, breakpoints=[p.at("turn")]
        )
        (session,) = (await ask(c, "dap_status"))["sessions"]
        assert session["type"] == "delve"
        assert (stop["reason"], stop["line"]) == ("breakpoint", p.line("turn"))
        turns = int(await evaluate(c, "turns"))
        assert "The program runs on." in await read(c, "dap_disconnect")
        while f"turn {turns + 3}\n".encode() != await process.stdout.readline():
            pass
    shows("go", "attach")


async def test_a_process_that_does_not_exist_is_refused_and_named() -> None:
    """Of a process that is not there, debugpy never tells."""
    async with started(sys.executable, "-c", "") as process:
        await process.wait()
    async with asyncio.timeout(LIMIT), client() as c:
        for more in ({}, {"type": "python"}, {"config": {"justMyCode": False}}):
            message = await refusal(c, "dap_run", request="attach", pid=process.pid, **more)
            assert f"no process {process.pid}" in message
        assert "dapeer itself" in await refusal(c, "dap_run", request="attach", pid=os.getpid())


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
