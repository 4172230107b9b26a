"""Breakpoints are one set: the person's signs and the assistant's."""

import asyncio
from pathlib import Path

import pytest
from mcp import Client

from dapeer.neovim.client import Neovim
from dapeer.peers.shared_breakpoints import SharedBreakpoints
from dapeer.sessions.breakpoints.breakpoints import Breakpoints
from tests.harness import Json, ask, printed, read, refusal
from tests.neovim.editor import neovim
from tests.neovim.joint import attached, heard, together
from tests.neovim.person import Person
from tests.processes import LIMIT
from tests.programs import copied, program

LOOP = program("loop.py")
OPTIONS = [
    {
        "path": [{"names": ["Python Exceptions"]}, {"names": ["RuntimeError"]}],
        "breakMode": "always",
    }
]
"""A type of exceptions, as nvim-dap's API and debugpy name it."""


async def known(c: Client) -> dict[int, Json]:
    """Return the assistant's list by line, once it has heard all that Neovim has told by now."""
    await heard(c)
    rows = (await ask(c, "dap_breakpoints"))["breakpoints"]
    return {row["line"]: row for row in rows}


async def test_each_sees_the_others_with_their_conditions(tmp_path: Path) -> None:
    inner, middle, call = (LOOP.line(name) for name in ("inner", "middle", "call"))
    async with neovim(tmp_path, setup={}) as editor:
        person = Person(editor)
        await person.breaks_at(LOOP.source, inner, "value == 3")
        async with attached(editor) as (c, _):
            assert (await known(c))[inner]["condition"] == "value == 3"
            await person.breaks_at(LOOP.source, middle)
            assert set(await known(c)) == {inner, middle}
            where = {"filename": str(LOOP.source)}
            await ask(c, "dap_set_breakpoint", **where, line=call, condition="i == 2")
            await ask(c, "dap_set_breakpoint", **where, line=call + 1, log_message="at {i}")
            assert await person.breakpoints() == {
                ("loop.py", inner, "DapBreakpointCondition"),
                ("loop.py", middle, "DapBreakpoint"),
                ("loop.py", call, "DapBreakpointCondition"),
                ("loop.py", call + 1, "DapLogPoint"),
            }
            assert (await person.conditions())[call]["condition"] == "i == 2"
            # Each takes away one of the other's.
            await ask(c, "dap_remove_breakpoint", **where, line=middle)
            await person.toggles(LOOP.source, call + 1)
            assert {line for _, line, _ in await person.breakpoints()} == {inner, call}
            assert set(await known(c)) == {inner, call}
            await ask(c, "dap_clear_breakpoints")
            assert await person.breakpoints() == set()


async def test_what_collects_is_no_breakpoint_of_nvim_dap_and_outlasts_its_changes(
    tmp_path: Path,
) -> None:
    async with neovim(tmp_path, setup={}) as editor:
        person = Person(editor)
        inner, middle = LOOP.line("inner"), LOOP.line("middle")
        where = {"filename": str(LOOP.source)}
        async with attached(editor) as (c, _):
            await ask(c, "dap_set_breakpoint", **where, line=inner)
            await ask(c, "dap_set_breakpoint", **where, line=inner, collect=["value"])
            await person.breaks_at(LOOP.source, middle)
            assert {line for _, line, _ in await person.breakpoints()} == {middle}
            assert (await known(c))[inner]["collect"] == ["value"]
            await ask(c, "dap_remove_breakpoint", **where, line=middle)
            end = await ask(c, "dap_run", program=str(LOOP))
            assert "5 rows, tracer" in end["collected"][0]


async def test_a_session_of_nvim_dap_collects_from_where_it_is_stopped(
    tmp_path: Path, setup: Json
) -> None:
    async with together(tmp_path, setup) as (c, _):
        stops = [LOOP.at("call", condition="i == 1")]
        await ask(c, "dap_run", program=str(LOOP), breakpoints=stops, where="nvim")
        place = LOOP.at("inner")
        await ask(c, "dap_set_breakpoint", **place, collect=["value"])
        end = await ask(c, "dap_continue")
        assert end["state"] == "ended"
        assert "4 rows, tracer" in end["collected"][0]


async def test_a_log_point_that_said_nothing_is_told_where_nvim_dap_has_sent_it(
    tmp_path: Path, setup: Json
) -> None:
    async with together(tmp_path, setup) as (c, _):
        logs = [
            LOOP.at("inner", log_message="saw {value}"),
            LOOP.at("middle", log_message="never {value}", condition="value == 99"),
        ]
        end = await ask(c, "dap_run", program=str(LOOP), breakpoints=logs, where="nvim")
        assert end["state"] == "ended"
        assert "saw 4" in (await ask(c, "dap_program_output", since=0))["text"]
        assert end["breakpoints"] == {
            "not hit": [f"fixtures/programs/loop.py:{LOOP.line('middle')}"]
        }


async def test_a_file_that_the_person_has_not_opened_gets_its_sign_without_being_shown(
    tmp_path: Path, setup: Json
) -> None:
    async with together(tmp_path, setup, ui=True) as (c, person):
        before = await person.desk()
        await ask(c, "dap_set_breakpoint", filename=str(LOOP.source), line=LOOP.line("inner"))
        assert await person.breakpoints() == {("loop.py", LOOP.line("inner"), "DapBreakpoint")}
        after = await person.desk()
        assert after["windows"] == before["windows"]
        assert (after["registers"], after["mode"]) == (before["registers"], before["mode"])


async def test_a_running_program_stops_at_what_either_of_them_sets(
    tmp_path: Path, setup: Json
) -> None:
    inner, middle, back = (LOOP.line(name) for name in ("inner", "middle", "middle_return"))
    async with together(tmp_path, setup) as (c, person):
        await person.breaks_at(LOOP.source, inner, "value == 1")
        await person.run(LOOP)
        await person.sees_stop(inner)
        stop = await ask(c, "dap_wait_until_paused")
        assert stop["locals"] == {"value": "1"}
        rows = await known(c)
        assert (rows[inner]["state"], rows[inner]["actual_line"]) == ("verified", inner)
        # The assistant's, at once.
        told = await ask(
            c, "dap_set_breakpoint", filename=str(LOOP.source), line=back, condition="result == 3"
        )
        assert told["state"] == "verified"
        assert ("loop.py", back, "DapBreakpointCondition") in await person.breakpoints()
        assert (await ask(c, "dap_continue"))["line"] == back
        await person.sees_stop(back)
        # The person's, at once; and what both had is still there.
        await person.breaks_at(LOOP.source, middle)
        assert set(await known(c)) == {inner, middle, back}
        stop = await ask(c, "dap_continue")
        assert (stop["line"], stop["locals"]) == (middle, {"value": "2"})
        # The person takes the assistant's away: it does not stop there any more.
        await person.toggles(LOOP.source, middle)
        await person.toggles(LOOP.source, back)
        assert set(await known(c)) == {inner}
        assert (await ask(c, "dap_continue"))["state"] == "ended"


async def test_both_set_breakpoints_at_the_same_time_and_none_is_lost(
    tmp_path: Path, setup: Json
) -> None:
    endless = program("endless_loop.py")
    turn = endless.line("turn")
    async with together(tmp_path, setup) as (c, person):
        await person.run(endless)
        await printed(c, "started")
        where = {"filename": str(endless.source), "condition": "False"}
        await asyncio.gather(
            *(ask(c, "dap_set_breakpoint", **where, line=line) for line in range(3, 6)),
            person.breaks_at(endless.source, turn, "turns < 0"),
            person.breaks_at(endless.source, turn + 1, "turns < 0"),
        )
        wanted = {3, 4, 5, turn, turn + 1}
        assert {line for _, line, _ in await person.breakpoints()} == wanted
        assert set(await known(c)) == wanted
        await ask(c, "dap_set_breakpoint", filename=str(endless.source), line=turn)
        stop = await ask(c, "dap_wait_until_paused")
        assert stop["line"] == turn


async def test_sessions_of_both_share_the_set(tmp_path: Path, setup: Json) -> None:
    """A session of the core's own stops where the person has set a sign."""
    inner = LOOP.line("inner")
    async with together(tmp_path, setup) as (c, person):
        await person.breaks_at(LOOP.source, inner)
        assert inner in await known(c)
        stop = await ask(c, "dap_run", program=str(LOOP), where="direct")
        assert stop["line"] == inner
        assert await person.sessions() == []
        await person.toggles(LOOP.source, inner)
        assert await known(c) == {}
        assert (await ask(c, "dap_continue"))["state"] == "ended"


async def test_a_fresh_start_keeps_the_persons_breakpoints_and_drops_those_of_the_assistant(
    tmp_path: Path,
) -> None:
    inner, middle = LOOP.line("inner"), LOOP.line("middle")
    async with neovim(tmp_path, setup={}) as editor:
        person = Person(editor)
        await person.breaks_at(LOOP.source, inner)
        async with attached(editor) as (c, _):
            await known(c)
            await ask(c, "dap_set_breakpoint", **LOOP.at("middle"))
            assert set(await known(c)) == {inner, middle}
            end = await read(c, "dap_run", code="print(1)", where="direct", fresh=True)
            assert end.endswith(f"(from before: breakpoints fixtures/programs/loop.py:{inner})")
            assert set(await known(c)) == {inner}
            assert {line for _, line, _ in await person.breakpoints()} == {inner}


async def test_breakpoints_of_before_are_united_and_stay_when_the_core_goes(
    tmp_path: Path,
) -> None:
    inner, middle = LOOP.line("inner"), LOOP.line("middle")
    async with neovim(tmp_path, setup={}) as editor:
        person = Person(editor)
        await person.breaks_at(LOOP.source, inner)
        async with attached(editor) as (c, _):
            await ask(c, "dap_set_breakpoint", filename=str(LOOP.source), line=middle)
            await heard(c)
        assert {line for _, line, _ in await person.breakpoints()} == {inner, middle}
        async with attached(editor) as (c, _):
            assert set(await known(c)) == {inner, middle}


async def test_a_file_that_is_reached_by_a_link_is_one_file(tmp_path: Path, setup: Json) -> None:
    real = tmp_path / "real"
    real.mkdir()
    loop = copied("loop.py", real)
    link = tmp_path / "link"
    link.symlink_to(real)
    there, line = str(link / "loop.py"), loop.line("inner")
    async with together(tmp_path, setup) as (c, person):
        await ask(c, "dap_set_breakpoint", filename=there, line=line)
        assert await person.breakpoints() == {("loop.py", line, "DapBreakpoint")}
        assert [row["filename"] for row in (await known(c)).values()] == [there]
        await person.run(loop)
        await person.sees_stop(line)
        (row,) = (await ask(c, "dap_breakpoints"))["breakpoints"]
        assert (row["filename"], row["state"]) == (there, "verified")
        await person.toggles(real / "loop.py", line)
        assert await known(c) == {}
        await ask(c, "dap_continue")
        await person.sees_end()


async def test_without_nvim_dap_the_assistant_has_its_breakpoints_for_itself(
    tmp_path: Path,
) -> None:
    async with neovim(tmp_path, dap=False, setup={}) as editor, attached(editor) as (c, _):
        for line in (LOOP.line("inner"), LOOP.line("middle")):
            await ask(c, "dap_set_breakpoint", filename=str(LOOP.source), line=line)
        await ask(c, "dap_remove_breakpoint", filename=str(LOOP.source), line=LOOP.line("middle"))
        assert set(await known(c)) == {LOOP.line("inner")}
        stop = await ask(c, "dap_run", program=str(LOOP))
        assert stop["line"] == LOOP.line("inner")


async def test_no_breakpoint_is_set_where_a_file_has_unsaved_changes(tmp_path: Path) -> None:
    source = tmp_path / "areas.py"
    source.write_text("one = 1\ntwo = 2\nthree = 3\nfour = 4\n")
    async with together(tmp_path, {}) as (client, person):
        await person.breaks_at(source, 2)
        await person.run(str(source))
        await person.sees_stop(2)
        await person.editor.lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, { '# new' })")
        told = await refusal(client, "dap_set_breakpoint", filename=str(source), line=4)
        assert "areas.py has unsaved changes in Neovim" in told
        assert "Save it (nvim_save_document)" in told
        # Nothing was sent by the lines of the buffer either.
        assert await person.breakpoints() == {("areas.py", 3, "DapBreakpoint")}
        assert set(await known(client)) == {2}
        await person.editor.lua("vim.cmd.undo()")
        told = await read(client, "dap_set_breakpoint", filename=str(source), line=4)
        assert "areas.py:4 verified | four = 4" in told
        assert ("areas.py", 4, "DapBreakpoint") in await person.breakpoints()


@pytest.mark.parametrize("leave", ["bdelete!", "%bdelete!", "bunload!"])
async def test_a_buffer_that_goes_leaves_its_breakpoints_to_the_program(
    tmp_path: Path, leave: str
) -> None:
    loop = program("loop.py")
    other = tmp_path / "notes.txt"
    async with together(tmp_path, {}) as (c, person):
        inner = loop.line("inner")
        await person.breaks_at(loop.source, inner, "value >= 0")
        await person.run(loop)
        await person.sees_stop(inner)
        await person.editor.lua("vim.cmd.edit(...)", str(other))
        named = "" if leave.startswith("%") else f" {loop.source}"
        await person.editor.lua("vim.cmd(...)", leave + named)
        assert set(await known(c)) == {inner}
        stop = await ask(c, "dap_continue")
        assert stop["line"] == inner
        # With the file come its signs, and whoever takes them away does so for both.
        await person.editor.lua("vim.cmd.edit(...)", str(loop.source))
        assert await person.breakpoints() == {("loop.py", inner, "DapBreakpointCondition")}
        await person.toggles(loop.source, inner)
        assert await known(c) == {}
        await ask(c, "dap_terminate")


async def test_a_buffer_that_is_hidden_reloaded_or_renamed_leaves_the_program_its_breakpoints(
    tmp_path: Path,
) -> None:
    source = tmp_path / "loop.py"
    source.write_text(LOOP.source.read_text(encoding="utf-8"), encoding="utf-8")
    async with together(tmp_path, {}) as (c, person):
        inner = LOOP.line("inner")
        await person.breaks_at(source, inner)
        await person.run(str(source))
        await person.sees_stop(inner)
        for command in ("edit!", "hide enew", f"edit {source}", "saveas! %:h/other.py"):
            await person.editor.lua("vim.cmd(...)", command)
            assert (await ask(c, "dap_continue"))["line"] == inner, command
        await ask(c, "dap_terminate")


async def test_a_buffer_that_is_wiped_takes_its_breakpoints_along_as_in_nvim_dap(
    tmp_path: Path,
) -> None:
    loop = program("loop.py")
    async with together(tmp_path, {}) as (c, person):
        await person.breaks_at(loop.source, loop.line("inner"))
        await person.run(loop)
        await person.sees_stop(loop.line("inner"))
        await person.editor.lua("vim.cmd('enew | bwipeout! ' .. ...)", str(loop.source))
        assert await known(c) == {}
        assert (await ask(c, "dap_continue"))["state"] == "ended"


async def test_breakpoints_of_a_file_that_is_gone_can_be_taken_away_by_both(
    tmp_path: Path,
) -> None:
    loop = program("loop.py")
    async with together(tmp_path, {}) as (c, person):
        inner, middle = loop.line("inner"), loop.line("middle")
        for line in (inner, middle):
            await person.breaks_at(loop.source, line)
        await person.editor.lua("vim.cmd('enew | bdelete! ' .. ...)", str(loop.source))
        await ask(c, "dap_remove_breakpoint", filename=str(loop.source), line=inner)
        assert set(await known(c)) == {middle}
        await person.editor.lua(
            "vim.cmd('enew! | bdelete! ' .. vim.fn.bufnr(...))", str(loop.source)
        )
        assert set(await known(c)) == {middle}
        await person.editor.lua("require('dap').clear_breakpoints()")
        assert await known(c) == {}
        await person.editor.lua("vim.cmd.edit(...)", str(loop.source))
        assert await person.breakpoints() == set()


CHOOSE = "require('dap').set_exception_breakpoints(...)"
TOLD = "return require('dapeer.nvim_dap.exceptions').summary()"


async def chosen(c: Client) -> list[str]:
    """Return the exception filters, once both sides have heard of them."""
    await heard(c)
    filters: list[str] = (await ask(c, "dap_breakpoints"))["exception_filters"]
    await heard(c)
    return filters


async def test_exception_filters_are_one_set_of_both(tmp_path: Path) -> None:
    """nvim-dap's own functions change it, for later starts by either, and so does the assistant's tool."""
    crash = program("crash.py")
    async with together(tmp_path, {}) as (c, person):
        await ask(c, "dap_set_exception_breakpoints", filters=["raised"])
        # The person starts it, and sees what the assistant has chosen.
        await person.run(crash)
        await person.sees_stop(crash.line("raise"))
        assert await person.editor.lua(TOLD) == "programs stop at exceptions: raised"
        await person.editor.lua(CHOOSE, [])
        # debugpy answers in order.
        await person.evaluates("1")
        assert await chosen(c) == []
        assert (await ask(c, "dap_continue"))["state"] == "ended"
        await person.sees_end()
        assert (await ask(c, "dap_run", program=str(crash)))["state"] == "ended"
        await person.sees_end()
        # nvim-dap's defaults are the person's choice once they are changed.
        await person.editor.lua(
            "require('dap').defaults.fallback.exception_breakpoints = { 'raised' }"
        )
        await person.run(crash)
        await person.sees_stop(crash.line("raise"))
        assert await chosen(c) == ["raised"]
        await ask(c, "dap_terminate")


async def test_default_filters_of_the_person_are_known_before_anything_has_started(
    tmp_path: Path,
) -> None:
    rc = "require('dap').defaults.fallback.exception_breakpoints = { 'raised' }"
    async with together(tmp_path, {}, rc=rc) as (c, person):
        assert await chosen(c) == ["raised"]
        assert await person.editor.lua(TOLD) == "programs stop at exceptions: raised"
        await ask(c, "dap_set_exception_breakpoints", filters=[])
        crash = program("crash.py")
        assert (await ask(c, "dap_run", program=str(crash), where="nvim"))["state"] == "ended"


async def test_types_of_exceptions_are_one_set_of_both(tmp_path: Path) -> None:
    """They hold from the first line of a program, whoever has chosen them, and whoever starts it."""
    crash = program("crash.py")
    typed = ["raised:RuntimeError"]
    async with together(tmp_path, {}) as (c, person):
        await ask(c, "dap_set_exception_breakpoints", filters=typed)
        await person.run(crash)
        await person.sees_stop(crash.line("reraise"))
        await person.editor.lua(CHOOSE, ["raised"])
        await person.evaluates("1")
        assert await chosen(c) == ["raised"]
        await person.editor.lua(CHOOSE, [], OPTIONS)
        await person.evaluates("1")
        assert await chosen(c) == typed
        told = await person.editor.lua(TOLD)
        assert told == "programs stop at exceptions: raised:RuntimeError"
        await ask(c, "dap_terminate")
        await person.sees_end()
        assert (await ask(c, "dap_run", program=str(crash)))["line"] == crash.line("reraise")


NOTIFY_FILTERS = "require('dapeer.rpc').notify('exceptions', ...)"
NOTIFY_OPTIONS = (
    "require('dapeer.rpc').notify('exception_options', require('dap').session().id, ...)"
)


async def test_exception_filters_that_are_none_change_nothing(tmp_path: Path) -> None:
    crash = program("crash.py")
    async with together(tmp_path, {}) as (c, person):
        await ask(c, "dap_set_exception_breakpoints", filters=["raised"])
        await person.run(crash)
        await person.sees_stop(crash.line("raise"))
        for odd in ("uncaught", 3, {"uncaught": True}, [3]):
            await person.editor.lua(NOTIFY_FILTERS, odd)
            await person.editor.lua(NOTIFY_OPTIONS, odd)
        assert await chosen(c) == ["raised"]
        await ask(c, "dap_terminate")
        await person.sees_end()


async def test_nobody_waits_for_a_neovim_whose_connection_has_ended() -> None:
    wanted, gone = Breakpoints(), Neovim("/gone", lambda _method, _arguments: None)
    gone.closed_event.set()
    shared = SharedBreakpoints(wanted, gone, {}, {})
    wanted.add("/a.py", {"line": 3})
    asyncio.get_running_loop().call_soon(shared.close)
    async with asyncio.timeout(LIMIT):
        await shared.wait_until_applied(2 * LIMIT)
