"""The tables in the documents that are made from the code: `uv run python -m tools.pages` writes them."""

import ast
import functools
import itertools
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from dapeer.adapters.definition.definition import Definition, load_all, shipped
from dapeer.peers import LuaTool, read_tools
from dapeer.tools import neovim
from dapeer.tools.base.tool import Section, Tool
from tests.neovim.editor import NEEDS_NVIM
from tests.programs import ROOT
from tests.required import REQUIRED, WELCOME
from tools import collecting_page, commands_page
from tools.known_answers import EVERY

NVIM = Path(sys.executable).parent / "nvim"
SPECS = """
vim.opt.runtimepath:prepend(arg[1])
require('dapeer').setup({ tools = { exec = true, test = true } })
io.write(require('dapeer.registry').specs())
"""
OFF = ("exec", "test")
GROUPS_OF_LUA = [name for name in neovim.GROUPS if name not in OFF]

WHERE_POSSIBLE = "°"
"""Marks what is listed only while the adapter of a session can do it."""


def tool_table() -> str:
    """Return the table of all tools: name, arguments, what it does."""
    rows = ["| tool | arguments | what it does |", "|---|---|---|"]
    for section, tools in sections().items():
        rows.append(f"| **{section}** | | |")
        rows += [_row(tool) for tool in tools]
    return "\n".join(rows)


def sections() -> dict[str, list[Tool]]:
    """Return the tools by their section: dapeer's own sections in their order, then those of integrations."""
    found: dict[str, list[Tool]] = {section: [] for section in Section}
    for tool in EVERY:
        assert tool.section, f"{tool.name} has no section"
        found.setdefault(tool.section, []).append(tool)
    return found


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
    if not NVIM.exists():
        pytest.skip(NEEDS_NVIM, allow_module_level=True)
    command = [NVIM, "--clean", "--headless", "-l", "/dev/stdin", ROOT]
    done = subprocess.run(command, input=SPECS, capture_output=True, text=True, check=True)
    order = [*GROUPS_OF_LUA, *OFF]
    return sorted(read_tools(done.stdout), key=lambda one: (order.index(one.group), one.name))


def adapter_table() -> str:
    """Return the table of the adapters: what they debug, how to get them, and how far they are tried."""
    rows = ["| language | `type` | attaches by | get it | tried |", "|---|---|---|---|---|"]
    definitions = load_all(shipped()).values()
    order = sorted(definitions, key=lambda one: (one.id not in REQUIRED + WELCOME, one.title))
    return "\n".join([*rows, *map(_adapter_row, order)])


def _adapter_row(definition: Definition) -> str:
    version = definition.detect.version
    oldest = f" {version.min}+" if version and version.min != "0" else ""
    ways = {"pid": "pid", "tcp": "port", "core": "core"}
    attach = ", ".join(ways[way] for way in definition.attach if way in ways) or "-"
    tried = "in CI" if definition.id in REQUIRED + WELCOME else "by hand"
    cannot = ", ".join(_CANNOT[what] for what in definition.cannot)
    tried += f"; it cannot {cannot}" if cannot else ""
    cells = (definition.title, f"`{definition.id}`{oldest}", attach, _install(definition), tried)
    return f"| {' | '.join(cells)} |"


_CANNOT = {
    "condition": "stop on conditions",
    "condition_errors": "tell that a condition is wrong",
    "condition_at_functions": "stop at functions on conditions",
    "exit_code": "tell exit codes",
    "expressions": "evaluate expressions",
    "set_variable": "set variables",
}


def _install(definition: Definition) -> str:
    """Return the ways to get an adapter, each with its platforms."""
    if definition.id == "debugpy":
        return "comes with dapeer"
    ways: list[str] = []
    for install in definition.install:
        names = ", ".join(_PLATFORMS[name] for name in install.when)
        command = install.command
        if install.packages:
            command = f"dapeer adapters install {definition.id}"
        ways.append(f"{names}: `{command}`" if names else f"`{command}`")
    return "<br>".join(ways)


_PLATFORMS = {"linux": "Linux", "macos": "macOS", "windows": "Windows"}


def _row(tool: Tool) -> str:
    mark = "" if tool.needs is None else WHERE_POSSIBLE
    return _line(
        tool.name, tool.schema_for(tool.all_needs), tool.description, mark, set(tool.argument_needs)
    )


def _line(
    name: str,
    schema: Mapping[str, Any],
    description: str,
    mark: str = "",
    marked: Collection[str] = (),
) -> str:
    required = set(schema.get("required", ()))
    # Where it is not required, a rule of the page speaks of it.
    names = [one for one in schema["properties"] if one != "session_id" or one in required]
    arguments = ", ".join(
        (f"`{one}`" if one in required else one) + (WHERE_POSSIBLE if one in marked else "")
        for one in names
    )
    return f"| `{name}`{mark} | {arguments} | {description.splitlines()[0]} |"


CITED = re.compile(r"[Pp]itfalls? (\d+(?:(?:,| and) \d+)*)")


def pitfalls() -> Mapping[int, Sequence[str]]:
    """Return the tests, and parts of tests, that name a pitfall in their docstrings, by its number."""
    found: dict[int, list[str]] = {}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.parse(file.read_text("utf-8")).body:
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            cited = CITED.search(ast.get_docstring(node) or "")
            for number in re.findall(r"\d+", cited[1]) if cited else ():
                found.setdefault(int(number), []).append(f"`{file.relative_to(ROOT)}::{node.name}`")
    return found


def pitfall_table() -> str:
    """Return the table of what tests each pitfall."""
    rows = [f"| {number} | {'<br>'.join(tests)} |" for number, tests in sorted(pitfalls().items())]
    return "\n".join(["| pitfall | tests |", "|---|---|", *rows])


PARTS: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "README.md": {
        "collected": collecting_page.collected_run,
        "failing-test": collecting_page.failing_test,
    },
    "docs/tools.md": {"tools": tool_table, "lua-tools": lua_tool_table},
    "docs/command-line.md": {"commands": commands_page.command_table},
    "docs/languages.md": {"adapters": adapter_table},
    "docs/pitfalls.md": {"pitfalls": pitfall_table},
    "docs/collecting.md": {
        "answers": collecting_page.answers,
        "calls": collecting_page.calls,
        "until": collecting_page.until,
    },
}
"""By page, what stands between the markers of each part."""


def with_part(text: str, name: str, part: str) -> str:
    """Return a page with what stands between the markers of one part replaced."""
    pattern = re.compile(rf"(<!-- {name}\b.*?-->\n).*?(<!-- /{name} -->)", re.DOTALL)
    assert pattern.search(text), name
    return pattern.sub(lambda match: f"{match[1]}{part}\n{match[2]}", text)


def made(page: str) -> str:
    """Return the text of a page with its generated parts as they should be."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for name, table in PARTS[page].items():
        text = with_part(text, name, table())
    return text


if __name__ == "__main__":
    for page in PARTS:
        (ROOT / page).write_text(made(page), encoding="utf-8")
