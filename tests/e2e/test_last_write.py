"""Who has written a value last, by a second run up to the same stop."""

import asyncio
import re
import subprocess
from pathlib import Path

import pytest

from tests.e2e.test_collecting import written
from tests.harness import ask, client, needs, read, refusal
from tests.processes import LIMIT
from tests.programs import compiled, tool

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


CPP = """
#include <cstddef>
struct Curve {
  virtual ~Curve() = default;
  virtual double at(double raw) const { return raw * 2; }
};
struct Channel { const Curve *curve; long id; };
struct Pool {
  std::byte *data = new std::byte[4096]();
  double *row(int from) { return reinterpret_cast<double *>(data + from); }
};
int main() {
  Pool pool;
  double *window = pool.row(0);
  Channel *channel = new (pool.data + 16 * sizeof(double)) Channel{new Curve, 1};
  double sum = 0;
  for (int n = 0; n < 2000; n++) {
    int slot = n == 700 ? 16 : n % 16;
    window[slot] = n * 0.5; // @smash
  }
  for (int n = 0; n < 10; n++) sum += channel->curve->at(n); // @crash
  return sum > 0;
}
""".replace("#include <cstddef>", "#include <cstddef>\n#include <new>")
RUST = """
struct Cell { id: u64, total: *mut u64 }
fn fill(window: *mut u64, n: usize) {
    let slot = if n == 300 { 5 } else { n % 4 };
    unsafe { *window.add(slot) = n as u64; } // @smash
}
fn main() {
    let mut own = 7u64;
    let mut room = [0u64; 6];
    let window = room.as_mut_ptr();
    let cell = unsafe { &mut *(window.add(4) as *mut Cell) };
    cell.id = 1;
    cell.total = &mut own;
    for n in 0..1000 { fill(window, n); }
    unsafe { *cell.total += cell.id; } // @crash
}
"""


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_a_crash_names_the_line_that_has_written_the_pointer_last(
    adapter: str, tmp_path: Path
) -> None:
    needs(adapter)
    p = written(tmp_path, "smash.c", SMASH)
    built = compiled("smash.c", tmp_path, p.path).path
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(built), type=adapter, timeout_ms=60_000)
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


def built(source: Path) -> None:
    """Compile a program of C++ or Rust beside its source."""
    compiler = tool("rustc" if source.suffix == ".rs" else "g++")
    subprocess.run([compiler, "-g", "-o", source.with_suffix(""), source], check=True)


@pytest.mark.parametrize(
    ("name", "text", "pointer", "adapter"),
    [
        ("smash.cpp", CPP, "channel->curve", "gdb"),
        # Memory that the program takes later.
        ("smash.cpp", CPP, "channel->curve", "lldb-dap"),
        ("smash.cpp", CPP, "channel->curve", "codelldb"),
        ("smash.rs", RUST, "cell.total", "gdb"),
        ("smash.rs", RUST, "cell.total", "lldb-dap"),
    ],
)
async def test_it_is_so_in_cpp_and_rust(
    name: str, text: str, pointer: str, adapter: str, tmp_path: Path
) -> None:
    needs(adapter)
    p = written(tmp_path, name, text)
    built(p.path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="smash", type=adapter, timeout_ms=60_000)
        assert stop["line"] == p.line("crash")
        last = {"on": "write", "last": True, "timeout_ms": 90_000}
        told = await read(c, "dap_run_until", expression=pointer, **last)
        assert f"The last one: {name}:{p.line('smash')} in " in told
        assert re.search(r"\bn = [37]00\b", told)


async def test_what_cannot_be_run_again_up_to_here_is_refused_with_the_reason(
    tmp_path: Path,
) -> None:
    p = written(tmp_path, "a.py", "total = 1\ntotal = 2  # @two\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("two")])
        last = {"expression": "total", "last": True}
        assert 'Give it with on="write" alone.' in await refusal(c, "dap_run_until", **last)
