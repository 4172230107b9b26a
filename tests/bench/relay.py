"""`dapeer stdio` with tools that pass a step and an evaluation on to the bare DAP client: a server that adds nothing."""

import asyncio

from dapeer.mcp.serving import ServerOptions, serve_stdio
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.tool import Tool, tool
from tests.bench import adapter
from tests.bench.raw import RawDap, raw_dap
from tests.bench.stopped import start_raw


def tools(dap: RawDap) -> tuple[Tool, ...]:
    """Return the tools of a stopped session."""

    @tool("Step")
    async def step(call: Call) -> Reply:
        """Step over, and look."""
        del call
        await dap.step()
        return Reply("\n".join(f"{name} = {value}" for name, value in (await dap.look()).items()))

    @tool("Evaluate")
    async def evaluate(call: Call, expression: str) -> Reply:
        """Evaluate."""
        del call
        return Reply(await dap.evaluate(expression))

    return step, evaluate


async def main() -> None:
    """Start the program, then serve."""
    async with raw_dap(adapter.quick()) as dap:
        await start_raw(dap)
        await serve_stdio(ServerOptions(tools=tools(dap)))


if __name__ == "__main__":
    asyncio.run(main())
