"""The tests' own Neovim: that it is what the tests take it for."""

import asyncio
from pathlib import Path

import pytest

from tests.neovim.editor import neovim
from tests.neovim.person import Person
from tests.neovim.wire import NeovimError
from tests.programs import program


async def test_neovim_runs_lua_and_tells_what_went_wrong(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False) as editor:
        assert await editor.lua("return {vim.v.servername, ...}", 7) == [editor.socket, 7]
        with pytest.raises(NeovimError, match="broken"):
            await editor.lua("error('broken')")
        await editor.lua("vim.rpcnotify(vim.g.test_channel, 'hello', ...)", "you")
        assert await editor.wait_for_notification("hello") == ["you"]


@pytest.mark.parametrize(
    ("keys", "mode"),
    [("f", "n"), (':echo "a\\nb"<CR>', "r"), (':echo repeat("a\\n", 99)<CR>', "rm")],
    ids=["f", "hit-enter", "more"],
)
async def test_a_neovim_that_waits_for_a_key_says_so_and_answers_later(
    tmp_path: Path, keys: str, mode: str
) -> None:
    async with neovim(tmp_path, dap=False, ui=True) as editor:
        assert await editor.blocked(keys) == {"mode": mode, "blocking": True}
        answer = asyncio.create_task(editor.lua("return 'here'"))
        assert (await editor.mode())["blocking"]
        assert not answer.done()
        await editor.keys("<Esc>")
        assert await answer == "here"


async def test_the_person_debugs_with_nvim_dap(tmp_path: Path) -> None:
    loop = program("loop.py")
    async with neovim(tmp_path) as editor:
        person = Person(editor)
        await person.breaks_at(loop.source, loop.line("inner"))
        assert await person.breakpoints() == {("loop.py", loop.line("inner"), "DapBreakpoint")}
        session_id = await person.run(loop)
        await person.sees_stop(loop.line("inner"))
        session = await person.session()
        assert (session["id"], session["line"]) == (session_id, loop.line("inner"))
        assert [sign[1:] for sign in session["signs"]] == [[loop.line("inner"), "DapStopped"]]
        await person.does("terminate")
        assert await person.sees_end() == session_id
        assert await person.sessions() == []
