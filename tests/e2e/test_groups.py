"""Several programs as one: each call for a group asks all that can answer, and equal answers fold."""

import asyncio
from pathlib import Path

from tests.e2e.running import free_port
from tests.harness import client, has_all, printed, read, refusal
from tests.processes import LIMIT
from tests.programs import tool

RANKS = """\
import os
rank = int(os.environ["RANK"])
x = 3 if rank < 3 else float("nan")
print(rank)
assert rank != 2
"""


async def test_ranks_are_a_group_whose_equal_answers_fold(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(RANKS, "utf-8")
    at = [{"filename": "train.py", "line": 4}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(
            c, "dap_run", program="train.py", processes=4, env={"RANK": "{i}"}, breakpoints=at
        )
        assert has_all(said, "Stopped (breakpoint) at train.py:4", "group train.py: ")
        for session in range(1, 5):
            await read(c, "dap_wait_until_paused", session_id=session)
        one = await read(c, "dap_evaluate", expressions=["x"], group="train.py")
        assert has_all(one, "x = 3 in 0\N{EN DASH}2; nan in 3")
        names = await read(c, "dap_variables", group="train.py")
        assert has_all(
            names,
            "rank: int = 0 in 0; 1 in 1; 2 in 2; 3 in 3",
            "x: int = 3 in 0\N{EN DASH}2; x: float = nan in 3",
        )
        assert (await read(c, "dap_stacktrace", group="train.py")).count("train.py:4") == 1
        assert "group train.py: 0\N{EN DASH}3 stopped" in await read(c, "dap_status")
        crashed = await read(c, "dap_continue", group="train.py")
        assert "AssertionError" in crashed
        for session in (1, 2, 4):
            assert "Ended" in await read(c, "dap_wait_until_paused", session_id=session)
        left = await read(c, "dap_evaluate", expressions=["rank"], group="train.py")
        assert has_all(left, "rank = 2", "not asked: 0, 1 and 3 ended")
        assert "Groups: train.py." in await refusal(c, "dap_pause", group="nowhere")
        both = await refusal(c, "dap_continue", group="train.py", session_id=1)
        assert "two ways to say who is meant" in both
        await read(c, "dap_terminate", group="train.py")


async def test_braces_mean_the_number_of_a_program_only_beside_processes(tmp_path: Path) -> None:
    (tmp_path / "names.py").write_text(
        "import os, sys\nprint(sys.argv[1:], os.environ['A'])\n", "utf-8"
    )
    given = {"program": "names.py", "args": ["{i}"], "env": {"A": "{i}{j}"}}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        assert "['{i}'] {i}{j}" in await read(c, "dap_run", **given)
        await read(c, "dap_run", processes=2, **given, wait_until_paused=False)
        for number, session in enumerate((2, 3)):
            assert f"['{number}'] {number}{{j}}" in await printed(c, "]", session_id=session)


async def test_the_processes_of_one_program_are_a_group(tmp_path: Path) -> None:
    code = (
        "import multiprocessing\n"
        "def work(n):\n"
        "    double = n * 2\n"
        "    return double\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(2) as pool:\n"
        "        pool.map(work, [1, 2], chunksize=1)\n"
    )
    (tmp_path / "pool.py").write_text(code, "utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = [{"filename": "pool.py", "line": 4}]
        assert "double = " in await read(c, "dap_run", program="pool.py", breakpoints=at)
        status = await read(c, "dap_status")
        assert "group pool.py:" in status, status
        answer = await read(c, "dap_evaluate", expressions=["double"], group="pool.py")
        assert has_all(answer, "double = ", "running")
        assert await read(c, "dap_terminate", group="pool.py") == "Ended."


CLUSTER = """
const cluster = require("node:cluster");
const http = require("node:http");
if (cluster.isPrimary) {
  for (let i = 0; i < 2; i++) cluster.fork();
} else {
  http.createServer((request, response) => {
    const path = request.url;
    response.end(path);
  }).listen(Number(process.argv[2]), "127.0.0.1");
}
"""


async def test_the_workers_of_nodes_cluster_are_a_group_that_answers_a_trigger(
    tmp_path: Path,
) -> None:
    tool("node", "nodejs")
    (tmp_path / "app.js").write_text(CLUSTER, "utf-8")
    port = free_port()
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        then = [{"request": f"GET http://127.0.0.1:{port}/cart"}]
        at = [{"filename": "app.js", "line": 9}]
        said = await read(
            c, "dap_run", program="app.js", args=[str(port)], breakpoints=at, then=then
        )
        assert has_all(said, "Stopped (breakpoint) at app.js:9", "path = '/cart'")
        one = await read(c, "dap_evaluate", expressions=["path"], group="app.js")
        assert has_all(one, "path = '/cart'", "not asked: ", "running")
        assert "→ 200" in await read(c, "dap_continue")
        assert await read(c, "dap_terminate", group="app.js") == "Ended."
