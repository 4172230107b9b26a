"""Tools in Lua that are odd, fail, flood, or end at an odd moment: none takes another down, and the person is told."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.harness import ask, call, read, refusal
from tests.neovim.editor import Editor, neovim
from tests.neovim.joint import attached
from tests.neovim.reviewing import RC, proposed
from tests.neovim.wire import NeovimError

# Runs any Lua in a tool: `cb`, `args`, `ctx` and `MCP` are there.
TRY = """
  MCP = require('dapeer').MCP
  function Tool(name, execute, more)
    local tool = { name = name, description = 'Try it.', execute = execute or print }
    require('dapeer').register(vim.tbl_extend('force', tool, more or {}))
  end
  Tool('try', function(...)
    assert(loadstring('local cb, args, ctx = ... ' .. select(2, ...).code))(...)
  end, { args = { code = { type = 'string', required = true } } })
"""

# The person's notifications as they are, and told to the test.
HEARD = """
  local notify = vim.notify
  vim.notify = function(text, ...)
    notify(text, ...)
    vim.rpcnotify(vim.g.test_channel, 'said', text)
  end
"""


def trying(tmp_path: Path, rc: str = "", **options: Any) -> Any:  # noqa: ANN401 - what neovim gives
    return neovim(tmp_path, dap=False, setup={}, rc=TRY + rc, **options)


async def answer(c: Client, code: str) -> str:
    return await read(c, "nvim_try", code=code)


async def problems(editor: Editor) -> list[str]:
    return await editor.lua("return require('dapeer.registry').problems()")


ODD = {
    "title = print": "The title of the tool odd must be text in UTF-8, at most 200 bytes.",
    "title = 'a\\255'": "The title of the tool odd must be text in UTF-8",
    "description = ('x'):rep(10001)": "The description of the tool odd must be text in UTF-8, at most",
    "description = '\\237\\160\\128'": "The description of the tool odd must be text in UTF-8",
    "timeout = math.huge": "The timeout of the tool odd must be milliseconds, 0 for none.",
    "timeout = 0 / 0": "The timeout of the tool odd must be milliseconds, 0 for none.",
    "timeout = '5'": "The timeout of the tool odd must be milliseconds, 0 for none.",
    "action = {}": "The action of the tool odd must be 'run', 'evaluate', 'write', 'read', a list of these, or false.",
    "action_when = print": "The action_when of the tool odd must be the name of an argument.",
    "action = 'write', action_when = 'b'": "its action_when, b, is not one of its arguments",
    "read_only = 'no'": "The read_only of the tool odd must be true or false.",
    "args = { a = 'string' }": "The args of the tool odd are a table of name",
    "args = HOLDS_ITSELF": "its schema.a.properties contains itself",
    "parameters = { required = true }": "`required` in the parameters of the tool odd is a list",
    "parameters = { properties = 'a' }": "`properties` in the parameters of the tool odd are a table",
    "parameters = nested(50)": "is nested deeper than 100 levels",
    "parameters = enum('one')": "it is larger than 1048576 bytes with its schema",
    "parameters = { title = '\\255' }": "its schema holds bytes that are not UTF-8",
}


async def test_an_odd_tool_is_refused_alone(tmp_path: Path) -> None:
    helpers = """
      HOLDS_ITSELF = { a = { type = 'object' } }
      HOLDS_ITSELF.a.properties = HOLDS_ITSELF
      function nested(levels)
        local schema = { type = 'string' }
        for _ = 1, levels do schema = { type = 'object', properties = { a = schema } } end
        return schema
      end
      function enum(name)
        local values = {}
        for number = 1, 300000 do values[number] = 'value ' .. number end
        return { properties = { [name] = { enum = values } } }
      end
    """
    async with trying(tmp_path, helpers) as editor, attached(editor) as (c, _):
        for more, sentence in ODD.items():
            with pytest.raises(NeovimError) as refused:
                await editor.lua(f"Tool('odd', nil, {{ {more} }})")
            assert sentence in str(refused.value), more
        # What its author does with the table afterwards, or claims to be, is no matter.
        await editor.lua("""
          local tool = {
            name = 'mine', description = 'Try it.', group = 'lsp', args = { a = { type = 'string', default = 'x' } },
            execute = function(cb, args) cb(args) end,
          }
          require('dapeer').register(tool)
          tool.title, tool.args.a.default, tool.execute = print, print, nil
          GROUP = tool.group
          Tool('deep', nil, { parameters = nested(49) })
          Tool('wrong', nil, { group = 'lsp', parameters = { properties = { a = { type = 'strin' } } } })
        """)
        assert await editor.lua("return GROUP") == "lsp"
        assert await answer(c, "cb(1)") == "1"  # and the core has heard of them
        names = {tool.name for tool in (await c.list_tools()).tools}
        assert {"nvim_mine", "nvim_deep", "nvim_lsp_hover"} <= names
        assert not names & {"nvim_odd", "nvim_wrong"}
        assert await ask(c, "nvim_mine") == {"a": "x"}


async def test_a_tool_is_known_when_the_call_that_made_it_has_answered(tmp_path: Path) -> None:
    async with trying(tmp_path) as editor, attached(editor) as (c, _):
        for number, soon in enumerate(
            ("cb(1)", "vim.uv.new_timer():start(0, 0, function() cb(1) end)")
        ):
            name = f"made_{number}"
            await answer(c, f"Tool('{name}', function(cb) cb('made') end) {soon}")
            assert await read(c, f"nvim_{name}") == "made"


async def test_a_schema_whose_check_would_never_end_holds_nobody_else_up(tmp_path: Path) -> None:
    hostile = """
      local defs = { d60 = { type = 'string' } }
      for n = 0, 59 do
        local next_one = { ['$ref'] = '#/$defs/d' .. n + 1 }
        defs['d' .. n] = { anyOf = { next_one, next_one } }
      end
      Tool('hostile', nil, {
        parameters = { type = 'object', ['$defs'] = defs, properties = { a = { ['$ref'] = '#/$defs/d0' } } },
      })
    """
    async with trying(tmp_path, hostile) as editor, attached(editor) as (c, _):
        checked = asyncio.create_task(refusal(c, "nvim_hostile", a=1))
        await read(c, "dap_status")
        assert not checked.done()
        assert "takes too much time or memory" in await checked
        assert await answer(c, "cb('goes on')") == "goes on"


async def test_answers_that_cannot_be_sent_as_they_are_become_sentences(tmp_path: Path) -> None:
    sentences = {
        "cb({ [0] = 'a' })": "result has the key 0: lists begin at 1, and names are strings",
        "cb({ [true] = 1 })": "result has a key that is a boolean",
        "cb({ [('k'):rep(500)] = { print } })": f".{'k' * 43}…{'k' * 47}[1] is a function",
        "cb(('x'):rep(110e6))": "The tool returned a result that cannot be sent: result is larger than 32 MB.",
        "cb({ ('\\1'):rep(8 * 1024 * 1024) })": "result is larger than 32 MB",
        "cb(nil, '')": "The tool try failed without saying why.",
        "cb(MCP.error('E', 404))": "404",
        "cb(MCP.error('E1'))": "The tool failed: E1.",
        "cb(MCP.error())": "The tool failed.",
    }
    defaults = """
      Tool('defaults', function(cb, args) cb(args) end, { args = {
        a = { type = 'integer', required = true, default = 4 },
        o = { type = 'object', default = {} },
        l = { type = 'array', default = {} },
      } })
      local nullable = { properties = { a = { type = { 'string', 'null' } } }, required = { 'a' } }
      Tool('nullable', function(cb, args) cb(args) end, { parameters = nullable })
    """
    async with trying(tmp_path, defaults) as editor, attached(editor) as (c, _):
        for code, sentence in sentences.items():
            assert sentence in await refusal(c, "nvim_try", code=code), code
        assert await answer(c, "cb(MCP.text(5))") == "5"
        assert await ask(c, "nvim_defaults") == {"a": 4, "o": {}, "l": []}
        assert await ask(c, "nvim_nullable", a=None) == {}
        (listed,) = (t for t in (await c.list_tools()).tools if t.name == "nvim_defaults")
        assert "required" not in listed.input_schema
        assert listed.input_schema["properties"]["o"]["default"] == {}


async def test_a_call_is_answered_whatever_is_odd_about_it(tmp_path: Path) -> None:
    start = "require('dapeer.registry.serving').start(vim.g.test_channel, ...)"
    async with trying(tmp_path) as editor:
        for arguments in ("[oops", "5", "null", '{"code":5}'):
            await editor.lua(start, 7, "try", arguments, {"latest": 1e12})
            assert await editor.wait_for_notification("dapeer") == ["tool_started", 7]
            kind, number, ok, sentence = await editor.wait_for_notification("dapeer")
            assert (kind, number, ok) == ("tool_result", 7, False)
            assert "the tool try" in sentence.lower()


async def test_a_flood_of_progress_is_told_in_drops(tmp_path: Path) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with trying(tmp_path) as editor, attached(editor) as (c, _):
        flood = "for n = 1, 100000 do ctx.progress(n, 100000, 'm' .. n) end cb(1)"
        await c.call_tool("nvim_try", {"code": flood}, progress_callback=hear)
        assert told[0] == (1, 100000, "m1")
        assert told[-1] == (100000, 100000, "m100000")
        assert len(told) < 1000
        # The later ones come while the tool goes on.
        told.clear()
        slow = """
          ctx.progress(1)
          ctx.progress(2, true, {})
          vim.defer_fn(function() ctx.progress(3, 0 / 0) ctx.progress({}) ctx.progress(math.huge) cb(1) end, 200)
        """
        await c.call_tool("nvim_try", {"code": slow}, progress_callback=hear)
        assert told == [(1, None, "Try"), (2, None, "Try"), (3, None, "Try")]


async def test_no_warning_makes_neovim_wait_for_a_key(tmp_path: Path) -> None:
    async with trying(tmp_path, HEARD, ui=True) as editor, attached(editor) as (c, _):

        async def said(code: str) -> str:
            await editor.lua(code)
            (line,) = await editor.wait_for_notification("said")
            assert not (await editor.mode())["blocking"]
            assert len(line) < 80
            return line

        await said(
            """require('dapeer').setup({ oops = 1, notify = 'yes', tap = 'or no tap at all' })"""
        )
        both = await said(
            "require('dapeer').setup({ custom_tools = { bad = { description = 'x' }, worse = 1 } })"
        )
        assert both == "dapeer: 2 tools are not served: bad, worse; see :checkhealth dapeer"
        wrong = "{ parameters = { properties = { a = { type = 'strin' } } } }"
        one = await said(f"Tool('wrong', nil, {wrong})")
        assert one.startswith("dapeer: the tool wrong is not served: ")
        assert one.endswith("…; see :checkhealth dapeer")
        await editor.lua(f"for n = 1, 3 do Tool('wrong_' .. n, nil, {wrong}) end")
        assert (
            await answer(c, "cb('first') cb('second') error('a long story, ' .. ('x'):rep(200))")
            == "first"
        )
        (several,) = await editor.wait_for_notification("said")
        assert "see :checkhealth dapeer" in several
        assert not (await editor.mode())["blocking"]
        whole = "\n".join(await problems(editor))
        for words in (
            "The tool bad needs handler",
            "wrong_3 is not served: its schema",
            "xxx (after it",
        ):
            assert words in whole


async def test_a_problem_goes_with_its_cause_and_comes_again(tmp_path: Path) -> None:
    wrong = "Tool('wrong', nil, { parameters = { properties = { a = { type = 'strin' } } } })"
    async with trying(tmp_path, HEARD) as editor, attached(editor):
        for _ in range(2):
            await editor.lua(wrong)
            assert "the tool wrong is not served" in (await editor.wait_for_notification("said"))[0]
            assert len(await problems(editor)) == 1
            await editor.lua("require('dapeer').unregister('wrong')")
            assert await problems(editor) == []
        await editor.lua(
            "require('dapeer').setup({ custom_tools = { bad = { description = '' } } })"
        )
        assert "The tool bad" in (await problems(editor))[0]
        await editor.lua("""
          require('dapeer').setup({ custom_tools = { bad = { description = 'Good.', handler = print } } })
        """)
        assert await problems(editor) == []


async def test_what_was_replaced_comes_back(tmp_path: Path) -> None:
    async with trying(tmp_path) as editor, attached(editor) as (c, _):
        mine = "Tool('undo_tree', function(cb) cb('mine') end)"
        away = "return require('dapeer').unregister('undo_tree')"
        there = "return require('dapeer.registry').find('undo_tree') ~= nil"
        await editor.lua(mine)
        assert await answer(c, "cb(1)") == "1"
        assert await read(c, "nvim_undo_tree") == "mine"
        assert await editor.lua(away)
        assert await answer(c, "cb(1)") == "1"
        assert await read(c, "nvim_undo_tree") != "mine"
        assert await editor.lua(away)
        assert not await editor.lua(away)
        await editor.lua(mine)
        await editor.lua(away)
        assert not await editor.lua(there)
        await editor.lua("require('dapeer').setup({ tools = { lsp = true } })")
        assert not await editor.lua(there)
        await editor.lua("require('dapeer').setup({ tools = { undo = true } })")
        assert await editor.lua(there)


WAIT = """
  ctx.on_cancel(function() vim.rpcnotify(vim.g.test_channel, 'cancelled') end)
  vim.rpcnotify(vim.g.test_channel, 'waiting')
"""


async def test_calls_are_cancelled_when_neovim_is_quit_and_a_diff_is_rejected(
    tmp_path: Path,
) -> None:
    async with (
        trying(tmp_path, RC, ui=True, cwd=tmp_path) as editor,
        attached(editor, tmp_path) as (c, _),
    ):
        assert await answer(c, "vim.schedule(function() cb(1) end)") == "1"
        left = "return #vim.api.nvim_get_autocmds({ event = 'VimLeave' })"
        assert await editor.lua(left) == 0
        waiting = asyncio.create_task(call(c, "nvim_try", code=WAIT))
        await editor.wait_for_notification("waiting")
        proposal = await proposed(c, editor, "new.txt", "x")
        await editor.keys(":qa!<CR>")
        assert await proposal.answer() == ["DIFF_REJECTED", "new.txt", "Neovim ended."]
        await editor.wait_for_notification("cancelled")
        await editor.ended()
        assert (await waiting).is_error


# A core whose own socket is on another machine, and that is killed.
FAR = """
import os, pynvim, sys
neovim = pynvim.attach('socket', path=sys.argv[1])
there = {'tap': '/on/another/machine', 'secret': 'x'}
neovim.exec_lua("require('dapeer.core.attach').attach(...)", neovim.channel_id, there)
neovim.exec_lua(
    "require('dapeer.registry.serving').start(...)", neovim.channel_id, 1, 'wait', '{}', {'latest': 1e12}
)
os.kill(os.getpid(), 9)
"""


async def test_a_core_that_is_killed_elsewhere_is_missed(tmp_path: Path) -> None:
    rc = f"""
      require('dapeer.registry.serving').PERIOD = 50
      Tool('wait', function(cb, _, ctx) {WAIT} end)
    """
    async with trying(tmp_path, rc) as editor:
        core = await asyncio.create_subprocess_exec(sys.executable, "-c", FAR, editor.socket)
        await core.wait()
        await editor.wait_for_notification("cancelled")
        assert await editor.lua("return #require('dapeer.rpc').attached()") == 0


async def test_answers_that_lua_never_fetches_are_not_kept_for_ever(tmp_path: Path) -> None:
    async with trying(tmp_path) as editor:
        first, last, kept = await editor.lua("""
          local registry = require('dapeer.registry')
          local calls, tasks = {}, {}
          Tool('later', function(cb) table.insert(calls, cb) end)
          for number = 1, 300 do
            tasks[number] = registry.execute('later').task_id
            calls[number](number)
          end
          return {
            registry.get_result(tasks[1]),
            { registry.cancel_task(tasks[300]).cancelled, registry.get_result(tasks[300]) },
            vim.tbl_count(require('dapeer.kept').part('registry').tasks),
          }
        """)
        assert "Unknown or expired" in first["error"]
        assert last == [False, {"done": True, "result": 300}]
        assert kept <= 101
