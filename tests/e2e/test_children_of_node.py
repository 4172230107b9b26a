"""Programs of other languages that a Node.js program starts are debugged as its children, where a breakpoint is in a file of theirs."""

import asyncio
import json
import socket
from pathlib import Path

import pytest

from dapeer.base.system.process_table import is_running
from tests.e2e.running import needs_ptrace
from tests.e2e.test_attach import needs_gdb
from tests.e2e.test_children_of_another_language import (
    AT_RETURN,
    TELLS,
    WORKER,
    built,
    strip,
)
from tests.harness import ask, client, has_all, needs, read
from tests.processes import LIMIT

pytestmark = pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="needs Linux")


@pytest.fixture(autouse=True)
def js_debug() -> None:
    """Skip each test where js-debug is not installed."""
    needs("js-debug")


STARTS = """
const { spawnSync } = require('child_process');
const { stdout, status } = spawnSync('./worker', ['21']);
console.log('worker', String(stdout).trim(), status, 'DAPEER_CHILDREN' in process.env, /stand_ins/.test(process.env.NODE_OPTIONS));
"""
COMPARES = r"""
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
const ways = {
  usual: {},
  environment: { env: { A: '1', PATH: '/usr/bin', B: 'é' } },
  folder: { cwd: 'below' },
  name: { argv0: 'me' },
  session: { detached: true },
  descriptors: { stdio: ['pipe', 'pipe', 'inherit', 'pipe', 'inherit'] },
};
const told = [];
const bare = (text) => String(text).replaceAll(resolve('bare'), resolve('tells'));
const ended = (child) => new Promise((done) => {
  let printed = '';
  child.stdout.on('data', (data) => (printed += data));
  child.on('close', (code, signal) => done([printed, code, signal, child.spawnfile, child.spawnargs]));
  child.stdin?.end('typed\n');
});
for (const [name, options] of Object.entries(ways)) {
  const sync = ['bare', 'tells'].map((each) => spawnSync(resolve(each), ['', 'ö z'], { input: 'typed\n', ...options }));
  const [one, other] = sync.map(({ stdout, status, signal }) => bare(JSON.stringify([String(stdout), status, signal])));
  const ran = await Promise.all(['bare', 'tells'].map((each) => ended(spawn(resolve(each), ['a b'], options))));
  const [first, second] = ran.map((each) => bare(JSON.stringify(each)));
  told.push([name, one === other && first === second, sync[1].status, ran[1][1]]);
  if (one !== other || first !== second) told.push([one, other, first, second]);
}
const worker = new Worker("const {spawnSync} = require('child_process'); require('worker_threads').parentPort.postMessage(spawnSync('./tells', {input: ''}).status)", { eval: true });
told.push(['worker', await new Promise((done) => worker.on('message', done))]);
told.push(['missing', spawnSync('./missing').error.code]);
const child = spawn('./tells');
setTimeout(() => child.kill('SIGTERM'), 100);
told.push(['killed', ...(await ended(child)).slice(1, 3)]);
writeFileSync('told', JSON.stringify(told));
"""


@needs_gdb
@needs_ptrace
async def test_a_native_child_of_node_stops_at_its_breakpoint(tmp_path: Path) -> None:
    built(tmp_path, "worker", WORKER)
    (tmp_path / "starts.js").write_text(STARTS)
    async with asyncio.timeout(2 * LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="starts.js", breakpoints=[AT_RETURN])
        assert (stop["parent"], stop["line"], stop["locals"]["n"]) == (2, 6, "21")
        assert has_all(await read(c, "dap_status"), "./worker 21 (gdb, child of 2)")
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        assert end["output"].strip() == "worker 42 7 true true"
        again = await ask(c, "dap_restart")
        assert (again["line"], again["locals"]["n"]) == (6, "21")
        pid = (await ask(c, "dap_status"))["sessions"][-1]["pid"]
        await ask(c, "dap_terminate", session_id=again["parent"] - 1)
        assert not is_running(pid)


@needs_gdb
@needs_ptrace
async def test_a_debugged_child_of_node_is_as_it_was_started(tmp_path: Path) -> None:
    built(tmp_path, "tells", TELLS)
    strip(tmp_path, "tells", "bare")
    (tmp_path / "below").mkdir()
    (tmp_path / "compares.mjs").write_text(COMPARES)
    at = {"filename": "tells.c", "line": 17, "condition": "argc == 99"}
    async with asyncio.timeout(3 * LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program="compares.mjs", breakpoints=[at], timeout_ms=90_000)
        assert end["exit_code"] == 0, end
        ways = ("usual", "environment", "folder", "name", "session", "descriptors")
        assert json.loads((tmp_path / "told").read_text()) == [
            *([each, True, 3, 3] for each in ways),
            ["worker", 3],
            ["missing", "ENOENT"],
            ["killed", None, "SIGTERM"],
        ]
        assert (await read(c, "dap_status")).count("(gdb, child of 2)") >= 13


async def test_nothing_changes_in_node_without_a_breakpoint_in_such_a_file(tmp_path: Path) -> None:
    built(tmp_path, "worker", WORKER)
    (tmp_path / "starts.js").write_text(STARTS)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program="starts.js")
        assert end["output"].strip() == "worker 42 7 false false"
