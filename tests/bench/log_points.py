"""What collecting costs by log points, beside a log point that only prints the same values.

`uv run python -m tests.bench.log_points [ADAPTER ...]` prints hits a second, from the first line of the program to its
end; both are measured in turn.
"""

import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.bench.statistics import Measured, now, shuffled
from tests.harness import ask, client
from tests.programs import Program, compiled

HITS = 5_000
ROUNDS = 5
LOGS, COLLECTS = "prints", "collects"
LOOPS: Mapping[str, str] = {
    "js-debug": "let total = 0; // @begin\nfor (let i = 0; i < HITS; i++) {\n  total += i; // @here\n}\n",
    "gdb": "int main(void) {\n  long total = 0; // @begin\n  for (int i = 0; i < HITS; i++) {\n    total += i; // @here\n  }\n"
    "  return total == 1;\n}\n",
}
"""A program for each adapter; it ends after so many hits of a line."""


def made(adapter: str, hits: int, folder: Path) -> Program:
    """Write the program of an adapter, and compile it."""
    path = folder / ("loop.js" if adapter == "js-debug" else "loop.c")
    path.write_text(LOOPS[adapter].replace("HITS", str(hits)))
    return Program(path, path) if path.suffix == ".js" else compiled(path.name, folder, path)


async def measured(adapter: str, hits: int = HITS, rounds: int = ROUNDS) -> Measured:
    """Measure an adapter: hits a second.

    Raises:
        AssertionError: A hit was lost.
    """
    found = Measured()
    with tempfile.TemporaryDirectory() as name:
        loop = made(adapter, hits, Path(name))
        for _ in range(rounds):
            for whose in shuffled((LOGS, COLLECTS)):
                found.add(adapter, whose, hits / await _seconds(loop, adapter, whose, hits))
    return found


async def _seconds(loop: Program, adapter: str, whose: str, hits: int) -> float:
    """Run the program once; return the seconds that it took."""
    more = {LOGS: {"log_message": "{i} {total}"}, COLLECTS: {"collect": ["i", "total"]}}[whose]
    points = [loop.at("begin"), loop.at("here", **more)]
    async with client(loop.source.parent) as c:
        await ask(c, "dap_run", program=str(loop), type=adapter, breakpoints=points)
        began = now()
        end = await ask(c, "dap_continue", timeout_ms=120_000)
        took = now() - began
        assert end["state"] == "ended", end
        if whose == COLLECTS:
            assert f": {hits:,} rows" in "\n".join(end["collected"]), end["collected"]
    return took


def main(adapters: Sequence[str]) -> None:
    """Measure, and print a table in Markdown."""
    lines = [f"| | {LOGS} | {COLLECTS} | ratio |", "|---|---:|---:|---:|"]
    for adapter in adapters or LOOPS:
        found = asyncio.run(measured(adapter)).of(adapter)
        logs, collects = found[LOGS].median, found[COLLECTS].median
        lines.append(f"| {adapter} | {logs:,.0f} | {collects:,.0f} | {collects / logs:.2f} |")
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main(sys.argv[1:])
