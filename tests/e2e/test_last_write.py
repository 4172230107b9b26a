"""Who has written a value last, by a second run up to the same stop."""

import asyncio
from pathlib import Path

from tests.e2e.test_collecting import written
from tests.harness import ask, client, needs, read, refusal
from tests.processes import LIMIT
from tests.programs import compiled

SMASH = """
#include <stdio.h>
struct record { int id; int *total; };
static struct record records[100];
static void fill(int n) {
  int *other = (int *)&records[40].total;
  if (n == 500) other[0] = 7; // @smash
}
int main(void) {
  static int cell;
  for (int i = 0; i < 100; i++) { records[i].id = i; records[i].total = &cell; }
  for (int n = 0; n < 1000; n++) fill(n);
  for (int i = 0; i < 100; i++) *records[i].total += i; // @crash
  return cell;
}
"""


async def test_a_crash_names_the_line_that_has_written_the_pointer_last(tmp_path: Path) -> None:
    needs("gdb")
    p = written(tmp_path, "smash.c", SMASH)
    built = compiled("smash.c", tmp_path, p.path).path
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(built), type="gdb", timeout_ms=60_000)
        assert stop["line"] == p.line("crash")
        told = await read(
            c,
            "dap_run_until",
            expression="records[i].total",
            on="write",
            last=True,
            timeout_ms=90_000,
        )
        assert "`records[i].total` was written 2 times before this stop, in a second run" in told
        assert f"The last one: smash.c:{p.line('smash')} in fill: " in told
        assert f'"line": {p.line("smash")}, "condition": ' in told
        # The first run has not moved, and the second one is gone.
        (row,) = (await ask(c, "dap_status"))["sessions"]
        assert (row["state"], row["line"]) == ("stopped", p.line("crash"))


async def test_what_cannot_be_run_again_up_to_here_is_refused_with_the_reason(
    tmp_path: Path,
) -> None:
    p = written(tmp_path, "a.py", "total = 1\ntotal = 2  # @two\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("two")])
        last = {"expression": "total", "last": True}
        assert "debugpy does not watch memory" in await refusal(
            c, "dap_run_until", on="write", **last
        )
        assert 'Give it with on="write" alone.' in await refusal(c, "dap_run_until", **last)
