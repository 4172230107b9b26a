"""A condition that cannot be evaluated is told, whatever the adapter makes of it; or the program stops there."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.harness import ask, client, read
from tests.languages import Language, named, program_of, ready
from tests.processes import LIMIT
from tests.programs import program


@pytest.mark.parametrize("condition", ["nope > 3", "value ="])
async def test_a_wrong_condition_is_told_under_every_adapter(
    language: Language, build: Path, condition: str
) -> None:
    p = program_of(language, build)
    # In a shell, `>` would write a file.
    wrong = p.at("inner", condition=condition.replace(">", "-gt"))
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", type=language.adapter, program=str(p), breakpoints=[wrong])
        if end["state"] == "stopped":
            assert end["line"] == p.line("inner")
            assert "round 1" not in end.get("output", "")
            return
        assert "total" in end["output"]
        said = await read(c, "dap_snapshot")
        assert told(language, end, p.line("inner")), said
        printed = (await ask(c, "dap_program_output", since=0))["text"]
        assert "nope" not in printed
        assert "rror" not in printed


def told(language: Language, end: dict[str, object], line: int) -> bool:
    """Whether the end of a program tells that a condition could not be evaluated, and where."""
    breakpoints = str(end.get("breakpoints", ""))
    if not language.can("condition_errors"):
        return "or could not be evaluated" in breakpoints
    notes = str(end.get("notes", ""))
    return bool(re.search(rf"condition .*failed .*at \S+:{line}: ", notes)) or (
        "never bound" in breakpoints and "(" in breakpoints
    )


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb", "js-debug", "delve"])
async def test_a_part_of_a_log_message_that_cannot_be_evaluated_is_told_and_leaves_the_others(
    adapter: str, build: Path
) -> None:
    ready(named(adapter))
    p = program_of(named(adapter), build)
    logged = p.at("inner", log_message="v={value} {nope} {value+1}")
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", type=adapter, program=str(p), breakpoints=[logged])
        first, *more = end["logged"]
        assert re.search(r"#1 .*v=0 \{[^{}\n]*nope[^{}\n]*\} 1$", first), first
        assert len(more) == 4
        (note,) = [each for each in end["notes"] if each.startswith("log message")]
        assert re.search(rf"failed 5 times at \S+:{p.line('inner')}: .*nope", note), note
        # It has said something, so it was hit.
        assert "breakpoints" not in end


async def test_a_hit_condition_that_is_not_understood_is_told_under_every_adapter(
    language: Language, build: Path
) -> None:
    p = program_of(language, build)
    async with asyncio.timeout(LIMIT), client() as c:
        wrong = p.at("inner", hit_condition="often")
        stop = await ask(c, "dap_run", type=language.adapter, program=str(p), breakpoints=[wrong])
        told = str(stop.get("notes", "")) + str(stop.get("breakpoints", ""))
        assert f":{p.line('inner')}" in told
        assert "hit condition" in told or "never bound" in told
        assert "x1b" not in told, "it is read outside of terminals"


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "js-debug"])
async def test_a_number_as_hit_condition_is_that_of_the_hit(adapter: str, build: Path) -> None:
    ready(named(adapter))
    p = program_of(named(adapter), build)
    async with asyncio.timeout(LIMIT), client() as c:
        third = p.at("inner", hit_condition="3")
        stop = await ask(c, "dap_run", type=adapter, program=str(p), breakpoints=[third])
        assert stop["locals"]["value"] == "2"


async def test_of_two_conditions_that_may_have_failed_the_one_that_the_error_names_is_told() -> (
    None
):
    ready(named("js-debug"))
    p = program("loop.js")
    async with asyncio.timeout(LIMIT), client() as c:
        one = p.at("inner", condition="nope > 3")
        others = [p.at(place, condition="value.no.more") for place in ("middle", "inner_return")]
        end = await ask(c, "dap_run", program=str(p), breakpoints=[one, *others])
        first, second = sorted(end["notes"])
        assert (
            f"condition `nope > 3` failed 5 times at fixtures/programs/loop.js:{p.line('inner')}: "
            in first
        )
        assert f"(at loop.js:{p.line('inner_return')} or loop.js:{p.line('middle')})" in second
