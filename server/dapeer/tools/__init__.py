"""The tools, one file per subject."""

from dapeer.tools import (
    breakpoints,
    execution,
    inspection,
    lua,
    neovim,
    opencode,
    opencode_tools,
    output,
    sessions,
)
from dapeer.tools.tool import Call, Reply, Served, Tool

TOOLS: tuple[Tool, ...] = (
    *sessions.TOOLS,
    *execution.TOOLS,
    *breakpoints.TOOLS,
    *inspection.TOOLS,
    *output.TOOLS,
    *neovim.TOOLS,
    *lua.TOOLS,
)

# Offered only where an OpenCode server is known.
OF_OPENCODE: tuple[Tool, ...] = (*opencode.TOOLS, *opencode_tools.TOOLS)

__all__ = ["OF_OPENCODE", "TOOLS", "Call", "Reply", "Served", "Tool"]
