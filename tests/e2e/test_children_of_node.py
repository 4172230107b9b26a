"""Programs of other languages that a Node.js program starts are debugged as its children, where a breakpoint is in a file of theirs."""

import asyncio
import json
import socket
import sys
from pathlib import Path

import pytest

from dapeer.base.system.process_table import is_running
from dapeer.launch import other_languages
from tests.e2e.running import needs_ptrace
from tests.e2e.test_attach import needs_gdb
from tests.e2e.test_children_of_another_language import (
    AT_RETURN,
    TELLS,
    WORKER,
    built,
    strip,
)
from tests.harness import ask, client, evaluate, has_all, needs, read
from tests.processes import LIMIT

pytestmark = pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="needs Linux")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let children wait for their debugger as long as a busy machine takes; skip where js-debug is not installed."""
    needs("js-debug")
    monkeypatch.setattr(other_languages, "SECONDS_TO_ATTACH", LIMIT)


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


PYTHON_CHILD = """
import sys
n = int(sys.argv[1])
doubled = n * 2
print(doubled)
sys.exit(7)
"""
STARTS_PYTHON = f"""
const {{ spawnSync }} = require('child_process');
const {{ stdout, status }} = spawnSync({sys.executable!r}, ['child.py', '21']);
console.log('child', String(stdout).trim(), status);
"""
TELLS_PYTHON = f"""#!{sys.executable} -B
import json, os, signal, sys
ours = ("PYDEVD_", "DEBUGPY_", "_")
print(json.dumps([
    __name__, sys.argv, sys.orig_argv, repr(sys.flags), sys.path, sys.warnoptions, os.getcwd(), sys.stdin.read(), sys.stdout.encoding,
    sorted(each for each in os.environ.items() if not each[0].startswith(ours)), globals().get("__file__"), os.getsid(0) == os.getpid(),
    [signal.getsignal(each).__repr__() for each in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM)], sys.executable, sys.prefix,
]))
sys.stdout.flush()
if sys.argv[-1] == "dies":
    os.kill(os.getpid(), signal.SIGTERM)
sys.exit(3)
"""
COMPARES_PYTHON = f"""
const {{ execFileSync, spawnSync }} = require('child_process');
const {{ writeFileSync }} = require('fs');
const python = {sys.executable!r};
const code = "exec(compile(open('tells.py').read(), 'tells.py', 'exec'))";
const ways = {{
  file: [[python, 'tells.py', '', 'ö z']],
  options: [[python, '-u', '-W', 'error', '-X', 'utf8', 'tells.py', '-m', 'x']],
  isolated: [[python, '-I', '-s', 'tells.py', '-c']],
  module: [[python, '-u', '-m', 'tells', 'a']],
  code: [[python, '-c', code, 'b']],
  environment: [[python, 'tells.py'], {{ env: {{ A: '1', PATH: '/usr/bin', PYTHONPATH: '/x', PYTHONDONTWRITEBYTECODE: '1' }} }}],
  folder: [[python, '../tells.py'], {{ cwd: 'below' }}],
  script: [['./tells.py', 'c']],
  'script elsewhere': [['../tells.py', 'd'], {{ cwd: 'below' }}],
  session: [[python, 'tells.py'], {{ detached: true }}],
  dies: [[python, 'tells.py', 'dies']],
  'code from stdin': [[python, '-'], {{ input: 'print(6 * 7)' }}],
  version: [[python, '--version']],
  'missing file': [[python, 'missing.py']],
}};
const told = [];
for (const [name, [[file, ...args], options]] of Object.entries(ways)) {{
  const said = [[file, args], ['/bin/sh', ['-c', 'exec "$@"', 'sh', file, ...args]]].map(([one, rest]) => {{
    const {{ stdout, stderr, status, signal }} = spawnSync(one, rest, {{ input: 'typed', ...options }});
    // A shell sets these.
    return JSON.stringify([String(stdout).replace(/ ?\\["(PWD|OLDPWD|SHLVL)", "[^"]*"\\],?/g, ''), String(stderr), status, signal]);
  }});
  told.push([name, said[0] === said[1], ...JSON.parse(said[0]).slice(2), ...(said[0] === said[1] ? [] : said)]);
}}
writeFileSync('told', JSON.stringify(told));
"""


async def test_a_python_child_of_node_stops_at_its_breakpoint(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(PYTHON_CHILD)
    (tmp_path / "starts.js").write_text(STARTS_PYTHON)
    at = {"filename": "child.py", "line": 5}
    async with asyncio.timeout(2 * LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="starts.js", breakpoints=[at])
        assert (stop["parent"], stop["line"], stop["locals"]["doubled"]) == (2, 5, "42")
        assert "child.py 21 (debugpy, child of 2)" in await read(c, "dap_status")
        assert await evaluate(c, "n + 1") == "22"
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        assert end["output"].strip() == "child 42 7"
        again = await ask(c, "dap_restart")
        assert (again["line"], again["locals"]["n"]) == (5, "21")
        pid = (await ask(c, "dap_status"))["sessions"][-1]["pid"]
        await ask(c, "dap_terminate", session_id=again["parent"] - 1)
        assert not is_running(pid)


async def test_a_python_child_for_which_no_debugger_comes_in_time_runs_on_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_languages, "SECONDS_TO_ATTACH", 0.01)
    (tmp_path / "child.py").write_text(PYTHON_CHILD)
    (tmp_path / "starts.js").write_text(STARTS_PYTHON)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", program="starts.js", breakpoints=["child.py:5"])
        assert has_all(said, "child 42 7", "exit code 0", "no child of that language was debugged")
        assert has_all(said, "child.py 21` ran undebugged: no debugger came within 0.01 s")
        assert 'dap_run(request="attach", pid=' in said


async def test_a_debugged_python_child_of_node_is_as_it_was_started(tmp_path: Path) -> None:
    (tmp_path / "tells.py").write_text(TELLS_PYTHON)
    (tmp_path / "tells.py").chmod(0o755)
    (tmp_path / "below").mkdir()
    (tmp_path / "compares.js").write_text(COMPARES_PYTHON)
    at = {"filename": "tells.py", "line": 10, "condition": "len(sys.argv) == 99"}
    async with asyncio.timeout(3 * LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program="compares.js", breakpoints=[at], timeout_ms=90_000)
        assert end["exit_code"] == 0, end
        told = json.loads((tmp_path / "told").read_text())
        assert [each[:2] for each in told if not each[1]] == [], told
        assert [each[2:] for each in told[:10]] == [[3, None]] * 10
        assert [each[2:] for each in told[10:]] == [
            [None, "SIGTERM"],
            [0, None],
            [0, None],
            [2, None],
        ]
        assert (await read(c, "dap_status")).count("(debugpy, child of 2)") >= 11


@needs_gdb
@needs_ptrace
async def test_a_pipeline_of_three_languages_stops_in_each_of_its_processes(tmp_path: Path) -> None:
    built(tmp_path, "worker", WORKER)
    (tmp_path / "leaf.py").write_text("import os\nx = 5\nprint('leaf', x)\n")
    (tmp_path / "middle.js").write_text(
        f"const {{ spawnSync }} = require('child_process');\n"
        f"const said = spawnSync({sys.executable!r}, ['leaf.py']).stdout;\n"
        "console.log(String(said) + spawnSync('./worker', ['4']).stdout);\n"
    )
    (tmp_path / "top.py").write_text(
        "import subprocess\nprint(subprocess.run(['node', 'middle.js'], stdout=-1).stdout.split())\n"
    )
    points = ["leaf.py:3", "middle.js:2", "worker.c:6"]
    async with asyncio.timeout(2 * LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", program="top.py", breakpoints=points)
        assert has_all(said, "at middle.js:2", "Pending: worker.c:6 (no child of that language")
        leaf = await ask(c, "dap_continue")
        assert (leaf["line"], leaf["locals"]["x"], leaf["parent"]) == (3, "5", 3)
        worker = await ask(c, "dap_continue")
        assert (worker["line"], worker["locals"]["n"], worker["parent"]) == (6, "4", 3)
        end = await ask(c, "dap_continue")
        assert "[b'leaf', b'5', b'8']" in end["output"]
        assert (end["state"], end["exit_code"]) == ("ended", 0)
