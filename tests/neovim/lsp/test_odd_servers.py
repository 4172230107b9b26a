"""Language servers that do not answer, that die, and that change their mind."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.harness import ask, call, read, refusal
from tests.neovim.editor import Editor, version
from tests.neovim.lsp.workspace import SHOP, TY, shop
from tests.processes import LIMIT

ODD = {"odd": f"cmd = {{ '{sys.executable}', '{Path(__file__).with_name('odd.py')}' }}"}
SEEN = """
vim.lsp.handlers['odd/seen'] = function(_, params)
  vim.rpcnotify(vim.g.test_channel, 'seen', params.method)
end
"""


async def has_seen(editor: Editor, method: str) -> None:
    """Wait until the server has got this."""
    async with asyncio.timeout(LIMIT):
        while (await editor.wait_for_notification("seen"))[0] != method:
            pass


async def test_a_server_that_does_not_answer_is_waited_for_no_longer_than_was_asked(
    tmp_path: Path,
) -> None:
    async with shop(tmp_path, ODD) as (c, editor, _):
        await editor.lua(SEEN)
        said = await refusal(c, "nvim_lsp_hover", line=1, timeout_ms=50)
        assert "odd has not answered textDocument/hover within 50 ms" in said
        await has_seen(editor, "$/cancelRequest")

        # The client does not want to know any more.
        hover = asyncio.create_task(call(c, "nvim_lsp_hover", line=1, timeout_ms=LIMIT * 1000))
        await has_seen(editor, "textDocument/hover")
        hover.cancel()
        await has_seen(editor, "$/cancelRequest")
        assert "odd (id 1): busy (Thinking)" in await read(c, "nvim_lsp_clients")
        said = await refusal(c, "nvim_lsp_hover", line=1, timeout_ms=50)
        assert "within 50 ms, it is busy (Thinking)" in said
        await has_seen(editor, "$/cancelRequest")
        # Nothing is left behind of them.
        mine = "return #vim.api.nvim_get_autocmds({ event = { 'LspRequest', 'LspDetach' } })"
        ours = await editor.lua(mine)
        assert ours == 1  # the test's own


async def test_a_server_that_is_slow_at_one_thing_is_heard_at_others(tmp_path: Path) -> None:
    async with shop(tmp_path, ODD) as (c, editor, _):
        assert "within 50 ms" in await refusal(c, "nvim_lsp_hover", line=1, timeout_ms=50)
        assert "not today" in await refusal(c, "nvim_lsp_implementation", line=1)
        found = await ask(c, "nvim_lsp_references", line=1)
        assert found["total"] == 1
        outline = await ask(c, "nvim_lsp_symbols")
        old = outline["symbols"][0]
        assert (old["name"], old["line"], old["container"]) == ("old", 3, "style")
        await editor.lua("vim.fn.setline(1, '# changed')")
        text = await read(c, "nvim_diagnostics_list", fresh=True)
        assert "1:1 hint odd" in text


async def test_the_changes_of_a_command_are_not_known_before(tmp_path: Path) -> None:
    async with shop(tmp_path, ODD) as (c, editor, root):
        await editor.lua("vim.fn.setline(1, '# changed')")
        await read(c, "nvim_diagnostics_list", fresh=True)
        shown = await read(c, "nvim_lsp_code_actions", action="Greet")
        assert "It runs the command odd.greet" in shown
        assert await editor.lua("return vim.fn.getline(1)") == "# changed"
        told = await read(c, "nvim_lsp_code_actions", action="Greet", apply=True)
        assert "done, with the command odd.greet" in told
        assert "Not saved: shop.py, because the person had unsaved changes in it." in told
        assert await editor.lua("return vim.fn.getline(1)") == "# hello"
        assert (root / "shop.py").read_text(encoding="utf-8") == SHOP


async def test_a_server_that_ends_instead_of_answering_is_named(tmp_path: Path) -> None:
    async with shop(tmp_path, ODD) as (c, _, _):
        said = await refusal(c, "nvim_lsp_definition", line=1, timeout_ms=LIMIT * 1000)
        assert "odd has ended before it answered" in said
        assert "No language server is attached" in await refusal(c, "nvim_lsp_hover", line=1)


GO = """
vim.lsp.get_clients({ name = 'odd' })[1].rpc.notify('odd/go', { uri = vim.uri_from_fname(...) })
"""


async def test_code_actions_wait_for_the_diagnostics_of_a_file_that_nobody_has_asked_for(
    tmp_path: Path,
) -> None:
    async with shop(tmp_path, ODD) as (c, editor, root):
        await editor.lua(SEEN)
        slow = root / "slow.py"
        slow.write_text("x = 1\n", encoding="utf-8")
        # Who had no time leaves the waiting to the next call.
        few = await ask(c, "nvim_lsp_code_actions", filename="slow.py", timeout_ms=50)
        assert "odd has sent nothing new about slow.py" in few["problems"][0]
        await has_seen(editor, "textDocument/codeAction")
        asked = asyncio.create_task(ask(c, "nvim_lsp_code_actions", filename="slow.py"))
        await editor.lua(GO, str(slow))
        assert [each["title"] for each in (await asked)["actions"]] == ["Greet", "Fix odd"]


async def test_one_server_that_fails_does_not_silence_another(tmp_path: Path) -> None:
    async with shop(tmp_path, {**ODD, "ty": TY}) as (c, editor, _):
        found = await ask(c, "nvim_lsp_implementation", line=7, symbol="price")
        assert ("not today" in found["problems"][0], found["total"]) == (True, 2)
        both = await ask(c, "nvim_lsp_symbols")
        assert {each["client"] for each in both["symbols"]} == {"odd", "ty"}
        # Killed from outside, while it is asked.
        await editor.lua(SEEN)
        asked = asyncio.create_task(
            ask(c, "nvim_lsp_hover", symbol="total", timeout_ms=LIMIT * 1000)
        )
        await has_seen(editor, "textDocument/hover")
        await editor.lua("vim.lsp.get_clients({ name = 'odd' })[1]:stop(true)")
        hover = await asked
        assert [each["client"] for each in hover["hovers"]] == ["ty"]
        assert "odd has ended" in hover["problems"][0]


ENABLED = """
vim.lsp.config('ty', {{
  {ty},
  filetypes = {{ 'python' }},
  root_dir = function(_, on_dir)
    vim.defer_fn(function() on_dir('{root}') end, 10)
  end,
}})
vim.lsp.enable('ty')
"""

# What `require('lspconfig').ty.setup()` does.
LSPCONFIG = """
vim.api.nvim_create_autocmd('FileType', {{
  group = vim.api.nvim_create_augroup('lspconfig', {{ clear = false }}),
  pattern = {{ 'python' }},
  callback = function(args)
    vim.defer_fn(function()
      vim.lsp.start({{ name = 'ty', {ty}, root_dir = '{root}' }}, {{ bufnr = args.buf }})
    end, 10)
  end,
}})
"""


@pytest.mark.parametrize("setup", [ENABLED, LSPCONFIG], ids=["vim.lsp.enable", "nvim-lspconfig"])
async def test_a_server_that_comes_with_the_file_is_waited_for(tmp_path: Path, setup: str) -> None:
    if setup == ENABLED and version() < (0, 11):
        pytest.skip("Neovim has vim.lsp.enable since 0.11")
    async with shop(tmp_path, {}, opened=None) as (c, editor, root):
        # The root is found some time after the file is loaded.
        await editor.lua(setup.format(ty=TY, root=root))
        assert "def pay()" in await read(c, "nvim_lsp_hover", filename="till.py", symbol="pay")
        found = await ask(c, "nvim_lsp_references", filename="shop.py", symbol="total")
        assert found["total"] == 3
        listed = "return vim.tbl_map(function(buf) return buf.name end, vim.fn.getbufinfo({ buflisted = 1 }))"
        assert not any(await editor.lua(listed))
