"""One call sets the trap, pulls the trigger, and reads the stop; the next brings the response."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp import Client

from tests.e2e.running import free_port
from tests.harness import client, has_all, read, refusal
from tests.processes import LIMIT
from tests.programs import program

SERVER = program("serving.py")
CART = {"tea": 2, "cup": 1}


@asynccontextmanager
async def serving(*, then: object, **arguments: object) -> AsyncGenerator[tuple[Client, int, str]]:
    """Run the server and send it something; give its port, and what the call says."""
    port = free_port()
    async with asyncio.timeout(LIMIT), client() as c:
        said = await read(
            c, "dap_run", program=str(SERVER), args=[str(port)], then=then, **arguments
        )
        yield c, port, said


async def get(c: Client, path: str, port: int | str = "", **more: object) -> str:
    """Send a request to the server that runs, and return what the call says."""
    url = f"http://127.0.0.1:{port}{path}" if port else path
    return await read(c, "dap_continue", then=[{"request": f"GET {url}", **more}])


async def test_one_call_sends_the_request_and_reads_the_stop() -> None:
    then = {"request": "POST /total", "json": CART}
    async with serving(then=then, breakpoints=[SERVER.at("answer")]) as (c, _, said):
        assert has_all(said, "Stopped (breakpoint)", "total = 11")
        assert "then: POST /total waits for its answer (the program is stopped)" in said
        assert "then:" not in await read(c, "dap_variables"), "told once"
        gone_on = await read(c, "dap_continue")
        assert re.search(
            r"then: POST /total → 200 in [\d.]+ m?s beside .* stopped, application/json, 13 bytes: "
            r'\{"total": 11\}',
            gone_on,
        ), gone_on
        assert has_all(await read(c, "dap_program_output", category="then"), "POST /total", "total")
        assert "then:" not in await read(c, "dap_status")


async def test_what_fails_is_told_with_its_reason() -> None:
    async with serving(then=[{"request": "GET /broken"}]) as (c, _, said):
        assert has_all(said, "then: GET /broken failed:", "closed the connection")
        missing = await read(c, "dap_continue", then=[{"command": ["no-such-command"]}])
        assert has_all(missing, "no-such-command failed:", "No such file")
        unready = await read(
            c, "dap_continue", then=[{"request": "GET http://127.0.0.1:9/"}], timeout_ms=500
        )
        assert "then: GET / waits until the program listens at port 9" in unready
        assert "`then`" in await refusal(c, "dap_continue", then=[{"request": "nowhere"}])
        ended = await read(c, "dap_continue", then=[{"request": "GET /stop"}])
        assert "GET /stop → 200" in ended
        assert "Ended" in ended or "Ended" in await read(c, "dap_wait_until_paused")
