"""What a stop that the assistant caused does to a text that Neovim would ask about, write or wipe."""

from pathlib import Path

import pytest

from tests.harness import ask, call
from tests.neovim.editor import installed
from tests.neovim.test_following import (
    FIRST,
    NOTE,
    SOURCE,
    TIDY,
    Shared,
    comes_true,
    in_mode,
    shared,
)

OIL = installed("oil.nvim", "DAPEER_OIL")
NEEDS_OIL = (
    "needs oil.nvim: git clone https://github.com/stevearc/oil.nvim "
    "~/.local/share/nvim/site/pack/dapeer/opt/oil.nvim"
)
RESTED = "require('dapeer.person.attention').rested()"
HERE = "vim.fn.expand('%:t')"
KEYS = {
    "nohidden": "set nohidden",
    "nohidden, confirm": "set nohidden confirm",
    "nohidden, autowriteall": "set nohidden autowriteall",
    "nohidden, autowrite": "set nohidden autowrite",
    "wiped": "setlocal bufhidden=wipe",
    "deleted, confirm": "set confirm | setlocal bufhidden=delete",
    "wiped, unmodified": "write | setlocal bufhidden=wipe",
    "unloaded, unmodified": "write | setlocal bufhidden=unload",
}
"""What the person has set, by a command."""
AS_BEFORE = ":set hidden noconfirm noautowriteall noautowrite<CR>"
TEXT = """
return {
  loaded = vim.fn.bufloaded('note.txt') == 1 and vim.fn.getbufline('note.txt', 1, '$'),
  shown = #vim.fn.win_findbuf(vim.fn.bufnr('note.txt')),
  lost = vim.fn.undotree(vim.fn.bufnr('note.txt')).seq_cur == 0,
}
"""
KEPT = {"loaded": ["one"], "shown": 1, "lost": False}


async def keeps(here: Shared, command: str, line: int) -> None:
    """Let a person leave a text unfinished, by this setting, while the assistant steps to a line."""
    note = here.source.parent / "note.txt"
    note.unlink(missing_ok=True)
    await here.editor.keys(f"{NOTE}ione<Esc>:{command}<CR>")
    await comes_true(here.editor, f"{RESTED} and {HERE} == 'note.txt'")
    on_disk = note.exists()
    await here.steps()
    mode = await here.editor.mode()
    assert mode["mode"] == "n"
    assert not mode["blocking"]
    assert await here.editor.lua(f"return {HERE}") == "note.txt"
    assert await here.editor.lua(TEXT) == KEPT
    assert note.exists() == on_disk
    # The command of theirs leaves the text in a window, too.
    await here.editor.keys(":Dapeer follow<CR>")
    await comes_true(here.editor, f"{HERE} == 'program.py' and vim.fn.line('.') == {line}")
    assert await here.editor.lua(TEXT) == KEPT
    assert note.exists() == on_disk
    await here.editor.keys(AS_BEFORE)
    await in_mode(here.editor, "n")
    await here.editor.lua(TIDY, str(here.source), line)


@pytest.mark.parametrize("follow", ["idle", "always"])
async def test_a_stop_of_the_assistant_leaves_a_text_that_cannot_be_hidden_where_it_is(
    tmp_path: Path, follow: str
) -> None:
    async with shared(tmp_path, follow=follow) as here:
        for line, (name, command) in enumerate(KEYS.items(), FIRST + 1):
            try:
                await keeps(here, command, line)
            except (AssertionError, TimeoutError) as error:
                error.add_note(name)
                raise


async def test_a_stop_in_the_unsaved_file_itself_takes_the_person_there(tmp_path: Path) -> None:
    async with shared(tmp_path) as here:
        await here.editor.keys(":set nohidden confirm<CR>Go# unsaved<Esc>gg")
        await comes_true(here.editor, f"{RESTED} and vim.fn.line('.') == 1")
        await here.steps()
        assert await here.editor.lua("return vim.fn.line('.')") == FIRST + 1


async def test_a_text_that_two_windows_show_makes_room_in_one(tmp_path: Path) -> None:
    async with shared(tmp_path, follow="always") as here:
        await here.editor.keys(f":set nohidden<CR>:split<CR>{NOTE}:split<CR>ione<Esc>")
        await comes_true(here.editor, "vim.fn.getline(1) == 'one' and vim.fn.mode() == 'n'")
        await here.steps()
        assert await here.editor.lua(f"return {HERE}") == "program.py"
        assert await here.editor.lua(TEXT) == KEPT


async def test_follow_goes_from_the_person_s_own_stop_to_the_assistant_s_and_hands_the_keys_over(
    tmp_path: Path,
) -> None:
    other = tmp_path / "other.py"
    other.write_text(SOURCE)
    async with shared(tmp_path) as here:
        await comes_true(here.editor, RESTED)
        started = await ask(
            here.client,
            "dap_run",
            program=str(other),
            breakpoints=[{"filename": str(other), "line": 4}],
        )
        # The person was idle, so their cursor has gone there; their keys are their own program's.
        await comes_true(here.editor, f"{HERE} == 'other.py'")
        await here.editor.keys(":Dapeer follow<CR>")
        await comes_true(here.editor, f"{HERE} == 'other.py' and vim.fn.line('.') == 4")
        await here.person.does("step_over")
        await here.person.sees_stop(5)
        await call(here.client, "dap_terminate", session_id=started["session_id"])


async def test_a_listing_of_netrw_stays_in_its_window(tmp_path: Path) -> None:
    async with shared(tmp_path) as here:
        await here.editor.keys(":Explore<CR>")
        await comes_true(here.editor, f"vim.bo.filetype == 'netrw' and {RESTED}")
        await here.steps()
        assert await here.editor.lua("return vim.bo.filetype") == "netrw"


@pytest.mark.skipif(OIL is None, reason=NEEDS_OIL)
async def test_a_listing_of_oil_stays_in_its_window_and_follow_goes_from_it(tmp_path: Path) -> None:
    async with shared(tmp_path) as here:
        await here.editor.keys(f":set runtimepath+={OIL} | lua require('oil').setup()<CR>")
        await here.editor.keys(f":Oil {tmp_path}<CR>")
        await comes_true(here.editor, f"vim.bo.filetype == 'oil' and {RESTED}")
        await here.steps()
        assert await here.editor.lua("return vim.bo.filetype") == "oil"
        await here.editor.keys(":Dapeer follow<CR>")
        await comes_true(here.editor, f"{HERE} == 'program.py' and vim.fn.line('.') == {FIRST + 1}")
