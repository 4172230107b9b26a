"""The tools, one file per subject."""

from dapeer.tools import (
    code,
    execution,
    expressions,
    inspection,
    lua,
    memory,
    neovim,
    opencode,
    opencode_tools,
    output,
    raw,
    reverse,
    run_until,
    sessions,
    stack,
    terminal,
)
from dapeer.tools.base.call import AnyTool, Call, Reply
from dapeer.tools.base.tool import Tool
from dapeer.tools.breakpoints import breakpoints, data_breakpoints, functions
from dapeer.tools.collected import collected, comparing, life

TOOLS: tuple[Tool, ...] = (
    *sessions.TOOLS,
    *execution.TOOLS,
    *run_until.TOOLS,
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
