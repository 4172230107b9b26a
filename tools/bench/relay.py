"""`dapeer stdio` with tools that pass on what the bare DAP client does, and repeat answers: a server that adds nothing."""

import asyncio

from dapeer.mcp.serving import ServerOptions, serve_stdio
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.tool import Tool, tool
from tools.bench import adapter
from tools.bench.raw import RawDap, raw_dap
from tools.bench.stopped import start_raw


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


def echo() -> tuple[Tool, ...]:
    """Return the tools that repeat an answer."""
    told: dict[str, Reply] = {}

    @tool("Remember")
    async def remember(call: Call, what: str, text: str) -> Reply:
        """Take the text of an answer."""
        del call
        told[what] = Reply(text)
        return Reply("remembered")

    @tool("Repeat", read_only=True)
    async def repeat(call: Call, what: str) -> Reply:
        """Give an answer that was remembered."""
        del call
        return told[what]

    return remember, repeat


async def main() -> None:
    """Start the program, then serve."""
    async with raw_dap(adapter.quick()) as dap:
        await start_raw(dap)
        await serve_stdio(ServerOptions(tools=(*tools(dap), *echo())))


if __name__ == "__main__":
    asyncio.run(main())
