"""What a program has from before that is started now: it is said, and there is a way to start without."""

import asyncio

from tests.harness import ask, client, pid_of, read, refusal
from tests.processes import LIMIT, process_gone
from tests.programs import PROGRAMS, program

NOTHING = "print(1)"


async def test_a_start_says_which_breakpoints_filters_and_sessions_are_there_from_before() -> None:
    p = program("loop.py")
    place = f"loop.py:{p.line('inner')}"
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        first = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        assert "from before" not in str(first)
        await read(c, "dap_set_exception_breakpoints", filters=["raised"])
        await read(c, "dap_set_function_breakpoints", names=["middle"])
        said = (
            f"(from before: breakpoints {place}; function breakpoints middle; exception filters raised; "
            f"session 1 (loop.py, stopped at {place}); fresh=true starts without)"
        )
        assert (await read(c, "dap_run", code=NOTHING)).splitlines()[-1] == said
        # Filters that are given are not those from before.
        assert "filters" not in await read(c, "dap_run", code=NOTHING, exception_filters=[])


async def test_what_was_set_since_the_last_start_is_meant_and_not_from_before() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        await read(c, "dap_set_breakpoint", **p.at("inner"))
        assert "from before" not in await read(c, "dap_run", program=str(p))
        await read(c, "dap_terminate")
        again = await read(c, "dap_run", program=str(p))
        assert f"(from before: breakpoints loop.py:{p.line('inner')}; fresh=true" in again


async def test_a_fresh_start_ends_what_was_started_before_and_has_only_the_breakpoints_it_is_given() -> (
    None
):
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        pid = await pid_of(c)
        await read(c, "dap_set_exception_breakpoints", filters=["raised"])
        stop = await read(
            c, "dap_run", program=str(p), fresh=True, breakpoints=[p.at("after_loop")]
        )
        await process_gone(pid)
        assert f"loop.py:{p.line('after_loop')} in main" in stop
        assert "from before" not in stop
        assert stop.endswith("(ended session 1)")
        assert "ended by dap_run with fresh=true" in await read(c, "dap_status")
        kept = await ask(c, "dap_breakpoints")
        assert [each["line"] for each in kept["breakpoints"]] == [p.line("after_loop")]
        assert kept["exception_filters"] == []


async def test_a_fresh_start_that_cannot_be_made_leaves_everything_as_it_was() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        assert "nowhere.py" in await refusal(c, "dap_run", program="nowhere.py", fresh=True)
        assert (await ask(c, "dap_snapshot"))["line"] == p.line("inner")
        assert len((await ask(c, "dap_breakpoints"))["breakpoints"]) == 1
