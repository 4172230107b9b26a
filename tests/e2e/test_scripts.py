"""A script in one call: what it can do, how it ends, and what it leaves."""

import sys
from pathlib import Path

import anyio
import pytest

from dapeer import Debugger, ToolError
from tests.harness import call, client, read, refusal, text
from tests.processes import LIMIT
from tests.programs import ROOT

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
        assert s.stack() == ["<module> shop.py:3"]
        assert s.status().data["sessions"][0]["session_id"] == s.session_id
        with pytest.raises(ToolError, match="nosuch"):
            s.value("nosuch")
        assert "Ended" in s.continue_()
        assert s.ended
        assert s.exit_code == 0
