"""A person who reviews what an assistant proposes, in a real Neovim with a screen."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, cast

from mcp import Client
from mcp.types import CallToolResult, TextContent

from tests.harness import call
from tests.json_types import Json
from tests.neovim.editor import Editor, neovim
from tests.neovim.joint import attached
from tests.processes import LIMIT

# What a test hears of: diffs that open and close, and what the person is told.
RC = """
local function tell(...) pcall(vim.rpcnotify, vim.g.test_channel, ...) end
for event, kind in pairs({ DapeerDiffOpened = 'opened', DapeerDiffClosed = 'closed' }) do
  vim.api.nvim_create_autocmd('User', {
    pattern = event,
    callback = function(found) tell(kind, found.data) end,
  })
end
vim.notify = function(text) tell('said', text) end
"""

# All that a diff might leave behind.
EVERYTHING = """
local function names(list, ...)
  local fields = { ... }
  local found = vim.tbl_map(function(one)
    return table.concat(vim.tbl_map(function(field) return tostring(one[field]) end, fields), ' ')
  end, list)
  table.sort(found)
  return found
end
-- Neovim's own matchparen waits once for a safe state after a buffer is shown.
local function lasting(autocommands)
  return vim.tbl_filter(function(one)
    return not (one.event == 'SafeState' and one.once)
  end, autocommands)
end
local windows, buffers = {}, {}
for _, window in ipairs(vim.api.nvim_list_wins()) do
  local options = {}
  for _, name in ipairs({ 'diff', 'scrollbind', 'cursorbind', 'foldmethod', 'foldcolumn', 'wrap', 'winbar', 'winfixbuf' }) do
    options[name] = vim.wo[window][name]
  end
  windows[tostring(window)] = {
    buffer = vim.api.nvim_win_get_buf(window),
    view = vim.api.nvim_win_call(window, vim.fn.winsaveview),
    jumps = vim.fn.getjumplist(window)[2],
    alternate = vim.api.nvim_win_call(window, function() return vim.fn.bufnr('#') end),
    options = options,
  }
end
for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
  buffers[tostring(buffer)] = {
    vim.api.nvim_buf_get_name(buffer), vim.bo[buffer].modified, vim.bo[buffer].buflisted,
    names(vim.api.nvim_buf_get_keymap(buffer, 'n'), 'lhs'),
  }
end
return {
  here = { vim.api.nvim_get_current_tabpage(), vim.api.nvim_get_current_win(), vim.api.nvim_get_mode().mode },
  tabs = vim.api.nvim_list_tabpages(),
  windows = windows,
  buffers = buffers,
  autocommands = names(lasting(vim.api.nvim_get_autocmds({})), 'event', 'pattern', 'group_name', 'desc'),
  keys = names(vim.api.nvim_get_keymap('n'), 'lhs'),
  highlights = #vim.tbl_keys(vim.api.nvim_get_hl(0, {})),
  options = { vim.o.diffopt, vim.o.scrollopt, vim.o.hidden, vim.o.shortmess, vim.o.tabline },
  watchers = vim.on_key(),
  registers = vim.tbl_map(vim.fn.getreg, { '"', '0', '1', '-', '/', '.' }),
}
"""


@asynccontextmanager
async def reviewing(
    tmp_path: Path, rc: str = "", *, ui: bool = True, **setup: object
) -> AsyncGenerator[tuple[Client, Editor]]:
    """Start a Neovim with a person and an assistant; its working directory is `tmp_path`."""
    options: Mapping[str, Any] = {"setup": setup, "rc": RC + rc, "cwd": tmp_path}
    async with (
        neovim(tmp_path, dap=False, ui=ui, **options) as editor,
        attached(editor, tmp_path) as (c, _),
    ):
        yield c, editor


def texts(result: CallToolResult) -> list[str]:
    """Return the text items of a result."""
    return [item.text for item in result.content if isinstance(item, TextContent)]


class Proposal:
    """A call of `open_diff` that waits for the person."""

    def __init__(self, c: Client, path: Path | str, text: str, **more: object) -> None:
        arguments = {"new_file_path": str(path), "new_file_contents": text, **more}
        self._call = asyncio.create_task(call(c, "nvim_open_diff", **arguments))

    async def answer(self) -> list[str]:
        """Wait for the answer; return its text items."""
        async with asyncio.timeout(LIMIT):
            return texts(await self._call)

    async def cancel(self) -> None:
        """Cancel the call, as a client does that does not wait any longer."""
        self._call.cancel()
        await asyncio.wait([self._call])

    @property
    def pending(self) -> bool:
        """Whether nobody has decided."""
        return not self._call.done()


async def proposed(
    c: Client, editor: Editor, path: Path | str, text: str, **more: object
) -> Proposal:
    """Propose a text; return when the person sees it."""
    proposal = Proposal(c, path, text, **more)
    await editor.wait_for_notification("opened")
    return proposal


async def everything(editor: Editor) -> Json:
    """Return all that must be as before when a diff is over."""
    found: Json = await editor.lua(EVERYTHING)
    return found


async def unchanged(editor: Editor, before: Json) -> None:
    """Wait until a diff is closed; nothing must be left of it."""
    await editor.wait_for_notification("closed")
    await as_before(editor, before)


async def as_before(editor: Editor, before: Json) -> None:
    """Check that all is as it was."""
    after = await everything(editor)
    odd = _differences(before, {part: after[part] for part in before})
    assert odd == [], odd


def _differences(one: object, other: object, place: str = "") -> list[str]:
    """Name what differs; pytest would take minutes over all of it."""
    if isinstance(one, dict) and isinstance(other, dict):
        a, b = cast("Json", one), cast("Json", other)
        pairs = {key: (a.get(key), b.get(key)) for key in {**a, **b}}
        return [each for key, two in pairs.items() for each in _differences(*two, f"{place}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and place.endswith("autocommands"):
        odd = set(cast("list[str]", one)) ^ set(cast("list[str]", other))
        return [f"{place}: {each}" for each in sorted(odd)]
    return [] if one == other else [f"{place}: {one} is now {other}"]


async def bars(editor: Editor) -> list[str]:
    """Return what the winbars of the tab page say, from left to right."""
    shown: list[str] = await editor.lua("""
      return vim.tbl_map(function(window)
        return vim.api.nvim_eval_statusline(vim.wo[window].winbar, { winid = window, use_winbar = true, maxwidth = 200 }).str
      end, vim.api.nvim_tabpage_list_wins(0))
    """)
    return shown


@contextmanager
def file(path: Path, data: bytes) -> Generator[Path]:
    """Write a file, and check at the exit that nobody has changed it."""
    path.write_bytes(data)
    yield path
    assert path.read_bytes() == data
