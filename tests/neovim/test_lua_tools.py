"""Tools that a person has written in Lua: an assistant lists them, calls them, and reads what they say."""

import asyncio
import os
import re
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp import types as t
from mcp.client.session import IncomingMessage

from dapeer.mcp.server.toolbox import Selection
from dapeer.peers import Action
from dapeer.peers.peers import Peers
from tests.harness import Json, ask, call, data, has_all, read, refusal, served, text
from tests.mcp.small import ERAS, LEGACY
from tests.mcp.wire import call as by_hand
from tests.mcp.wire import request, started
from tests.neovim.editor import neovim
from tests.neovim.joint import attached
from tests.neovim.test_outliving import attached_to
from tests.processes import LIMIT, process_gone
from tests.programs import ROOT

WORKSHOP = "WORKSHOP = require('workshop')"
"""The person's own configuration: tests/neovim/lua/workshop.lua."""


def workshop(tmp_path: Path, **options: Any) -> Any:  # noqa: ANN401 - what neovim gives
    return neovim(tmp_path, dap=False, setup={}, rc=WORKSHOP, **options)


class Ears:
    """A client's, for the news that the list of tools has changed."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[None] = asyncio.Queue()

    async def __call__(self, message: IncomingMessage) -> None:
        if isinstance(message, t.ToolListChangedNotification):
            self.heard.put_nowait(None)

    async def news(self) -> None:
        async with asyncio.timeout(LIMIT):
            await self.heard.get()


async def listed(c: Client) -> dict[str, t.Tool]:
    return {tool.name: tool for tool in (await c.list_tools()).tools}


async def of_the_person(c: Client) -> set[str]:
    """Return the names of the tools that are not the plugin's own."""
    rows = (await ask(c, "nvim_lua_tools"))["tools"]
    return {row["name"] for row in rows if row["description"].startswith("Try ")}


async def test_a_tool_is_listed_with_its_schema_and_what_is_true_of_it(tmp_path: Path) -> None:
    async with workshop(tmp_path) as editor, attached(editor) as (c, _):
        tools = await listed(c)
        add = tools["nvim_add"]
        assert add.description == "Try add."
        assert add.input_schema == {
            "type": "object",
            "properties": {
                "a": {"type": "integer"},
                "b": {"type": "integer", "default": 1, "description": "added"},
            },
            "required": ["a"],
            "additionalProperties": False,
        }
        assert add.annotations
        assert add.annotations.read_only_hint
        assert tools["nvim_echo"].input_schema["properties"]["anything"] == {}
        assert not tools["nvim_throw"].annotations.read_only_hint  # pyright: ignore[reportOptionalMemberAccess]
        assert list(tools) == sorted(tools)


async def test_arguments_are_checked_before_anything_happens(tmp_path: Path) -> None:
    async with workshop(tmp_path) as editor, attached(editor) as (c, _):
        assert (await ask(c, "nvim_add", a=2))["sum"] == 3
        assert (await ask(c, "nvim_add", a="2", b="5"))["sum"] == 7
        assert (await ask(c, "add", a=1))["client"].startswith("mcp ")
        # A tool may have an argument of this name for itself.
        assert await read(c, "nvim_dial", connection_id="the shop") == "dialled the shop"
        assert has_all(await refusal(c, "nvim_add"), "`a`", "required")
        assert has_all(await refusal(c, "nvim_add", a="two"), "`a`", "integer", '"two"')
        assert has_all(await refusal(c, "nvim_add", a=1, z=2), "`z`", "a, b")
        given: Json = {"mode": "fast", "deep": {"at": [1]}, "anything": {}, "more": [None, 1.5]}
        assert await ask(c, "nvim_echo", **given) == given
        assert has_all(await refusal(c, "nvim_echo", mode="last"), "`mode`", '"fast", "slow"')
        wrong = await refusal(c, "nvim_echo", deep={"at": [1, "x"]})
        assert has_all(wrong, "`deep.at.1`", "number", '"x"')
        assert has_all(
            await refusal(c, "nvim_echo", deep={"at": [-1]}), "`deep.at.0`", "-1", "minimum"
        )


async def test_results_come_as_they_were_given(tmp_path: Path) -> None:
    async with workshop(tmp_path) as editor, attached(editor) as (c, _):

        async def give(what: str) -> t.CallToolResult:
            return await call(c, "nvim_give", what=what)

        plain = {"text": "plain", "number": "3.5", "no": "false", "list": '[1,{"a":null}]'}
        for what, said in plain.items():
            assert text(await give(what)) == said
        assert data(await give("object")) == {"empty": {}, "list": []}
        assert data(await give("numbered")) == {"7": "seven", "2000000": "many"}
        assert text(await give("block")) == "a block"
        (image,) = (await give("image")).content
        assert isinstance(image, t.ImageContent)
        assert (image.data, image.mime_type) == ("aGVsbG8=", "image/png")
        assert [block.type for block in (await give("blocks")).content] == ["text", "image"]
        both = await give("both")
        assert (text(both), data(both)) == ("two rows", {"rows": 2})
        assert await refusal(c, "nvim_give", what="failed") == "not here"
        assert await read(c, "nvim_give", what="nothing") == (
            "The tool has finished; it gave no result (nil)."
        )
        # An ordinary client gets no data: where no text tells it, it comes as text.
        assert text(await give("seen")) == '{"rows":2}'
        assert len(text(await give("large"))) == 5 * 1024 * 1024


async def test_what_cannot_be_sent_is_named_by_its_place(tmp_path: Path) -> None:
    async with workshop(tmp_path) as editor, attached(editor) as (c, _):
        for what, place in {
            "mixed": "result.rows mixes list items with named fields",
            "recursive": "result.self[1] contains itself",
            "function": "result.rows[1].run is a function",
            "nan": "result[1] is nan",
            "bytes": "result.name[1] is not UTF-8",
        }.items():
            assert place in await refusal(c, "nvim_give", what=what)
        assert await read(c, "nvim_give", what="text") == "plain"


async def test_a_handler_that_misbehaves_is_told_of_and_breaks_nothing(tmp_path: Path) -> None:
    async with workshop(tmp_path) as editor, attached(editor) as (c, _):
        assert await refusal(c, "nvim_throw") == "The tool throw failed: {\n  code = 3\n}"
        assert await refusal(c, "nvim_refuse") == "The kettle is empty. Fill it."
        assert await read(c, "nvim_twice") == "first"
        warnings = await editor.lua("return vim.api.nvim_exec2('messages', {output = true}).output")
        assert has_all(warnings, "the tool twice", "twice; only the first")
        late = await refusal(c, "nvim_slow")
        assert late.startswith("The tool slow timed out after 0.05 s and was cancelled: ")
        await editor.wait_for_notification("cancelled")
        assert await editor.lua("return WORKSHOP.log") == ["timed out"]


async def test_a_cancelled_call_reaches_its_handler_and_a_late_answer_nobody(
    tmp_path: Path,
) -> None:
    async with workshop(tmp_path) as editor, attached(editor) as (c, _):
        told: asyncio.Queue[tuple[float, float | None, str | None]] = asyncio.Queue()

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            await told.put((progress, total, message))

        waiting = asyncio.create_task(c.call_tool("nvim_wait", {}, progress_callback=hear))
        await editor.wait_for_notification("waiting")
        assert await told.get() == (1, 2, "waiting")
        waiting.cancel()
        await editor.wait_for_notification("cancelled")
        assert await editor.lua("return WORKSHOP.log") == ["cancelled"]

        again = asyncio.create_task(call(c, "nvim_wait"))
        await editor.wait_for_notification("waiting")
        await editor.lua("WORKSHOP.finish('done')")
        assert text(await again) == "done"


@pytest.mark.parametrize("era", ERAS)
async def test_a_burst_of_changes_is_told_once(tmp_path: Path, era: str) -> None:
    ears = Ears()
    async with (
        workshop(tmp_path) as editor,
        attached(editor, mode=era, message_handler=ears) as (c, _),
        changes_heard(c, era),
    ):
        if era == LEGACY:
            await ears.news()  # of Neovim's arrival
        before = len(await listed(c))
        await editor.lua("""
          for number = 1, 200 do
            require('dapeer').register({ name = 'one_' .. number, description = 'Try it.', execute = print })
          end
        """)
        await ears.news()
        assert len(await listed(c)) == before + 200
        await editor.lua("""
          for number = 1, 200 do require('dapeer').unregister('one_' .. number) end
        """)
        await ears.news()
        assert len(await listed(c)) == before
        assert ears.heard.empty()


def changes_heard(c: Client, era: str) -> Any:  # noqa: ANN401 - a context manager of the SDK's
    if era == LEGACY:
        return asyncio.timeout(LIMIT)
    return c.listen(tools_list_changed=True)


async def test_the_list_needs_no_neovim_and_a_call_says_why_it_does(tmp_path: Path) -> None:
    ears = Ears()
    async with (
        workshop(tmp_path, ui=True) as editor,
        attached(editor, mode=LEGACY, message_handler=ears) as (c, _),
    ):
        await ears.news()
        await editor.blocked("f")
        assert "nvim_add" in await listed(c)
        refused = await refusal(c, "nvim_add", a=1)
        assert "it waits for a key (mode n). Nothing was done." in refused
        await editor.keys("<Esc>")
        assert (await ask(c, "nvim_add", a=1))["sum"] == 2
        assert (await editor.lua("return #WORKSHOP.log")) == 0

        waiting = asyncio.create_task(refusal(c, "nvim_wait"))
        await editor.wait_for_notification("waiting")
        await editor.kill()
        assert "ended before the tool answered" in await waiting
        await ears.news()
        assert "nvim_add" not in await listed(c)
        assert "No attached Neovim" in await refusal(c, "nvim_lua_call", name="add")


@pytest.mark.parametrize("end", ["the client leaves", "the core is killed"])
async def test_a_call_that_nobody_waits_for_any_more_is_cancelled(tmp_path: Path, end: str) -> None:
    command = ("dapeer", "stdio", "--no-bridge", "--nvim")
    async with workshop(tmp_path) as editor, started(*command, editor.socket) as wire:
        await wire.handshake()
        await attached_to(editor)
        await wire.send(by_hand(1, "nvim_wait"))
        await editor.wait_for_notification("waiting")
        if end == "the client leaves":
            await wire.end()
        else:
            await wire.signal(signal.SIGKILL)
        await editor.wait_for_notification("cancelled")
        assert await editor.lua("return WORKSHOP.log") == ["cancelled"]
        assert await editor.lua("return #require('dapeer.rpc').attached()") == 0


async def test_a_client_that_sees_no_changes_can_list_and_call_all_the_same(
    tmp_path: Path,
) -> None:
    async with workshop(tmp_path) as editor, attached(editor) as (c, _):
        rows = {row["name"]: row for row in (await ask(c, "nvim_lua_tools"))["tools"]}
        assert rows["nvim_add"]["arguments"] == ["a", "b?"]
        assert "nvim_add(a, b?): Try add." in await read(c, "nvim_lua_tools")
        schema = (await ask(c, "nvim_lua_tools", name="add"))["input_schema"]
        assert schema["required"] == ["a"]
        assert (await ask(c, "nvim_lua_call", name="nvim_add", arguments={"a": 4}))["sum"] == 5
        assert await refusal(c, "nvim_lua_call", name="add") == "Argument `a` is required."
        unknown = await refusal(c, "nvim_lua_call", name="sub")
        assert unknown == "`name`: there is no tool sub. nvim_lua_tools lists them."


async def test_only_wanted_groups_and_harmless_tools_are_served_where_that_is_asked(
    tmp_path: Path,
) -> None:
    async with workshop(tmp_path) as editor:
        async with attached(editor, selection=Selection(read_only=True)) as (c, _):
            tools = await listed(c)
            assert "nvim_add" in tools
            assert "nvim_throw" not in tools
        async with attached(editor, selection=Selection(groups=["custom", "dap"])) as (c, _):
            names = set(await listed(c))
            assert {"nvim_add", "nvim_throw", "dap_run"} <= names
            assert not names & {"nvim_targets", "nvim_lsp_hover"}
        async with attached(editor, selection=Selection(groups=["lsp"])) as (c, _):
            assert all(name.startswith("nvim_lsp_") for name in await listed(c))


ADD_TEXTS = """
require('dapeer').register({
  name = 'add', description = 'Try texts.', args = { text = { type = 'string', required = true } },
  execute = function(cb, args) cb(args.text .. '!') end,
})
"""


@asynccontextmanager
async def two_neovims(tmp_path: Path) -> AsyncGenerator[tuple[Client, Peers]]:
    """Give a server that has got to know two Neovims one after the other, whose tools `add` differ."""
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    async with (
        workshop(one, cwd=one) as first,
        workshop(two, cwd=two) as second,
        served(ROOT, mode=LEGACY, message_handler=Ears()) as (c, peers),
    ):
        await peers.connect(first.socket)
        assert "properties" in (await listed(c))["nvim_where"].input_schema
        assert "connection_id" not in (await listed(c))["nvim_where"].input_schema["properties"]
        assert (await ask(c, "nvim_where"))["cwd"] == str(one)
        await second.lua(ADD_TEXTS)
        await peers.connect(second.socket)
        yield c, peers


async def test_which_of_two_neovims_is_meant_has_to_be_said_and_its_handler_does_not_hear_of_it(
    tmp_path: Path,
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    async with two_neovims(tmp_path) as (c, _):
        tools = await listed(c)
        which = tools["nvim_where"].input_schema["properties"]["connection_id"]
        assert which == {"type": "integer", "enum": [1, 2], "description": f"1: {one}; 2: {two}"}
        assert await refusal(c, "nvim_where") == (
            f"Several Neovims have nvim_where: choose one by `connection_id` (1: {one}; 2: {two})."
            " nvim_targets lists them."
        )
        assert (await refusal(c, "nvim_where", connection_id=3)).startswith(
            "Argument `connection_id`: should be one of 1, 2"
        )
        answer = await ask(c, "nvim_where", connection_id=2)
        assert answer == {"cwd": str(two), "args": {}}


async def test_two_neovims_keep_their_tools_apart(tmp_path: Path) -> None:
    async with two_neovims(tmp_path) as (c, peers):
        tools = await listed(c)
        assert "a" in tools["nvim_add"].input_schema["properties"]
        assert "text" in tools["nvim_add_2"].input_schema["properties"]
        assert (await ask(c, "nvim_add", a=1))["sum"] == 2
        assert await read(c, "nvim_add_2", text="hi") == "hi!"

        await peers.disconnect(1)
        tools = await listed(c)
        assert "nvim_add_2" not in tools
        assert await read(c, "nvim_add", text="ho") == "ho!"
        assert (await ask(c, "nvim_where"))["cwd"] == str(tmp_path / "two")


async def test_a_name_that_is_taken_and_a_schema_that_is_none_are_refused(tmp_path: Path) -> None:
    ears = Ears()
    async with (
        workshop(tmp_path) as editor,
        attached(editor, mode=LEGACY, message_handler=ears) as (c, _),
    ):
        await ears.news()
        await editor.lua("""
          local function add(name, more)
            local tool = { name = name, description = 'Try ' .. name .. '.', execute = function(cb) cb('mine') end }
            require('dapeer').register(vim.tbl_extend('force', tool, more or {}))
          end
          add('targets')
          add('wrong', { args = { a = { type = 'strin' } } })
          add('list', { parameters = { type = 'array' } })
          add('far', { parameters = { properties = { a = { ['$ref'] = 'https://example.com/schema' } } } })
          add('fine')
        """)
        await ears.news()
        names = await of_the_person(c)
        assert "nvim_fine" in names
        assert not names & {"nvim_wrong", "nvim_list", "nvim_far"}
        assert "No Neovim" not in await read(c, "nvim_targets")
        problems = "\n".join(await editor.lua("return require('dapeer.registry').problems()"))
        for words in (
            "the tool targets is not served: dapeer has a tool nvim_targets of its own.",
            "the tool wrong is not served: its schema is invalid: properties.a.type: 'strin' is not valid",
            "the tool list is not served: its schema must have the type `object`.",
            "the tool far is not served: its schema refers to https://example.com/schema",
        ):
            assert words in problems


async def test_custom_tools_of_setup_are_served_and_a_bad_one_does_not_take_others_along(
    tmp_path: Path,
) -> None:
    setup = """
      local MCP = require('dapeer').MCP
      require('dapeer').setup({ custom_tools = {
        greet = {
          description = 'Try greeting.',
          parameters = { type = 'object', properties = { name = { type = 'string' } }, required = { 'name' } },
          handler = function(params) return MCP.success({ hello = params.name }) end,
        },
        count = { description = 'Try counting.', handler = function() return MCP.json({ 1, 2 }) end },
        say = { description = 'Try saying.', handler = function() return MCP.text('words') end },
        fail = { description = 'Try failing.', handler = function() return MCP.error('E1', 'no luck') end },
        broken = { description = '' },
        ['a b'] = { description = 'Try.', handler = print },
      } })
    """
    async with neovim(tmp_path, dap=False, rc=setup) as editor, attached(editor) as (c, _):
        assert await of_the_person(c) == {"nvim_count", "nvim_fail", "nvim_greet", "nvim_say"}
        assert await read(c, "nvim_greet", name="Ada") == '{"hello":"Ada"}'
        assert await read(c, "nvim_count") == "[1,2]"
        assert await read(c, "nvim_say") == "words"
        assert await refusal(c, "nvim_fail") == "no luck"
        problems = await editor.lua("return require('dapeer.registry').problems()")
        assert len(problems) == 2
        assert "The tool broken needs handler = function(params)." in problems[1]


async def test_a_tool_that_is_not_read_only_needs_the_consent_for_running(tmp_path: Path) -> None:
    approve = {"approve": {"run": True, "write": True}}
    log = """
      vim.api.nvim_create_autocmd('User', { pattern = 'DapeerAction', callback = function(event)
        vim.rpcnotify(vim.g.test_channel, 'action', event.data.tool, event.data.ok)
      end })
    """
    async with (
        neovim(tmp_path, dap=False, setup=approve, rc=WORKSHOP + log) as editor,
        attached(editor) as (c, _),
    ):
        assert (await ask(c, "nvim_add", a=1))["sum"] == 2
        refused = await refusal(c, "nvim_lua_call", name="twice")
        assert refused.startswith(
            "The person did not allow nvim_twice (No person can answer in this Neovim"
        )
        assert await editor.wait_for_notification("action") == ["nvim_twice", False]
        # What only shows what it would do needs none.
        assert await read(c, "nvim_tidy") == "would tidy"
        assert "did not allow nvim_tidy" in await refusal(c, "nvim_tidy", apply=True)


async def test_after_a_reload_of_the_plugin_tools_and_calls_go_on(tmp_path: Path) -> None:
    ears = Ears()
    async with (
        workshop(tmp_path) as editor,
        attached(editor, mode=LEGACY, message_handler=ears) as (c, _),
    ):
        await ears.news()
        waiting = asyncio.create_task(call(c, "nvim_wait"))
        await editor.wait_for_notification("waiting")
        await editor.lua("""
          for name in pairs(package.loaded) do
            if vim.startswith(name, 'dapeer') then package.loaded[name] = nil end
          end
          require('dapeer').setup({})
          require('dapeer').register({ name = 'new', description = 'Try new.', execute = function(cb) cb('new') end })
        """)
        await ears.news()
        assert await read(c, "nvim_new") == "new"
        assert (await ask(c, "nvim_add", a=1))["sum"] == 2
        waiting.cancel()
        await editor.wait_for_notification("cancelled")


async def test_lua_runs_tools_as_in_mcp_tools_nvim(tmp_path: Path) -> None:
    async with workshop(tmp_path) as editor:

        async def run(code: str) -> Any:  # noqa: ANN401 - whatever Neovim answers
            return await editor.lua(f"local r = require('mcp-tools.registry'); {code}")

        done = await run("return r.execute('add', { a = 1 })")
        assert done == {"done": True, "result": {"sum": 2}}
        assert "`a` is required" in (await run("return r.execute('add', {})"))["error"]
        assert "Unknown tool" in (await run("return r.execute('none')"))["error"]
        pending = await run("return r.execute('wait')")
        assert pending["pending"]
        get = f"return r.get_result('{pending['task_id']}')"
        assert await run(get) == {"done": False}
        await run("WORKSHOP.finish('x')")
        assert await run(get) == {"done": True, "result": "x"}
        again = (await run("return r.execute('wait')"))["task_id"]
        assert (await run(f"return r.cancel_task('{again}')"))["cancelled"]
        assert await editor.lua("return WORKSHOP.log") == ["cancelled"]


async def test_bytes_that_are_no_text_are_told_and_end_nothing(tmp_path: Path) -> None:
    rc = (
        WORKSHOP
        + r"""
      require('dapeer').register({ name = 'odd', description = 'Try it.', execute = function(cb, _, ctx)
        ctx.progress('bad \255')
        cb({ ['\255'] = { '\254' } })
      end })
      require('dapeer').register({ name = 'wail', description = 'Try it.', execute = function(cb) cb(nil, 'oh \255') end })
    """
    )
    command = ("dapeer", "stdio", "--no-bridge", "--nvim")
    async with (
        neovim(tmp_path, dap=False, setup={}, rc=rc) as editor,
        started(*command, editor.socket) as wire,
    ):
        await wire.handshake()
        await attached_to(editor)
        odd = request("tools/call", 2, name="nvim_odd", arguments={}, _meta={"progressToken": "p"})
        for message, said in ((odd, "is not UTF-8"), (by_hand(3, "nvim_wail"), "oh ?")):
            result = (await wire.ask(message))["result"]
            assert result["isError"]
            assert said in result["content"][0]["text"]


def test_what_the_person_is_told_of_an_action_can_always_be_sent() -> None:
    told = Action("nvim_echo", ("run",), {"a": "\ud800", "b": "ä"}).facts()["arguments"]
    assert told.encode().decode() == '{"a": "?", "b": "ä"}'


async def test_a_tool_is_never_run_in_another_neovim_than_was_meant(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    async with (
        workshop(one, cwd=one) as first,
        neovim(
            two, dap=False, setup={"bridge": {"tool_timeout": 5}}, rc=WORKSHOP, cwd=two
        ) as second,
        served(ROOT) as (c, peers),
    ):
        await peers.connect(first.socket)
        await peers.connect(second.socket)
        # What differs only in the time that it may take is still one tool.
        assert "nvim_where_2" not in await listed(c)
        assert (await ask(c, "nvim_where", connection_id=1)) == {"cwd": str(one), "args": {}}
        await peers.disconnect(2)
        assert await refusal(c, "nvim_where", connection_id=2) == (
            "`connection_id`: Neovim 2 does not offer nvim_where. It is in: 1."
        )
        assert (await ask(c, "nvim_where", connection_id=1)) == {"cwd": str(one), "args": {}}


async def test_results_that_are_meant_for_mcp_are_never_taken_for_data(tmp_path: Path) -> None:
    rc = """
      local R = {
        silent = { content = {}, isError = true },
        words = { content = { 'It broke.' }, isError = true },
        noimage = { content = { { type = 'image', data = 'aGk=' } } },
        notext = { content = { { type = 'text', text = 5 } } },
        data = { content = {} },
      }
      require('dapeer').register({
        name = 'give', description = 'Try it.', args = { what = { type = 'string' } },
        execute = function(cb, args) cb(R[args.what]) end,
      })
    """
    async with neovim(tmp_path, dap=False, setup={}, rc=rc) as editor, attached(editor) as (c, _):
        said = await refusal(c, "nvim_give", what="silent")
        assert said == "The tool failed without saying why."
        assert await refusal(c, "nvim_give", what="words") == "It broke."
        for what, place in {"noimage": "content.0", "notext": "content.0.text"}.items():
            said = await refusal(c, "nvim_give", what=what)
            assert said.startswith(f"The tool returned an invalid MCP result: {place}")
        assert (await ask(c, "nvim_give", what="data")) == {"content": []}


HELP = (ROOT / "doc" / "dapeer.txt").read_text(encoding="utf-8")


def example(number: int) -> str:
    """Return the Lua of one of the help's examples."""
    tagged = HELP.partition(f"*dapeer-tool-example-{number}* >lua\n")[2]
    return tagged.partition("\n<")[0]


async def test_the_examples_of_the_help_work(tmp_path: Path) -> None:
    rc = "\n".join(map(example, (1, 2, 3)))
    async with neovim(tmp_path, dap=False, rc=rc) as editor, attached(editor) as (c, _):
        await editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, {'x', '  -- TODO: tea'})")
        todos = (await ask(c, "nvim_todo_list"))["todos"]
        assert todos == [{"line": 2, "text": "-- TODO: tea"}]

        done = await ask(c, "nvim_run_command", command=["sh", "-c", "echo out; echo err >&2"])
        assert done == {"code": 0, "output": "out\n", "errors": "err\n"}
        unknown = await refusal(c, "nvim_run_command", command=["no-such-program"])
        assert unknown == "no-such-program cannot be run. Is it on PATH?"
        fifo = tmp_path / "fifo"
        os.mkfifo(fifo)
        # It ends only if it is killed: nobody ever writes to the pipe.
        endless = asyncio.create_task(
            call(
                c,
                "nvim_run_command",
                command=["sh", "-c", f"echo $$ > {tmp_path}/pid; : > {fifo}; exec cat {fifo}"],
            )
        )
        await asyncio.to_thread(fifo.read_bytes)
        endless.cancel()
        await process_gone(int((tmp_path / "pid").read_text(encoding="utf-8")), LIMIT)

        assert (await ask(c, "nvim_colorscheme", name="blue")) == {"colorscheme": "blue"}
        none = await refusal(c, "nvim_colorscheme", name="beige")
        assert none == "There is no colour scheme beige."


async def test_help_and_health_list_every_tool_and_how_to_switch_it(tmp_path: Path) -> None:
    on = {"tools": {"exec": True, "test": True}}
    async with neovim(tmp_path, dap=False, setup=on) as editor:
        tools = await editor.lua("""
          return vim.tbl_map(function(tool) return { tool.group, tool.name } end, require('dapeer').list_tools())
        """)
        section = HELP.partition("\n6. TOOLS ")[2].partition("\n7. WRITING")[0]
        _, *parts = re.split(r"\n(\w+)~", section)
        told = {
            (group, line.split()[0])
            for group, lines in zip(parts[::2], parts[1::2], strict=True)
            for line in lines.splitlines()
            if line.startswith("  ") and not line.startswith("   ")
        }
        assert told == {(group, name) for group, name in tools}
        await editor.lua("require('dapeer').setup({ tools = { exec = false } })")
        await editor.lua("require('dapeer').unregister('lsp_rename')")
        await editor.lua("vim.cmd('checkhealth dapeer')")
        report = "\n".join(await editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"))
        for _, name in tools:
            assert f"nvim_{name}" in report
        assert (
            "exec (off; setup({ tools = { exec = true } }) switches it on): nvim_exec_lua" in report
        )
        assert "unregistered: nvim_lsp_rename" in report
