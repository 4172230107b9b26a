"""All tools, in the order of the documents: those of these modules."""

from dapeer.tools import (
    breakpoints,
    code,
    collected_rows,
    comparing,
    data_breakpoints,
    execution,
    expressions,
    inspection,
    memory,
    neovim,
    output,
    raw,
    run_until,
    script,
    sessions,
    stack,
    starting,
)
from dapeer.tools.base.tool import Tool, tools_of

TOOLS: tuple[Tool, ...] = tools_of(
    sessions,
    starting,
    execution,
    run_until,
    breakpoints,
    collected_rows,
    data_breakpoints,
    inspection,
    stack,
    expressions,
    code,
    comparing,
    memory,
    raw,
    output,
    script,
    neovim,
)
