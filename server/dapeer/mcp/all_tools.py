"""All tools, in the order of the documents: those of these modules."""

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
    run_until,
    script,
    sessions,
    stack,
    terminal,
)
from dapeer.tools.base.tool import Tool, tools_of
from dapeer.tools.breakpoints import breakpoints, data_breakpoints, functions
from dapeer.tools.starts import starting

TOOLS: tuple[Tool, ...] = tools_of(
    sessions,
    starting,
    execution,
    run_until,
    reverse,
    breakpoints,
    functions,
    collected_rows,
    call_life,
    data_breakpoints,
    inspection,
    stack,
    expressions,
    code,
    comparing,
    memory,
    raw,
    output,
    terminal,
    script,
    neovim,
    lua,
)
