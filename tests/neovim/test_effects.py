"""What a person sees of the values that the assistant has changed."""

from pathlib import Path

import pytest

from tests.harness import ask
from tests.neovim.editor import Editor
from tests.neovim.joint import together

SOURCE = "total = 1\nother = 2\npass\n"

# nvim-dap's view does not fill in what comes after it was opened, so it is opened once the variables are there.
SIDEBAR = """
local function filled()
  local frame = require('dap').session().current_frame
  return frame and frame.scopes and frame.scopes[1].variables ~= nil
end
local function tell(_, buffer)
  vim.rpcnotify(vim.g.test_channel, 'sidebar', vim.api.nvim_buf_get_lines(buffer, 0, -1, false))
end
local function open()
  local widgets = require('dap.ui.widgets')
  local view = widgets.sidebar(widgets.scopes)
  view.open()
  tell('lines', view.buf)
  vim.api.nvim_buf_attach(view.buf, false, { on_lines = tell })
end
local answered = require('dap').listeners.after.variables
if filled() then
  open()
else
  answered.sidebar = function()
    if filled() then
      answered.sidebar = nil
      open()
    end
  end
end
"""
MARKED = """
local found = {}
local buffer, namespace = vim.fn.bufnr(...), vim.api.nvim_get_namespaces()['dapeer.effects']
for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, { details = true })) do
  found[#found + 1] = { mark[2] + 1, mark[4].virt_text[1][1] }
end
return found
"""


async def shows(editor: Editor, line: str) -> None:
    """Wait until the person's sidebar shows a line."""
    while line not in map(str.strip, (await editor.wait_for_notification("sidebar"))[0]):
        pass


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("dap_set_variable", {"path": "total", "value": "1000"}),
        ("dap_set_variable", {"path": "globals()['total']", "value": "1000"}),
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
        await shows(person.editor, "total: 1")
        await ask(client, tool, **arguments)
        await shows(person.editor, "total: 1000")
        assert await person.editor.lua(MARKED, str(source)) == [[3, " total = 1000 "]]


async def test_a_line_that_the_assistant_goes_to_is_seen_by_the_person(
    tmp_path: Path, setup: dict[str, object]
) -> None:
    source = tmp_path / "program.py"
    source.write_text(SOURCE)
    async with together(tmp_path, setup) as (client, person):
        await person.breaks_at(source, 3)
        await person.run(str(source))
        await person.sees_stop(3)
        assert (await ask(client, "dap_goto", line=1))["line"] == 1
        await person.sees_stop(1)
        assert (await person.session())["line"] == 1
