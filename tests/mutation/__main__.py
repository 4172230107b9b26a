"""Try mutants of debugpy: `python -m tests.mutation`, 16 of a fixed seed; with `--all` 60 of the day's. Fails where dapeer does."""

import argparse
import asyncio
import datetime as dt
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.mutation.mutants import Mutant, drawn
from tests.mutation.trial import debugs_bare, problem_with

FIXED_SEED = 31


def tried(seed: int, count: int) -> Iterator[tuple[Mutant, str]]:
    """Yield mutants that a bare client debugs, as many as wanted, and what dapeer cannot do with each."""
    for mutant in drawn(seed):
        if count <= 0:
            return
        with tempfile.TemporaryDirectory(prefix="dapeer-mutant-") as name:
            folder = Path(name)
            bare = asyncio.run(debugs_bare(folder)) if mutant.make(folder) else None
            if bare is None:
                continue
            count -= 1
            try:
                problem = asyncio.run(problem_with(folder, bare))
            except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 - it is told with its mutant
                problem = f"{type(error).__name__}: {error}"
            yield mutant, problem


def main() -> int:
    """Try them, and print each; return how many dapeer fails at."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("--all", action="store_true", help="60 of the day's seed")
    parser.add_argument("count", nargs="?", type=int)
    parser.add_argument("seed", nargs="?", type=int)
    asked = parser.parse_args()
    day = dt.datetime.now(dt.UTC).date().toordinal()
    count = asked.count or (60 if asked.all else 16)
    seed = asked.seed or (day if asked.all or asked.count else FIXED_SEED)
    sys.stdout.write(f"{count} mutants of debugpy, seed {seed}\n")
    failures = 0
    for mutant, problem in tried(seed, count):
        failures += bool(problem)
        sys.stdout.write(f"{'FAILS' if problem else 'ok   '} {mutant} {problem}\n")
        sys.stdout.flush()
    sys.stdout.write(f"dapeer fails at {failures} of {count}\n")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
