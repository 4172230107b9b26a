"""What has changed is told within one call of a function; where it may be another one, that is said."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import client, needs, read
from tests.processes import LIMIT
from tests.programs import PROGRAMS, compiled, program
from tests.pythons import python_of

NOTED = "(another call of counted than before: not compared)"


async def test_a_second_call_from_the_same_line_is_not_compared_with_the_first_in_python() -> None:
    p = program("calls.py")
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        # From 3.12 on debugpy tells calls apart by nothing.
        python = python_of("3.11")
        await read(c, "dap_run", program=str(p), breakpoints=[p.at("count")], python=python)
        assert "\nChanged:\n  number: 0 → 1" in await read(c, "dap_continue")
        second = await read(c, "dap_continue")
        assert NOTED in second
        assert "Changed" not in second
        # Who asks for the whole stop reads it again.
        assert NOTED in await read(c, "dap_snapshot")
        # A step and what was traced for it makes no other call.
        assert NOTED not in await read(c, "dap_step_over")
        assert "\nChanged:\n  number: 0 → 1" in await read(c, "dap_continue")
        third = await read(c, "dap_continue")
        assert "number = 0" in third
        assert "not compared" not in third, "it is said once of a function"
        assert "Changed" not in third
        rows = (await read(c, "dap_history")).splitlines()
        assert rows[1].endswith("| number: 0 → 1")
        assert "another call: number = 0; total = 0" in rows[2]


@pytest.mark.parametrize(
    ("adapter", "name"), [("gdb", "loop.c"), ("js-debug", "loop.js"), ("delve", "loop.go")]
)
async def test_where_an_adapter_tells_calls_apart_by_nothing_it_is_said_that_it_may_be_another(
    adapter: str, name: str, tmp_path: Path
) -> None:
    needs(adapter)
    p = compiled(name, tmp_path) if name.endswith(".c") else program(name)
    async with asyncio.timeout(2 * LIMIT), client(PROGRAMS) as c:
        await read(c, "dap_run", program=str(p), type=adapter, breakpoints=[p.at("inner")])
        again = await read(c, "dap_continue")
        assert "Changed, perhaps in another call:\n" in again
        assert "  value: 0 → 1" in again
        assert "\nChanged:\n  doubled" in await read(c, "dap_step_over")
