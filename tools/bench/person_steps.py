"""What an attached core costs the person who steps: from F10 to frame and scopes, on stock debugpy.

    uv run python -m tools.bench.person_steps [--turns N]

Two Neovims, one with a core attached and one without dapeer, take turns of some steps each, so the machine is as busy for both.
It is measured in Neovim, by a listener of nvim-dap: from the call of `step_over` to its answer to `scopes`. A held key
steps again as soon as nvim-dap knows where it is.
"""

import argparse
import asyncio
import statistics
import sys
from contextlib import AsyncExitStack

from tools.bench import adapter
from tools.bench.mirrored import Desk, attached, desk

TIMER = """
local dap = require('dap')
local began
function _G.bench_step() began = vim.uv.hrtime(); dap.step_over() end
dap.listeners.after.scopes.bench = function(session)
  if began and session.stopped_thread_id then
    local took = (vim.uv.hrtime() - began) / 1e6
    began = nil
    pcall(vim.rpcnotify, vim.g.test_channel, 'stepped', took)
  end
end
"""
WAYS = {"150 ms between steps": 0.15, "600 ms between steps": 0.6, "key held down": 0.0}
"""Seconds between the end of a step and the next one."""
TURN = 10
"""Steps that one Neovim does before it is the other's turn."""


async def steps(where: Desk, pause: float) -> list[float]:
    """Step as the person does; return the milliseconds that each took."""
    took: list[float] = []
    for _ in range(TURN):
        await asyncio.sleep(pause)
        where.editor.wire.send("nvim_exec_lua", "bench_step()", [])
        took.append(float((await where.editor.wait_for_notification("stepped"))[0]))
    return took


async def measure(turns: int) -> None:
    """Print one line for each way of stepping."""
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(desk({}, adapter.STOCK))
        alone = await stack.enter_async_context(desk(None, adapter.STOCK))
        for each in (ours, alone):
            await each.start()
        await stack.enter_async_context(attached(ours.editor))
        for each in (ours, alone):
            await each.editor.lua(TIMER)
            await steps(each, 0)
        for name, pause in WAYS.items():
            times: dict[str, list[float]] = {"ours": [], "alone": []}
            for turn in range(turns):
                both = [("ours", ours), ("alone", alone)]
                for who, its in both if turn % 2 else reversed(both):
                    times[who] += await steps(its, pause)
            medians = {who: statistics.median(values) for who, values in times.items()}
            ratio = medians["ours"] / medians["alone"]
            sys.stdout.write(
                f"| {name} | {medians['ours']:.1f} | {medians['alone']:.1f} | {ratio:.2f} |\n"
            )
            sys.stdout.flush()


def main() -> None:
    """Measure with stock debugpy, as nvim-dap-python starts it."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench.person_steps")
    parser.add_argument("--turns", type=int, default=5, help=f"of {TURN} steps each")
    asyncio.run(measure(parser.parse_args().turns))


if __name__ == "__main__":
    main()
