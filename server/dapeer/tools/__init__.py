"""The tools, one file per subject."""

from dapeer.tools import (
    code,
    execution,
    expressions,
    inspection,
    lua,
    memory,
    neovim,
    output,
    raw,
    reverse,
    sessions,
    stack,
    terminal,
)
from dapeer.tools.base.call import AnyTool, Call, Reply
from dapeer.tools.base.tool import Tool
from dapeer.tools.breakpoints import breakpoints, data_breakpoints, functions
from dapeer.tools.collected import collected, comparing, life
from dapeer.tools.run_until import until

TOOLS: tuple[Tool, ...] = (
    *sessions.TOOLS,
    *execution.TOOLS,
    *until.TOOLS,
    *reverse.TOOLS,
    *breakpoints.TOOLS,
    *functions.TOOLS,
    *collected.TOOLS,
    *life.TOOLS,
    *data_breakpoints.TOOLS,
    *inspection.TOOLS,
    *stack.TOOLS,
    *expressions.TOOLS,
    *code.TOOLS,
    *comparing.TOOLS,
    *memory.TOOLS,
    *raw.TOOLS,
    *output.TOOLS,
    *terminal.TOOLS,
    *neovim.TOOLS,
    *lua.TOOLS,
)

__all__ = ["TOOLS", "AnyTool", "Call", "Reply", "Tool"]
