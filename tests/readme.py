"""The parts of the README that are made from the code: `uv run python -m tests.readme` writes them."""

import re
from pathlib import Path

from dapeer.tools import TOOLS, breakpoints, execution, inspection, lua, neovim, output, sessions
from dapeer.tools.tool import Tool

README = Path(__file__).parents[1] / "README.md"
GROUPS = (
    ("Start and end", sessions.TOOLS),
    ("Run", execution.TOOLS),
    ("Stop", breakpoints.TOOLS),
    ("Look", inspection.TOOLS),
    ("What it printed, where it stopped", output.TOOLS),
    ("Neovim", (*neovim.TOOLS, *lua.TOOLS)),
)


def tool_table() -> str:
    """Return the table of all tools: name, arguments, what it does."""
    rows = ["| tool | arguments | what it does |", "|---|---|---|"]
    for title, tools in GROUPS:
        rows.append(f"| **{title}** | | |")
        rows += [_row(tool) for tool in tools]
    assert sum(len(tools) for _, tools in GROUPS) == len(TOOLS)
    return "\n".join(rows)


def _row(tool: Tool) -> str:
    required = set(tool.input_schema.get("required", ()))
    names = [name for name in tool.input_schema["properties"] if name != "session_id"]
    arguments = ", ".join(f"`{name}`" if name in required else f"{name}" for name in names)
    does = tool.description.splitlines()[0]
    return f"| `{tool.name}` | {arguments} | {does} |"


def with_part(text: str, name: str, part: str) -> str:
    """Return the README with what stands between the markers of one part replaced."""
    pattern = re.compile(rf"(<!-- {name}\b.*?-->\n).*?(<!-- /{name} -->)", re.DOTALL)
    assert pattern.search(text), name
    return pattern.sub(lambda match: f"{match[1]}{part}\n{match[2]}", text)


if __name__ == "__main__":
    README.write_text(
        with_part(README.read_text(encoding="utf-8"), "tools", tool_table()), encoding="utf-8"
    )
