"""Writes `scripting/methods.py`, one method for each tool, from the table of tools: `uv run python -m tools.script_methods`."""

import keyword
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from dapeer.mcp.all_tools import TOOLS
from dapeer.tools.base.tool import Tool
from tests.programs import ROOT

FILE = ROOT / "server" / "dapeer" / "scripting" / "methods.py"
OWN = frozenset({"dap_run", "dap_script"})
"""Tools that have a method written by hand, or none: a script starts no scripts."""
SESSION = "session_id"

HEAD = '''\
"""A method for each tool: made by `python -m tools.script_methods`, not to be edited.

An argument that is None is left out. Each method returns what the tool answers, and raises `ToolError` where it fails.
"""

# ruff: noqa: A002, D301

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from dapeer.scripting.wire import Answer


class Caller(Protocol):
    """What calls a tool by its name."""

    def call_tool(self, tool: str, **arguments: Any) -> Answer:  # noqa: ANN401 - any argument of a tool
        """Call it with those of the arguments that are not None."""
        ...

'''
SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def made() -> str:
    """Return the text of the module."""
    tools = [tool for tool in TOOLS if tool.name not in OWN]
    of_session = [tool for tool in tools if SESSION in tool.input_schema["properties"]]
    parts = [
        HEAD,
        "\n".join(class_of("DebuggerMethods", "The tools, as methods of a debugger.", tools, frozenset())),
        "\n".join(
            class_of(
                "SessionMethods",
                "The tools that act on a session, as its methods.",
                of_session,
                frozenset({SESSION}),
            )
        ),
    ]  # fmt: skip
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", FILE, "-"]
    text = "\n".join(parts) + "\n"
    done = subprocess.run(command, input=text, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def class_of(name: str, doc: str, tools: list[Tool], left_out: frozenset[str]) -> Iterator[str]:
    """Yield the lines of a class with a method for each tool, without some of the arguments."""
    yield f'class {name}(Caller, Protocol):\n    """{doc}"""\n'
    for tool in tools:
        yield from method(tool, left_out)


def method(tool: Tool, left_out: frozenset[str]) -> Iterator[str]:
    """Yield the lines of the method of a tool."""
    schema = tool.input_schema
    required = schema.get("required", [])
    arguments = {key: each for key, each in schema["properties"].items() if key not in left_out}
    first = [f"{key}: {type_of(arguments[key])}" for key in required if key in arguments]
    rest = [
        f"{key}: {type_of(each)} | None = None"
        for key, each in arguments.items()
        if key not in required
    ]
    star = ["*"] * bool(rest)
    yield f"    def {method_name(tool.name)}({', '.join(['self', *first, *star, *rest])}) -> Answer:"
    yield f'        """{tool.description.splitlines()[0]}"""'
    passed = ", ".join([repr(tool.name), *(f"{key}={key}" for key in arguments)])
    yield f"        return self.call_tool({passed})\n"


def method_name(tool: str) -> str:
    """Return the name of a tool's method.

    >>> method_name("dap_step_over"), method_name("dap_continue"), method_name("nvim_targets")
    ('step_over', 'continue_', 'nvim_targets')
    """
    name = tool.removeprefix("dap_")
    return f"{name}_" if keyword.iskeyword(name) else name


def type_of(schema: Mapping[str, Any]) -> str:
    """Return the Python type of a JSON schema.

    >>> type_of({"type": "array", "items": {"enum": ["a", "b"]}})
    "Sequence[Literal['a', 'b']]"
    """
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    match schema.get("type"):
        case "array":
            return f"Sequence[{type_of(schema.get('items', {}))}]"
        case "object":
            return "Mapping[str, Any]"
        case str(name):
            return SIMPLE[name]
        case _:
            return "Any"


if __name__ == "__main__":
    FILE.write_text(made(), encoding="utf-8")
