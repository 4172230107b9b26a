"""The parts of the README that are made from the code: `uv run python -m tests.readme` writes them."""

import functools
import itertools
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dapeer.peers import LuaTool, read_tools
from dapeer.tools import (
    OF_OPENCODE,
    TOOLS,
    breakpoints,
    execution,
    inspection,
    lua,
    neovim,
    output,
    sessions,
)
from dapeer.tools.tool import Tool

NVIM = Path(sys.executable).parent / "nvim"
SPECS = """
vim.opt.runtimepath:prepend(arg[1])
require('dapeer').setup({ tools = { exec = true, test = true } })
io.write(require('dapeer.registry').specs())
"""
OFF = ("exec", "test")
GROUPS_OF_LUA = [name for name in lua.GROUPS if name not in OFF]

README = Path(__file__).parents[1] / "README.md"
GROUPS = (
    ("Start and end", sessions.TOOLS),
    ("Run", execution.TOOLS),
    ("Stop", breakpoints.TOOLS),
    ("Look", inspection.TOOLS),
    ("What it printed, where it stopped", output.TOOLS),
    ("Neovim", (*neovim.TOOLS, *lua.TOOLS)),
    ("OpenCode (while a server is known)", OF_OPENCODE),
)


def tool_table() -> str:
    """Return the table of all tools: name, arguments, what it does."""
    rows = ["| tool | arguments | what it does |", "|---|---|---|"]
    for title, tools in GROUPS:
        rows.append(f"| **{title}** | | |")
        rows += [_row(tool) for tool in tools]
    assert sum(len(tools) for _, tools in GROUPS) == len(TOOLS + OF_OPENCODE)
    return "\n".join(rows)


def lua_tool_table() -> str:
    """Return the table of the tools that live in the Neovim plugin, group by group."""
    rows = ["| tool | arguments | what it does |", "|---|---|---|"]
    for group, tools in itertools.groupby(lua_tools(), key=lambda one: one.group):
        off = " (off, unless you switch it on)" if group in OFF else ""
        rows.append(f"| **`{group}`**{off} | | |")
        rows += [_line(f"nvim_{one.name}", one.input_schema, one.description) for one in tools]
    return "\n".join(rows)


@functools.cache
def lua_tools() -> list[LuaTool]:
    """Return what the plugin tells a core of its own tools, all groups switched on."""
    command = [NVIM, "--clean", "--headless", "-l", "/dev/stdin", README.parent]
    done = subprocess.run(command, input=SPECS, capture_output=True, text=True, check=True)
    order = [*GROUPS_OF_LUA, *OFF]
    return sorted(read_tools(done.stdout), key=lambda one: (order.index(one.group), one.name))


def _row(tool: Tool) -> str:
    return _line(tool.name, tool.input_schema, tool.description)


def _line(name: str, schema: Mapping[str, Any], description: str) -> str:
    required = set(schema.get("required", ()))
    names = [one for one in schema["properties"] if one != "session_id"]
    arguments = ", ".join(f"`{one}`" if one in required else f"{one}" for one in names)
    return f"| `{name}` | {arguments} | {description.splitlines()[0]} |"


def with_part(text: str, name: str, part: str) -> str:
    """Return the README with what stands between the markers of one part replaced."""
    pattern = re.compile(rf"(<!-- {name}\b.*?-->\n).*?(<!-- /{name} -->)", re.DOTALL)
    assert pattern.search(text), name
    return pattern.sub(lambda match: f"{match[1]}{part}\n{match[2]}", text)


def made(text: str) -> str:
    """Return a README with its generated parts as they should be."""
    return with_part(with_part(text, "tools", tool_table()), "lua-tools", lua_tool_table())


if __name__ == "__main__":
    README.write_text(made(README.read_text(encoding="utf-8")), encoding="utf-8")
