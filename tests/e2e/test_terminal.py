"""Programs in a terminal of ours: what they print there is output, and somebody can type."""

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.test_server_end import server
from tests.harness import (
    FAKE_PROGRAM,
    ask,
    client,
    evaluate,
    fake,
    has_all,
    listed,
    needs,
    pid_of,
    printed,
    refusal,
)
from tests.languages import named, program_of, ready
from tests.processes import LIMIT, process_gone
from tests.programs import compiled, program
from tests.shown import Shows

ASKING = {
    "gdb": "ask.c",
    "lldb-dap": "ask.c",
    "codelldb": "ask.c",
    "delve": "ask.go",
    "js-debug": "ask.js",
    "rdbg": "ask.rb",
    "perl": "ask.pl",
    "bash-dap": "ask.sh",
    "jdi": "Ask.java",
}
"""A program that asks for a number, by the adapter that debugs it."""

MOMENT = 100
"""Milliseconds to wait for a program that is going to ask."""


async def test_a_program_asks_and_is_answered(shows: Shows) -> None:
    p = program("reads_stdin.py")
    async with asyncio.timeout(LIMIT), client() as c:
        assert "dap_send_input" not in await listed(c)
        await ask(
            c, "dap_run", program=str(p), terminal=True, breakpoints=[p.at("end")],
            timeout_ms=MOMENT,
        )  # fmt: skip
        first = await ask(c, "dap_program_output", since=0, wait_ms=LIMIT * 1000)
        assert first["text"] == "Your name? "
        assert "dap_send_input" in await listed(c)
        stop = await ask(c, "dap_send_input", text="Ada Löve", timeout_ms=LIMIT * 1000)
        if stop["state"] != "stopped":
            stop = await ask(c, "dap_wait_until_paused")
        assert (stop["line"], stop["locals"]["answer"]) == (p.line("end"), "'Ada Löve'")
        long = await refusal(c, "dap_send_input", text="x" * 5000)
        assert "at most 4000 bytes" in long
        assert (await ask(c, "dap_continue"))["exit_code"] == 0
        # It is program output, once, and as the program printed it.
        assert (await ask(c, "dap_program_output"))["text"] == "Your name? Hello Ada Löve\nend\n"
        assert "dap_send_input" not in await listed(c)
        assert "has ended" in await refusal(c, "dap_send_input", text="more")
    shows("python", "terminal")


@pytest.mark.parametrize("adapter", ASKING)
async def test_a_program_in_any_language_asks_and_is_answered(
    adapter: str, build: Path, shows: Shows
) -> None:
    language = named(adapter)
    ready(language)
    p = program_of(replace(language, source=ASKING[adapter]), build)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(
            c, "dap_run", program=str(p), type=adapter, terminal=True,
            breakpoints=[p.at("read")], timeout_ms=MOMENT,
        )  # fmt: skip
        asked = ""
        while "number? " not in asked:
            asked = (await ask(c, "dap_program_output", since=0, wait_ms=LIMIT * 1000))["text"]
        stop = await ask(c, "dap_send_input", text="21", timeout_ms=LIMIT * 1000)
        while stop["state"] == "running":
            stop = await ask(c, "dap_wait_until_paused")
        assert (stop["file"], stop["line"]) == (str(p.source), p.line("read"))
        assert await evaluate(c, language.value.replace("value", "number")) == "21"
        assert (await ask(c, "dap_continue"))["state"] == "ended"
        text = (await ask(c, "dap_program_output", since=0, category="stdout"))["text"]
        assert "number? twice 42\n" in text
    shows(adapter, "terminal")


async def test_a_terminal_of_ours_is_a_plain_one() -> None:
    needs("gdb")
    bash = shutil.which("bash") or "bash"
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(
            c, "dap_run", program=bash, args=["-c", "tty -s && echo $TERM"], type="gdb",
            terminal=True,
        )  # fmt: skip
        assert (end["exit_code"], end["output"]) == (0, "dumb\n")


DRAWING = """
import curses

def main(screen):
    curses.curs_set(0)
    screen.addstr(0, 0, "tea")
    drawn = screen.instr(0, 0, 3)
    return drawn  # drawn

curses.wrapper(main)
"""


async def test_a_python_program_may_draw_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    (tmp_path / "drawing.py").write_text(DRAWING)
    line = DRAWING.splitlines().index("    return drawn  # drawn") + 1
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(
            c, "dap_run", program="drawing.py", terminal=True, breakpoints=[f"drawing.py:{line}"]
        )
        assert (stop["line"], stop["locals"]["drawn"]) == (line, "b'tea'")
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 0)


async def test_the_input_of_a_program_can_be_ended() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(
            c, "dap_run", program=str(program("reads_stdin.py")), terminal=True,
            timeout_ms=MOMENT,
        )  # fmt: skip
        await ask(c, "dap_program_output", since=0, wait_ms=LIMIT * 1000)
        await ask(c, "dap_send_input", text="\x04", enter=False)
        end = await ask(c, "dap_wait_until_paused")
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        assert "nobody there" in await printed(c, "end")


async def test_children_of_a_program_in_a_terminal_print_there_too() -> None:
    p = program("children.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(
            c, "dap_run", program=str(p), args=["script"], terminal=True,
            breakpoints=[p.at("child")],
        )  # fmt: skip
        assert stop["parent"] == 1
        pid = await pid_of(c)
        assert (await ask(c, "dap_continue"))["exit_code"] == 0
        text = (await ask(c, "dap_program_output"))["text"]
        assert text == "parent starts script\nchild 25\nparent saw 0\n"
        await process_gone(pid)


@pytest.mark.parametrize("adapter", ["codelldb", "js-debug"])
async def test_with_other_adapters_output_comes_once_too(
    adapter: str, tmp_path: Path, shows: Shows
) -> None:
    needs(adapter)
    javascript = adapter == "js-debug"
    p = program("children.js") if javascript else compiled("hello.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", program=str(p), type=adapter, terminal=True)
        assert end["state"] == "ended"
        text = (await ask(c, "dap_program_output", category="stdout"))["text"]
        assert text.count("alone 16" if javascript else "hello") == 1
        assert "\r" not in text
    shows(adapter, "terminal")


async def test_an_adapter_without_terminals_says_which_have_one(
    settings: Path,
) -> None:
    fake(settings, languages=["python", "cmake"])
    async with asyncio.timeout(LIMIT), client() as c:
        said = await refusal(c, "dap_run", program=FAKE_PROGRAM, terminal=True)
        assert has_all(said, "fake", "`terminal`", ": debugpy.")


async def test_nothing_stays_in_a_terminal_when_the_server_is_killed() -> None:
    async with asyncio.timeout(LIMIT), server() as wire:
        await wire.tool(
            "dap_run", program=str(program("reads_stdin.py")), terminal=True, timeout_ms=MOMENT
        )
        await wire.tool("dap_program_output", since=0, wait_ms=LIMIT * 1000)
        wire.process.kill()
