"""What it costs to compare two runs of 100,000 rows each, in a loop of two points, for each way in which they may differ.

`uv run python -m tools.bench.comparing` prints milliseconds of the processor's time, the least of a few rounds: until the rows are held
on to, during which the server does nothing else, and until the runs are compared, which a thread does.
"""

import sys
import time
from collections.abc import Callable, Mapping

from dapeer.collecting.divergence import compare_runs, pair_points, rows_of_run
from dapeer.collecting.rows.collected import Collected
from dapeer.collecting.rows.row_blocks import BlockPart

ROWS = 100_000
ROUNDS = 5

Cells = tuple[str, str]


def same(number: int) -> Cells:
    return str(number // 2), str(number * 2)


CASES: Mapping[str, Callable[[int], Cells]] = {
    "nothing": same,
    "one value": lambda n: same(n) if n != ROWS // 2 else ("-1", "-1"),
    "six rows more": lambda n: same(n) if n < ROWS // 2 else same(n + 6),
    "all from the middle on": lambda n: same(n) if n < ROWS // 2 else (str(n // 2), str(n)),
    "rows here and there": lambda n: same(n) if n % 97 else (str(n // 2), "-1"),
    "every ninth row twice": lambda n: same(n * 9 // 10),
    "a column in all rows": lambda n: (str(n // 2), f"at {n}"),
}
"""What differs."""


def collected(cells: Callable[[int], Cells]) -> Collected:
    """Return a run whose rows come by turns from two points."""
    found = Collected()
    found.ensure_point(["i", "total"], path="/cart.py", line=3)
    found.ensure_point(["i"], path="/cart.py", line=5)
    rows = ((1 + n % 2, n // 2 + 1, cells(n)[: 2 - n % 2]) for n in range(ROWS))
    lines = [f"{point}\t{hit}\t0.1\tMainThread\t\tmain\t" + "\t".join(c) for point, hit, c in rows]
    found.add_part(1, BlockPart.of_text("\n".join([*lines, ""])), "tracer")
    return found


def measured(a: Collected, b: Collected) -> tuple[float, float]:
    """Return the milliseconds of both parts."""
    began = time.process_time()
    points = pair_points(a.points.values(), b.points.values())
    runs = [
        rows_of_run(each, {pair[which].number: place for place, pair in enumerate(points)})
        for which, each in enumerate((a, b))
    ]
    held = time.process_time()
    compare_runs(runs[0], runs[1])
    return (held - began) * 1000, (time.process_time() - held) * 1000


def main() -> None:
    """Print a line for each case."""
    first = collected(same)
    for name, cells in CASES.items():
        other = collected(cells)
        rounds = [measured(first, other) for _ in range(ROUNDS)]
        hold, compare = (min(each) for each in zip(*rounds, strict=True))
        sys.stdout.write(f"{name}: {hold:.0f} ms, then {compare:.0f} ms\n")


if __name__ == "__main__":
    main()
