"""What is timed at a stop: looking, evaluating, stepping.

Everybody takes turns in everything, so that a slow moment of the machine is slow for all.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from tests.harness import text
from tests.programs import program
from tools.bench import adapter
from tools.bench.raw import RawDap, raw_dap
from tools.bench.served import DAPEER, NOTHING, RELAYED, Served, served
from tools.bench.statistics import Measured, in_turn
from tools.bench.subjects import (
    EVALUATE,
    IDLE_EVALUATE,
    IDLE_STEP_AND_LOOK,
    LOCALS,
    LOCATION,
    NOOP,
    OURS,
    RAW,
    RELAY,
    SNAPSHOT,
    STACK,
    STEP,
    STEP_AND_LOOK,
    STOCK,
    Size,
)

PAUSE = 0.25
"""Seconds. A model thinks between two calls; meanwhile caches and acknowledgements cool down."""

STEPS = program("bench_steps.py")
EXPRESSION = "value * 2"
REPEAT = "repeat"
"""The relay's tool that gives an answer of dapeer's once more."""


@dataclass(frozen=True)
class Operation:
    """One thing to do at a stop: a tool of ours, and the requests that come closest to it."""

    what: str
    tool: str
    raw: Callable[[RawDap], Awaitable[object]]
    arguments: Mapping[str, object] = field(default_factory=dict[str, object])
    relayed: str = ""
    """The tool of `relay` that does the same; empty: it has none."""


def _evaluate(dap: RawDap) -> Awaitable[object]:
    return dap.evaluate(EXPRESSION)


# In this order: raw clients know a frame only after a look, and an evaluation may change anything,
# so after it our server holds no variables any more.
BACK_TO_BACK = (
    Operation(STEP, "dap_step_over", RawDap.step),
    Operation(STEP_AND_LOOK, "dap_step_over", RawDap.step_and_look, relayed="step"),
    Operation(STACK, "dap_stacktrace", RawDap.stack, relayed=REPEAT),
    Operation(LOCALS, "dap_variables", RawDap.locals, relayed=REPEAT),
    Operation(SNAPSHOT, "dap_snapshot", RawDap.look, relayed=REPEAT),
    Operation(LOCATION, "dap_current_location", RawDap.stack, relayed=REPEAT),
    Operation(EVALUATE, "dap_evaluate", _evaluate, {"expression": EXPRESSION}, "evaluate"),
)
AFTER_A_PAUSE = (
    Operation(IDLE_STEP_AND_LOOK, "dap_step_over", RawDap.step_and_look, relayed="step"),
    Operation(IDLE_EVALUATE, "dap_evaluate", _evaluate, {"expression": EXPRESSION}, "evaluate"),
)


@dataclass(frozen=True)
class Stopped:
    """Sessions that are stopped at the same place: one of our server, one of a relay, two of raw clients."""

    ours: Served
    nothing: Served
    relay: Served
    raw: RawDap
    stock: RawDap

    async def start(self) -> None:
        """Bring all to the same stop, with no breakpoint left in their way."""
        await asyncio.gather(_start_ours(self.ours), start_raw(self.raw), start_raw(self.stock))

    def of(self, operation: Operation) -> dict[str, Callable[[], Awaitable[object]]]:
        """Return what each does for an operation."""
        turns: dict[str, Callable[[], Awaitable[object]]] = {
            NOOP: partial(self.nothing.call, "nothing"),
            OURS: partial(self.ours.call, operation.tool, **operation.arguments),
            RAW: partial(operation.raw, self.raw),
            STOCK: partial(operation.raw, self.stock),
        }
        if operation.relayed == REPEAT:
            turns[RELAY] = partial(self.relay.call, REPEAT, what=operation.tool)
        elif operation.relayed:
            turns[RELAY] = partial(self.relay.call, operation.relayed, **operation.arguments)
        return turns

    async def prepare(self) -> None:
        """Have the relay know what it is to repeat: our answers after a step."""
        await self.ours.call("dap_step_over")
        await self.raw.step_and_look()
        for operation in BACK_TO_BACK:
            if operation.relayed == REPEAT:
                told = text(await self.ours.call(operation.tool))
                await self.relay.call("remember", what=operation.tool, text=told)

    async def check(self) -> None:
        """Make sure that our server and the raw client have come to the same place."""
        shown = text(await self.ours.call("dap_snapshot")).splitlines()
        missing = {*(await self.raw.look()).items()} - {
            tuple(line.strip().split(" = ")) for line in shown
        }
        assert not missing, shown


async def _start_ours(server: Served) -> None:
    await server.call("dap_run", program=str(STEPS), breakpoints=[STEPS.at("inner")])
    await server.call("dap_clear_breakpoints")


async def start_raw(dap: RawDap) -> None:
    """Bring a raw client to the first stop, with no breakpoint left in its way."""
    await dap.start(adapter.launch(STEPS), str(STEPS), [STEPS.line("inner")])
    await dap.set_breakpoints(str(STEPS), [])
    await dap.look()


@asynccontextmanager
async def stopped() -> AsyncGenerator[Stopped]:
    """Start two servers and two adapters, with a program each."""
    async with AsyncExitStack() as stack:
        sessions = Stopped(
            await stack.enter_async_context(served(*DAPEER)),
            await stack.enter_async_context(served(*NOTHING)),
            await stack.enter_async_context(served(*RELAYED)),
            await stack.enter_async_context(raw_dap(adapter.quick())),
            await stack.enter_async_context(raw_dap(adapter.STOCK)),
        )
        await sessions.start()
        yield sessions
        await sessions.check()


async def measure(measured: Measured, size: Size) -> None:
    """Do everything, back to back and after pauses."""
    async with stopped() as sessions:
        await sessions.prepare()
        # What a client loads when it first needs it is no cost of a call.
        await _back_to_back(Measured(), sessions, with_stock=False)
        for turn in range(size.stopped):
            await _back_to_back(measured, sessions, with_stock=turn % size.stock_every == 0)
        for _ in range(size.idle):
            for operation in AFTER_A_PAUSE:
                await asyncio.sleep(PAUSE)
                await in_turn(measured, operation.what, sessions.of(operation))


async def _back_to_back(measured: Measured, sessions: Stopped, *, with_stock: bool) -> None:
    for operation in BACK_TO_BACK:
        turns = sessions.of(operation)
        if not with_stock:
            del turns[STOCK]
        await in_turn(measured, operation.what, turns)
