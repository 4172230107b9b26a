"""The tools, one file per subject."""

from dapeer.tools import breakpoints, execution, inspection, neovim, output, sessions
from dapeer.tools.tool import Call, Reply, Tool

TOOLS: tuple[Tool, ...] = (
    *sessions.TOOLS,
    *execution.TOOLS,
    *breakpoints.TOOLS,
    *inspection.TOOLS,
    *output.TOOLS,
    *neovim.TOOLS,
)

__all__ = ["TOOLS", "Call", "Reply", "Tool"]
