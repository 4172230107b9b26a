"""A busy assistant: calls tools in a loop at the session of a Neovim, until its stdin ends.

A process of its own, so that the benchmark's clock is not held up by its work.
"""

import asyncio
import sys

from tests.programs import program
from tools.bench.served import STDIO, Served, served

STEPS = program("bench_steps.py")


async def main(socket: str) -> None:
    """Say when everything is under way, and at the end how many tools were called."""
    async with served(*STDIO, "--nvim", socket) as server:
        await round_of(server)
        sys.stdout.write("busy\n")
        sys.stdout.flush()
        enough = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
        while not enough.done():
            await round_of(server)
        sys.stdout.write(f"{server.calls}\n")


async def round_of(server: Served) -> None:
    """Look, evaluate, set a breakpoint that never holds, step, remove the breakpoint."""
    place: dict[str, object] = {"filename": str(STEPS), "line": STEPS.line("inner")}
    await server.call("dap_snapshot")
    await server.call("dap_evaluate", expression="value * 2")
    await server.call("dap_set_breakpoint", **place, condition="value < 0")
    await server.call("dap_step_over")
    await server.call("dap_variables")
    await server.call("dap_remove_breakpoint", **place)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
