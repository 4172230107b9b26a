"""Rounds in which processes are killed, frozen or told to end, one or two at a time."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from random import Random

from tests.harness import FAKE_PROGRAM, fake
from tests.hostile.judge import Judge
from tests.hostile.server import MARK, Attacked, Place, attacked, data_of, place
from tests.languages import Language, program_of
from tests.mcp.small import LEGACY
from tests.processes import command_line, processes_of

SINGLE = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP)


async def attack(
    judge: Judge,
    seed: int,
    rounds: int,
    language: Language,
    build: Path,
    *,
    era: str = LEGACY,
    bridged: bool = False,
) -> None:
    """Run rounds, each with a server of its own, and perhaps with a bridge to it."""
    random = Random(f"{seed} {language}")
    for number in range(rounds):
        async with place() as where:
            judge.count(f"rounds: kills: {language}")
            fake(where.settings, name="calm")
            async with attacked(where, judge, era=era, bridged=bridged) as server:
                doing = f"{language}, seed {seed}, round {number}"
                await _started(server, language, build, stops=random.random() < 0.7)
                await _round(server, random, doing)
            if server.killed:
                await _swept(where, judge)


async def _started(server: Attacked, language: Language, build: Path, *, stops: bool) -> None:
    program = program_of(language, build)
    if stops:
        how = {"breakpoints": [program.at("inner")]}
    else:
        how = {"args": ["1000000"], "wait_until_paused": False}
    await server.data("dap_run", program=str(program), type=language.adapter, **how)


async def _round(server: Attacked, random: Random, doing: str) -> None:
    children = sorted(server.children())
    double = random.random() < 0.4
    victims = random.sample([server.pid, *children], 2 if double and children else 1)
    number = signal.SIGKILL if double else random.choice(SINGLE)
    if number == signal.SIGSTOP and server.joined is not None and server.joined.pid in victims:
        # While a server is frozen, its bridge waits for it.
        number = signal.SIGTERM
    doing += f": {number.name} to {[command_line(pid)[:120] for pid in victims]}"
    if server.pid in victims:
        server.killed = True
    ours = {server.pid, *processes_of(server.place.mark, MARK)}
    for pid in victims:
        if pid in ours:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
    if server.killed:
        if number == signal.SIGSTOP:
            os.kill(server.pid, signal.SIGKILL)
        await server.process.wait()
        if server.joined is not None and server.joined.stdin:
            # The server behind a bridge ends with its own stdin, which we hold.
            server.joined.stdin.close()
        return await server.gone(set(children), doing)
    await _goes_on(server, doing)
    return None


async def _goes_on(server: Attacked, doing: str) -> None:
    """Look whether the server still does all that has nothing to do with the victim."""
    if server.joined is not None:
        # The next call may be on its way to a server that was killed.
        await server.call("dap_status")
    breakpoints = [{"filename": FAKE_PROGRAM, "line": 3}]
    arguments = {"program": FAKE_PROGRAM, "type": "calm", "breakpoints": breakpoints}
    answer = await server.call("dap_run", arguments)
    other = data_of(answer)
    if other.get("state") != "stopped":
        server.judge.fault("strangers hit", f"another program does not start: {answer}: {doing}")
    await server.call("dap_status")
    # In the place of a server that was killed there is one without sessions.
    first = other.get("session_id") != 1
    if first:
        await server.call("dap_evaluate", {"expression": "1", "session_id": 1, "timeout_ms": 800})
        await server.call("dap_step_over", {"session_id": 1, "timeout_ms": 800})
    step = await server.data("dap_step_over", session_id=other.get("session_id"))
    if other and step.get("line") != 2:
        server.judge.fault("strangers hit", f"another program does not step: {step}: {doing}")
    if first:
        await server.call("dap_terminate", {"session_id": 1})


async def _swept(where: Place, judge: Judge) -> None:
    """Let the next server find what a killed one has left; what it leaves is a fault of its own."""
    async with attacked(where, judge) as server:
        await server.call("dap_status")
