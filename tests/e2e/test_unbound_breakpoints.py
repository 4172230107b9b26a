"""Breakpoints that do not become what was asked for: the answer in which it matters says so, once."""

import asyncio
import json.decoder
from pathlib import Path

from tests.harness import ask, client, needs, read
from tests.processes import LIMIT
from tests.programs import PROGRAMS, program

C_FILE = {"filename": str(PROGRAMS / "loop.c"), "line": 9}


async def test_the_end_names_the_breakpoints_that_were_not_hit() -> None:
    p, other = program("loop.py"), program("shop.py")
    wanted = [p.at("inner", condition="value == 3"), p.at("inner_return", condition="value == 99")]
    wanted += [other.at("order_ready"), p.at("call", log_message="round")]
    wanted += [p.at("middle", condition="value == 99", log_message="never")]
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=wanted)
        assert (stop["line"], "breakpoints" in stop) == (p.line("inner"), False)
        end = await ask(c, "dap_continue")
        missed = [f"loop.py:{p.line(name)}" for name in ("inner_return", "middle")]
        missed += [f"shop.py:{other.line('order_ready')}"]
        assert end["breakpoints"] == {"not hit": missed}
        assert f"\nNot hit: {', '.join(missed)}" in await read(c, "dap_snapshot")


async def test_who_terminates_a_program_is_told_what_it_has_not_come_to() -> None:
    p = program("loop.py")
    wanted = [p.at("inner"), p.at("after_loop"), p.at("middle_return", log_message="m")]
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=wanted)
        missed = f"loop.py:{p.line('middle_return')}, loop.py:{p.line('after_loop')}"
        assert await read(c, "dap_terminate") == f"Session 1 ended.\nNot hit: {missed}"
        assert await read(c, "dap_snapshot") == "Ended by dap_terminate"
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")], fresh=True)
        assert await read(c, "dap_terminate") == "Session 2 ended."


async def test_an_error_that_ends_the_program_names_them_before_its_end(tmp_path: Path) -> None:
    path = tmp_path / "fails.py"
    path.write_text("def later():\n    return 1\n\n1 / 0\nlater()\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        wanted = [{"filename": str(path), "line": 2}]
        stop = await ask(c, "dap_run", program=str(path), breakpoints=wanted)
        assert (stop["reason"], stop["breakpoints"]) == ("exception", {"not hit": ["fails.py:2"]})
        # An error of another thread, or of a test, ends no program.
        path.write_text(
            "import threading\n\ndef fail():\n    1 / 0\n\nthread = threading.Thread(target=fail)\n"
            "thread.start()\nthread.join()\nprint('later')\n"
        )
        wanted = [{"filename": str(path), "line": 9}]
        stop = await ask(c, "dap_run", program=str(path), breakpoints=wanted, fresh=True)
        assert (stop["reason"], "breakpoints" in stop) == ("exception", False)
        assert (await ask(c, "dap_continue"))["line"] == 9


async def test_one_in_a_file_that_the_adapter_does_not_debug_is_rejected_at_once() -> None:
    p = program("loop.py")
    place = "loop.c:9 (debugpy debugs no such files)"
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("after_loop"), C_FILE])
        assert stop["breakpoints"] == {"rejected": [place]}
        assert "breakpoints" not in await ask(c, "dap_step_over")
        # The reason was told.
        assert (await ask(c, "dap_continue"))["breakpoints"] == {"never bound": ["loop.c:9"]}


async def test_one_that_the_adapter_refuses_is_told_with_its_reason() -> None:
    library = {"filename": json.decoder.__file__, "line": 350}
    async with asyncio.timeout(LIMIT), client() as c:
        code = "import json\njson.loads('{}')"
        end = await ask(c, "dap_run", code=code, breakpoints=[library])
        assert end["state"] == "ended"
        (said,) = end["breakpoints"]["never bound"]
        assert said.startswith(f"{json.decoder.__file__}:350 (")


async def test_one_on_a_line_without_code_is_told_to_have_moved_once() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        wanted = [p.at("inner"), p.at("comment")]
        stop = await ask(c, "dap_run", program=str(p), breakpoints=wanted)
        moved = f"loop.py:{p.line('comment')} → {p.line('main')}"
        assert stop["breakpoints"] == {"moved": [moved]}
        assert "breakpoints" not in await ask(c, "dap_continue")


async def test_what_was_set_before_the_start_is_meant_and_what_is_left_of_another_is_not() -> None:
    one, two = program("loop.py"), program("shop.py")
    async with asyncio.timeout(LIMIT), client(PROGRAMS) as c:
        await ask(c, "dap_run", program=str(one), breakpoints=[one.at("inner", condition="False")])
        end = await ask(c, "dap_run", code="print(1)")
        assert "breakpoints" not in end
        await ask(c, "dap_set_breakpoint", **two.at("order_ready"))
        end = await ask(c, "dap_run", code="print(2)")
        assert end["breakpoints"] == {"not hit": [f"shop.py:{two.line('order_ready')}"]}
        # A program that is started again means the same.
        assert (await ask(c, "dap_restart"))["breakpoints"] == end["breakpoints"]


async def test_one_in_a_file_that_is_never_loaded_is_pending_and_never_bound(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    (tmp_path / "never.js").write_text("console.log(1);\n")
    (tmp_path / "main.js").write_text("console.log(2);\nconsole.log(3);\n")
    wanted = [{"filename": "never.js", "line": 1}, {"filename": "main.js", "line": 1}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="main.js", breakpoints=wanted)
        assert stop["breakpoints"] == {"pending": ["never.js:1"]}
        assert "breakpoints" not in await ask(c, "dap_step_over")
        assert (await ask(c, "dap_continue"))["breakpoints"] == {"never bound": ["never.js:1"]}
