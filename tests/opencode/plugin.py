"""A Neovim with the real opencode.nvim, whose person wants dapeer's tools in OpenCode."""

import io
import shutil
import subprocess
import sys
import tarfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import npm
from tests.neovim.editor import Editor, installed, neovim
from tests.opencode.provider import Provider
from tests.opencode.server import OpenCode, environment

INTEGRATED: Mapping[str, object] = {
    "integrations": {"opencode": True},
    "bridge": {"command": [sys.executable, "-m", "dapeer"]},
}

TELLS = """
local function teller(kind)
  return function(...) vim.rpcnotify(vim.g.test_channel, kind, ...) end
end
vim.notify = teller('warned')
local function tells(event, kind)
  vim.api.nvim_create_autocmd('User', {
    pattern = event,
    callback = function(told) vim.rpcnotify(vim.g.test_channel, kind, told.data) end,
  })
end
tells('DapeerOpenCodeConnected', 'connected')
tells('DapeerOpenCodeDisconnected', 'disconnected')
tells('OpencodeEvent:server.connected', 'follows')
tells('OpencodeEvent:session.idle', 'idle')
"""

LOADS = """
vim.opt.runtimepath:prepend({plugin})
require('opencode').setup({{ opencode_executable = {program}, server = {server} }})
"""


KNOWS = """
require('opencode.services.session_runtime').opencode_ok():and_then(function()
  vim.rpcnotify(vim.g.test_channel, 'version')
end)
"""


# Read here, at import: tests get settings of their own.
OPENCODE_NVIM = installed("opencode.nvim", "DAPEER_OPENCODE_NVIM")
PLENARY = installed("plenary.nvim", "DAPEER_PLENARY")

needs_opencode_nvim = pytest.mark.skipif(
    OPENCODE_NVIM is None,
    reason="needs opencode.nvim: git clone https://github.com/sudo-tee/opencode.nvim "
    "~/.local/share/nvim/site/pack/dapeer/start/opencode.nvim",
)


def earlier(commit: str, folder: Path) -> Path:
    """Return opencode.nvim as it was; the test is skipped where what it needs is missing."""
    assert OPENCODE_NVIM is not None, "this test lacks @needs_opencode_nvim"
    if PLENARY is None:
        pytest.skip("needs plenary.nvim, as earlier versions of opencode.nvim did")
    archive = subprocess.run(
        ["git", "-C", OPENCODE_NVIM, "archive", commit, "lua", "plugin"],
        capture_output=True,
        check=False,
    )
    if archive.returncode:
        pytest.skip("needs the history of opencode.nvim: git fetch --unshallow")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    shutil.copytree(PLENARY / "lua", folder / "lua", dirs_exist_ok=True)
    return folder


def loads(server: OpenCode | None = None, plugin: Path | None = OPENCODE_NVIM) -> str:
    """Return the Lua that loads opencode.nvim, with a server that runs already, or with its own."""
    attach = "{}"
    if server is not None:
        host, _, port = server.url.rpartition(":")
        attach = f"{{ url = '{host}', port = {port}, password = '{server.password}' }}"
    return LOADS.format(plugin=f"'{plugin}'", program=f"'{npm.opencode()}'", server=attach)


@asynccontextmanager
async def chatting(
    tmp_path: Path,
    model: Provider,
    *,
    rc: str,
    project: Path,
    home: Path | None = None,
    setup: Mapping[str, object] | None = INTEGRATED,
    dap: bool = False,
    **more: str,
) -> AsyncGenerator[Editor]:
    """Start a Neovim that tells what happens to the registration, and end it.

    Args:
        tmp_path: Where its files go.
        model: Whom an OpenCode that it starts asks.
        rc: The rest of the person's configuration, such as `loads()`.
        project: Its working directory.
        home: Whose files it shares with others; default: it has its own.
        setup: What `require('dapeer').setup` gets; None does not call it.
        dap: Whether it has nvim-dap.
        more: Variables that it has besides.
    """
    project.mkdir(exist_ok=True)  # noqa: ASYNC240 - a moment
    variables = environment((home or tmp_path) / "opencode", model, **more)
    # Without this folder opencode.nvim forgets that it has started a server, and leaves it behind.
    (Path(variables["XDG_DATA_HOME"]) / "nvim").mkdir(parents=True, exist_ok=True)
    async with neovim(
        tmp_path, dap=dap, rc=TELLS + rc, setup=setup, cwd=project, environment=variables
    ) as editor:
        yield editor


async def knows_the_version(editor: Editor) -> None:
    """Wait until opencode.nvim knows its program's version: without it, it hears of no events after 5 s."""
    await editor.lua(KNOWS)
    await editor.wait_for_notification("version")


async def opens(editor: Editor) -> dict[str, Any]:
    """Open OpenCode as a person does; return where the tools were registered."""
    await editor.lua("vim.cmd.Opencode()")
    return await connected(editor)


async def connected(editor: Editor) -> dict[str, Any]:
    """Wait until OpenCode has the tools."""
    [entry] = await editor.wait_for_notification("connected")
    return entry


async def disconnected(editor: Editor) -> dict[str, Any]:
    """Wait until it has them no more."""
    [entry] = await editor.wait_for_notification("disconnected")
    return entry
