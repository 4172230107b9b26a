"""`dapeer demo`: an assistant finds a real bug, through the real server and a real debug adapter.

With `--collect` it does so in one call, without a stop. The assistant's next step is decided here, not by a model;
everything it is answered is real.
"""

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
from dapeer.base.system.folder_names import shipped_folder
from dapeer.mcp.data_extension import EXTENSION

# The parts of a story of `dapeer demo`: an assistant, its calls, and their transcript.

WIDTH = 100


class UnexpectedBehaviour(Exception):
    """The program did not behave as the story expects."""


async def play(story: Callable[[], Awaitable[None]]) -> int:
    """Call and await `story`, and return the exit code: 1 if it raises `UnexpectedBehaviour`, else 0.

    The error is printed. Any other exception goes on, in an exception group if a task group raised it.
    """
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


def expect(holds: bool, expectation: str) -> None:
    """Check that the story is true so far; `expectation` says what should have been.

    Raises:
        UnexpectedBehaviour: It is not.
    """
    if not holds:
        raise UnexpectedBehaviour(expectation)


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

    `options` are added to the command line `dapeer stdio --no-bridge`, which runs in `project`. The server ends with the body.
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


SHOP = program()
EVERYWHERE = {"justMyCode": False}
"""In a wheel the program lies among the interpreter's libraries, where debugpy would not stop."""
GOODS = "sum(item.price * item.quantity for item in self.items)"


async def run(*, collects: bool = False) -> int:
    """Play the story and print its transcript; return the exit code."""
    return await play(lambda: _story(_collect if collects else _search))


async def _story(part: Callable[[Client], Awaitable[None]]) -> None:
    """Print what the story is about, start a server, and play `part` with an assistant's client of it.

    Raises:
        UnexpectedBehaviour: The program does not behave as the story says.
    """
    say(
        "A person asks: `shop.py` sells goods for 100.00 with a discount of 10 %, so 90.00 should be paid. "
        "It prints another amount. Why?"
    )
    async with assistant(SHOP.parent, "--nvim", "none") as client:
        await part(client)


async def _search(client: Client) -> None:
    """Find the bug step by step: a conditional stop, expressions, a run to a line, another value.

    It calls tools of the `client`'s server, and prints the story with each call and answer. The program has
    ended then.

    Raises:
        UnexpectedBehaviour: The program does not behave as the story says.
        KeyError, ValueError: An answer lacks the value of an expression or of `total`, or the value is no
            number.
    """
    add, total = line_of(SHOP, "add"), line_of(SHOP, "total")
    say("One call starts the program and shows it where the amount is put together.")
    breakpoint_ = {"filename": str(SHOP), "line": add, "hit_condition": "4"}
    first = await call(
        client, "dap_run", program=str(SHOP), breakpoints=[breakpoint_], config=EVERYWHERE
    )
    expect(first.get("line") == add, f"it should stop at line {add}")

    say(
        "The fourth item is about to be added. What have the other three brought, and what does this one cost?"
    )
    cost = await call(
        client, "dap_evaluate", expressions=["item.price * item.quantity, item.cost(self.discount)"]
    )
    say(
        "So `cost` takes the discount off already. On to the end of `total`, one line before it returns."
    )
    last = await call(client, "dap_run_to", filename=str(SHOP), line=total)
    so_far = float(last["locals"]["total"])
    say(f"`total` is {so_far:.2f} here: the discount is in it. And what will be returned?")
    returned = await call(client, "dap_evaluate", expressions=["total * (1 - self.discount)"])
    expect(float(returned["result"]) < so_far, "the discount should be taken off a second time")

    say("The amount without the second discount can be tried out in the program that is running.")
    await call(client, "dap_set_variable", path="self.discount", value="0.0")
    end = await call(client, "dap_continue")
    expect(
        f"{so_far:.2f}" in end.get("output", ""), "the program should print the right amount now"
    )
    say(
        f"Found: the discount is taken off twice. `Item.cost` does it for each item ({cost['result']}), and "
        f"`Order.total` does it again in line {total}. Return `total` there; the program then asks for {so_far:.2f}."
    )


async def _collect(client: Client) -> None:
    """Find the bug in one call, by collecting values at a line; print the story and the answer.

    It calls a tool of the `client`'s server.

    Raises:
        UnexpectedBehaviour: The program does not behave as the story says.
    """
    say("One call runs the program to its end, and records what comes by where the total returns.")
    collect = ["total", "self.discount", GOODS, "total * (1 - self.discount)"]
    point = {"filename": str(SHOP), "line": line_of(SHOP, "total"), "collect": collect}
    end = await call(client, "dap_run", program=str(SHOP), breakpoints=[point], config=EVERYWHERE)
    rows = "\n".join(end.get("collected", ()))
    expect("total = 90.0" in rows, "the discount should be in the total already")
    say(
        "Found: of goods for 100.00, `total` is 90.00 before the line takes the discount off: it is in it already. "
        f"`Item.cost` does it for each item, and `Order.total` does it again in line {point['line']}. Return `total` there."
    )
