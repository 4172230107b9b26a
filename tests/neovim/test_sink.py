"""When a core gets the messages of a session: what it has no use for yet comes with what follows."""

from pathlib import Path

import pytest

from tests.neovim.editor import Editor, neovim

SINK = """
  local uv = vim.uv
  local sinks = require('dapeer.nvim_dap.sink')
  local ends = uv.socketpair(nil, nil, { nonblock = true }, { nonblock = true })
  local pipe = uv.new_pipe()
  pipe:open(ends[1])
  local sink = sinks.new(pipe)
  local function come()
    return uv.fs_read(ends[2], 65536, -1) or ''
  end
"""
"""A sink, and what has come at its other end by now; nothing else runs meanwhile."""


async def came(tmp_path: Path, messages: list[tuple[str, str]]) -> list[str]:
    """Return what comes at each message: to the adapter (`o`) or from it (`i`), with the command or event as its text."""
    script = """
      local came = {}
      for _, message in ipairs(...) do
        sinks[message[1] == 'o' and 'request' or 'message'](sink, message[2], message[1] .. message[2] .. ' ')
        table.insert(came, come())
      end
      sinks.close(sink)
      return came
    """
    async with neovim(tmp_path, setup={}) as editor:
        return await editor.lua(SINK + script, messages)


STEP = [
    *[("o", "next"), ("i", "next"), ("i", "continued"), ("i", "output"), ("i", "stopped")],
    *[("o", "stackTrace"), ("i", "stackTrace"), ("o", "scopes"), ("i", "scopes")],
]


async def test_a_stop_comes_with_its_stack_and_scopes_when_nvim_dap_asks_for_variables(
    tmp_path: Path,
) -> None:
    *before, asked, answered = await came(tmp_path, [*STEP, ("o", "variables"), ("i", "variables")])
    assert before == [""] * len(STEP)
    assert asked == "".join(f"{kind}{name} " for kind, name in [*STEP, ("o", "variables")])
    assert answered == "ivariables "


@pytest.mark.parametrize("event", ["terminated", "exited", "breakpoint", "exceptionInfo"])
async def test_what_a_step_may_also_lead_to_comes_at_once(tmp_path: Path, event: str) -> None:
    assert await came(tmp_path, [("o", "next"), ("i", event)]) == ["", f"onext i{event} "]


async def test_a_request_comes_with_its_answer(tmp_path: Path) -> None:
    messages = [("o", "evaluate"), ("o", "source"), ("i", "evaluate"), ("i", "source")]
    assert await came(tmp_path, messages) == ["", "", "oevaluate osource ievaluate ", "isource "]


async def test_an_event_of_a_program_that_nobody_has_resumed_comes_at_once(tmp_path: Path) -> None:
    messages = [("i", "stopped"), ("i", "output")]
    assert await came(tmp_path, messages) == ["istopped ", "ioutput "]


async def _comes_by_itself(editor: Editor, work: str) -> str:
    """Have a sink take something in, and return what comes although nothing follows."""
    reading = """
      local reader = uv.new_pipe()
      reader:open(ends[2])
      reader:read_start(function(_, chunk)
        vim.rpcnotify(vim.g.test_channel, 'came', chunk or 'the end')
      end)
    """
    await editor.lua(SINK + reading + work)
    return str((await editor.wait_for_notification("came"))[0])


@pytest.mark.parametrize(
    "last", ["sinks.request(sink, 'next', '')", "sinks.message(sink, 'stopped', '')"]
)
async def test_what_nothing_follows_comes_by_itself(tmp_path: Path, last: str) -> None:
    work = f"sinks.request(sink, 'next', 'step') {last}"
    async with neovim(tmp_path, setup={}) as editor:
        assert await _comes_by_itself(editor, work) == "step"


async def test_what_waits_when_a_session_ends_comes_before_its_end(tmp_path: Path) -> None:
    work = "sinks.request(sink, 'next', 'step ') sinks.finish(sink, 'closed')"
    async with neovim(tmp_path, setup={}) as editor:
        assert await _comes_by_itself(editor, work) == "step closed"
        assert await editor.wait_for_notification("came") == ["the end"]
