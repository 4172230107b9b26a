"""The undo tree of a file: an assistant reads it, and goes to one of its states."""

from pathlib import Path

from tests.harness import Json, ask, read, refusal
from tests.neovim.test_editor_tools import POEM, at_work, text_of, types

BRANCHES = """
local function change(line)
  vim.cmd('let &l:undolevels = &l:undolevels')
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { line })
end
change('one') change('two')
vim.cmd('silent write | silent undo')
change('three')
"""


async def test_branches_and_saves_are_told(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        await editor.lua(BRANCHES)
        tree = await ask(c, "nvim_undo_tree")
        states: dict[int, Json] = {state["seq"]: state for state in tree["states"]}
        assert list(states) == [3, 2, 1, 0]
        assert {seq: state.get("parent") for seq, state in states.items()} == {
            3: 1,
            2: 1,
            1: 0,
            0: None,
        }
        assert states[2]["saved"] == 1
        assert [seq for seq, state in states.items() if state["current"]] == [3]
        lines = (await read(c, "nvim_undo_tree")).splitlines()
        assert lines[0] == "poem.txt: state 3 of 3, modified, not saved"
        assert lines[1].startswith("→ 3 ")
        assert lines[1].endswith("made from 1")
        assert lines[2].endswith("saved (write 1)")
        assert lines[-1] == "  0 as it was read"
        assert (await read(c, "nvim_undo_tree", count=1)).endswith(
            "(1 of 4 shown; start=1 gives more)"
        )


async def test_any_state_can_be_gone_to_and_the_cursor_stays_in_its_line(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        await editor.lua(BRANCHES)
        await editor.lua("vim.cmd('normal! 5G3l')")
        went = await ask(c, "nvim_undo_goto", seq=2)
        assert await text_of(editor) == [*POEM, "one", "two"]
        assert (went["seq_before"], went["seq"], went["modified"]) == (3, 2, False)
        assert "-three" in went["diff"]
        assert "+two" in went["diff"]
        assert (await ask(c, "nvim_undo_goto", seq=0))["removed"] == 2
        assert await text_of(editor) == POEM
        await ask(c, "nvim_undo_goto", later="1f")
        assert await text_of(editor) == [*POEM, "one", "two"]
        await ask(c, "nvim_undo_goto", earlier="1d")
        assert await text_of(editor) == POEM
        await ask(c, "nvim_undo_goto", seq=3)
        assert await text_of(editor) == [*POEM, "one", "three"]
        assert await editor.lua("return vim.api.nvim_win_get_cursor(0)") == [5, 3]


async def test_the_cursor_follows_its_text_and_hidden_files_are_undone_too(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("a\n", encoding="utf-8")
    async with at_work(tmp_path) as (c, editor):
        await ask(c, "nvim_buffer_write", line=1, end_line=0, text="A\nB")
        await editor.lua("vim.cmd('normal! 7G2l')")
        await ask(c, "nvim_undo_goto", earlier="1")
        assert await editor.lua("return vim.api.nvim_win_get_cursor(0)") == [5, 2]
        await ask(c, "nvim_buffer_write", filename="other.txt", text="b")
        before = await editor.lua("return require('desk').look()")
        went = await ask(c, "nvim_undo_goto", filename="other.txt", seq=0)
        assert (went["added"], went["removed"]) == (1, 1)
        assert await text_of(editor, "other.txt") == ["a"]
        after = await editor.lua("return require('desk').look()")
        assert after["windows"] == before["windows"]
        assert after["desk"]["windows"] == before["desk"]["windows"]


async def test_what_is_not_there_or_not_now_is_refused(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        assert "Undo number 7 not found" in await refusal(c, "nvim_undo_goto", seq=7)
        for arguments in ({}, {"seq": 0, "later": "1"}):
            assert "Give one of" in await refusal(c, "nvim_undo_goto", **arguments)
        assert "such as 5m" in await refusal(c, "nvim_undo_goto", earlier="5 minutes")
        await types(editor, "ix", "i")
        assert "The person is typing" in await refusal(c, "nvim_undo_goto", seq=0)
