"""The real Claude Code in a terminal of a real Neovim, which is its IDE."""

import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import npm
from tests.hosts.anthropic import provider
from tests.hosts.test_claude_code import environment
from tests.neovim.claude import SERVED, SETUP
from tests.neovim.editor import Editor, neovim
from tests.neovim.reviewing import RC
from tests.neovim.test_following import comes_true
from tests.opencode.provider import Call, Provider, Say

KEY = "sk-ant-api03-none-of-anybody"
OLD, NEW = "def add(a, b):\n    return a - b\n", "def add(a, b):\n    return a + b\n"

WATCH = """
local buffer = vim.api.nvim_get_current_buf()
vim.g.test_terminal = buffer
vim.api.nvim_buf_attach(buffer, false, { on_lines = function()
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\\n')
  vim.rpcnotify(vim.g.test_channel, 'screen', text)
end })
return vim.api.nvim_get_mode().mode
"""


@dataclass
class Desk:
    """A person at Neovim, with Claude Code in a terminal beside their file."""

    editor: Editor
    model: Provider
    file: Path

    async def types(self, words: str) -> None:
        """Type into Claude Code, and press Enter when it shows what was typed."""
        await self.editor.keys(words)
        await self.sees(words)
        await self.editor.keys("<CR>")

    async def sees(self, words: str) -> str:
        """Wait until the terminal shows some words; return all that it shows."""
        while words not in (screen := (await self.editor.wait_for_notification("screen"))[0]):
            pass
        return screen


@asynccontextmanager
async def desk(tmp_path: Path) -> AsyncGenerator[Desk]:
    """Give a person whose Claude Code is connected."""
    project = tmp_path / "project"
    project.mkdir()
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "claude").symlink_to(npm.claude())
    (project / "add.py").write_text(OLD, encoding="utf-8")
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "projects": {str(project): {"hasTrustDialogAccepted": True}},
        "customApiKeyResponses": {"approved": [KEY[-20:]]},
    }
    (tmp_path / ".claude.json").write_text(json.dumps(known), encoding="utf-8")
    with provider() as model:
        variables = {
            **environment(model, tmp_path),
            "ANTHROPIC_API_KEY": KEY,
            # Nobody is there: it has to go past it.
            "http_proxy": "http://127.0.0.1:9",
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        }
        async with neovim(
            tmp_path,
            dap=False,
            rc=RC + SERVED + TOLD,
            setup=SETUP,
            ui=True,
            cwd=project,
            environment=variables,
        ) as editor:
            await editor.lua("vim.cmd.edit('add.py')")
            # It opens once the core serves.
            await editor.lua("vim.cmd('Dapeer claude')")
            await editor.wait_for_notification("served")
            await editor.lua(WATCH)
            assert (await editor.wait_for_notification("served"))[1] == 1
            at = Desk(editor, model, project / "add.py")
            await at.sees("? for shortcuts")
            yield at


TOLD = """
local rpc = require('dapeer.rpc')
local notify = rpc.notify
function rpc.notify(kind, ...)
  notify(kind, ...)
  if kind == 'ide_event' then
    vim.rpcnotify(vim.g.test_channel, 'told', ...)
  end
end
"""

LINES = "vim.api.nvim_buf_get_lines(vim.fn.bufnr('^add.py$'), 0, -1, true)"
EDIT = {"old_string": "a - b", "new_string": "a + b"}


def proposes(at: Desk) -> str:
    """Have the model propose a change when it is prompted."""
    path = str(at.file)
    return at.model.plays(
        "mend add",
        Call("Read", {"file_path": path}),
        Call("Edit", {"file_path": path, **EDIT}),
        Say("ALL DONE"),
    )


def told(at: Desk) -> str:
    """Return what the model was told last of its change."""
    return json.dumps(at.model.asked()[-1])


async def test_it_knows_what_is_selected_and_takes_what_the_person_has_made_of_a_change(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path) as at:
        await at.editor.keys("<C-\\><C-n><C-w>pggVj")
        while (await at.editor.wait_for_notification("told"))[1]["text"] != OLD.strip():
            pass
        await at.editor.keys("<C-w>pi")
        await at.sees("2 lines selected")
        await at.types(proposes(at))
        await at.editor.wait_for_notification("opened")
        asked = json.dumps(at.model.asked())
        assert "The user selected the lines 1 to 2" in asked
        await at.editor.keys("ggO# mine<Esc>:w<CR>")
        await at.editor.wait_for_notification("closed")
        await at.sees("ALL DONE")
        assert at.file.read_text(encoding="utf-8") == f"# mine\n{NEW}"
        # The buffer shows the file, though nobody goes there.
        shown = ["# mine", *NEW.splitlines()]
        await comes_true(at.editor, f"table.concat({LINES}, ' ') == {' '.join(shown)!r}")
        assert await at.editor.lua("return vim.bo.buftype") == "terminal"
        assert "The user modified your proposed changes" in told(at)


@pytest.mark.parametrize("keys", [":Dapeer reject<CR>", ":tabclose<CR>"])
async def test_a_change_that_the_person_does_not_take_is_not_made(
    tmp_path: Path, keys: str
) -> None:
    async with desk(tmp_path) as at:
        await at.types(proposes(at))
        await at.editor.wait_for_notification("opened")
        await at.editor.keys(keys)
        await at.editor.wait_for_notification("closed")
        await at.sees("rejected")
        assert at.file.read_text(encoding="utf-8") == OLD


async def test_the_reason_of_a_rejection_is_put_into_the_prompt_for_the_person_to_send(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path) as at:
        await at.types(proposes(at))
        await at.editor.wait_for_notification("opened")
        await at.editor.keys(":Dapeer reject subtract the other way<CR>")
        await at.editor.wait_for_notification("closed")
        await at.sees("subtract the other way")
        at.model.plays("subtract the other way", Say("I SEE"))
        await at.editor.keys("<CR>")
        await at.sees("I SEE")
        assert at.file.read_text(encoding="utf-8") == OLD


async def test_a_cli_that_is_killed_leaves_no_diff_behind(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        await at.types(proposes(at))
        await at.editor.wait_for_notification("opened")
        job = "return vim.fn.jobpid(vim.bo[vim.g.test_terminal].channel)"
        os.kill(await at.editor.lua(job), signal.SIGKILL)
        await at.editor.wait_for_notification("closed")
        assert await at.editor.lua("return #vim.api.nvim_list_tabpages()") == 1
        assert at.file.read_text(encoding="utf-8") == OLD


async def test_a_neovim_that_is_quit_has_not_accepted(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        await at.types(proposes(at))
        await at.editor.wait_for_notification("opened")
        await at.editor.keys(":qa!<CR>")
        await at.editor.ended()
        assert at.file.read_text(encoding="utf-8") == OLD
