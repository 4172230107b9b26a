"""The delays of docs/delays.md: what others take as they come, and without the delay.

`uv run python -m tools.bench.delays` prints the tables, in milliseconds; both columns are measured in turn.
"""

import asyncio
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack
from pathlib import Path
from unittest import mock

from mcp import Client

from dapeer.adapters.process import children
from dapeer.dap.requests import NEEDS
from tests.harness import ask, client
from tests.programs import program
from tools.bench import adapter
from tools.bench.raw import raw_dap
from tools.bench.statistics import Measured, now, shuffled

STOCK, QUICK = "as it comes", "without the delay"
ROUNDS = 15
LONG = 2_000
"""Lines of a file with breakpoints."""
CALLS: Mapping[str, Mapping[str, object]] = {
    "dap_continue": {},
    "dap_step_over": {},
    "dap_evaluate": {"expression": "n"},
    "dap_snapshot": {},
}
BEHIND = ("a stop behind a line of output", "a stop behind 1,000 lines")
PRINTS = """for n in range(1000):
    pass
    print(*range(1000 if n % 2 else 1), sep="\\n")
"""
LOOP = "let n = 0;\nfor (;;) {\n  n = (n * 3) % 1009;\n  n += 1;\n}\n"


async def javascript(folder: Path) -> Measured:
    """Work in two programs of Node.js: one sends its inspector's messages at once."""
    loop = folder / "loop.js"
    loop.write_text(LOOP)
    measured = Measured()
    async with client(folder) as c:
        as_it_comes = mock.patch.object(children, "set_nodelay_between", return_value=0)
        sessions = await _both(c, loop, 3, as_it_comes)
        for _ in range(ROUNDS):
            for whose in shuffled(sessions):
                await _calls(c, measured, whose, sessions[whose])
    return measured


async def _both(
    c: Client, path: Path, line: int, as_it_comes: AbstractContextManager[object]
) -> Mapping[str, int]:
    """Run a program to a line twice, at first as it comes; return the numbers of the sessions."""
    at = [{"filename": str(path), "line": line}]
    with as_it_comes:
        slow = await ask(c, "dap_run", program=str(path), breakpoints=at)
    quick = await ask(c, "dap_run", program=str(path))
    return {STOCK: slow["session_id"], QUICK: quick["session_id"]}


async def _calls(c: Client, measured: Measured, whose: str, session: int) -> None:
    for tool, arguments in CALLS.items():
        began = now()
        await ask(c, tool, session_id=session, **arguments)
        measured.add_since(tool, whose, began)


async def output(folder: Path) -> Measured:
    """Continue to a breakpoint behind some output, in two programs: of one nobody tells when it is complete."""
    prints = folder / "prints.py"
    prints.write_text(PRINTS)
    measured = Measured()
    async with client(folder) as c:
        sessions = await _both(c, prints, 2, mock.patch.dict(NEEDS, dapeerDrain="nothing"))
        for turn in range(2 * ROUNDS):
            for whose in shuffled(sessions):
                began = now()
                await ask(c, "dap_continue", session_id=sessions[whose])
                measured.add_since(BEHIND[turn % 2], whose, began)
    return measured


async def breakpoints(folder: Path, numbers: Iterable[int]) -> Measured:
    """Set breakpoints in a long file of Python, by a bare client of DAP."""
    long = folder / "long.py"
    long.write_text("".join(f"value = {number}\n" for number in range(LONG)))
    steps, measured = program("bench_steps.py"), Measured()
    commands = {STOCK: adapter.STOCK, QUICK: adapter.quick()}
    async with AsyncExitStack() as stack:
        clients = {
            whose: await stack.enter_async_context(raw_dap(command))
            for whose, command in commands.items()
        }
        for dap in clients.values():
            await dap.start(adapter.launch(steps), str(steps), [steps.line("inner")])
        for number in numbers:
            for _ in range(max(1, min(ROUNDS, 100 // number))):
                for whose in shuffled(clients):
                    began = now()
                    await clients[whose].set_breakpoints(str(long), range(1, 1 + number))
                    measured.add_since(f"{number:,} breakpoints", whose, began)
    return measured


def table(measured: Measured, names: Iterable[str]) -> str:
    """Return the medians as a table in Markdown."""
    lines = [f"| | {STOCK} | {QUICK} | ratio |", "|---|---:|---:|---:|"]
    for name in names:
        slow, quick = (measured.of(name)[whose].median for whose in (STOCK, QUICK))
        lines.append(f"| {name} | {slow:.1f} | {quick:.1f} | {slow / quick:.1f} |")
    return "\n".join(lines)


async def main(numbers: tuple[int, ...] = (1, 10, 100, 1000)) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        node = table(await javascript(Path(folder)), CALLS)
        sys.stdout.write(f"JavaScript under js-debug\n\n{node}\n\n")
        stops = table(await output(Path(folder)), BEHIND)
        sys.stdout.write(f"Python: dap_continue\n\n{stops}\n\n")
        names = [f"{number:,} breakpoints" for number in numbers]
        set_there = table(await breakpoints(Path(folder), numbers), names)
        sys.stdout.write(f"A Python file of {LONG:,} lines\n\n{set_there}\n")


if __name__ == "__main__":
    asyncio.run(main())
