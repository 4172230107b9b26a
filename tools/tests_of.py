"""Which tests run a module: `uv run python -m tools.tests_of MODULE`, where MODULE is a path or a dotted name.

`--record` runs tests first (the quick suite, or those that follow) and notes the lines of dapeer that each of them runs, also in
processes that it starts. A run replaces what was noted of the same tests, and keeps the rest. Recording makes tests slower, and some
fail by it: a debugger and coverage cannot both trace one program.
"""

import argparse
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import coverage
import pytest

from tools.source import ROOT

NOTES = ROOT / ".pytest_cache" / "tests-of"
DATA = NOTES / "data"
CONFIG = NOTES / "coverage.ini"
TEST = "DAPEER_RECORDED_TEST"
"""A variable that tells processes which test has started them."""
SETTINGS = f"""\
[run]
source = dapeer
data_file = {DATA}
parallel = true
sigterm = true
context = ${{{TEST}-}}
"""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Have what this process and those that it starts run noted under the name of the test."""
    measuring = coverage.Coverage.current()
    os.environ[TEST] = item.nodeid
    if measuring is not None:
        measuring.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        del os.environ[TEST]


def record(tests: list[str]) -> None:
    """Run tests, and note which lines each of them runs."""
    NOTES.mkdir(parents=True, exist_ok=True)
    CONFIG.write_text(SETTINGS, encoding="utf-8")
    environment = os.environ | {"COVERAGE_PROCESS_START": str(CONFIG)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.tests_of", "--tb=no", *tests]
    subprocess.run(command, cwd=ROOT, env=environment, check=False)
    notes = coverage.Coverage(config_file=str(CONFIG))
    notes.combine([str(NOTES)], keep=False)
    notes.save()


def lines_by_test(module: Path) -> Counter[str]:
    """Return how many lines of a module each recorded test runs; empty if none does, or nothing was recorded."""
    found = Counter[str]()
    if not DATA.exists():
        return found
    data = coverage.CoverageData(str(DATA))
    data.read()
    for contexts in data.contexts_by_lineno(str(module)).values():
        # A process that a test has started has the test as its static context, and an empty one beside it.
        found.update({test for each in contexts if (test := each.strip("|"))})
    return found


def path_of(module: str) -> Path:
    """Return the file of a module that is named by its path or by its dotted name."""
    if module.endswith(".py"):
        return Path(module).resolve()
    return (ROOT / "server" / Path(*module.split("."))).with_suffix(".py")


def main() -> int:
    """Print the tests that run a module, those that run most of its lines first."""
    parser = argparse.ArgumentParser(prog="python -m tools.tests_of", description=__doc__)
    parser.add_argument("--record", action="store_true", help="run the tests first")
    parser.add_argument("module")
    parser.add_argument("tests", nargs="*", help="what --record runs")
    options, more = parser.parse_known_args()
    if options.record:
        record([*options.tests, *more])
    found = lines_by_test(path_of(options.module))
    for test, lines in found.most_common():
        print(f"{lines:5}  {test}")
    if not found:
        print("No recorded test runs it. Record some: --record tests/FILE", file=sys.stderr)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
