"""What happens to Neovim, to its adapters and to nvim-dap, and what the assistant is told of it."""

import asyncio
import os
import re
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import Json, ask, call, evaluate, printed, read, refusal, text
from tests.neovim.editor import Editor, copy_of_nvim_dap
from tests.neovim.joint import hears_of_the_end, only_session, together
from tests.neovim.person import Person
from tests.processes import command_line, descendants, process_gone
from tests.programs import program

LOOP = program("loop.py")
INNER, AFTER = LOOP.line("inner"), LOOP.line("inner_return")


async def stops(person: Person) -> None:
    """Let the person start a program that stops."""
    await person.breaks_at(LOOP.source, INNER)
    await person.run(LOOP)
    await person.sees_stop(INNER)


async def quits(editor: Editor) -> None:
    editor.wire.send("nvim_command", "qa!")
    await editor.ended()


async def own_session_works(c: Client, **where: str) -> None:
    """Assert that everything goes on that does not need Neovim."""
    stop = await ask(c, "dap_run", program=str(LOOP), breakpoints=[LOOP.at("middle")], **where)
    assert stop["line"] == LOOP.line("middle")
    assert await evaluate(c, "value + 1") == "1"
    assert (await ask(c, "dap_terminate"))["state"] == "ended"


@pytest.mark.parametrize(
    ("end", "cause"),
    # When it quits, nvim-dap still ends the session properly.
    [(Editor.kill, "its Neovim has ended$"), (quits, "")],
    ids=["SIGKILL", "qa!"],
)
async def test_neovim_ends_in_the_middle_of_a_wait(
    tmp_path: Path, setup: Json, end: Callable[[Editor], Awaitable[None]], cause: str
) -> None:
    endless = program("endless_loop.py")
    async with together(tmp_path, setup) as (c, person):
        await person.run(endless)
        await printed(c, "started")
        debuggee = await pid_of_running(c)
        waits = asyncio.create_task(ask(c, "dap_wait_until_paused"))
        # It waits before Neovim ends.
        await ask(c, "dap_status")
        await end(person.editor)
        assert (await waits)["state"] == "ended"
        await process_gone(debuggee)
        row = await only_session(c)
        assert row["state"] == "ended"
        assert re.search(cause, row.get("cause", ""))
        assert "started" in await read(c, "dap_program_output")
        assert "ended" in await refusal(c, "dap_step_over")
        why = await refusal(c, "dap_run", program=str(LOOP), type="python", where="nvim")
        # Whether its end or its absence is known first.
        assert "No Neovim is attached" in why or "has ended" in why
        await own_session_works(c)


async def test_the_sessions_are_listed_also_when_neovim_ends_meanwhile(tmp_path: Path) -> None:
    async with together(tmp_path, {"tap": False}) as (c, person):
        await person.run(program("endless_loop.py"))
        await printed(c, "started")
        person.editor.process.send_signal(signal.SIGSTOP)
        listed = asyncio.create_task(only_session(c))
        # It asks Neovim what it is doing before it ends.
        await ask(c, "dap_history")
        await person.editor.kill()
        assert (await listed)["session_id"] == 1


async def pid_of_running(c: Client) -> int:
    """Return the process id of a running Python debuggee; it runs on."""
    await ask(c, "dap_pause")
    pid = int(await evaluate(c, "__import__('os').getpid()"))
    await ask(c, "dap_continue", wait_until_paused=False)
    return pid


async def test_an_adapter_is_killed(tmp_path: Path, setup: Json) -> None:
    async with together(tmp_path, setup) as (c, person):
        await stops(person)
        assert (await ask(c, "dap_wait_until_paused"))["line"] == INNER
        (adapter,) = [
            pid for pid in descendants(person.editor.pid) if "debugpy.adapter" in command_line(pid)
        ]
        os.kill(adapter, signal.SIGKILL)
        await person.sees_end()
        await hears_of_the_end(c)
        end = await ask(c, "dap_wait_until_paused")
        assert end["state"] == "ended"
        assert await person.sessions() == []
        assert (await ask(c, "dap_history"))["stops"][0]["stop"] == 1
        # The person starts anew, and the assistant is there again.
        await person.run(LOOP)
        await person.sees_stop(INNER)
        assert (await ask(c, "dap_step_over"))["line"] == AFTER


async def test_without_nvim_dap_neovim_is_attached_and_everything_else_works(
    tmp_path: Path,
) -> None:
    async with together(tmp_path, {}, dap=False) as (c, person):
        assert (await ask(c, "dap_status"))["sessions"] == []
        assert (await ask(c, "dap_configurations"))["configurations"] == []
        why = await refusal(c, "dap_run", program=str(LOOP), type="python", where="nvim")
        assert "nvim-dap" in why
        await own_session_works(c)
        assert await person.editor.lua("return vim.v.errmsg") == ""


async def test_an_nvim_dap_of_other_internals_is_followed_by_its_listeners(tmp_path: Path) -> None:
    other = copy_of_nvim_dap(tmp_path)
    source = other / "lua" / "dap" / "session.lua"
    text_of = source.read_text(encoding="utf-8")
    assert "rpc.create_read_loop(" in text_of
    head = "local create_read_loop = require('dap.rpc').create_read_loop\n"
    source.write_text(
        head + text_of.replace("rpc.create_read_loop(", "create_read_loop("), encoding="utf-8"
    )
    async with together(tmp_path, {}, dap=other) as (c, person):
        await stops(person)
        assert (await ask(c, "dap_wait_until_paused"))["line"] == INNER
        assert (await only_session(c))["feed"] == "listeners"
        assert (await ask(c, "dap_step_over"))["line"] == AFTER
        await person.sees_stop(AFTER)


async def test_a_fault_of_ours_breaks_nothing_of_nvim_daps(tmp_path: Path, setup: Json) -> None:
    async with together(tmp_path, setup) as (c, person):
        await person.editor.lua(BREAK_DAPEER)
        await stops(person)
        await person.does("step_over")
        await person.sees_stop(AFTER)
        assert await person.evaluates("value + 1") == "1"
        session = await person.session()
        assert session["signs"] == [[str(LOOP.source), AFTER, "DapStopped"]]
        await person.does("terminate")
        await person.sees_end()
        assert await person.sessions() == []
        # Nor does the core mind what it is told then.
        result = await call(c, "dap_status")
        assert not result.is_error, text(result)
        await own_session_works(c, where="direct")


BREAK_DAPEER = """
local function broken() error('broken on purpose') end
local rpc, sessions = require('dapeer.rpc'), require('dapeer.nvim_dap.sessions')
rpc.send, rpc.notify = broken, broken
sessions.facts, sessions.find, sessions.all = broken, broken, broken
require('dapeer.nvim_dap.launch').claim = broken
require('dapeer.nvim_dap.breakpoints').snapshot = broken
"""


async def test_messages_that_cannot_be_told_cost_only_themselves(
    tmp_path: Path, setup: Json
) -> None:
    """Arguments of somebody else's requests may hold anything that Lua can."""
    async with together(tmp_path, setup) as (c, person):
        await stops(person)
        await person.editor.lua("""
          local arguments = { threadId = 1 }
          local odd = setmetatable({ startFrame = 0, threadId = 1 }, { __index = arguments })
          require('dap').session():request('stackTrace', odd, function(err)
            vim.rpcnotify(vim.g.test_channel, 'answered', err and tostring(err) or 'fine')
          end)
        """)
        assert await person.editor.wait_for_notification("answered") == ["fine"]
        assert (await ask(c, "dap_step_over"))["line"] == AFTER
        await person.sees_stop(AFTER)


async def test_the_person_unloads_and_edits_what_is_debugged(tmp_path: Path, setup: Json) -> None:
    """Buffers come and go; the session and its breakpoints stay."""
    async with together(tmp_path, setup) as (c, person):
        await stops(person)
        await person.editor.lua("vim.cmd.enew() vim.cmd.bunload(...)", str(LOOP.source))
        assert (await ask(c, "dap_step_over"))["line"] == AFTER
        await person.sees_stop(AFTER)
        assert await evaluate(c, "doubled") == "0"
