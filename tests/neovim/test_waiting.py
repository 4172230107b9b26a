"""What waits for a person's decision: they see it while they type, and in their status line."""

import asyncio
from pathlib import Path

import pytest

from tests.neovim.editor import Editor, neovim
from tests.neovim.test_actions import answered, ask, attach, note
from tests.processes import LIMIT

ROWS = """
return table.concat(vim.tbl_map(function(row)
  return table.concat(vim.tbl_map(function(column)
    return vim.fn.screenstring(row, column)
  end, vim.fn.range(1, vim.o.columns)))
end, vim.fn.range(1, vim.o.lines)), '\\n')
"""
TEXT = "return require('dapeer').status().text"
SETUP: dict[str, object] = {"approve": {"write": True}}
WAITS = "a question waits for you: dap_write"


async def on_screen(editor: Editor, words: str, *, there: bool = True) -> None:
    """Wait until words are, or are not, on the screen."""
    async with asyncio.timeout(LIMIT):
        while (words in await editor.lua(ROWS)) != there:
            await editor.lua("vim.cmd.redraw()")


@pytest.mark.parametrize(
    ("enter", "leave"), [("ix = 1", "<Esc>"), ("ix<C-o>", "<Esc>"), ("R", "<Esc>"), ("v", "<Esc>")]
)
async def test_a_question_that_waits_is_seen_by_who_types_and_answered_in_a_window_of_ours(
    tmp_path: Path, enter: str, leave: str
) -> None:
    async with neovim(tmp_path, dap=False, setup=SETUP, ui=True) as editor:
        await attach(editor)
        await editor.keys(enter)
        await ask(editor, 1, "write")
        await on_screen(editor, WAITS)
        await editor.keys(leave * 2)
        await on_screen(editor, "The assistant wants dap_write (write):")
        await on_screen(editor, WAITS, there=False)
        await editor.keys("1<CR>")
        await answered(editor, 1, yes=True)
        await on_screen(editor, "The assistant wants", there=False)


async def test_a_question_goes_when_nobody_waits_for_the_answer(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False, setup=SETUP, ui=True) as editor:
        await attach(editor)
        await ask(editor, 1, "write")
        await on_screen(editor, "The assistant wants dap_write (write):")
        await editor.lua("require('dapeer.actions').forget(1)")
        await on_screen(editor, "The assistant wants", there=False)


async def test_a_status_line_says_who_is_there_and_what_waits(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False, setup=SETUP, ui=True) as editor:
        assert await editor.lua(TEXT) == ""
        await attach(editor)
        assert await editor.lua(TEXT) == "dapeer"
        await note(editor, client="claude-code")
        assert await editor.lua(TEXT) == "claude-code"
        await ask(editor, 1, "write")
        assert await editor.lua(TEXT) == f"claude-code: {WAITS}"
        await on_screen(editor, "The assistant wants dap_write (write):")
        await editor.keys("<CR>")
        assert await answered(editor, 1, yes=False) == "The person denied it."
        assert await editor.lua(TEXT) == "claude-code"
