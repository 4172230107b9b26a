"""Rounds with an adapter that sends odd messages, beside a session that is well."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from tests.harness import FAKE_PROGRAM, fake
from tests.hostile import adapters
from tests.hostile.harmless import Bait, aimed
from tests.hostile.judge import Judge
from tests.hostile.odd import Json, examples
from tests.hostile.server import Attacked, attacked, data_of, place

TIMEOUTS = "request = 1\ncontrol = 1\nlaunch = 1.5"


async def attack(judge: Judge, seed: int, rounds: int) -> None:
    """Run rounds in one server; after each the calm session must still answer for itself."""
    async with place() as where, bait() as target:
        fake(where.settings, name="calm")
        fake(where.settings, name="sick", timeouts=TIMEOUTS)
        async with attacked(where, judge) as server:
            calm = await server.data("dap_run", program=FAKE_PROGRAM, type="calm")
            before = server.children()
            for number, (drawn, calls) in enumerate(examples(adapters.rounds, rounds, seed)):
                if not server.alive:
                    return
                judge.count("rounds: adapters")
                script = aimed(drawn, target)
                fake(where.settings, name="sick", timeouts=TIMEOUTS, **script)
                await _round(server, calls, calm.get("session_id"))
                doing = f"seed {seed}, round {number}: {json.dumps([calls, script])[:2500]}"
                await server.gone(server.children() - before, doing)
                await _well(server, calm, doing)
                if number == 0:
                    await server.calm()
            await server.back_to_calm(f"adapters, seed {seed}")


async def _round(server: Attacked, calls: list[tuple[str, Json]], calm: object) -> None:
    started = await server.data("dap_run", program=FAKE_PROGRAM, type="sick", timeout_ms=1000)
    session = started.get("session_id")
    if session is None:
        return
    for tool, arguments in calls:
        answer = await server.data(tool, **arguments, session_id=session)
        session = answer.get("session_id", session)  # another one after a restart
    await _another_starts(server, calls)
    for each in (await server.data("dap_status")).get("sessions", ()):
        if each["session_id"] != calm and each["state"] != "ended":
            await server.call("dap_terminate", {"session_id": each["session_id"]})


async def _another_starts(server: Attacked, calls: object) -> None:
    """Start a program with a breakpoint, which every session is told: the sick one must not matter."""
    breakpoints = [{"filename": FAKE_PROGRAM, "line": 2 + len(str(calls)) % 7}]
    arguments = {"program": FAKE_PROGRAM, "type": "calm", "breakpoints": breakpoints}
    answer = await server.call("dap_run", arguments)
    if server.alive and data_of(answer).get("state") != "stopped":
        server.judge.fault("strangers hit", f"another program does not start: {answer}")


async def _well(server: Attacked, calm: Json, doing: str) -> None:
    """Look whether the session beside the sick one is as it should be."""
    if not server.alive:
        return server.judge.fault("deaths", doing)
    answer = await server.data(
        "dap_evaluate", expression=doing[:8], session_id=calm.get("session_id")
    )
    if answer.get("result") != f"<{doing[:8]}>":
        server.judge.fault("strangers hit", f"the session beside it says {answer}: {doing}")
    return None


@asynccontextmanager
async def bait() -> AsyncGenerator[Bait]:
    """Give a process and a port that an adapter may name, and that nobody may touch."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "import sys; sys.stdin.read()", stdin=asyncio.subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        try:
            yield Bait(process.pid, closed.getsockname()[1])
        finally:
            died = process.returncode
            if process.stdin is not None:
                process.stdin.close()
            await process.wait()
            assert died is None, f"a process that an adapter has named was killed: {died}"
