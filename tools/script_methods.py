"""Writes `scripting/methods.py`, one method for each tool, from the table of tools: `uv run python -m tools.script_methods`."""

import inspect
import json
import keyword
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from dapeer.mcp.all_tools import TOOLS
from dapeer.tools.base.tool import Tool
from tests.programs import ROOT

FILE = ROOT / "server" / "dapeer" / "scripting" / "methods.py"
OWN = frozenset({"dap_run", "dap_script"})
"""Tools that have a method written by hand, or none: a script starts no scripts."""
SESSION = "session_id"
OF_GROUP = """\
`group` is the name of a group of programs, given instead of `session_id`: its members that can answer are all called, and the data
has `group` and `answers`, the data of each by its label."""

LINE_CHARS = 116
RAISES = """\
Raises:
    ToolError: The tool has failed, or a person has not consented.
    ServerGone: The server has ended."""
HEAD = '''\
"""A method for each tool: made by `python -m tools.script_methods`, not to be edited.

An argument that is None is left out. Each method returns what the tool answers, and raises `ToolError` where it fails.
"""

# ruff: noqa: A002

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from dapeer.scripting.wire import Answer
'''
END_OF_HEAD = '''\
"""Tools that act on a session, and take its `session_id`."""


class Methods(Protocol):
    """The tools, as methods of what calls them by their names."""

    def call_tool(self, tool: str, **arguments: Any) -> Answer:  # noqa: ANN401 - any argument of a tool
        """Call a tool with those of the arguments that are not None."""
        ...

'''
SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def made() -> str:
    """Return the text of the module."""
    tools = [tool for tool in TOOLS if tool.name not in OWN]
    of_session = [tool.name for tool in tools if SESSION in tool.input_schema["properties"]]
    names = "".join(f"    {name!r},\n" for name in sorted(of_session))
    parts = [
        HEAD,
        f"OF_SESSION = frozenset({{\n{names}}})",
        END_OF_HEAD,
        "\n".join(map(method, tools)),
    ]
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", FILE, "-"]
    text = "\n".join(parts) + "\n"
    done = subprocess.run(command, input=text, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def method(tool: Tool) -> str:
    """Return the method of a tool."""
    schema = tool.input_schema
    arguments, required = schema["properties"], schema.get("required", [])
    first = [f"{key}: {type_of(arguments[key])}" for key in required]
    rest = [
        f"{key}: {type_of(each)} | None = None"
        for key, each in arguments.items()
        if key not in required
    ]
    star = ["*"] * bool(rest)
    passed = ", ".join([repr(tool.name), *(f"{key}={key}" for key in arguments)])
    return f"""\
    def {method_name(tool.name)}({", ".join(["self", *first, *star, *rest])}) -> Answer:
        {docstring(tool)}
        return self.call_tool({passed})
"""


def docstring(tool: Tool) -> str:
    """Return the literal of a method's docstring: the tool's own one, with what the method adds and raises."""
    text = inspect.cleandoc(tool.function.__doc__ or "").partition("\n\nRaises:")[0]
    if "group" in tool.input_schema["properties"]:
        text = f"{text}\n\n{OF_GROUP}"
    more = "\n".join(textwrap.wrap(" ".join(sentences(tool)), LINE_CHARS, break_on_hyphens=False))
    lines = textwrap.indent(f"{text}\n\n{more}\n\n{RAISES}", " " * 8).strip()
    raw = "r" if "\\" in text else ""
    return f'{raw}"""{lines}\n        """'


def sentences(tool: Tool) -> Iterator[str]:
    """Yield what a method adds to its tool: what an argument that is None stands for, and what is returned."""
    schemas = tool.input_schema["properties"]
    yield f"This calls the tool `{tool.name}` of the server, and waits for its answer."
    known = {key: each["default"] for key, each in schemas.items() if "default" in each}
    if schemas:
        listed = ", ".join(f"`{key}` {json.dumps(each)}" for key, each in known.items())
        yield f"An argument that is None is left out{f'; the tool takes then {listed}' if listed else ''}."
    if "session_id" in schemas:
        yield "Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last."
    yield "The result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none."


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
