"""`dapeer demo`: an assistant finds a real bug, through the real server and a real debug adapter.

The assistant's next step is decided here, not by a model; everything it is answered is real.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import TextContent

WIDTH = 100


class Evidence(Exception):
    """The program did not behave as the story tells."""


async def run() -> int:
    """Play the story and print its transcript; return the exit code."""
    program = _program()
    add, total = _line(program, "add"), _line(program, "total")
    _say(
        "A person asks: `shop.py` sells goods for 100.00 with a discount of 10 %, so 90.00 should be paid. "
        "It prints another amount. Why?"
    )
    async with _assistant(program.parent) as client:
        try:
            await _story(client, program, add, total)
        except Evidence as missing:
            _say(f"The demo went wrong: {missing}")
            return 1
    return 0


async def _story(client: Client, program: Path, add: int, total: int) -> None:
    _say("One call starts the program and shows it where the amount is put together.")
    breakpoint_ = {"filename": str(program), "line": add, "hit_condition": "4"}
    first = await _call(client, "dap_run", program=str(program), breakpoints=[breakpoint_])
    _expect(first.get("line") == add, f"it should stop at line {add}")

    _say(
        "The fourth item is about to be added. What have the other three brought, and what does this one cost?"
    )
    cost = await _call(
        client, "dap_evaluate", expression="item.price * item.quantity, item.cost(self.discount)"
    )
    _say(
        "So `cost` takes the discount off already. On to the end of `total`, one line before it returns."
    )
    last = await _call(client, "dap_run_to", filename=str(program), line=total)
    so_far = float(last["locals"]["total"])
    _say(f"`total` is {so_far:.2f} here: the discount is in it. And what will be returned?")
    returned = await _call(client, "dap_evaluate", expression="total * (1 - self.discount)")
    _expect(float(returned["result"]) < so_far, "the discount should be taken off a second time")

    _say("The amount without the second discount can be tried out in the program that is running.")
    await _call(client, "dap_set_variable", path="self.discount", value="0.0")
    end = await _call(client, "dap_continue")
    _expect(
        f"{so_far:.2f}" in end.get("output", ""), "the program should print the right amount now"
    )
    _say(
        f"Found: the discount is taken off twice. `Item.cost` does it for each item ({cost['result']}), and "
        f"`Order.total` does it again in line {total}. Return `total` there; the program then asks for {so_far:.2f}."
    )


async def _call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401
    """Call a tool, print what goes and what comes, and return the structured result."""
    shown = ", ".join(f"{name}={json.dumps(value)}" for name, value in arguments.items())
    print(f"\n→ {tool}({shown})")  # noqa: T201 - a transcript for a person
    result = await client.call_tool(tool, arguments)
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    print(textwrap.indent(text, "  "))  # noqa: T201
    _expect(not result.is_error, text)
    return cast("dict[str, Any]", result.structured_content or {})


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise Evidence(what)


def _say(text: str) -> None:
    print("\n" + textwrap.fill(text, WIDTH))  # noqa: T201 - a transcript for a person


@asynccontextmanager
async def _assistant(project: Path) -> AsyncGenerator[Client]:
    """Start a server as an assistant's host does, over stdio, and connect to it."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "dapeer", "stdio", "--no-bridge"], cwd=project
    )
    async with Client(stdio_client(command)) as client:
        yield client


def _program() -> Path:
    """Return the program of the story: in a checkout a fixture, in a wheel a copy of it."""
    package = Path(__file__).parents[1]
    candidates = (package.parents[1] / "fixtures" / "programs", package / "_fixtures")
    return next(folder / "shop.py" for folder in candidates if (folder / "shop.py").is_file())


def _line(program: Path, marker: str) -> int:
    """Return the line that carries `# @marker`."""
    lines = program.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# @{marker}"))
