"""Neovim waits for a key, or for a command: what does not need it goes on, what does says so."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import Json, ask, evaluate, read, refusal
from tests.neovim.editor import Editor
from tests.neovim.joint import LOOKS, only_session, together
from tests.neovim.person import Person
from tests.processes import LIMIT
from tests.programs import program

EVERY_LOOK: dict[str, Json] = {
    **LOOKS,
    "dap_program_output": {},
    "dap_source": {"filename": "fixtures/programs/loop.py"},
    "dap_status": {},
    "dap_configurations": {},
}

Blocked = Callable[[Editor, Path], AbstractAsyncContextManager[None]]


def by_keys(keys: str, mode: str, end: str) -> Blocked:
    """Return how to keep Neovim waiting for a key."""

    @asynccontextmanager
    async def blocked(editor: Editor, _: Path) -> AsyncGenerator[None]:
        assert (await editor.blocked(keys))["mode"] == mode
        try:
            yield
            assert (await editor.mode())["blocking"], "a tool has pressed a key"
        finally:
            await editor.keys(end)

    return blocked


@asynccontextmanager
async def in_system(editor: Editor, tmp_path: Path) -> AsyncGenerator[None]:
    """Keep Neovim in a command of the system that ends when the test says so."""
    begun, end = tmp_path / "begun", tmp_path / "end"
    os.mkfifo(begun)
    os.mkfifo(end)
    await editor.keys(f':call system("echo > {begun}; cat {end}")<CR>')
    async with asyncio.timeout(LIMIT):
        await asyncio.to_thread(begun.read_bytes)
        try:
            yield
        finally:
            await asyncio.to_thread(end.write_bytes, b"")


WAYS: tuple[tuple[Blocked, str], ...] = (
    (by_keys("f", "n", "<Esc>"), "waits for a key"),
    (by_keys(':echo "a\\nb"<CR>', "r", "<CR>"), "waits for a key (hit-enter)"),
    (by_keys(':echo repeat("a\\n", 99)<CR>', "rm", "q"), "waits for a key (more-prompt)"),
    (in_system, "busy with a command"),
)


async def test_a_tapped_session_answers_while_neovim_does_not(tmp_path: Path) -> None:
    loop = program("loop.py")
    inner, middle = loop.line("inner"), loop.at("middle_return")
    async with together(tmp_path, {}, ui=True) as (c, person):
        await person.breaks_at(loop.source, inner)
        await person.run(loop)
        for turn, (blocked, why) in enumerate(WAYS):
            await person.sees_stop(inner)
            async with blocked(person.editor, tmp_path):
                await works_meanwhile(c, turn, why)
            await catches_up(c, person)
            await ask(c, "dap_remove_breakpoint", **middle)
            assert (await ask(c, "dap_continue"))["line"] == inner


async def works_meanwhile(c: Client, turn: int, why: str) -> None:
    """Do what needs the program only; what needs Neovim is told why it cannot be done."""
    loop, quick = program("loop.py"), str(program("exit3.py"))
    told = {tool: await read(c, tool, **arguments) for tool, arguments in EVERY_LOOK.items()}
    assert why in told["dap_configurations"]
    assert await evaluate(c, "value + 41") == str(turn + 41), why
    step = await ask(c, "dap_step_over", evaluate=["doubled + 1"])
    doubled = (loop.line("inner_return"), str(2 * turn))
    assert (step["line"], step["locals"]["doubled"]) == doubled, why
    assert step["values"] == {"doubled + 1": str(2 * turn + 1)}, why
    assert why in await refusal(c, "dap_run", program=quick, type="python", where="nvim")
    # A breakpoint goes past Neovim, to where the program is.
    where = loop.at("middle_return")
    assert (await ask(c, "dap_set_breakpoint", **where))["state"] == "verified", why
    assert (await ask(c, "dap_continue"))["line"] == where["line"], why


async def catches_up(c: Client, person: Person) -> None:
    """Nothing is left over: both ways work as before."""
    loop = program("loop.py")
    middle = loop.line("middle_return")
    await person.sees_stop(middle)
    # They have just pressed a key, so they are not taken to the stop before they pause.
    await person.pauses()
    session = await person.session()
    assert session["signs"] == [[str(loop.source), middle, "DapStopped"]]
    assert ("loop.py", middle, "DapBreakpoint") in await person.breakpoints()
    await person.does("step_over")
    _, line = await person.editor.wait_for_notification("stopped")
    assert (await ask(c, "dap_wait_until_paused"))["line"] == line != middle
    assert "problem" not in await ask(c, "dap_configurations")


async def test_a_session_without_a_tap_says_that_it_may_be_old_and_catches_up(
    tmp_path: Path,
) -> None:
    loop = program("loop.py")
    inner, after = loop.line("inner"), loop.line("inner_return")
    async with together(tmp_path, {"tap": False}, ui=True) as (c, person):
        await person.breaks_at(loop.source, inner)
        await person.run(loop)
        await person.sees_stop(inner)
        await ask(c, "dap_snapshot")
        await person.editor.blocked("f")
        # What is known is told at once, and that it may be old.
        assert (await ask(c, "dap_variables"))["variables"][0]["name"] == "value"
        assert "waits for a key" in await read(c, "dap_status")
        assert "waits for a key" in await refusal(c, "dap_evaluate", expression="value")
        exits: Json = {"program": str(program("exit3.py")), "type": "python", "where": "nvim"}
        assert "waits for a key" in await refusal(c, "dap_run", **exits)
        await person.editor.keys("<Esc>")
        assert await evaluate(c, "value") == "0"
        assert (await ask(c, "dap_step_over"))["line"] == after
        await person.sees_stop(after)
        assert (await only_session(c))["line"] == after
        # What was refused has not been started later, and can be started now.
        assert len(await person.sessions()) == 1
        stop = await ask(c, "dap_run", **exits)
        assert (stop["state"], stop["reason"]) == ("stopped", "exception")
        assert len(await person.sessions()) == 2


@pytest.mark.parametrize("feed", ["tap"])
async def test_keys_are_handled_while_the_assistant_calls_tools_without_end(
    tmp_path: Path, setup: Json
) -> None:
    """Told by Neovim itself, and compared with how far the assistant has got in the meantime."""
    loop = program("loop.py")
    async with together(tmp_path, setup, ui=True) as (c, person):
        await person.breaks_at(loop.source, loop.line("inner"))
        await person.run(loop)
        await person.sees_stop(loop.line("inner"))
        await person.editor.lua(TELL_WHAT_IS_TYPED)
        rounds, done = 0, False

        async def works() -> None:
            nonlocal rounds
            while not done:
                await evaluate(c, f"{rounds} + 1")
                await ask(c, "dap_variables")
                where = {"filename": str(loop.source), "line": 1 + rounds % 5}
                await ask(c, "dap_set_breakpoint", **where)
                rounds += 1

        work = asyncio.create_task(works())
        await person.editor.keys("i")
        typed = ""
        while rounds < 5:
            typed, before = typed + "x", rounds
            await person.editor.keys("x")
            assert await person.editor.wait_for_notification("typed") == [typed]
            assert rounds - before <= 1, "the key was held up by the assistant's calls"
        done = True
        await work


TELL_WHAT_IS_TYPED = """
vim.cmd.enew()
vim.bo.buftype = 'nofile'
vim.api.nvim_create_autocmd('TextChangedI', { buffer = 0, callback = function()
  vim.rpcnotify(vim.g.test_channel, 'typed', vim.fn.getline(1))
end })
"""
