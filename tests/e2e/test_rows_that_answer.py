"""What is asked of collected rows is answered whole: numbers, filters, doubles, conditions that say nothing."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.e2e.test_collecting import written
from tests.harness import ask, client, needs, read
from tests.processes import LIMIT
from tests.programs import compiled

LEDGER = """
def book(day, id, amount):
    return amount  # @book

def run():
    for day in range(30):
        for number in range(20):
            if (day, number) == (7, 0):
                book(3, "c06", 0)
            book(day, f"c{number:02}", 5)

run()
"""
# GCC leaves `gone` out: nothing uses it.
DEAD_C = """
static volatile int total;
static void __attribute__((noinline)) work(int n) {
  int gone = n * 7;
  (void) gone;
  total += n; // @total
}
int main(void) {
  for (int n = 0; n < 20; n++) work(n);
}
"""


async def test_a_row_keeps_its_number_whatever_point_is_added(tmp_path: Path) -> None:
    source = "def f(n):\n    m = n  # @f\n    return m  # @g\n\n\nf(1)\nf(2)\nf(3)  # @later\nf(4)\nf(5)\n"
    p = written(tmp_path, "steps.py", source)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        points = [p.at("f", collect=["n"]), p.at("later")]
        await ask(c, "dap_run", program=str(p), breakpoints=points)
        await read(c, "dap_set_breakpoint", **p.at("g"), collect=["m"])
        await ask(c, "dap_continue")
        rows = await read(c, "dap_collected", at="steps.py:2", rows="1-")
        numbered = re.findall(r"#(\d+) .*n = (\d+)", rows)
        assert numbered == [(f"{n}", f"{n}") for n in range(1, 6)]


async def test_a_record_that_comes_twice_is_named_and_a_filter_lists_all_it_chose(
    tmp_path: Path,
) -> None:
    p = written(tmp_path, "ledger.py", LEDGER)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        point = p.at("book", collect=["day", "id", "amount"])
        end = await ask(c, "dap_run", program=str(p), breakpoints=[point])
        told = "\n".join(end["collected"])
        assert "(day, id) = (3, 'c06') again, first in #67; " in told
        assert "; amount 5 then 0" in told
        where = "id.startswith('c1') and not (day in (1, 2) or id.matches('[5-9]$'))"
        chosen = await read(c, "dap_collected", where=where)
        assert "more" not in chosen
        assert chosen.count("\n  #") == 28 * 5


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
@pytest.mark.parametrize("condition", ["gone > 3", "nosuch > 3"])
async def test_a_condition_without_a_value_is_counted_and_records_nothing(
    tmp_path: Path, adapter: str, condition: str
) -> None:
    needs(adapter)
    source = written(tmp_path, "dead.c", DEAD_C)
    built = compiled("dead.c", tmp_path, source.path, ["-O3", "-fno-var-tracking"]).path
    point = source.at("total", collect=["n"], condition=condition)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(built), type=adapter, breakpoints=[point])
        assert end["state"] == "ended"
        assert "collected" not in end
        assert "failed 20 times at dead.c:6: " in " ".join(end["notes"])
