"""Tests over versions, one environment after the other: `python -m tests.matrix [ROW ...]`, `--all`, `--list`.

Without an argument it is the shortest row. What this machine cannot have is skipped by its name, with the reason.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.matrix.environments import differences, environment
from tests.matrix.nvim_dap import newest_nvim_dap
from tests.matrix.rows import SHORT, Row, rows
from tests.npm import MissingError
from tests.programs import ROOT
from tests.pythons import found_python

PROCESSES = "2"


def main(arguments: Sequence[str]) -> int:
    """Run rows, and print how each has ended; return the exit code."""
    known = {row.name: row for row in (SHORT, *rows())}
    if "--list" in arguments:
        sys.stdout.write("".join(f"{name}\n" for name in known))
        return 0
    names = [row.name for row in rows()] if "--all" in arguments else [*arguments] or [SHORT.name]
    if unknown := [name for name in names if name not in known]:
        sys.stderr.write(f"There is no row {unknown[0]}. Rows: {', '.join(known)}.\n")
        return 2
    ends = {name: _timed(known[name]) for name in names}
    sys.stdout.write("\nMatrix:\n")
    sys.stdout.write("".join(f"  {name:22} {end}\n" for name, end in ends.items()))
    return int(any(end.startswith("failed") for end in ends.values()))


def _timed(row: Row) -> str:
    """Run a row; return how it has ended, in a few words."""
    began = time.monotonic()
    sys.stdout.write(f"\n== {row.name}\n")
    sys.stdout.flush()
    try:
        passed = _run(row)
    except MissingError as missing:
        return f"skipped: {missing}"
    return f"{'passed' if passed else 'failed'} in {time.monotonic() - began:.0f} s"


def _run(row: Row) -> bool:
    """Run the tests of a row.

    Raises:
        MissingError: This machine cannot have it, or it is the main run.
    """
    python = Path(sys.executable)
    variables = {"DAPEER_PYTHONS": row.debuggees or "3.11"}
    if row.debuggees and found_python(row.debuggees) is None:
        raise MissingError(f"needs Python {row.debuggees}: uv python install {row.debuggees}")
    if row.own:
        python = environment(row) / "bin" / "python"
        changed = differences(python.parent.parent)
        if (row.free or row.pins) and not changed:
            raise MissingError("nothing differs from the constraints")
        sys.stdout.write("".join(f"   {change}\n" for change in changed))
        sys.stdout.flush()
    if row.patches:
        variables["DAPEER_PATCHES"] = row.patches
    if row.nvim_dap:
        variables["DAPEER_NVIM_DAP"] = str(newest_nvim_dap())
    return _pytest(python, row.tests, variables)


def _pytest(python: Path, tests: Sequence[str], variables: dict[str, str]) -> bool:
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    around = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    command = [python, "-m", "pytest", "-q", "-n", PROCESSES, "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=ROOT, env={**around, "PATH": path, **variables}, check=False)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
