"""All tools, in the order of the documents."""

from dapeer.collecting.tools import call_life, collected_rows, comparing
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
from dapeer.tools.base.tool import Tool
from dapeer.tools.breakpoints import breakpoints, data_breakpoints, functions
from dapeer.tools.run_until import until

TOOLS: tuple[Tool, ...] = (
    *sessions.TOOLS,
    *execution.TOOLS,
    *until.TOOLS,
    *reverse.TOOLS,
    *breakpoints.TOOLS,
    *functions.TOOLS,
    *collected_rows.TOOLS,
    *call_life.TOOLS,
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
