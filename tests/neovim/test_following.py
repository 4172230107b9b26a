"""What happens to a person who is somewhere else when the assistant's program stops."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import Json, ask, call
from tests.neovim.editor import Editor, neovim
from tests.neovim.joint import attached
from tests.neovim.person import Person
from tests.neovim.test_waiting import on_screen
from tests.processes import LIMIT

SOURCE = "total = 0\n" + "total += 1\n" * 60
FIRST = 40
"""The line of the first stop: below the window's lower edge."""

RC = """
local function beside(filetype, buftype)
  vim.cmd('botright new')
  vim.bo.buftype, vim.bo.filetype = buftype, filetype
end
function _G.chat() beside('chat', 'nofile') end
function _G.tree() beside('tree', 'nofile') vim.bo.modifiable = false end
function _G.repl() require('dap').repl.open({}, 'botright split') vim.cmd.wincmd('b') end
function _G.prompt() beside('ask', 'prompt') end
function _G.picker()
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].buftype = 'prompt'
  vim.api.nvim_open_win(buffer, true, { relative = 'editor', row = 2, col = 2, width = 40, height = 1 })
end
"""


@dataclass(frozen=True)
class Typing:
    """Keys that a person types around a stop, and what comes of them in the end."""

    before: str
    mode: str
    after: str
    result: str
    """A Lua expression."""
    value: object
    ready: str = "true"
    """A Lua expression that holds when what is typed before has arrived."""


NOTE = ":edit note.txt<CR>"
ECHOED = "vim.fn.getline(1) == 'ec' and vim.fn.col('.') == 3"
LINE = "vim.api.nvim_get_current_line()"
CASES = {
    "insert, the program itself": Typing("Go# one", "i", " two<Esc>", LINE, "# one two"),
    "insert, another file": Typing(NOTE + "ione", "i", " two<Esc>", LINE, "one two"),
    "replace": Typing(NOTE + "i......<Esc>0Rab", "R", "cd<Esc>", LINE, "abcd.."),
    "virtual replace": Typing(NOTE + "i......<Esc>0gRab", "Rv", "cd<Esc>", LINE, "abcd.."),
    "terminal": Typing(":terminal cat<CR>iec", "t", "ho", "vim.fn.getline(1)", "echo", ECHOED),
    "terminal, normal": Typing(":terminal cat<CR>", "nt", "", "vim.bo.buftype", "terminal"),
    "visual": Typing(NOTE + "iabcdef<Esc>0vl", "v", "ly", "vim.fn.getreg('0')", "abc"),
    "visual lines": Typing(NOTE + "ia<CR>b<CR>c<Esc>ggV", "V", "jd", LINE, "c"),
    "visual block": Typing(NOTE + "iab<CR>cd<Esc>gg0<C-v>", "\x16", "jd", LINE, "b"),
    "select": Typing(NOTE + "iabc<Esc>0gh", "s", "X<Esc>", LINE, "Xbc"),
    "select lines": Typing(NOTE + "ia<CR>b<CR>c<Esc>ggVj<C-g>", "S", "X<Esc>", LINE, "Xc"),
    "select block": Typing(NOTE + "iab<CR>cd<Esc>gg0<C-v>j<C-g>", "\x13", "X<Esc>", LINE, "Xb"),
    "select, one command": Typing(NOTE + "iabc<Esc>0gh<C-o>", "vs", "lX<Esc>", LINE, "Xc"),
    "snippet": Typing(
        NOTE + ":lua vim.snippet.expand('f(${1:one}, ${2:two})')<CR>",
        "s",
        "X<Esc>",
        LINE,
        "f(X, two)",
    ),
    "command line": Typing(":let g:typed = 'one", "c", " two'<CR>", "vim.g.typed", "one two"),
    "search": Typing(NOTE + "iab<CR>cd<Esc>gg/c", "c", "d<CR>", LINE, "cd"),
    "prompt buffer": Typing(":lua prompt()<CR>ione", "i", " two", LINE, "% one two"),
    "picker": Typing(":lua picker()<CR>ione", "i", " two", LINE, "% one two"),
    "completion popup": Typing(
        NOTE + "itotally <C-n>", "ic", "<C-y> done<Esc>", LINE, "totally totally done"
    ),
    "operator pending": Typing(NOTE + "ione two<Esc>0d", "no", "w", LINE, "two"),
    "insert, one command": Typing(NOTE + "ione<C-o>", "niI", "0two <Esc>", LINE, "two one"),
    "macro": Typing(NOTE + "iabcdef<Esc>0qax", "n", "xq", "vim.fn.getreg('a')", "xx"),
    "chat": Typing(":lua chat()<CR>ione", "i", " two<Esc>", LINE, "one two"),
    "chat, normal": Typing(":lua chat()<CR>ione two<Esc>0", "n", "x", LINE, "ne two"),
    "tree": Typing(":lua tree()<CR>", "n", "", "vim.bo.filetype", "tree"),
    "REPL": Typing(":lua repl()<CR>", "n", "", "vim.bo.filetype", "dap-repl"),
    "REPL, insert": Typing(":lua repl()<CR>ito", "i", "tal", LINE, "dap> total"),
    "quickfix": Typing(":copen<CR>", "n", "", "vim.bo.buftype", "quickfix"),
    "diff": Typing(NOTE + "iab<Esc>:diffthis<CR>", "n", "x", LINE, "a"),
    "command-line window": Typing("q:", "n", "ilet g:typed = 1<CR>", "vim.g.typed", 1),
    "command-line window, insert": Typing(
        "q:ilet g:typed = 'one", "i", " two'<CR>", "vim.g.typed", "one two"
    ),
}
EDITORS = 4
"""Neovims in which these are typed, one after the other; a program in each."""


@dataclass(frozen=True)
class Shared:
    """A program that has stopped in the person's Neovim, and an assistant."""

    client: Client
    person: Person
    source: Path

    @property
    def editor(self) -> Editor:
        """The person's Neovim."""
        return self.person.editor

    async def steps(self) -> None:
        """Let the assistant step, and wait until nvim-dap has shown the stop."""
        line = (await ask(self.client, "dap_step_over"))["line"]
        await self.person.sees_stop(line)

    async def texts(self) -> Json:
        """Return the bytes of every buffer, by its number, and which window shows which."""
        texts: Json = await self.editor.lua(TEXTS)
        return texts


TEXTS = """
local texts, windows = {}, {}
for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
  if vim.api.nvim_buf_is_loaded(buffer) then
    texts[tostring(buffer)] = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  end
end
for _, window in ipairs(vim.api.nvim_list_wins()) do
  windows[tostring(window)] = vim.api.nvim_win_get_buf(window)
end
return {
  texts = texts,
  windows = windows,
  window = vim.api.nvim_get_current_win(),
  cursor = vim.api.nvim_win_get_cursor(0),
  other_end = vim.fn.getpos('v'),
  command_line = vim.fn.getcmdline(),
  popup = vim.fn.pumvisible(),
  recording = vim.fn.reg_recording(),
}
"""
TIDY = """
if vim.fn.reg_recording() ~= '' then vim.cmd.normal({ 'q', bang = true }) end
if vim.fn.getcmdwintype() ~= '' then return vim.cmd.quit() end
vim.g.typed = nil
local source, line = vim.fn.bufnr(...), select(2, ...)
for _, window in ipairs(vim.api.nvim_list_wins()) do
  if vim.api.nvim_win_get_config(window).relative ~= '' then
    vim.api.nvim_win_close(window, true)
  end
end
vim.cmd('only! | diffoff!')
vim.api.nvim_win_set_buf(0, source)
vim.api.nvim_win_set_cursor(0, { line, 0 })
for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
  if buffer ~= source then
    vim.api.nvim_buf_delete(buffer, { force = true })
  end
end
"""
"""The person goes back to their program, and closes all else."""
SIGN = "return require('person').sessions()[1].signs[1][2]"
SCREEN = """
return table.concat(vim.tbl_map(function(column)
  return vim.fn.screenstring(vim.o.lines, column)
end, vim.fn.range(1, vim.o.columns)))
"""


@asynccontextmanager
async def shared(tmp_path: Path, **setup: object) -> AsyncGenerator[Shared]:
    """Let a person stop in a program, with an assistant at their side."""
    source = tmp_path / "program.py"
    source.write_text(SOURCE)
    async with (
        neovim(tmp_path, rc=RC, setup=setup, ui=True, cwd=tmp_path) as editor,
        attached(editor, tmp_path) as (client, _),
    ):
        person = Person(editor)
        await person.breaks_at(source, FIRST)
        await person.run(str(source))
        await person.sees_stop(FIRST)
        yield Shared(client, person, source)


async def in_mode(editor: Editor, *modes: str) -> None:
    """Wait until the keys typed so far have led to one of these modes."""
    async with asyncio.timeout(LIMIT):
        # Each question lets Neovim's loop turn once.
        while (await editor.mode())["mode"] not in modes:
            pass


async def comes_true(editor: Editor, expression: str) -> None:
    """Wait until a Lua expression holds."""
    async with asyncio.timeout(LIMIT):
        while not await editor.lua(f"return {expression}"):
            pass


async def reads(editor: Editor, words: str) -> None:
    """Wait until the last line of the screen has these words."""
    async with asyncio.timeout(LIMIT):
        while words not in await editor.lua(SCREEN):
            pass


async def stays(here: Shared, typing: Typing, line: int) -> None:
    """Let a person type around a stop at a line."""
    await here.editor.keys(typing.before)
    await in_mode(here.editor, typing.mode)
    await comes_true(here.editor, typing.ready)
    before = await here.texts()
    await here.steps()
    assert await here.texts() == before
    assert (await here.editor.mode())["mode"] == typing.mode
    assert await here.editor.lua(SIGN) == line
    await here.editor.keys(typing.after)
    async with asyncio.timeout(LIMIT):
        while await here.editor.lua(f"return {typing.result}") != typing.value:
            pass


@pytest.mark.parametrize("number", range(EDITORS))
async def test_a_stop_that_the_assistant_caused_leaves_who_types_where_they_are(
    tmp_path: Path, number: int
) -> None:
    async with shared(tmp_path) as here:
        for line, name in enumerate(list(CASES)[number::EDITORS], FIRST + 1):
            try:
                await stays(here, CASES[name], line)
            except (AssertionError, TimeoutError) as error:
                error.add_note(name)
                raise
            await here.editor.keys("<C-\\><C-n>")
            await in_mode(here.editor, "n", "nt")
            await here.editor.lua(TIDY, str(here.source), line)


async def test_who_has_stopped_typing_is_told_of_the_stop_and_goes_there_by_one_command(
    tmp_path: Path,
) -> None:
    async with shared(tmp_path) as here:
        await here.editor.keys(NOTE + "ione")
        await in_mode(here.editor, "i")
        await here.steps()
        await here.steps()
        await here.editor.keys("<Esc>")
        await reads(here.editor, f"stopped at program.py:{FIRST + 2}; :Dapeer follow goes there")
        await here.editor.keys(":Dapeer follow<CR>")
        await here.editor.lua("return 1")
        desk = await here.person.desk()
        shown = {window["id"]: window for window in desk["windows"]}[desk["window"]]
        assert (shown["buffer"], shown["cursor"][0]) == (str(here.source), FIRST + 2)


async def test_who_is_offered_choices_by_neovim_answers_them_whatever_stops_meanwhile(
    tmp_path: Path,
) -> None:
    async with shared(tmp_path) as here:
        await here.editor.keys(":let g:typed = inputlist(['one', 'two'])<CR>1")
        async with asyncio.timeout(LIMIT):
            # Until Neovim 0.10 nothing else happens meanwhile, since 0.11 it is a command line.
            while (await here.editor.mode())["mode"] not in {"rm", "c"}:
                pass
        await ask(here.client, "dap_step_over")
        await here.editor.keys("2<CR>")
        await comes_true(here.editor, "vim.g.typed == 12")
        await here.person.sees_stop(FIRST + 1)
        assert await here.editor.lua(SIGN) == FIRST + 1


async def test_who_pauses_in_a_terminal_sees_where_the_stop_is_until_they_have_left_it(
    tmp_path: Path,
) -> None:
    async with shared(tmp_path) as here:
        await here.editor.keys(":terminal cat<CR>iec")
        await in_mode(here.editor, "t")
        await comes_true(here.editor, ECHOED)
        windows = (await here.texts())["windows"]
        for line in (FIRST + 1, FIRST + 2):
            await here.steps()
            await on_screen(here.editor, f"stopped at program.py:{line}; :Dapeer follow goes there")
        await on_screen(here.editor, f"stopped at program.py:{FIRST + 1}", there=False)
        await here.editor.keys("<C-\\><C-n>")
        await reads(here.editor, f"stopped at program.py:{FIRST + 2}; :Dapeer follow goes there")
        assert (await here.texts())["windows"] == windows


async def test_a_window_that_shows_the_program_scrolls_to_the_stop(tmp_path: Path) -> None:
    async with shared(tmp_path) as here:
        await here.editor.keys(":1<CR>:botright new<CR>ione")
        await in_mode(here.editor, "i")
        await here.steps()
        cursors = "return vim.tbl_map(vim.api.nvim_win_get_cursor, vim.fn.win_findbuf(...))"
        buffer = await here.editor.lua("return vim.fn.bufnr(...)", str(here.source))
        assert await here.editor.lua(cursors, buffer) == [[FIRST + 1, 0]]


async def test_who_reads_source_in_normal_mode_is_taken_to_the_stop(tmp_path: Path) -> None:
    async with shared(tmp_path) as here:
        await here.editor.keys(NOTE + "ione<Esc>")
        await in_mode(here.editor, "n")
        await here.steps()
        await comes_true(here.editor, f"vim.fn.line('.') == {FIRST + 1}")
        assert (await here.person.desk())["windows"][0]["buffer"] == str(here.source)
        # Nobody has pressed a key since.
        await here.steps()
        assert (await here.person.desk())["windows"][0]["cursor"][0] == FIRST + 2


@pytest.mark.parametrize("keys", ["dd", "x", "p", "~j", "J", "u"])
async def test_keys_of_normal_mode_go_on_where_they_began(tmp_path: Path, keys: str) -> None:
    async with shared(tmp_path) as here:
        await here.editor.keys(NOTE + "100o{ one two<Esc>ggyy")
        await in_mode(here.editor, "n")
        stepping = asyncio.create_task(here.steps())
        while not stepping.done():
            await here.editor.keys(keys)
            await here.editor.lua("return 1")
        await stepping
        await here.editor.keys(keys)
        assert await here.editor.lua("return vim.fn.expand('%')") == "note.txt"
        text = await here.editor.lua(
            "return vim.fn.getbufline(vim.fn.bufnr(...), 1, '$')", str(here.source)
        )
        assert text == SOURCE.splitlines()
        # Once they have paused, the person is taken to the stop.
        await comes_true(here.editor, f"vim.fn.expand('%:p') == {str(here.source)!r}")


@pytest.mark.parametrize(
    ("half", "rest"), [("0d", "w"), ("0gU", "w"), ("0dv", "e"), ("0d<C-v>", "j")]
)
async def test_who_was_in_the_middle_of_a_command_is_taken_to_the_stop_afterwards(
    tmp_path: Path, half: str, rest: str
) -> None:
    async with shared(tmp_path) as here:
        await here.editor.keys(NOTE + "ione two<CR>six<Esc>gg")
        await here.editor.keys(half)
        await in_mode(here.editor, "no", "nov", "no\x16")
        await here.steps()
        await here.editor.keys(rest)
        await comes_true(here.editor, f"vim.fn.expand('%:p') == {str(here.source)!r}")
        assert await here.editor.lua("return vim.fn.line('.')") == FIRST + 1
        text = await here.editor.lua(
            "return vim.fn.getbufline(vim.fn.bufnr(...), 1, '$')", str(here.source)
        )
        assert text == SOURCE.splitlines()


async def test_a_popup_that_waits_for_the_next_key_gets_it_for_its_file(tmp_path: Path) -> None:
    popup = """
      vim.keymap.set('n', '<Space>', function()
        vim.g.popup = true
        vim.api.nvim_feedkeys(vim.fn.getcharstr(), 'n', false)
      end)
    """
    async with shared(tmp_path) as here:
        await here.editor.lua(popup)
        await here.editor.keys(NOTE + "ione two<Esc>0<Space>")
        await comes_true(here.editor, "vim.g.popup")
        # They read what they may type, as long as they like.
        await comes_true(here.editor, "require('dapeer.person.attention').rested()")
        await here.steps()
        await here.editor.keys("x")
        await comes_true(here.editor, "vim.fn.getbufline('note.txt', 1)[1] == 'ne two'")
        await comes_true(here.editor, f"vim.fn.expand('%:p') == {str(here.source)!r}")


async def test_a_long_text_is_pasted_where_its_beginning_was(tmp_path: Path) -> None:
    async with shared(tmp_path) as here:
        await here.editor.keys(NOTE)
        await comes_true(here.editor, "vim.fn.expand('%') == 'note.txt'")
        await comes_true(here.editor, "require('dapeer.person.attention').rested()")
        await here.editor.lua("vim.api.nvim_paste('one\\n', true, 1)")
        await here.steps()
        await here.editor.lua("vim.api.nvim_paste('two\\n', true, 3)")
        assert await here.editor.lua("return vim.fn.getbufline('note.txt', 1, '$')") == [
            "one",
            "two",
            "",
        ]


async def test_a_person_who_wants_signs_only_finds_every_cursor_where_it_was(
    tmp_path: Path,
) -> None:
    async with shared(tmp_path, follow="sign") as here:
        await here.editor.keys(
            ":split<CR>:2<CR>:tab split<CR>:22<CR>:tabprevious<CR>:vsplit<CR>:36<CR>"
        )
        cursors = "return vim.tbl_map(vim.api.nvim_win_get_cursor, vim.api.nvim_list_wins())"
        before = await here.editor.lua(cursors)
        await here.steps()
        await here.steps()
        assert await here.editor.lua(cursors) == before


async def test_of_several_windows_of_the_program_the_one_at_the_stop_goes_on(
    tmp_path: Path,
) -> None:
    async with shared(tmp_path) as here:
        await here.editor.keys(
            ":split<CR>:2<CR>:tab split<CR>:22<CR>:tabprevious<CR>:botright new<CR>ione"
        )
        await in_mode(here.editor, "i")
        cursors = "return vim.tbl_map(vim.api.nvim_win_get_cursor, vim.fn.win_findbuf(...))"
        buffer = await here.editor.lua("return vim.fn.bufnr(...)", str(here.source))
        before = await here.editor.lua(cursors, buffer)
        for line in (FIRST + 1, FIRST + 2):
            await here.steps()
            now = await here.editor.lua(cursors, buffer)
            assert [line, 0] in now
            assert len([each for each in before if each not in now]) == 1


@pytest.mark.parametrize(("follow", "moved"), [("always", True), ("sign", False)])
async def test_the_person_says_whether_their_cursor_follows(
    tmp_path: Path, follow: str, moved: bool
) -> None:
    async with shared(tmp_path, follow=follow) as here:
        await here.editor.keys(NOTE + ("ione" if moved else ""))
        await in_mode(here.editor, "i" if moved else "n")
        await here.steps()
        in_program = (await here.person.desk())["windows"][0]["buffer"] == str(here.source)
        assert in_program == moved


async def test_the_person_s_own_step_moves_them_as_nvim_dap_always_did(tmp_path: Path) -> None:
    async with shared(tmp_path) as here:
        await here.steps()
        await here.editor.keys(":lua chat()<CR>")
        await in_mode(here.editor, "n")
        await here.person.does("step_over")
        await here.person.sees_stop(FIRST + 2)
        desk = await here.person.desk()
        shown = {window["id"]: window for window in desk["windows"]}[desk["window"]]
        assert (shown["buffer"], shown["cursor"][0]) == (str(here.source), FIRST + 2)


async def test_a_program_that_the_assistant_starts_leaves_who_types_where_they_are(
    tmp_path: Path,
) -> None:
    other = tmp_path / "other.py"
    other.write_text(SOURCE)
    async with shared(tmp_path) as here:
        await here.editor.keys(":terminal cat<CR>iec")
        await in_mode(here.editor, "t")
        await comes_true(here.editor, ECHOED)
        before = await here.texts()
        started = await ask(
            here.client, "dap_run", program=str(other), stop_on_entry=True, terminal=True
        )
        await here.person.sees_stop(1)
        after = await here.texts()
        assert (after["window"], after["windows"]) == (before["window"], before["windows"])
        assert (await here.editor.mode())["mode"] == "t"
        await call(here.client, "dap_terminate", session_id=started["session_id"])


async def test_the_person_s_keys_go_on_stepping_the_person_s_own_program(tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(SOURCE)
    async with shared(tmp_path) as here:
        started = await ask(here.client, "dap_run", program=str(other), stop_on_entry=True)
        await here.person.sees_stop(1)
        await here.person.does("step_over")
        await here.person.sees_stop(FIRST + 1)
        await call(here.client, "dap_terminate", session_id=started["session_id"])
