"""The person of `dapeer demo --nvim`: a script, at a real Neovim with a real nvim-dap.

It types, and uses nvim-dap's public functions, over Neovim's own RPC. It knows nothing of dapeer, but that
its plugin is loaded.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, cast

from dapeer.demo.transcript import Evidence
from dapeer.neovim.client import Neovim
from dapeer.neovim.discovery.discovery import plugin_folder

SECONDS: Final = 30.0
"""Timeout of each step, for a slow machine."""
SECONDS_TO_QUIT: Final = 3.0
"""Seconds that Neovim has to quit."""
SCREEN: Final = (120, 40)
"""Columns and rows: nothing that is said here needs more, or Neovim would ask for a key."""

READY: Final = "lua io.stderr:write('ready\\n')"

LUA: Final = """
local M = {}
local python, channel = ...

local function tell(...)
  pcall(vim.rpcnotify, channel, ...)
end

local function signs(group)
  return vim.fn.sign_getplaced(0, { group = group })[1].signs
end

function M.breaks_at(line)
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  require('dap').toggle_breakpoint()
end

function M.starts(program)
  local name = vim.fs.basename(program)
  require('dap').run({
    type = 'python', request = 'launch', name = name, program = program, console = 'internalConsole',
    -- In a wheel the program lies among the interpreter's libraries, where debugpy would not stop.
    justMyCode = false,
  })
end

-- The lines of the window that have a sign or the cursor.
function M.sees()
  local cursor, lines = vim.api.nvim_win_get_cursor(0)[1], {}
  local groups = { 'dap_breakpoints' }
  for _, session in pairs(require('dap').sessions()) do
    table.insert(groups, session.sign_group)
  end
  for _, group in ipairs(groups) do
    for _, sign in ipairs(signs(group)) do
      local text = vim.trim(vim.fn.sign_getdefined(sign.name)[1].text)
      lines[sign.lnum] = (lines[sign.lnum] or '') .. text
    end
  end
  lines[cursor] = lines[cursor] or ''
  local shown = {}
  for line, text in vim.spairs(lines) do
    local code = vim.api.nvim_buf_get_lines(0, line - 1, line, false)[1]
    table.insert(shown, { line, text, code, line == cursor })
  end
  return shown
end

-- What the screen shows, line by line.
function M.looks(lines)
  vim.cmd.redraw()
  local shown = {}
  for row = 1, lines do
    local cells = {}
    for column = 1, vim.o.columns do
      cells[column] = vim.fn.screenstring(row, column)
    end
    shown[row] = table.concat(cells):gsub('%s+$', '')
  end
  return shown
end

vim.g.loaded_python3_provider = 0
require('dapeer').setup({})
local dap = require('dap')
dap.adapters.python = { type = 'executable', command = python, args = { '-m', 'debugpy.adapter' } }
-- nvim-dap asks for the scopes when it has moved the cursor to a stop. Others ask, too; it keeps only
-- what it has asked for.
dap.listeners.after.scopes.person = function(session, _, response)
  local frame = session.stopped_thread_id and session.current_frame
  if frame and response and frame.scopes == response.scopes then
    tell('stopped', frame.line)
  end
end
dap.listeners.after.event_initialized.person = function(session)
  session.on_close.person = function()
    tell('ended')
  end
end
package.loaded.person = M
"""


class Person:
    """A scripted person at a Neovim. `sees_…` waits for what Neovim shows."""

    def __init__(self, socket: str) -> None:
        self.socket = socket
        """Where the Neovim listens."""
        self._told: asyncio.Queue[list[Any]] = asyncio.Queue()
        self._neovim: Neovim

    async def sits_down(self) -> None:
        """Connect keyboard and screen."""
        self._neovim = await Neovim.connect(self.socket, self._take)
        await self._neovim.request("nvim_ui_attach", *SCREEN, {"rgb": True})
        await self._lua(LUA, sys.executable, self._neovim.channel)

    async def opens(self, file: Path) -> None:
        """Open a file."""
        await self._lua("vim.cmd.edit(...)", str(file))

    async def breaks_at(self, line: int) -> None:
        """Go to a line and set a breakpoint there."""
        await self._lua("require('person').breaks_at(...)", line)

    async def starts(self, program: Path) -> None:
        """Start a program in nvim-dap."""
        await self._lua("require('person').starts(...)", str(program))

    async def configures(self, lua: str) -> None:
        """Add to the configuration; its `...` are this Python and the channel for `sees`."""
        await self._lua(lua, sys.executable, self._neovim.channel)

    async def looks(self, lines: int) -> list[str]:
        """Return the first lines of the screen, as they are."""
        return list(await self._lua("return require('person').looks(...)", lines))

    async def types(self, keys: str) -> None:
        """Press keys."""
        await self._neovim.request("nvim_input", keys)

    async def is_at(self, text: str) -> None:
        """Wait until the line of the cursor says this."""
        async with asyncio.timeout(SECONDS):
            while await self._lua("return vim.api.nvim_get_current_line()") != text:
                pass  # each question lets Neovim's loop turn once

    async def is_asked_for_a_key(self) -> str:
        """Wait until Neovim waits for a key; return the clause that says so."""
        async with asyncio.timeout(SECONDS):
            while not (state := await self._neovim.state()):
                pass  # each question lets Neovim's loop turn once
        return state

    async def sees_stop(self, line: int) -> None:
        """Wait until nvim-dap has shown a stop at a line."""
        await self.sees("stopped", line)

    async def sees_end(self) -> None:
        """Wait until nvim-dap has closed the session."""
        await self.sees("ended")

    async def screen(self) -> str:
        """Return the lines of the window that have a sign or the cursor."""
        lines = await self._lua("return require('person').sees()")
        return "\n".join(
            f"{signs:3} {number:3}  {code}{'      ← cursor' if cursor else ''}"
            for number, signs, code, cursor in lines
        )

    async def log(self) -> list[str]:
        """Return the lines of `:Dapeer log`."""
        return list(await self._lua("return require('dapeer.person.actions').lines()"))

    async def leaves(self) -> None:
        """Quit, even if Neovim waits for a key."""
        await self.types("<C-\\><C-n>")
        self._neovim.send("vim.cmd('qall!')")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SECONDS_TO_QUIT):
                await self._neovim.closed.wait()
        await self._neovim.aclose()

    async def _lua(self, code: str, *arguments: object) -> Any:  # noqa: ANN401
        return await self._neovim.call(code, *arguments, seconds=SECONDS)

    def _take(self, name: str, arguments: list[Any]) -> None:
        if name != "redraw":
            self._told.put_nowait([name, *arguments])

    async def sees(self, *what: object) -> None:
        """Wait until Neovim has sent this."""
        try:
            async with asyncio.timeout(SECONDS):
                while await self._told.get() != list(what):
                    pass
        except TimeoutError:
            raise Evidence(f"Neovim should show: {' '.join(map(str, what))}") from None


@asynccontextmanager
async def person(nvim: str, nvim_dap: Path, folder: Path) -> AsyncGenerator[Person]:
    """Start a Neovim in a folder with a scripted person; at the exit it has ended."""
    with tempfile.TemporaryDirectory(prefix="dapeer-demo-") as place:
        socket = str(Path(place) / "nvim")
        async with _running(nvim, nvim_dap, socket, folder):
            somebody = Person(socket)
            await somebody.sits_down()
            try:
                yield somebody
            finally:
                await somebody.leaves()


@asynccontextmanager
async def _running(nvim: str, nvim_dap: Path, socket: str, folder: Path) -> AsyncGenerator[None]:
    plugins = f"set runtimepath^={plugin_folder()},{nvim_dap}"
    start = [nvim, "--clean", "-n", "--headless", "--embed", "--listen", socket]
    # An embedded Neovim ends with its stdin, so also when this process is killed.
    process = await asyncio.create_subprocess_exec(
        *start, "--cmd", plugins, "-c", READY,
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    stderr = cast("asyncio.StreamReader", process.stderr)
    try:
        async with asyncio.timeout(SECONDS):
            said = await stderr.readline()
        if said != b"ready\n":
            raise Evidence(f"Neovim should start, but says: {said.decode(errors='replace')}")
        yield
    finally:
        try:
            async with asyncio.timeout(SECONDS_TO_QUIT):
                await process.wait()
        except TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def find_nvim() -> str | None:
    """Return the Neovim next to this Python, else the one on PATH."""
    beside = Path(sys.executable).with_name("nvim")
    return str(beside) if beside.is_file() else shutil.which("nvim")


def find_nvim_dap() -> Path | None:
    """Return the folder of nvim-dap: the one that is named by $DAPEER_NVIM_DAP, else that of the user."""
    named = os.environ.get("DAPEER_NVIM_DAP")
    if named:
        path = Path(named).resolve()
        return path if (path / "lua" / "dap.lua").is_file() else None
    return next(iter(sorted(_packages().glob("*/start/nvim-dap"))), None)


def where_nvim_dap_goes() -> Path:
    """Return a folder in which Neovim finds nvim-dap."""
    return _packages() / "dapeer" / "start" / "nvim-dap"


def _packages() -> Path:
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return data / os.environ.get("NVIM_APPNAME", "nvim") / "site" / "pack"
