"""`dapeer stdio` with tools that have a Neovim without dapeer step and evaluate, and tell what nvim-dap has then: a server that adds nothing."""

import asyncio
import sys

from dapeer.mcp.serving import ServerOptions, serve_stdio
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.tool import Tool, tool
from tests.neovim.wire import Wire

RELAY = """
local channel = ...
local dap, wanted = require('dap'), false
local function tell(lines)
  vim.rpcnotify(channel, 'relayed', lines)
end
function _G.relay_step() wanted = true; dap.step_over() end
dap.listeners.after.variables.relay = function(session, _, answer)
  -- An answer of the stop before may come when the program runs already.
  local thread = session.threads[session.stopped_thread_id or -1]
  if wanted and thread and thread.frames then
    wanted = false
    local lines = {}
    for _, frame in ipairs(thread.frames) do
      table.insert(lines, frame.name .. ':' .. frame.line)
    end
    for _, variable in ipairs(answer.variables) do
      table.insert(lines, variable.name .. ' = ' .. variable.value)
    end
    tell(lines)
  end
end
function _G.relay_evaluate(expression)
  local session = dap.session()
  local arguments = { expression = expression, frameId = session.current_frame.id, context = 'watch' }
  session:request('evaluate', arguments, function(_, answer) tell({ answer.result }) end)
end
"""
"""The first variables that nvim-dap asks for at a stop are the locals."""


def tools(neovim: Wire) -> tuple[Tool, ...]:
    """Return the tools of a session of nvim-dap that is stopped."""

    async def told() -> Reply:
        (lines,) = await neovim.told("relayed")
        return Reply("\n".join(lines))

    @tool("Step")
    async def step(call: Call) -> Reply:
        """Step over, and wait until nvim-dap has looked."""
        del call
        neovim.send("nvim_exec_lua", "relay_step()", [])
        return await told()

    @tool("Evaluate")
    async def evaluate(call: Call, expression: str) -> Reply:
        """Evaluate."""
        del call
        neovim.send("nvim_exec_lua", "relay_evaluate(...)", [expression])
        return await told()

    return step, evaluate


async def main(socket: str) -> None:
    """Connect, then serve."""
    neovim = Wire(*await asyncio.open_unix_connection(socket))
    channel, _ = await neovim.request("nvim_get_api_info")
    await neovim.request("nvim_exec_lua", RELAY, [channel])
    await serve_stdio(ServerOptions(tools=tools(neovim)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
