"""Plugins that people have beside nvim-dap: what they open and close leaves a person who types where they are."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path

import pytest

from tests.harness import Json, ask
from tests.neovim.editor import Editor, installed, neovim, version
from tests.neovim.joint import attached
from tests.neovim.test_following import comes_true, in_mode

SOURCE = "total = 0\n" + "total += 1\n" * 20
STOP = 5
TEXT = "dd words :q x ZZ u "
"""What would do harm as commands."""

WAYS_IN = (("i", "i"), ("Go", "i"), ("GA<CR><Esc>R", "R"), ("Go<Esc>gR", "Rv"))
"""Keys that begin a text, and the mode."""

PAUSE = 0.01
"""Seconds between two keys: ten times as fast as people type."""

COMPANIONS = {
    "nvim-dap-ui": (
        ("nvim-nio", "nvim-dap-ui"),
        """
        local dap, dapui = require('dap'), require('dapui')
        dapui.setup()
        dap.listeners.before.attach.dapui_config = function() dapui.open() end
        dap.listeners.before.launch.dapui_config = function() dapui.open() end
        dap.listeners.before.event_terminated.dapui_config = function() dapui.close() end
        dap.listeners.before.event_exited.dapui_config = function() dapui.close() end
        """,
    ),
    "nvim-dap-view": (
        ("nvim-dap-view",),
        "require('dap-view').setup({ auto_toggle = true })",
    ),
    "nvim-dap-virtual-text": (
        ("nvim-dap-virtual-text",),
        "require('nvim-dap-virtual-text').setup({})",
    ),
    "neotest": (
        ("nvim-nio", "plenary.nvim", "neotest"),
        "require('neotest').setup({ adapters = {} })",
    ),
}
"""Each with the configuration of its own README."""


def configuration(name: str) -> str:
    """Return the person's configuration; skip the test without the plugins."""
    plugins, setup = COMPANIONS[name]
    if name == "nvim-dap-view" and version() < (0, 11):
        pytest.skip("nvim-dap-view requires Neovim 0.11")
    lines: list[str] = []
    for plugin in plugins:
        variable = "DAPEER_" + plugin.upper().replace(".NVIM", "").replace("-", "_")
        folder = installed(plugin, variable)
        if folder is None:
            pytest.skip(f"needs {plugin} in Neovim's package path, or ${variable}")
        lines.append(f"vim.opt.rtp:append({str(folder)!r})")
    return "\n".join([*lines, setup])


async def meanwhile(editor: Editor, act: Coroutine[None, None, object], text: str) -> str:
    """Type a text again and again while the assistant acts; return what was typed."""
    task, typed = asyncio.ensure_future(act), ""
    while not task.done():
        for key in text:
            await editor.keys("<Space>" if key == " " else key)
            # Neovim takes the key; keys without a pause would leave a busy machine no time for the start itself.
            await editor.lua("return 1")
            await asyncio.wait([task], timeout=PAUSE)
        typed += text
    await task
    return typed


@pytest.mark.parametrize("name", COMPANIONS)
async def test_who_types_goes_on_whatever_the_assistant_starts_steps_and_ends(
    tmp_path: Path, name: str
) -> None:
    source = tmp_path / "program.py"
    source.write_text(SOURCE)
    stop = {"filename": str(source), "line": STOP}
    async with (
        neovim(tmp_path, rc=configuration(name), setup={}, ui=True, cwd=tmp_path) as editor,
        attached(editor, tmp_path) as (c, _),
    ):
        acts: tuple[tuple[str, Json], ...] = (
            ("dap_run", {"program": str(source), "breakpoints": [stop]}),
            ("dap_step_over", {}),
            ("dap_terminate", {}),
        )
        await editor.keys(":edit note.txt<CR>")
        for taken, (keys, mode) in enumerate(WAYS_IN):
            await editor.keys(keys)
            await in_mode(editor, mode)
            typed = "".join(
                [await meanwhile(editor, ask(c, tool, **given), TEXT) for tool, given in acts]
            )
            assert (await editor.mode())["mode"] == mode
            await editor.keys("<Esc>")
            await in_mode(editor, "n")
            assert await editor.lua("return vim.api.nvim_get_current_line()") == typed
            assert await editor.lua("return vim.fn.expand('%')") == "note.txt"
            # All of it is one change, which is taken back whole.
            for change, left in (("u", taken), ("<C-r>", taken + 1)):
                await editor.keys(change)
                await comes_true(
                    editor, f"vim.fn.searchcount({{pattern='^dd words'}}).total == {left}"
                )
        shown = "table.concat(vim.fn.getbufline(vim.fn.bufnr(...), 1, '$'), '\\n')"
        assert await editor.lua(f"return {shown}", str(source)) in {"", SOURCE.rstrip()}


MODES = [
    ("iabcdef<Esc>0vl", "v", "ld", "def"),
    ("ia<CR>b<CR>c<Esc>ggV", "V", "jd", "c"),
    ("iab<CR>cd<Esc>gg0<C-v>", "\x16", "jd", "b"),
    ("iabc<Esc>0gh", "s", "X<Esc>", "Xbc"),
    ("ia<CR>b<CR>c<Esc>ggVj<C-g>", "S", "X<Esc>", "Xc"),
    ("iab<CR>cd<Esc>gg0<C-v>j<C-g>", "\x13", "X<Esc>", "Xb"),
    ("iabc<Esc>0gh<C-o>", "vs", "lX<Esc>", "Xc"),
    (":call setline(1, 'one", "c", " two')<CR>", "one two"),
    ("ione two<Esc>0d", "no", "w", "two"),
    ("iabcdef<Esc>0qax", "n", "xq", "cdef"),
]
"""What is typed before a program starts, the mode, what is typed after, and the line that comes of it."""


@pytest.mark.parametrize("name", ["nvim-dap-ui", "nvim-dap-view"])
async def test_every_mode_outlasts_the_windows_of_others(tmp_path: Path, name: str) -> None:
    source = tmp_path / "program.py"
    source.write_text(SOURCE)
    async with (
        neovim(tmp_path, rc=configuration(name), setup={}, ui=True, cwd=tmp_path) as editor,
        attached(editor, tmp_path) as (c, _),
    ):
        for number, (before, mode, after, result) in enumerate(MODES):
            await editor.keys(f":edit note{number}.txt<CR>{before}")
            await in_mode(editor, mode)
            await ask(c, "dap_run", program=str(source), stop_on_entry=True)
            assert (await editor.mode())["mode"] == mode
            await editor.keys(after)
            await comes_true(editor, f"vim.api.nvim_get_current_line() == {result!r}")
            await ask(c, "dap_terminate")


@pytest.mark.parametrize("keys", ["itotally <CR>to<C-n>", "ione<C-o>", "q:ione"])
async def test_a_start_that_would_disturb_waits_and_says_so(tmp_path: Path, keys: str) -> None:
    source = tmp_path / "program.py"
    source.write_text(SOURCE)
    async with (
        neovim(tmp_path, setup={}, ui=True, cwd=tmp_path) as editor,
        attached(editor, tmp_path) as (c, _),
    ):
        await editor.keys(keys)
        await in_mode(editor, "ic", "niI", "i")
        starting = asyncio.create_task(ask(c, "dap_run", program=str(source), stop_on_entry=True))
        await comes_true(editor, "package.loaded['dapeer.nvim_dap.starts'] ~= nil")
        assert await editor.lua("return vim.tbl_count(require('dap').sessions())") == 0
        await editor.keys("<C-\\><C-n>:<C-c>")
        started = await starting
        assert "The start waited until the person was free in Neovim." in started["notes"]


SIDEBAR = """
local dap = require('dap')
local function open()
  local before = vim.api.nvim_get_current_win()
  vim.cmd('botright new')
  vim.bo.buftype = 'prompt'
  vim.api.nvim_set_current_win(before)
  vim.g.opened = true
end
dap.listeners.after.event_initialized.sidebar = function() {opening} end
dap.listeners.after.event_stopped.sidebar = function() end
"""
"""A plugin that opens a prompt buffer, as nvim-dap-ui does with its REPL."""


@pytest.mark.parametrize(
    "opening",
    ["vim.schedule(open)", "vim.schedule_wrap(open)()", "vim.defer_fn(open, 20)"],
)
@pytest.mark.parametrize(("keys", "mode"), [("i", "i"), ("R", "R")])
async def test_windows_that_others_open_a_moment_later_leave_who_types_where_they_are(
    tmp_path: Path, opening: str, keys: str, mode: str
) -> None:
    source = tmp_path / "program.py"
    source.write_text(SOURCE)
    rc = SIDEBAR.format(opening=opening)
    async with (
        neovim(tmp_path, rc=rc, setup={}, ui=True, cwd=tmp_path) as editor,
        attached(editor, tmp_path) as (c, _),
    ):
        await editor.keys(f":edit note.txt<CR>{keys}one")
        await in_mode(editor, mode)
        await ask(c, "dap_run", program=str(source), stop_on_entry=True)
        await comes_true(editor, "vim.g.opened")
        await editor.keys(" two")
        await comes_true(editor, "vim.fn.getbufline('note.txt', 1)[1] == 'one two'")
        assert (await editor.mode())["mode"] == mode


async def test_who_came_from_a_prompt_buffer_types_on_and_may_go_back_there(tmp_path: Path) -> None:
    source = tmp_path / "program.py"
    source.write_text(SOURCE)
    rc = SIDEBAR.format(opening="open()")
    async with (
        neovim(tmp_path, rc=rc, setup={}, ui=True, cwd=tmp_path) as editor,
        attached(editor, tmp_path) as (c, _),
    ):
        await ask(c, "dap_run", program=str(source), stop_on_entry=True)
        await ask(c, "dap_terminate")
        await editor.keys(":edit note.txt<CR>ione")
        await in_mode(editor, "i")
        before = await editor.lua("return vim.fn.win_getid(vim.fn.winnr('#'))")
        await ask(c, "dap_run", program=str(source), stop_on_entry=True)
        assert (await editor.mode())["mode"] == "i"
        await editor.keys(" two<Esc>")
        await comes_true(editor, "vim.fn.getbufline('note.txt', 1)[1] == 'one two'")
        await comes_true(editor, f"vim.fn.win_getid(vim.fn.winnr('#')) == {before}")


WITHIN = pytest.mark.parametrize(
    ("keys", "mode", "rest", "line"),
    [
        ("to<C-n>", "ic", "<C-e>ta", "total tota"),
        ("t<C-x>", "ix", "<C-n><C-y>", "total total"),
        ("t<C-x><C-o>", "ic", "<C-y>!", "total two!"),
        ("<C-r>=[complete(7, ['two', 'three']), ''][1]<CR>", "ic", "<C-n>!", "total three!"),
        ("<Insert>to<C-n>", "Rc", "<C-y>!", "total total!"),
        ("t<C-o>", "niI", "0a ", "a total t"),
    ],
)
"""What a window that others open would end: keys, the mode, what is typed on, the line that comes of it."""
OMNI = """
function _G.omni(start) return start == 1 and 6 or { 'two', 'three' } end
vim.o.omnifunc = 'v:lua.omni'
"""


@WITHIN
async def test_a_completion_outlasts_a_stop_to_which_others_listen(
    tmp_path: Path, keys: str, mode: str, rest: str, line: str
) -> None:
    source = tmp_path / "program.py"
    source.write_text(SOURCE)
    rc = OMNI + SIDEBAR.format(opening="open()").replace("function() end", "open")
    async with (
        neovim(tmp_path, rc=rc, setup={}, ui=True, cwd=tmp_path) as editor,
        attached(editor, tmp_path) as (c, _),
    ):
        await ask(c, "dap_run", program=str(source), stop_on_entry=True)
        await comes_true(editor, "vim.fn.winnr('$') == 3")
        await editor.keys(f":edit note.txt<CR>itotal {keys}")
        await in_mode(editor, mode)
        assert (await ask(c, "dap_step_over"))["line"] == 2
        await ask(c, "dap_step_over")
        await comes_true(editor, "require('dapeer.person.attention').rested()")
        assert (await editor.mode())["mode"] == mode
        await editor.keys(rest)
        await comes_true(editor, f"vim.fn.getbufline('note.txt', 1)[1] == {line!r}")
        # The plugin sees both stops once the person is free.
        await comes_true(editor, "vim.fn.winnr('$') == 5")
        assert await editor.lua("return vim.fn.expand('%')") == "note.txt"


SLOW = """
require('dap').listeners.before.initialize.slow = function(session)
  local write = session.client.write
  session.client.write = function(text)
    if not text:find('"command":"launch"', 1, true) then return write(text) end
    _G.launch = function() write(text) end
    vim.rpcnotify(vim.g.test_channel, 'launching')
  end
end
"""
"""The program starts as soon as the test calls `launch`."""
WAITS = "require('dapeer.nvim_dap.holding').waits(require('dap').session())"


@WITHIN
@pytest.mark.parametrize("others", ["sidebar", "nvim-dap-ui"])
async def test_a_completion_that_began_after_a_start_outlasts_it(
    tmp_path: Path, others: str, keys: str, mode: str, rest: str, line: str
) -> None:
    source = tmp_path / "program.py"
    source.write_text(SOURCE)
    rc = SIDEBAR.format(opening="open()") if others == "sidebar" else configuration(others)
    async with (
        neovim(tmp_path, rc=OMNI + SLOW + rc, setup={}, ui=True, cwd=tmp_path) as editor,
        attached(editor, tmp_path) as (c, _),
    ):
        await editor.keys(":edit note.txt<CR>")
        run = ask(c, "dap_run", program=str(source), stop_on_entry=True)
        starting = asyncio.create_task(run)
        await editor.wait_for_notification("launching")
        await editor.keys(f"itotal {keys}")
        await in_mode(editor, mode)
        await editor.lua("launch()")
        await comes_true(editor, WAITS)
        await comes_true(editor, "require('dapeer.person.attention').rested()")
        assert (await editor.mode())["mode"] == mode
        await editor.keys(rest)
        assert (await starting)["line"] == 1
        await comes_true(editor, f"vim.fn.getbufline('note.txt', 1)[1] == {line!r}")
        assert await editor.lua("return vim.fn.expand('%')") == "note.txt"
