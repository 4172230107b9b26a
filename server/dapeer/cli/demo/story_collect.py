"""`dapeer demo --collect`: an assistant finds the bug of the shop in one call, without a stop."""

from __future__ import annotations

from dapeer.cli.demo.transcript import assistant, call, expect, line_of, played, program, say

SHOP = program()
GOODS = "sum(item.price * item.quantity for item in self.items)"


async def run() -> int:
    """Play the story and print its transcript; return the exit code."""
    return await played(_story)


async def _story() -> None:
    say(
        "A person asks: `shop.py` sells goods for 100.00 with a discount of 10 %, so 90.00 should be paid. "
        "It prints another amount. Why?"
    )
    say("One call runs the program to its end, and records what comes by where the total returns.")
    collect = ["total", "self.discount", GOODS, "total * (1 - self.discount)"]
    point = {"filename": str(SHOP), "line": line_of(SHOP, "total"), "collect": collect}
    async with assistant(SHOP.parent, "--nvim", "none") as client:
        end = await call(
            client,
            "dap_run",
            program=str(SHOP),
            breakpoints=[point],
            # In a wheel the program lies among the interpreter's libraries.
            config={"justMyCode": False},
        )
    rows = "\n".join(end.get("collected", ()))
    expect("total = 90.0" in rows, "the discount should be in the total already")
    say(
        "Found: of goods for 100.00, `total` is 90.00 before the line takes the discount off: it is in it already. "
        f"`Item.cost` does it for each item, and `Order.total` does it again in line {point['line']}. Return `total` there."
    )
