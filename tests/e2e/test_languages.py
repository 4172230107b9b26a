"""One flow under every adapter: what one cannot do, its definition says, not this test."""

import asyncio
import re
from pathlib import Path

import pytest
from mcp import Client
from mcp.types import CallToolResult

from tests.e2e.conftest import names_in
from tests.harness import Json, ask, call, client, data, evaluate, needs, read, refusal, text
from tests.languages import Language, named, program_of, ready
from tests.processes import LIMIT
from tests.programs import Program, program
from tests.shown import Shows


async def test_the_whole_flow_works_under_every_adapter(
    language: Language, build: Path, temporary: Path, shows: Shows
) -> None:
    p = program_of(language, build)
    async with asyncio.timeout(LIMIT), client() as c:
        value = await a_condition_decides_where_it_stops(c, language, p)
        await stack_variables_and_expressions_are_there(c, language, value)
        value = await a_variable_is_set(c, language, value)
        await a_step_shows_the_next_line_and_what_it_has_done(c, language, p, value)
        await the_end_is_told_with_all_output(c, language)
        await nothing_can_be_inspected_any_more_and_the_answer_says_why(c)
    assert not names_in(temporary)
    shows(language.adapter, "breakpoint", "step", *(["condition"] * language.can("condition")))


@pytest.mark.parametrize("adapter", ["debugpy", "bash-dap", "gdb"])
async def test_the_next_stop_shows_what_is_another_now_and_history_keeps_both(
    adapter: str, build: Path
) -> None:
    language = named(adapter)
    ready(language)
    p = program_of(language, build)
    async with asyncio.timeout(LIMIT), client() as c:
        first = await call(c, "dap_run", type=adapter, program=str(p), breakpoints=[p.at("inner")])
        assert text(first).startswith("Stopped (breakpoint)")
        place = f"fixtures/programs/{language.source}:{p.line('inner')}"
        assert f"{place} in inner" in text(first).splitlines()[0]
        for part in ("@inner", "middle", "value"):
            assert part in text(first)
        assert data(first)["locals"]["value"].strip('"') == "0"
        second = await call(c, "dap_continue")
        the_values_of_both_calls_are_told(second)
        step = await ask(c, "dap_step_over")
        assert (step["reason"].split()[0], step["line"]) == ("step", p.line("inner_return"))
        await ask(c, "dap_clear_breakpoints")
        assert text(await call(c, "dap_continue")).startswith("Ended, exit code 0")
        output = await ask(c, "dap_program_output", category="stdout")
        assert (output["text"].count("round 0\n"), output["exit_code"]) == (1, 0)
        assert (await read(c, "dap_history")).count(place) == 2
        assert re.search('value = "?0', await read(c, "dap_history", number=1))


def the_values_of_both_calls_are_told(result: CallToolResult) -> None:
    assert data(result)["locals"]["value"].strip('"') == "1"
    assert "1" in text(result)
    # It is another call of the function; where the adapter tells so, nothing is compared.
    compared = [value.strip('"') for value in data(result).get("changed", {}).get("value", ())]
    assert compared == ["0", "1"] or "not compared" in text(result)


@pytest.mark.parametrize("adapter", ["debugpy", "gdb", "delve", "js-debug"])
async def test_a_variable_that_was_set_has_the_new_value_everywhere(
    adapter: str, build: Path
) -> None:
    language = named(adapter)
    ready(language)
    p = program_of(language, build)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", type=adapter, program=str(p), breakpoints=[p.at("inner")])
        assert "50" in await read(c, "dap_set_variable", path="value", value="50")
        assert (await ask(c, "dap_snapshot"))["locals"]["value"] == "50"
        assert "100" in await read(c, "dap_evaluate", expression="value * 2")
        assert (await ask(c, "dap_step_over"))["locals"]["doubled"] == "100"


async def test_an_exit_code_that_is_not_zero_is_told_by_an_adapter_that_knows_it() -> None:
    needs("bash-dap")
    p = program("hello.sh")
    async with asyncio.timeout(LIMIT), client() as c:
        result = await call(c, "dap_run", program=str(p))
        assert (data(result)["state"], data(result)["exit_code"]) == ("ended", 3)
        assert text(result).startswith("Ended, exit code 3")


async def test_a_log_point_prints_and_does_not_stop(
    language: Language, build: Path, shows: Shows
) -> None:
    p = program_of(language, build)
    async with asyncio.timeout(LIMIT), client() as c:
        logs = p.at("inner", log_message=f"seen {{{language.value}}}")
        end = await ask(c, "dap_run", type=language.adapter, program=str(p), breakpoints=[logs])
        if end["state"] == "ended":
            # Each has its place and number, and nothing of them is among what the program prints.
            place = f"fixtures/programs/{language.source}:{p.line('inner')} "
            said = [line.partition("#") for line in end["logged"]]
            assert said[0][0] == place
            assert [int(each[2].split()[0]) for each in said] == list(range(1, len(said) + 1))
            assert [each[2][-6:] for each in said][-1] == "seen 4"
            assert end["output"].count("round ") == len(said)
            assert "seen" not in end["output"]
            printed = (await ask(c, "dap_program_output", since=0))["text"]
            assert printed.count("seen ") == len(said), printed
            assert "@" not in printed
            assert "breakpoints" not in end, "it was not never bound, nor not hit"
            shows(language.adapter, "log point")
        else:
            # What an adapter cannot do is said, and it stops there instead.
            assert stops_anyway(end, "log points")
            assert "logMessage" in await read(c, "dap_breakpoints")


async def a_condition_decides_where_it_stops(c: Client, language: Language, p: Program) -> int:
    """Return the value of the argument where it has stopped."""
    breakpoint_ = p.at("inner", condition=language.condition)
    stop = await ask(c, "dap_run", type=language.adapter, program=str(p), breakpoints=[breakpoint_])
    assert stop["state"] == "stopped", stop
    assert stop["reason"].startswith("breakpoint")
    assert (stop["file"], stop["line"]) == (str(p.source), p.line("inner"))
    assert "@inner" in stop["source"]
    assert stop["function"].startswith(language.stack[0])
    for shown, function in zip(stop["stack"], language.stack, strict=False):
        assert shown.startswith(function), stop["stack"]
    if language.can("condition"):
        return 2
    assert "condition" in await read(c, "dap_breakpoints")
    assert stops_anyway(stop, "conditions")
    return 0


def stops_anyway(stop: Json, lacking: str) -> bool:
    """Whether the first stop says that it is one only because its adapter has no such breakpoints."""
    (told,) = stop["breakpoints"]["stops anyway"]
    return told.endswith(f" has no {lacking})")


async def stack_variables_and_expressions_are_there(
    c: Client, language: Language, value: int
) -> None:
    frames = (await ask(c, "dap_stacktrace"))["frames"]
    for frame, function in zip(frames, language.stack, strict=False):
        assert frame["function"].startswith(function), frames
    assert await variable(c, language.path) == str(value)
    assert str(value) in await evaluate(c, language.value)
    if language.can("expressions"):
        assert str(value + 40) in await evaluate(c, language.sum)


async def a_variable_is_set(c: Client, language: Language, value: int) -> int:
    """Return the value that the argument has now."""
    if not language.can("set_variable"):
        said = await refusal(c, "dap_set_variable", path=language.path, value="50")
        assert language.adapter in said
        # The session has not suffered.
        assert (await ask(c, "dap_snapshot"))["state"] == "stopped"
        return value
    assert "50" in await read(c, "dap_set_variable", path=language.path, value="50")
    assert "50" in await evaluate(c, language.value)
    if language.can("expressions"):
        assert "90" in await evaluate(c, language.sum)
    return 50


async def a_step_shows_the_next_line_and_what_it_has_done(
    c: Client, language: Language, p: Program, value: int
) -> None:
    stop = await ask(c, "dap_step_over")
    assert stop["line"] == p.line("inner_return")
    assert await variable(c, language.changed) == str(value * 2)
    assert stop["locals"].get(language.changed, str(value * 2)).strip("\"'") == str(value * 2)


async def the_end_is_told_with_all_output(c: Client, language: Language) -> None:
    await ask(c, "dap_clear_breakpoints")
    end = await ask(c, "dap_continue")
    assert end["state"] == "ended", end
    assert end.get("exit_code") == (0 if language.can("exit_code") else None)
    output = (await ask(c, "dap_program_output", since=0))["text"]
    for line in ("round 0", "round 4", "total"):
        assert line in output


async def nothing_can_be_inspected_any_more_and_the_answer_says_why(c: Client) -> None:
    for tool in ("dap_continue", "dap_step_over", "dap_stacktrace", "dap_pause"):
        assert "ended" in await refusal(c, tool)
    assert "ended" in await refusal(c, "dap_evaluate", expression="1")


async def variable(c: Client, path: str) -> str:
    """Return the value of a variable, without quotes."""
    found = await ask(c, "dap_variables", path=path)
    return str(found["value"]).strip("\"'")
