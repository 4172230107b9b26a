"""A person goes to a question for consent, answers it, and goes on where they were."""

from pathlib import Path

import pytest

from tests.neovim.editor import neovim
from tests.neovim.test_actions import PERSON, answered, ask, asked, attach
from tests.neovim.test_following import comes_true, in_mode

ENTERED_FROM = [
    ("ione", "i", " two", "one two"),
    ("ione two<Left><Left>", "i", "X", "one tXwo"),
    ("i......<Esc>0Rab", "R", "cd", "abcd.."),
    ("i......<Esc>0gRab", "Rv", "cd", "abcd.."),
    ("iabcdef<Esc>0vl", "v", "ld", "def"),
    ("iabcdef<Esc>$vh", "v", "hd", "abc"),
    ("ia<CR>b<CR>c<Esc>ggV", "V", "jd", "c"),
    ("iab<CR>cd<Esc>gg0<C-v>", "\x16", "jd", "b"),
    ("iabcdef<Esc>0gh", "s", "X", "Xbcdef"),
    ("iabcdef<Esc>$vh<C-g>", "s", "X", "abcdX"),
    ("ia<CR>b<CR>c<Esc>ggVj<C-g>", "S", "X", "Xc"),
    ("iab<CR>cd<Esc>gg0<C-v>j<C-g>", "\x13", "X", "Xb"),
    ("ione o<C-n>", "ic", " x", "one one x"),
    ("ione<C-o>", "niI", "0a", "one0a"),
    ("ione two<Esc>0d", "no", "w", "two"),
    ("iabcdef<Esc>0gh<C-o>", "vs", "X", "Xbcdef"),
]
"""What is typed before an answer, in which mode that ends, what is typed after the answer, and the line that comes of it."""


KEY = "vim.keymap.set({ '', '!' }, '<F2>', '<Plug>(dapeer-answer)')"
CLICK = """
local at = vim.fn.win_screenpos(vim.fn.win_getid(2))
for _, action in ipairs({ 'press', 'release' }) do
  vim.api.nvim_input_mouse('left', action, '', 0, at[1], at[2] + 2)
end
"""
WAYS = {"key": "vim.api.nvim_input('<F2>')", "click": CLICK}
"""How a person goes to the question."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("before", "mode", "after", "line"), ENTERED_FROM)
async def test_who_answers_goes_on_in_the_mode_in_which_they_were(
    tmp_path: Path, before: str, mode: str, after: str, line: str, way: str
) -> None:
    setup = {"approve": {"run": True}}
    rc = f"{PERSON}\n{KEY}\nvim.o.mouse = 'a'"
    async with neovim(tmp_path, dap=False, rc=rc, setup=setup, ui=True) as editor:
        await attach(editor)
        await ask(editor, 1, "run")
        await asked(editor, "run")
        await editor.keys(before)
        await in_mode(editor, mode)
        await editor.lua(WAYS[way])
        await comes_true(editor, "vim.bo.filetype == 'dapeer_consent'")
        await editor.keys("d")
        assert await answered(editor, 1, yes=False) == "The person denied it."
        await editor.keys(("d" if mode == "no" else "") + after)
        await comes_true(editor, f"vim.api.nvim_get_current_line() == {line!r}")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("keys", "mode"), [("i", "t"), ("i<C-\\><C-n>", "nt")])
async def test_who_answers_from_a_terminal_is_back_in_the_mode_in_which_they_were(
    tmp_path: Path, keys: str, mode: str, way: str
) -> None:
    setup = {"approve": {"run": True}}
    rc = f"{PERSON}\n{KEY}\nvim.keymap.set('t', '<F2>', '<Plug>(dapeer-answer)')\nvim.o.mouse = 'a'"
    async with neovim(tmp_path, dap=False, rc=rc, setup=setup, ui=True) as editor:
        await attach(editor)
        await ask(editor, 1, "run")
        await asked(editor, "run")
        await editor.keys(f":terminal cat<CR>{keys}")
        await in_mode(editor, mode)
        await editor.lua(WAYS[way])
        await comes_true(editor, "vim.bo.filetype == 'dapeer_consent'")
        await editor.keys("a")
        await answered(editor, 1, yes=True)
        assert await editor.mode() == {"mode": mode, "blocking": False}


async def test_who_wants_to_answer_in_a_command_line_gets_there_after_it(tmp_path: Path) -> None:
    setup = {"approve": {"run": True}}
    rc = PERSON + KEY
    async with neovim(tmp_path, dap=False, rc=rc, setup=setup, ui=True) as editor:
        await attach(editor)
        await ask(editor, 1, "run")
        await asked(editor, "run")
        await editor.keys(":call setline(1, 'one<F2> two')<CR>")
        await comes_true(editor, "vim.bo.filetype == 'dapeer_consent'")
        assert await editor.lua("return vim.api.nvim_buf_get_lines(1, 0, 1, true)") == ["one two"]
        await editor.keys("d")
        assert await answered(editor, 1, yes=False) == "The person denied it."


@pytest.mark.parametrize("way", WAYS)
async def test_who_goes_to_a_question_again_is_back_where_they_came_from_last(
    tmp_path: Path, way: str
) -> None:
    setup = {"approve": {"run": True}}
    # Two clicks are no double click, however quick they are here.
    rc = f"{PERSON}\n{KEY}\nvim.o.mouse = 'a'\nvim.o.mousetime = 0"
    async with neovim(tmp_path, dap=False, rc=rc, setup=setup, ui=True) as editor:
        await attach(editor)
        await editor.keys(":split<CR>")
        first, last = await editor.lua("return { vim.fn.win_getid(1), vim.fn.win_getid(2) }")
        await ask(editor, 1, "run")
        await asked(editor, "run")
        for window in (first, last):
            await editor.lua(f"vim.api.nvim_set_current_win({window})")
            await editor.lua(WAYS[way].replace("getid(2)", "getid(3)"))
            await comes_true(editor, "vim.bo.filetype == 'dapeer_consent'")
        await editor.keys("d")
        assert await answered(editor, 1, yes=False) == "The person denied it."
        assert await editor.lua("return vim.api.nvim_get_current_win()") == last


async def test_a_question_comes_along_to_the_tab_page_that_the_person_looks_at(
    tmp_path: Path,
) -> None:
    here = """(function()
      local window = vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(window)
        return vim.bo[vim.api.nvim_win_get_buf(window)].filetype == 'dapeer_consent'
      end)
      return window ~= nil and window ~= vim.api.nvim_get_current_win()
    end)()"""
    rc = f"{PERSON}\n{KEY}"
    setup = {"approve": {"run": True}}
    async with neovim(tmp_path, dap=False, rc=rc, setup=setup, ui=True) as editor:
        await attach(editor)
        await ask(editor, 1, "run")
        await asked(editor, "run")
        await comes_true(editor, here)
        for keys in (":tabnew<CR>", "gt", ":tabnew<CR>", ":tabclose<CR>"):
            await editor.keys(keys)
            await comes_true(editor, here)
        # Nothing was answered by that, and it is answered from there.
        await editor.keys("<F2>")
        await comes_true(editor, "vim.bo.filetype == 'dapeer_consent'")
        await editor.keys("a")
        await answered(editor, 1, yes=True)
