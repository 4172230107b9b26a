"""Claude Code's plugins of other people beside ours: the terminals of snacks.nvim, and claudecode.nvim."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.json_types import Json
from tests.neovim.claude import SERVED, SETUP, Cli, cli, lock, locks, offered, texts_of
from tests.neovim.editor import installed, neovim
from tests.neovim.reviewing import RC
from tests.processes import process_gone

SNACKS = installed("snacks.nvim", "DAPEER_SNACKS")
CLAUDECODE = installed("claudecode.nvim", "DAPEER_CLAUDECODE")

WHERE = "~/.local/share/nvim/site/pack/dapeer/opt"
needs_snacks = pytest.mark.skipif(
    SNACKS is None,
    reason=f"needs snacks.nvim: git clone https://github.com/folke/snacks.nvim {WHERE}/snacks.nvim",
)
needs_claudecode = pytest.mark.skipif(
    CLAUDECODE is None,
    reason="needs claudecode.nvim: git clone https://github.com/coder/claudecode.nvim "
    f"{WHERE}/claudecode.nvim",
)

PROGRAM = """#!/bin/sh
echo "in $PWD: $*; port $CLAUDE_CODE_SSE_PORT, $ENABLE_IDE_INTEGRATION; direct $no_proxy" > "$HOME/given"
echo here
exec cat
"""
"""In place of Claude Code: writes down what it was given, says so, and stays."""

SHOWN = """
local buffer = vim.api.nvim_get_current_buf()
local function look()
  if vim.api.nvim_buf_get_lines(buffer, 0, 1, false)[1] == 'here' then
    vim.rpcnotify(vim.g.test_channel, 'here')
  end
end
vim.api.nvim_buf_attach(buffer, false, { on_lines = look })
look()
return vim.bo[buffer].filetype
"""
"""Has it told that the program in the current terminal is there; returns the terminal's file type."""


WINDOWS = """
local windows = vim.tbl_filter(function(window)
  return vim.api.nvim_win_get_config(window).relative == ''
end, vim.api.nvim_tabpage_list_wins(0))
return { #windows, vim.bo.buftype }
"""
"""How many windows there are besides floating ones, and what is in the current one."""


def loads(plugin: Path | None, code: str) -> str:
    """Return the Lua that loads a plugin."""
    return f"vim.opt.runtimepath:append('{plugin}')\n{code}\n"


def program(folder: Path) -> dict[str, str]:
    """Put a `claude` on PATH that says what it was given; return the variables."""
    path = folder / "bin" / "claude"
    path.parent.mkdir()
    path.write_text(PROGRAM, encoding="utf-8")
    path.chmod(0o755)
    return {"PATH": f"{path.parent}{os.pathsep}{os.environ['PATH']}", "no_proxy": "example.org"}


@pytest.mark.parametrize(
    "kind", ["", pytest.param("snacks_terminal", marks=needs_snacks)], ids=["plain", "snacks"]
)
async def test_a_terminal_beside_gets_what_leads_to_this_neovim(tmp_path: Path, kind: str) -> None:
    rc = loads(SNACKS, "require('snacks').setup({})") if kind else ""
    async with offered(tmp_path, rc=rc, environment=program(tmp_path)) as editor:
        # Windows may have directories of their own.
        await editor.lua("vim.cmd.lcd('/') vim.cmd('Dapeer claude --model best')")
        assert await editor.lua(SHOWN) == kind
        await editor.wait_for_notification("here")
        port, _ = lock(tmp_path)
        given = f"in {tmp_path}: --model best; port {port}, true; direct 127.0.0.1,example.org\n"
        assert (tmp_path / "given").read_text(encoding="utf-8") == given
        assert (await editor.mode())["mode"] == "t"
        assert await editor.lua("return vim.fn.winnr('$')") == 2
        # It is hidden and shown again, and stays one process.
        (tmp_path / "given").unlink()
        for command, windows in {
            "Dapeer claude": 1,
            "Dapeer claude focus": 2,
            "wincmd p | Dapeer claude focus": 2,
            "wincmd p | Dapeer claude --resume": 2,
            "stopinsert | Dapeer claude": 1,
        }.items():
            await editor.lua("vim.cmd(...)", command)
            there = "terminal" if windows == 2 else ""
            assert await editor.lua(WINDOWS) == [windows, there], command
        assert not (tmp_path / "given").exists()


async def test_a_person_who_has_configured_nothing_has_it_by_the_command(tmp_path: Path) -> None:
    variables = {"HOME": str(tmp_path), **program(tmp_path)}
    setup = {"bridge": SETUP["bridge"]}
    async with neovim(
        tmp_path, dap=False, rc=RC + SERVED, setup=setup, ui=True, environment=variables
    ) as editor:
        await editor.lua("vim.cmd('Dapeer claude')")
        port, _ = await editor.wait_for_notification("served")
        await editor.lua(SHOWN)
        await editor.wait_for_notification("here")
        assert f"port {port}, true;" in (tmp_path / "given").read_text(encoding="utf-8")


def ours(told: Json) -> bool:
    """Choose our lock file."""
    return "dapeer" in told


def theirs(told: Json) -> bool:
    """Choose the lock file of claudecode.nvim."""
    return "dapeer" not in told


LOAD = loads(
    CLAUDECODE,
    """
    require('claudecode').setup({ log_level = 'error', terminal = { provider = 'native' } })
    vim.api.nvim_create_autocmd('User', {
      pattern = 'ClaudeCodeDiffOpened',
      callback = function() vim.rpcnotify(vim.g.test_channel, 'theirs_opened') end,
    })
    """,
)


def proposal(claude: Cli, path: Path) -> asyncio.Future[Json]:
    """Propose a change of a file; return what will be the answer."""
    names = {"old_file_path": str(path), "new_file_path": str(path), "tab_name": path.name}
    return claude.calls("openDiff", **names, new_file_contents="new\n")


@needs_claudecode
async def test_claudecode_nvim_beside_keeps_its_own_clis_diffs_and_terminal(tmp_path: Path) -> None:
    files = [tmp_path / "ours.txt", tmp_path / "theirs.txt"]
    for file in files:
        file.write_text("old\n", encoding="utf-8")
    async with offered(tmp_path, rc=LOAD, environment=program(tmp_path)) as editor:
        assert len(locks(tmp_path)) == 2
        async with cli(tmp_path, ours) as mine, cli(tmp_path, theirs) as other:
            await mine.texts("openFile", filePath=str(files[0]))
            for one in (mine, other):
                assert (await one.hears("selection_changed"))["filePath"] == str(files[0])
            left = proposal(other, files[1])
            await editor.wait_for_notification("theirs_opened")
            answer = proposal(mine, files[0])
            await editor.wait_for_notification("opened")
            assert await mine.texts("closeAllDiffTabs") == ["CLOSED_1_DIFF_TABS"]
            assert (await texts_of(answer))[0] == "DIFF_REJECTED"
            assert not left.done()
            answer = proposal(mine, files[0])
            await editor.wait_for_notification("opened")
            await other.texts("closeAllDiffTabs")
            assert not answer.done()
            await editor.keys(":w<CR>")
            assert await texts_of(answer) == ["FILE_SAVED", "new\n"]
        await editor.lua("vim.cmd('Dapeer claude')")
        await editor.lua(SHOWN)
        await editor.wait_for_notification("here")
        assert f"port {lock(tmp_path, ours)[0]}," in (tmp_path / "given").read_text("utf-8")
        pid = lock(tmp_path, ours)[1]["dapeer"]
        await editor.keys("<C-\\><C-n>:qa!<CR>")
        await editor.ended()
        await process_gone(pid)
    assert locks(tmp_path) == []
