"""An expression that calls a function of the program: the stop lasts, or the answer says what the call has made of it."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import ask, client, evaluate, has_all, needs, printed, read, refusal
from tests.processes import LIMIT
from tests.programs import Program, compiled


@pytest.fixture(scope="module")
def literals(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return compiled("literals.cpp", tmp_path_factory.mktemp("literals"))


CALLING = {
    'length("abc")': "3",
    "byref(5)": "6",
    "names[1]": '"one"',
    'sizes["a"]': "Invalid cast.",  # GDB has called `malloc` for the literal by then
    'length("ab") + length("c")': "3",
}
"""Expressions for whose literals GDB calls another function, with what is answered."""


@pytest.mark.parametrize("expression", CALLING)
async def test_after_a_call_with_a_literal_the_program_is_stopped_where_it_was(
    literals: Program, expression: str
) -> None:
    needs("gdb")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(literals), breakpoints=[literals.at("look")])
        frame = (await ask(c, "dap_stacktrace"))["frames"][0]["frame_id"]
        told = await read(c, "dap_evaluate", expressions=[expression, "total"])
        assert told.splitlines()[0].endswith(CALLING[expression])
        assert told.splitlines()[1] == "total = 7"
        assert await evaluate(c, "total", frame_id=frame) == "7"
        assert "(breakpoint)" in await read(c, "dap_status")
        assert (await ask(c, "dap_step_over"))["line"] == literals.line("end")


async def test_a_value_that_is_assigned_or_printed_by_a_call_leaves_the_stop_as_it_was(
    literals: Program,
) -> None:
    needs("gdb")
    at = literals.at("look")
    async with asyncio.timeout(LIMIT), client() as c:
        shown = await read(
            c,
            "dap_run",
            program=str(literals),
            breakpoints=[at],
            evaluate=['length("abc")', "total"],
        )
        assert has_all(shown, 'length("abc") = 3', "total = 7")
        told = await read(c, "dap_set_variable", path="total", value='length("ab")')
        assert told == "total = 2 (was 7)"
        await read(c, "dap_evaluate", expression='print length("abcd")', context="repl")
        assert await evaluate(c, "total") == "2"
        assert "Ended, exit code 0" in await read(c, "dap_continue")


async def test_a_breakpoint_in_the_called_function_is_the_stop_that_is_told(
    literals: Program,
) -> None:
    needs("gdb")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(literals), breakpoints=[literals.at("look")])
        await ask(c, "dap_set_breakpoint", **literals.at("length"))
        told = (await read(c, "dap_evaluate", expressions=['length("abc")', "total"])).splitlines()
        place = f"fixtures/programs/literals.cpp:{literals.line('length')}"
        assert f"(the program has stopped (breakpoint) in length {place})" in told[0]
        assert told[1] == "total: not evaluated"
        assert await evaluate(c, "text[0]") == "97 'a'"
        back = await ask(c, "dap_continue")
        assert (back["reason"], back["line"]) == ("function call", literals.line("look"))
        once_more = await refusal(c, "dap_set_variable", path="total", value='length("ab")')
        assert f"(the program has stopped (breakpoint) in length {place})" in once_more


@pytest.mark.parametrize(
    ("expression", "consequence"),
    [
        ('leave("abc")', "(the program has ended, exit code 3)"),
        # GDB undoes the call: the program stands where it was.
        ("length(0)", "received signal SIGSEGV"),
    ],
)
async def test_a_call_that_ends_the_program_or_crashes_is_told_as_such(
    literals: Program, expression: str, consequence: str
) -> None:
    needs("gdb")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(literals), breakpoints=[literals.at("look")])
        assert consequence in await refusal(c, "dap_evaluate", expression=expression)


async def test_a_condition_that_calls_a_function_with_a_literal_leaves_the_next_stop_whole(
    literals: Program,
) -> None:
    needs("gdb")
    at = literals.at("look", condition='length("abc") == 3')
    async with asyncio.timeout(LIMIT), client() as c:
        assert (await ask(c, "dap_run", program=str(literals), breakpoints=[at]))["line"] == at[
            "line"
        ]
        assert await evaluate(c, 'total + length("a")') == "8"
        assert (await ask(c, "dap_step_over"))["line"] == literals.line("end")


async def test_a_call_that_does_not_return_is_named_and_broken_off(tmp_path: Path) -> None:
    needs("gdb")
    paced = compiled("paced.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(paced), breakpoints=[paced.at("step")])
        arguments = {"expressions": ["nap(1000)"], "timeout_ms": 3000}
        calling = asyncio.create_task(refusal(c, "dap_evaluate", **arguments))
        await printed(c, "napping")
        assert "stopped (breakpoint) (evaluates `nap(1000)`)" in await read(c, "dap_status")
        assert "so it was broken off" in await calling
        assert "evaluates" not in await read(c, "dap_status")
        assert await evaluate(c, "n") == "0"
        stop = await ask(c, "dap_continue")
        assert (stop["reason"], stop["line"]) == ("breakpoint", paced.line("step"))
