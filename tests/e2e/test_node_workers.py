"""Worker threads of Node.js: parts of the program, which run and stop whatever is debugged, and in any language."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import ask, client, evaluate, needs, read
from tests.processes import LIMIT

WORKER = """\
const { Worker, isMainThread, parentPort } = require("node:worker_threads");
if (isMainThread) {
  const w = new Worker(__filename);
  w.on("message", (m) => { console.log("worker:", m); w.terminate(); });
  w.postMessage("go");
} else {
  parentPort.on("message", (m) => {
    const answer = m + "!";
    parentPort.postMessage(answer);
  });
}
"""


@pytest.fixture(autouse=True)
def debugs_node() -> None:
    needs("js-debug")


async def test_a_worker_runs_where_child_processes_are_not_followed(tmp_path: Path) -> None:
    source = tmp_path / "w.js"
    source.write_text(WORKER)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", program=str(source), follow_children=False)
        assert said.startswith("Ended, exit code 0")
        assert "worker: go!" in said


@pytest.mark.parametrize("name", ["wö.js", "é日/w.js"])
async def test_a_worker_stops_whatever_letters_its_path_has(name: str, tmp_path: Path) -> None:
    source = tmp_path / name
    source.parent.mkdir(exist_ok=True)
    source.write_text(WORKER)
    condition = "answer !== 'ü😀'"
    point = {"filename": str(source), "line": 9, "condition": condition}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(source), breakpoints=[point])
        assert (stop["line"], stop["reason"]) == (9, "breakpoint")
        assert await evaluate(c, "answer + 'ü😀'") == "'go!ü😀'"
        assert "worker: go!" in await read(c, "dap_continue")
