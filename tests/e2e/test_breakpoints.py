"""Breakpoints: what is wanted, what the adapter made of it, and where the program stops."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from dapeer.tools.base import report
from tests.harness import (
    FAKE_PROGRAM,
    ask,
    call,
    client,
    data,
    evaluate,
    fake,
    needs,
    read,
    refusal,
    text,
)  # fmt: skip
from tests.languages import named, program_of, ready
from tests.processes import LIMIT
from tests.programs import compiled, copied, program


async def test_a_breakpoint_set_without_a_session_is_kept_and_sent_when_one_starts() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        answer = await read(c, "dap_set_breakpoint", **p.at("inner"))
        assert f"loop.py:{p.line('inner')}" in answer
        stop = await ask(c, "dap_run", program=str(p))
        assert stop["line"] == p.line("inner")


async def test_setting_a_breakpoint_twice_is_setting_it_once() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await read(c, "dap_set_breakpoint", **p.at("after_loop"))
        await read(c, "dap_set_breakpoint", **p.at("after_loop"))
        assert (await read(c, "dap_breakpoints")).count(f"loop.py:{p.line('after_loop')}") == 1
        assert (await ask(c, "dap_run", program=str(p)))["line"] == p.line("after_loop")
        await read(c, "dap_set_breakpoint", **p.at("after_loop"))
        assert (await read(c, "dap_breakpoints")).count(f"loop.py:{p.line('after_loop')}") == 1
        assert (await ask(c, "dap_continue"))["state"] == "ended"


async def test_what_two_sessions_make_alike_of_a_breakpoint_is_one_row() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await read(c, "dap_set_breakpoint", **p.at("inner"))
        await read(c, "dap_set_breakpoint", **p.at("after_loop"))
        first = await ask(c, "dap_run", program=str(p))
        # In an order of its own: its adapter gives other numbers.
        await read(c, "dap_remove_breakpoint", **p.at("inner"))
        await ask(c, "dap_run", program=str(p))
        await read(c, "dap_set_breakpoint", **p.at("inner"))
        listed = await read(c, "dap_breakpoints")
        assert listed.count(f"loop.py:{p.line('inner')}") == 1
        assert "(session" not in listed
        await ask(c, "dap_restart", session_id=first["session_id"])
        old = (await read(c, "dap_status")).splitlines()[0]
        assert old.endswith("(debugpy) ended by dap_restart")


async def test_setting_it_again_with_a_condition_changes_it() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        await read(c, "dap_set_breakpoint", **p.at("inner", condition="value == 3"))
        assert (await ask(c, "dap_continue"))["locals"]["value"] == "3"


async def test_the_answer_tells_whether_it_is_verified_and_where() -> None:
    """Pitfall 8: requested and actual line differ, or there is no such line."""
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), stop_on_entry=True)
        answer = await read(c, "dap_set_breakpoint", **p.at("inner"))
        assert "verified" in answer
        assert "doubled = value * 2" in answer
        moved = await read(c, "dap_set_breakpoint", **p.at("comment"))
        assert str(p.line("comment")) in moved
        assert str(p.line("main")) in moved
        assert "moved" in moved.lower()
        past = await refusal(c, "dap_set_breakpoint", filename=str(p), line=9999)
        assert str(len(p.source.read_text().splitlines())) in past


async def test_breakpoints_set_one_by_one_all_hold() -> None:
    """Pitfall 7: `setBreakpoints` replaces all of a file."""
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), stop_on_entry=True)
        for marker in ("inner", "middle_return", "after_loop"):
            await read(c, "dap_set_breakpoint", **p.at(marker))
        lines = [(await ask(c, "dap_continue"))["line"] for _ in range(3)]
        assert lines == [p.line("inner"), p.line("middle_return"), p.line("inner")]


async def test_breakpoints_set_at_once_all_hold() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), stop_on_entry=True)
        markers = ("inner", "inner_return", "middle", "middle_return")
        async with asyncio.TaskGroup() as tasks:
            for marker in markers:
                tasks.create_task(read(c, "dap_set_breakpoint", **p.at(marker)))
        lines = [(await ask(c, "dap_continue"))["line"] for _ in markers]
        assert lines == [p.line(m) for m in ("middle", "inner", "inner_return", "middle_return")]


async def test_clear_clears_one_file_or_every_kind() -> None:
    """Pitfall 7: "clear all" clears all."""
    loop, steps = program("loop.py"), program("steps.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(loop), stop_on_entry=True)
        await read(c, "dap_set_breakpoint", **loop.at("inner"))
        await read(c, "dap_set_breakpoint", **loop.at("after_loop"))
        await read(c, "dap_set_breakpoint", **steps.at("add"))
        await read(c, "dap_clear_breakpoints", filename=str(loop))
        left = await read(c, "dap_breakpoints")
        assert "loop.py" not in left
        assert "steps.py" in left
        await read(c, "dap_set_breakpoint", **loop.at("inner"))
        await read(c, "dap_set_function_breakpoints", names=["middle"])
        await read(c, "dap_clear_breakpoints")
        left = await read(c, "dap_breakpoints")
        assert not [word for word in ("loop.py", "steps.py", "middle") if word in left]
        assert (await ask(c, "dap_continue"))["state"] == "ended"


async def test_removing_a_breakpoint_lets_the_program_pass() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner"), p.at("after_loop")])
        await read(c, "dap_remove_breakpoint", **p.at("inner"))
        assert (await ask(c, "dap_continue"))["line"] == p.line("after_loop")


async def test_removing_one_that_is_not_there_says_so_and_changes_nothing(settings: Path) -> None:
    adapter = fake(settings)
    async with asyncio.timeout(LIMIT), client() as c:
        await read(c, "dap_set_breakpoint", filename=FAKE_PROGRAM, line=5)
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        sent = len(adapter.requests())
        result = await call(c, "dap_remove_breakpoint", filename=FAKE_PROGRAM, line=6)
        assert "ten.fake:6" in text(result)
        assert "no breakpoint" in text(result).lower()
        assert "ten.fake:5" in await read(c, "dap_breakpoints")
        assert "setBreakpoints" not in adapter.commands()[sent:]


async def test_a_condition_decides() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(
            c, "dap_run", program=str(p), breakpoints=[p.at("inner", condition="value == 3")]
        )
        assert stop["locals"]["value"] == "3"
        assert (await ask(c, "dap_continue"))["state"] == "ended"


@pytest.mark.parametrize("condition", [{"condition": "value > 2"}, {"hit_condition": "4"}])
async def test_what_conditions_cost_is_told_once_after_a_long_wait(
    monkeypatch: pytest.MonkeyPatch, condition: dict[str, str]
) -> None:
    ready(named("js-debug"))
    monkeypatch.setattr(report, "SECONDS_UNTIL_SLOW", 0)
    p = program("loop.js")
    async with asyncio.timeout(LIMIT), client() as c:
        told = await read(c, "dap_run", program=str(p), breakpoints=[p.at("inner", **condition)])
        cost = "each hit of a line with a condition takes V8 about 0.2 ms"
        assert (cost in told) == ("condition" in condition)
        assert cost not in await read(c, "dap_continue")


async def test_a_hit_condition_counts() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(
            c, "dap_run", program=str(p), breakpoints=[p.at("inner", hit_condition="== 4")]
        )
        assert stop["locals"]["value"] == "3"


async def test_a_log_message_is_printed_and_does_not_stop() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(
            c, "dap_run", program=str(p),
            breakpoints=[p.at("inner", log_message="value is {value}")],
        )  # fmt: skip
        assert end["state"] == "ended"
        output = (await ask(c, "dap_program_output"))["text"]
        assert [f"value is {number}" in output for number in range(5)] == [True] * 5


async def test_what_the_adapter_does_not_support_is_told(settings: Path) -> None:
    fake(settings, capabilities={"supportsConfigurationDoneRequest": True})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        answer = text(
            await call(
                c, "dap_set_breakpoint", filename=FAKE_PROGRAM, line=5, condition="line == 5"
            )
        )
        assert "condition" in answer


async def test_a_line_past_the_end_is_told_without_a_session_too() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        answer = await refusal(c, "dap_set_breakpoint", filename=str(p), line=9999)
        assert str(len(p.source.read_text().splitlines())) in answer


async def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """Pitfall 8: a breakpoint that can never bind must not look like any other."""
    missing = str(tmp_path / "nowhere.py")
    async with asyncio.timeout(LIMIT), client() as c:
        assert missing in await refusal(c, "dap_set_breakpoint", filename=missing, line=1)
        assert "nowhere.py" not in await read(c, "dap_breakpoints")
        await refusal(c, "dap_set_breakpoint", filename=str(tmp_path), line=1)


async def test_a_missing_file_in_dap_run_is_refused_before_the_start(tmp_path: Path) -> None:
    missing = str(tmp_path / "nowhere.py")
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(
            c, "dap_run", program=str(program("loop.py")),
            breakpoints=[{"filename": missing, "line": 1}],
        )  # fmt: skip
        assert missing in message
        assert (await ask(c, "dap_status"))["sessions"] == []


async def test_a_breakpoint_in_c_that_is_pending_at_first_is_verified_and_hit(
    tmp_path: Path,
) -> None:
    p = compiled("loop.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        assert stop["line"] == p.line("inner")
        assert "verified" in await read(c, "dap_breakpoints")


async def test_a_breakpoint_that_the_adapter_rejects_is_told_with_its_reason(
    settings: Path,
) -> None:
    rejected = {"verified": False, "message": "no code on this line"}
    fake(settings, {"setBreakpoints": [{"respond": {"breakpoints": [rejected]}}]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        result = await call(c, "dap_set_breakpoint", filename=FAKE_PROGRAM, line=5)
        assert "no code on this line" in text(result)
        assert "no code on this line" in await read(c, "dap_breakpoints")


async def test_a_breakpoint_that_is_verified_later_is_verified_in_the_list(settings: Path) -> None:
    pending = {"id": 7, "verified": False, "message": "pending"}
    late = {"reason": "changed", "breakpoint": {"id": 7, "verified": True, "line": 6}}
    fake(
        settings,
        {
            "setBreakpoints": [{"respond": {"breakpoints": [pending]}}],
            "next": [{"event": ["breakpoint", late]}, "default"],
        },
    )
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        answer = await read(c, "dap_set_breakpoint", filename=FAKE_PROGRAM, line=5)
        assert "pending" in answer
        await ask(c, "dap_step_over")
        listed = await read(c, "dap_breakpoints")
        assert "verified" in listed
        assert "6" in listed


async def test_an_answer_that_is_too_short_breaks_nothing(settings: Path) -> None:
    fake(settings, {"setBreakpoints": [{"respond": None}]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        await call(c, "dap_set_breakpoint", filename=FAKE_PROGRAM, line=5)
        assert (await ask(c, "dap_snapshot"))["state"] == "stopped"


async def test_breakpoints_go_only_to_adapters_that_know_the_language(settings: Path) -> None:
    adapter = fake(settings)
    async with asyncio.timeout(LIMIT), client() as c:
        await read(c, "dap_set_breakpoint", **program("loop.py").at("inner"))
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        sent = [r["arguments"] for r in adapter.requests() if r["command"] == "setBreakpoints"]
        assert not sent


async def test_a_breakpoint_while_the_program_runs_stops_it() -> None:
    p = program("endless_loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), wait_until_paused=False)
        await read(c, "dap_set_breakpoint", **p.at("turn"))
        stop = await ask(c, "dap_wait_until_paused")
        assert (stop["reason"], stop["line"]) == ("breakpoint", p.line("turn"))


async def test_a_function_breakpoint_stops_at_the_function() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), stop_on_entry=True)
        await read(c, "dap_set_function_breakpoints", names=["inner"])
        stop = await ask(c, "dap_continue")
        assert (stop["reason"], stop["function"]) == ("function breakpoint", "inner")
        await read(c, "dap_set_function_breakpoints", names=[])
        assert (await ask(c, "dap_continue"))["state"] == "ended"


AT_FUNCTION = {"delve": "main.inner", "jdi": "Loop.inner"}


@pytest.mark.parametrize("adapter", ["debugpy", "gdb", "lldb-dap", "codelldb", "delve", "jdi"])
async def test_a_function_breakpoint_has_a_condition(adapter: str, tmp_path: Path) -> None:
    language = named(adapter)
    ready(language)
    p = program_of(language, tmp_path)
    wanted = f"{AT_FUNCTION.get(adapter, 'inner')} if {language.condition}"
    async with asyncio.timeout(LIMIT), client() as c:
        await read(c, "dap_set_function_breakpoints", names=[wanted])
        stop = await ask(c, "dap_run", type=adapter, program=str(p))
        assert (stop["state"], await evaluate(c, language.value)) == ("stopped", "2")
        assert (await ask(c, "dap_continue"))["state"] == "ended"


@pytest.mark.parametrize("adapter", ["debugpy", "gdb"])
async def test_a_function_that_no_adapter_confirms_is_not_called_verified(
    adapter: str, tmp_path: Path
) -> None:
    language = named(adapter)
    ready(language)
    p = program_of(language, tmp_path)
    at: list[dict[str, Any]] = [{"function": "nosuch"}, p.at("inner")]
    async with asyncio.timeout(LIMIT), client() as c:
        told = await read(c, "dap_run", type=adapter, program=str(p), breakpoints=at)
        assert re.search(r"(Pending|Rejected): nosuch( \(|$)", told, re.MULTILINE)
        told = await read(c, "dap_set_function_breakpoints", names=["nosuch", "inner"])
        assert re.match(r"nosuch: (pending|rejected)", told)
        assert "\ninner: verified" in told


@pytest.mark.parametrize("adapter", ["js-debug", "rdbg", "perl", "bash-dap"])
async def test_what_an_adapter_does_not_at_functions_is_said(adapter: str, tmp_path: Path) -> None:
    language = named(adapter)
    ready(language)
    p = program_of(language, tmp_path)
    wanted = f"inner if {language.condition}"
    async with asyncio.timeout(LIMIT), client() as c:
        if adapter != "bash-dap":
            await read(c, "dap_set_function_breakpoints", names=[wanted])
            text = await read(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
            assert (
                f"Rejected: {wanted} ({adapter} has no function breakpoints: set one on a line of it)"
                in text
            )
        else:
            await read(c, "dap_run", program=str(p), stop_on_entry=True)
            text = await read(c, "dap_set_function_breakpoints", names=[wanted])
            assert "bash-dap ignores conditions here, so these functions stop each time" in text


async def test_function_breakpoints_set_without_a_session_are_sent_when_one_starts() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await read(c, "dap_set_function_breakpoints", names=["middle"])
        stop = await ask(c, "dap_run", program=str(program("loop.py")))
        assert stop["function"] == "middle"


async def test_a_breakpoint_by_a_relative_path_is_the_same_as_by_an_absolute_one() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await read(
            c, "dap_set_breakpoint", filename="fixtures/programs/loop.py", line=p.line("inner")
        )
        await read(c, "dap_set_breakpoint", **p.at("inner"))
        assert (await read(c, "dap_breakpoints")).count("loop.py:") == 1
        assert (await ask(c, "dap_run", program=str(p)))["line"] == p.line("inner")


async def test_a_breakpoint_through_a_symbolic_link_is_hit(tmp_path: Path) -> None:
    p = copied("loop.py", tmp_path)
    link = tmp_path / "link.py"
    link.symlink_to(p.source)
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(
            c, "dap_run", program=str(p),
            breakpoints=[{"filename": str(link), "line": p.line("inner")}],
        )  # fmt: skip
        assert (stop["state"], stop["line"]) == ("stopped", p.line("inner"))


async def test_the_structured_list_has_the_facts_of_the_text() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await read(c, "dap_set_breakpoint", **p.at("inner", condition="value > 1"))
        result = await call(c, "dap_breakpoints")
        listed = data(result)["breakpoints"]
        assert len(listed) == 1
        assert (listed[0]["line"], listed[0]["condition"]) == (p.line("inner"), "value > 1")


async def test_a_file_that_no_adapter_knows_may_have_breakpoints_too(tmp_path: Path) -> None:
    script = tmp_path / "program.txt"
    script.write_text("a = 1\nb = 2\n", encoding="utf-8")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(
            c,
            "dap_run",
            program=str(script),
            type="debugpy",
            breakpoints=[{"filename": str(script), "line": 2}],
        )
        assert (stop["line"], stop["locals"]) == (2, {"a": "1"})


async def test_js_debug_tells_how_breakpoints_are_that_it_numbers_alike() -> None:
    needs("js-debug")
    p, never = program("loop.js"), program("endless.js")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner"), never.at("turn")])
        await ask(c, "dap_set_breakpoint", **p.at("inner_return"))
        assert (await ask(c, "dap_continue"))["line"] == p.line("inner_return")
        rows = (await ask(c, "dap_breakpoints"))["breakpoints"]
        assert {(row["line"], row["state"], row.get("actual_line")) for row in rows} == {
            (never.line("turn"), "pending", None),
            (p.line("inner"), "verified", p.line("inner")),
            (p.line("inner_return"), "verified", p.line("inner_return")),
        }


EMPTY_LINES = {
    "debugpy": (
        "a.py",
        "def twice(n):\n\n    # Then:\n    out = n * 2\n    return out\n\ntwice(4)\n",
    ),
    "delve": (
        "a.go",
        "package main\n\n// Then:\nfunc twice(n int) int {\n\n\t// Then:\n\treturn n * 2\n}\n\nfunc main() { twice(4) }\n",
    ),
    "rdbg": ("a.rb", "def twice(n)\n\n  # Then:\n  out = n * 2\n  out\nend\ntwice(4)\n"),
    "bash-dap": ("a.sh", "twice() {\n\n    # Then:\n    echo $(($1 * 2))\n}\n\ntwice 4\n"),
}
"""By adapter a file and its text; one that does not move a breakpoint from an empty line itself."""


@pytest.mark.parametrize("adapter", EMPTY_LINES)
async def test_a_breakpoint_on_an_empty_line_goes_to_the_next_one_that_runs(
    adapter: str, tmp_path: Path
) -> None:
    needs(adapter)
    name, source = EMPTY_LINES[adapter]
    (tmp_path / name).write_text(source)
    lines = source.splitlines()
    line = lines.index("", lines.index("") + 1) + 1 if adapter == "delve" else 2
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=name, breakpoints=[{"filename": name, "line": line}])
        assert (stop["reason"], stop["line"]) == ("breakpoint", line + 2)
        assert stop["breakpoints"] == {"moved": [f"{name}:{line} → {line + 2}"]}
        assert "breakpoints" not in await ask(c, "dap_continue")
