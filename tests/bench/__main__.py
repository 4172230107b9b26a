"""Measure everything and print one table; `--help` tells more."""

import argparse
import asyncio
import sys
from collections.abc import Sequence

from tests.bench import reading, rows, stopped, table, whole
from tests.bench.statistics import Measured
from tests.bench.subjects import FULL, QUICK, Size

LEGEND = """\
Median (10th to 90th percentile); one run, everybody in turn. raw DAP: a bare client on the adapter as
dapeer starts it; stock: on `python -m debugpy.adapter`. no-op tool: a server like ours, one tool,
over the same stdio client. Looks and steps of ours are tool calls: JSON-RPC both ways included."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark. It judges, but never fails: times depend on the machine."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few rounds, to see that it works")
    parser.add_argument("--markdown", action="store_true", help="print the table for the README")
    options = parser.parse_args(arguments)
    size = QUICK if options.quick else FULL
    found = asyncio.run(run(size))
    text = table.markdown(found) if options.markdown else table.plain(found)
    sys.stdout.write(f"{text}\n\n{LEGEND}\n")
    return 0


async def run(size: Size) -> list[rows.Row]:
    """Measure everything and return the rows."""
    measured = Measured()
    await stopped.measure(measured, size)
    await whole.measure(measured, size)
    return rows.rows(measured, await reading.read(), size)


if __name__ == "__main__":
    sys.exit(main())
