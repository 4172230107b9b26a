"""Measure everything and print one table; `--help` tells more."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from tests.neovim.editor import NVIM_DAP
from tools.answers.page import table as answers_table
from tools.answers.read import before, read_all
from tools.bench import neovim, peers, reading, rows, stopped, table, whole
from tools.bench.statistics import Measured
from tools.bench.subjects import FULL, QUICK, Size

LEGEND = """\
Median (10th to 90th percentile); one run, everybody in turn. raw DAP: a bare client on the adapter as
dapeer starts it; stock: on `python -m debugpy.adapter`. no-op tool: a server like ours, one tool,
over the same stdio client. Looks and steps of ours are tool calls: JSON-RPC both ways included."""

NEOVIM_LEGEND = """\
A session of nvim-dap, and a server that is attached to its Neovim. Mirrored: by the tap; by listeners: by
nvim-dap's own; waits for a key: by the tap, after `f`. Main thread: for how long Neovim's ran, all in all; alone:
nvim-dap without dapeer, the person doing the same. A key's effect: from the key to its mapping's function; alone: in
another Neovim at the same time, on the same busy machine."""
WITHOUT_NVIM_DAP = "The rows of Neovim are left out: they need nvim-dap (see docs/neovim.md, or name it in $DAPEER_NVIM_DAP)."

ANSWERS_LEGEND = """\
What a model reads, in bytes, word for word in docs/answers.md. Before: commit 3b9f2cb, whose structured content
was all that Claude Code's model saw."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark. It judges, but never fails: times depend on the machine."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few rounds, to see that it works")
    parser.add_argument("--markdown", action="store_true", help="print the table for docs/speed.md")
    parser.add_argument(
        "--peers",
        action="store_true",
        help="instead, the same work by other debuggers for assistants, which are installed apart",
    )
    options = parser.parse_args(arguments)
    if options.peers:
        found = asyncio.run(peers.contest(*((1, 1) if options.quick else (10, 10))))
        sys.stdout.write(f"{peers.table(found)}\n")
        return 0
    size = QUICK if options.quick else FULL
    found = asyncio.run(run(size))
    if options.markdown:
        sys.stdout.write(f"{table.markdown([*found.general, *found.neovim])}\n")
        return 0
    sys.stdout.write(f"{table.plain(found.general)}\n\n{LEGEND}\n\n")
    told = f"{table.plain(found.neovim)}\n\n{NEOVIM_LEGEND}" if found.neovim else WITHOUT_NVIM_DAP
    sys.stdout.write(f"{told}\n\n")
    answers = answers_table(before(), asyncio.run(read_all()))
    sys.stdout.write(f"{answers}\n\n{ANSWERS_LEGEND}\n")
    return 0


@dataclass(frozen=True)
class Found:
    """The rows of the tables of times."""

    general: list[rows.Row]
    neovim: list[rows.Row]
    """Empty without nvim-dap."""


async def run(size: Size) -> Found:
    """Measure everything and return the rows."""
    measured = Measured()
    await stopped.measure(measured, size)
    await whole.measure(measured, size)
    if NVIM_DAP is not None:
        await neovim.measure(measured, size)
    return Found(
        rows.rows(measured, await reading.read(), size),
        rows.neovim(measured) if NVIM_DAP is not None else [],
    )


if __name__ == "__main__":
    sys.exit(main())
