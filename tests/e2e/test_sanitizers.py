"""What a sanitizer finds is a stop in the user's code with its text, in every debugger."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import ask, client, evaluate, needs
from tests.processes import LIMIT
from tests.programs import compiled

OVERFLOW = "igned integer overflow: 2147483647 + 1 cannot be represented in type 'int'"
SHIFT = "hift exponent 32 is too large for 32-bit type 'int'"
"""GCC's library begins with a capital, Clang's with a small letter."""


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_undefined_behaviour_stops_where_it_happens_with_what_was_found(
    adapter: str, tmp_path: Path
) -> None:
    needs(adapter)
    p = compiled("undefined.cpp", tmp_path, options=("-fsanitize=undefined",))
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), type=adapter)
        assert (stop["reason"], stop["line"]) == ("sanitizer", p.line("overflow"))
        assert stop["exception"].endswith(OVERFLOW)
        assert await evaluate(c, "n") == "2147483647"
        stop = await ask(c, "dap_continue")
        assert (stop["reason"], stop["line"]) == ("sanitizer", p.line("shift"))
        assert stop["exception"].endswith(SHIFT)
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 0)


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_a_data_race_stops_at_the_line_that_races(adapter: str, tmp_path: Path) -> None:
    needs(adapter)
    p = compiled("race.cpp", tmp_path, options=("-fsanitize=thread",))
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), type=adapter)
        assert (stop["reason"], stop["line"]) == ("sanitizer", p.line("race"))
        assert stop["exception"].startswith("ThreadSanitizer: data race")
        here = next(line for line in stop["source"].splitlines() if line.startswith("→"))
        assert "counter = counter + 1;" in here
