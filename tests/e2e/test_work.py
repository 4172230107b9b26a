"""How much work a call is beside much of something: counted in calls of Python functions, so no clock is read."""

import asyncio
import sys
from collections import Counter
from pathlib import Path

from mcp.client import Client

from tests.harness import ask, client
from tests.processes import LIMIT
from tests.programs import Program

MANY = 400


async def work(c: Client, tool: str) -> int:
    """Return how many calls of functions a call of a tool takes, in this process: the least of three."""
    counts: list[Counter[str]] = []
    for _ in range(3):
        counts.append(Counter())
        sys.setprofile(lambda _frame, event, _argument: counts[-1].update((event,)))
        try:
            await c.call_tool(tool, {})
        finally:
            sys.setprofile(None)
    return min(count["call"] for count in counts)


async def test_a_look_is_no_more_work_beside_many_breakpoints(tmp_path: Path) -> None:
    path = tmp_path / "many.py"
    never = [f"    never = {each}" for each in range(MANY)]
    path.write_text("\n".join(["here = 1  # @here", "if not here:", *never, ""]), "utf-8")
    p = Program(path, path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("here")])
        before = await work(c, "dap_snapshot")
        lines = list(range(4, MANY + 3))
        await ask(c, "dap_set_breakpoint", filename=str(p), line=3, more_lines=lines)
        assert await work(c, "dap_snapshot") < 1.1 * before
