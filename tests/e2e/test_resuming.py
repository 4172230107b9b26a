"""What a caller who makes a program run is told of its next stop: what he asks for, and no more than that."""

import asyncio
import sys
from pathlib import Path

import pytest
from mcp import Client

from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.server.server import make_server
from dapeer.sessions.debugger.debugger import Debugger
from tests.harness import ask, call, client, data, needs, read, text
from tests.processes import LIMIT
from tests.programs import ROOT, compiled, program

SHOP = program("shop.py")
LOOP = program("loop.py")
CHANGED = "Changed:" if sys.version_info < (3, 12) else "Changed, perhaps in another call:"
"""From 3.12 on debugpy tells calls apart by nothing."""


async def test_every_tool_that_resumes_evaluates_at_the_next_stop() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        asked = {"evaluate": ["value + 1", "valu", "1 / 0"]}
        stop = await ask(c, "dap_run", program=str(LOOP), breakpoints=[LOOP.at("inner")], **asked)
        assert stop["values"] == {"value + 1": "1"}
        assert stop["failed"] == {
            "valu": "NameError: name 'valu' is not defined (near: value)",
            "1 / 0": "ZeroDivisionError: division by zero",
        }
        told = await read(c, "dap_continue", **asked)
        assert "\nValues:\n  value + 1 = 2\n  valu: NameError: name" in told
        for tool, arguments in (
            ("dap_step_over", {}),
            ("dap_run_to", LOOP.at("middle_return")),
            ("dap_goto", {"line": LOOP.line("middle")}),
            ("dap_step_into", {}),
            ("dap_step_out", {}),
            ("dap_pause", {}),
            ("dap_wait_until_paused", {}),
            ("dap_restart", {}),
        ):
            stop = await ask(c, tool, **arguments, evaluate="value + 1")
            assert stop["values"] == {"value + 1": "1" if tool == "dap_restart" else "2"}, tool


async def test_an_expression_without_an_end_costs_itself_and_not_the_stop() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(LOOP), breakpoints=[LOOP.at("inner")])
        stop = await ask(
            c, "dap_step_over", evaluate=["[0 for _ in iter(int, 1)]", "value"], timeout_ms=2000
        )
        assert stop["line"] == LOOP.line("inner_return")
        assert "did not answer" in stop["failed"]["[0 for _ in iter(int, 1)]"]
        assert stop["failed"]["value"] == "not evaluated"


async def test_where_the_program_does_not_stop_nothing_is_evaluated_and_that_is_said() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(LOOP), breakpoints=[LOOP.at("after_loop")])
        end = await read(c, "dap_continue", evaluate=["total"])
        assert "(nothing was evaluated: the program has ended)" in end


async def test_a_brief_answer_is_the_place_what_changed_and_what_was_asked_for() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(
            c, "dap_run", program=str(SHOP), breakpoints=[SHOP.at("add")], python=sys.executable
        )
        stop = await call(c, "dap_step_over", show="brief", evaluate=["total * 2"])
        assert text(stop).splitlines() == [
            f"Stopped (step) at fixtures/programs/shop.py:{SHOP.line('add') - 1} in total",
            f"→ {SHOP.line('add') - 1} for item in self.items:",
            CHANGED,
            "  (return) Item.cost = 36.0",
            "  total: 0.0 → 36.0",
            "Values:",
            "  total * 2 = 72.0",
        ]
        assert not {"stack", "locals"} & data(stop).keys()


async def test_a_time_out_of_nothing_does_not_wait() -> None:
    p = program("endless_loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        started = await ask(c, "dap_run", program=str(p), timeout_ms=0)
        assert started["state"] == "running"


async def test_what_did_not_change_in_the_frame_is_not_told_again() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        first = await read(
            c, "dap_run", program=str(SHOP), breakpoints=[SHOP.at("add")], python=sys.executable
        )
        assert "\n  main :" in first
        assert "\n  self = Order(" in first
        told = await read(c, "dap_step_over")
        assert told.splitlines() == [
            f"Stopped (step) at fixtures/programs/shop.py:{SHOP.line('add') - 1} in total",
            f"→ {SHOP.line('add') - 1} for item in self.items:",
            CHANGED,
            "  (return) Item.cost = 36.0",
            "  total: 0.0 → 36.0",
            "(as before: stack, 2 locals)",
        ]
        # Who asks again, or for all, is told all.
        for tool, more in (
            ("dap_snapshot", {}),
            ("dap_wait_until_paused", {}),
            ("dap_step_over", {"show": "full"}),
        ):
            whole = await read(c, tool, **more)
            assert "\n  main :" in whole
            assert "\n  self = Order(" in whole
            assert "as before" not in whole


async def test_a_frame_in_which_the_program_stops_anew_is_told_whole() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(SHOP), breakpoints=[SHOP.at("add")])
        into = await read(c, "dap_step_into")
        assert "\n  total :" in into
        assert "\n  discount = 0.1" in into
        back = await read(c, "dap_step_out")
        assert "as before: stack, 3 locals" in back, "it was told before the call"


async def test_another_client_is_told_all_of_a_stop() -> None:
    definitions = load_all(shipped())
    async with (
        asyncio.timeout(LIMIT),
        Debugger(definitions, ROOT) as debugger,
        Client(make_server(debugger, TOOLS)) as one,
        Client(make_server(debugger, TOOLS)) as other,
    ):
        await read(one, "dap_run", program=str(SHOP), breakpoints=[SHOP.at("add")])
        assert "as before" in await read(one, "dap_step_over")
        assert "\n  self = Order(" in await read(other, "dap_step_over", session_id=1)


@pytest.mark.parametrize(
    ("adapter", "name", "value", "inner"),
    [
        ("debugpy", "loop.py", "(return) inner = 0", "inner; its locals at line {}: value = 0"),
        ("gdb", "loop.c", "(return) = 0", "inner; its locals at line {}: value = 0, doubled = 0"),
        ("js-debug", "loop.js", "Return value = ", "global.inner; its locals at line {}: "),
    ],
)
async def test_a_step_that_returns_tells_what_was_returned_and_the_last_locals(
    adapter: str, name: str, value: str, inner: str, tmp_path: Path
) -> None:
    needs(adapter)
    p = compiled(name, tmp_path) if name.endswith(".c") else program(name)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), type=adapter, breakpoints=[p.at("inner")])
        out = await read(c, "dap_step_out", show="brief")
        assert f"\nReturned from {inner.format(p.line('inner'))}" in out
        assert f"\n  {value}" in out


async def test_what_was_returned_is_told_once_and_not_when_the_program_goes_on() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(SHOP), breakpoints=[SHOP.at("add")])
        assert "(return) Item.cost = 36.0" in await read(c, "dap_step_over", show="full")
        assert "(return)" not in await read(c, "dap_continue", show="full")
