"""Programs that start programs: neither may hang."""

import asyncio

import pytest

from tests.harness import ask, client
from tests.processes import LIMIT
from tests.programs import program

WAYS = ["subprocess", "spawn", "fork", "os_fork"]


@pytest.mark.parametrize("how", WAYS)
async def test_a_program_that_starts_a_child_stops_after_it_and_runs_to_its_end(how: str) -> None:
    """Pitfall 14: four of six peers hang here."""
    p = program("children.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), args=[how], breakpoints=[p.at("parent")])
        assert (stop["line"], stop["locals"]["code"]) == (p.line("parent"), "0")
        assert "child" in (await ask(c, "dap_program_output"))["text"]
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        assert "parent saw 0" in (await ask(c, "dap_program_output"))["text"]


async def test_a_program_that_replaces_itself_is_not_lost() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", program=str(program("children.py")), args=["execv"])
        assert end["state"] == "ended"
        assert "executed" in (await ask(c, "dap_program_output"))["text"]


@pytest.mark.parametrize("how", ["subprocess", "spawn", "os_fork"])
async def test_even_with_sub_process_debugging_switched_on_nobody_hangs(how: str) -> None:
    """Debugpy then asks us to attach to the child; refused, the child runs on."""
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(
            c, "dap_run", program=str(program("children.py")), args=[how],
            config={"subProcess": True},
        )  # fmt: skip
        assert (end["state"], end["exit_code"]) == ("ended", 0)
