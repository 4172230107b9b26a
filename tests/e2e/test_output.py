"""What a program prints: all of it, as it was printed, by cursor, and bounded."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.harness import FAKE_PROGRAM, ask, call, client, data, fake, printed, read, text
from tests.processes import LIMIT
from tests.programs import program


async def test_blank_partial_coloured_and_broken_lines_are_as_they_were_printed() -> None:
    p = program("raw_bytes.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p))
        output = (await ask(c, "dap_program_output", category="stdout", raw=True))["text"]
        assert output.replace("\r\n", "\n") == (
            "żółw 🐢 日本語\n"
            "\x1b[31mred\x1b[0m\n"
            "nul[\0]end\n"
            "\n"
            "   indented   \n"
            "partial line\n"
            "raw[\\xff\\xfe]bytes\n"
            "no newline at the end"
        )
        stderr = (await ask(c, "dap_program_output", category="stderr"))["text"]
        assert stderr == "to stderr\n"


async def test_categories_are_kept_apart_and_all_is_all() -> None:
    p = program("prints_to_fd1.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p))
        everything = (await ask(c, "dap_program_output"))["text"]
        stdout = (await ask(c, "dap_program_output", category="stdout"))["text"]
        assert "written to fd 1" in stdout
        assert "echoed by a child" in stdout
        assert "written to fd 2" not in stdout
        assert "written to fd 2" in everything
        console = await ask(c, "dap_program_output", category="console")
        assert "written" not in console["text"]


async def test_a_cursor_gives_only_what_is_new() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        first = await ask(c, "dap_program_output")
        assert first["text"] == "round 0\n"
        again = await ask(c, "dap_program_output", since=first["cursor"])
        assert again["text"] == ""
        await ask(c, "dap_continue")
        second = await ask(c, "dap_program_output", since=first["cursor"])
        assert second["text"] == "round 1\n"


async def test_each_stop_brings_the_output_that_came_before_it() -> None:
    """Pitfall 27: output that lags behind its stop."""
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        assert stop["output"] == "round 0\n"
        for number in range(1, 5):
            stop = await ask(c, "dap_continue")
            assert stop["output"] == f"round {number}\n"
        end = await ask(c, "dap_continue")
        assert end["output"] == "total 25\n"


async def test_a_wait_for_output_returns_when_there_is_more() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        cursor = (await ask(c, "dap_program_output"))["cursor"]
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(
                ask(c, "dap_program_output", since=cursor, wait_ms=LIMIT * 1000)
            )
            await ask(c, "dap_continue")
        assert waiting.result()["text"] == "round 1\n"


async def test_a_wait_for_output_returns_when_the_program_ends() -> None:
    p = program("exit3.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("exit")], exception_filters=[])
        assert await printed(c, "leaving\n") == "leaving\n"
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(ask(c, "dap_program_output", wait_ms=LIMIT * 1000))
            await ask(c, "dap_continue")
        assert waiting.result()["exit_code"] == 3
        late = await ask(c, "dap_program_output", wait_ms=LIMIT * 1000)
        assert late["exit_code"] == 3


async def test_a_wait_that_brings_nothing_ends_by_itself() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(program("sleeper.py")), wait_until_paused=False)
        await printed(c, "\n")
        cursor = (await ask(c, "dap_program_output"))["cursor"]
        nothing = await ask(c, "dap_program_output", since=cursor, wait_ms=50)
        assert nothing["text"] == ""


async def test_output_is_readable_while_the_program_runs() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(program("sleeper.py")), wait_until_paused=False)
        assert (await printed(c, "\n")).startswith("pid ")
        assert (await ask(c, "dap_snapshot"))["state"] == "running"


async def test_only_the_last_lines_are_shown_and_the_rest_is_announced() -> None:
    p = program("many_lines.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), args=["1000"])
        result = await call(c, "dap_program_output", lines=3)
        assert data(result)["text"] == "line 998\nline 999\ndone 1000\n"
        assert "since" in text(result)


async def test_metadata_tells_category_and_time_of_what_was_printed() -> None:
    p = program("raw_bytes.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p))
        result = await call(c, "dap_program_output", include_metadata=True)
        assert "stdout" in text(result)
        assert "stderr" in text(result)


async def test_metadata_counts_a_bar_of_progress_as_one_line(tmp_path: Path) -> None:
    p = tmp_path / "progress.py"
    p.write_text("print('first')\nprint(*range(9), sep='%\\r', end='%\\n')\nprint('last')\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p))
        shown = text(await call(c, "dap_program_output", include_metadata=True, lines=2))
        assert "first" not in shown
        assert shown.count("[stdout]") == 2
        assert "[stdout] 0%" in shown
        assert "[stdout] last" in shown


async def test_a_hundred_thousand_lines_are_counted_and_the_tools_answer_meanwhile() -> None:
    """Pitfalls 4 and 5: drained, bounded, and the end is not lost among them."""
    p = program("many_lines.py")
    async with asyncio.timeout(3 * LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("done")],
                  wait_until_paused=False)  # fmt: skip
        assert "running" in await read(c, "dap_status")
        await read(c, "dap_breakpoints")
        await read(c, "dap_program_output", lines=5)
        stop = await call(c, "dap_wait_until_paused", timeout_ms=120_000)
        assert data(stop)["line"] == p.line("done")
        assert len(text(stop)) < 3000
        # What was printed before the stop is there, or said to be on its way.
        while "more is arriving" in (last := await read(c, "dap_program_output", lines=1)):
            pass
        assert last.startswith("  line 99999\n(100000 lines so far")
        end = await ask(c, "dap_continue")
        assert end["exit_code"] == 0
        result = await call(c, "dap_program_output", lines=2)
        assert data(result)["text"].endswith("line 99999\ndone 100000\n")
        assert data(result)["lines_total"] == 100_001


async def test_output_that_still_flows_when_the_caller_waits_no_longer_is_said_to_be_on_its_way(
    settings: Path,
) -> None:
    line = {"event": ["output", {"category": "stdout", "output": "so many lines\n"}]}
    stop = {"event": ["stopped", {"reason": "breakpoint", "threadId": 1}]}
    mark = {"event": ["output", {"category": "console", "output": "stopped\n"}]}
    few, endless = {"times": [2_000, line]}, {"times": [10**9, line]}
    adapter = {"continue": ["ok", few, stop, mark, endless]}
    fake(settings, adapter, timeouts="control = 60\nrequest = 60")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        await read(c, "dap_continue", wait_until_paused=False)
        await printed(c, "stopped", category="console")
        told = await read(c, "dap_wait_until_paused", timeout_ms=0)
        assert "(more output is arriving: dap_program_output wait_ms=5000)" in told
        assert "(more is arriving:" in await read(c, "dap_program_output", lines=1)


async def test_what_the_ring_has_dropped_is_told() -> None:
    p = program("many_lines.py")
    async with asyncio.timeout(3 * LIMIT), client() as c:
        code = f"exec(open({str(p)!r}).read().replace('\"line\"', '\"line\" * 25'))"
        await ask(c, "dap_run", code=code, timeout_ms=120_000)
        result = await call(c, "dap_program_output", since=0, lines=5)
        assert data(result)["dropped"] > 0
        assert "dropped" in text(result)
        assert data(result)["lines_total"] == 100_001


async def test_64_kilobytes_before_the_first_stop_block_nothing() -> None:
    """Pitfall 4: an adapter whose pipes nobody drains."""
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(
            c, "dap_run", program=str(program("many_lines.py")), args=["20000"],
            breakpoints=[program("many_lines.py").at("done")],
        )  # fmt: skip
        assert stop["line"] == program("many_lines.py").line("done")


async def test_one_line_of_a_megabyte_arrives_whole() -> None:
    """Pitfall 6: no limit of 64 KB anywhere."""
    async with asyncio.timeout(LIMIT), client() as c:
        result = await call(c, "dap_run", code="print('x' * 1_000_000 + 'end')")
        assert len(text(result)) < 3000
        output = await ask(c, "dap_program_output", category="stdout", lines=1)
        assert output["cursor"] >= 1_000_003
        assert output["text"].endswith("xend\n")


async def test_blanks_that_fill_a_screen_are_counted() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        end = await read(c, "dap_run", code="print('a', ' ' * 20, 'b', ' ' * 500, 'c')")
        for told in (end, await read(c, "dap_program_output")):
            assert f"a {' ' * 20} b (502 blanks) c\n" in f"{told}\n"


async def test_a_program_that_reads_input_is_told_that_nobody_is_there() -> None:
    """Pitfall 16."""
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", program=str(program("reads_stdin.py")))
        assert end["exit_code"] == 0
        assert "nobody there" in end["output"]


@pytest.mark.parametrize(("name", "code"), [("exit3.py", 3), ("quick.py", 0), ("crash.py", 1)])
async def test_the_exit_code_is_told_with_the_output(name: str, code: int) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(program(name)), exception_filters=[])
        result = await call(c, "dap_program_output")
        assert data(result)["exit_code"] == code
        assert f"exit code {code}" in text(result).lower()


async def test_what_was_told_of_a_running_program_is_not_told_again(tmp_path: Path) -> None:
    door = tmp_path / "door"
    os.mkfifo(door)
    path = tmp_path / "waits.py"
    path.write_text(
        "import sys\n"
        "open(sys.argv[1]).read()\n"
        "print('\\x1b[31mwaiting\\x1b[0m', flush=True)\n"
        "with open(sys.argv[1]) as door:\n"
        "    print(door.read(), flush=True)\n"
        "print('end')\n",
        encoding="utf-8",
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop_at = [{"filename": str(path), "line": 6}]
        await call(
            c, "dap_run", program=str(path), args=[str(door)], breakpoints=stop_at, timeout_ms=0
        )
        await asyncio.to_thread(door.write_text, "")
        # Only the raw output has colours.
        assert await printed(c, "waiting") == "waiting\n"
        raw = await ask(c, "dap_program_output", raw=True)
        assert raw["text"] == "\x1b[31mwaiting\x1b[0m\n"
        assert "Output:\n  waiting" in await read(c, "dap_wait_until_paused", timeout_ms=0)
        assert "Output" not in await read(c, "dap_wait_until_paused", timeout_ms=0)
        with door.open("w", encoding="utf-8") as opened:
            opened.write("opened")
        stop = await ask(c, "dap_wait_until_paused", timeout_ms=10_000)
        assert stop["output"] == "opened\n"
