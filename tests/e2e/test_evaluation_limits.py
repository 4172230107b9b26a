"""Evaluations that never end: they are cut off, and the program goes on as if nobody had looked."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import ask, client, read, refusal
from tests.processes import LIMIT

TASKS = """\
import asyncio, threading
async def slow(n):
    await asyncio.sleep(0.01)
    return n * 2
async def main():
    task = asyncio.create_task(slow(4))
    gate = asyncio.Event()
    await asyncio.sleep(0)
    here = 1
    result = await task
    asyncio.get_running_loop().call_soon(gate.set)
    await gate.wait()
    return result + here
print("result", asyncio.run(main()))
"""
HANDLERS = """\
import signal, threading
ended = []
for each in (signal.SIGINT, signal.SIGTERM):
    signal.signal(each, lambda *_: ended.append(1))
def main():
    here = 1
    return here + 8 if not ended else ended
print("result", main())
"""


def written(folder: Path, text: str) -> str:
    """Return the path of a program."""
    path = folder / "limited.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("text", "line"), [(TASKS, 10), (HANDLERS, 7)])
@pytest.mark.parametrize("endless", ["threading.Event().wait()", "[0 for _ in iter(int, 1)]"])
async def test_an_evaluation_that_is_cut_off_leaves_the_program_as_it_was(
    tmp_path: Path, text: str, line: int, endless: str
) -> None:
    path = written(tmp_path, text)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=path, breakpoints=[{"filename": path, "line": line}])
        assert "EvaluationTimeout: cut off" in await refusal(c, "dap_evaluate", expression=endless)
        assert (await read(c, "dap_evaluate", expression="here")).startswith("  1\n")
        assert "Ended, exit code 0\nOutput:\n  result 9" in await read(c, "dap_continue")


@pytest.mark.parametrize("awaited", ["gate.wait()", "task"])
async def test_an_await_of_the_programs_own_loop_costs_its_answer_alone(
    tmp_path: Path, awaited: str
) -> None:
    path = written(tmp_path, TASKS)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=path, breakpoints=[{"filename": path, "line": 10}])
        answer = await refusal(c, "dap_evaluate", expression=f"await {awaited}")
        assert "it waits for the program's event loop, which is stopped" in answer
        assert (await read(c, "dap_evaluate", expression="await slow(3)")).startswith("  6\n")
        assert (await ask(c, "dap_step_over"))["line"] == 11
        assert "Ended, exit code 0\nOutput:\n  result 9" in await read(c, "dap_continue")
