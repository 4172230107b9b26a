"""A core, a session or an answer that comes at an odd moment."""

import asyncio
import functools
import os
import socket
import sys
import tempfile
from pathlib import Path

import anyio
import pytest
from mcp import Client

from dapeer.mcp.serving import ServerOptions, running_server
from dapeer.neovim.feeds import Tap, Taps
from tests.harness import DATA, Json, ask, call, evaluate
from tests.neovim.editor import neovim, nvim_dap
from tests.neovim.joint import attached, only_session, together
from tests.neovim.person import Person
from tests.processes import LIMIT
from tests.programs import program

LOOP = program("loop.py")
FOREVER = "import time\ntime.sleep(1000)\n"

CONNECT = """
import asyncio, sys
from dapeer.base.errors import NeovimBusy
from dapeer.neovim.client import Neovim
try:
    asyncio.run(Neovim.connect(sys.argv[1]))
except NeovimBusy as error:
    print(error)
"""


async def test_a_neovim_that_waits_for_a_key_when_the_server_starts_is_attached_later(
    tmp_path: Path,
) -> None:
    async with neovim(tmp_path, dap=False, ui=True) as editor:
        await editor.blocked("f")
        async with (
            running_server(ServerOptions(nvim=editor.socket)) as (server, _),
            Client(server, extensions=DATA) as client,
        ):
            await editor.keys("<Esc>")
            state = ""
            async with asyncio.timeout(LIMIT):
                while state != "attached":
                    (row,) = [
                        row
                        for row in (await ask(client, "nvim_targets"))["neovims"]
                        if row["target"] == editor.socket
                    ] or [{"state": ""}]
                    state = row["state"]


@pytest.mark.parametrize("sent", [b"r 1 -7\n", b"r 1 -9\n{}", b"r 1 x\n", b"r 1\n"])
async def test_a_frame_whose_length_is_none_ends_the_wait_for_it(sent: bytes) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        reader, writer = await asyncio.open_connection(sock=ours)
        tap = Tap(reader, writer)
        theirs.sendall(sent)
        with pytest.raises(ValueError, match=r"of -\d bytes|invalid literal|unpack"):
            await asyncio.wait_for(tap.receive(), LIMIT)
        await tap.aclose()
        await writer.wait_closed()


async def test_what_never_answers_keeps_no_process_from_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(tmp_path)
        listener.bind("mute")
        listener.listen()
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", CONNECT, "./mute", stdout=asyncio.subprocess.PIPE
        )
        try:
            async with asyncio.timeout(LIMIT):
                said, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    assert b"does not answer" in said


@pytest.mark.parametrize("folder", ["/no/where", "/tmp/" + "long" * 30])
async def test_a_runtime_folder_that_is_of_no_use_is_not_used(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
    taps = Taps()
    await taps.open()
    folder_of_socket, name = os.path.split(taps.path)
    assert [each.name for each in os.scandir(folder_of_socket)] == [name]
    await taps.aclose()
    assert not os.access(folder_of_socket, os.F_OK)


async def test_a_socket_that_cannot_be_made_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    taps = Taps()
    with pytest.raises(OSError, match="too long"):
        await taps.open()
    await taps.aclose()
    assert [*folder.iterdir()] == []


async def test_much_output_does_not_make_a_running_program_look_stopped(tmp_path: Path) -> None:
    source = tmp_path / "talks.py"
    source.write_text(f"start = 1\nprint('y' * 3_000_000)\nprint('done')\n{FOREVER}")
    async with neovim(tmp_path, setup={}) as editor:
        person = Person(editor)
        await editor.lua(WHEN_PRINTED, "done")
        await person.breaks_at(source, 1)
        await person.run(str(source))
        await person.sees_stop(1)
        await person.does("continue")
        await editor.wait_for_notification("printed")
        async with attached(editor) as (c, _):
            assert (await only_session(c))["state"] == "running"


WHEN_PRINTED = """
local word = ...
require('dap').listeners.after.event_output.test = function(_, body)
  if body.output:find(word, 1, true) then
    vim.rpcnotify(vim.g.test_channel, 'printed')
  end
end
"""


async def test_a_breakpoint_becomes_a_sign_also_where_nvim_dap_was_not_loaded(
    tmp_path: Path,
) -> None:
    async with neovim(tmp_path, setup={}, dap=False) as editor:
        await editor.lua("vim.opt.runtimepath:prepend(...)", str(nvim_dap()))
        async with attached(editor) as (c, _):
            inner = LOOP.line("inner")
            await ask(c, "dap_set_breakpoint", filename=str(LOOP.source), line=inner)
            await ask(c, "dap_configurations")
            assert await Person(editor).breakpoints() == {("loop.py", inner, "DapBreakpoint")}


async def test_a_session_whose_adapter_is_still_coming_up_is_one_session(
    tmp_path: Path, setup: Json, feed: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    async with neovim(tmp_path, setup=setup) as editor:
        await editor.lua(RUN_AT, port, str(LOOP.source))
        async with attached(editor) as (c, _):
            await ask(c, "dap_set_breakpoint", filename=str(LOOP.source), line=LOOP.line("inner"))
            adapter = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "debugpy.adapter", "--port", str(port)
            )
            try:
                await editor.wait_for_notification("initialized")
                assert (await ask(c, "dap_wait_until_paused"))["line"] == LOOP.line("inner")
                assert (await only_session(c))["feed"] == feed
            finally:
                adapter.terminate()
                await adapter.wait()


RUN_AT = """
local port, program = ...
local dap = require('dap')
dap.adapters.remote = { type = 'server', host = '127.0.0.1', port = port, options = { max_retries = 60 } }
dap.run({ type = 'remote', request = 'launch', name = 'x', program = program, console = 'internalConsole' })
"""


async def test_nvim_dap_comes_to_no_stop_that_is_over(tmp_path: Path) -> None:
    """Adapters need not send `continued` in response to a request that implies it."""
    source = tmp_path / "stops.py"
    source.write_text(f"go = False\nwhile not go:\n    pass\nend = 1\n{FOREVER}")
    async with together(tmp_path, {}, ui=True) as (c, person):
        await person.editor.lua("require('dap.session').event_continued = function() end")
        await person.breaks_at(source, 2)
        await person.run(str(source))
        await person.sees_stop(2)
        await person.toggles(source, 2)
        await person.breaks_at(source, 4)
        await ask(c, "dap_continue", wait_until_paused=False)
        await ask(c, "dap_pause")
        await evaluate(c, "exec('go = True')", context="repl")
        await person.editor.blocked("f")
        assert (await ask(c, "dap_continue"))["line"] == 4
        await ask(c, "dap_continue", wait_until_paused=False)
        await person.editor.keys("<Esc>")
        assert (await person.editor.mode())["blocking"] is False
        # Asked and answered on the same wire: nvim-dap has seen all that came before.
        await person.editor.lua(ASK_THREADS)
        await person.editor.wait_for_notification("threads")
        session = await person.session()
        assert (session["stopped"], session["signs"]) == (False, [])


ASK_THREADS = """
require('dap').session():request('threads', nil, function()
  vim.rpcnotify(vim.g.test_channel, 'threads')
end)
"""


async def test_an_action_whose_outcome_nobody_awaits_is_told(tmp_path: Path) -> None:
    source = tmp_path / "waits.py"
    source.write_text(f"start = 1\n{FOREVER}")
    async with neovim(tmp_path, dap=False) as editor, attached(editor) as (c, _):
        point = {"filename": str(source), "line": 1}
        await editor.lua(WHEN_TOLD)
        await ask(c, "dap_run", program=str(source), breakpoints=[point])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(functools.partial(call, c, "dap_continue"))
            async with asyncio.timeout(LIMIT):
                while (await only_session(c))["state"] != "running":
                    pass
            tasks.cancel_scope.cancel()
        assert await editor.wait_for_notification("told") == ["dap_run", True]
        assert await editor.wait_for_notification("told") == ["dap_continue", False]


WHEN_TOLD = """
vim.api.nvim_create_autocmd('User', {
  pattern = 'DapeerAction',
  callback = function(event)
    vim.rpcnotify(vim.g.test_channel, 'told', event.data.tool, event.data.ok)
  end,
})
"""
