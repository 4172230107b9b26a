"""Programs in Neovim's terminal: the assistant reads what they print there, and can answer them."""

from pathlib import Path

from tests.harness import Json, ask, listed, printed, refusal
from tests.neovim.joint import together
from tests.processes import LIMIT
from tests.programs import program


async def test_what_a_person_could_read_in_their_terminal_is_output_and_can_be_answered(
    tmp_path: Path, setup: Json
) -> None:
    asks = program("reads_stdin.py")
    async with together(tmp_path, setup) as (c, person):
        await person.breaks_at(asks.source, asks.line("end"))
        await person.run(asks, console="integratedTerminal")
        question = await ask(c, "dap_program_output", since=0, wait_ms=LIMIT * 1000)
        assert question["text"] == "Your name? "
        assert "dap_send_input" in await listed(c)
        await ask(c, "dap_send_input", text="Ada", timeout_ms=LIMIT * 1000)
        await person.sees_stop(asks.line("end"))
        stop = await ask(c, "dap_wait_until_paused")
        assert stop["locals"]["answer"] == "'Ada'"
        await ask(c, "dap_continue")
        # Neovim's terminal shows what is typed, as terminals do.
        assert await printed(c, "end") == "Your name? Ada\nHello Ada\nend\n"
        assert "has ended" in await refusal(c, "dap_send_input", text="more")


TYPES_SLOWLY = """
local send = vim.api.nvim_chan_send
vim.api.nvim_chan_send = function(...)
  send(...)
  vim.wait(30000, function()
    return require('dap').session().stopped_thread_id ~= nil
  end)
end
"""


async def test_a_stop_is_the_answer_also_when_it_comes_before_neovim_has_told_that_it_typed(
    tmp_path: Path, setup: Json
) -> None:
    asks = program("reads_stdin.py")
    async with together(tmp_path, setup) as (c, person):
        await person.editor.lua(TYPES_SLOWLY)
        await person.breaks_at(asks.source, asks.line("end"))
        await person.run(asks, console="integratedTerminal")
        await ask(c, "dap_program_output", since=0, wait_ms=LIMIT * 1000)
        stop = await ask(c, "dap_send_input", text="Ada", timeout_ms=LIMIT * 1000)
        assert stop["line"] == asks.line("end")


async def test_the_assistant_starts_a_program_in_the_persons_terminal(tmp_path: Path) -> None:
    asks = program("reads_stdin.py")
    async with together(tmp_path, {}) as (c, person):
        await ask(
            c, "dap_run", program=str(asks), where="nvim", terminal=True, timeout_ms=100,
        )  # fmt: skip
        await ask(c, "dap_program_output", since=0, wait_ms=LIMIT * 1000)
        await ask(c, "dap_send_input", text="\x04", enter=False)
        await person.sees_end()
        assert "nobody there" in (await ask(c, "dap_program_output"))["text"]
