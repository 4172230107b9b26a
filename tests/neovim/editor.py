"""A real Neovim for a test, with dapeer's plugin and nvim-dap, and hands to type into it."""

import asyncio
import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.neovim.wire import Value, Wire
from tests.processes import LIMIT, command_line, process_gone, processes_of
from tests.programs import ROOT

EDITOR_MARK = "DAPEER_TEST_EDITOR"
"""Variable that all that a test's Neovim starts inherits from it."""

HERE = Path(__file__).parent
NVIM = Path(os.environ.get("DAPEER_NVIM") or Path(sys.executable).parent / "nvim").resolve()
"""The wheel's, or another: tests/neovims.py gets older and newer ones."""

PATIENCE = 3
"""Seconds that Neovim and its debug adapters get to end by themselves."""


@functools.cache
def version() -> tuple[int, int]:
    """Return the version of the tests' Neovim, major and minor; the test is skipped where there is none."""
    if not NVIM.exists():
        pytest.skip(NEEDS_NVIM)
    told = subprocess.run([NVIM, "--version"], capture_output=True, text=True, check=True).stdout
    major, minor, *_ = told.split()[1].removeprefix("v").split(".")
    return int(major), int(minor)


def installed(name: str, variable: str) -> Path | None:
    """Return the folder of a plugin: the one that a variable names, else that in Neovim's package path."""
    named = os.environ.get(variable)
    if named:
        return Path(named).resolve() if Path(named).is_dir() else None
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return next(iter(sorted(data.glob(f"nvim/site/pack/*/*/{name}"))), None)


# Read here, at import: tests get settings of their own.
NVIM_DAP = installed("nvim-dap", "DAPEER_NVIM_DAP")

NEEDS_NVIM = "needs Neovim: uv sync --group dev"
NEEDS_NVIM_DAP = (
    "needs nvim-dap: git clone https://github.com/mfussenegger/nvim-dap "
    "~/.local/share/nvim/site/pack/dapeer/start/nvim-dap"
)


def nvim_dap() -> Path:
    """Return the folder of nvim-dap; the test is skipped where there is none, or no Neovim."""
    if not NVIM.exists():
        pytest.skip(NEEDS_NVIM)
    if NVIM_DAP is None:
        pytest.skip(NEEDS_NVIM_DAP)
    return NVIM_DAP


class Editor:
    """A running Neovim. Every wait has a limit; `keys` and `mode` are served when it is blocked."""

    def __init__(self, process: asyncio.subprocess.Process, wire: Wire, socket: str) -> None:
        self.process = process
        self.pid = process.pid
        self.wire = wire
        self.socket = socket
        """Where it listens: `v:servername`."""

    async def lua(self, code: str, *arguments: object, seconds: float = LIMIT) -> Value:
        """Run Lua on the main thread; `...` are the arguments. Return what it returns."""
        return await self.wire.request("nvim_exec_lua", code, arguments, seconds=seconds)

    async def keys(self, keys: str) -> None:
        """Type; return when they are in Neovim's queue, which it may not have looked at yet."""
        await self.wire.request("nvim_input", keys)

    async def mode(self) -> dict[str, Any]:
        """Return what `nvim_get_mode` does: `mode`, and `blocking` when it waits for a key."""
        return await self.wire.request("nvim_get_mode")

    async def blocked(self, keys: str) -> dict[str, Any]:
        """Type keys after which Neovim waits for another one; return its mode then."""
        await self.keys(keys)
        # Nothing tells that a key is awaited, but each question lets Neovim's loop turn once.
        async with asyncio.timeout(LIMIT):
            while not (mode := await self.mode())["blocking"]:
                pass
        return mode

    async def wait_for_notification(self, kind: str) -> list[Any]:
        """Return the arguments of the next `rpcnotify` of this kind to `vim.g.test_channel`."""
        return await self.wire.told(kind)

    async def ended(self) -> None:
        """Wait until the process has ended."""
        async with asyncio.timeout(LIMIT):
            await self.process.wait()

    async def kill(self) -> None:
        """Kill it, as a crash does."""
        self.process.send_signal(signal.SIGKILL)
        await self.ended()


@asynccontextmanager
async def neovim(
    tmp_path: Path,
    *,
    dap: bool | Path = True,
    rc: str = "",
    setup: Mapping[str, object] | None = None,
    ui: bool = False,
    cwd: Path = ROOT,
    environment: Mapping[str, str] | None = None,
) -> AsyncGenerator[Editor]:
    """Start Neovim and end it, and its debug adapters, at the exit.

    Args:
        tmp_path: Where its files go.
        dap: Whether it has nvim-dap, or which one.
        rc: Lua of the person's own configuration; runs before `setup`.
        setup: What `require('dapeer').setup` gets; None does not call it.
        ui: Attach a screen, so that it waits for keys as it does before a person.
        cwd: Its working directory.
        environment: Variables that it has besides the test's.
    """
    if not NVIM.exists():
        pytest.skip(NEEDS_NVIM)
    if dap is True:
        dap = nvim_dap()
    with tempfile.TemporaryDirectory(prefix="nvim-") as folder:
        # Not below tmp_path: the name of a socket has a length that tests' names exceed.
        sockets = Path(folder)
        connected: asyncio.Future[Wire] = asyncio.get_running_loop().create_future()
        mark = uuid.uuid4().hex
        server = await asyncio.start_unix_server(
            lambda reader, writer: connected.set_result(Wire(reader, writer)), sockets / "test"
        )
        given = {
            "dap": bool(dap),
            "python": sys.executable,
            "rc": str(_written(tmp_path / "rc.lua", rc)) if rc else None,
            "setup": setup,
            "test": str(sockets / "test"),
        }
        log = tmp_path / "nvim.log"
        with log.open("ab") as errors:
            process = await asyncio.create_subprocess_exec(
                *_command(sockets / "nvim", dap),
                cwd=cwd,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                env={
                    **os.environ,
                    **_folders(tmp_path),
                    **(environment or {}),
                    EDITOR_MARK: mark,
                    "DAPEER_TEST_GIVEN": json.dumps(given),
                },
            )
        try:
            wire = await _first(connected, process, log)
            editor = Editor(process, wire, str(sockets / "nvim"))
            try:
                if ui:
                    await wire.request("nvim_ui_attach", 80, 24, {"rgb": True})
                yield editor
            finally:
                await _leave(editor)
        finally:
            server.close()
            await _end(process, mark)


def _command(socket: Path, dap: Path | Literal[False]) -> list[str]:
    plugins = [HERE, ROOT]
    if dap:
        plugins.append(dap)
    path = ",".join(map(str, plugins))
    start = [str(NVIM), "--clean", "-n", "--headless", "--listen", str(socket)]
    return [*start, "--cmd", f"set runtimepath^={path}", "-u", str(HERE / "init.lua")]


def _folders(tmp_path: Path) -> dict[str, str]:
    """Return where Neovim keeps what it writes, apart from the user's own.

    tests/conftest.py does the rest: configuration, state and run-time files.
    """
    names = {"XDG_DATA_HOME": "data", "XDG_CACHE_HOME": "cache"}
    return {variable: str(tmp_path / "xdg" / name) for variable, name in names.items()}


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


async def _first(
    connected: asyncio.Future[Wire], process: asyncio.subprocess.Process, log: Path
) -> Wire:
    """Return Neovim's connection, unless it ends before."""
    ended = asyncio.create_task(process.wait())
    try:
        await asyncio.wait([connected, ended], timeout=LIMIT, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ended.cancel()
    assert connected.done(), f"Neovim did not start, see {log}"
    return connected.result()


async def _leave(editor: Editor) -> None:
    """Quit, from whatever it waits for, and hang up."""
    if not editor.wire.closed.is_set():
        with contextlib.suppress(ConnectionError, TimeoutError):
            editor.wire.send("nvim_input", "<C-\\><C-n>")
            editor.wire.send("nvim_command", "qa!")
            async with asyncio.timeout(PATIENCE):
                await editor.wire.closed.wait()
    await editor.wire.aclose()


async def _end(process: asyncio.subprocess.Process, mark: str) -> None:
    """End what has not ended: Neovim, then the debug adapters that it has left."""
    try:
        async with asyncio.timeout(PATIENCE):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
    for pid in processes_of(mark, EDITOR_MARK):
        # Only these: what else outlives its Neovim is a fault that the test has to show.
        if "debugpy" in command_line(pid):
            await _ended_or_killed(pid)


async def _ended_or_killed(pid: int) -> None:
    try:
        await process_gone(pid, PATIENCE)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def older_nvim_dap(folder: Path, tag: str) -> Path:
    """Return a folder with nvim-dap as it was at a tag; skip the test where that is not to be had."""
    git = ["git", "-C", str(nvim_dap()), "archive", tag]
    archive = subprocess.run(git, capture_output=True, check=False)
    if archive.returncode:
        pytest.skip(f"needs nvim-dap's tag {tag}: git -C {NVIM_DAP} fetch --tags")
    target = folder / "nvim-dap"
    target.mkdir()
    subprocess.run(["tar", "-x", "-C", str(target)], input=archive.stdout, check=True)
    return target


def copy_of_nvim_dap(folder: Path) -> Path:
    """Copy nvim-dap into a folder, for a test that changes it."""
    target = folder / "nvim-dap"
    shutil.copytree(nvim_dap(), target, ignore=shutil.ignore_patterns(".git"))
    return target
