"""How a diff ends: by the person, by the assistant, by accident; and that nothing is left of it."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import read
from tests.neovim.editor import Editor, neovim
from tests.neovim.joint import attached
from tests.neovim.person import Person
from tests.neovim.reviewing import (
    RC,
    Proposal,
    as_before,
    bars,
    everything,
    proposed,
    reviewing,
    unchanged,
)
from tests.processes import LIMIT

OLD, NEW = "one\ntwo\nthree\n", "one\nTWO\nthree\n"
ACCEPTED = ["FILE_SAVED", NEW]
REJECTED = ["DIFF_REJECTED", "mine"]
PROPOSAL_GONE = [*REJECTED, "The proposal was closed without a decision."]
ORIGINAL_GONE = [*REJECTED, "The original was closed without a decision."]

# A mapping is as good as a command line.
MAPPINGS = """
vim.keymap.set('n', '<C-s>', '<Cmd>w<CR>')
vim.keymap.set('n', '<F2>', function() vim.cmd.write() end)
vim.keymap.set('i', '<F3>', '<Cmd>w<CR><Esc>')
vim.keymap.set('n', '<F4>', ':update<CR>')
vim.keymap.set('n', '<F5>', '<Cmd>Dapeer accept<CR>')
"""

WAYS = {
    "ZZ": ACCEPTED,
    ":w<CR>": ACCEPTED,
    ":silent! w | echo 1<CR>": ACCEPTED,
    ":wq<CR>": ACCEPTED,
    ":x<CR>": ACCEPTED,
    "<C-s>": ACCEPTED,
    "<F2>": ACCEPTED,
    "A<F3>": ACCEPTED,
    "<F4>": ACCEPTED,
    "<F5>": ACCEPTED,
    ":Dapeer accept<CR>": ACCEPTED,
    "<C-w>pZZ": ACCEPTED,
    "<C-w>p:Dapeer accept<CR>": ACCEPTED,
    # Only the windows of a diff are its own.
    "<C-w>pgt:Dapeer accept<CR>": ACCEPTED,
    "ZQ": REJECTED,
    "<C-w>pZQ": REJECTED,
    ":q<CR>": PROPOSAL_GONE,
    ":q!<CR>": PROPOSAL_GONE,
    "<C-w>p:q<CR>": ORIGINAL_GONE,
    ":only<CR>": ORIGINAL_GONE,
    "<C-w>o": ORIGINAL_GONE,
    "<C-w>p<C-w>o": PROPOSAL_GONE,
    ":close<CR>": PROPOSAL_GONE,
    "<C-w>c": PROPOSAL_GONE,
    "<C-w>p<C-w>c": ORIGINAL_GONE,
    ":tabclose<CR>": PROPOSAL_GONE,
    "gt:tabonly<CR>": PROPOSAL_GONE,
    ":bd!<CR>": PROPOSAL_GONE,
    "<C-w>p:bd<CR>": ORIGINAL_GONE,
    ":bwipeout!<CR>": PROPOSAL_GONE,
    "<C-w>p:bwipeout<CR>": ORIGINAL_GONE,
    ":lua vim.api.nvim_buf_delete(0, { force = true })<CR>": PROPOSAL_GONE,
    "<C-w>p:lua vim.api.nvim_buf_delete(0, {})<CR>": ORIGINAL_GONE,
    "gt:lua for _, b in ipairs(vim.api.nvim_list_bufs()) do "
    "if vim.b[b].dapeer_diff and not vim.bo[b].modifiable then vim.api.nvim_buf_delete(b, {}) end end<CR>": ORIGINAL_GONE,
    # Plugins that close everything for another session do so where no autocommand sees it.
    ":set ei=all | bwipeout! | set ei=<CR>": PROPOSAL_GONE,
    "<C-w>p:noautocmd bd<CR>": ORIGINAL_GONE,
    ":set ei=all | tabclose | set ei=<CR>": PROPOSAL_GONE,
    ":Dapeer reject<CR>": REJECTED,
    ":Dapeer reject use a set, not  a list<CR>": [*REJECTED, "use a set, not a list"],
}


@pytest.mark.parametrize("hidden", [True, False], ids=["hidden", "nohidden"])
async def test_every_way_to_decide_leaves_nothing_behind(tmp_path: Path, *, hidden: bool) -> None:
    path = tmp_path / "a.txt"
    path.write_text(OLD, encoding="utf-8")
    rc = MAPPINGS + f"vim.o.hidden = {str(hidden).lower()}"
    async with reviewing(tmp_path, rc) as (c, editor):
        await editor.lua("vim.cmd.edit('a.txt') vim.api.nvim_win_set_cursor(0, { 3, 2 })")
        for keys, decision in WAYS.items():
            before = await everything(editor)
            proposal = await proposed(c, editor, "a.txt", NEW, tab_name="mine")
            await editor.keys(keys)
            assert await proposal.answer() == decision, keys
            await unchanged(editor, before)
        assert path.read_text(encoding="utf-8") == OLD


async def test_the_events_of_a_diff_have_its_name_where_it_is_and_how_it_ended(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.txt"
    async with reviewing(tmp_path) as (c, editor):
        for keys, outcome, reason in (
            ("ZZ", "accepted", {}),
            (":Dapeer reject too long<CR>", "rejected", {"reason": "too long"}),
        ):
            proposal = Proposal(c, "a.txt", NEW, tab_name="mine")
            here = {"tab_name": "mine", "file": str(path), "new_file": True}
            (opened,) = await editor.wait_for_notification("opened")
            shown = await editor.lua(
                "return { tabpage = vim.api.nvim_get_current_tabpage(), buffer = vim.api.nvim_get_current_buf() }"
            )
            assert opened == {**here, **shown}
            await editor.keys(keys)
            await proposal.answer()
            (closed,) = await editor.wait_for_notification("closed")
            assert closed.items() >= {**here, "outcome": outcome, **reason}.items()


AUTOSAVE = """
vim.api.nvim_create_autocmd({ 'InsertLeave', 'FocusLost', 'TextChanged', 'CursorHold' }, {
  nested = true,
  command = 'silent! wall',
})
vim.api.nvim_create_autocmd('TextChanged', {
  callback = function()
    vim.defer_fn(function()
      vim.cmd('silent! write')
      vim.cmd.wall()
      vim.rpcnotify(vim.g.test_channel, 'autosaved')
    end, 1)
  end,
})
vim.keymap.set('n', '<F2>', '<Cmd>make<CR>')
vim.o.makeprg = 'true'
vim.o.shellpipe = '>'
"""


async def test_nothing_but_the_person_accepts(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(OLD, encoding="utf-8")
    async with reviewing(tmp_path, AUTOSAVE) as (c, editor):
        await editor.lua("vim.cmd.edit('a.txt')")
        before = await everything(editor)
        proposal = await proposed(c, editor, "a.txt", NEW, tab_name="mine")
        # A plugin that saves at once, one that saves later, and whoever else may write.
        await editor.keys("iMY <Esc>x")
        await editor.wait_for_notification("autosaved")
        assert "did not type" in (await editor.wait_for_notification("said"))[0]
        await editor.lua("vim.cmd('silent! wall') vim.cmd('silent! write')")
        await editor.lua("vim.api.nvim_exec_autocmds('FocusLost', {})")
        # Other files are written, and the options that write on any occasion do not count.
        for keys in ("gt:wall<CR>gt", ":set aw awa<CR>", "gtgt", "<F2>", ":make<CR>", ":!true<CR>"):
            await editor.keys(keys)
            await editor.mode()
            await editor.keys("<CR>")
        await editor.lua("vim.o.autowrite, vim.o.autowriteall = false, false")
        assert await editor.lua("return { vim.bo.modified, vim.bo.buftype }") == [True, "acwrite"]
        assert proposal.pending
        # Nor does another name make it a file.
        await editor.keys(":w other.txt<CR>")
        assert "no other file" in (await editor.wait_for_notification("said"))[0]
        assert not (tmp_path / "other.txt").exists()
        await editor.keys(":w<CR>")
        assert await proposal.answer() == ["FILE_SAVED", "one\nMYTWO\nthree\n"]
        # Neovim's own: the name that was written to, and what the text's last keys were.
        await editor.lua("vim.cmd('silent! bwipeout other.txt')")
        del before["registers"]
        await unchanged(editor, before)


async def test_diffs_are_decided_in_any_order(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (c, editor):
        before = await everything(editor)
        one = await proposed(c, editor, "1.txt", "1\n", tab_name="first")
        where = await editor.lua("return vim.api.nvim_get_current_tabpage()")
        two = await proposed(c, editor, "2.txt", "2\n", tab_name="second")
        assert await editor.wait_for_notification("said") == [
            "dapeer: another diff is to be reviewed: 2.txt"
        ]
        three = await proposed(c, editor, "3.txt", "3\n")
        # Who reviews one stays there.
        assert await editor.lua("return vim.api.nvim_get_current_tabpage()") == where
        lines = await editor.lua("return require('dapeer.diff').lines()")
        assert [line.split("  ")[:3] for line in lines] == [
            ["tab page 2", "(1.txt)", "first"],
            ["tab page 4", "(2.txt)", "second"],
            ["tab page 3", "(3.txt)", "3.txt"],
        ]
        await editor.keys("gtZZ")
        assert await three.answer() == ["FILE_SAVED", "3\n"]
        await editor.wait_for_notification("closed")
        # From one to the next.
        assert (await bars(editor))[0] == " original 1.txt"
        # The same tab name: only the last one counts.
        await Person(editor).pauses()
        again = await proposed(c, editor, "1.txt", "one\n", tab_name="first")
        assert (await one.answer())[0] == "DIFF_REJECTED"
        assert (await one.answer())[2] == ("Another diff with this tab name has replaced it.")
        await editor.wait_for_notification("closed")
        await editor.keys(":Dapeer reject no<CR>")
        await editor.keys(":Dapeer accept<CR>")
        assert await two.answer() == ["DIFF_REJECTED", "second", "no"]
        assert await again.answer() == ["FILE_SAVED", "one\n"]
        await editor.wait_for_notification("closed")
        await unchanged(editor, before)


async def test_a_diff_beside_which_something_floats_ends_from_another_tab_page(
    tmp_path: Path,
) -> None:
    """Neovim up to 0.11 crashes there, if the floating window is not closed first."""
    async with reviewing(tmp_path) as (c, editor):
        before = await everything(editor)
        proposal = await proposed(c, editor, "1.txt", "1\n", tab_name="first")
        await editor.lua("""
          local buffer = vim.api.nvim_create_buf(false, true)
          vim.bo[buffer].bufhidden = 'wipe'
          vim.api.nvim_open_win(buffer, false, { relative = 'editor', row = 1, col = 1, width = 9, height = 2 })
        """)
        await editor.keys("gt")
        assert await read(c, "nvim_close_tab", tab_name="first") == "TAB_CLOSED"
        assert (await proposal.answer())[0] == "DIFF_REJECTED"
        await unchanged(editor, before)


async def test_the_assistant_closes_what_it_has_opened(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (c, editor):
        before = await everything(editor)
        assert await read(c, "nvim_close_tab", tab_name="none") == "TAB_CLOSED"
        assert await read(c, "nvim_close_all_diff_tabs") == "CLOSED_0_DIFF_TABS"
        proposal = await proposed(c, editor, "1.txt", "1\n", tab_name="first")
        # The plugin may have been loaded again meanwhile.
        await editor.lua("""
          for name in pairs(package.loaded) do
            if vim.startswith(name, 'dapeer.diff') then package.loaded[name] = nil end
          end
        """)
        assert await read(c, "nvim_close_tab", tab_name="first") == "TAB_CLOSED"
        reason = "The assistant has closed it."
        assert await proposal.answer() == ["DIFF_REJECTED", "first", reason]
        await unchanged(editor, before)
        # Two diffs of its own; one of somebody else's, and the person's own, stay.
        await editor.lua("""
          vim.cmd('tabnew | diffthis | vnew | diffthis')
          require('dapeer.diff').open(function() end, {
            new_file_path = 'other.txt', new_file_contents = 'x', tab_name = 'of another',
          }, { caller = { client = 'another' }, on_cancel = function() end, progress = function() end, if_lost = function() end })
        """)
        await editor.wait_for_notification("opened")
        theirs = await everything(editor)
        same_name = await proposed(c, editor, "c.txt", "x", tab_name="of another")
        assert await read(c, "nvim_close_tab", tab_name="of another") == "TAB_CLOSED"
        assert await same_name.answer() == ["DIFF_REJECTED", "of another", reason]
        await unchanged(editor, theirs)
        mine = [await proposed(c, editor, f"{name}.txt", "x") for name in "ab"]
        assert await read(c, "nvim_close_all_diff_tabs") == "CLOSED_2_DIFF_TABS"
        assert [(await one.answer())[0] for one in mine] == ["DIFF_REJECTED"] * 2
        await editor.wait_for_notification("closed")
        await unchanged(editor, theirs)


async def test_a_cancelled_diff_goes_but_not_under_the_persons_hands(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (c, editor):
        before = await everything(editor)
        proposal = await proposed(c, editor, "1.txt", "1\n")
        await proposal.cancel()
        await unchanged(editor, before)
        # Who types in it goes on typing in it; what they typed would land elsewhere.
        proposal = await proposed(c, editor, "1.txt", "1\n")
        await editor.keys("Omore")
        await proposal.cancel()
        await read(c, "nvim_close_all_diff_tabs")
        assert await editor.lua("return vim.api.nvim_get_current_line()") == "more"
        await editor.keys("<Esc>")
        del before["registers"]
        await unchanged(editor, before)


async def test_a_diff_waits_until_the_person_has_stopped_typing(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (c, editor):
        for start, stop in (("i", "<Esc>"), (":", "<C-c>"), ("v", "<Esc>"), ("q:", ":q<CR>")):
            await editor.keys(start)
            proposal = Proposal(c, "1.txt", "1\n")
            assert "stopped typing" in (await editor.wait_for_notification("said"))[0]
            assert await editor.lua("return #vim.api.nvim_list_tabpages()") == 1
            lines = await editor.lua("return require('dapeer.diff').lines()")
            assert lines[0].startswith("not shown yet  (1.txt)  1.txt")
            await editor.keys(stop)
            await editor.wait_for_notification("opened")
            await editor.keys("ZZ")
            assert await proposal.answer() == ["FILE_SAVED", "1\n"]
            await editor.wait_for_notification("closed")
        # Cancelled before it was shown, it never is.
        await editor.keys("i")
        before = await everything(editor)
        proposal = Proposal(c, "1.txt", "1\n")
        await editor.wait_for_notification("said")
        await proposal.cancel()
        await read(c, "nvim_close_all_diff_tabs")
        await as_before(editor, before)
        await editor.keys("<Esc>")
        assert await editor.lua("return #vim.api.nvim_list_tabpages()") == 1


async def test_who_waits_in_a_terminal_sees_the_diff_and_is_back_there_afterwards(
    tmp_path: Path,
) -> None:
    async with reviewing(tmp_path) as (c, editor):
        await editor.lua("vim.cmd('terminal cat'); vim.cmd('startinsert')")
        proposal = Proposal(c, "new.txt", "text\n")
        assert "when you have stopped typing" in (await editor.wait_for_notification("said"))[0]
        await editor.wait_for_notification("opened")
        await comes_into(editor, "n")
        await editor.keys("ZZ")
        assert await proposal.answer() == ["FILE_SAVED", "text\n"]
        await editor.wait_for_notification("closed")
        assert await editor.lua("return vim.bo.buftype") == "terminal"
        await comes_into(editor, "t")


async def comes_into(editor: Editor, mode: str) -> None:
    """Wait until Neovim is in a mode: it leaves and enters terminal mode in a later turn of its loop."""
    async with asyncio.timeout(LIMIT):
        while (await editor.mode())["mode"] != mode:
            pass


async def test_a_proposal_that_was_renamed_leaves_nothing_behind(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (c, editor):
        before = await everything(editor)
        for keys in (":silent file other.txt<CR>ZQ", ":silent! saveas other.txt<CR>ZQ"):
            proposal = await proposed(c, editor, "1.txt", "one\n")
            await editor.keys(keys)
            assert (await proposal.answer())[0] == "DIFF_REJECTED"
            await editor.wait_for_notification("closed")
            await as_before(editor, before)


async def test_a_write_behind_other_commands_accepts(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (c, editor):
        for keys in (":silent keeppatterns %s/one/two/e | w<CR>", ":let g:x = 1 | w<CR>"):
            proposal = await proposed(c, editor, "1.txt", "one\n")
            await editor.keys(keys)
            assert (await proposal.answer())[0] == "FILE_SAVED"
            await editor.wait_for_notification("closed")


async def test_a_diff_in_the_only_tab_page_leaves_a_window(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (c, editor):
        proposal = await proposed(c, editor, "1.txt", "1\n")
        await editor.keys(":tabonly<CR>ZZ")
        assert await proposal.answer() == ["FILE_SAVED", "1\n"]
        await editor.wait_for_notification("closed")
        assert await editor.lua("""
          return { #vim.api.nvim_list_wins(), vim.api.nvim_buf_get_name(0), vim.wo.diff, vim.wo.winbar, vim.wo.winfixbuf }
        """) == [1, "", False, "", False]


async def test_a_side_that_is_read_again_is_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(OLD, encoding="utf-8")
    async with reviewing(tmp_path) as (c, editor):
        for keys in ("dd:e!<CR>:w<CR>", "dd:e!<CR>:x<CR>", "dd:e! | x<CR>"):
            proposal = await proposed(c, editor, "a.txt", NEW)
            await editor.keys("<C-w>p:e!<CR>")
            shown = "return { vim.api.nvim_buf_get_lines(0, 0, -1, false), vim.bo.modifiable }"
            assert await editor.lua(shown) == [OLD.splitlines(), False]
            await editor.keys("<C-w>p" + keys)
            assert await proposal.answer() == ACCEPTED, keys
            await editor.wait_for_notification("closed")


async def test_no_autocommand_that_throws_keeps_a_diff(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (c, editor):
        before = await everything(editor)
        for event in ("WinClosed", "TabEnter", "BufWipeout"):
            await editor.lua("vim.cmd('autocmd ' .. ... .. ' * throw \"mine\"')", event)
            proposal = await proposed(c, editor, "1.txt", "1\n")
            assert await editor.mode() == {"mode": "n", "blocking": False}
            await editor.keys("ZZ")
            assert await proposal.answer() == ["FILE_SAVED", "1\n"]
            await editor.wait_for_notification("closed")
            assert await editor.mode() == {"mode": "n", "blocking": False}
            await editor.lua("vim.cmd('autocmd! ' .. ... .. ' *')", event)
            kept = ("here", "tabs", "windows", "buffers")
            await as_before(editor, {name: before[name] for name in kept})


@pytest.mark.parametrize("keys", [":qa<CR>", ":qa!<CR>", ":confirm qa<CR>", ":wqa<CR>"])
async def test_neovim_may_be_quit(tmp_path: Path, keys: str) -> None:
    async with reviewing(tmp_path) as (c, editor):
        shown = [await proposed(c, editor, f"{number}.txt", "x") for number in range(2)]
        await editor.keys("iedited<Esc>" + keys)
        for number, one in enumerate(shown):
            answer = await one.answer()
            assert answer == ["DIFF_REJECTED", f"{number}.txt", "Neovim ended."]
        await editor.ended()


async def test_a_quit_that_fails_leaves_the_diff_as_it_was(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (c, editor):
        await editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'unsaved' })")
        proposal = await proposed(c, editor, "1.txt", "1\n")
        await editor.lua("""
          vim.api.nvim_create_autocmd('ExitPre', { callback = function()
            vim.rpcnotify(vim.g.test_channel, 'quitting')
          end })
        """)
        await editor.keys(":silent! qa<CR>")
        await editor.wait_for_notification("quitting")
        # `:x` writes only what counts as modified.
        assert await editor.lua("return #require('dapeer.diff').lines()") == 1
        await editor.keys(":tabfirst<CR>:2tabnext<CR><C-w>l:x<CR>")
        assert await proposal.answer() == ["FILE_SAVED", "1\n"]


async def test_a_diff_goes_with_its_core(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False, ui=True, rc=RC, setup={}, cwd=tmp_path) as editor:
        before = await everything(editor)
        async with attached(editor, tmp_path) as (c, _):
            proposal = await proposed(c, editor, "1.txt", "1\n")
        await proposal.cancel()
        await editor.wait_for_notification("closed")
        kept = ("tabs", "windows", "buffers")
        await as_before(editor, {name: before[name] for name in kept})
