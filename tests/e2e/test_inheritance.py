"""What a program has from before that is started now: it is said, and there is a way to start without."""

import asyncio
from pathlib import Path

from tests.e2e.test_collecting import two_assistants
from tests.harness import FAKE_PROGRAM, ask, client, fake, has_all, pid_of, read, refusal
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


async def test_a_program_stops_at_the_functions_that_its_start_names() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[{"function": "middle"}])
        assert (stop["reason"], stop["function"]) == ("function breakpoint", "middle")
        assert "from before" not in str(stop)
        # A later one is added, and a start that fails leaves none.
        told = await read(c, "dap_set_breakpoint", function="inner")
        assert "middle: verified\ninner: pending: any name is taken" in told
        gone = [{"function": "gone"}, {"filename": "nowhere.py", "line": 1}]
        await refusal(c, "dap_run", program=str(p), breakpoints=gone)
        assert await read(c, "dap_breakpoints") == "function middle\nfunction inner"
        gone = await read(c, "dap_remove_breakpoint", function="inner")
        assert gone == "Nothing stops at inner any more."
        assert await read(c, "dap_breakpoints") == "function middle"


async def test_an_adapter_that_does_not_know_functions_by_name_is_said_not_to_stop_there(
    settings: Path,
) -> None:
    fake(settings, capabilities={"supportsConfigurationDoneRequest": True})
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        text = await read(
            c, "dap_run", program=FAKE_PROGRAM, type="fake", breakpoints=[{"function": "f"}]
        )
        assert "Rejected: f (fake has no function breakpoints: set one on a line of it)" in text


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
        collecting = {**p.at("after_loop"), "collect": ["1"]}
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner"), collecting])
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


async def test_what_another_client_has_started_is_named_without_a_way_to_end_it() -> None:
    async with two_assistants(PROGRAMS) as (other, c):
        await ask(other, "dap_run", code=NOTHING, stop_on_entry=True)
        for fresh in (False, True):
            said = await read(c, "dap_run", code=NOTHING, fresh=fresh)
            assert said.splitlines()[-1].startswith("(from before: session 1 (")
            assert "fresh" not in said


async def test_a_fresh_start_kills_an_earlier_program_that_is_stuck(settings: Path) -> None:
    fake(settings, {"disconnect": []}, timeouts="control = 1\nrequest = 1")
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        again = await read(c, "dap_run", code="print('new')", fresh=True)
        assert has_all(again, "Ended, exit code 0 [session 2]", "new", "(ended session 1)")


async def test_a_fresh_start_that_cannot_be_made_leaves_everything_as_it_was() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        assert "nowhere.py" in await refusal(c, "dap_run", program="nowhere.py", fresh=True)
        assert (await ask(c, "dap_snapshot"))["line"] == p.line("inner")
        assert len((await ask(c, "dap_breakpoints"))["breakpoints"]) == 1
