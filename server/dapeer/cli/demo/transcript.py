"""The parts of a story of `dapeer demo`: an assistant, its calls, and their transcript."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client
from mcp.client import advertise
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import TextContent

from dapeer.base.json_types import Json, Value, as_object
from dapeer.base.system.shipped import shipped_folder
from dapeer.mcp.data_extension import EXTENSION

WIDTH = 100


class UnexpectedBehaviour(Exception):
    """The program did not behave as the story expects."""


async def play(story: Callable[[], Awaitable[None]]) -> int:
    """Play a story, and return the exit code: 1 if it raises `UnexpectedBehaviour`, which is then printed."""
    code = 0
    try:
        await story()
    except* UnexpectedBehaviour as missing:
        # The client's task groups have wrapped it, each once.
        error: BaseException = missing
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        say(f"The demo went wrong: {error}")
        code = 1
    return code


async def call(client: Client, tool: str, **arguments: Value) -> Json:
    """Call a tool, print the call and its answer, and return the answer's structured data.

    `tool` is its whole name, `arguments` are its own. The data is empty if the answer has none.

    Raises:
        UnexpectedBehaviour: The answer is an error.
    """
    given = ", ".join(f"{name}={json.dumps(value)}" for name, value in arguments.items())
    print(f"\n→ {tool}({given})")
    result = await client.call_tool(tool, arguments)
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    show(text)
    expect(not result.is_error, text)
    return as_object(result.structured_content)


def expect(holds: bool, what: str) -> None:
    """Check that the story is true so far; `what` says what should have been.

    Raises:
        UnexpectedBehaviour: It is not.
    """
    if not holds:
        raise UnexpectedBehaviour(what)


def say(text: str) -> None:
    """Print text for the reader."""
    # A word without spaces is a path, and is kept whole.
    lines = textwrap.wrap(text, WIDTH, break_on_hyphens=False, break_long_words=False)
    print("\n" + "\n".join(lines))


def show(text: str) -> None:
    """Print what the reader could see themselves."""
    print(textwrap.indent(text, "  "))


@asynccontextmanager
async def assistant(project: Path, *options: str) -> AsyncGenerator[Client]:
    """Start a server over stdio, as an assistant's host does, and yield a client that is connected to it.

    `options` are added to the command line `dapeer stdio --no-bridge`, which runs in `project`.
    """
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "dapeer", "stdio", "--no-bridge", *options],
        cwd=project,
    )
    async with Client(stdio_client(command), extensions=[advertise(EXTENSION)]) as client:
        yield client


def program() -> Path:
    """Return the program of the stories: a fixture in a checkout, a copy of it in a wheel."""
    return shipped_folder("_fixtures", "fixtures/programs") / "shop.py"


def line_of(program: Path, marker: str) -> int:
    """Return the line that carries `# @marker`."""
    lines = program.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# @{marker}"))
