"""The same work by dapeer and by other debuggers for assistants, each in an environment of its own."""

import asyncio
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tests.npm import MissingError
from tools.bench.contestants import CONTESTANTS, Contestant, Dapeer, contesting
from tools.bench.statistics import Measured, Samples, now, shuffled

SECONDS = 60
"""For all the work of one round; who needs longer does not take part."""

LISTED = "server start to tools listed, ms"
FIRST = "from there to the first stop with stack and locals, ms"
AGAIN = "another start in the same server, ms"
STEP = "step + stack + locals, ms"
EVALUATE = "evaluate, ms"
START_CALLS = "calls from nothing to stack and locals"
STEP_CALLS = "calls of a step with stack and locals"
START_BYTES = "bytes of the answers to these"
STEP_BYTES = "bytes of the answers to a step"
TOOLS = "bytes of the tool list"
ROWS = (
    *(LISTED, FIRST, AGAIN, STEP, EVALUATE, START_CALLS),
    *(START_BYTES, STEP_CALLS, STEP_BYTES, TOOLS),
)


@dataclass
class Contest:
    """What was measured, by row and contestant, and who could not take part."""

    measured: Measured = field(default_factory=Measured)
    missing: dict[str, str] = field(default_factory=dict[str, str])
    """Why, by name."""


async def contest(rounds: int, steps: int) -> Contest:
    """Let everybody do the same work, in any order in each round."""
    found = Contest()
    kinds = {kind.name: kind for kind in CONTESTANTS}
    with tempfile.TemporaryDirectory() as home:
        for _ in range(rounds):
            for name in shuffled(kinds.keys() - found.missing.keys()):
                try:
                    kinds[name].command(Path(home))  # Installs it.
                except MissingError as missing:
                    found.missing[name] = str(missing)
                    continue
                try:
                    async with asyncio.timeout(SECONDS):
                        await _take_part(kinds[name], Path(home), found.measured, steps)
                except* (TimeoutError, AssertionError):
                    if name == Dapeer.name:
                        raise
                    found.missing[name] = f"it failed, or needed more than {SECONDS} s"
    return found


async def _take_part(kind: type[Contestant], home: Path, measured: Measured, steps: int) -> None:
    """Measure one contestant from the start of its server to its end."""
    async with AsyncExitStack() as stack:
        began = now()
        contestant = await stack.enter_async_context(contesting(kind, home))
        measured.add(TOOLS, kind.name, await contestant.tool_list())
        measured.add_since(LISTED, kind.name, began)
        began = now()
        await contestant.start()
        measured.add_since(FIRST, kind.name, began)
        _add_cost(measured, contestant, START_CALLS, START_BYTES)
        for _ in range(steps):
            began = now()
            await contestant.step()
            measured.add_since(STEP, kind.name, began)
            _add_cost(measured, contestant, STEP_CALLS, STEP_BYTES)
            began = now()
            value = await contestant.evaluate()
            measured.add_since(EVALUATE, kind.name, began)
            assert any(map(str.isdigit, value)), value
            contestant.calls = contestant.bytes = 0
        await contestant.finish()
        began = now()
        await contestant.start()
        measured.add_since(AGAIN, kind.name, began)
        await contestant.finish()


def _add_cost(measured: Measured, contestant: Contestant, calls: str, size: str) -> None:
    measured.add(calls, contestant.name, contestant.calls)
    measured.add(size, contestant.name, contestant.bytes)
    contestant.calls = contestant.bytes = 0


def table(found: Contest) -> str:
    """Return the table in Markdown, and below it who did not take part."""
    names = [kind.name for kind in CONTESTANTS if kind.name not in found.missing]
    head = [f"|  | {' | '.join(names)} |", f"| --- | {' | '.join(['---:'] * len(names))} |"]
    lines = [_line(row, found.measured.of(row), names) for row in ROWS]
    absent = [f"{name} did not take part: {why}." for name, why in found.missing.items()]
    return "\n".join([*head, *lines, *(["", *absent] if absent else [])])


def _line(row: str, values: Mapping[str, Samples], names: list[str]) -> str:
    ours = values[Dapeer.name].median
    cells = [_cell(values[name], ours) for name in names]
    return f"| {row} | {' | '.join(cells)} |"


def _cell(samples: Samples, ours: float) -> str:
    """Return the median, the spread, and how many times ours it is.

    >>> _cell(Samples([30]), 10)
    '30, 3.0 x'
    """
    low, high = samples.spread
    spread = f" ({low:,.0f} to {high:,.0f})" if low != high else ""
    times = f", {samples.median / ours:.1f} x" if samples.median != ours else ""
    return f"{samples.median:,.0f}{spread}{times}"
