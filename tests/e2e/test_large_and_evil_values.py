"""Values that are too large to show, and values that do not want to be shown."""

import asyncio
import os

from tests.harness import ask, call, client, data, evaluate, pid_of, read, text
from tests.processes import LIMIT, descendants, process_gone
from tests.programs import program

BUDGET = 5_000
"""Bytes of text that one result may have, whatever it is about."""


async def test_huge_locals_leave_the_result_small_and_it_says_how_to_see_more() -> None:
    """Pitfall 6; also attributes, lengths and reprs that raise."""
    p = program("big_values.py")
    async with asyncio.timeout(LIMIT), client() as c:
        result = await call(c, "dap_run", program=str(p), breakpoints=[p.at("look")])
        stop = data(result)
        assert stop["line"] == p.line("look")
        assert {"numbers", "text", "table", "nested", "cyclic", "raising"} <= stop["locals"].keys()
        assert len(text(result).encode()) < BUDGET
        assert len(str(stop).encode()) < 2 * BUDGET
        assert stop["locals"]["größe"] == "42"
        assert "🐢" in stop["locals"]["unicode_text"]


async def test_a_list_of_a_million_elements_is_seen_page_by_page() -> None:
    p = program("big_values.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")])
        first = await call(c, "dap_variables", path="numbers")
        assert len(text(first).encode()) < BUDGET
        assert len(data(first)["variables"]) <= 50
        assert "start=" in text(first)
        deep = await read(c, "dap_variables", path="numbers[654321]")
        assert "654321" in deep


async def test_a_string_of_5_megabytes_is_cut_and_its_length_told() -> None:
    p = program("big_values.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")])
        result = await call(c, "dap_evaluate", expression="text")
        assert len(text(result).encode()) < BUDGET
        part = await read(c, "dap_evaluate", expression="text[4_999_990:]")
        assert "xxxxxxxxxx" in part


async def test_3000_attributes_and_100_000_keys_are_bounded() -> None:
    p = program("big_values.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")])
        for path in ("attributes", "table", "nested", "cyclic", "evil_length", "evil_attributes"):
            result = await call(c, "dap_variables", path=path)
            assert len(text(result).encode()) < BUDGET, path
        count = await ask(c, "dap_variables", path="attributes", start=2990, count=5)
        assert len(count["variables"]) == 5


async def test_cycles_can_be_followed_for_ever() -> None:
    p = program("big_values.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")])
        path = "cyclic" + "['self']" * 20 + "['name']"
        assert "me" in await read(c, "dap_variables", path=path)


async def test_a_repr_that_raises_hides_nothing_else() -> None:
    p = program("raising_repr.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")])
        assert stop["locals"]["fine"] == "1"
        assert "Raising" in stop["locals"]["raising"]


async def test_a_slow_repr_is_called_only_where_it_is_asked_for() -> None:
    """Pitfall 6: a repr of two seconds."""
    p = program("slow_repr.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")])
        assert (stop["state"], stop["line"]) == ("stopped", p.line("look"))
        assert "slow: Slow = <Slow>" in await read(c, "dap_variables")
        assert await evaluate(c, "repr(slow)") == "'Slow()'"
        assert (await ask(c, "dap_continue"))["state"] == "ended"


async def test_a_repr_that_makes_debugpy_run_other_threads_is_no_new_stop() -> None:
    """After 3 s debugpy lets other threads run, and tells it as if the program ran on and stopped again."""
    p = program("slow_repr.py")
    async with asyncio.timeout(2 * LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), args=["3.3"], breakpoints=[p.at("look")])
        assert (stop["stop"], stop["locals"]) == (1, {"before": "1", "slow": "<Slow>"})
        assert await evaluate(c, "repr(slow)") == "'Slow()'"
        assert (await ask(c, "dap_snapshot"))["stop"] == 1
        assert (await ask(c, "dap_evaluate", expression="before"))["result"] == "1"
        assert (await ask(c, "dap_program_output", since=0))["text"] == ""
        assert await read(c, "dap_terminate") == "Session 1 ended."


async def test_an_endless_repr_does_not_hang_the_caller() -> None:
    """It blocks debugpy for good; only killing helps."""
    p = program("endless_repr.py")
    async with asyncio.timeout(2 * LIMIT), client() as c:
        first = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("before")])
        assert first["line"] == p.line("before")
        pid = await pid_of(c)
        await ask(c, "dap_step_over")
        result = await call(c, "dap_step_over")
        assert str(p.line("look")) in text(result) or "Ended" in text(result)
        # Whatever became of it, the caller can end it, and then it is gone.
        await call(c, "dap_terminate")
        await process_gone(pid)
        assert "ended" in await read(c, "dap_status")


async def test_an_endless_evaluation_ends_by_its_deadline_and_the_caller_is_told() -> None:
    p = program("endless_evaluate.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")])
        result = await call(c, "dap_evaluate", expression="endless()", timeout_ms=1000)
        assert result.is_error
        assert "1" in text(result)
        assert "The session continues" in text(result)
        assert (await ask(c, "dap_snapshot"))["state"] == "stopped"
        # debugpy interrupts the evaluation once, some seconds later, and then answers again; where
        # something in the program catches even that, the caller is told what is left to do.
        later = await call(c, "dap_evaluate", expression="answer")
        assert ("dap_terminate" if later.is_error else "42") in text(later)
        await read(c, "dap_terminate")
        assert (await ask(c, "dap_snapshot"))["state"] == "ended"


async def test_an_evaluation_that_exits_does_not_hang_the_caller() -> None:
    """SystemExit in evaluate gets no response from debugpy."""
    p = program("endless_evaluate.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")])
        result = await call(c, "dap_evaluate", expression="exit()", timeout_ms=1000)
        assert result.is_error
        assert "42" in await read(c, "dap_evaluate", expression="answer")


async def test_an_evaluation_that_reads_input_does_not_hang_the_caller() -> None:
    p = program("endless_evaluate.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")])
        await call(c, "dap_evaluate", expression="input()", timeout_ms=2000)
        assert "42" in await read(c, "dap_evaluate", expression="answer")


async def test_no_adapter_is_left_when_a_wedged_session_is_left_alone() -> None:
    p = program("endless_repr.py")
    before = set(descendants(os.getpid()))
    async with asyncio.timeout(2 * LIMIT):
        async with client() as c:
            await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")], timeout_ms=3000)
            started = set(descendants(os.getpid())) - before
        for pid in started:
            await process_gone(pid)
