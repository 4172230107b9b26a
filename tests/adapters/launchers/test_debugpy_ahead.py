"""A launcher of debugpy that is started ahead: when it is taken, when another one is, and that it always ends."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from dapeer.adapters.definition.loading import load_all, shipped
from dapeer.adapters.process.adapter import open_adapter
from dapeer.adapters.process.reaper import Reaper
from dapeer.dap.channel import Channel
from dapeer.dap.handshake import CLIENT
from tests.adapters.toys import channel
from tests.kept import told
from tests.processes import LIMIT, descendants, process_gone
from tests.programs import program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
DEBUGPY = load_all(shipped())["debugpy"]


@asynccontextmanager
async def ahead(folder: Path, reaper: Reaper) -> AsyncGenerator[tuple[Channel, int, int]]:
    """Start an adapter; give a channel to it, its process, and that of its launcher."""
    inputs = {"python": sys.executable, "cwd": str(folder)}
    async with (
        asyncio.timeout(LIMIT),
        open_adapter(DEBUGPY, "launch", inputs, reaper) as adapter,
        channel(adapter.transport, []) as opened,
    ):
        await opened.request("initialize", {**CLIENT, "adapterID": "debugpy"}, seconds=LIMIT)
        assert adapter.pid is not None
        (launcher,) = descendants(adapter.pid)
        yield opened, adapter.pid, launcher


def nothing(_launcher: int, _folder: Path) -> dict[str, object]:
    return {}


def signalled(number: int, launcher: int, _folder: Path) -> dict[str, object]:
    os.kill(launcher, number)
    return {}


def elsewhere(_launcher: int, _folder: Path) -> dict[str, object]:
    return {"cwd": "/"}


def by_another_python(_launcher: int, folder: Path) -> dict[str, object]:
    other = folder / "python"
    other.symlink_to(sys.executable)
    return {"debugLauncherPython": str(other)}


@pytest.mark.parametrize(
    ("change", "taken"),
    [
        pytest.param(nothing, True, id="nothing"),
        pytest.param(partial(signalled, signal.SIGKILL), False, id="killed"),
        pytest.param(partial(signalled, signal.SIGSTOP), False, id="stopped"),
        pytest.param(elsewhere, False, id="elsewhere"),
        pytest.param(by_another_python, False, id="by another Python"),
    ],
)
async def test_a_launcher_is_taken_where_the_same_would_be_started_and_ends_anyhow(
    change: Callable[[int, Path], dict[str, object]], taken: bool, tmp_path: Path, reaper: Reaper
) -> None:
    path = tmp_path / "told.json"
    os.mkfifo(path)
    launch = {
        "program": str(program("tells_of_itself.py")), "args": ["0", str(path)], "noDebug": True,
        "python": sys.executable, "cwd": str(tmp_path), "console": "internalConsole",
    }  # fmt: skip
    async with ahead(tmp_path, reaper) as (opened, _, launcher):
        await opened.request("launch", launch | change(launcher, tmp_path), seconds=LIMIT)
        assert (await asyncio.to_thread(told, path))["ahead"] is taken
        await process_gone(launcher)


async def test_a_launcher_ends_with_an_adapter_that_is_killed(
    tmp_path: Path, reaper: Reaper
) -> None:
    async with ahead(tmp_path, reaper) as (_, adapter, launcher):
        os.kill(adapter, signal.SIGKILL)
        await process_gone(launcher)
