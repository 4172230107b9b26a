"""An adapter that nvim-dap has started, and that sends what no adapter should."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from dapeer.base.text.lines import escaped
from tests.harness import FAKE_ADAPTER, FAKE_PROGRAM, Json, ask, call, text
from tests.hostile import forger
from tests.hostile.forger import forged
from tests.neovim.consenting import ANSWERS
from tests.neovim.editor import neovim
from tests.neovim.joint import heard, together
from tests.neovim.test_effects import MARKED
from tests.processes import LIMIT

HOSTILE = """
require('dap').adapters.hostile = { type = 'executable', command = %s, args = { %s, %s } }
"""
LOOKS = ("dap_threads", "dap_snapshot", "dap_scopes", "dap_evaluate", "dap_step_over", "dap_status")
STOPPED: dict[str, object] = {"reason": "step", "threadId": [1], "hitBreakpointIds": {}}
SCRIPTS: dict[str, Json] = {
    "list of a thread": {"next": ["ok", {"event": ["stopped", STOPPED]}]},
    "null scopes": {"scopes": [{"respond": {"scopes": None}}]},
    "odd frames": {"stackTrace": [{"respond": {"stackFrames": [{"id": {}, "line": "x"}, 5]}}]},
}


@pytest.mark.parametrize("script", SCRIPTS)
async def test_an_odd_message_to_nvim_dap_ends_at_most_its_own_session(
    tmp_path: Path, setup: Json, script: str
) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"on": SCRIPTS[script], "log": str(tmp_path / "log")}), "utf-8")
    words = (json.dumps(str(word)) for word in (sys.executable, FAKE_ADAPTER, path))
    async with (
        asyncio.timeout(LIMIT),
        together(tmp_path, setup, rc=HOSTILE % tuple(words)) as (
            c,
            person,
        ),
    ):
        await person.run(FAKE_PROGRAM, type="hostile")
        await call(c, "dap_wait_until_paused", timeout_ms=2000)
        for tool in LOOKS:
            arguments = {"expression": "line"} if tool == "dap_evaluate" else {}
            said = text(await call(c, tool, **arguments))
            assert "Internal error" not in said
            assert "could not process" not in said
        # nvim-dap's own code may fail; the editor lives on, and our listeners have not failed.
        assert "lua/dapeer/" not in str(await person.editor.lua("return vim.v.errmsg"))
        said = str(await person.editor.lua("return vim.fn.execute('messages')"))
        assert "lua/dapeer/" not in said


UNSEEN_FIRST = f"\x1b[2J\u202eFAKE\n{forger.TEXT}"
NOTIFIED = """
vim.notify = function(said)
  vim.rpcnotify(vim.g.test_channel, 'said', said)
end
"""
SHOWN = """
for _, command in ipairs({ 'log', 'status', 'follow', 'diffs' }) do
  vim.cmd('Dapeer ' .. command)
end
local status = require('dapeer').status()
local shown = { vim.fn.execute('messages'), status.text, status.summary }
for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
  if vim.bo[buffer].filetype:match('^dapeer') then
    vim.list_extend(shown, vim.api.nvim_buf_get_lines(buffer, 0, -1, false))
  end
end
return shown
"""


async def test_no_line_that_neovim_shows_as_dapeer_s_is_an_adapter_s(
    tmp_path: Path, setup: Json
) -> None:
    path = tmp_path / "script.json"
    script: Json = {"on": forger.script(fails=False), "capabilities": forger.CAPABILITIES}
    path.write_text(json.dumps(script), "utf-8")
    words = tuple(json.dumps(str(word)) for word in (sys.executable, FAKE_ADAPTER, path))
    rc = NOTIFIED + HOSTILE % words
    async with (
        asyncio.timeout(LIMIT),
        together(tmp_path, {**setup, "notify": True}, rc=rc, ui=True) as (c, person),
    ):
        await person.run(FAKE_PROGRAM, type="hostile", name=forger.TEXT)
        await call(c, "dap_wait_until_paused", timeout_ms=2000)
        for tool, arguments in forger.calls():
            if tool not in {"dap_terminate", "dap_restart", "dap_disconnect", "dap_detach_nvim"}:
                await call(c, tool, **arguments)
        # Of its arguments, an assistant may have read some in the program.
        await call(c, "dap_evaluate", expression=UNSEEN_FIRST)
        await heard(c)
        shown = await person.editor.lua(SHOWN)
        said = [(await person.editor.wait_for_notification("said"))[0] for _ in range(9)]
    assert [found for line in (*shown, *said) for found in forged(line)] == []
    assert [line for line in said if not line.startswith("dapeer: ")] == []
    assert sum("FAKE" in line for line in shown) > 10


ANSWERED = """
require('dap').listeners.after.variables.test = vim.schedule_wrap(function()
  vim.rpcnotify(vim.g.test_channel, 'answered')
end)
"""
SAYS = "class Odd:\n    def __repr__(self):\n        return {!r}\nodd = 1\npass\n"


async def test_a_value_beside_a_line_is_one_line_whose_unseen_characters_are_escapes(
    tmp_path: Path, setup: Json
) -> None:
    source = tmp_path / "program.py"
    source.write_text(SAYS.format(UNSEEN_FIRST))
    async with asyncio.timeout(LIMIT), together(tmp_path, setup) as (c, person):
        await person.breaks_at(source, 5)
        await person.run(str(source))
        await person.sees_stop(5)
        await person.editor.lua(ANSWERED)
        await ask(c, "dap_set_variable", path="odd", value="Odd()")
        while not (marks := await person.editor.lua(MARKED, str(source))):
            await person.editor.wait_for_notification("answered")
    ((_, shown),) = marks
    assert forged(shown) == []
    assert shown.startswith(r" odd = \x1b[2J\u202eFAKE FAKE")


ESCAPES = """
local escaped, codes = require('dapeer.results.fitting').escaped, {}
for code = 1, 0x10ffff do
  local character = vim.fn.nr2char(code, true)
  if (code < 0xd800 or code > 0xdfff) and escaped(character) ~= character then
    table.insert(codes, code)
  end
end
return codes
"""


async def test_neovim_windows_escape_the_characters_that_answers_escape(tmp_path: Path) -> None:
    characters = map(chr, (*range(1, 0xD800), *range(0xE000, 0x110000)))
    async with neovim(tmp_path, setup={}) as editor:
        escapes = await editor.lua(ESCAPES)
    assert escapes == [ord(each) for each in characters if escaped(each) != each]


async def test_no_line_of_a_question_for_consent_is_one_that_the_assistant_sends(
    tmp_path: Path, setup: Json
) -> None:
    asks = {**setup, "approve": {"evaluate": True, "run": True}}
    lines = f"{forger.TEXT}\n[a] Allow once\n\n[d] Deny"
    async with (
        asyncio.timeout(LIMIT),
        together(tmp_path, asks, rc=ANSWERS + "vim.g.answer = 'deny'", ui=True) as (c, person),
    ):
        for tool, arguments in (
            ("dap_run", {"code": lines, "args": [lines], "env": {lines: lines}}),
            ("dap_run", {"program": lines}),
            ("dap_evaluate", {"expression": lines}),
        ):
            await call(c, tool, **arguments)
            (shown,) = await person.editor.wait_for_notification("asked")
            assert forged("\n".join(shown)) == []
            assert [line for line in shown if line[:1] == "["] == shown[-3:]
            assert sum("FAKE" in line for line in shown) > 0
