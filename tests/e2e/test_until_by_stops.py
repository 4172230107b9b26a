"""Where the program cannot watch by itself, watchpoints do, or steps; the answer says which, and what it took."""

import asyncio
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import ask, client, needs, refusal
from tests.processes import LIMIT
from tests.programs import Program, compiled

BANK_C = """
#include <stdio.h>
struct account { int balance; int limit; };
static void deposit(struct account *a, int amount) {
    a->balance += amount; // @deposit
}
static void spend(struct account *a, int n) {
    for (int i = 0; i < n; i++)
        a->balance = a->balance - i; // @spend
    a->limit = 7;
}
int main(void) {
    struct account a = {0, 3};
    puts("begin"); // @begin
    deposit(&a, 5);
    spend(&a, 4);
    a.limit = 8; // @limit
    puts("between");
    puts("over"); // @over
    return 0;
}
"""
CART_JS = """
function add(cart, price) {
  cart.total += price; // @add
  return cart;
}
const cart = { total: 0 }; // @begin
for (const price of [3, 4, -9]) {
  add(cart, price);
}
console.log("over");
"""
CART_RB = """
def add(cart, price)
  cart[:total] += price # @add
  cart
end
cart = { total: 0 } # @begin
[3, 4, -9].each do |price|
  add(cart, price)
end
puts "over"
"""


def bank(folder: Path) -> Program:
    source = folder / "bank.c"
    source.write_text(BANK_C, encoding="utf-8")
    return compiled("bank.c", folder, source)


async def until(c: Client, expression: str, **more: object) -> tuple[str, int, str]:
    """Run until something; return the state, the line of the stop, and what is told."""
    view = await ask(c, "dap_run_until", expression=expression, **more)
    return view["state"], view.get("line", 0), "".join(view.get("until", ()))


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_a_watchpoint_tells_the_line_that_has_written(tmp_path: Path, adapter: str) -> None:
    needs(adapter)
    p = bank(tmp_path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        breakpoints = [p.at("begin"), p.at("over")]
        await ask(c, "dap_run", program=str(p), type=adapter, breakpoints=breakpoints)
        _, _, said = await until(c, "a.balance", on="write")
        place = (
            f"bank.c:{p.line('deposit')} in deposit changed `a.balance`: 0 → 5 (watchpoint, 1 stop"
        )
        assert said.startswith(place)
        _, _, said = await until(c, "a->balance < 0", scope=["spend"])
        assert said.startswith(f"`a->balance < 0` holds after bank.c:{p.line('spend')} in spend: ")
        assert "(stepping, " in said
        assert " steps" in said
        assert (await ask(c, "dap_step_out"))["function"] == "main"
        view = await ask(c, "dap_run_until", expression="a.limit", on="write", every=True)
        assert (view["line"], view["collected"][-1].partition(" bank")[2]) == (
            p.line("over"), f".c:{p.line('limit')} in main, before = 7, after = 8"
        )  # fmt: skip
        assert "1 recorded; this stop ends the recording (watchpoint" in view["until"][0]
        if adapter == "gdb":
            wrong = await refusal(c, "dap_run_until", expression="nobody", on="write")
            assert "cannot be watched here: No symbol" in wrong
        assert (await ask(c, "dap_continue"))["state"] == "ended"


@pytest.mark.parametrize(
    ("adapter", "name", "text", "shown"),
    [
        ("js-debug", "cart.js", CART_JS, "cart.total"),
        ("rdbg", "cart.rb", CART_RB, "cart[:total]"),
    ],
)
async def test_elsewhere_the_program_is_stepped(
    tmp_path: Path, adapter: str, name: str, text: str, shown: str
) -> None:
    needs(adapter)
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    p = Program(path, path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("begin")])
        state, line, said = await until(c, f"{shown} < 0", scope=["add"])
        assert (state, line) == ("stopped", p.line("add") + 1)
        assert f"`{shown} < 0` holds after {name}:{p.line('add')} in " in said
        assert "false → true (stepping, " in said
        state, _, said = await until(c, "nobody > 3")
        assert state == "ended"
        assert "`nobody > 3` never held" in said
        # rdbg tells an error as a value.
        assert adapter == "rdbg" or "; it had no value in" in said
