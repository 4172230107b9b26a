"""The tools, one file per subject."""

from dapeer.tools import (
    breakpoints,
    code,
    collected,
    comparing,
    data_breakpoints,
    execution,
    expressions,
    functions,
    inspection,
    life,
    lua,
    memory,
    neovim,
    opencode,
    opencode_tools,
    output,
    raw,
    reverse,
    sessions,
    stack,
    terminal,
    until,
)
from dapeer.tools.base.call import AnyTool, Call, Reply
from dapeer.tools.base.tool import Tool

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

# Offered only where an OpenCode server is known.
OF_OPENCODE: tuple[Tool, ...] = (*opencode.TOOLS, *opencode_tools.TOOLS)

__all__ = ["OF_OPENCODE", "TOOLS", "AnyTool", "Call", "Reply", "Tool"]
