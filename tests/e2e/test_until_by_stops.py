"""Where the program cannot watch by itself, watchpoints do, conditions or steps; the answer says which, and what it took."""

import asyncio
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import ask, client, needs, read, refusal
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
            wrong = await refusal(c, "dap_run_until", expression="5", on="write")
            assert "cannot be watched here: Cannot watch constant value `5'" in wrong
        assert (await ask(c, "dap_continue"))["state"] == "ended"


SHARED_C = """
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
struct pair { int first, second; };
static int shared;
static sem_t done, on;
static void *work(void *pair) {
    for (int i = 0; i < 2; i++) {
        sem_wait(&on);
        shared += 10; // @write
        sem_post(&done);
    }
    sem_wait(&on);
    ((struct pair *) pair)->second = 5; // @second
    return pair;
}
int main(void) {
    pthread_t thread;
    struct pair *pair = malloc(sizeof *pair);
    sem_init(&done, 0, 0);
    sem_init(&on, 0, 0);
    pair->second = 0;
    pthread_create(&thread, 0, work, pair);
    sem_post(&on); // @begin
    sem_wait(&done);
    sem_post(&on); // @on
    sem_wait(&done);
    pair->first = 1;
    sem_post(&on); // @last
    pthread_join(thread, 0);
    return pair->second;
}
"""


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_what_another_thread_has_written_is_not_told_of_the_line_of_this_one(
    tmp_path: Path, adapter: str
) -> None:
    needs(adapter)
    source = tmp_path / "shared.c"
    source.write_text(SHARED_C)
    p = compiled(source.name, tmp_path, source, ["-pthread"])
    marks = [p.at("begin"), p.at("on"), p.at("last")]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), type=adapter, breakpoints=marks)
        _, _, said = await until(c, "shared", on="change")
        assert said.startswith(f"shared.c:{p.line('write')} in work by thread ")
        assert " changed `shared`: 0 → 10 (watchpoint, 1 stop" in said
        assert (await ask(c, "dap_continue"))["line"] == p.line("on")
        _, _, said = await until(c, "shared == 20")
        assert said.startswith("`shared == 20` began to hold while shared.c:")
        assert " in main ran, there or in another thread that ran meanwhile: " in said
        assert (await ask(c, "dap_continue"))["line"] == p.line("last")
        _, _, said = await until(c, "pair->second", on="write")
        assert said.startswith(f"shared.c:{p.line('second')} in work by thread ")
        assert "changed `pair->second`: 0 → 5 (watchpoint, 1 stop" in said
        wrong = await refusal(c, "dap_run_until", expression="nobody", on="write")
        assert "nobody" in wrong
        assert "user expression" not in wrong
        # LLDB tells each hit as if the program had printed it.
        assert "Watchpoint" not in await read(c, "dap_continue")
        assert "Watchpoint" not in await read(c, "dap_program_output")


CART_PL = """
use strict;
sub add {
    my ($cart, $price) = @_;
    $cart->{total} += $price; # @add
    return $cart;
}
my $cart;
$cart = { total => 0 }; # @begin
for my $price (3, 4, -9) {
    add($cart, $price);
}
print "over\\n";
"""
CART_GO = """package main

import "fmt"

type Cart struct{ total int }

func (c *Cart) add(price int) {
	c.total += price
} // @add

func main() {
	cart := &Cart{}
	fmt.Println("begin") // @begin
	for _, price := range []int{3, 4, -9} {
		cart.add(price)
	}
	fmt.Println("over") // @over
}
"""
CART_JAVA = """
class Cart {
    int total;
    void add(int price) {
        total += price; // @add
        price = 0;
    }
    public static void main(String[] a) {
        Cart cart = new Cart();
        System.out.println("begin"); // @begin
        for (int price : new int[] {3, 4, -9}) cart.add(price);
    }
}
"""


def written(folder: Path, name: str, text: str) -> Program:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return Program(path, path)


FREED_C = """
#include <stdlib.h>
struct node { long key, next; };
static void drop(struct node *n) {
    free(n); // @free
}
int main(void) {
    struct node *second = malloc(sizeof *second);
    second->key = 1;
    drop(second); // @begin
    abort();
}
"""


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_where_the_c_library_writes_the_stop_is_in_the_users_frame(
    tmp_path: Path, adapter: str
) -> None:
    needs(adapter)
    source = tmp_path / "freed.c"
    source.write_text(FREED_C)
    p = compiled(source.name, tmp_path, source)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), type=adapter, breakpoints=[p.at("begin")])
        stop = await ask(c, "dap_run_until", expression="second->key", on="write")
        assert (stop["line"], stop["function"].partition("(")[0]) == (p.line("free"), "drop")
        assert "n" in stop["locals"]
        # Also at a stop of which nobody knows when it is: a step may be one of the library.
        stop = await ask(c, "dap_continue")
        assert stop["function"].partition("(")[0] == "main"
        ended = await read(c, "dap_step_over")
        assert ended.startswith("Ended") or "(the step was made in the C library, where" in ended


async def test_a_change_within_an_object_is_not_missed_by_conditions(tmp_path: Path) -> None:
    needs("rdbg")
    p = written(
        tmp_path, "list.rb", "list = [1]\nnote = +'a'\nlist << 2\nnote << 'b'\nputs 'over'\n"
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = {"filename": "list.rb", "line": 3}
        await ask(c, "dap_run", program=str(p), breakpoints=[at])
        for shown, line in (("list", 4), ("note", 5)):
            state, now, said = await until(c, shown, on="change")
            assert (state, now) == ("stopped", line)
            assert f"list.rb:{line - 1} in " in said


@pytest.mark.parametrize(
    ("adapter", "name", "text", "shown"),
    [
        ("js-debug", "cart.js", CART_JS, "cart.total"),
        ("rdbg", "cart.rb", CART_RB, "cart[:total]"),
        ("perl", "cart.pl", CART_PL, "$cart->{total}"),
    ],
)
async def test_conditions_on_every_line_tell_the_line_that_did_it(
    tmp_path: Path, adapter: str, name: str, text: str, shown: str
) -> None:
    needs(adapter)
    p = written(tmp_path, name, text)
    after = p.line("add") + 1
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("begin")])
        did = f"{name}:{p.line('add')} in "
        if adapter != "perl":
            # No function but this is looked at.
            for change in ("0 → 3", "3 → 7"):
                state, line, said = await until(c, shown, on="change", scope=["add"])
                assert (state, line, said.partition(" in ")[0]) == ("stopped", after, did[:-4])
                assert f"changed `{shown}`: {change} (conditions, " in said
        state, line, said = await until(c, f"{shown} < 0")
        assert (state, line) == ("stopped", after)
        assert f"`{shown} < 0` holds after {did}" in said
        assert "(conditions, " in said
        assert " lines, 1 stop, " in said
        # They are gone, and those that were there before are not.
        known = (await ask(c, "dap_breakpoints"))["breakpoints"]
        assert [each["line"] for each in known] == [p.line("begin")]
        state, _, said = await until(c, "nobody > 3" if adapter != "perl" else "0")
        assert state == "ended"
        assert "never held" in said
        assert adapter != "js-debug" or "; it had no value in" in said


@pytest.mark.parametrize(
    ("adapter", "name", "text", "shown"),
    [
        ("js-debug", "cart.js", CART_JS, "cart.total"),
        ("perl", "cart.pl", CART_PL, "$cart->{total}"),
    ],
)
async def test_a_line_with_a_breakpoint_is_looked_at_too_unless_that_counts(
    tmp_path: Path, adapter: str, name: str, text: str, shown: str
) -> None:
    needs(adapter)
    p = written(tmp_path, name, text)
    at = p.line("add")
    price = "$price" if adapter == "perl" else "price"
    own = {**p.at("add"), "condition": f"{price} == 3"}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[own])
        assert (stop["line"], stop["state"]) == (at, "stopped")
        state, line, said = await until(c, f"{shown} > 6")
        assert (state, line) == ("stopped", at + 1)
        assert f"`{shown} > 6` holds after {name}:{at} in " in said
        [known] = (await ask(c, "dap_breakpoints"))["breakpoints"]
        assert (known["line"], known["condition"]) == (at, own["condition"])
        state, line, said = await until(c, f"{shown} > 6")
        assert (state, line) == ("stopped", at + 1)
        assert f"`{shown} > 6` holds already at {name}:{at + 1} in " in said
        assert said.endswith("s)")
        if adapter == "js-debug":
            await ask(c, "dap_set_breakpoint", **p.at("add"), hit_condition=">7")
            _, line, said = await until(c, "cart.total < 0")
            assert line == at + 1
            assert (
                f"holds after {name}:{at} (not looked at: its breakpoint counts or logs) or "
                in said
            )


async def test_a_breakpoint_that_the_adapter_has_moved_keeps_its_condition_and_gets_another(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    text = CART_JS.replace("  cart.total", "  // @above\n  cart.total")
    p = written(tmp_path, "cart.js", text)
    own = {**p.at("above"), "condition": "price == 3"}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[own])
        assert stop["line"] == p.line("add")
        state, line, said = await until(c, "cart.total > 6")
        assert (state, line) == ("stopped", p.line("add") + 1)
        assert f"`cart.total > 6` holds after cart.js:{p.line('add')} in " in said


BESIDE_JS = """
exports.add = (cart) => {
    cart.total += 3;
    cart.total += 4;
};
"""
APP_JS = """
const { add } = require('../app2/beside');
const cart = { total: 0 }; // @begin
add(cart); // @add
console.log(cart.total);
"""
BESIDE_RB = """
def add(cart)
  cart[:total] += 3
  cart[:total] += 4
end
"""
APP_RB = """
require_relative "../app2/beside"
cart = { total: 0 } # @begin
add(cart) # @add
puts cart[:total]
"""


@pytest.mark.parametrize(
    ("adapter", "kind", "text", "beside", "shown"),
    [
        ("js-debug", "js", APP_JS, BESIDE_JS, "cart.total"),
        ("rdbg", "rb", APP_RB, BESIDE_RB, "cart[:total]"),
    ],
)
async def test_a_folder_whose_name_begins_like_the_projects_is_not_looked_at(
    tmp_path: Path, adapter: str, kind: str, text: str, beside: str, shown: str
) -> None:
    needs(adapter)
    project, other = tmp_path / "app", tmp_path / "app2"
    project.mkdir()
    other.mkdir()
    p = written(project, f"cart.{kind}", text)
    written(other, f"beside.{kind}", beside)
    async with asyncio.timeout(LIMIT), client(project) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("begin")])
        state, line, said = await until(c, f"{shown} > 2")
        assert (state, line) == ("stopped", p.line("add") + 1)
        assert f"cart.{kind}:{p.line('add')} in " in said
        assert "beside" not in said
        assert "(conditions, " in said


async def test_a_variable_of_perl_holds_once_it_has_a_value(tmp_path: Path) -> None:
    needs("perl")
    p = written(
        tmp_path, "later.pl", "use strict;\nmy $t = 1;\nmy $u = 30; # @at\nprint $u;\nprint $t;\n"
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("at")])
        assert (await until(c, "$u"))[:2] == ("stopped", 4)


async def test_what_holds_already_is_said_and_only_what_is_new_is_told_as_new_after_steps(
    tmp_path: Path,
) -> None:
    needs("gdb")
    p = bank(tmp_path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = [p.at("begin"), p.at("limit")]
        await ask(c, "dap_run", program=str(p), breakpoints=at)
        stop = await ask(c, "dap_run_until", expression="a.limit == 3")
        assert stop["line"] == p.line("begin")
        assert "`a.limit == 3` holds already at bank.c:" in stop["until"][0]
        assert "the program has not moved" in stop["until"][0]
        stop = await ask(c, "dap_run_until", expression="a.limit == 9")
        assert stop["line"] == p.line("limit")
        assert "it had no value" not in stop["until"][0]
        assert "has not held yet: this stop came first (stepping, " in stop["until"][0]
        assert stop["changed"] == {"a.balance": ["0", "-1"], "a.limit": ["3", "7"]}


async def test_a_condition_that_records_nothing_tells_where_it_was_seen_to_hold(
    tmp_path: Path,
) -> None:
    needs("delve")
    p = written(tmp_path, "cart.go", CART_GO)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("begin"), p.at("over")])
        _, line, said = await until(c, "c.total < 0", scope=["main.(*Cart).add"])
        assert line == p.line("add")
        place = f"cart.go:{line} in main.(*Cart).add"
        assert said.startswith(f"`c.total < 0` holds when the program comes to {place}: ")
        assert "(conditions, " in said
        state, line, said = await until(c, "cart.total > 0", scope=["main.main"])
        assert (state, line) == ("stopped", p.line("over"))
        assert "`cart.total > 0` has not held yet: this stop came first" in said


async def test_elsewhere_and_in_large_files_the_program_is_stepped(tmp_path: Path) -> None:
    needs("jdi")
    needs("js-debug")
    java = written(tmp_path, "Cart.java", CART_JAVA)
    js = written(tmp_path, "cart.js", CART_JS + "console.log(1);\n" * 600)
    for p, shown, road in (
        (java, "this.total", "(stepping, "),
        (js, "cart.total", "(stepping, as "),
    ):
        async with asyncio.timeout(LIMIT), client(tmp_path) as c:
            await ask(c, "dap_run", program=str(p), breakpoints=[p.at("begin")])
            state, line, said = await until(c, f"{shown} < 0", scope=["add"])
            assert (state, line) == ("stopped", p.line("add") + 1)
            assert f"`{shown} < 0` holds after {p.source.name}:{p.line('add')} in " in said
            assert f"false → true {road}" in said
