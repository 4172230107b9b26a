"""What an assistant collects in a person's Neovim: the person sees where, and consents to it."""

from pathlib import Path

from tests.harness import ask, has_all
from tests.neovim.editor import Editor, neovim
from tests.neovim.joint import attached, heard, together
from tests.neovim.person import Person
from tests.programs import copied, program

LOOP = program("loop.py")
WATCHED = program("watched.py")
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
            told = await editor.lua("return require('dapeer.editor.collecting').summary()")
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


async def test_functions_of_a_program_that_the_person_starts_are_named_and_collected(
    tmp_path: Path,
) -> None:
    told = "return require('dapeer.editor.collecting').summary()"
    async with together(tmp_path, {}) as (c, person):
        await ask(c, "dap_set_breakpoint", function="adjust", collect=["LIMIT"])
        await ask(c, "dap_set_breakpoint", calls=["Account.*", "nobody"])
        await heard(c)
        shown = await person.editor.lua(told)
        assert has_all(shown, "adjust (LIMIT)", "calls of Account.*, nobody")
        await person.run(WATCHED)
        await person.sees_end()
        end = await ask(c, "dap_wait_until_paused")
        titles = sorted(line for line in end["collected"] if ", tracer" in line)
        assert titles == [
            f"adjust from work watched.py:{WATCHED.line('slot') + 2}: 1 row, tracer",
            "calls of Account.*, nobody: 3 calls, tracer",
        ]
        never = "nobody (a library's function needs its module: `json.dumps`)"
        assert end["breakpoints"] == {"never called": [never]}
        await ask(c, "dap_clear_breakpoints")
        await heard(c)
        assert await person.editor.lua(told) is None


async def test_a_run_until_something_stops_where_the_person_sees_it_also_while_neovim_waits_for_a_key(
    tmp_path: Path,
) -> None:
    ready = WATCHED.line("ready")
    async with together(tmp_path, {}, ui=True) as (c, person):
        await person.breaks_at(WATCHED.source, ready)
        await person.run(WATCHED)
        await person.sees_stop(ready)
        await heard(c)
        view = await ask(c, "dap_run_until", expression="account.balance", on="change")
        assert (view["reason"], view["line"]) == ("until", WATCHED.line("slot"))
        await person.sees_stop(WATCHED.line("slot"))
        await person.editor.blocked("r")
        view = await ask(c, "dap_run_until", expression="limits['most'] == 2", scope=["adjust"])
        assert (view["reason"], view["function"]) == ("until", "adjust")
        await person.editor.keys("<Esc>")
        await person.sees_stop(view["line"])
        assert await person.breakpoints() == {("watched.py", ready, "DapBreakpoint")}
