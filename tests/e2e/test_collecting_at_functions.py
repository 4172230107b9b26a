"""Log points collect at functions by name, too: where the function breakpoint would be; else it is said what does instead."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import ask, client, needs, read
from tests.processes import LIMIT
from tests.programs import Program, compiled

SHOP_CPP = """
#include <cstdio>
namespace shop {
int total(int n) {
    int sum = n + 1; // @total
    return sum;
}
double total(double n) { return n * 2; }
int count(int n) {
    return n;
}
}
int main() {
    int all = 0;
    for (int i = 0; i < 4; i++) // @begin
        all += shop::total(i) + (int) shop::total(i + 0.5) + shop::count(i);
    std::printf("%d\\n", all);
}
"""
SHOP_GO = """package main

import "fmt"

type Cart struct{ sum int }

func (c *Cart) total(n int) int {
	c.sum += n
	return c.sum
}

func count(n int) int { return n }

func main() {
	cart := &Cart{} // @begin
	for i := 0; i < 4; i++ {
		fmt.Println(cart.total(i), count(i))
	}
}
"""
SHOP_JAVA = """
public class Shop {
    static int total(int n) { return n + 1; }
    static double total(double n) { return n * 2; }
    static int count(int n) { return n; }
    public static void main(String[] args) {
        int all = 0; // @begin
        for (int i = 0; i < 4; i++)
            all += total(i) + (int) total(i + 0.5) + count(i);
        System.out.println(all);
    }
}
"""
NATIVE = ("shop.cpp", SHOP_CPP, "shop::total", "shop::count")


def made(folder: Path, name: str, text: str) -> Program:
    source = folder / name
    source.write_text(text, encoding="utf-8")
    return compiled(name, folder, source) if source.suffix == ".cpp" else Program(source, source)


@pytest.mark.parametrize(
    ("adapter", "name", "text", "total", "count"),
    [
        ("gdb", *NATIVE),
        ("lldb-dap", *NATIVE),
        ("codelldb", *NATIVE),
        ("delve", "shop.go", SHOP_GO, "main.(*Cart).total", "main.count"),
        ("jdi", "Shop.java", SHOP_JAVA, "Shop.total", "count"),
    ],
)
async def test_each_call_of_a_function_is_a_row_whichever_form_was_called(
    tmp_path: Path, adapter: str, name: str, text: str, total: str, count: str
) -> None:
    needs(adapter)
    p = made(tmp_path, name, text)
    both = adapter != "delve"
    points = [
        {"function": total, "collect": ["n"]},
        {"function": count, "collect": ["n"], "condition": "n > 1"},
        {"function": "nowhere", "collect": ["n"]},
        p.at("begin"),
    ]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), type=adapter, breakpoints=points)
        assert (stop["state"], stop["line"]) == ("stopped", p.line("begin"))
        end = await ask(c, "dap_continue")
        assert end["state"] == "ended"
        rows = "\n".join(end["collected"])
        assert f"{total}: {8 if both else 4} rows, log points" in rows
        assert ("fraction (4)" in rows) == both
        # Delve's rows are few: one list in the order of time.
        own = "  #1 n = 2\n  #2 n = 3" if both else f"  #4 {count} n = 2\n"
        assert f"{count}: 2 rows, log points\n" in rows
        assert own in rows
        missing = [
            text
            for state in ("rejected", "never called")
            for text in stop.get("breakpoints", end["breakpoints"]).get(state, ())
        ]
        assert [each.partition(" ")[0] for each in missing] == ["nowhere"]


CRASHES_EARLY = """
#include <csignal>
int total(int n) { return n; }
static int early = std::raise(SIGSEGV); // @early
int main() { return total(early); }
"""


@pytest.mark.parametrize("adapter", ["gdb", "codelldb"])
async def test_a_crash_before_the_entry_is_a_stop(tmp_path: Path, adapter: str) -> None:
    needs(adapter)
    p = made(tmp_path, "early.cpp", CRASHES_EARLY)
    at = [{"function": "total", "collect": ["n"]}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), type=adapter, breakpoints=at)
        assert stop["state"] == "stopped"
        assert stop["reason"] in {"exception", "signal"}


async def test_a_program_that_runs_already_collects_at_a_function_too(tmp_path: Path) -> None:
    needs("gdb")
    p = made(tmp_path, "shop.cpp", SHOP_CPP)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        points = [p.at("begin"), p.at("total")]
        await ask(c, "dap_run", program=str(p), type="gdb", breakpoints=points)
        told = await read(c, "dap_set_breakpoint", function="shop::count", collect="n->none")
        assert told == "shop::count verified (collects n->none)"
        told = await read(c, "dap_set_breakpoint", function="shop::total", collect="n")
        assert "rejected: the adapter cannot collect where a breakpoint stops" in told
        await ask(c, "dap_remove_breakpoint", **p.at("total"))
        end = await ask(c, "dap_continue")
        assert "shop::count: 4 rows, log points" in end["collected"][0]
        assert "always n->none = (Attempt to extract a component" in "\n".join(end["collected"])
        await ask(c, "dap_remove_breakpoint", function="shop::count")


@pytest.mark.parametrize(
    ("adapter", "name", "text", "at_function", "calls"),
    [
        ("js-debug", "shop.js", "function total(n) {}\ntotal(1);\n", "has no function breakpoints: collect on a line of it", "`collect` on a line of it"),
        ("rdbg", "shop.rb", "def total(n)\nend\ntotal(1)\n", "has no log points: stop on a line of it", "`collect` on a line of it"),
        ("perl", "shop.pl", "sub total {}\ntotal(1);\n", "has no log points: stop on a line of it", "`collect` on a line of it"),
        ("jdi", "Shop.java", SHOP_JAVA, "", "`collect` at `function`"),
    ],
)  # fmt: skip
async def test_where_an_adapter_cannot_it_is_said_what_does_instead(
    tmp_path: Path, adapter: str, name: str, text: str, at_function: str, calls: str
) -> None:
    needs(adapter)
    p = made(tmp_path, name, text)
    points = [{"function": "total", "collect": ["n"]}, {"calls": ["total"]}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(p), breakpoints=points)
        assert end["state"] == "ended"
        assert end["breakpoints"]["not collected"] == [
            *([f"total ({adapter} {at_function})"] if at_function else ()),
            f"calls of total ({adapter} does not tell calls: {calls} tells how they begin)",
        ]
