"""The assistant's connection outlives the cores and Neovims that it works with, and finds those that come later."""

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import PromptListChangedNotification, ToolListChangedNotification

from dapeer.neovim.probe import probe
from tests.harness import DATA, ask, evaluate, pid_of, read, refusal
from tests.mcp.wire import Wire, call, serving, started
from tests.neovim.editor import Editor, neovim
from tests.neovim.person import Person
from tests.neovim.test_targets import listen
from tests.neovim.test_together import CORE
from tests.processes import LIMIT, process_gone
from tests.programs import program

STDIO = ("dapeer", "stdio")
LOOP = program("loop.py")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


@asynccontextmanager
async def assistant(project: Path, *options: str) -> AsyncGenerator[tuple[Client, anyio.Event]]:
    """Start `dapeer stdio` as an MCP client does; the event tells that all lists have changed."""
    changed = anyio.Event()
    lists: list[type[object]] = []

    async def heard(message: object) -> None:
        lists.append(type(message))
        # Nothing else changes the prompts here.
        if isinstance(message, PromptListChangedNotification):
            assert ToolListChangedNotification in lists[-3:]
            changed.set()

    server = StdioServerParameters(
        command=sys.executable, args=["-m", *STDIO, *options], cwd=project, env=dict(os.environ)
    )
    async with Client(
        stdio_client(server), mode="legacy", message_handler=heard, extensions=DATA
    ) as client:
        yield client, changed


async def start_core(editor: Editor) -> None:
    await editor.lua("require('dapeer').start()")
    await editor.wait_for_notification("ready")


async def stopped_in(editor: Editor) -> None:
    """Have the person debug, and stop."""
    person = Person(editor)
    await person.breaks_at(LOOP.source, LOOP.line("inner"))
    await person.run(LOOP)
    await person.sees_stop(LOOP.line("inner"))


async def end(editor: Editor, way: str) -> None:
    """End a Neovim's core."""
    if way == "kill":
        os.kill(await editor.lua("return require('dapeer').status().pid"), signal.SIGKILL)
    else:
        await editor.lua(f"vim.cmd('Dapeer {way}')")


@pytest.mark.parametrize("way", ["restart", "stop", "kill"])
async def test_when_a_core_ends_its_client_goes_on_with_the_sessions_of_the_neovim(
    tmp_path: Path, project: Path, way: str
) -> None:
    async with neovim(tmp_path, rc=CORE, cwd=project) as editor:
        await start_core(editor)
        await listen(editor)
        async with assistant(project) as (c, changed):
            await stopped_in(editor)
            assert (await ask(c, "dap_wait_until_paused"))["state"] == "stopped"
            await end(editor, way)
            with anyio.fail_after(LIMIT):
                await changed.wait()
            told = await read(c, "dap_snapshot")
            assert "takes over: dap_status lists" in told
            assert "takes over" not in await read(c, "dap_snapshot")
            if way == "stop":
                # The person has ended what assistants may do.
                assert "lets them in again" in await refusal(c, "dap_evaluate", expression="1 + 1")
                return
            assert await evaluate(c, "1 + 1") == "2"
            await ask(c, "dap_terminate")


async def test_a_neovim_tells_whether_a_core_comes_so_that_nobody_waits_for_one_in_vain(
    tmp_path: Path,
) -> None:
    async def comes() -> bool:
        answer = await probe(editor.socket)
        assert answer is not None
        assert answer.facts is not None
        return answer.facts["core"]

    async with neovim(tmp_path, rc=CORE) as editor:
        assert not await comes()
        await start_core(editor)
        assert await comes()
        for way, core_comes in {"restart": True, "stop": False}.items():
            await end(editor, way)
            assert await comes() == core_comes


async def test_a_core_that_is_stopped_ends_its_own_programs_and_leaves_those_in_neovim(
    tmp_path: Path, project: Path
) -> None:
    async with neovim(tmp_path, rc=CORE, cwd=project) as editor:
        await start_core(editor)
        await listen(editor)
        async with assistant(project) as (c, changed):
            runs = {"program": str(LOOP), "stop_on_entry": True}
            await ask(c, "dap_run", **runs, where="direct")
            own = await pid_of(c)
            await ask(c, "dap_run", **runs, where="nvim")
            await editor.lua("vim.cmd('Dapeer stop')")
            with anyio.fail_after(LIMIT):
                await changed.wait()
            await process_gone(own)
            (session,) = (await ask(c, "dap_status"))["sessions"]
            assert ("feed" in session, session["state"]) == (True, "stopped")
            assert (await Person(editor).session())["stopped"]


async def quit_neovim(editor: Editor) -> None:
    editor.wire.send("nvim_command", "qa!")
    await editor.ended()


async def test_when_a_neovim_ends_its_client_goes_on_alone_and_meets_the_next_one(
    tmp_path: Path, project: Path
) -> None:
    async with assistant_of(tmp_path / "first", project) as (c, changed, editor):
        await quit_neovim(editor)
        with anyio.fail_after(LIMIT):
            await changed.wait()
        assert "No debug sessions" in await read(c, "dap_status")
        async with neovim(folder(tmp_path / "second"), rc=CORE, cwd=project) as second:
            await attached_to(second)
            await stopped_in(second)
            assert (await ask(c, "dap_wait_until_paused"))["state"] == "stopped"


def folder(path: Path) -> Path:
    path.mkdir()
    return path


@asynccontextmanager
async def assistant_of(
    where: Path, project: Path
) -> AsyncGenerator[tuple[Client, anyio.Event, Editor]]:
    """Start a Neovim with a core, and an assistant that joins it."""
    async with neovim(folder(where), rc=CORE, cwd=project) as editor:
        await start_core(editor)
        async with assistant(project) as (c, changed):
            yield c, changed, editor


async def attached_to(editor: Editor) -> None:
    """Wait until a core is attached to a Neovim that has told nobody to."""
    await editor.lua("""
      local tell = function() vim.rpcnotify(vim.g.test_channel, 'attached') end
      local core = require('dapeer.core.attach')
      local attach = core.attach
      core.attach = function(...)
        vim.schedule(tell)
        return attach(...)
      end
      if #require('dapeer.rpc').attached() > 0 then tell() end
    """)
    await editor.wait_for_notification("attached")


@pytest.mark.parametrize("server", ["stdio", "serve"])
async def test_a_neovim_that_is_opened_later_is_noticed_and_told_of_once(
    tmp_path: Path, project: Path, server: str
) -> None:
    async with later(server, project) as wire:
        assert "No debug sessions" in await status(wire)
        async with neovim(tmp_path, setup={}, cwd=project) as editor:
            await attached_to(editor)
            await stopped_in(editor)
            told = await status(wire)
            assert "loop.py" in told
            assert f"New: Neovim 1 (pid {editor.pid}, in {project}) is now attached" in told
            assert "New:" not in await status(wire)


@asynccontextmanager
async def later(server: str, project: Path) -> AsyncGenerator[Wire]:
    """Start a server, and give a client of it."""
    if server == "stdio":
        async with started(*STDIO, cwd=project) as wire:
            await wire.handshake()
            yield wire
    else:
        async with (
            serving("--no-auth", "--nvim", "auto", cwd=project),
            started(*STDIO, cwd=project) as wire,
        ):
            await wire.handshake()
            yield wire


async def status(wire: Wire) -> str:
    answer = await wire.ask(call(6, "dap_status"))
    return "\n".join(item["text"] for item in answer["result"]["content"])


async def test_a_neovim_without_the_plugin_set_up_is_found_by_the_next_look(
    tmp_path: Path, project: Path
) -> None:
    async with later("stdio", project) as wire:
        assert "No debug sessions" in await status(wire)
        async with neovim(tmp_path, cwd=project) as editor:
            await listen(editor)
            assert f"New: Neovim 1 (pid {editor.pid}" in await status(wire)


async def test_only_the_neovim_that_is_wanted_is_let_in(tmp_path: Path, project: Path) -> None:
    homes = [folder(tmp_path / name) for name in ("one", "two", "three")]
    async with (
        neovim(homes[0], setup={}, cwd=project) as named,
        started(*STDIO, "--nvim", named.socket, cwd=project) as wire,
        started(*STDIO, "--nvim", "none", cwd=project) as alone,
        started(*STDIO, cwd=project) as of_all,
    ):
        for each in (wire, alone, of_all):
            await each.handshake()
        async with (
            neovim(homes[1], setup={}, cwd=project) as other,
            neovim(homes[2], setup={}, cwd=tmp_path) as elsewhere,
        ):
            await attached_to(other)
            assert await attachments(wire) == [named.pid]
            assert await attachments(alone) == []
            assert elsewhere.pid not in await attachments(of_all)


async def attachments(wire: Wire) -> list[int]:
    answer = await wire.ask(call(7, "nvim_targets"))
    rows = answer["result"]["structuredContent"]["neovims"]
    return [row["pid"] for row in rows if row["state"] == "attached"]
