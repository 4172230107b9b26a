"""Memory, machine code and what watches it, under the adapters that know of these."""

import asyncio
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import ask, call, client, data, evaluate, listed, needs, read, refusal, text
from tests.processes import LIMIT
from tests.programs import compiled, program


@pytest.mark.parametrize("adapter", ["gdb", "codelldb"])
async def test_memory_and_machine_code_of_a_c_program_can_be_read_and_changed(
    tmp_path: Path, adapter: str
) -> None:
    needs(adapter)
    p = compiled("loop.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", type=adapter, program=str(p), breakpoints=[p.at("inner")])
        assert {"dap_read_memory", "dap_write_memory", "dap_disassemble"} <= await listed(c)

        memory = await ask(c, "dap_read_memory", address="&value", count=4)
        assert memory["hex"] == "00000000"
        place = memory["address"]
        assert await read(c, "dap_read_memory", address=place, count=4) == (
            f"{place}: 00 00 00 00  ...."
        )
        await ask(c, "dap_write_memory", address=place, data="2a 00")
        assert await evaluate(c, "value") == "42"
        beyond = await ask(c, "dap_read_memory", address=place, offset=1, count=2)
        assert beyond == {"address": hex(int(place, 0) + 1), "hex": "0000"}
        wrote = await call(c, "dap_write_memory", address="&value", offset=1, data="01")
        assert data(wrote) == {"address": hex(int(place, 0) + 1), "written": 1}
        assert text(wrote) == "Wrote 1 byte at &value + 1."
        assert await evaluate(c, "value") == "298"

        rows = (await ask(c, "dap_disassemble", count=4))["instructions"]
        assert rows[0]["current"]
        assert (rows[0]["file"], rows[0]["line"]) == (str(p.source), p.line("inner"))
        assert not any("current" in row for row in rows[1:])
        shown = await read(c, "dap_disassemble", count=4, before=2)
        assert f"→ {rows[0]['address']}" in shown
        of_main = await ask(c, "dap_disassemble", address="main", count=1)
        assert of_main["instructions"][0]["symbol"].startswith("main")


async def test_what_has_no_address_is_told_with_what_has_one(tmp_path: Path) -> None:
    needs("gdb")
    p = compiled("loop.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", type="gdb", program=str(p), breakpoints=[p.at("inner")])
        assert "&value" in await refusal(c, "dap_read_memory", address="value")
        # Looking calls nothing and assigns nothing.
        for expression in ("middle(1)", "value = 7"):
            assert "dap_evaluate" in await refusal(c, "dap_read_memory", address=expression)
        assert await evaluate(c, "value") == "0"
        assert "0x0" in await refusal(c, "dap_read_memory", address="0x0")
        assert "hex" in await refusal(c, "dap_write_memory", address="&value", data="forty-two")
        assert "gdb does not support" in await refusal(c, "dap_set_data_breakpoint", path="value")


async def test_a_program_stops_at_an_instruction_and_steps_by_one(tmp_path: Path) -> None:
    needs("gdb")
    p = compiled("loop.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", type="gdb", program=str(p), breakpoints=[p.at("inner")])
        rows = (await ask(c, "dap_disassemble", count=3))["instructions"]
        third = rows[2]["address"]
        made = await ask(c, "dap_set_instruction_breakpoint", address=third)
        assert made == {"instruction": third, "state": "verified", "session_id": 1}
        assert f"instruction {third}" in await read(c, "dap_breakpoints")
        await ask(c, "dap_continue")
        assert await current(c) == third

        stepped = await ask(c, "dap_step_over", granularity="instruction")
        assert stepped["reason"] == "step"
        assert await current(c) > third

        await ask(c, "dap_set_instruction_breakpoint", address=third, remove=True)
        gone = await ask(c, "dap_set_instruction_breakpoint", address=third, remove=True)
        assert gone == {"removed": False}
        assert "instruction" not in await read(c, "dap_breakpoints")
        await ask(c, "dap_set_instruction_breakpoint", address="main", condition="total > 1")
        assert (await ask(c, "dap_clear_breakpoints"))["removed"] == 2
        assert await read(c, "dap_breakpoints") == "No breakpoints."
        assert (await ask(c, "dap_continue"))["state"] == "ended"


async def current(c: Client) -> str:
    """Return the address of the instruction that is next."""
    return (await ask(c, "dap_disassemble", count=1))["instructions"][0]["address"]


@pytest.mark.parametrize("adapter", ["lldb-dap", "codelldb"])
async def test_a_program_stops_when_a_variable_of_any_frame_is_written(
    tmp_path: Path, adapter: str
) -> None:
    needs(adapter)
    p = compiled("loop.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", type=adapter, program=str(p), breakpoints=[p.at("inner")])
        main = (await ask(c, "dap_stacktrace"))["frames"][2]["frame_id"]
        made = await ask(c, "dap_set_data_breakpoint", path="total", frame_id=main)
        assert (made["data"], made["access"], made["state"]) == ("total", "write", "verified")
        price = await ask(c, "dap_set_data_breakpoint", path="items[2].price", frame_id=main)
        assert price["state"] == "verified"
        assert "data total (on write) verified" in await read(c, "dap_breakpoints")
        await ask(c, "dap_set_data_breakpoint", path="items[2].price", remove=True)
        await ask(c, "dap_remove_breakpoint", **p.at("inner"))

        stop = await ask(c, "dap_continue")
        assert stop["function"] == "main"
        assert stop["locals"]["total"] == "1"
        assert "undeclared" in await refusal(c, "dap_set_data_breakpoint", path="absent")
        assert (await ask(c, "dap_clear_breakpoints"))["removed"] == 1
        assert (await ask(c, "dap_continue"))["state"] == "ended"


async def test_frames_whose_scopes_have_the_same_references_are_not_confused(
    tmp_path: Path,
) -> None:
    """lldb-dap gives the locals of every frame one reference: the frame that was looked at last."""
    needs("lldb-dap")
    p = compiled("loop.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", type="lldb-dap", program=str(p), breakpoints=[p.at("inner")])
        await ask(c, "dap_step_over")
        frames = (await ask(c, "dap_stacktrace"))["frames"]
        frames = [frame["frame_id"] for frame in frames if "frame_id" in frame]
        scope = (await ask(c, "dap_scopes", frame_id=frames[0]))["scopes"][0]
        assert await names(c, frame_id=frames[2]) == ["items", "total", "i"]
        assert await names(c, variables_reference=scope["variables_reference"]) == LOCALS
        assert await names(c, frame_id=frames[1]) == ["value", "result"]
        # The stop is still that of the innermost frame, and so is what is written.
        assert (await ask(c, "dap_snapshot"))["locals"].keys() == {*LOCALS}
        await ask(c, "dap_set_variable", path="value", value="9")
        assert (await ask(c, "dap_snapshot"))["locals"]["value"] == "9"
        middle = await ask(c, "dap_variables", path="value", frame_id=frames[1])
        assert middle["value"] == "0"
        await ask(c, "dap_step_over")
        assert "doubled" in await read(c, "dap_history", number=2)


LOCALS = ["value", "doubled"]


async def names(c: Client, **which: object) -> list[str]:
    found = (await ask(c, "dap_variables", **which))["variables"]
    return [variable["name"] for variable in found]


async def test_sources_that_only_the_adapter_has_are_shown_and_a_call_begins_anew() -> None:
    needs("js-debug")
    p = program("loop.js")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner_return")])
        frames = (await ask(c, "dap_stacktrace", start_frame=3))["frames"]
        reference = next(f["source_reference"] for f in frames if "source_reference" in f)
        told = await read(c, "dap_source", source_reference=reference, line=1)
        assert "Copyright Joyent" in told
        loaded = await read(c, "dap_modules", matching="loader")
        assert f"[source_reference {reference}]" in loaded
        assert "ource" in await refusal(c, "dap_source", source_reference=1)

        await ask(c, "dap_set_variable", path="value", value="7")
        anew = await ask(c, "dap_restart_frame")
        assert (anew["function"], anew["line"]) == ("global.inner", p.line("inner"))
        assert (await ask(c, "dap_step_over"))["locals"]["doubled"] == "14"
