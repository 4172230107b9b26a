"""A condition that cannot be evaluated is told, whatever the adapter makes of it; or the program stops there."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.harness import ask, client, read
from tests.languages import Language, named, program_of, ready
from tests.processes import LIMIT


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
        assert told(language, end), said
        printed = (await ask(c, "dap_program_output", since=0))["text"]
        assert "nope" not in printed
        assert "rror" not in printed


def told(language: Language, end: dict[str, object]) -> bool:
    """Whether the end of a program tells that a condition could not be evaluated."""
    breakpoints = str(end.get("breakpoints", ""))
    if not language.can("condition_errors"):
        return "or could not be evaluated" in breakpoints
    notes = str(end.get("notes", ""))
    return ("condition" in notes and " failed" in notes) or (
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


@pytest.mark.parametrize("adapter", ["js-debug", "cdt-gdb"])
async def test_a_wrong_hit_condition_is_told(adapter: str, build: Path) -> None:
    ready(named(adapter))
    p = program_of(named(adapter), build)
    async with asyncio.timeout(LIMIT), client() as c:
        wrong = p.at("inner", hit_condition="often")
        end = await ask(c, "dap_run", type=adapter, program=str(p), breakpoints=[wrong])
        assert end["state"] == "ended"
        assert "hit condition `often` failed at" in str(end["notes"])
