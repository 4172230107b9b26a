"""`dapeer stdio` with one tool that does nothing: what a call costs before any debugger does."""

import asyncio

from dapeer.mcp.serving import ServerOptions, serve_stdio
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.tool import tool


@tool("Nothing", read_only=True)
async def nothing(call: Call) -> Reply:
    """Do nothing."""
    del call
    return Reply("nothing")


if __name__ == "__main__":
    asyncio.run(serve_stdio(ServerOptions(tools=(nothing,))))
