"""dapeer's tools in the OpenCode of a Neovim: there by themselves, and gone when either ends."""

import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.harness import ask, read
from tests.neovim.editor import Editor
from tests.neovim.joint import attached
from tests.neovim.test_lifecycle import everybodys_arguments
from tests.opencode.plugin import (
    INTEGRATED,
    chatting,
    connected,
    disconnected,
    earlier,
    knows_the_version,
    loads,
    needs_opencode_nvim,
    opens,
)  # fmt: skip
from tests.opencode.provider import provider
from tests.opencode.server import OpenCode
from tests.opencode.story import story
from tests.processes import process_gone
from tests.programs import program

pytestmark = pytest.mark.real

BEFORE_ITS_EVENTS = "abbf5f7~1"
"""opencode.nvim of January 2026: no autocommands, and `state.subscribe`."""
THEIRS = {
    "dapeer": {"type": "remote", "url": "http://127.0.0.1:9/mcp", "oauth": False},
    "debugger": {"type": "local", "command": ["/missing/dapeer", "stdio"]},
}
OFF = {"integrations": {"opencode": False}}
RELOAD = """
for name in pairs(package.loaded) do
  if vim.startswith(name, 'dapeer') then
    package.loaded[name] = nil
  end
end
require('dapeer').setup(...)
"""
SEES = """
require('dap').listeners.after.event_stopped.test = function(_, body)
  vim.rpcnotify(vim.g.test_channel, 'stopped', body.reason)
end
"""
LAST_WORDS = """
local messages = require('opencode.state').messages
local said = {}
for _, part in ipairs(messages[#messages].parts) do
  table.insert(said, part.text)
end
return table.concat(said)
"""
STOPS = """
vim.api.nvim_create_autocmd('User', {
  pattern = 'DapeerStopped',
  callback = function() vim.rpcnotify(vim.g.test_channel, 'core stopped') end,
})
"""
DISMISS = "require('dapeer.core.supervisor').dismiss_guest('opencode')"
"""What the integration does 2 s later."""
READY = """
vim.api.nvim_exec_autocmds('User', {
  pattern = 'OpencodeEvent:custom.server_ready',
  data = { event = { type = 'custom.server_ready', properties = { url = ... } } },
})
"""


def registered(server: OpenCode, directory: Path) -> dict[str, str]:
    """Return the state of each MCP server that OpenCode knows of, in a directory."""
    told: dict[str, dict[str, str]] = server.ask("GET", "/mcp", directory=directory)
    return {name: each["status"] for name, each in told.items()}


async def health(editor: Editor) -> str:
    """Return what `:checkhealth` tells of OpenCode."""
    await editor.lua("vim.cmd('checkhealth dapeer')")
    lines = await editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
    await editor.lua("vim.cmd.bwipeout()")
    report = "\n".join(lines)
    return report.partition("dapeer: OpenCode")[2].partition("dapeer: options")[0]


async def own_server(editor: Editor) -> Any:  # noqa: ANN401 - a process id
    return await editor.lua("return require('opencode.state').opencode_server.job.pid")


@needs_opencode_nvim
async def test_a_session_that_a_person_opens_debugs_with_the_tools(tmp_path: Path) -> None:
    shop = program("shop.py")
    with provider() as model:
        model.plays("Why is the amount wrong?", *story(shop, str(shop)))
        async with chatting(
            tmp_path, model, rc=SEES + loads(), project=tmp_path / "shop", dap=True
        ) as editor:
            assert "has no server (yet): open OpenCode" in await health(editor)
            await knows_the_version(editor)
            entry = await opens(editor)
            assert (entry["name"], entry["directory"]) == ("dapeer", str(tmp_path / "shop"))
            await editor.wait_for_notification("follows")
            await editor.lua("vim.cmd('Opencode run Why is the amount wrong?')")
            # In the person's nvim-dap: they see it.
            assert await editor.wait_for_notification("stopped") == ["breakpoint"]
            await editor.wait_for_notification("idle")
            assert (await editor.lua(LAST_WORDS)) == (
                f"9.0 is taken off of a sum that line {shop.line('item_cost')} reduced."
            )

            os.kill(await own_server(editor), signal.SIGKILL)
            assert (await disconnected(editor))["url"] == entry["url"]
            assert "no server (yet)" in await health(editor)
            await editor.lua("require('opencode.server_job').ensure_server()")
            assert (await connected(editor))["name"] == "dapeer"
            assert (
                f"OK {entry['url']} in {tmp_path / 'shop'} has the tools, as `dapeer`"
                in await health(editor)
            )


@needs_opencode_nvim
async def test_a_core_that_only_opencode_needs_ends_with_it(tmp_path: Path) -> None:
    with provider() as model:
        async with chatting(
            tmp_path, model, rc=loads() + STOPS, project=tmp_path / "project"
        ) as editor:
            await knows_the_version(editor)
            await opens(editor)
            core = await core_of(editor)
            os.kill(await own_server(editor), signal.SIGKILL)
            await editor.wait_for_notification("core stopped")
            await process_gone(core)
            await editor.lua("require('opencode.server_job').ensure_server()")
            await connected(editor)
            core = await core_of(editor)
            # From now on it is the person's, too.
            await editor.lua("require('dapeer').start()")
            os.kill(await own_server(editor), signal.SIGKILL)
            await disconnected(editor)
            await editor.lua(DISMISS)
            assert await core_of(editor) == core


@asynccontextmanager
async def working_here(shared: OpenCode, tmp_path: Path) -> AsyncGenerator[Editor]:
    """Give a Neovim in `here`, whose tools OpenCode has, and follows its events."""
    here, there = tmp_path / "here", tmp_path / "there"
    there.mkdir()
    # The plugin is loaded, and has its server, before dapeer is.
    async with chatting(
        tmp_path, shared.provider, rc=loads(shared), project=here, setup=None
    ) as editor:
        await knows_the_version(editor)
        await editor.lua("require('opencode.server_job').ensure_server()")
        [event, *_] = await editor.wait_for_notification("warned")
        assert "Connected to remote server" in event
        await editor.lua("require('dapeer').setup(...)", INTEGRATED)
        assert (await connected(editor))["directory"] == str(here)
        assert registered(shared, here) == {"dapeer": "connected"}
        assert registered(shared, there) == {}
        await editor.wait_for_notification("follows")
        yield editor
        # A server that runs on keeps what opencode.nvim follows its events with, beyond Neovim's end.
        await editor.lua("require('opencode.state').event_manager:stop()")


async def is_configured(editor: Editor, shared: OpenCode, here: Path) -> None:
    """Give the folder a configuration of its own: another server of dapeer's name, among others."""
    (here / "opencode.json").write_text(json.dumps({"mcp": THEIRS}))
    shared.ask("POST", "/instance/dispose", directory=here)
    assert (await connected(editor))["directory"] == str(here)


async def goes_there(editor: Editor, there: Path) -> None:
    """Go to another folder, which gets the tools, too."""
    await editor.lua("vim.cmd.cd(...)", str(there))
    assert (await connected(editor))["directory"] == str(there)


@needs_opencode_nvim
async def test_the_tools_stay_where_the_person_works(shared: OpenCode, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    async with working_here(shared, tmp_path) as editor:
        token = await editor.lua("return require('dapeer').get_token()")
        assert token not in everybodys_arguments()
        await is_configured(editor, shared, here)
        assert registered(shared, here) == {"dapeer": "connected", "debugger": "failed"}
        assert "has the tools twice: also as `debugger`" in await health(editor)
        await editor.lua(READY, shared.url)
        await editor.lua(READY, shared.url + "/")
        await goes_there(editor, there)
        assert registered(shared, here)["dapeer"] == "connected"
        assert registered(shared, there) == {"dapeer": "connected"}


@needs_opencode_nvim
async def test_the_tools_leave_with_the_core_and_come_back_with_it(
    shared: OpenCode, tmp_path: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    async with working_here(shared, tmp_path) as editor:
        await is_configured(editor, shared, here)
        await goes_there(editor, there)
        core = (await editor.lua("return require('dapeer').status()"))["pid"]
        os.kill(core, signal.SIGKILL)
        both = {str(here), str(there)}
        assert {(await disconnected(editor))["directory"] for _ in both} == both
        assert {(await connected(editor))["directory"] for _ in both} == both
        await editor.lua("require('dapeer').stop()")
        assert {(await disconnected(editor))["directory"] for _ in both} == both
        # What they have configured themselves is there again.
        assert registered(shared, here)["dapeer"] == "failed"
        assert registered(shared, there) == {"dapeer": "disabled"}
        assert "has no tools, since no core runs (:Dapeer start)" in await health(editor)

        await editor.lua("require('dapeer').start()")
        assert {(await connected(editor))["directory"] for _ in both} == both


@needs_opencode_nvim
async def test_the_tools_leave_when_the_person_turns_them_off(
    shared: OpenCode, tmp_path: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    async with working_here(shared, tmp_path) as editor:
        await goes_there(editor, there)
        # Every core that is attached learns of the server; what it is told comes before what it asks.
        async with attached(editor, here) as (c, _):
            assert await ask(c, "opencode_sessions") == {"sessions": []}
            core = (await editor.lua("return require('dapeer').status()"))["pid"]
            await editor.lua(RELOAD, INTEGRATED)
            assert (await editor.lua("return require('dapeer').status()"))["pid"] == core
            await editor.lua("require('dapeer').setup(...)", OFF)
            await read(c, "nvim_buffers_list")
            assert "opencode_sessions" not in {tool.name for tool in (await c.list_tools()).tools}
        both = {str(here), str(there)}
        assert {(await disconnected(editor))["directory"] for _ in both} == both
        assert "OpenCode in opencode.nvim (off;" in await health(editor)


@asynccontextmanager
async def another(shared: OpenCode, home: Path, name: str) -> AsyncGenerator[Editor]:
    """Give one of several Neovims of a person, in one project."""
    folder = home / name
    folder.mkdir()
    async with chatting(
        folder,
        shared.provider,
        rc="",
        project=home / "project",
        home=home,
        OPENCODE_SERVER_PASSWORD=shared.password,
    ) as editor:
        await editor.lua(READY, shared.url)
        yield editor


async def core_of(editor: Editor) -> int:
    """Return the process of a Neovim's core."""
    return (await editor.lua("return require('dapeer').status()"))["pid"]


async def test_several_neovims_at_one_server_keep_their_own_tools(
    shared: OpenCode, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    async with another(shared, tmp_path, "first") as first:
        assert (await connected(first))["name"] == "dapeer"
        async with another(shared, tmp_path, "second") as second:
            assert (await connected(second))["name"] == "dapeer-2"
            await second.lua("require('dapeer').setup(...)", OFF)
            await disconnected(second)
            assert registered(shared, project) == {"dapeer": "connected", "dapeer-2": "disabled"}
            await second.lua("require('dapeer').setup(...)", INTEGRATED)
            await second.lua(READY, shared.url)
            assert (await connected(second))["name"] == "dapeer-2"
            # It takes its tools away when its Neovim is killed.
            core = await core_of(first)
            await first.kill()
            await process_gone(core)
            assert registered(shared, project) == {"dapeer": "disabled", "dapeer-2": "connected"}
            await second.lua(RELOAD, OFF)
            assert (await disconnected(second))["name"] == "dapeer-2"
            await second.lua("require('dapeer').setup(...)", INTEGRATED)
            await second.lua(READY, shared.url)
            assert (await connected(second))["name"] == "dapeer"
            core = await core_of(second)
    await process_gone(core)
    assert registered(shared, project) == {"dapeer": "disabled", "dapeer-2": "disabled"}


async def test_what_a_killed_core_has_left_the_next_one_takes_away(
    shared: OpenCode, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    async with another(shared, tmp_path, "first") as first:
        await connected(first)
        async with another(shared, tmp_path, "second") as second:
            await connected(second)
            core = await core_of(first)
            # So that it does not notice the end of its Neovim.
            os.kill(core, signal.SIGSTOP)
            await first.kill()
            os.kill(core, signal.SIGKILL)
            await process_gone(core)
            await second.lua("vim.cmd.cd('.')")
            assert (await disconnected(second))["name"] == "dapeer"
            assert registered(shared, project) == {"dapeer": "disabled", "dapeer-2": "connected"}


async def test_what_is_wrong_is_told_once_in_a_sentence(shared: OpenCode, tmp_path: Path) -> None:
    elsewhere = "http://example.invalid:4096"
    async with chatting(tmp_path, shared.provider, rc="", project=tmp_path / "project") as editor:
        for _ in range(2):
            await editor.lua(READY, shared.url)
        [warning, _] = await editor.wait_for_notification("warned")
        assert warning.startswith("dapeer: OpenCode requires a password: ")
        assert "requires a password: give `server.password` to opencode.nvim" in await health(
            editor
        )
        await editor.lua(READY, elsewhere)
        [warning, _] = await editor.wait_for_notification("warned")
        assert warning.startswith("dapeer: OpenCode is on another machine")
        await editor.lua("vim.env.OPENCODE_SERVER_PASSWORD = ...", shared.password)
        await editor.lua(READY, shared.url)
        assert (await connected(editor))["url"] == shared.url
        assert "wants a password" not in await health(editor)


async def test_a_core_that_cannot_be_started_is_told_once(tmp_path: Path) -> None:
    broken = {**INTEGRATED, "bridge": {"command": [str(tmp_path / "missing")]}}
    with provider() as model:
        async with chatting(tmp_path, model, rc="", project=tmp_path, setup=broken) as editor:
            for _ in range(2):
                await editor.lua(READY, "http://127.0.0.1:9")
            await editor.lua("vim.schedule(function() vim.notify('and nothing else') end)")
            [warning, _] = await editor.wait_for_notification("warned")
            assert warning.startswith("dapeer: The core cannot be started")
            assert (await editor.wait_for_notification("warned"))[0] == "and nothing else"


@needs_opencode_nvim
async def test_an_earlier_opencode_nvim_will_do(tmp_path: Path) -> None:
    plugin = earlier(BEFORE_ITS_EVENTS, tmp_path / "opencode.nvim")
    with provider() as model:
        async with chatting(
            tmp_path, model, rc=loads(plugin=plugin), project=tmp_path / "project"
        ) as editor:
            assert (await opens(editor))["name"] == "dapeer"
            pid = await own_server(editor)
        await process_gone(pid)
