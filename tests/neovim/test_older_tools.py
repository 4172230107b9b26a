"""What users of mcp-tools.nvim have: its forms of tools and its modules; and tools that never answer."""

import re
from pathlib import Path
from typing import Any

import pytest
from mcp import types as t

from dapeer.base.json_types import Json
from tests.harness import ask, call, read, refusal, text
from tests.neovim.editor import neovim
from tests.neovim.joint import attached
from tests.programs import ROOT

FORMS = r"""
local function tool(name, execute, more)
  local definition = { name = name, description = 'Try ' .. name .. '.', args = {}, execute = execute }
  require('mcp-tools').register(vim.tbl_extend('force', definition, more or {}))
end
local WORD = { args = { word = { type = 'string', required = true } } }

tool('plain', function() return 'ok' end)
tool('matches', function(args)
  local found = {}
  for name, value in pairs(args) do table.insert(found, name .. ' ' .. value) end
  return found
end, WORD)
tool('only_callback', function(cb) cb({ ok = true }) end)
tool('later', function(cb) vim.defer_fn(function() cb('later') end, 1) end)
tool('program', function(cb, args)
  return vim.system({ 'printf', args.word }, {}, function(done) cb(done.stdout) end)
end, WORD)
tool('ended', function(cb) vim.system({ 'true' }, {}, cb) end)
tool('scheduled', function(callback) vim.schedule(callback) end)
tool('both', function(_, args) return args.word .. '!' end, WORD)
tool('no', function() return false end)
tool('empty', function() return {} end)
tool('problem', function() return nil, 'The kettle is empty. Fill it.' end)
tool('answered', function(cb) cb('called'); return 'returned' end)
tool('twice', function(cb, args)
  CALL_BACK = cb
  return 'returned'
end)
tool('broken', function(cb) cb('called'); error('too late', 0) end)
tool('thrown', function(args) error('no ' .. args.word, 0) end, WORD)
"""

SILENT = r"""
require('dapeer.registry.calls').PATIENCE = 1
local function tool(name, execute, more)
  local definition = { name = name, description = 'Try ' .. name .. '.', execute = execute }
  require('dapeer').register(vim.tbl_extend('force', definition, more or {}))
end
tool('silent', function(cb, args) end)
tool('alone', function(args) return nil end, { timeout = 0 })
tool('handle', function(cb, args) return { rows = { { run = print } } } end)
tool('forgetful', function(cb) vim.schedule(function() end) end)
tool('held', function(cb, _, ctx) CALL_BACK = cb end)
tool('short', function(cb) CALL_BACK = cb end, { timeout = 20 })
"""


async def test_a_tool_of_the_older_form_works_in_each_of_its_forms(tmp_path: Path) -> None:
    async with (
        neovim(tmp_path, dap=False, setup={}, rc=FORMS) as editor,
        attached(editor) as (c, _),
    ):
        assert await read(c, "nvim_plain") == "ok"
        assert await read(c, "nvim_matches", word="tea") == '["word tea"]'
        assert await ask(c, "nvim_only_callback") == {"ok": True}
        assert await read(c, "nvim_later") == "later"
        assert await read(c, "nvim_program", word="tea") == "tea"
        assert (await ask(c, "nvim_ended"))["code"] == 0
        assert "no result" in await read(c, "nvim_scheduled")
        assert await read(c, "nvim_both", word="tea") == "tea!"
        assert await read(c, "nvim_no") == "false"
        assert await read(c, "nvim_empty") == "[]"
        assert await refusal(c, "nvim_problem") == "The kettle is empty. Fill it."
        assert await refusal(c, "nvim_thrown", word="tea") == "The tool thrown failed: no tea"
        assert await read(c, "nvim_answered") == "called"
        assert await read(c, "nvim_twice") == "returned"
        assert await read(c, "nvim_broken") == "called"
        await editor.lua("CALL_BACK('late')")
        assert await editor.lua("return require('dapeer.registry').problems()") == [
            "The tool broken failed: too late (after it had answered)",
            "the tool twice has returned a value and called back; only the first counts.",
        ]


async def test_lua_gets_what_a_tool_returns_at_once(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False, rc=FORMS) as editor:
        run = "return require('mcp-tools.registry').execute(...)"
        assert await editor.lua(run, "plain") == {"done": True, "result": "ok"}
        assert await editor.lua(run, "both", {"word": "x"}) == {"done": True, "result": "x!"}
        assert (await editor.lua(run, "problem"))["error"] == "The kettle is empty. Fill it."


@pytest.mark.parametrize(
    ("name", "neither"),
    [
        ("silent", "returned a value"),
        ("alone", "returned a value"),
        ("forgetful", "returned a value"),
        ("handle", "returned a value that can be sent (result.rows[1].run is a function)"),
    ],
)
async def test_a_tool_that_cannot_answer_any_more_is_named(
    tmp_path: Path, name: str, neither: str
) -> None:
    async with (
        neovim(tmp_path, dap=False, setup={}, rc=SILENT) as editor,
        attached(editor) as (c, _),
    ):
        sentence = f"The tool {name} neither {neither} nor called its callback."
        assert await refusal(c, f"nvim_{name}") == (
            f"{sentence} It has to return its result, or to call cb(result)."
        )
        assert await editor.lua("return require('dapeer.registry').problems()") == [sentence]


async def test_a_tool_that_may_still_answer_goes_on_until_its_own_time_limit(
    tmp_path: Path,
) -> None:
    async with (
        neovim(tmp_path, dap=False, setup={}, rc=SILENT) as editor,
        attached(editor) as (c, _),
    ):

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            held = "The tool held has neither returned a value nor called its callback for 0.001 s."
            assert message == held, (progress, total)
            await editor.lua("CALL_BACK('at last')")

        result = await c.call_tool("nvim_held", {}, progress_callback=hear)
        assert isinstance(result, t.CallToolResult)
        assert text(result) == "at last"
        assert (await refusal(c, "nvim_short")).startswith(
            "The tool short timed out after 0.02 s and was cancelled: "
            "it neither returned a value nor called its callback."
        )


@pytest.mark.parametrize(
    "hands_over", ["cb(MADE)", "cb(nil, MADE)", "return MADE", "return nil, MADE", "error(MADE)"]
)
async def test_code_and_data_of_an_error_reach_the_client(tmp_path: Path, hands_over: str) -> None:
    rc = f"""
      MADE = require('dapeer').MCP.error('E_TEA', 'No tea is left.', {{ left = 0 }})
      require('dapeer').register({{
        name = 'brew', description = 'Try it.', execute = function(cb, args) {hands_over} end,
      }})
    """
    async with neovim(tmp_path, dap=False, setup={}, rc=rc) as editor, attached(editor) as (c, _):
        result: Any = await call(c, "nvim_brew")
        assert result.is_error
        assert text(result) == "No tea is left."
        wanted: Json = {"code": "E_TEA", "message": "No tea is left.", "data": {"left": 0}}
        assert result.meta["error"] == wanted


GROUPS = """
  local on = {}
  for group, wanted in pairs(require('dapeer.config').get().tools) do
    if wanted then table.insert(on, group) end
  end
  table.sort(on)
  return on
"""
USUAL = ["dap", "diagnostics", "diff", "documents", "editor", "interview", "lsp", "undo"]


@pytest.mark.parametrize(
    ("calls", "on"),
    [
        (["require('mcp-tools').setup()"], []),
        (["require('mcp-tools').setup({ tools = { dap = true } })"], ["dap"]),
        (["require('mcp-tools').setup({ tools = 'dap' })"], []),
        (
            [
                "require('mcp-tools').setup({ tools = { lsp = true } })",
                "require('mcp-tools').setup({ debug = true })",
                "require('dapeer').setup({ tools = { undo = true } })",
            ],
            ["lsp", "undo"],
        ),
        (
            [
                "require('dapeer').setup({ tools = { exec = true } })",
                "require('mcp-tools').setup({ tools = { lsp = true } })",
            ],
            ["exec", "lsp"],
        ),
        (["require('dapeer').setup({})"], USUAL),
        (
            ["require('dapeer').setup({ tools = { dap = true, lsp = false } })"],
            [group for group in USUAL if group != "lsp"],
        ),
    ],
)
async def test_groups_that_are_not_named_are_off_through_the_older_name(
    tmp_path: Path, calls: list[str], on: list[str]
) -> None:
    async with neovim(tmp_path, dap=False) as editor:
        for one in calls:
            await editor.lua(one)
        assert await editor.lua(GROUPS) == on


async def test_the_older_modules_have_what_their_documents_name(tmp_path: Path) -> None:
    rc = "require('mcp-tools').setup({ tools = { undo = true }, bridge = { port = 4711 } })"
    async with neovim(tmp_path, dap=False, rc=FORMS + rc) as editor:
        for tools in ("require('mcp-tools').list_tools()", "require('mcp-tools.registry').list()"):
            names = await editor.lua(f"return vim.tbl_keys({tools})")
            assert {"undo_tree", "plain"} <= {*names}
            assert "buffer_read" not in names
            assert await editor.lua(f"return {tools}.plain.description") == "Try plain."
        registry = "return require('mcp-tools.registry')"
        assert await editor.lua(f"{registry}.count()") == len(names)
        assert await editor.lua(f"{registry}.has('plain')")
        assert not await editor.lua(f"{registry}.has('buffer_read')")
        options = {"tools.undo": True, "tools.dap": False, "bridge.port": 4711, "no.such": None}
        for path, value in options.items():
            assert await editor.lua("return require('mcp-tools.config').get(...)", path) == value
        assert (await editor.lua("return require('mcp-tools.config').get()"))["tools"]["undo"]
        await editor.lua("vim.cmd('checkhealth mcp-tools')")
        report = "\n".join(await editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"))
        assert "dapeer: tools in Lua" in report


def blocks(language: str) -> list[str]:
    """Return the code of docs/migrating.md for those who come from mcp-tools.nvim."""
    page = (ROOT / "docs" / "migrating.md").read_text(encoding="utf-8")
    section = page.partition("\n## mcp-tools.nvim\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)


async def test_each_line_of_the_page_for_mcp_tools_nvim_works(tmp_path: Path) -> None:
    core = {"bridge": {"command": ["/bin/sh", "-c", "echo listening on nothing; exec cat"]}}
    async with neovim(tmp_path, dap=False, setup=core) as editor:
        printed: list[str] = []
        for block in blocks("lua"):
            said = (
                "return vim.api.nvim_exec2('lua << END\\n' .. ... .. '\\nEND', { output = true })"
            )
            printed.append((await editor.lua(said, block))["output"])
        setup, older, newer, listed, ran, removed, *_, state, stopped = printed
        assert not any((setup, older, newer, removed, stopped))
        assert "git_branch: Return the branch that is checked out." in listed
        assert " true\n" in ran
        assert "done = true" in ran
        assert 'type = "string"' in ran
        assert state.endswith("true 0")
        assert await editor.lua("return require('mcp-tools.registry').has('find_lines')") is False
        (health,) = blocks("vim")
        await editor.lua("vim.cmd(...)", health.strip())
        report = "\n".join(await editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"))
        assert "nvim_git_branch" in report


async def test_the_tools_take_the_older_names_of_arguments(tmp_path: Path) -> None:
    (tmp_path / "poem.txt").write_text("one\ntwo\n", encoding="utf-8")
    async with (
        neovim(tmp_path, dap=False, setup={}, cwd=tmp_path) as editor,
        attached(editor) as (c, _),
    ):
        await editor.lua("vim.cmd.edit('poem.txt')")
        number = await editor.lua("return vim.fn.bufnr('poem.txt')")
        for bufnr in (0, number, str(number)):
            assert "two" in await read(c, "nvim_buffer_read", bufnr=bufnr)
            assert "poem.txt" in await read(c, "nvim_undo_tree", bufnr=bufnr)
            assert "poem.txt" in await read(c, "nvim_diagnostics_list", bufnr=bufnr)
        for tool, more in {"nvim_lsp_hover": {"line": 1, "col": 1}, "nvim_lsp_symbols": {}}.items():
            assert "No language server" in await refusal(c, tool, bufnr=number, **more)
        assert "Unknown argument `bufnr`" in await refusal(
            c, "nvim_buffer_read", bufnr=number, filename="poem.txt"
        )
        assert "Unknown argument `bufnr`" in await refusal(c, "nvim_lsp_clients", bufnr=1)
        listed = {tool.name: tool for tool in (await c.list_tools()).tools}
        assert "bufnr" not in listed["nvim_buffer_read"].input_schema["properties"]
        done = await editor.lua(
            "return require('mcp-tools.registry').execute('buffer_read', { bufnr = ... })", number
        )
        assert "two" in done["result"]["content"][0]["text"]


async def test_health_does_not_offer_a_tool_that_is_not_served(tmp_path: Path) -> None:
    rc = (
        FORMS
        + """
      require('dapeer').register({
        name = 'badschema', description = 'Try it.', execute = print, parameters = { type = 'strin' },
      })
    """
    )
    async with neovim(tmp_path, dap=False, setup={}, rc=rc) as editor, attached(editor) as (c, _):
        assert await read(c, "nvim_plain") == "ok"
        await editor.lua("vim.cmd('checkhealth dapeer')")
        report = "\n".join(await editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"))
        assert "nvim_plain" in report
        assert "nvim_badschema" not in report
        assert "the tool badschema is not served: " in report
