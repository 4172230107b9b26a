"""The tools, one file per subject."""

from dapeer.tools import breakpoints, execution, inspection, lua, neovim, output, sessions
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

__all__ = ["TOOLS", "Call", "Reply", "Served", "Tool"]
