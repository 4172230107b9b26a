"""What a call costs beside much of something: stops, sessions, output, frames, locals, threads, breakpoints.

`uv run python -m tools.bench.growth` prints the table; names of rows choose some of them.
"""

import argparse
import asyncio
import itertools
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.programs import Program, program
from tools.bench import adapter
from tools.bench.raw import raw_dap
from tools.bench.served import DAPEER, Served, served
from tools.bench.statistics import Measured, Samples, in_turn

GROWN = program("grown.py")
SHELL = program("loop.sh")
LINES = 2_000
"""Of a file in which breakpoints are set."""
SAMPLES = 20
MILLISECONDS_TO_START = 60_000

STEP, RAW = "step", "raw"
SNAPSHOT, EVALUATE, SET = "snapshot", "evaluate", "set a breakpoint"
MEMORY = "MiB"
COLUMNS = (STEP, RAW, SNAPSHOT, EVALUATE, SET, MEMORY)

SIZES: Mapping[str, Sequence[int]] = {
    "stops": (10, 1_000, 10_000),
    "sessions": (1, 10, 50),
    "shells": (50,),
    "output": (1_000, 10_000_000),
    "depth": (10, 1_000, 10_000),
    "locals": (5, 500, 5_000),
    "threads": (1, 50),
    "breakpoints": (1, 10, 1_000),
}
UNITS = {"shells": "sessions of Bash", "output": "bytes of output", "depth": "frames"}


@dataclass(frozen=True)
class Row:
    """What was measured beside so much of something: milliseconds, and the server's memory."""

    what: str
    number: int
    values: Mapping[str, Samples]

    def __str__(self) -> str:
        # The 10th percentile: so a busy machine shows in it least.
        least = [self.values[each].spread[0] for each in COLUMNS]
        cells = [f"{each:.3g}" for each in least]
        cells.insert(2, f"{least[0] / least[1]:.2f}")
        return f"| {self.number:,} {UNITS.get(self.what, self.what)} | {' | '.join(cells)} |"


async def measured(what: str, number: int, samples: int = SAMPLES) -> Row:
    """Start a server, bring a program to a stop beside so much of something, and call tools there."""
    with tempfile.TemporaryDirectory() as folder:
        stepping = _written(Path(folder), number if what == "locals" else 0)
        if what in {"output", "depth", "threads"}:
            stepping = GROWN
        arguments, line = [what, str(number), str(stepping)], stepping.line("here")
        async with served(*DAPEER) as server, raw_dap(adapter.quick()) as raw:
            await _start(server, what, number, stepping)
            await raw.start(adapter.launch(GROWN, args=arguments), str(stepping), [line])
            await raw.set_breakpoints(str(stepping), [])
            await raw.look()
            for _ in range(number if what == "stops" else 0):
                await server.call("dap_step_over")
            calls = _calls(server, stepping, number if what == "breakpoints" else 0)
            calls[RAW] = raw.step_and_look
            found = Measured()
            for _ in range(samples):
                await in_turn(found, what, calls)
            return Row(what, number, {**found.of(what), MEMORY: Samples([server.memory()])})


async def _start(server: Served, what: str, number: int, stepping: Program) -> None:
    """Start the program, and leave it without a breakpoint where it steps."""
    here = stepping.at("here")
    more = [{**here, "line": 4 + each} for each in range(number if what == "breakpoints" else 0)]
    for _ in range(number if what == "shells" else 0):
        await server.call("dap_run", program=str(SHELL), stop_on_entry=True)
    for _ in range(number if what == "sessions" else 1):
        await server.call(
            "dap_run",
            program=str(GROWN),
            args=[what, str(number), str(stepping)],
            breakpoints=[here, *more],
            timeout_ms=MILLISECONDS_TO_START,
        )
    await server.call("dap_remove_breakpoint", **here)


def _calls(
    server: Served, stepping: Program, taken: int
) -> dict[str, Callable[[], Awaitable[object]]]:
    """Return what is measured; so many lines have breakpoints already."""
    free = itertools.count(4 + taken)

    async def set_one() -> None:
        await server.call("dap_set_breakpoint", filename=str(stepping), line=next(free))

    return {
        STEP: partial(server.call, "dap_step_over"),
        SNAPSHOT: partial(server.call, "dap_snapshot"),
        EVALUATE: partial(server.call, "dap_evaluate", expression="value"),
        SET: set_one if stepping is not GROWN else partial(_set_again, server),
    }


async def _set_again(server: Served) -> None:
    await server.call("dap_set_breakpoint", filename=str(GROWN), line=1)


def _written(folder: Path, names: int) -> Program:
    """Write a long function `many` with some locals; it steps without an end."""
    path = folder / "many.py"
    begin = ["def many():", "    value = 1", "    if not value:"]
    never = [f"        never = {each}" for each in range(LINES)]
    local = [f"    name_{each} = {each}" for each in range(names)]
    loop = ["    while True:", "        value = value * 2 % 1009  # @here", "        other = value"]
    path.write_text("\n".join([*begin, *never, *local, *loop, ""]), "utf-8")
    return Program(path, path)


async def main(wanted: Sequence[str]) -> None:
    """Print the table, row by row."""
    sys.stdout.write(
        f"| beside | {STEP}, ms | raw step + look | / raw | {' | '.join(COLUMNS[2:])} |\n"
        f"| --- | {' | '.join(['---:'] * (len(COLUMNS) + 1))} |\n"
    )
    for what in wanted or SIZES:
        for number in SIZES[what]:
            sys.stdout.write(f"{await measured(what, number)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.bench.growth", description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[[], *SIZES], help="those to measure (all)")
    asyncio.run(main(parser.parse_args().rows))
