"""The tools, one file per subject."""

from dapeer.tools import (
    breakpoints,
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
    rewinding,
    sessions,
    stack,
    terminal,
    watchpoints,
)
from dapeer.tools.tool import Call, Reply, Served, Tool

TOOLS: tuple[Tool, ...] = (
    *sessions.TOOLS,
    *execution.TOOLS,
    *rewinding.TOOLS,
    *breakpoints.TOOLS,
    *watchpoints.TOOLS,
    *inspection.TOOLS,
    *stack.TOOLS,
    *expressions.TOOLS,
    *code.TOOLS,
    *memory.TOOLS,
    *raw.TOOLS,
    *output.TOOLS,
    *terminal.TOOLS,
    *neovim.TOOLS,
    *lua.TOOLS,
)

# Offered only where an OpenCode server is known.
OF_OPENCODE: tuple[Tool, ...] = (*opencode.TOOLS, *opencode_tools.TOOLS)

__all__ = ["OF_OPENCODE", "TOOLS", "Call", "Reply", "Served", "Tool"]
