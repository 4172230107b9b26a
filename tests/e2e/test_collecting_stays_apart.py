"""Whatever fails in what dapeer runs in a program's threads, the program runs as it does without dapeer."""

import asyncio
import re
import stat
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

import pytest

from tests.harness import ask, client
from tests.processes import LIMIT
from tests.programs import PROGRAMS, Program
from tests.pythons import python_of, versions

in_all = versions("3.8", "3.12", "3.13")
LOST = "rows lost: the program could not write what it collected (File too large)"
ORDERS = """
import sys


class Order:
    rate = 2  # @body

    def total(self, n):  # @def
        return n * self.rate  # @line


def work(items):
    return [Order().total(each) for each in items]


for _ in range(40):
    work(range(50))
sys.stdout.write("fine" + chr(10))
raise SystemExit(0)
"""
INTERRUPTED = """
import signal
import sys
import time

lost = []  # whether pydevd has what was not caught
raised = 0
debugger, tracer = sys.modules.get("pydevd_tracing"), sys.gettrace()
traced = tracer is not None


class Alarm(Exception):
    pass


def alarm(number, frame):
    global raised
    raised += 1
    lost.append(within_pydevd(frame))
    raise Alarm


def within_pydevd(frame):
    # Up to Python 3.11 it catches what a signal raises in its own tracer, also without dapeer.
    while traced and frame is not None and "<module>" != frame.f_code.co_name:
        if "pydevd" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def slow(value):
    return [each for each in range(30)]


def turn(value):
    try:
        for each in range(400):
            value += each  # @turn
    except Alarm:
        lost.pop()
    return value


signal.signal(signal.SIGALRM, alarm)
for _ in range(150):
    if traced:
        # Python ends tracing where a tracer has raised something.
        debugger.SetTrace(tracer)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.002)
        turn(1)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Alarm:
        lost.pop()
print(all(lost), raised > 0)
"""
SMALL = """
def twice(n):
    return n * 2


for i in range(3000):
    twice(i)  # @hit
print("over")
"""


def written(folder: Path, text: str) -> Program:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    return Program(path, path)


@in_all
@pytest.mark.parametrize("marker", ["body", "def", "line"])
async def test_an_expression_that_names_nothing_leaves_a_program_its_output_and_its_end(
    tmp_path: Path, version: str, marker: str
) -> None:
    p = written(tmp_path, ORDERS)
    points = [p.at(marker, collect=["nosuch.y", "self.total(nosuch)", "1 + 1"])]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(p), breakpoints=points, python=python_of(version))
    assert (end["state"], end["exit_code"], end["output"]) == ("ended", 0, "fine\n")
    told = "\n".join(end["collected"])
    assert "NameError: no `nosuch` in any scope of Order" in told
    assert "1 + 1 = 2" in told


@in_all
async def test_a_name_that_comes_later_is_evaluated_from_then_on(
    tmp_path: Path, version: str
) -> None:
    text = "for i in range(4):\n    if i == 2:\n        vars()['late'] = 7\n    i += 0  # @hit\n"
    p = written(tmp_path, text)
    points = [p.at("hit", collect=["late", "i or nosuch"])]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(p), breakpoints=points, python=python_of(version))
    rows = [line for line in end["collected"] if "late" in line]
    assert rows[0].startswith("  #1 late = (NameError: no `late` in any scope of <module>)")
    assert "late = 7" in rows[-1]


@versions("3.12", "3.13")
async def test_what_a_signal_raises_while_a_row_is_made_goes_to_the_program(
    tmp_path: Path, version: str
) -> None:
    p = written(tmp_path, INTERRUPTED)
    points = [p.at("turn", collect=["slow(value)", "value", "nosuch"])]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(p), breakpoints=points, python=python_of(version))
    told = end["output"]
    if version == "3.11":
        # Where a signal comes into pydevd's own tracer it logs a traceback among the output, also without dapeer.
        told = told.splitlines(keepends=True)[-1]
    assert (end["state"], told) == ("ended", "True True\n")


@in_all
@pytest.mark.parametrize("blocks", [1, 600, 1024], ids=["nothing", "less", "only a header"])
async def test_a_program_whose_rows_cannot_be_written_runs_on_and_all_are_told_as_lost(
    tmp_path: Path, version: str, blocks: int
) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nulimit -f {blocks}\nexec {python_of(version)} "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    p = written(tmp_path, SMALL)
    points = [p.at("hit", collect=["i", "nosuch"]), {"calls": "program.twice"}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(p), breakpoints=points, python=str(python))
    assert (end["state"], end["exit_code"], end["output"]) == ("ended", 0, "over\n")
    assert end["collected"] == [f"6,000 {LOST}"]
    # Nobody knows what was not hit.
    assert "breakpoints" not in end


async def test_calls_of_all_of_a_program_are_none_of_dapeers(tmp_path: Path) -> None:
    p = written(tmp_path, SMALL)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(p), breakpoints=[{"calls": "__main__.*"}])
    told = "\n".join(end["collected"])
    assert set(re.findall(r"(\w+)\(", told)) == {"twice"}


@in_all
async def test_an_error_in_any_statement_of_ours_does_not_reach_a_program(version: str) -> None:
    """Each kind of collecting runs with an error in one of its statements after the other: in the quick suite, in some."""
    every = "29" if version == "3.11" else "5"
    path = PROGRAMS / "injected" / "injected.py"
    async with asyncio.timeout(10 * LIMIT), client(path.parent) as c:
        end = await ask(
            c,
            "dap_run",
            program=str(path),
            args=["1", every],
            python=python_of(version),
            timeout_ms=9 * LIMIT * 1000,
        )
    found = re.fullmatch(r"injected (\{.*\}) 0\n", end["output"])
    assert found, end["output"]


BROKEN = """
import asyncio
import sys


def call(n):
    return call(n + 1)


async def fails():
    raise ValueError(1)


async def main():
    task = asyncio.get_running_loop().create_task(fails())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    del task


for name in ("errors", "loops"):
    module = sys.modules.get("dapeer_debuggee.exceptions." + name)
    if module is not None:
        module.showing = module.tracebacks = None
sys.tracebacklimit = 2
asyncio.run(main())
call(0)
"""
"""Takes away what our hooks of exceptions use, so that they raise."""


@in_all
async def test_an_error_in_our_hooks_of_exceptions_does_not_reach_a_program(
    tmp_path: Path, version: str
) -> None:
    if version == "3.8":
        pytest.skip("debugpy itself, also without dapeer, kills Python 3.8 at its recursion limit")
    p, python = written(tmp_path, BROKEN), python_of(version)
    plain = await asyncio.create_subprocess_exec(
        python, str(p), stdout=PIPE, stderr=STDOUT, cwd=tmp_path
    )
    wanted, _ = await plain.communicate()
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(
            c, "dap_run", program=str(p), exception_filters=[], python=python, timeout_ms=60_000
        )
    assert end["exit_code"] == plain.returncode == 1
    # The output in an answer may lack some frames.
    assert "excepthook" not in end["output"]
    for output in (wanted.decode(), end["output"]):
        assert output.splitlines()[-1].startswith("RecursionError: maximum recursion depth")
