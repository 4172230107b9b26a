"""Who has written an attribute, an item or a variable of a Python program last, by a second run up to the same stop."""

import asyncio
from pathlib import Path

from mcp import Client

from tests.e2e.test_collecting import written
from tests.harness import ask, client, needs, read, refusal
from tests.processes import LIMIT
from tests.pythons import python_of, versions

PAYS = """
LIMIT = 3
class Order:
    def __init__(self, number):
        self.number = number  # @number
        self.total = 0
    @property
    def half(self):
        return self.total / 2
    def pay(self, amount):
        self.total += amount  # @pay
class Slotted:
    __slots__ = ("value",)
def spoil(orders):
    orders[2].total = None  # @spoil
def hide(get):
    get().total = 9
def adjust(limits, slotted):
    global LIMIT
    limits["most"] = 4
    limits.update(most=5)  # @item
    LIMIT += 1  # @limit
    setattr(slotted, "value", 2)  # @slot
def main():
    orders = [Order(n) for n in range(5)]
    limits, slotted = {"most": 3, (1,): 0}, Slotted()
    for n, each in enumerate(orders):
        each.pay(n * 10)
    spoil(orders)
    hide(lambda: orders[4])  # @hide
    adjust(limits, slotted)
    found = 0
    for each in orders:
        found += each.number  # @found
    print("over", found)  # @over
main()
"""
LAST = {"on": "write", "last": True, "timeout_ms": 60_000}


async def last(c: Client, expression: str) -> str:
    """Return who has written an expression last."""
    return await read(c, "dap_run_until", expression=expression, **LAST)


@versions("3.8", "3.11", "3.12", "3.13")
async def test_the_last_write_of_an_attribute_an_item_and_a_variable_is_named(
    tmp_path: Path, version: str
) -> None:
    python = python_of(version)
    p = written(tmp_path, "pays.py", PAYS)
    async with asyncio.timeout(2 * LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="pays.py", breakpoints=[p.at("over")], python=python)
        told = await last(c, "orders[2].total")
        assert "`orders[2].total` was written 3 times before this stop, in a second run" in told
        assert f"The last one: pays.py:{p.line('spoil')} in spoil: 20 → None" in told
        assert f"  main pays.py:{p.line('hide') - 1}\n" in told
        for name, times, at, change in (
            ("orders[3].total", "2 times", "pay in Order.pay", "0 → 30"),
            ("orders[-2].number", "1 time", "number in Order.__init__", "(nothing) → 3"),
            ("limits['most']", "2 times", "item in adjust", "4 → 5"),
            ("slotted.value", "1 time", "slot in adjust", "(nothing) → 2"),
            ("LIMIT", "2 times", "limit in adjust", "3 → 4"),
            ("found", "5 times", "found in main", "6 → 10"),
        ):
            mark, _, function = at.partition(" in ")
            told = await last(c, name)
            assert f"`{name}` was written {times} before this stop" in told
            assert f"The last one: pays.py:{p.line(mark)} in {function}: {change}" in told
        (row,) = (await ask(c, "dap_status"))["sessions"]
        assert (row["state"], row["line"]) == ("stopped", p.line("over"))


async def test_the_call_that_is_told_stops_at_the_write(tmp_path: Path) -> None:
    p = written(tmp_path, "pays.py", PAYS)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="pays.py", breakpoints=[p.at("over")])
        told = await last(c, "orders[3].total")
        at = {"filename": "pays.py", "line": p.line("pay"), "hit_condition": "4"}
        assert f'"line": {p.line("pay")}, "hit_condition": "4"' in told
        stop = await ask(c, "dap_run", program="pays.py", breakpoints=[at], fresh=True)
        assert (stop["line"], stop["locals"]["amount"]) == (p.line("pay"), "30")


async def test_what_a_line_may_have_called_is_said_and_what_nobody_saw_too(tmp_path: Path) -> None:
    hidden = PAYS.replace(
        "    adjust(limits, slotted)\n",
        "    (lambda: orders)()[1].total = 8\n    adjust(limits, slotted)  # @adjust\n",
    )
    p = written(tmp_path, "pays.py", hidden)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="pays.py", breakpoints=[p.at("adjust"), p.at("over")])
        # Only the stop has shown it.
        told = await last(c, "orders[1].total")
        assert f"pays.py:{p.line('adjust')} in main (or before this line" in told
        assert "10 → 8" in told
        assert (await ask(c, "dap_continue"))["line"] == p.line("over")
        told = await last(c, "orders[4].total")
        assert f"pays.py:{p.line('hide')} in main (or in what it called): 40 → 9" in told
        # No line names that object before the loop does.
        told = await last(c, "orders[1].total")
        assert "or before this line, where dapeer did not look" in told
        assert "10 → 8" in told


COUNTS = """
from pathlib import Path
runs = Path("runs")
total = 1
if not runs.exists():
    runs.touch()
    total = 2
    print("here")  # @here
"""


async def test_a_second_run_that_goes_another_way_is_said(tmp_path: Path) -> None:
    p = written(tmp_path, "counts.py", COUNTS)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="counts.py", breakpoints=[p.at("here")])
        assert await last(c, "total") == (
            "Who wrote `total` last is not known.\n"
            "The second run did not come to this stop: it went another way, or took too long."
        )


async def test_at_an_exception_it_is_the_nth_stop_of_that_kind(tmp_path: Path) -> None:
    text = "sums = {}\nfor n in range(4):\n    sums['n'] = n  # @sum\n    assert n < 3  # @fail\n"
    p = written(tmp_path, "fails.py", text)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="fails.py")
        assert (stop["reason"], stop["line"]) == ("exception", p.line("fail"))
        told = await last(c, "sums['n']")
        assert "was written 4 times before this stop" in told
        assert f"The last one: fails.py:{p.line('sum')}" in told
        await ask(c, "dap_run", program="fails.py", breakpoints=[p.at("fail")], fresh=True)
        await ask(c, "dap_continue")
        assert "was written 2 times before this stop" in await last(c, "sums['n']")


async def refused(c: Client, expression: str) -> str:
    """Return why the last write of an expression is not told."""
    return await refusal(c, "dap_run_until", expression=expression, **LAST)


async def test_what_cannot_be_told_is_refused_with_the_reason(tmp_path: Path) -> None:
    p = written(tmp_path, "pays.py", PAYS)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="pays.py", breakpoints=[p.at("over")])
        assert "half is a property of Order, which holds no value; it reads total" in await refused(
            c, "orders[2].half"
        )
        assert "there is no variable nobody here" in await refused(c, "nobody")
        assert "is no variable, attribute or item" in await refused(c, "orders[2].total + 1")
        assert "the key is a tuple, which is another one in the next run" in await refused(
            c, "limits[(1,)]"
        )
        await ask(c, "dap_run", program="pays.py", breakpoints=[p.at("found")], fresh=True)
        await ask(c, "dap_step_over")
        assert "The program does not come to this stop by itself" in await refused(c, "LIMIT")


async def test_other_languages_and_typed_input_are_refused_with_the_reason(tmp_path: Path) -> None:
    needs("bash-dap")
    shell = written(tmp_path, "a.sh", "total=1\necho $total  # @echo\n")
    p = written(tmp_path, "pays.py", PAYS)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="a.sh", breakpoints=[shell.at("echo")])
        assert "bash-dap does not watch memory by its address" in await refused(c, "total")
        await ask(c, "dap_run", program="pays.py", breakpoints=[p.at("over")], terminal=True)
        assert "what was typed there is not recorded" in await refused(c, "LIMIT")
