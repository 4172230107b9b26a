"""Several sessions at once, and clients that share them."""

import asyncio
from pathlib import Path

import pytest
from mcp import Client
from mcp.types import Implementation

from dapeer.adapters.definition.definition import load_all, shipped, user_folder
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.server.server import make_server
from dapeer.mcp.transports import jsonl
from dapeer.sessions.debugger.debugger import Debugger
from tests.harness import DATA, ask, call, client, data, evaluate, printed, read, refusal
from tests.mcp.small import LEGACY, MODERN, over_http, streamable
from tests.processes import LIMIT
from tests.programs import ROOT, compiled, program


async def test_two_sessions_are_interleaved_without_mixing() -> None:
    """Pitfall 26."""
    loop, shop = program("loop.py"), program("shop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        one = await ask(c, "dap_run", program=str(loop), breakpoints=[loop.at("inner")])
        assert "session" not in await read(c, "dap_snapshot")
        two = await ask(c, "dap_run", program=str(shop), breakpoints=[shop.at("order_ready")])
        first, second = one["session_id"], two["session_id"]
        assert first != second
        assert f"[session {first}]" in await read(c, "dap_snapshot", session_id=first)
        again = await ask(c, "dap_continue", session_id=first)
        assert again["locals"]["value"] == "1"
        assert (await ask(c, "dap_snapshot", session_id=second))["line"] == shop.line("order_ready")
        assert "order" in await read(c, "dap_variables", session_id=second)
        assert "NameError" in await refusal(c, "dap_evaluate", expression="order", session_id=first)
        end = await ask(c, "dap_continue", session_id=second)
        assert end["state"] == "ended"
        output = (await ask(c, "dap_program_output", session_id=second))["text"]
        assert "to pay" in output
        assert "round" not in output
        assert (await ask(c, "dap_snapshot", session_id=first))["state"] == "stopped"


async def test_python_bash_and_c_at_once(tmp_path: Path) -> None:
    programs = [
        (program("loop.py"), "inner"),
        (program("hello.sh"), "greet_echo"),
        (compiled("loop.c", tmp_path), "inner"),
    ]
    async with asyncio.timeout(LIMIT), client() as c:
        async with asyncio.TaskGroup() as tasks:
            runs = [
                tasks.create_task(ask(c, "dap_run", program=str(p), breakpoints=[p.at(marker)]))
                for p, marker in programs
            ]
        stops = [run.result() for run in runs]
        assert [stop["line"] for stop in stops] == [p.line(marker) for p, marker in programs]
        assert len({stop["session_id"] for stop in stops}) == 3
        async with asyncio.TaskGroup() as tasks:
            for stop in stops:
                tasks.create_task(ask(c, "dap_continue", session_id=stop["session_id"]))


async def test_two_sessions_of_one_program_keep_their_breakpoints() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        one = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        two = await ask(c, "dap_run", program=str(p))
        assert two["line"] == p.line("inner")
        await read(c, "dap_set_breakpoint", **p.at("inner_return"))
        for stop in (one, two):
            after = await ask(c, "dap_continue", session_id=stop["session_id"])
            assert after["line"] == p.line("inner_return")


async def test_ended_sessions_stay_readable_and_ids_are_never_used_again() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        for number in range(1, 4):
            end = await ask(c, "dap_run", code=f"print('this is {number}')")
            assert end["session_id"] == number
        for number in range(1, 4):
            output = await ask(c, "dap_program_output", session_id=number)
            assert f"this is {number}" in output["text"]


async def test_two_clients_of_one_debugger_see_the_same_sessions() -> None:
    """Pitfall 24, the part that needs no second DAP client."""
    p = program("loop.py")
    definitions = load_all(shipped(), user_folder())
    async with (
        asyncio.timeout(LIMIT),
        Debugger(definitions, ROOT) as debugger,
        Client(make_server(debugger, TOOLS), extensions=DATA) as one,
        Client(make_server(debugger, TOOLS), extensions=DATA) as two,
    ):
        await ask(one, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        assert (await ask(two, "dap_snapshot"))["line"] == p.line("inner")
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(ask(one, "dap_continue"))
        assert waiting.result()["locals"]["value"] == "1"
        assert data(await call(two, "dap_snapshot"))["locals"]["value"] == "1"


async def test_a_client_that_leaves_in_the_middle_of_a_wait_harms_nobody() -> None:
    """The issue: a client that is gone in the middle of a wait."""
    p = program("endless_loop.py")
    definitions = load_all(shipped(), user_folder())
    async with (
        asyncio.timeout(LIMIT),
        Debugger(definitions, ROOT) as debugger,
        Client(make_server(debugger, TOOLS), extensions=DATA) as stays,
    ):
        async with Client(make_server(debugger, TOOLS), extensions=DATA) as leaves:
            await ask(leaves, "dap_run", program=str(p), breakpoints=[p.at("started")])
            waiting = asyncio.create_task(leaves.call_tool("dap_continue", {}))
            await printed(stays)
        waiting.cancel()
        await asyncio.wait({waiting})
        assert (await ask(stays, "dap_pause"))["state"] == "stopped"


@pytest.mark.parametrize("era", [LEGACY, MODERN])
async def test_each_client_of_a_shared_server_means_its_own_program(era: str) -> None:
    """Finding 8: what has ended gave way to somebody else's program, which then was ended."""
    p = program("loop.py")
    async with (
        asyncio.timeout(LIMIT),
        over_http(TOOLS) as (_, url),
        Client(
            streamable(url),
            mode=era,
            client_info=Implementation(name="one", version="1"),
            extensions=DATA,
        ) as one,
        Client(
            streamable(url),
            mode=era,
            client_info=Implementation(name="two", version="1"),
            extensions=DATA,
        ) as two,
    ):
        await ask(one, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        await ask(two, "dap_run", code="print('short')")
        assert (await ask(two, "dap_program_output"))["text"] == "short\n"
        assert (await ask(two, "dap_snapshot"))["session_id"] == 2
        for tool in ("dap_terminate", "dap_step_over", "dap_continue", "dap_disconnect"):
            said = await refusal(two, tool)
            assert "Session 2 has ended. Still there: 1 (loop.py, stopped at " in said
            assert said.endswith("Give session_id.")
        assert "Still there: 1" in await refusal(two, "dap_evaluate", expression="value")
        assert (await ask(two, "dap_status"))["focused"] == 2
        assert (await ask(one, "dap_status"))["focused"] == 1
        assert (await ask(one, "dap_step_over"))["session_id"] == 1
        again = await ask(two, "dap_restart")
        assert (again["state"], again["session_id"]) == ("ended", 3)


async def test_the_session_that_was_named_last_is_meant_from_then_on() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        end = await ask(c, "dap_run", code="print('0123456789\\n' * 100)")
        more = next(note for note in end["notes"] if "more characters" in note)
        assert more.endswith("dap_program_output since=0 session_id=2")
        assert "Still there: 1" in await refusal(c, "dap_continue")
        assert await evaluate(c, "value", session_id=1) == "0"
        assert (await ask(c, "dap_continue"))["session_id"] == 1


async def test_who_waits_for_a_program_that_has_ended_reads_which_one_lives() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        await ask(c, "dap_run", code="print(1)", breakpoints=[])
        waited = await ask(c, "dap_wait_until_paused")
        assert (waited["session_id"], waited["state"]) == (2, "ended")
        assert (
            "session 1 lives: dap_wait_until_paused(session_id=1) waits for it" in waited["notes"]
        )
        assert "notes" not in await ask(c, "dap_wait_until_paused", session_id=1)
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        await ask(c, "dap_run", code="print(1)", breakpoints=[])
        told = (await ask(c, "dap_wait_until_paused"))["notes"]
        assert "sessions 1, 3 live: dap_wait_until_paused(session_id=…) waits for one" in told
        await ask(c, "dap_terminate", session_id=3)
        await ask(c, "dap_terminate", session_id=1)
        assert "lives" not in await read(c, "dap_wait_until_paused")


async def test_who_has_used_none_means_the_only_program_and_guesses_none_of_two() -> None:
    p = program("loop.py")
    async with (
        asyncio.timeout(LIMIT),
        Debugger(load_all(shipped(), user_folder()), ROOT) as debugger,
        Client(make_server(debugger, TOOLS), extensions=DATA) as one,
        Client(make_server(debugger, TOOLS), extensions=DATA) as two,
    ):
        await ask(one, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        assert await evaluate(two, "value") == "0"
        async with Client(make_server(debugger, TOOLS), extensions=DATA) as three:
            await ask(one, "dap_run", program=str(p))
            said = await refusal(three, "dap_terminate")
            assert "There are 1 (loop.py, stopped at" in said
            assert "2 (loop.py, stopped at" in said
            # Looking harms nobody.
            assert (await ask(three, "dap_snapshot"))["session_id"] == 2


async def test_the_status_lists_the_last_programs_that_have_ended_and_counts_the_others() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        for number in range(7):
            await ask(c, "dap_run", code=f"print({number})")
        status = await ask(c, "dap_status")
        assert [row["session_id"] for row in status["sessions"]] == [3, 4, 5, 6, 7]
        assert (status["older"], status["focused"]) == (2, 7)
        assert "… and 2 that ended earlier" in await read(c, "dap_status")


async def test_the_data_of_the_status_has_the_stopped_thread_and_what_the_adapter_supports() -> (
    None
):
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        (row,) = (await ask(c, "dap_status"))["sessions"]
        assert row["thread_id"] == stop["thread_id"]
        assert row["capabilities"]["supportsSetVariable"] is True
        await ask(c, "dap_terminate")
        (row,) = (await ask(c, "dap_status"))["sessions"]
        assert not row.keys() & {"thread_id", "capabilities"}


async def test_a_client_is_told_in_one_line_what_another_has_done_since_its_last_answer() -> None:
    p = program("loop.py")
    async with (
        asyncio.timeout(LIMIT),
        Debugger(load_all(shipped(), user_folder()), ROOT) as debugger,
        Client(make_server(debugger, TOOLS), extensions=DATA) as one,
        Client(
            make_server(debugger, TOOLS),
            client_info=Implementation(name="other", version="2"),
            extensions=DATA,
        ) as two,
    ):
        await ask(one, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        assert "since your last answer" not in await read(two, "dap_snapshot")
        await ask(two, "dap_set_breakpoint", **p.at("inner_return"))
        await ask(two, "dap_remove_breakpoint", **p.at("inner"))
        await ask(two, "dap_step_over")
        place = "fixtures/programs/loop.py"
        said = (
            f"(since your last answer another client (other 2) set {place}:{p.line('inner_return')}, "
            f"removed {place}:{p.line('inner')}, stepped over in session 1)"
        )
        assert (await read(one, "dap_snapshot")).splitlines().count(said) == 1
        assert "since your last answer" not in await read(one, "dap_snapshot")
        # An error is an answer, too.
        await ask(two, "dap_terminate")
        assert "another client (other 2) ended session 1" in await refusal(one, "dap_step_over")
        # Nor is anybody told of what they have done themselves.
        assert "since your last answer" not in await read(two, "dap_snapshot")


async def test_what_a_script_has_done_is_its_clients_doing() -> None:
    p = program("loop.py")
    async with (
        asyncio.timeout(LIMIT),
        Debugger(load_all(shipped(), user_folder()), ROOT) as debugger,
        Client(make_server(debugger, TOOLS, serve_socket=jsonl.serve_socket)) as one,
        Client(make_server(debugger, TOOLS)) as two,
    ):
        assert await read(two, "dap_breakpoints") == "No breakpoints."
        place = p.at("inner")
        code = f"d.set_breakpoint(filename={place['filename']!r}, line={place['line']})"
        assert "since your last answer" not in await read(one, "dap_script", code=code)
        assert "since your last answer" not in await read(one, "dap_breakpoints")
        assert f"set fixtures/programs/loop.py:{place['line']}" in await read(two, "dap_status")
