"""`dapeer demo`: an assistant finds a real bug, through the real server and a real debug adapter.

The assistant's next step is decided here, not by a model; everything it is answered is real.
"""

from __future__ import annotations

from mcp import Client

from dapeer.cli.demo.transcript import assistant, call, expect, line_of, played, program, say

SHOP = program()


async def run() -> int:
    """Play the story and print its transcript; return the exit code."""
    return await played(_story)


async def _story() -> None:
    say(
        "A person asks: `shop.py` sells goods for 100.00 with a discount of 10 %, so 90.00 should be paid. "
        "It prints another amount. Why?"
    )
    async with assistant(SHOP.parent, "--nvim", "none") as client:
        await _search(client)


async def _search(client: Client) -> None:
    add, total = line_of(SHOP, "add"), line_of(SHOP, "total")
    say("One call starts the program and shows it where the amount is put together.")
    breakpoint_ = {"filename": str(SHOP), "line": add, "hit_condition": "4"}
    # In a wheel the program lies among the interpreter's libraries, where debugpy would not stop.
    everywhere = {"justMyCode": False}
    first = await call(
        client, "dap_run", program=str(SHOP), breakpoints=[breakpoint_], config=everywhere
    )
    expect(first.get("line") == add, f"it should stop at line {add}")

    say(
        "The fourth item is about to be added. What have the other three brought, and what does this one cost?"
    )
    cost = await call(
        client, "dap_evaluate", expression="item.price * item.quantity, item.cost(self.discount)"
    )
    say(
        "So `cost` takes the discount off already. On to the end of `total`, one line before it returns."
    )
    last = await call(client, "dap_run_to", filename=str(SHOP), line=total)
    so_far = float(last["locals"]["total"])
    say(f"`total` is {so_far:.2f} here: the discount is in it. And what will be returned?")
    returned = await call(client, "dap_evaluate", expression="total * (1 - self.discount)")
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
