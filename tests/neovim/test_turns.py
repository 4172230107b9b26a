"""The person's own steps come first: the core leaves their stops to nvim-dap, and hears what it is told."""

from pathlib import Path

from mcp import Client

from tests.harness import Json, ask
from tests.neovim.joint import together
from tests.neovim.person import Person
from tests.programs import program

STEPS = program("steps.py")
PLACES = ("add_return", "twice_next", "add")
"""Where steps over lead, one after the other."""
LOOKS = ["stackTrace", "scopes", "variables", "variables"]
"""What nvim-dap asks debugpy at a stop: the last are locals and globals."""

COUNT = r"""
local client = require('dap').session().client
local write = client.write
asked = {}
client.write = function(text, ...)
  table.insert(asked, vim.json.decode(text:match('\r\n\r\n(.*)$')).command)
  return write(text, ...)
end
"""
"""Note all that the adapter is asked, whoever asks."""


async def asked(person: Person) -> list[str]:
    """Return what the adapter was asked since the last time."""
    return list(await person.editor.lua("local all = asked; asked = {}; return all"))


async def stopped(c: Client, person: Person) -> None:
    """Come to a stop that the assistant has seen, and begin to count."""
    await person.breaks_at(STEPS.source, STEPS.line("add"))
    await person.run(STEPS)
    await person.sees_stop(STEPS.line("add"))
    await ask(c, "dap_snapshot")
    await person.editor.lua(COUNT)


async def test_the_core_asks_nothing_while_the_person_steps_and_then_only_what_is_missing(
    tmp_path: Path, setup: Json
) -> None:
    async with together(tmp_path, setup) as (c, person):
        await stopped(c, person)
        for place in PLACES:
            await person.does("step_over")
            await person.sees_stop(STEPS.line(place))
        seen = await ask(c, "dap_snapshot")
        assert (seen["line"], seen["locals"]) == (STEPS.line("add"), {"a": "21", "b": "21"})
        # Which frames debugpy leaves out is asked once for each chain of callers.
        assert await asked(person) == [*["next", *LOOKS] * 3, "evaluate"]
        stops = (await ask(c, "dap_history"))["stops"]
        assert all("steps.py" in str(stop) for stop in stops[-3:])
        # Every look is answered by what nvim-dap was told.
        for tool in ("dap_stacktrace", "dap_scopes", "dap_variables"):
            await ask(c, tool)
        assert await asked(person) == []


async def test_an_assistant_that_waits_for_the_persons_step_lets_nvim_dap_ask_first(
    tmp_path: Path, setup: Json
) -> None:
    async with together(tmp_path, setup) as (c, person):
        await stopped(c, person)
        await person.does("step_over")
        await ask(c, "dap_wait_until_paused")
        await person.sees_stop(STEPS.line("add_return"))
        assert (await ask(c, "dap_snapshot"))["line"] == STEPS.line("add_return")
        assert await asked(person) == ["next", *LOOKS]


async def test_a_step_of_the_assistant_is_looked_at_without_waiting_for_nvim_dap(
    tmp_path: Path,
) -> None:
    async with together(tmp_path, {}, ui=True) as (c, person):
        await stopped(c, person)
        # Neovim does not come to the stop while it waits for a key.
        await person.editor.blocked("f")
        seen = await ask(c, "dap_step_over")
        assert seen["locals"] == {"a": "21", "b": "0", "total": "21"}
        await person.editor.keys("<Esc>")
        assert (await asked(person))[:4] == ["next", "stackTrace", "scopes", "variables"]
