"""What a caller who makes a program run is told of its next stop: what he asks for, and no more than that."""

import asyncio

from tests.harness import ask, call, client, data, read, text
from tests.processes import LIMIT
from tests.programs import program

SHOP = program("shop.py")
LOOP = program("loop.py")


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
            c, "dap_step_over", evaluate=["[0 for _ in iter(int, 1)]", "value"], timeout_ms=600
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
        await ask(c, "dap_run", program=str(SHOP), breakpoints=[SHOP.at("add")])
        stop = await call(c, "dap_step_over", show="brief", evaluate=["total * 2"])
        assert text(stop).splitlines() == [
            f"Stopped (step) at fixtures/programs/shop.py:{SHOP.line('add') - 1} in total",
            f"→ {SHOP.line('add') - 1}         for item in self.items:",
            "Changed:",
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
