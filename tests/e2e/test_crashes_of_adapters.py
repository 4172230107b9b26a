"""An adapter that crashes is named with what it did, and what it prints of that is no output of the program."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import FAKE_PROGRAM, ask, client, fake, has_all, needs, read, refusal
from tests.processes import LIMIT
from tests.programs import compiled


@pytest.mark.parametrize("adapter", ["lldb-dap", "codelldb"])
async def test_an_expression_at_which_lldb_crashes_is_named_once(
    adapter: str, tmp_path: Path
) -> None:
    needs(adapter)
    p = compiled("optional.cpp", tmp_path, options=("-std=c++17",))
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), type=adapter, breakpoints=[p.at("look")])
        asked = ["some->count", "1", "2"]
        found = (await read(c, "dap_evaluate", expressions=asked)).splitlines()
        if found[0] == "some->count = 1":
            pytest.skip("this LLDB does not crash")
        crashed = f"the adapter {adapter} crashed (SIGSEGV) while it evaluated `some->count`"
        assert found[0].endswith(f"{crashed}.")
        assert found[1:3] == ["1: not evaluated", "2: not evaluated"]
        assert await read(c, "dap_program_output") == f"(0 lines so far, cursor 0; {crashed})"
        assert crashed in await read(c, "dap_status")


async def test_where_an_adapter_crashes_nobody_knows_that_a_breakpoint_was_not_hit(
    settings: Path,
) -> None:
    fake(settings, {"continue": [{"signal": "SIGSEGV"}]})
    at = [{"filename": FAKE_PROGRAM, "line": 5}, {"function": "f"}]
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake", breakpoints=at)
        (told,) = (await ask(c, "dap_continue"))["breakpoints"].items()
        assert told[0] == "not known"
        assert told[1][0].endswith("ten.fake:5 (fake ended before it could tell)")


async def test_whatever_an_adapter_does_as_it_crashes_is_named(settings: Path) -> None:
    fake(settings, {"evaluate": [{"signal": "SIGABRT"}], "setVariable": [{"exit": 3}]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        error = await refusal(c, "dap_evaluate", expression="line + 1")
        crashed = "the adapter fake crashed (SIGABRT) while it evaluated `line + 1`"
        assert has_all(error, f"{crashed}. ", "dap_run starts it again.")
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        error = await refusal(c, "dap_set_variable", path="line", value="1")
        assert "the adapter ended unexpectedly while it answered `setVariable`." in error
