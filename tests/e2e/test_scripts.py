"""A script in one call: what it can do, how it ends, and what it leaves."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from mcp import Client, MCPError

from dapeer import Debugger, ToolError
from dapeer.base.system.process_table import is_running
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.server.server import make_server
from dapeer.mcp.server.toolbox import Selection
from dapeer.mcp.transports import jsonl
from dapeer.sessions.debugger import debugger as sessions
from tests.e2e.running import needs_ptrace
from tests.harness import ask, call, client, needs, read, refusal, served, text
from tests.processes import LIMIT, process_gone
from tests.programs import ROOT, compiled

ORDERS = ROOT / "fixtures" / "collecting"
CANCELLED_AFTER_SECONDS = 1
"""A script runs by then."""
UNTIL_FIVE = """
with d.run("orders.py", breakpoints=[{"filename": "orders.py", "line": 12}]) as s:
    while s.stopped and s.value("number") < 5:
        s.continue_()
    print(s.place, s.value("number"), s.value("order.items"), s.stack(1))
"""


async def test_a_script_runs_to_the_state_it_looks_for_and_ends_its_program() -> None:
    async with client(ORDERS) as c:
        answer = await read(c, "dap_script", code=UNTIL_FIVE)
        status = await read(c, "dap_status")
    assert "orders.py:12 in settle 5 ['cup', 'tea'] ['settle orders.py:12']" in answer
    assert "ended" in status


async def test_what_a_script_launched_ends_with_it_and_what_it_keeps_goes_on() -> None:
    code = """
kept = d.run("orders.py", stop_on_entry=True)
kept.keep()
d.run("orders.py", stop_on_entry=True)
"""
    async with client(ORDERS) as c:
        answer = await read(c, "dap_script", code=code)
        status = await read(c, "dap_status")
        assert "(kept: session 1)" in answer
        assert "(ended with the script: session 2)" in answer
        assert "stopped" in status.splitlines()[0]
        # The kept session is the client's own from here on.
        assert "Stopped" in await read(c, "dap_step_over")


async def test_a_program_that_does_not_end_in_time_with_its_script_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dapeer.tools.script.SECONDS_TO_END_SESSIONS", 0.0)
    async with client(ORDERS) as c:
        answer = await read(c, "dap_script", code='d.run("orders.py", stop_on_entry=True)')
    assert "(session 1 did not end in 0 seconds)" in answer


async def test_an_error_of_a_tool_is_an_exception_with_its_two_sentences() -> None:
    code = 'try:\n    d.continue_()\nexcept ToolError as error:\n    print("caught:", error)\nd.evaluate(["1"])'
    async with client(ORDERS) as c:
        result = await call(c, "dap_script", code=code)
    assert result.is_error
    answer = text(result)
    assert "caught: There is no debug session. Start one with dap_run." in answer
    assert 'File "<script>", line 5, in <module>' in answer
    assert "scripting" not in answer


async def test_a_script_is_ended_at_its_limit_with_all_that_it_started() -> None:
    code = 'd.run("orders.py", stop_on_entry=True)\nprint("begun")\nwhile True:\n    pass'
    async with client(ORDERS) as c:
        result = await call(c, "dap_script", code=code, timeout_ms=6_000)
        status = await read(c, "dap_status")
    assert result.is_error
    assert text(result).startswith("The script was ended after 6,000 ms")
    assert "stopped" not in status.splitlines()[0]


async def test_a_script_whose_caller_cancels_ends() -> None:
    async with client(ORDERS) as c:
        with anyio.move_on_after(CANCELLED_AFTER_SECONDS):
            await call(c, "dap_script", code="import time\nwhile True: time.sleep(60)")
        with anyio.fail_after(LIMIT):
            assert "No debug sessions" in await read(c, "dap_status")


STARTS_ANOTHER = """
import pathlib, subprocess
child = subprocess.Popen(["sleep", "600"])
pathlib.Path("pid").write_text(str(child.pid))
print("in", pathlib.Path.cwd().name)
child.wait()
"""


async def test_at_its_limit_a_scripts_whole_process_group_ends(tmp_path: Path) -> None:
    async with client(tmp_path) as c:
        result = await call(c, "dap_script", code=STARTS_ANOTHER, timeout_ms=3_000)
        assert f"in {tmp_path.name}" in text(result)
        await process_gone(int((tmp_path / "pid").read_text()))


async def test_a_script_whose_client_leaves_ends_with_all_it_started(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    code = STARTS_ANOTHER.replace("child.wait()", "open('begun', 'w').close()\nchild.wait()")
    async with client(tmp_path) as c, anyio.create_task_group() as tasks:
        tasks.start_soon(partial(call, c, "dap_script", code=code))
        await anyio.to_thread.run_sync((tmp_path / "begun").read_text)
        tasks.cancel_scope.cancel()
    await process_gone(int((tmp_path / "pid").read_text()))


@needs_ptrace
async def test_a_script_detaches_from_what_it_attached_to_and_leaves_earlier_sessions(
    tmp_path: Path,
) -> None:
    needs("gdb")
    (tmp_path / "waits.c").write_text("#include <unistd.h>\nint main(void) { sleep(600); }\n")
    built = compiled("waits.c", tmp_path, tmp_path / "waits.c").path
    async with await anyio.open_process([str(built)]) as waits, client(ORDERS) as c:
        await read(c, "dap_run", program="orders.py", stop_on_entry=True)
        attach = f"d.run(request='attach', pid={waits.pid}, timeout_ms=20_000)"
        answer = await read(c, "dap_script", code=attach)
        assert "(detached from with the script: session 2)" in answer
        assert is_running(waits.pid)
        status = await ask(c, "dap_status")
        assert status["sessions"][0]["state"] == "stopped"
        waits.kill()


async def test_calls_within_a_script_obey_the_clients_tools_and_masks(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("password = 'hunter2-and-more'\nprint(1)\n")
    code = """
try:
    d.call_tool("nvim_buffers_list")
except ToolError as error:
    print(error)
with d.run("a.py", breakpoints=[{"filename": "a.py", "line": 2}]) as s:
    print(s.value("password"), s.stack())
"""
    async with served(tmp_path, selection=Selection(groups=("dap",))) as (c, _):
        answer = await read(c, "dap_script", code=code)
        assert "nvim_buffers_list" in answer
        assert "hunter2" not in answer
        assert "<module> a.py:2" in answer
    async with served(tmp_path, selection=Selection(read_only=True)) as (c, _):
        assert "dap_script" not in {each.name for each in (await c.list_tools()).tools}
        with pytest.raises(MCPError, match="it was started with `--read-only`"):
            await call(c, "dap_script", code="1")


async def test_a_long_script_reports_progress(tmp_path: Path) -> None:
    told: list[str] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        """Keep a message of progress."""
        told.append(f"{progress} of {total}: {message}")

    code = "import time\ntime.sleep(3)\nprint('slept')"
    async with sessions.Debugger({}, tmp_path) as debugger:
        serve = jsonl.serve_socket
        server = make_server(debugger, TOOLS, heartbeat=0.5, serve_socket=serve)
        async with Client(server) as c:
            result = await c.call_tool("dap_script", {"code": code}, progress_callback=heard)
    assert "slept" in text(result)
    assert told


def test_the_package_stays_light() -> None:
    shown = "import dapeer, sys; print({'mcp', 'pydantic', 'anyio'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("", "`code` is empty."),
        ("if (", "`code` is no Python:"),
    ],
)
async def test_what_is_no_script_runs_nothing(code: str, said: str) -> None:
    async with client(ORDERS) as c:
        assert said in await refusal(c, "dap_script", code=code)


async def test_a_script_starts_no_scripts_and_has_its_connection_in_no_variable() -> None:
    code = """
import os, sys, time
print([name for name in os.environ if "SCRIPT" in name])
try:
    d.call_tool("dap_script", code="1")
except ToolError as error:
    print(error)
print("x" * 30_000)
sys.stdout.buffer.write("é".encode()[:1])
sys.stdout.flush()
time.sleep(0.1)
sys.stdout.buffer.write("é".encode()[1:])
"""
    async with client(ORDERS) as c:
        answer = await read(c, "dap_script", code=code)
    assert "[]" in answer
    assert "A script starts no scripts." in answer
    assert "characters …" in answer
    assert answer.endswith("é")
    assert len(answer) < 12_000


def test_a_person_uses_the_same_library_in_a_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop.py").write_text("prices = [1, 2]\ntotal = sum(prices)\nprint(total)\n")
    monkeypatch.chdir(tmp_path)
    breakpoints = [{"filename": "shop.py", "line": 3}]
    with Debugger() as d, d.run("shop.py", python=sys.executable, breakpoints=breakpoints) as s:
        assert s.place == "shop.py:3 in <module>"
        assert s.value("total") == 3
        assert s.value("[*range(5000)] + ['x' * 9000]") == [*range(5000), "x" * 9000]
        assert s.stack() == ["<module> shop.py:3"]
        assert s.status().data["sessions"][0]["session_id"] == s.session_id
        with pytest.raises(ToolError, match="nosuch"):
            s.value("nosuch")
        assert "Ended" in s.continue_()
        assert s.ended
        assert s.exit_code == 0
