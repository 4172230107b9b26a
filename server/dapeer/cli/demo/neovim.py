"""The Neovim of `dapeer demo --nvim`: a real one with a real nvim-dap, and somebody's place at it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio

from dapeer.base.json_types import Value
from dapeer.base.system.exchange import Mailbox
from dapeer.cli.demo.person import LUA
from dapeer.cli.demo.transcript import Evidence
from dapeer.neovim.client import Neovim
from dapeer.neovim.discovery.program import plugin_folder

SECONDS_TO_WAIT: Final = 30.0
"""Seconds that anything may take, on a slow machine."""
SECONDS_TO_QUIT: Final = 3.0
"""Seconds that Neovim has to quit."""
SCREEN: Final = (120, 40)
"""Columns and rows: nothing that is said here needs more, or Neovim would ask for a key."""

PRINT_READY: Final = "lua io.stderr:write('ready\\n')"
SET_UP: Final = """
local file, python, channel = ...
local person = dofile(file)
package.loaded.person = person
vim.g.loaded_python3_provider = 0
require('dapeer').setup({})
person.adapters(python, function(...)
  pcall(vim.rpcnotify, channel, ...)
end)
"""


class Seat:
    """A person's place at a Neovim: its keyboard and its screen."""

    def __init__(self, socket: str) -> None:
        """Keep the socket where the Neovim listens; `connect` connects."""
        self.socket = socket
        """Where the Neovim listens."""
        self._notifications: defaultdict[str, Mailbox[list[Value]]] = defaultdict(
            Mailbox[list[Value]]
        )
        self._neovim: Neovim

    async def connect(self) -> None:
        """Connect keyboard and screen."""
        self._neovim = await Neovim.connect(self.socket, self._take)
        await self._neovim.request("nvim_ui_attach", *SCREEN, {"rgb": True})
        await self.configure(SET_UP, str(LUA))

    async def configure(self, lua: str, *arguments: object) -> None:
        """Run Lua in Neovim; its `...` are `arguments`, this Python's path, and this RPC channel's number."""
        await self.lua(lua, *arguments, sys.executable, self._neovim.channel)

    async def lua(self, code: str, *arguments: object) -> Value:
        """Run Lua there; `...` are the arguments. Return what it returns."""
        return await self._neovim.call(code, *arguments, seconds=SECONDS_TO_WAIT)

    async def keys(self, keys: str) -> None:
        """Press keys."""
        await self._neovim.request("nvim_input", keys)

    async def wait_for_notification(self, kind: str) -> list[Value]:
        """Wait for the next notification of a kind from Neovim, and return its arguments.

        Raises:
            Evidence: None comes within `SECONDS_TO_WAIT`.
        """
        try:
            with anyio.fail_after(SECONDS_TO_WAIT):
                return await self._notifications[kind].take()
        except TimeoutError:
            raise Evidence(f"Neovim should show: {kind}") from None

    async def is_at(self, text: str) -> None:
        """Wait until the line at Neovim's cursor is this text.

        Raises:
            TimeoutError: It is not within `SECONDS_TO_WAIT`.
        """
        with anyio.fail_after(SECONDS_TO_WAIT):
            while await self.lua("return vim.api.nvim_get_current_line()") != text:
                pass  # each question lets Neovim's loop turn once

    async def waits_for_a_key(self) -> str:
        """Wait until Neovim waits for a key, and return the clause that says so.

        Raises:
            TimeoutError: It does not within `SECONDS_TO_WAIT`.
        """
        with anyio.fail_after(SECONDS_TO_WAIT):
            while not (state := await self._neovim.state()):
                pass  # each question lets Neovim's loop turn once
        return state

    async def leave(self) -> None:
        """Quit Neovim, from whatever it waits for, and close the connection."""
        await self.keys("<C-\\><C-n>")
        self._neovim.send("vim.cmd('qall!')")
        with anyio.move_on_after(SECONDS_TO_QUIT):
            await self._neovim.closed.wait()
        await self._neovim.aclose()

    def _take(self, name: str, arguments: list[Value]) -> None:
        """Keep the arguments of a notification for who waits for its kind; redraws are dropped."""
        if name != "redraw":
            self._notifications[name].put(arguments)


@asynccontextmanager
async def seated(nvim: str, nvim_dap: Path, folder: Path) -> AsyncGenerator[Seat]:
    """Start a Neovim in a folder with nvim-dap, yield a scripted person's place at it, and end it.

    `nvim` is its executable, `nvim_dap` the plugin's folder.

    Raises:
        Evidence: It does not start.
    """
    with tempfile.TemporaryDirectory(prefix="dapeer-demo-") as place:
        socket = str(Path(place) / "nvim")
        async with _running(nvim, nvim_dap, socket, folder):
            seat = Seat(socket)
            await seat.connect()
            try:
                yield seat
            finally:
                await seat.leave()


@asynccontextmanager
async def _running(nvim: str, nvim_dap: Path, socket: str, folder: Path) -> AsyncGenerator[None]:
    """Start an embedded Neovim that listens at `socket`, and after the body wait for its end, or kill it.

    Raises:
        Evidence: It does not start.
    """
    plugins = f"set runtimepath^={plugin_folder()},{nvim_dap}"
    start = [nvim, "--clean", "-n", "--headless", "--embed", "--listen", socket]
    # An embedded Neovim ends with its stdin, so also when this process is killed.
    process = await asyncio.create_subprocess_exec(
        *start, "--cmd", plugins, "-c", PRINT_READY,
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    try:
        with anyio.fail_after(SECONDS_TO_WAIT):
            line = await process.stderr.readline() if process.stderr else b""
        if line != b"ready\n":
            raise Evidence(f"Neovim should start, but says: {line.decode(errors='replace')}")
        yield
    finally:
        try:
            with anyio.fail_after(SECONDS_TO_QUIT):
                await process.wait()
        except TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
