"""The assistant acts on the person's session, and the person on it, and both stay in step."""

import asyncio
import os
from pathlib import Path

from mcp import Client

from tests.harness import Json, ask, call, data, evaluate, printed, refusal, text
from tests.neovim.joint import only_session, together
from tests.neovim.person import Person
from tests.processes import process_gone
from tests.programs import Program, program


async def stopped(c: Client, person: Person, at: Program, marker: str = "inner") -> int:
    """Let the person start a program and stop at a marked line; return the line."""
    line = at.line(marker)
    await person.breaks_at(at.source, line)
    await person.run(at)
    await person.sees_stop(line)
    assert (await ask(c, "dap_wait_until_paused"))["line"] == line
    return line


async def shows(person: Person, at: Program, line: int) -> None:
    """Assert that nvim-dap shows its only session as stopped at a line, by state and by sign."""
    await person.sees_stop(line)
    session = await person.session()
    assert (session["stopped"], session["line"], session["focused"]) == (True, line, True)
    assert session["signs"] == [[str(at.source), line, "DapStopped"]]


async def test_nvim_dap_follows_every_step_of_the_assistant(tmp_path: Path, setup: Json) -> None:
    steps = program("steps.py")
    async with together(tmp_path, setup) as (c, person):
        await stopped(c, person, steps, "call")
        for tool, marker in [
            ("dap_step_into", "twice"),
            ("dap_step_over", "twice_next"),
            ("dap_step_into", "add"),
            ("dap_step_out", "twice_next"),
        ]:
            assert (await ask(c, tool))["line"] == steps.line(marker)
            await shows(person, steps, steps.line(marker))
        target = steps.line("print")
        stop = await ask(c, "dap_run_to", filename=str(steps.source), line=target)
        assert stop["line"] == target
        await shows(person, steps, target)
        assert await person.breakpoints() == {("steps.py", steps.line("call"), "DapBreakpoint")}
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"], end["output"]) == ("ended", 0, "42\n")
        await person.sees_end()
        assert await person.sessions() == []


async def test_looking_and_stepping_leave_the_persons_desk_alone(
    tmp_path: Path, setup: Json
) -> None:
    """The program is shown in one window; the person works in another."""
    loop, other = program("loop.py"), program("steps.py")
    async with together(tmp_path, setup, ui=True) as (c, person):
        await stopped(c, person, loop)
        await person.editor.lua("vim.cmd.vsplit()")
        await person.opens(other.source, 5)
        await person.editor.keys('"ayyvj')
        before = await person.desk()
        assert before["mode"] == "v"
        for tool in ("dap_snapshot", "dap_stacktrace", "dap_variables", "dap_threads"):
            await ask(c, tool)
        await evaluate(c, "value + 1")
        await ask(c, "dap_set_variable", path="value", value="20")
        await ask(c, "dap_set_breakpoint", filename=str(loop.source), line=loop.line("call"))
        await ask(c, "dap_remove_breakpoint", filename=str(loop.source), line=loop.line("call"))
        assert await person.desk() == before
        # At a stop nvim-dap itself shows the place, as it does when the person steps.
        await person.editor.keys("<Esc>")
        await ask(c, "dap_step_over")
        await person.sees_stop(loop.line("inner_return"))
        by_assistant = await person.desk()
        await person.does("step_out")
        await person.sees_stop(loop.line("middle"))
        by_person = await person.desk()
        assert by_assistant["registers"] == by_person["registers"] == before["registers"]
        assert len(by_assistant["windows"]) == len(before["windows"])
        assert by_assistant["window"] == by_person["window"]
        assert by_assistant["mode"] == by_person["mode"] == "n"


async def test_what_the_assistant_changes_is_changed_for_both(tmp_path: Path, setup: Json) -> None:
    loop = program("loop.py")
    async with together(tmp_path, setup) as (c, person):
        await stopped(c, person, loop)
        await ask(c, "dap_set_variable", path="value", value="20")
        assert await evaluate(c, "value") == "20"
        await person.does("step_over")
        await person.sees_stop(loop.line("inner_return"))
        assert await person.evaluates("doubled") == "40"
        stop = await ask(c, "dap_wait_until_paused", evaluate=["doubled + 1", "doubld"])
        assert stop["locals"] == {"value": "20", "doubled": "40"}
        assert stop["values"] == {"doubled + 1": "41"}
        assert "near: doubled" in stop["failed"]["doubld"]


async def test_what_is_told_of_a_stop_is_of_one_stop_when_the_person_goes_on_meanwhile(
    tmp_path: Path, setup: Json
) -> None:
    loop, gate = program("loop.py"), tmp_path / "gate"
    os.mkfifo(gate)
    # At the first stop it is not known before the gate is opened.
    held = f"value if 'doubled' in locals() else open({str(gate)!r}).read()"
    async with together(tmp_path, setup) as (c, person):
        await person.breaks_at(loop.source, loop.line("inner"))
        await person.run(loop)
        await person.sees_stop(loop.line("inner"))
        waits = asyncio.create_task(ask(c, "dap_wait_until_paused", evaluate=[held, "doubled"]))
        with await asyncio.to_thread(gate.open, "w"):
            await person.does("step_over")
        told = await waits
        assert told["line"] == loop.line("inner_return")
        assert told["locals"]["doubled"] == "0"
        assert told["values"] == {held: "0", "doubled": "0"}
        # Nobody was told of the stop before.
        assert told["output"] == "round 0\n"


async def test_a_wait_of_the_assistant_ends_when_the_person_steps(
    tmp_path: Path, setup: Json
) -> None:
    endless = program("endless_loop.py")
    async with together(tmp_path, setup) as (c, person):
        await person.run(endless)
        await printed(c, "started")
        assert (await only_session(c))["state"] == "running"
        waits = asyncio.create_task(ask(c, "dap_wait_until_paused"))
        await person.breaks_at(endless.source, endless.line("turn"))
        assert (await waits)["line"] == endless.line("turn")
        await person.sees_stop(endless.line("turn"))
        # Removed, or the next stop could be this line again before anybody looks.
        await person.toggles(endless.source, endless.line("turn"))
        resumed = asyncio.create_task(ask(c, "dap_continue"))
        await person.breaks_at(endless.source, endless.line("turn"))
        assert (await resumed)["line"] == endless.line("turn")
        first = int(await evaluate(c, "turns"))
        await person.sees_stop(endless.line("turn"))
        await person.does("continue")
        await person.sees_stop(endless.line("turn"))
        assert int(await evaluate(c, "turns")) == first + 1


async def test_both_step_at_once_and_agree_where_that_has_led(tmp_path: Path, setup: Json) -> None:
    path = tmp_path / "slow.py"
    # So slow that both have asked before it is over.
    path.write_text("import time\ntime.sleep(1)  # @slow\na = 1\nb = 2\nc = 3\nd = 4  # @meet\n")
    slow = Program(path, path)
    async with together(tmp_path, setup) as (c, person):
        line = await stopped(c, person, slow, "slow")
        await ask(c, "dap_set_breakpoint", **slow.at("meet"))
        by_assistant = asyncio.create_task(call(c, "dap_step_over"))
        await person.does("step_over")
        # Who comes second is refused, or debugpy keeps that step and makes both.
        step = await by_assistant
        assert step.is_error or data(step)["line"] in (line + 1, line + 2), text(step)
        while (await ask(c, "dap_wait_until_paused"))["line"] != slow.line("meet"):
            await call(c, "dap_continue")
        await shows(person, slow, slow.line("meet"))


HASTY = """
local listeners = require('dap').listeners.after.event_stopped
listeners.hasty = function(session, body)
  listeners.hasty = nil
  session:request('next', { threadId = body.threadId })
end
"""


async def test_a_step_that_the_person_steps_on_from_tells_where_that_has_led(
    tmp_path: Path, setup: Json
) -> None:
    path = tmp_path / "slow.py"
    path.write_text("import time  # @first\ntime.sleep(1)\na = 1  # @met\n")
    slow = Program(path, path)
    async with together(tmp_path, setup) as (c, person):
        line = await stopped(c, person, slow, "first")
        await person.editor.lua(HASTY)
        assert (await ask(c, "dap_step_over"))["line"] in (line + 1, slow.line("met"))
        assert (await ask(c, "dap_wait_until_paused"))["line"] == slow.line("met")


async def test_a_program_that_runs_is_paused_and_goes_on(tmp_path: Path, setup: Json) -> None:
    endless = program("endless_loop.py")
    async with together(tmp_path, setup) as (c, person):
        await person.run(endless)
        await printed(c, "started")
        assert "running" in await refusal(c, "dap_step_over")
        pause = await ask(c, "dap_pause")
        assert pause["state"] == "stopped"
        await person.sees_stop(pause["line"])
        await ask(c, "dap_continue", wait_until_paused=False)
        assert not (await person.session())["stopped"]
        assert (await person.session())["signs"] == []
        assert (await only_session(c))["state"] == "running"
        await ask(c, "dap_pause")
        await ask(c, "dap_evaluate", expression="globals().update(running=False)")
        assert (await ask(c, "dap_continue"))["state"] == "ended"
        await person.sees_end()


async def test_the_assistant_ends_the_program_and_starts_it_again_in_neovim(
    tmp_path: Path, setup: Json, feed: str
) -> None:
    loop = program("loop.py")
    async with together(tmp_path, setup) as (c, person):
        line = await stopped(c, person, loop)
        pid = int(await evaluate(c, "__import__('os').getpid()"))
        again = await ask(c, "dap_restart")
        await process_gone(pid)
        assert (again["line"], again["locals"], again["output"]) == (
            line,
            {"value": "0"},
            "round 0\n",
        )
        await shows(person, loop, line)
        rows = (await ask(c, "dap_status"))["sessions"]
        assert [(row["state"], row["feed"]) for row in rows] == [("ended", feed), ("stopped", feed)]
        await ask(c, "dap_terminate")
        assert await person.sees_end()
        assert await person.sessions() == []
        assert "ended" in await refusal(c, "dap_step_over")


async def test_a_wait_ends_when_the_person_ends_the_session(tmp_path: Path, setup: Json) -> None:
    async with together(tmp_path, setup) as (c, person):
        for number, way in enumerate(("terminate", "disconnect", "close"), start=1):
            await person.run(program("endless_loop.py"))
            await printed(c, "started")
            waits = asyncio.create_task(ask(c, "dap_wait_until_paused"))
            await person.does(way)
            assert (await waits)["state"] == "ended", way
            (*_, last) = (await ask(c, "dap_status"))["sessions"]
            assert (last["session_id"], last["state"]) == (number, "ended")
            assert "started" in (await ask(c, "dap_program_output"))["text"]
            await person.sees_end()
