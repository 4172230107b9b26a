"""What a person sees of the values that the assistant has changed."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import ask
from tests.neovim.editor import Editor, needs_nvim_dap
from tests.neovim.joint import together
from tests.processes import LIMIT

pytestmark = needs_nvim_dap

SOURCE = "total = 1\nother = 2\npass\n"

# nvim-dap's view does not fill in what comes after it was opened.
SIDEBAR = """
vim.wait(60000, function()
  local frame = require('dap').session().current_frame
  return frame and frame.scopes and frame.scopes[1].variables ~= nil
end)
local widgets = require('dap.ui.widgets')
local view = widgets.sidebar(widgets.scopes)
view.open()
vim.g.sidebar = view.buf
"""
SHOWN = "return table.concat(vim.api.nvim_buf_get_lines(vim.g.sidebar, 0, -1, false), '\\n')"
MARKED = """
local found = {}
local buffer, namespace = vim.fn.bufnr(...), vim.api.nvim_get_namespaces()['dapeer.effects']
for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, { details = true })) do
  found[#found + 1] = { mark[2] + 1, mark[4].virt_text[1][1] }
end
return found
"""


async def shows(editor: Editor, words: str) -> None:
    """Wait until the person's sidebar shows some words."""
    async with asyncio.timeout(LIMIT):
        while words not in await editor.lua(SHOWN):
            pass


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("dap_set_variable", {"path": "total", "value": "1000"}),
        ("dap_evaluate", {"expression": "total = 1000", "context": "repl"}),
    ],
)
async def test_a_value_that_the_assistant_changes_is_seen_in_the_person_s_views_and_marked(
    tmp_path: Path, setup: dict[str, object], tool: str, arguments: dict[str, object]
) -> None:
    source = tmp_path / "program.py"
    source.write_text(SOURCE)
    async with together(tmp_path, setup) as (client, person):
        await person.breaks_at(source, 3)
        await person.run(str(source))
        await person.sees_stop(3)
        await person.editor.lua(SIDEBAR)
        await shows(person.editor, "total: 1\n")
        await ask(client, tool, **arguments)
        await shows(person.editor, "total: 1000\n")
        assert await person.editor.lua(MARKED, str(source)) == [[3, " total = 1000 "]]
