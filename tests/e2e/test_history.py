"""Looking back at earlier stops."""

import asyncio

from tests.harness import ask, call, client, data, read, refusal, text
from tests.processes import LIMIT
from tests.programs import program


async def test_the_stops_are_listed_with_place_reason_and_changes() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        await ask(c, "dap_step_over")
        await ask(c, "dap_continue")
        listed = await read(c, "dap_history")
        assert listed.count(f"loop.py:{p.line('inner')}") == 2
        assert f"loop.py:{p.line('inner_return')}" in listed
        assert "breakpoint" in listed
        assert "step" in listed
        # What is new is told with its value: nothing else in the list has it.
        assert "doubled = 0 (new)" in listed
        assert "value" in listed


async def test_any_stop_is_shown_in_full_after_the_end() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        for _ in range(4):
            await ask(c, "dap_continue")
        assert (await ask(c, "dap_continue"))["state"] == "ended"
        for number in range(1, 6):
            stop = data(await call(c, "dap_history", number=number))
            assert stop["locals"]["value"] == str(number - 1)
            assert stop["line"] == p.line("inner")
            assert "@inner" in stop["source"]
            assert stop["source"].splitlines()[0].endswith("def inner(value):")
            assert stop["source"].splitlines()[-1].endswith("@inner_return")


async def test_a_stop_that_never_was_is_refused() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        assert "99" in await refusal(c, "dap_history", number=99)


async def test_a_program_that_never_stopped_has_an_empty_history() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(program("quick.py")))
        assert not (await call(c, "dap_history")).is_error


async def test_history_is_bounded_and_says_what_it_dropped() -> None:
    p = program("loop.py")
    async with asyncio.timeout(2 * LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), args=["130"], breakpoints=[p.at("inner")])
        for _ in range(129):
            await ask(c, "dap_continue")
        listed = await call(c, "dap_history")
        assert len(text(listed)) < 20_000
        assert "130" in text(listed)
        await refusal(c, "dap_history", number=1)
        assert data(await call(c, "dap_history", number=130))["locals"]["value"] == "129"


async def test_what_changed_is_told_against_the_last_stop_in_the_same_function() -> None:
    p = program("locals_change.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(
            c, "dap_run", program=str(p),
            breakpoints=[p.at("first"), p.at("second"), p.at("third")],
        )  # fmt: skip
        second = await ask(c, "dap_continue")
        assert second["changed"] == {
            "count": ["1", "2"],
            "names": ["['a']", "['a', 'b']"],
            "first": [None, "True"],
        }
        third = await ask(c, "dap_continue")
        assert third["changed"] == {"later": [None, "'new'"]}
