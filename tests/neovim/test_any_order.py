"""A Neovim and an assistant that start in any order meet, wherever the Neovim listens, and no call is needed for it."""

import asyncio
import json
import re
from pathlib import Path

import httpx2
import pytest

from dapeer.base.system import folder_names
from dapeer.neovim import sockets
from tests.harness import client as core
from tests.harness import connect
from tests.mcp.wire import Wire, started
from tests.neovim.editor import neovim
from tests.neovim.test_lifecycle import CORE, looked_into
from tests.neovim.test_outliving import attached_to
from tests.neovim.test_targets import neovims, targets

STDIO = ("dapeer", "stdio")

# The tests' Neovim listens in a folder of the test.
LISTENS_AT = {
    "a path": "",
    "its own path": "vim.fn.serverstop(vim.v.servername) vim.fn.serverstart()",
    "a port": "vim.fn.serverstop(vim.v.servername) vim.fn.serverstart('127.0.0.1:0')",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture(params=LISTENS_AT)
def rc(request: pytest.FixtureRequest) -> str:
    """Return the Lua that makes a Neovim listen somewhere."""
    return LISTENS_AT[request.param]


async def test_a_neovim_that_was_there_before_the_assistant_is_attached(
    tmp_path: Path, project: Path, rc: str
) -> None:
    async with (
        neovim(tmp_path, dap=False, rc=rc, setup={}, cwd=project) as editor,
        started(*STDIO, cwd=project) as wire,
    ):
        await wire.handshake()
        await attached_to(editor)


async def test_a_neovim_that_comes_after_the_assistant_is_attached(
    tmp_path: Path, project: Path, rc: str
) -> None:
    async with started(*STDIO, cwd=project) as wire:
        await wire.handshake()
        async with neovim(tmp_path, dap=False, rc=rc, setup={}, cwd=project) as editor:
            await attached_to(editor)


async def test_a_neovim_that_nobody_has_attached_is_listed_and_auto_attaches_it(
    tmp_path: Path, project: Path, rc: str
) -> None:
    async with neovim(tmp_path, dap=False, rc=rc, setup={}, cwd=project) as editor:
        # It knocks when the announcement is there.
        async with started(*STDIO, cwd=project) as wire:
            await wire.handshake()
            await attached_to(editor)
        async with core(project) as client:
            assert {pid: row["state"] for pid, row in (await targets(client)).items()} == {
                editor.pid: "free"
            }
            (row,) = (await connect(client, "auto"))["attached"]
            assert row["pid"] == editor.pid


def announcements() -> list[Path]:
    return list(Path(folder_names.runtime()).glob("neovim-*"))


async def test_a_neovim_that_ends_takes_its_announcement_away(tmp_path: Path, rc: str) -> None:
    async with neovim(tmp_path, dap=False, rc=rc, setup={}) as editor:
        # It knocks when the announcement is there.
        async with started(*STDIO) as wire:
            await wire.handshake()
            await attached_to(editor)
            address = await editor.lua("return vim.v.servername")
            assert sockets.announced_addresses() == {address: editor.pid}
        await editor.keys(":qa!<CR>")
        await editor.ended()
    assert announcements() == []


async def test_what_stands_in_the_announcement_of_a_killed_neovim_is_not_offered(
    tmp_path: Path, project: Path
) -> None:
    port = LISTENS_AT["a port"]
    async with started(*STDIO, cwd=project) as wire:
        await wire.handshake()
        async with neovim(tmp_path, dap=False, rc=port, setup={}, cwd=project) as editor:
            await attached_to(editor)
            await editor.kill()
        assert len(sockets.announced_addresses()) == 1
        assert await neovims(wire) == []


SECONDS_BETWEEN = (0, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 3)


@pytest.mark.real
@pytest.mark.parametrize("seconds", SECONDS_BETWEEN)
@pytest.mark.parametrize("first", ["Neovim", "assistant"])
@pytest.mark.parametrize("where", ["a path", "its own path"])
async def test_a_neovim_with_a_core_and_an_assistant_meet_whatever_lies_between_their_starts(
    tmp_path: Path, project: Path, where: str, first: str, seconds: float
) -> None:
    setup = {**CORE, "auto_start": True}
    met = asyncio.Event()

    async def assistant() -> None:
        await asyncio.sleep(seconds if first == "Neovim" else 0)
        async with started(*STDIO, cwd=project) as wire:
            await wire.handshake()
            while not await attached(wire):
                # The tools of a Neovim come with it.
                assert "list_changed" in (await wire.receive())["method"]
            met.set()

    async def person() -> None:
        await asyncio.sleep(seconds if first == "assistant" else 0)
        async with neovim(tmp_path, dap=False, rc=LISTENS_AT[where], setup=setup, cwd=project):
            await met.wait()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(assistant())
        tasks.create_task(person())


async def attached(wire: Wire) -> bool:
    """Whether a client's server is attached to a Neovim."""
    rows = await neovims(wire)
    return [row["state"] for row in rows] == ["attached"]


OPENS = "vim.ui.open = function(path) vim.rpcnotify(vim.g.test_channel, 'opened', path) end "

ASKS_AS_IT_IS_ATTACHED = """
  local core = require('dapeer.core.attach')
  local attach = core.attach
  core.attach = function(...)
    local facts = attach(...)
    vim.cmd('Dapeer live')
    return facts
  end
"""


@pytest.mark.parametrize("asks", ["while the core comes", "later"])
async def test_the_page_of_an_assistants_own_server_is_for_the_person_alone(
    tmp_path: Path, project: Path, asks: str
) -> None:
    async with (
        neovim(tmp_path, dap=False, setup={}, cwd=project) as editor,
        httpx2.AsyncClient(trust_env=False) as web,
    ):
        await editor.lua(OPENS + (ASKS_AS_IT_IS_ATTACHED if asks != "later" else ""))
        async with started(*STDIO, cwd=project) as wire:
            await wire.handshake()
            if asks == "later":
                await attached_to(editor)
                await editor.lua("vim.cmd('Dapeer live')")
            here, token = address(looked_into((await editor.wait_for_notification("opened"))[0]))
            await is_for(token, here, web)


def address(file: tuple[int, str]) -> tuple[str, str]:
    """Return the server and the token in the file that a browser is given."""
    mode, text = file
    assert mode == 0o600
    found = re.search(r"url=(http://127\.0\.0\.1:\d+)/live#([0-9a-f]{64})", text)
    assert found
    return found[1], found[2]


async def is_for(token: str, here: str, web: httpx2.AsyncClient) -> None:
    """Check that a page shows itself to everybody, but its rows to the token alone, and that nobody debugs by it."""
    assert (await web.get(f"{here}/live")).status_code == 200
    assert (await web.get(f"{here}/live/rows")).status_code == 401
    shows = {"Authorization": f"Bearer {token}"}
    async with web.stream("GET", f"{here}/live/rows", headers=shows) as rows:
        assert json.loads(await anext(rows.aiter_lines())) == {"programs": []}
    assert (await web.post(f"{here}/mcp", headers=shows)).status_code == 404
