"""What an assistant collects in a person's Neovim: the person sees where, and consents to it."""

from pathlib import Path

from tests.harness import ask
from tests.neovim.editor import Editor, needs_nvim_dap, neovim
from tests.neovim.joint import attached, heard, together
from tests.neovim.person import Person
from tests.programs import copied, program

pytestmark = needs_nvim_dap

LOOP = program("loop.py")
TOLD = """
  vim.api.nvim_create_autocmd('User', { pattern = 'DapeerDetached', callback = function()
    vim.schedule(function() vim.rpcnotify(vim.g.test_channel, 'detached') end)
  end })
"""
SIGNS = """
  local found = {}
  for _, sign in ipairs(vim.fn.sign_getplaced(vim.fn.bufnr('%'), { group = 'dapeer_collects' })[1].signs) do
    table.insert(found, { sign.lnum, vim.trim(vim.fn.sign_getdefined(sign.name)[1].text) })
  end
  return found
"""


async def signs(editor: Editor) -> list[list[object]]:
    """Return the signs of the current buffer that say that something is collected: line and glyph."""
    return list(await editor.lua(SIGNS))


async def test_a_person_sees_where_an_assistant_collects_until_it_does_not(tmp_path: Path) -> None:
    loop = copied("loop.py", tmp_path)
    inner, middle = loop.line("inner"), loop.line("middle")
    async with neovim(tmp_path, rc=TOLD, setup={}, ui=True) as editor:
        person = Person(editor)
        async with attached(editor) as (c, _):
            await ask(c, "dap_set_breakpoint", **loop.at("inner", collect=["value", "value * 2"]))
            await heard(c)
            await person.opens(loop.source)
            assert await signs(editor) == [[inner, "≡"]]
            # The sign is where the line is, in a text with unsaved changes as well.
            await editor.lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, { '# new' })")
            await ask(c, "dap_set_breakpoint", **loop.at("middle", collect=["value"]))
            await heard(c)
            assert await signs(editor) == [[inner + 1, "≡"], [middle + 1, "≡"]]
            await editor.lua("vim.cmd.undo()")
            await editor.lua("vim.fn.sign_define('DapeerCollects', { text = 'C' })")
            told = await editor.lua("return require('dapeer.editor.collecting').told()")
            assert told == (
                f"the assistant collects at loop.py:{middle} (value), loop.py:{inner} (value, value * 2)"
            )
            # It is no breakpoint of nvim-dap's, and it goes with what is collected.
            assert await person.breakpoints() == set()
            await ask(c, "dap_remove_breakpoint", **loop.at("inner"))
            await heard(c)
            assert await signs(editor) == [[middle, "C"]]
        await person.sees("detached")
        assert await signs(editor) == []


async def test_a_program_that_the_person_starts_collects_from_its_first_line_on(
    tmp_path: Path,
) -> None:
    async with together(tmp_path, {}) as (c, person):
        await ask(c, "dap_set_breakpoint", **LOOP.at("inner", collect=["value"]))
        await person.run(LOOP)
        await person.sees_end()
        end = await ask(c, "dap_wait_until_paused")
        assert end["state"] == "ended"
        assert ": 5 rows, tracer" in end["collected"][0]
        assert end["collected"][-1] == "  #5 value = 4"
