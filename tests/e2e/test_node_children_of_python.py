"""Node.js programs that a Python program starts are debugged as its children, where a breakpoint is in a file of theirs."""

import asyncio
import socket
from pathlib import Path

import pytest

from dapeer.base.system.process_table import is_running
from dapeer.launch import other_languages
from tests.e2e.test_children_of_another_language import WAITS_JS, named
from tests.harness import ask, client, evaluate, has_all, needs, read
from tests.processes import LIMIT

pytestmark = pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="needs Linux")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let children wait for their debugger as long as a busy machine takes; skip where js-debug is not installed."""
    needs("js-debug")
    monkeypatch.setattr(other_languages, "SECONDS_TO_ATTACH", LIMIT)


CHILD = """
const n = Number(process.argv[2]);
const doubled = n * 2;
console.log(doubled);
process.exitCode = 7;
"""
AT_PRINT = {"filename": "child.js", "line": 4}
STARTS = """
import os, subprocess
done = subprocess.run(["node", "child.js", "21"], stdout=subprocess.PIPE)
print("child", done.stdout, done.returncode, "DAPEER_CHILDREN" in os.environ)
"""
TELLS = """#!/usr/bin/env node
const { NODE_OPTIONS, VSCODE_INSPECTOR_OPTIONS, DAPEER_CHILDREN, ...env } = process.env;
const typed = require('fs').readFileSync(0, 'latin1');
const rest = NODE_OPTIONS?.replace(/--require \\S+(bootloader\\.js|stand_ins\\.cjs")|--inspect-publish-uid=\\S*/g, '').trim();
console.log(JSON.stringify([process.argv.slice(1), process.execArgv, process.cwd(), env, typed, process.ppid, rest]));
process.exitCode = 3;
if (process.argv[2] === 'dies') process.kill(process.pid, 'SIGTERM'), setTimeout(() => {}, 60000);
"""
COMPARES = """
import asyncio, functools, json, os, subprocess, sys
print = functools.partial(print, file=open('told', 'w'), flush=True)
ways = {
    "usual": {},
    "environment": {"env": {"A": "1", "PATH": os.environ["PATH"], "NODE_OPTIONS": "--stack-trace-limit=7"}},
    "folder": {"cwd": "below"},
    "session": {"start_new_session": True},
    "signals": {"restore_signals": False},
}
def told(command, **options):
    done = subprocess.run(command, input=b"typed\\n", stdout=subprocess.PIPE, **options)
    argv, exec_argv, cwd, env, typed, ppid, rest = json.loads(done.stdout)
    assert not set(env) - {*(options.get("env") or os.environ), "PWD", "SHLVL", "_"}, env
    print(name, os.path.relpath(argv[0]), argv[1:], exec_argv, os.path.relpath(cwd), typed, ppid == os.getpid(), rest, done.returncode)
for name, options in ways.items():
    told(["node", "--stack-size=900", os.path.abspath("tells.js"), "", "é z"], **options)
name = "script"
told(["./tells.js", "a"])
told(["../tells.js", "b"], cwd="below")
told(["./tells.js", "dies"])
async def starts():
    process = await asyncio.create_subprocess_exec("./tells.js", "async", stdin=-3, stdout=-1)
    said, _ = await process.communicate()
    print("asyncio", json.loads(said)[0][1:], process.returncode)
asyncio.run(starts())
done = subprocess.run(["node", "-e", "process.exit(5)"])
print("code", done.returncode)
print("ends at once", subprocess.run(["node", "--version"], stdout=-3).returncode)
"""
EXPECTED = """\
usual tells.js ['', 'é z'] ['--stack-size=900'] . typed
 True  3
environment tells.js ['', 'é z'] ['--stack-size=900'] . typed
 True --stack-trace-limit=7 3
folder tells.js ['', 'é z'] ['--stack-size=900'] below typed
 True  3
session tells.js ['', 'é z'] ['--stack-size=900'] . typed
 True  3
signals tells.js ['', 'é z'] ['--stack-size=900'] . typed
 True  3
script tells.js ['a'] [] . typed
 True  3
script tells.js ['b'] [] below typed
 True  3
script tells.js ['dies'] [] . typed
 True  -15
asyncio ['async'] 3
code 5
ends at once 0
"""


async def test_a_node_child_of_python_stops_at_its_breakpoint(tmp_path: Path) -> None:
    (tmp_path / "child.js").write_text(CHILD)
    (tmp_path / "starts.py").write_text(STARTS)
    async with asyncio.timeout(2 * LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", program="starts.py", breakpoints=[AT_PRINT])
        assert has_all(said, "child.js:4", "doubled = 42", "n = 21")
        assert "undebugged" not in said
        assert has_all(
            await read(c, "dap_status"),
            "node child.js 21 (js-debug, child of 1)",
            "group starts.py",
        )
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"], end["session_id"]) == ("ended", 0, 1)
        assert r"child b'42\n' 7 True" in end["output"]
        assert "runs on" not in end.get("note", "")
        again = await ask(c, "dap_restart")
        assert (again["line"], again["locals"]["n"]) == (4, "21")


async def test_a_node_child_for_which_no_debugger_comes_in_time_runs_on_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_languages, "SECONDS_TO_ATTACH", 0.01)
    (tmp_path / "child.js").write_text(CHILD)
    (tmp_path / "starts.py").write_text(STARTS)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", program="starts.py", breakpoints=[AT_PRINT])
        assert has_all(said, r"child b'42\n' 7", "exit code 0")
        assert has_all(said, "`node child.js 21` ran undebugged: no debugger came within 0.01 s")
        assert 'makes it listen, then dap_run(request="attach", port=9229)' in said


async def test_a_node_child_that_is_debugged_is_as_it_was_started(tmp_path: Path) -> None:
    (tmp_path / "tells.js").write_text(TELLS)
    (tmp_path / "tells.js").chmod(0o755)
    (tmp_path / "below").mkdir()
    (tmp_path / "compares.py").write_text(COMPARES)
    at = {"filename": "tells.js", "line": 5, "condition": "process.argv.length === 99"}
    async with asyncio.timeout(3 * LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program="compares.py", breakpoints=[at], timeout_ms=90_000)
        assert (tmp_path / "told").read_text() == EXPECTED
        assert end["exit_code"] == 0
        names = [each["name"] for each in (await ask(c, "dap_status"))["sessions"]]
        assert sum("tells.js" in each for each in names) >= 9


async def test_a_node_child_for_which_nothing_waits_is_untouched(tmp_path: Path) -> None:
    (tmp_path / "child.js").write_text(CHILD)
    (tmp_path / "starts.py").write_text(STARTS)
    at = [{"filename": "starts.py", "line": 4}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="starts.py", breakpoints=at)
        assert (stop["line"], stop["locals"]["done"][-8:]) == (4, r"b'42\n')")
        status = await ask(c, "dap_status")
        assert [each["session_id"] for each in status["sessions"]] == [1]


async def test_a_node_child_ends_with_its_program(tmp_path: Path) -> None:
    (tmp_path / "waits.js").write_text(WAITS_JS)
    (tmp_path / "starts.py").write_text("import subprocess\nsubprocess.run(['node', 'waits.js'])\n")
    async with asyncio.timeout(2 * LIMIT), client(tmp_path) as c:
        at = [{"filename": "waits.js", "line": 3}]
        stop = await ask(c, "dap_run", program="starts.py", breakpoints=at)
        pid = int(await evaluate(c, "process.pid"))
        assert stop["line"] == 3
        await ask(c, "dap_terminate", session_id=1)
        assert not is_running(pid)
        status = await ask(c, "dap_status")
        assert {each["state"] for each in status["sessions"]} == {"ended"}


async def test_a_node_child_of_a_shell_is_named_with_the_calls_that_attach(tmp_path: Path) -> None:
    (tmp_path / "waits.js").write_text(WAITS_JS)
    (tmp_path / "starts.py").write_text("import os\nos.system('node waits.js; true')\n")
    async with asyncio.timeout(2 * LIMIT), client(tmp_path) as c:
        told = await named(c, "starts.py", "waits.js:3")
        assert has_all(told, "`node waits.js` runs undebugged", "makes it listen, then dap_run(")
