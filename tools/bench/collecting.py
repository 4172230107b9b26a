"""What collecting costs in a Python program: `python -m tools.bench.collecting [PYTHON ...]`. Ratios of CPU times in one run."""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp import Client

from dapeer.collecting.rows.collected import Collected
from dapeer.collecting.rows.row_blocks import read_row_file
from dapeer.collecting.text.timeline import news_lines
from tests.e2e.collecting import collect
from tests.harness import ask, client, evaluate
from tests.programs import program

P = program("collecting_loop.py")
TIGHT = "loop of 100,000 with two lines, two values in each round"
BODY = "loop of 100,000 with eight lines, two values in each round"
BESIDE = "code beside it, 100,000 calls"
WRITES = "who writes an attribute, 1,000,000 lines"
LONGEST_ROUND_MS = 120_000
UNTIL = "until an expression holds, 1,000,000 lines"


@dataclass(frozen=True)
class Found:
    """CPU seconds, the best of some rounds."""

    python: str
    alone: tuple[float, ...]
    """Two loops, code beside it, and a million lines: under the debugger, with nothing collected."""
    collecting: tuple[float, ...]
    """The loops and the code beside them, with two values collected in each loop."""
    watching: float
    """A million lines in which a write is looked for."""
    until: float
    """The same, where after each an expression is evaluated."""
    read: float
    """To read 100,000 rows in the core, and to keep them by column."""
    summed_up: float
    """To summarise 100,000 rows."""
    rows: int


async def measured(python: str, rounds: int, loops: int) -> Found:
    """Measure one interpreter."""
    folder = Path(tempfile.mkdtemp())
    async with client() as c:
        await ask(c, "dap_run", program=str(P), breakpoints=[P.at("took")], python=python)
        version = (await evaluate(c, "__import__('platform').python_version()")).strip("'")
        await ask(c, "dap_evaluate", expression=f"globals().update(ROUNDS={loops})", context="repl")
        alone = await best(c, rounds)
        await collect(c, folder, point("tight", "x"), point("hit", "total"))
        collecting = await best(c, rounds)
        found = reading(await one_loop(c))
        await collect(c, folder, {"writes": "account.balance", "stop": False})
        watching = await best(c, rounds)
        await collect(c, folder, {"until": "c < 0"})
        until = await best(c, rounds)
        await ask(c, "dap_terminate")
    many = watching[3], until[3]
    return Found(version, alone, collecting, *many, *found)


def point(marker: str, value: str) -> dict[str, object]:
    """Return a point that collects two values in a loop."""
    return {"file": str(P.source), "line": P.line(marker), "collect": ["i", value]}


async def best(c: Client, rounds: int) -> tuple[float, ...]:
    """Return the least time of each part; the first round does not count."""
    every: list[tuple[float, ...]] = []
    for _ in range(rounds + 1):
        await ask(c, "dap_continue", timeout_ms=LONGEST_ROUND_MS)
        every.append(tuple(map(float, json.loads(await evaluate(c, "list(found)")))))
    return tuple(map(min, zip(*every[1:], strict=True)))


async def one_loop(c: Client) -> Path:
    """Return where the program has written the rows of one loop, each of two whole numbers."""
    folder = Path(tempfile.mkdtemp())
    await collect(c, folder, point("tight", "x"))
    await ask(c, "dap_continue", timeout_ms=LONGEST_ROUND_MS)
    return folder


def reading(folder: Path) -> tuple[float, float, int]:
    """Return CPU seconds to read 100,000 of these rows and to summarise them, the best of some rounds, and how many rows there are."""
    (path,) = folder.glob("*.rows")
    data = path.read_bytes()
    path.unlink()
    every: list[tuple[float, float]] = []
    count = 0
    for _ in range(5):
        kept = Collected()
        kept.ensure_point(["i", "x"], path=str(P.source), line=P.line("tight"))
        begin = time.thread_time()
        for part in read_row_file(data).parts:
            kept.add_part(1, part, "tracer")
        took = time.thread_time() - begin
        begin = time.thread_time()
        news_lines(kept.collections.values(), P.source.parent)
        every.append((took, time.thread_time() - begin))
        count = sum(len(each.table) for each in kept.collections.values())
    spent, summed_up = (min(each) / count * 100_000 for each in zip(*every, strict=True))
    return spent, summed_up, count


def told(found: Found, loops: int) -> str:
    """Return what was measured, as lines."""
    tight, loop, beside, many = found.alone
    slow_tight, slow_loop, slow_beside, _many = found.collecting
    return "\n".join([
        f"Python {found.python}",
        f"  {TIGHT}: {slow_tight / tight:.1f} times as long, {found.rows / slow_tight:,.0f} rows a second",
        f"  {BODY}: {slow_loop / loop:.1f} times as long, {found.rows / slow_loop:,.0f} rows a second",
        f"  {BESIDE}: {slow_beside / beside:.2f} times as long",
        f"  {WRITES}: {found.watching * 100_000 / loops:.2f} s, {found.watching / many:.1f} times as long",
        f"  {UNTIL}: {found.until * 100_000 / loops:.2f} s, {found.until / many:.1f} times as long",
        f"  100,000 rows read and kept in the core: {found.read * 1000:.0f} ms, summarised: {found.summed_up * 1000:.0f} ms",
    ])  # fmt: skip


def main(pythons: Sequence[str]) -> None:
    """Measure, and print."""
    for python in pythons or [sys.executable]:
        found = asyncio.run(measured(python, 5, 100_000))
        sys.stdout.write(f"{told(found, 100_000)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
