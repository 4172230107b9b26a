"""What is sent to programs that listen late, elsewhere, never, or end: each is told, and nothing is left."""

import asyncio
import os
import sys
import threading
from pathlib import Path

from tests.e2e.running import free_port, started
from tests.e2e.test_trap import CART, SERVER, get, serving
from tests.harness import ask, call, client, has_all, read, text
from tests.processes import LIMIT
from tests.programs import program, tool

LISTENING = """
import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening", file=sys.stderr, flush=True)
server.accept()
print("somebody has connected", file=sys.stderr)
"""
"""A program that is not debugged, and says when it listens."""


async def test_a_server_of_node_is_reached_beside_its_inspector() -> None:
    tool("node", "nodejs")
    server = program("serving.js")
    then = [{"request": "POST /", "json": CART}]
    async with asyncio.timeout(LIMIT), client() as c:
        at = [server.at("answer")]
        # A busy machine takes long.
        wait = {"timeout_ms": LIMIT * 1000}
        said = await read(c, "dap_run", program=str(server), breakpoints=at, then=then, **wait)
        assert has_all(
            said, "Stopped (breakpoint)", "total = 11", "then: POST / waits for its answer"
        )
        assert '{"total":11}' in await read(c, "dap_continue", **wait)


async def test_what_is_sent_to_a_running_server_may_be_several_things() -> None:
    code = "import sys; print(sys.argv[1]); sys.exit(3)"
    then = [
        {"request": "GET /one"},
        {"command": [sys.executable, "-c", code, "two"]},
        {"request": "GET /three"},
    ]
    async with serving(then=then) as (_, _, said):
        assert has_all(said, "Still running", "GET /one → 200", "→ exit code 3 in", "4 bytes: two")
        assert "GET /three was not sent: the one before has failed" in said, "in turn"


async def test_a_redirect_is_followed_to_the_program_only() -> None:
    elsewhere = free_port()
    async with (
        started(sys.executable, "-c", LISTENING, str(elsewhere), says=b"listening") as other,
        serving(then=[{"request": "GET /moved"}]) as (c, port, said),
    ):
        assert has_all(said, "→ 307 → 200", '"/here"')
        moved = await get(c, f"/moved?http://127.0.0.1:{elsewhere}/secret")
        assert has_all(moved, f"port {elsewhere} is of process {other.pid}", "nothing was sent")
        away = await get(c, "/moved?http://example.org/")
        assert has_all(away, "→ 307", "its redirect to http://example.org/ was not followed")
        back = await get(
            c, f"/moved?http://127.0.0.1:{port}/", headers={"Authorization": "Basic eDp5"}
        )
        assert "null" in back, "another host gets no credentials"


async def test_a_stream_is_told_by_its_beginning() -> None:
    async with serving(then=[{"request": "GET /stream"}]) as (_, _, said):
        assert has_all(said, "GET /stream → 200", "text/event-stream, 4,096 bytes and more")


async def test_a_stop_before_the_program_is_ready_is_returned_at_once(tmp_path: Path) -> None:
    path = tmp_path / "late.py"
    path.write_text(f"here = 1  # @here\n{SERVER.source.read_text('utf-8')}", "utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = [{"filename": str(path), "line": 1}]
        then = [{"request": "GET /"}, {"request": "GET /next"}]
        said = await read(c, "dap_run", program=str(path), breakpoints=at, then=then)
        assert has_all(
            said, "Stopped (breakpoint)", "GET / waits until the program listens at a port"
        )
        assert "then: 1 more follows" in said
        assert has_all(await read(c, "dap_continue"), "GET / → 200", "GET /next → 200")


async def test_the_programs_own_words_say_that_it_is_ready() -> None:
    ready = {"output": r"listening on port (\d+)"}
    async with serving(then=[{"request": "GET /a"}], ready=ready) as (c, _, said):
        assert "then: GET /a → 200" in said
        never = await read(
            c,
            "dap_continue",
            then=[{"request": "GET /"}],
            ready={"output": "never said"},
            timeout_ms=300,
        )
        assert "then: GET / waits until it prints 'never said'" in never
        endless = await read(
            c, "dap_continue", then=[{"request": "GET /b"}], ready={"output": "(([a-z ]+)+)+!"}
        )
        assert "more than 1 s for a line" in endless


async def test_what_is_typed_comes_once_the_program_reads() -> None:
    code = "name = input('who? ')\nprint('hello', name)"
    async with asyncio.timeout(LIMIT), client() as c:
        said = await read(c, "dap_run", code=code, then=[{"input": "you\n"}])
        assert has_all(said, 'then: input "you\\n" → typed', "hello you")


async def test_a_program_that_ends_ends_what_is_sent_to_it() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        said = await read(c, "dap_run", code="print('short')", then=[{"request": "GET /"}])
        said += text(await call(c, "dap_wait_until_paused"))
        assert has_all(said, "Ended", "GET / was not sent: the program has ended")


async def test_a_trigger_keeps_no_server_from_ending() -> None:
    async with serving(
        then=[{"command": ["sleep", "1000"]}], timeout_ms=1000, wait_until_paused=False
    ) as (c, _, _):
        assert "sleep 1000 runs" in await read(c, "dap_wait_until_paused", timeout_ms=3000)


async def test_two_hundred_triggers_leave_nothing() -> None:
    def held() -> tuple[int, int, int]:
        """Return how many files, threads and tasks this process has, in which the server runs."""
        return len(os.listdir("/proc/self/fd")), threading.active_count(), len(asyncio.all_tasks())  # noqa: PTH208

    async with serving(then=[{"request": "GET /"}]) as (c, _, _):
        await get(c, "/")
        before = held()
        for _ in range(10):
            then = [{"request": f"GET /{n}"} for n in range(20)]
            assert (await read(c, "dap_continue", then=then)).count("→ 200") == 20
        assert all(now <= then for now, then in zip(held(), before, strict=True))
        bodies = await ask(c, "dap_program_output", category="then", since=0, lines=1000)
        assert bodies["text"].count('"path"') >= 200
