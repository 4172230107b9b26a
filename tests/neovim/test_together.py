"""The person's plugin, its own core, and an assistant: the whole road, and what is asked on it."""

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.harness import DATA, ask, evaluate, read, refusal
from tests.neovim.consenting import ALLOW, ANSWERS, DENY
from tests.neovim.editor import Editor, neovim
from tests.neovim.joint import attached, together
from tests.neovim.person import Person
from tests.processes import LIMIT, process_gone
from tests.programs import program

PERSON = (
    ANSWERS
    + """
vim.api.nvim_create_autocmd('User', {
  pattern = 'DapeerAction',
  callback = function(event) vim.rpcnotify(vim.g.test_channel, 'action', event.data) end,
})
"""
)

CORE = """
local ready = function(port) vim.rpcnotify(vim.g.test_channel, 'ready', port) end
require('dapeer').setup({ bridge = { command = { %r, '-m', 'dapeer' } }, on_ready = ready })
""".replace("%r", repr(sys.executable))


@asynccontextmanager
async def assistant(editor: Editor) -> AsyncGenerator[Client]:
    """Connect to the core that a Neovim has started, as OpenCode does."""
    [port] = await editor.wait_for_notification("ready")
    token = await editor.lua("return require('dapeer').get_token()")
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=LIMIT) as web:
        streams = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=web)
        async with Client(streams, extensions=DATA) as client:
            yield client


async def test_a_core_that_was_killed_comes_back_and_knows_the_sessions_again(
    tmp_path: Path,
) -> None:
    loop = program("loop.py")
    async with neovim(tmp_path, rc=CORE) as editor:
        person = Person(editor)
        await editor.lua("require('dapeer').start()")
        async with assistant(editor) as c:
            await person.breaks_at(loop.source, loop.line("inner"))
            await person.run(loop)
            await person.sees_stop(loop.line("inner"))
            await ask(c, "dap_continue")
            before = await ask(c, "dap_snapshot")
            output = (await ask(c, "dap_program_output"))["text"]
        pid = await editor.lua("return require('dapeer').status().pid")
        os.kill(pid, signal.SIGKILL)
        await process_gone(pid)
        async with assistant(editor) as c:
            after = await ask(c, "dap_wait_until_paused")
            assert after["session_id"] == 1
            assert (after["stop"], after["locals"]) == (2, before["locals"])
            assert (await ask(c, "dap_program_output"))["text"] == output != ""
            assert await evaluate(c, "value + 1") == "2"
            await ask(c, "dap_terminate")
            await person.sees_end()


async def test_the_person_is_told_of_every_action_and_asked_where_they_want_to_be(
    tmp_path: Path,
) -> None:
    steps = program("steps.py")
    setup = {"approve": {"evaluate": True}}
    async with (
        neovim(tmp_path, rc=PERSON, setup=setup, ui=True) as editor,
        attached(editor) as (c, _),
    ):
        await ask(c, "dap_run", program=str(steps), breakpoints=[steps.at("add")], where="direct")
        (action,) = await editor.wait_for_notification("action")
        assert (action["tool"], action["kind"], action["ok"]) == ("dap_run", "run", True)
        assert str(steps) in action["arguments"]
        assert action["outcome"].startswith("Stopped (breakpoint) at fixtures/programs/steps.py:5")

        await editor.lua("vim.g.answer = ...", DENY)
        told = await refusal(c, "dap_evaluate", expression="a")
        await editor.wait_for_notification("asked")
        assert told.startswith("The person did not allow dap_evaluate")
        (action,) = await editor.wait_for_notification("action")
        assert (action["ok"], action["outcome"]) == (False, told)

        await editor.lua("vim.g.answer = ...", ALLOW)
        assert await evaluate(c, "a") == "21"
        (action,) = await editor.wait_for_notification("action")
        assert (action["ok"], action["outcome"]) == (True, "  21")

        # Who only looks asks for nothing and is told to nobody; nor is a mistake, which does nothing.
        await ask(c, "dap_snapshot")
        assert "Unknown argument" in await refusal(c, "dap_evaluate", expression="a", frame="1")
        await ask(c, "dap_terminate")
        (action,) = await editor.wait_for_notification("action")
        assert action["tool"] == "dap_terminate"
        log = await editor.lua("return require('dapeer.person.actions').lines()")
        assert len(log) == 4


async def test_an_assistant_is_told_what_the_person_has_done_since_its_last_answer(
    tmp_path: Path,
) -> None:
    loop = program("loop.py")
    async with together(tmp_path, {}) as (c, person):
        await person.breaks_at(loop.source, loop.line("inner"))
        await person.run(loop)
        await person.sees_stop(loop.line("inner"))
        await ask(c, "dap_wait_until_paused")
        assert "since your last answer" not in await read(c, "dap_snapshot")
        await person.breaks_at(loop.source, loop.line("inner_return"))
        await person.toggles(loop.source, loop.line("inner"))
        await person.does("step_over")
        await person.sees_stop(loop.line("inner") + 1)
        place = "fixtures/programs/loop.py"
        said = (
            f"(since your last answer the person set {place}:{loop.line('inner_return')}, "
            f"removed {place}:{loop.line('inner')}, stepped over in session 1)"
        )
        # Asked of Neovim, and so answered behind what it has told before.
        assert said in (await read(c, "dap_configurations")).splitlines()
        assert "since your last answer" not in await read(c, "dap_snapshot")
        await person.does("terminate")
        await person.sees_end()
        told = await read(c, "dap_wait_until_paused")
        assert "the person ended session 1" in told
