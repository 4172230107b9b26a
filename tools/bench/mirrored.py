"""Neovims with a stopped program each, and the servers that are attached to them."""

import json
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.neovim.editor import Editor, neovim
from tests.neovim.person import Person
from tests.programs import Program, program
from tools.bench import adapter
from tools.bench.served import RELAYED_BY_NEOVIM, STDIO, Served, served

STEPS = program("bench_steps.py")
OBJECTS = program("bench_objects.py")

PERSONS = """
local command = vim.json.decode([==[{command}]==])
require('dap').adapters.python = {{
  type = 'executable', command = table.remove(command, 1), args = command,
}}
vim.api.nvim_create_autocmd('User', {{ pattern = 'DapeerAction', callback = function()
  pcall(vim.rpcnotify, vim.g.test_channel, 'action')
end }})
vim.keymap.set('n', '{key}', function() pcall(vim.rpcnotify, vim.g.test_channel, 'key') end)
"""
"""The adapter as dapeer starts it, so that everybody's is the same; and what tells the benchmark."""
LOOKS = """
local dap, wanted = require('dap'), false
function _G.bench_step() wanted = true; dap.step_over() end
dap.listeners.after.variables.bench = function()
  if wanted then wanted = false; pcall(vim.rpcnotify, vim.g.test_channel, 'looked') end
end
"""
"""Tells when nvim-dap has stack, scopes and variables of the stop after a step."""
LOOKS_AT_ALL = """
local dap, left = require('dap'), nil
function _G.bench_step() left = 0; dap.step_over() end
dap.listeners.after.scopes.bench = function(_, _, response)
  for _, scope in ipairs(left and response.scopes or {}) do left = left + (scope.expensive and 0 or 1) end
end
dap.listeners.after.variables.bench = function()
  left = left and left - 1
  if left == 0 then left = nil; pcall(vim.rpcnotify, vim.g.test_channel, 'looked') end
end
"""
"""The same, with the variables of all scopes that nvim-dap shows."""
KEY = "<F5>"
ACTIONS = {"dap_step_over", "dap_evaluate"}
"""Tools of which the person is told."""


class Desk:
    """A Neovim whose session steps through the program of the benchmark."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.person = Person(editor)
        self._line = 0

    async def start(self, steps: Program = STEPS) -> None:
        """Come to the first stop, with no breakpoint left in the way."""
        inner = steps.line("inner")
        await self.person.breaks_at(steps.source, inner)
        launch = adapter.launch(steps)
        await self.person.run(str(launch.pop("program")), **launch)
        await self.sees_another_stop()
        await self.person.toggles(steps.source, inner)

    async def sees_another_stop(self) -> None:
        """Wait until nvim-dap shows a stop elsewhere; no two stops in a row are on one line."""
        line = self._line
        while line == self._line:
            _, line = await self.editor.wait_for_notification("stopped")
        self._line = line

    async def steps(self) -> None:
        """Step as the person does, and see where."""
        await self.person.does("step_over")
        await self.sees_another_stop()

    async def steps_and_looks(self) -> None:
        """Step by a client of Neovim that asks for nothing, and wait until nvim-dap has looked; needs `LOOKS`."""
        self.editor.wire.send("nvim_exec_lua", "bench_step()", [])
        await self.editor.wait_for_notification("looked")

    async def comes_to_rest(self) -> None:
        """Wait until the main thread has done what it had to do."""
        await self.editor.lua("return 0")

    async def press(self) -> None:
        """Press a key and wait for its effect: its mapping's function tells us."""
        self.editor.wire.send("nvim_input", KEY)
        await self.editor.wait_for_notification("key")

    def main_thread(self) -> int:
        """Return the nanoseconds for which Neovim's main thread has run so far; exact while it sleeps."""
        path = Path(f"/proc/{self.editor.pid}/task/{self.editor.pid}/schedstat")
        return int(path.read_text(encoding="ascii").split()[0])


@asynccontextmanager
async def desk(
    setup: dict[str, object] | None, command: Sequence[str] | None = None
) -> AsyncGenerator[Desk]:
    """Start a Neovim with a screen; `setup` is what dapeer's plugin gets, None is without it; `command` starts another adapter than the quick one."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        path = Path(folder)
        rc = PERSONS.format(command=json.dumps(command or adapter.quick()), key=KEY)
        places = {"XDG_CONFIG_HOME": folder, "XDG_STATE_HOME": folder}
        async with neovim(path, rc=rc, setup=setup, ui=True, environment=places) as editor:
            yield Desk(editor)


@asynccontextmanager
async def attached(editor: Editor) -> AsyncGenerator[Served]:
    """Start a server that is attached to a Neovim."""
    async with served(*STDIO, "--nvim", editor.socket) as server:
        yield server


@asynccontextmanager
async def relaying(editor: Editor) -> AsyncGenerator[Served]:
    """Start a server that adds nothing to a Neovim."""
    async with served(*RELAYED_BY_NEOVIM, editor.socket) as server:
        yield server


@dataclass(frozen=True)
class Mirrored:
    """A Neovim and the server that is attached to it."""

    desk: Desk
    server: Served

    async def does(self, tool: str, **arguments: object) -> None:
        """Call a tool, and wait until everybody has come to rest."""
        await self.server.call(tool, **arguments)
        await self.rest_after(tool)

    async def person_steps(self) -> None:
        """Step as the person does, and wait until the server knows all of the new stop."""
        await self.desk.steps()
        await self.server.call("dap_snapshot")

    async def rest_after(self, tool: str) -> None:
        """Wait until Neovim has done what a tool call has brought it."""
        if tool in ACTIONS:
            await self.desk.editor.wait_for_notification("action")
        if tool == "dap_step_over":
            await self.desk.sees_another_stop()
        await self.desk.comes_to_rest()
