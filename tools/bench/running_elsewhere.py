"""What a debugged program of JavaScript, C, Go or Java costs while nothing stops it.

`uv run python -m tools.bench.running_elsewhere [ADAPTER ...]` prints for each adapter how many times as long a loop of calls takes as
without a debugger: without a breakpoint, and with one in a function that runs once. Then what one hit of a line costs, in microseconds:
with a false condition, with one of five comparisons, with a count that is never reached, with a log point, and with `collect`. The program
measures its loop itself, so no start is in it. All are measured in turn, in one run; the fastest of three counts, which other processes
have held up least.
"""

import asyncio
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.harness import ask, client
from tests.programs import Program
from tools.bench.statistics import Measured, shuffled

CALLS = 50_000_000
HITS = 2_000
ROUNDS = 3
MS_AT_MOST = 600_000
ALONE, FREE, RARE = "alone", "no breakpoint", "one in a function that runs once"
WHOLE: Mapping[str, bool] = {ALONE: False, FREE: False, RARE: True}
"""What is measured over many calls, and whether it has a breakpoint."""
FIVE = "total < 0 || i < 0 || total < -1 || i < -1 || i < -2"
LOGS, COLLECTS = "a log point", "`collect`"
POINTS: Mapping[str, Mapping[str, object]] = {
    "a false condition": {"condition": "i < 0"},
    "five comparisons": {"condition": FIVE},
    "a count": {"hit_condition": "1000000000"},
    LOGS: {"log_message": "{i} {total}"},
    COLLECTS: {"collect": ["i", "total"]},
}
"""What a breakpoint on the line that runs often has, where one hit is measured."""

C = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

long add(long total, long i) {
  return total + i; // @often
}

long rare(void) {
  return 0; // @rare
}

double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int count_of_arguments, char **arguments) {
  long total = rare(), count = atol(arguments[1]);
  double began = now();
  for (long i = 0; i < count; i++) total = add(total, i);
  printf("took %.6f for %ld\\n", now() - began, total);
}
"""
GO = """
package main

import ("fmt"; "os"; "strconv"; "time")

func add(total, i int) int {
  return total + i // @often
}

func rare() int {
  return 0 // @rare
}

func main() {
  total := rare()
  count, _ := strconv.Atoi(os.Args[1])
  began := time.Now()
  for i := 0; i < count; i++ { total = add(total, i) }
  fmt.Printf("took %.6f for %d\\n", time.Since(began).Seconds(), total)
}
"""
JAVASCRIPT = """
function add(total, i) {
  return total + i; // @often
}

function rare() {
  return 0; // @rare
}

let total = rare();
const began = performance.now();
for (let i = 0; i < Number(process.argv[2]); i++) total = add(total, i);
console.log(`took ${((performance.now() - began) / 1000).toFixed(6)} for ${total}`);
"""
JAVA = """
class Loop {
  static long add(long total, long i) {
    return total + i; // @often
  }

  static long rare() {
    return 0; // @rare
  }

  public static void main(String[] arguments) {
    long total = rare(), began = System.nanoTime();
    for (long i = 0; i < Long.parseLong(arguments[0]); i++) total = add(total, i);
    System.out.printf("took %.6f for %d%n", (System.nanoTime() - began) / 1e9, total);
  }
}
"""


@dataclass(frozen=True)
class Loop:
    """The program in a language: how it is built, and run without a debugger."""

    name: str
    text: str
    build: Sequence[str] = ()
    alone: Sequence[str] = ("./loop",)
    program: str = ""
    """What the debugger is told to run; empty: the source."""


NATIVE = Loop("loop.c", C, ("gcc", "-g", "-O0", "-o", "loop", "loop.c"), program="loop")
LOOPS: Mapping[str, Loop] = {
    "js-debug": Loop("loop.js", JAVASCRIPT, alone=("node", "loop.js")),
    "gdb": NATIVE,
    "lldb-dap": NATIVE,
    "codelldb": NATIVE,
    "delve": Loop("loop.go", GO, ("go", "build", "-gcflags=all=-N -l", "-o", "loop", "loop.go")),
    "jdi": Loop("Loop.java", JAVA, ("javac", "-g", "Loop.java"), ("java", "Loop"), "Loop.class"),
}


def made(adapter: str, folder: Path) -> Program:
    """Write the program of an adapter, and build it."""
    loop = LOOPS[adapter]
    source = folder / loop.name
    source.write_text(loop.text, encoding="utf-8")
    if loop.build:
        subprocess.run(loop.build, cwd=folder, check=True)
    return Program(source, folder / (loop.program or loop.name))


async def measured(
    adapter: str, calls: int = CALLS, hits: int = HITS, rounds: int = ROUNDS
) -> Measured:
    """Measure the loop in each way: seconds for `calls`, and seconds for one of `hits`.

    Raises:
        AssertionError: A run did not end as it should, or a hit was lost.
    """
    found = Measured()
    with tempfile.TemporaryDirectory() as name:
        program = made(adapter, Path(name))
        for _ in range(rounds):
            for way in shuffled((*WHOLE, *POINTS)):
                if way == ALONE:
                    seconds = _alone(adapter, program, calls)
                elif way in WHOLE:
                    at = [program.at("rare")] if WHOLE[way] else []
                    seconds = await _debugged(adapter, program, calls, at)
                else:
                    at = [program.at("often", **POINTS[way])]
                    seconds = await _debugged(adapter, program, hits, at) / hits
                found.add(adapter, way, seconds)
    return found


def _alone(adapter: str, program: Program, calls: int) -> float:
    command = (*LOOPS[adapter].alone, str(calls))
    run = subprocess.run(
        command, cwd=program.source.parent, check=True, capture_output=True, text=True
    )
    return _seconds(run.stdout)


async def _debugged(adapter: str, program: Program, count: int, at: Sequence[object]) -> float:
    async with client(program.source.parent) as c:
        started = {"type": adapter, "program": str(program), "args": [str(count)]}
        told = await ask(c, "dap_run", **started, breakpoints=at, timeout_ms=MS_AT_MOST)
        while told["state"] == "stopped":
            told = await ask(c, "dap_continue", timeout_ms=MS_AT_MOST)
        assert told["state"] == "ended", told
        if any("collect" in each for each in at if isinstance(each, dict)):
            assert f": {count:,} rows" in "\n".join(told["collected"]), told["collected"]
        return _seconds(json.dumps(await ask(c, "dap_program_output")))


def _seconds(output: str) -> float:
    found = re.search(r"took ([\d.]+) for", output)
    assert found, output
    return float(found[1])


def main(adapters: Sequence[str]) -> None:
    """Measure, and print a table in Markdown."""
    lines = [
        f"| | {FREE} | {RARE} | {' | '.join(f'{each}, µs' for each in POINTS)} |",
        f"|---|{'---:|' * (2 + len(POINTS))}",
    ]
    for adapter in adapters or LOOPS:
        found = asyncio.run(measured(adapter)).of(adapter)
        ratios = (
            f"{min(found[way].values) / min(found[ALONE].values):.1f}" for way in (FREE, RARE)
        )
        costs = (f"{min(found[way].values) * 1e6:,.0f}" for way in POINTS)
        lines.append(f"| {adapter} | {' | '.join((*ratios, *costs))} |")
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main(sys.argv[1:])
