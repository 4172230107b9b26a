"""What is sent and has no end keeps nobody from ending: not its session, not its client, not its server."""

import asyncio
import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.test_server_end import close_stdin, server
from tests.e2e.test_trap import CART, SERVER, serving
from tests.harness import call, read, text
from tests.mcp import wire as clients
from tests.processes import LIMIT, command_line, descendants, process_gone

SLEEP = ["sleep", "1000"]
SECONDS_TO_END = LIMIT / 3
"""Well below the limit that what is sent has by itself."""


@dataclass(frozen=True)
class Pending:
    """A trigger that has no end by itself."""

    trigger: object
    told: str
    """What the call says of it."""
    ended: str
    """What is said of it once the program has ended."""
    is_command: bool = False


PENDING = {
    "waits": Pending(
        {"request": "GET http://127.0.0.1:9/"},
        "GET / waits until the program listens",
        "GET / was not sent: the program has ended",
    ),
    "sent": Pending(
        {"request": "POST /total", "json": CART},
        "POST /total waits for its answer",
        "POST /total failed: the server closed the connection",
    ),
    "runs": Pending(
        {"command": SLEEP},
        "sleep 1000 runs",
        "sleep 1000 was cut off: the program has ended",
        is_command=True,
    ),
}
pending = pytest.mark.parametrize("pending", PENDING.values(), ids=PENDING)
STDIO = ("dapeer", "stdio")


def sleeping(pid: int) -> list[int]:
    """Return the processes below one that are the command of a trigger."""
    return [each for each in descendants(pid) if command_line(each) == " ".join(SLEEP)]


def run(pending: Pending) -> dict[str, object]:
    """Return the arguments of a server's start with a trigger that stays pending."""
    at = [SERVER.at("answer")]
    return {
        "program": str(SERVER),
        "breakpoints": at,
        "then": [pending.trigger],
        "timeout_ms": 3000,
    }


@pending
async def test_a_session_ends_with_what_it_was_sent_and_says_so(pending: Pending) -> None:
    at = [SERVER.at("answer")]
    async with serving(then=[pending.trigger], breakpoints=at, timeout_ms=3000) as (c, _, said):
        assert pending.told in said
        commands = sleeping(os.getpid())
        assert bool(commands) is pending.is_command
        async with asyncio.timeout(SECONDS_TO_END):
            ended = await read(c, "dap_terminate")
            for pid in commands:
                await process_gone(pid)
        ended += text(await call(c, "dap_wait_until_paused"))
        assert f"then: {pending.ended}" in ended


@pending
@pytest.mark.parametrize("end", ["stdin closed", "SIGTERM"])
async def test_a_server_ends_with_what_it_has_sent(pending: Pending, end: str) -> None:
    async with asyncio.timeout(LIMIT), server() as wire:
        await wire.tool("dap_run", **run(pending))
        pids = [wire.process.pid, *descendants(wire.process.pid)]
        assert bool(sleeping(wire.process.pid)) is pending.is_command
        if end == "SIGTERM":
            wire.process.send_signal(signal.SIGTERM)
        else:
            close_stdin(wire.process)
        async with asyncio.timeout(SECONDS_TO_END):
            for pid in pids:
                await process_gone(pid)
        assert wire.process.returncode in {None, 0}


@pending
async def test_a_client_leaves_at_once_and_what_it_has_sent_ends_with_the_program(
    pending: Pending, tmp_path: Path
) -> None:
    async with (
        clients.serving("--no-auth", cwd=tmp_path) as (core, _),
        clients.started(*STDIO, cwd=tmp_path) as one,
        clients.started(*STDIO, cwd=tmp_path) as two,
    ):
        await one.handshake()
        answer = await one.ask(clients.call(2, "dap_run", **run(pending)))
        assert pending.told in str(answer["result"]["content"])
        commands = sleeping(core.process.pid)
        async with asyncio.timeout(SECONDS_TO_END):
            assert await one.end() == 0
            await two.handshake()
            await two.ask(clients.call(3, "dap_terminate", session_id=1))
            for pid in commands:
                await process_gone(pid)
            assert await core.signal(signal.SIGTERM) == 0
