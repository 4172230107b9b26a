"""`dapeer demo`: an assistant finds a real bug, through the real server and a real debug adapter.

With `--collect` it does so in one call, without a stop. The assistant's next step is decided here, not by a model;
everything it is answered is real.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mcp import Client

from dapeer.cli.demo.transcript import assistant, call, expect, line_of, play, program, say

SHOP = program()
EVERYWHERE = {"justMyCode": False}
"""In a wheel the program lies among the interpreter's libraries, where debugpy would not stop."""
GOODS = "sum(item.price * item.quantity for item in self.items)"


async def run(*, collects: bool = False) -> int:
    """Play the story and print its transcript; return the exit code."""
    return await play(lambda: _story(_collect if collects else _search))


async def _story(part: Callable[[Client], Awaitable[None]]) -> None:
    """Print what the story is about, start a server, and play `part` with an assistant's client of it."""
    say(
        "A person asks: `shop.py` sells goods for 100.00 with a discount of 10 %, so 90.00 should be paid. "
        "It prints another amount. Why?"
    )
    async with assistant(SHOP.parent, "--nvim", "none") as client:
        await part(client)


async def _search(client: Client) -> None:
    """Find the bug step by step: a conditional stop, expressions, a run to a line, another value.

    Raises:
        UnexpectedBehaviour: The program does not behave as the story says.
    """
    add, total = line_of(SHOP, "add"), line_of(SHOP, "total")
    say("One call starts the program and shows it where the amount is put together.")
    breakpoint_ = {"filename": str(SHOP), "line": add, "hit_condition": "4"}
    first = await call(
        client, "dap_run", program=str(SHOP), breakpoints=[breakpoint_], config=EVERYWHERE
    )
    expect(first.get("line") == add, f"it should stop at line {add}")

    say(
        "The fourth item is about to be added. What have the other three brought, and what does this one cost?"
    )
    cost = await call(
        client, "dap_evaluate", expressions=["item.price * item.quantity, item.cost(self.discount)"]
    )
    say(
        "So `cost` takes the discount off already. On to the end of `total`, one line before it returns."
    )
    last = await call(client, "dap_run_to", filename=str(SHOP), line=total)
    so_far = float(last["locals"]["total"])
    say(f"`total` is {so_far:.2f} here: the discount is in it. And what will be returned?")
    returned = await call(client, "dap_evaluate", expressions=["total * (1 - self.discount)"])
    expect(float(returned["result"]) < so_far, "the discount should be taken off a second time")

    say("The amount without the second discount can be tried out in the program that is running.")
    await call(client, "dap_set_variable", path="self.discount", value="0.0")
    end = await call(client, "dap_continue")
    expect(
        f"{so_far:.2f}" in end.get("output", ""), "the program should print the right amount now"
    )
    say(
        f"Found: the discount is taken off twice. `Item.cost` does it for each item ({cost['result']}), and "
        f"`Order.total` does it again in line {total}. Return `total` there; the program then asks for {so_far:.2f}."
    )


async def _collect(client: Client) -> None:
    """Find the bug in one call, by collecting values at a line.

    Raises:
        UnexpectedBehaviour: The program does not behave as the story says.
    """
    say("One call runs the program to its end, and records what comes by where the total returns.")
    collect = ["total", "self.discount", GOODS, "total * (1 - self.discount)"]
    point = {"filename": str(SHOP), "line": line_of(SHOP, "total"), "collect": collect}
    end = await call(client, "dap_run", program=str(SHOP), breakpoints=[point], config=EVERYWHERE)
    rows = "\n".join(end.get("collected", ()))
    expect("total = 90.0" in rows, "the discount should be in the total already")
    say(
        "Found: of goods for 100.00, `total` is 90.00 before the line takes the discount off: it is in it already. "
        f"`Item.cost` does it for each item, and `Order.total` does it again in line {point['line']}. Return `total` there."
    )
