"""Which Neovim a core is attached to: by tools, by option, by the terminal that it runs in."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from dapeer.mcp.rendezvous.announcement import announcement_file, neovim_announcement_file
from tests.harness import Json, ask, connect, read, refusal
from tests.harness import client as core
from tests.mcp.wire import Wire, call, opening, request, serving, started
from tests.neovim.editor import Editor, neovim
from tests.programs import program

STDIO = ("dapeer", "stdio")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the root of a project, with a folder `src` in it."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / ".git").mkdir()
    return folder


async def listen(editor: Editor, *where: str) -> str:
    """Have a Neovim listen at one more address, by default where it would by itself."""
    return await editor.lua("return vim.fn.serverstart(...)", *where)


async def targets(client: Client) -> dict[int, Json]:
    """Return what nvim_targets tells, by process."""
    return {row["pid"]: row for row in (await ask(client, "nvim_targets"))["neovims"]}


async def neovims(wire: Wire) -> list[Json]:
    """Return what nvim_targets tells a client of a server process."""
    answer = await wire.ask(call(7, "nvim_targets"))
    return answer["result"]["structuredContent"]["neovims"]


async def sessions(wire: Wire) -> list[Json]:
    """Return what dap_status tells a client of a server process."""
    answer = await wire.ask(call(6, "dap_status"))
    return answer["result"]["structuredContent"]["sessions"]


async def run(wire: Wire) -> None:
    """Start a program that stops at once."""
    p = program("loop.py")
    answer = await wire.ask(
        call(8, "dap_run", program=str(p), breakpoints=[p.at("inner")], where="direct")
    )
    assert answer["result"]["structuredContent"]["state"] == "stopped", answer


# -- the tools


async def test_nobody_is_found_and_it_is_told_how_to_start_one(project: Path) -> None:
    async with core(project) as client:
        assert await ask(client, "nvim_targets") == {"neovims": []}
        assert "Start `nvim`" in await read(client, "nvim_targets")
        for target in ("auto", "/no/where", "127.0.0.1:1", "x"):
            assert "Neovim" in await refusal(client, "nvim_connect", target=target)
        assert "Attached: none." in await refusal(client, "nvim_disconnect")
        assert "Attached: none." in await refusal(client, "nvim_disconnect", target="1")


async def test_a_neovim_is_attached_detached_and_told_of(tmp_path: Path, project: Path) -> None:
    async with (
        neovim(tmp_path, dap=False, cwd=project) as editor,
        neovim(tmp_path, dap=False, cwd=tmp_path) as other,
        core(project / "src") as client,
    ):
        own, foreign = await listen(editor), await listen(other)
        told = await targets(client)
        assert [told[pid]["state"] for pid in (editor.pid, other.pid)] == ["free", "free"]
        assert [told[pid]["same_project"] for pid in (editor.pid, other.pid)] == [True, False]
        attached = (await connect(client))["attached"]
        assert attached == [{"neovim_id": 1, "target": own, "pid": editor.pid, "cwd": str(project)}]
        for target in ("auto", own, editor.socket, editor.pid, str(editor.pid)):
            assert (await connect(client, target))["attached"] == attached
        assert (await targets(client))[editor.pid]["state"] == "attached"
        assert f"{own} attached as 1: pid {editor.pid}, in {project}, this project" in await read(
            client, "nvim_targets"
        )
        await connect(client, foreign)
        assert "is not attached. Attached: 1 at" in await refusal(
            client, "nvim_disconnect", target="7"
        )
        assert "No `target` is given. Attached: 1 at" in await refusal(client, "nvim_disconnect")
        assert (await ask(client, "nvim_disconnect", target=1))["detached"]["pid"] == editor.pid
        assert (await ask(client, "nvim_disconnect"))["detached"]["pid"] == other.pid
        assert {row["state"] for row in (await targets(client)).values()} == {"free"}


async def test_a_neovim_at_a_port_is_attached_and_listed(tmp_path: Path, project: Path) -> None:
    async with neovim(tmp_path, dap=False, cwd=project) as editor, core(project) as client:
        port = await listen(editor, "127.0.0.1:0")
        await connect(client, port)
        (row,) = (await ask(client, "nvim_targets"))["neovims"]
        assert (row["target"], row["state"], row["same_project"]) == (port, "attached", True)
        assert await editor.lua("return package.loaded['dapeer.rpc'] ~= nil")


async def test_an_attached_neovim_that_waits_for_a_key_is_told_of_once(
    tmp_path: Path, project: Path
) -> None:
    async with neovim(tmp_path, dap=False, cwd=project, ui=True) as editor, core(project) as client:
        hidden = await listen(editor, str(project / "s"))
        await connect(client, hidden)
        await editor.blocked("f")
        (row,) = (await ask(client, "nvim_targets"))["neovims"]
        assert (row["target"], row["state"], row["waits_in_mode"]) == (hidden, "attached", "n")
        assert (row["pid"], row["cwd"]) == (editor.pid, str(project))
        assert row["same_project"] is True
        assert "waits for a key in mode n" in await read(client, "nvim_targets")


async def test_a_neovim_that_dies_is_detached(tmp_path: Path, project: Path) -> None:
    async with neovim(tmp_path, dap=False, cwd=project) as editor, core(project) as client:
        await connect(client, await listen(editor))
        await editor.kill()
        assert await ask(client, "nvim_targets") == {"neovims": []}


# -- the option and the terminal


async def test_a_server_is_attached_to_the_port_that_it_is_told(
    tmp_path: Path, project: Path
) -> None:
    async with neovim(tmp_path, dap=False, cwd=tmp_path) as editor:
        port = await listen(editor, "127.0.0.1:0")
        async with started(*STDIO, "--nvim", port, cwd=project) as wire:
            await wire.handshake()
            (row,) = await neovims(wire)
            assert (row["pid"], row["target"]) == (editor.pid, port)
            assert await wire.end() == 0


async def test_auto_attaches_the_neovims_of_the_project_and_none_nobody(
    tmp_path: Path, project: Path
) -> None:
    async with (
        neovim(tmp_path, dap=False, cwd=project) as one,
        neovim(tmp_path, dap=False, cwd=project / "src") as two,
        neovim(tmp_path, dap=False, cwd=tmp_path) as other,
    ):
        for editor in (one, two, other):
            await listen(editor)
            await told_of_attaching(editor)
        async with started(*STDIO, cwd=project) as wire:
            await wire.handshake()
            for editor in (one, two):
                await editor.wait_for_notification("attached")
            await wire.ask(call(9, "nvim_connect"))
            states = {row["pid"]: row["state"] for row in await neovims(wire)}
            assert states == {one.pid: "attached", two.pid: "attached", other.pid: "free"}
        async with started(*STDIO, "--nvim", "none", cwd=project) as wire:
            await wire.handshake()
            assert {row["state"] for row in await neovims(wire)} == {"free"}


@pytest.mark.parametrize("folder", [".", "project/worktree"])
async def test_a_neovim_whose_folder_was_deleted_belongs_to_no_project(
    tmp_path: Path, project: Path, folder: str
) -> None:
    gone = tmp_path / folder / "gone"
    gone.mkdir(parents=True)
    async with (
        neovim(tmp_path, cwd=gone) as first,
        neovim(tmp_path, cwd=project) as own,
        core(project) as client,
    ):
        lost = await listen(first)
        gone.rmdir()
        row = (await targets(client))[first.pid]
        assert not row["same_project"]
        assert "in no project" in await read(client, "nvim_targets")
        await listen(own)
        attached = (await connect(client))["attached"]
        assert [each["pid"] for each in attached] == [own.pid]
        # Nor does a program start there, though the assistant has asked for that Neovim.
        await ask(client, "nvim_disconnect")
        await connect(client, lost)
        assert "in a folder that was deleted" in await read(client, "nvim_connect", target=lost)
        await connect(client)
        p = program("loop.py")
        await ask(client, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        sessions_here = "return #require('dap').sessions()"
        assert await own.lua(sessions_here) == 1
        assert await first.lua(sessions_here) == 0
        await ask(client, "dap_terminate")


async def told_of_attaching(editor: Editor) -> None:
    """Have a Neovim tell when a core attaches to it."""
    await editor.lua("""
      local core = require('dapeer.core.attach')
      local attach = core.attach
      core.attach = function(...)
        vim.rpcnotify(vim.g.test_channel, 'attached')
        return attach(...)
      end
    """)


async def test_in_a_terminal_of_a_neovim_its_neovim_is_attached(
    tmp_path: Path, project: Path
) -> None:
    async with neovim(tmp_path, dap=False, cwd=tmp_path) as editor:
        terminal = await Terminal.open(editor, project)
        result = await terminal.ask(request("initialize", 0, **opening("2025-06-18")))
        assert result["serverInfo"]["name"] == "dapeer"
        told = await terminal.ask(call(1, "nvim_targets"))
        (row,) = told["structuredContent"]["neovims"]
        assert (row["pid"], row["state"]) == (editor.pid, "attached")
        await terminal.close()


class Terminal:
    """`dapeer stdio` in a terminal of Neovim, as an assistant there starts it."""

    def __init__(self, editor: Editor, job: int) -> None:
        self._editor = editor
        self._job = job
        self._text = ""

    @classmethod
    async def open(cls, editor: Editor, cwd: Path) -> "Terminal":
        job = await editor.lua(
            """
            local command, cwd = ...
            local function tell(kind)
              return function(_, data) vim.rpcnotify(vim.g.test_channel, kind, data) end
            end
            return vim.fn.jobstart(command, {
              pty = true, width = 10000, cwd = cwd, on_stdout = tell('said'), on_exit = tell('exited'),
            })
            """,
            [sys.executable, "-m", *STDIO],
            str(cwd),
        )
        return cls(editor, job)

    async def ask(self, message: Json) -> Json:
        """Send a request, and return the result: a terminal also shows what was typed."""
        await self._editor.lua("vim.fn.chansend(...)", self._job, json.dumps(message) + "\n")
        while True:
            line = await self._line()
            if line.startswith("{"):
                answer: Json = json.loads(line)
                if answer.get("id") == message["id"] and "result" in answer:
                    return answer["result"]

    async def close(self) -> None:
        """Type the end of input, and wait for the end."""
        await self._editor.lua("vim.fn.chansend(...)", self._job, "\x04")
        assert await self._editor.wait_for_notification("exited") == [0]

    async def _line(self) -> str:
        while "\n" not in self._text:
            (pieces,) = await self._editor.wait_for_notification("said")
            self._text += "\n".join(pieces)
        line, _, self._text = self._text.partition("\n")
        return line.strip()


async def test_a_terminal_whose_neovim_has_ended_is_no_obstacle(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVIM", "/no/where")
    async with started(*STDIO, cwd=project) as wire:
        await wire.handshake()
        assert await neovims(wire) == []
        assert await wire.end() == 0


async def test_the_neovim_that_the_environment_names_is_attached(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with neovim(tmp_path, dap=False, cwd=tmp_path) as editor:
        monkeypatch.setenv("NVIM_LISTEN_ADDRESS", editor.socket)
        async with started(*STDIO, cwd=project) as wire:
            await wire.handshake()
            (row,) = await neovims(wire)
            assert (row["pid"], row["target"]) == (editor.pid, editor.socket)


# -- one core of a Neovim, several clients


async def test_clients_of_one_neovim_share_its_core_wherever_they_are(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        neovim(tmp_path, dap=False, cwd=project) as editor,
        serving("--no-auth", "--with-stdin", "--nvim", editor.socket, cwd=project) as (server, _),
        started(*STDIO, "--nvim", editor.socket, cwd=tmp_path) as one,
        started(*STDIO, cwd=project / "src") as two,
    ):
        monkeypatch.setenv("NVIM", editor.socket)
        async with started(*STDIO, cwd=tmp_path) as three:
            for client in (one, two, three):
                await client.handshake()
            await run(one)
            (session,) = await sessions(one)
            assert [await sessions(client) for client in (two, three)] == [[session], [session]]
        assert await editor.lua(CHANNELS) == 1
        assert await server.end() == 0
    assert not neovim_announcement_file(editor.socket).exists()


CHANNELS = """
  local count = 0
  for _, channel in ipairs(vim.api.nvim_list_chans()) do
    if channel.stream == 'socket' and channel.client and channel.mode == 'rpc' then count = count + 1 end
  end
  return count - 1
"""
"""How many sockets are connected to a Neovim beside the test's."""


async def test_a_core_of_another_neovim_is_not_taken_for_ours(
    tmp_path: Path, project: Path
) -> None:
    async with (
        neovim(tmp_path, dap=False, cwd=project) as one,
        neovim(tmp_path, dap=False, cwd=project) as two,
        serving("--no-auth", "--nvim", one.socket, cwd=project),
        started(*STDIO, "--nvim", two.socket, cwd=project) as client,
        started(*STDIO, "--nvim", "none", cwd=project) as alone,
    ):
        await client.handshake()
        (row,) = await neovims(client)
        assert (row["pid"], row["target"]) == (two.pid, two.socket)
        await alone.handshake()
        assert await neovims(alone) == []


async def test_two_cores_of_one_project_are_each_found_by_their_neovim(
    tmp_path: Path, project: Path
) -> None:
    async with (
        neovim(tmp_path, dap=False, cwd=project / "src") as one,
        neovim(tmp_path, dap=False, cwd=project) as two,
        serving("--no-auth", "--nvim", one.socket, cwd=project / "src") as (first, _),
        serving("--no-auth", "--nvim", two.socket, cwd=project / "src") as (second, _),
    ):
        for server, editor in ((first, one), (second, two)):
            assert pid_in(neovim_announcement_file(editor.socket)) == server.process.pid
        assert pid_in(announcement_file(project / "src")) == first.process.pid
        assert await first.signal(signal.SIGTERM) == 0
        # Nobody is left who has announced the project, but a Neovim works on it.
        async with started(*STDIO, cwd=project) as client:
            await client.handshake()
            assert [row["pid"] for row in await neovims(client)] == [two.pid]


def pid_in(path: Path) -> int:
    """Return the server that has left an announcement."""
    announcement: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return announcement["pid"]


async def test_a_bridge_to_the_core_of_a_neovim_needs_none_of_its_libraries(
    tmp_path: Path, project: Path
) -> None:
    async with (
        neovim(tmp_path, dap=False, cwd=project) as editor,
        serving("--no-auth", "--nvim", editor.socket, cwd=project),
    ):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-X", "importtime", "-m", *STDIO),
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            cwd=tmp_path,
            env=os.environ | {"NVIM": editor.socket},
        )
        _, errors = await process.communicate()
        assert process.returncode == 0
        loaded = {line.rpartition(b"|")[2].strip() for line in errors.splitlines()}
        assert b"dapeer.mcp.rendezvous.bridge" in loaded
        assert not loaded & {b"mcp", b"pydantic", b"anyio", b"asyncio", b"pynvim", b"msgpack"}


async def test_a_core_ends_when_whoever_holds_its_stdin_is_gone(project: Path) -> None:
    async with (
        serving("--no-auth", "--with-stdin", cwd=project) as (server, _),
        started(*STDIO, cwd=project) as client,
    ):
        await client.handshake()
        await run(client)
        await server.send(b"what comes on stdin means nothing")
        assert len(await sessions(client)) == 1
        assert await server.end() == 0
        # A server of its own may have begun to start.
        assert await client.end() == 0
