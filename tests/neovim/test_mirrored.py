"""The person's sessions, seen by the assistant: the same as if it had started them itself."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.harness import Json, ask, call, client, data, evaluate, listed, read, text
from tests.neovim.editor import neovim
from tests.neovim.joint import LOOKS, attached, heard, only_session, together
from tests.neovim.person import Person
from tests.processes import LIMIT
from tests.programs import Program, program


async def looks(c: Client) -> dict[str, Any]:
    """Return what all of them answer, text and data, and what depends on them."""
    found: dict[str, Any] = {}
    for tool, arguments in LOOKS.items():
        result = await call(c, tool, **arguments)
        found[tool] = (data(result), text(result))
    frame = found["dap_stacktrace"][0]["frames"][2]["frame_id"]
    found["outer"] = await read(c, "dap_variables", frame_id=frame)
    found["source"] = await read(c, "dap_source", filename="fixtures/programs/loop.py")
    found["evaluate"] = await ask(c, "dap_evaluate", expression="[value, {'a': doubled}]")
    return found


async def test_every_tool_tells_of_the_persons_session_what_it_tells_of_its_own(
    tmp_path: Path, setup: Json, feed: str
) -> None:
    loop = program("loop.py")
    stop = loop.line("inner_return")
    async with together(tmp_path, setup) as (c, person):
        await person.breaks_at(loop.source, stop, "value == 1")
        await person.run(loop)
        await person.sees_stop(stop)
        # What the person has done is told once, with the first answer behind it.
        await heard(c)
        mirrored, status = await looks(c), await only_session(c)
        tools = await listed(c)
    async with client() as c:
        await ask(
            c,
            "dap_run",
            program=str(loop),
            breakpoints=[loop.at("inner_return", condition="value == 1")],
        )
        direct, own = await looks(c), await only_session(c)
        # What the adapter can do beyond the basics is offered for both.
        assert {"dap_completions", "dap_modules"} <= await listed(c) & tools
    assert mirrored == direct
    # Which interpreter runs the person's program was not ours to choose, and its process may be another machine's.
    del own["interpreter"], own["pid"]
    assert status == own | {"type": "python", "feed": feed}


CUT = """
import re
import sys


class Cart:
    def __init__(self):
        self.items, self.total = ["cup"], 3

    @property
    def price(self):
        self.total = "run"


def change(found):
    cart = Cart()
    deep = {"a": [[1, 2], [3, 4]], 0: ((1, (2,)),)}
    itself = [deep]
    itself.append(itself)
    total = cart.total  # @change
    return f"{deep} {cart} {total}"


loaded = {*sys.modules}
re.sub("a", change, "a")
"""
ASKED = """
local asked = {}
for _, command in ipairs({ 'stackTrace', 'scopes', 'variables', 'evaluate' }) do
  require('dap').listeners.before[command].test = function(_, _, _, arguments)
    table.insert(asked, { command, vim.json.encode(arguments) })
  end
end
function _G.test_asked() return asked end
"""
"""Notes what debugpy is asked, by nvim-dap and by dapeer."""


async def test_what_debugpy_cuts_in_the_persons_session_is_asked_for_or_said_to_be_left_out(
    tmp_path: Path,
) -> None:
    path = tmp_path / "cut.py"
    path.write_text(CUT, encoding="utf-8")
    p = Program(path, path)
    whole = "{'a': [[1, 2], [3, 4]], 0: ((1, (2,)),)}"
    async with together(tmp_path, {}) as (c, person):
        await person.breaks_at(path, p.line("change"))
        await person.run(p)
        await person.sees_stop(p.line("change"))
        snapshot = await ask(c, "dap_snapshot")
        assert snapshot["locals"]["deep"] == whole
        # No property of it was run.
        assert snapshot["locals"]["cart"] == "Cart(items=['cup'], total=3)"
        left_out = "1 frame of Python's library left out by justMyCode"
        assert left_out in snapshot["notes"]
        assert f"({left_out})" in await read(c, "dap_stacktrace")
        assert await evaluate(c, "deep") == whole
        assert await evaluate(c, "itself") == f"[{whole}, [{{'a': [...], 0: (...)}}, [...]]]"
        assert f"deep: dict = {whole}" in await read(c, "dap_variables")
        await read(c, "dap_evaluate", expression="cart.items.clear()", context="repl")
        assert (await ask(c, "dap_snapshot"))["locals"]["cart"] == "Cart(items=[], total=3)"
        await person.editor.lua(ASKED)
        assert (await ask(c, "dap_step_over"))["locals"]["cart"] == "Cart(items=[], total=3)"
        asked = [tuple(each) for each in await person.editor.lua("return test_asked()")]
        assert len({*asked}) == len(asked), "nothing was asked twice"
        assert [command for command, _ in asked].count("evaluate") == 1
        assert max(len(arguments) for _, arguments in asked) < 10_000
        # What they see is as it was, and a look has loaded nothing.
        assert await person.evaluates("sorted({*sys.modules} - loaded)") == "[]"
        assert "object at 0x" in await person.evaluates("cart")
        assert await person.evaluates("deep") == "{'a': [[...], [...]], 0: ((...),)}"
        await ask(c, "dap_terminate")
        await person.sees_end()


@pytest.mark.parametrize("ran_before", ["the plugin", "the core"])
async def test_a_session_that_ran_before_is_seen_where_it_is(
    tmp_path: Path, setup: Json, feed: str, ran_before: str
) -> None:
    loop = program("loop.py")
    line = loop.line("inner")
    late = ran_before == "the plugin"
    async with neovim(tmp_path, setup=None if late else setup) as editor:
        person = Person(editor)
        await person.breaks_at(loop.source, line)
        await person.run(loop)
        await person.sees_stop(line)
        if late:
            await editor.lua("require('dapeer').setup(...)", setup or {"debug": False})
        async with attached(editor) as (c, _):
            status = await only_session(c)
            assert status["feed"] == ("listeners" if late else feed)
            assert (status["state"], status["function"], status["line"]) == (
                "stopped",
                "inner",
                line,
            )
            snapshot = await ask(c, "dap_snapshot")
            assert snapshot["locals"] == {"value": "0"}
            assert len(snapshot["stack"]) == 4
            after = await ask(c, "dap_step_over")
            assert (after["line"], after["locals"]["doubled"]) == (loop.line("inner_return"), "0")
            await person.sees_stop(loop.line("inner_return"))
            await ask(c, "dap_continue")
            await person.sees_stop(line)
            assert "round 1" in await read(c, "dap_program_output")


async def test_what_a_tapped_session_told_before_the_core_came_is_known(tmp_path: Path) -> None:
    loop = program("loop.py")
    async with neovim(tmp_path, setup={}) as editor:
        person = Person(editor)
        await person.breaks_at(loop.source, loop.line("inner"))
        await person.run(loop)
        await person.sees_stop(loop.line("inner"))
        await person.does("continue")
        await person.sees_stop(loop.line("inner"))
        async with attached(editor) as (c, _):
            assert (await ask(c, "dap_program_output"))["text"] == "round 0\nround 1\n"
            stops = (await ask(c, "dap_history"))["stops"]
            assert [stop["stop"] for stop in stops] == [1, 2]
            assert (await ask(c, "dap_breakpoints"))["breakpoints"][0]["state"] == "verified"


async def test_a_session_that_has_ended_stays_readable(tmp_path: Path, setup: Json) -> None:
    exit3 = program("exit3.py")
    async with together(tmp_path, setup) as (c, person):
        await person.run(exit3)
        # nvim-dap asks debugpy to stop at what nobody catches, SystemExit included.
        stop = await ask(c, "dap_wait_until_paused")
        assert (stop["reason"], stop["line"]) == ("exception", exit3.line("exit"))
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 3)
        await person.sees_end()
        assert await person.sessions() == []
        assert (await only_session(c))["exit_code"] == 3


async def test_two_sessions_are_told_apart(tmp_path: Path, setup: Json) -> None:
    loop, steps = program("loop.py"), program("steps.py")
    async with together(tmp_path, setup) as (c, person):
        await person.breaks_at(loop.source, loop.line("inner"))
        await person.breaks_at(steps.source, steps.line("add"))
        await person.run(loop)
        await person.sees_stop(loop.line("inner"))
        await person.run(steps)
        await person.sees_stop(steps.line("add"))
        rows = (await ask(c, "dap_status"))["sessions"]
        assert [row["function"] for row in rows] == ["inner", "add"]
        first, second = (row["session_id"] for row in rows)
        await ask(c, "dap_step_over", session_id=first)
        await person.sees_stop(loop.line("inner_return"))
        await ask(c, "dap_step_over", session_id=second)
        await person.sees_stop(steps.line("add_return"))
        lines = [session["line"] for session in await person.sessions()]
        assert lines == [loop.line("inner_return"), steps.line("add_return")]
        await ask(c, "dap_terminate", session_id=first)
        await person.sees_end()
        assert [session["name"] for session in await person.sessions()] == ["steps.py"]
        states = [row["state"] for row in (await ask(c, "dap_status"))["sessions"]]
        assert states == ["ended", "stopped"]


async def output(c: Client, lines: int) -> str:
    """Wait until the program has printed so many lines; return the last ones."""
    # Output comes by another road than a stop, and may be later.
    while (tail := await ask(c, "dap_program_output", category="stdout"))["lines_total"] < lines:
        since = tail["cursor"]
        await ask(c, "dap_program_output", category="stdout", since=since, wait_ms=LIMIT * 1000)
    return str(tail["text"])


@pytest.mark.parametrize(
    ("feed", "lines"),
    # nvim-dap needs most of the time, and the same over both feeds.
    [("tap", 100_000), ("listeners", 10_000)],
)
async def test_a_hundred_thousand_lines_of_output_arrive_in_order(
    tmp_path: Path, setup: Json, lines: int
) -> None:
    many = program("many_lines.py")
    async with together(tmp_path, setup) as (c, person):
        await person.breaks_at(many.source, many.line("done"))
        await person.run(many, args=[str(lines)])
        stop = await ask(c, "dap_wait_until_paused", timeout_ms=60_000)
        assert stop["line"] == many.line("done")
        assert (await output(c, lines)).endswith(f"\nline {lines - 2}\nline {lines - 1}\n")
        assert (await ask(c, "dap_evaluate", expression="number"))["result"] == str(lines - 1)
        await ask(c, "dap_continue")
        assert (await output(c, lines + 1)).endswith(f"line {lines - 1}\ndone {lines}\n")
        await person.sees_end()
