"""Breakpoints of a file that is edited while its program runs: the program has other lines than the buffer."""

from pathlib import Path

import pytest

from tests.harness import ask, read, refusal
from tests.neovim.joint import together
from tests.neovim.person import Person
from tests.neovim.test_breakpoints import heard, known
from tests.neovim.test_following import comes_true

SOURCE = "one = 1\nfor i in range(9):\n    two = i\n    three = i\nprint(three)\n"
WATCH = """
vim.api.nvim_create_autocmd('TextChanged', {
  -- Later: what dapeer does at this event is put off, too.
  callback = vim.schedule_wrap(vim.schedule_wrap(function()
    vim.rpcnotify(vim.g.test_channel, 'changed')
  end)),
})
"""
TOGGLE = "vim.api.nvim_win_set_cursor(0, { ..., 0 }) require('dap').toggle_breakpoint()"


async def inserts_two_lines(person: Person) -> None:
    """Type two lines above all others, and do not save them."""
    await person.editor.lua(WATCH)
    await person.editor.keys("ggO# new<CR># two<Esc>")
    await person.editor.wait_for_notification("changed")


@pytest.mark.parametrize("where", ["nvim", "direct"])
async def test_saving_a_file_moves_no_breakpoint_of_a_running_program(
    tmp_path: Path, where: str
) -> None:
    source = tmp_path / "areas.py"
    source.write_text(SOURCE)
    async with together(tmp_path, {}) as (c, person):
        await person.breaks_at(source, 3)
        await known(c)
        await ask(c, "dap_run", program=str(source), where=where)
        await inserts_two_lines(person)
        await heard(c)
        assert await person.breakpoints() == {("areas.py", 5, "DapBreakpoint")}
        told = await read(c, "dap_breakpoints")
        assert "areas.py:3 verified | two = i (its sign is on line 5 of the unsaved buffer)" in told
        await person.editor.lua("vim.cmd('silent write')")
        await heard(c)
        told = await read(c, "dap_breakpoints")
        assert "areas.py:5 verified, moved to line 3 | two = i (of the source that" in told
        assert "the program has loaded)" in told
        stop = await ask(c, "dap_continue")
        assert (stop["line"], "breakpoints" in stop) == (3, False)
        # A new one is not sent by the lines of now, neither by us nor by nvim-dap for us.
        told = await read(c, "dap_set_breakpoint", filename=str(source), line=7)
        assert "areas.py has changed since the program loaded it" in told
        assert (await ask(c, "dap_continue"))["line"] == 3
        # Removed where it is now, it is removed from the program.
        await ask(c, "dap_clear_breakpoints")
        assert (await ask(c, "dap_continue"))["state"] == "ended"


async def test_signs_in_an_unsaved_buffer_are_the_lines_that_the_program_has(
    tmp_path: Path,
) -> None:
    source = tmp_path / "areas.py"
    source.write_text(SOURCE)
    async with together(tmp_path, {}) as (c, person):
        await person.breaks_at(source, 3)
        await person.run(str(source))
        await person.sees_stop(3)
        await inserts_two_lines(person)
        # nvim-dap sends the lines of its buffer: 5 and 6.
        await person.editor.lua(TOGGLE, 6)
        assert set(await known(c)) == {3, 4}
        await ask(c, "dap_remove_breakpoint", filename=str(source), line=3)
        assert await person.breakpoints() == {("areas.py", 6, "DapBreakpoint")}
        assert (await ask(c, "dap_continue"))["line"] == 4
        await person.does("terminate")
        await person.sees_end()


async def test_no_program_starts_in_neovim_with_breakpoints_in_an_unsaved_buffer(
    tmp_path: Path,
) -> None:
    source = tmp_path / "areas.py"
    source.write_text(SOURCE)
    async with together(tmp_path, {}) as (c, person):
        await person.breaks_at(source, 3)
        await inserts_two_lines(person)
        wanted = [{"filename": str(source), "line": 3}]
        told = await refusal(c, "dap_run", program=str(source), where="nvim", breakpoints=wanted)
        assert "areas.py has unsaved changes in Neovim" in told
        assert await person.breakpoints() == {("areas.py", 5, "DapBreakpoint")}
        assert await person.sessions() == []
        stop = await ask(c, "dap_run", program=str(source), where="direct", breakpoints=wanted)
        assert stop["line"] == 3


EDITS = {
    "3Gdd": {},
    "1Gdd": {2: "two = i"},
    ":%d<CR>isomething<Esc>": {},
    "1Gddu": {3: "two = i"},
    "1GO# new<Esc>": {4: "two = i"},
    ":lua vim.api.nvim_buf_set_lines(0, 0, 0, true, { '# formatted', '' })<CR>": {5: "two = i"},
    ":lua vim.api.nvim_buf_set_lines(0, 2, 3, true, {})<CR>": {},
    ":new<CR>:lua vim.api.nvim_buf_set_lines(vim.fn.bufnr('areas.py'), 2, 3, true, {})<CR>:quit<CR>": {},
    ":edit!<CR>": {3: "two = i"},
    ":enew<CR>:bunload areas.py<CR>:edit areas.py<CR>": {3: "two = i"},
}
"""Keys of a person whose file has a breakpoint at line 3, and where it is after they have saved the file."""


async def test_breakpoints_move_and_go_with_their_lines_for_both(tmp_path: Path) -> None:
    source = tmp_path / "areas.py"
    async with together(tmp_path, {}, cwd=tmp_path, ui=True) as (c, person):
        for keys, left in EDITS.items():
            source.write_text(SOURCE)
            await person.editor.lua("vim.cmd.edit({ ..., bang = true })", str(source))
            await person.breaks_at(source, 3)
            assert [*await known(c)] == [3]
            await person.editor.keys(keys + ":write<CR>:let g:done = 1<CR>")
            await comes_true(person.editor, "vim.g.done == 1 and not vim.bo.modified")
            assert [*await known(c)] == [*left] == [*await person.conditions()], keys
            await person.editor.lua("vim.g.done = nil require('dap').clear_breakpoints()")
            assert await known(c) == {}


async def test_the_line_of_a_deleted_breakpoint_stops_no_program(tmp_path: Path) -> None:
    source = tmp_path / "areas.py"
    source.write_text(SOURCE)
    async with together(tmp_path, {}, cwd=tmp_path, ui=True) as (c, person):
        await person.breaks_at(source, 5)
        assert [*await known(c)] == [5]
        await person.editor.keys("5Gdd:write<CR>")
        await comes_true(person.editor, "not vim.bo.modified and vim.fn.line('$') == 4")
        await heard(c)
        assert "No breakpoints" in await read(c, "dap_breakpoints")
        assert (await ask(c, "dap_run", program=str(source)))["state"] == "ended"
