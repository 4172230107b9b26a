"""What is measured with a Neovim: looks and steps in a mirrored session, and what they cost the person.

Relay: a server that adds nothing to a Neovim of its own, without dapeer.

Main thread: the time for which the kernel has let Neovim's main thread run, so all of it is counted: our Lua,
what it makes nvim-dap do, and what Neovim does for both. It is read before and after, while the thread
sleeps. What the benchmark itself asks Neovim is in both values: 0.2 ms or so. Who is alone does the same by
hand, and while a tool looks, nothing.

Keys: from sending a key until a mapping's function has told us, in a Neovim whose session the assistant works
at in a loop, and in one at which nobody works, at the same time: the machine is as busy for both.
"""

import asyncio
import random
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import cast

from tests.programs import ROOT
from tools.bench import adapter
from tools.bench.mirrored import (
    LOOKS,
    LOOKS_AT_ALL,
    OBJECTS,
    Desk,
    Mirrored,
    attached,
    desk,
    relaying,
)
from tools.bench.raw import RawDap, raw_dap
from tools.bench.served import NOTHING, Served, served
from tools.bench.statistics import Measured, in_turn, now, shuffled
from tools.bench.stopped import EXPRESSION, Operation, start_raw
from tools.bench.subjects import (
    ALONE,
    EVALUATE,
    KEY_BUSY,
    KEY_QUIET,
    LISTENERS,
    LOCALS,
    MAIN_EVALUATE,
    MAIN_LOOK,
    MAIN_STEP,
    MAIN_STOP,
    MAIN_STOP_HEARD,
    NOOP,
    OURS,
    PENDING,
    RAW,
    RELAY,
    SNAPSHOT,
    STEP_AND_LOOK,
    STOCK_STEP,
    TAP,
    Size,
    named,
)

NANOSECONDS = 1e6
"""In a millisecond."""
BETWEEN_KEYS = 0.03
"""Seconds between two keys, at most: any moment of the assistant's work is met."""


def _evaluate(dap: RawDap) -> Awaitable[object]:
    return dap.evaluate(EXPRESSION)


OPERATIONS = (
    Operation(STEP_AND_LOOK, "dap_step_over", RawDap.step_and_look, relayed="step"),
    Operation(LOCALS, "dap_variables", RawDap.locals),
    Operation(SNAPSHOT, "dap_snapshot", RawDap.look),
    Operation(EVALUATE, "dap_evaluate", _evaluate, {"expression": EXPRESSION}, "evaluate"),
)


@dataclass(frozen=True)
class Sessions:
    """Sessions that are stopped at the same place."""

    tapped: Mirrored
    heard: Mirrored
    """Its server has only nvim-dap's listeners."""
    alone: Desk
    relayed: Mirrored
    """Its server has a Neovim step, and adds nothing."""
    nothing: Served
    raw: RawDap


async def measure(measured: Measured, size: Size) -> None:
    """Measure everything; needs nvim-dap."""
    async with (
        desk({}) as tapped,
        desk({"tap": False}) as heard,
        desk(None) as alone,
        desk(None) as relayed,
    ):
        await asyncio.gather(*(each.start() for each in (tapped, heard, alone, relayed)))
        await alone.editor.lua(LOOKS)
        async with _sessions(tapped, heard, alone, relayed) as sessions:
            await _at_rest(Measured(), sessions)
            for _ in range(size.neovim):
                await _at_rest(measured, sessions)
                await _main_thread(measured, sessions)
            await _press(measured, KEY_QUIET, tapped, alone, size.keys)
            await _pending(measured, sessions, size.neovim)
        await _press_beside_assistant(measured, tapped, alone, size.keys)
    await _stock(measured, size.neovim)


async def _stock(measured: Measured, rounds: int) -> None:
    """Step past objects with the adapter that people have: the assistant in one Neovim, the person in another."""
    async with desk({}, adapter.STOCK) as ours, desk(None, adapter.STOCK) as alone:
        await asyncio.gather(ours.start(OBJECTS), alone.start(OBJECTS))
        await alone.editor.lua(LOOKS_AT_ALL)
        async with attached(ours.editor) as server:
            steps = {OURS: partial(server.call, "dap_step_over"), ALONE: alone.steps_and_looks}
            for each in (Measured(), *[measured] * rounds):
                await in_turn(each, STOCK_STEP, steps)
                await asyncio.gather(ours.comes_to_rest(), alone.comes_to_rest())


@asynccontextmanager
async def _sessions(
    tapped: Desk, heard: Desk, alone: Desk, relayed: Desk
) -> AsyncGenerator[Sessions]:
    async with AsyncExitStack() as stack:
        sessions = Sessions(
            Mirrored(tapped, await stack.enter_async_context(attached(tapped.editor))),
            Mirrored(heard, await stack.enter_async_context(attached(heard.editor))),
            alone,
            Mirrored(relayed, await stack.enter_async_context(relaying(relayed.editor))),
            await stack.enter_async_context(served(*NOTHING)),
            await stack.enter_async_context(raw_dap(adapter.quick())),
        )
        await start_raw(sessions.raw)
        yield sessions


# -- looks and steps


async def _at_rest(measured: Measured, sessions: Sessions) -> None:
    """Do everything over both roads; when a Neovim's turn ends it has come to rest."""
    for operation in OPERATIONS:
        for situation, ours in ((TAP, sessions.tapped), (LISTENERS, sessions.heard)):
            turns = _turns(sessions, ours, operation)
            turns |= _alone(sessions.alone, operation) | _relayed(sessions.relayed, operation)
            for whose in shuffled(turns):
                began = now()
                await turns[whose]()
                measured.add_since(named(situation, operation.what), whose, began)
                if whose == OURS:
                    await ours.rest_after(operation.tool)
                if whose in {ALONE, RELAY}:
                    its = sessions.alone if whose == ALONE else sessions.relayed.desk
                    if operation.what == STEP_AND_LOOK:
                        await its.sees_another_stop()
                    await its.comes_to_rest()


async def _pending(measured: Measured, sessions: Sessions, rounds: int) -> None:
    """Do everything while Neovim waits for a key."""
    mode = await sessions.tapped.desk.editor.blocked("f")
    assert mode["blocking"], mode
    for _ in range(rounds):
        for operation in OPERATIONS:
            turns = _turns(sessions, sessions.tapped, operation)
            await in_turn(measured, named(PENDING, operation.what), turns)
    assert (await sessions.tapped.desk.editor.mode())["blocking"]
    await sessions.tapped.desk.editor.keys("<Esc>")
    await sessions.tapped.desk.comes_to_rest()


def _turns(
    sessions: Sessions, ours: Mirrored, operation: Operation
) -> dict[str, Callable[[], Awaitable[object]]]:
    return {
        NOOP: partial(sessions.nothing.call, "nothing"),
        OURS: partial(ours.server.call, operation.tool, **operation.arguments),
        RAW: partial(operation.raw, sessions.raw),
    }


def _alone(alone: Desk, operation: Operation) -> dict[str, Callable[[], Awaitable[object]]]:
    """Return what a bare client of a Neovim without dapeer does by nvim-dap."""
    works: dict[str, Callable[[], Awaitable[object]]] = {
        STEP_AND_LOOK: alone.steps_and_looks,
        EVALUATE: partial(alone.person.evaluates, EXPRESSION),
    }
    return {ALONE: works[operation.what]} if operation.what in works else {}


def _relayed(relay: Mirrored, operation: Operation) -> dict[str, Callable[[], Awaitable[object]]]:
    """Return what a server does that adds nothing to a Neovim without dapeer."""
    if not operation.relayed:
        return {}
    return {RELAY: partial(relay.server.call, operation.relayed, **operation.arguments)}


# -- what it takes from Neovim


async def _main_thread(measured: Measured, sessions: Sessions) -> None:
    """Have the person, and the assistant, do things; note for how long each Neovim's main thread ran."""
    tapped, heard, alone = sessions.tapped, sessions.heard, sessions.alone
    works: list[tuple[str, str, Desk, Callable[[], Awaitable[object]]]] = [
        (MAIN_STOP, OURS, tapped.desk, tapped.person_steps),
        (MAIN_STOP, ALONE, alone, alone.steps),
        (MAIN_STOP_HEARD, OURS, heard.desk, heard.person_steps),
        (MAIN_STOP_HEARD, ALONE, alone, alone.steps),
        (MAIN_STEP, OURS, tapped.desk, partial(tapped.does, "dap_step_over")),
        (MAIN_STEP, ALONE, alone, alone.steps),
        (
            MAIN_EVALUATE,
            OURS,
            tapped.desk,
            partial(tapped.does, "dap_evaluate", expression=EXPRESSION),
        ),
        (MAIN_EVALUATE, ALONE, alone, partial(alone.person.evaluates, EXPRESSION)),
        (MAIN_LOOK, OURS, tapped.desk, partial(tapped.does, "dap_snapshot")),
        (MAIN_LOOK, ALONE, alone, partial(sessions.nothing.call, "nothing")),
    ]
    for what, whose, its, work in random.sample(works, len(works)):
        before = its.main_thread()
        await work()
        await its.comes_to_rest()
        measured.add(what, whose, (its.main_thread() - before) / NANOSECONDS)


async def _press_beside_assistant(measured: Measured, ours: Desk, alone: Desk, times: int) -> None:
    """Press keys while an assistant is at work in one of the Neovims."""
    assistant = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tools.bench.assistant", ours.editor.socket),
        cwd=ROOT,
        env=adapter.environment(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    said = cast("asyncio.StreamReader", assistant.stdout)
    assert await said.readline() == b"busy\n"
    await _press(measured, KEY_BUSY, ours, alone, times)
    calls, _ = await assistant.communicate(b"")
    assert int(calls) > 0


async def _press(measured: Measured, what: str, ours: Desk, alone: Desk, times: int) -> None:
    """Press keys in both Neovims, in turn."""
    presses = {OURS: ours.press, ALONE: alone.press}
    for _ in range(times):
        await asyncio.sleep(random.uniform(0, BETWEEN_KEYS))
        await in_turn(measured, what, presses)
