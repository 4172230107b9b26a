"""What waits for a person's decision: they see it while they type, and in their status line."""

import asyncio
from pathlib import Path

import pytest
from mcp import Client
from mcp.types import Implementation

from tests.mcp.small import LEGACY, streamable
from tests.mcp.wire import serving
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
COMPANY = "require('dapeer.rpc').company(vim.g.test_channel, ...)"
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
        await editor.keys(":Dapeer allow<CR>")
        await answered(editor, 1, yes=True)
        await on_screen(editor, "The assistant wants", there=False)


async def test_what_waits_is_a_line_for_who_types_only_whatever_else_is_shown(
    tmp_path: Path,
) -> None:
    async with neovim(tmp_path, dap=False, setup=SETUP, ui=True) as editor:
        await editor.lua("""
          local waiting = require('dapeer.person.waiting')
          waiting.add('a decision')
          waiting.show('a stop')
        """)
        await on_screen(editor, "a stop")
        await on_screen(editor, "a decision", there=False)


async def test_a_question_goes_when_nobody_waits_for_the_answer(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False, setup=SETUP, ui=True) as editor:
        await attach(editor)
        await ask(editor, 1, "write")
        await on_screen(editor, "The assistant wants dap_write (write):")
        await editor.lua("require('dapeer.person.approvals').forget(1)")
        await on_screen(editor, "The assistant wants", there=False)


HEARD = """
local rpc = require('dapeer.rpc')
local company = rpc.company
rpc.company = function(...)
  company(...)
  vim.rpcnotify(vim.g.test_channel, 'company', require('dapeer').status().assistants)
end
"""
LOG = "return table.concat(require('dapeer.person.actions').lines(), '\\n')"


def named(name: str, url: str) -> Client:
    info = Implementation(name=name, version="2")
    return Client(streamable(url, None), mode=LEGACY, client_info=info)


async def test_a_person_sees_which_assistants_are_connected_and_which_of_them_has_acted(
    tmp_path: Path,
) -> None:
    async with neovim(tmp_path, dap=False, setup={}) as editor:
        await editor.lua(HEARD)
        async with (
            serving("--no-auth", "--nvim", editor.socket) as (_, url),
            named("claude-code", url),
        ):
            assert await editor.wait_for_notification("company") == [[]]
            assert await editor.wait_for_notification("company") == [["claude-code 2"]]
            async with named("aider", url) as aider, named("zed", url) as zed:
                await editor.wait_for_notification("company")
                assert await editor.wait_for_notification("company") == [
                    ["aider 2", "claude-code 2", "zed 2"]
                ]
                await clear(zed)
                assert await editor.lua(TEXT) == "zed 2, aider 2, claude-code 2"
                assert "dap_clear_breakpoints  [zed 2]  →" in await editor.lua(LOG)
                await clear(aider)
            await editor.wait_for_notification("company")
            # Who has left is not there, though the log names them.
            assert await editor.wait_for_notification("company") == [["claude-code 2"]]
            assert await editor.lua(TEXT) == "claude-code 2"
            assert "[aider 2]" in await editor.lua(LOG)


async def clear(client: Client) -> None:
    assert not (await client.call_tool("dap_clear_breakpoints", {})).is_error


async def test_a_status_line_says_who_is_there_and_what_waits(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False, setup=SETUP, ui=True) as editor:
        assert await editor.lua(TEXT) == ""
        await attach(editor)
        assert await editor.lua(TEXT) == "dapeer"
        await editor.lua(COMPANY, ["zed", "claude-code"])
        await note(editor, client="claude-code")
        assert await editor.lua(TEXT) == "claude-code, zed"
        await ask(editor, 1, "write")
        assert await editor.lua(TEXT) == f"claude-code, zed: {WAITS}"
        await on_screen(editor, "The assistant wants dap_write (write):")
        await editor.keys(":Dapeer answer<CR><CR>")
        assert await answered(editor, 1, yes=False) == "The person denied it."
        await editor.lua(COMPANY, ["claude-code"])
        assert await editor.lua(TEXT) == "claude-code"
