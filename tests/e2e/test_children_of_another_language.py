"""Native programs that a Python program starts are debugged as its children, where a breakpoint is in a file of theirs."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client

from dapeer.base.system.process_table import is_running
from dapeer.launch import other_languages
from tests.e2e.running import needs_ptrace
from tests.e2e.test_attach import needs_gdb
from tests.harness import ask, client, has_all, needs, read
from tests.processes import LIMIT
from tests.programs import tool

pytestmark = [needs_gdb, needs_ptrace]

WORKER = """
#include <stdio.h>
#include <stdlib.h>
static int twice(int n) {
  int doubled = n * 2;
  return doubled;
}
int main(int argc, char **argv) {
  printf("%d\\n", twice(atoi(argv[1])));
  return 7;
}
"""
AT_RETURN = {"filename": "worker.c", "line": 6}
STARTS = """
import os, subprocess
done = subprocess.run(["./worker", "21"], stdout=subprocess.PIPE)
print("worker", done.stdout, done.returncode, "DAPEER_CHILDREN" in os.environ)
"""
TELLS = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv) {
  char text[4096], *line;
  for (int n = 0; n < argc; n++) printf("argument %s\n", argv[n]);
  for (char **each = environ; *each; each++) printf("variable %s\n", *each);
  for (int n = 0; n < 64; n++) if (fcntl(n, F_GETFD) != -1) printf("descriptor %d\n", n);
  printf("folder %s mask %o leads %d\n", getcwd(text, sizeof text), umask(0), getsid(0) == getpid());
  FILE *status = fopen("/proc/self/status", "r");
  while ((line = fgets(text, sizeof text, status))) if (!strncmp(line, "Sig", 3) && line[3] != 'Q') fputs(line, stdout);
  while ((line = fgets(text, sizeof text, stdin))) printf("input %s", line);
  return 3;
}
"""
COMPARES = r"""
import os, subprocess
more, rest = os.pipe()
ways = {
    "usual": {},
    "environment": {"env": {"A": "1", "B": "x\udcff", "LC_ALL": "C"}},
    "folder": {"cwd": "below"},
    "descriptors": {"pass_fds": [more]},
    "signals": {"restore_signals": False},
    "session": {"start_new_session": True},
    "all descriptors": {"close_fds": False},
}
for name, options in ways.items():
    told = [
        subprocess.run(["me", "", "\udcfe z"], executable=os.path.abspath(each), input=b"typed\n", stdout=subprocess.PIPE, **options)
        for each in ("bare", "tells")
    ]
    equal = told[0].stdout == told[1].stdout and told[1].stdout.endswith(b"input typed\n")
    print(name, equal, *(each.returncode for each in told))
    for each in set(told[0].stdout.splitlines()) ^ set(told[1].stdout.splitlines()):
        print("different:", each)
"""


def built(folder: Path, name: str, text: str) -> None:
    """Compile a C program with debug information."""
    (folder / f"{name}.c").write_text(text)
    subprocess.run([tool("gcc"), "-g", "-O0", "-o", name, f"{name}.c"], cwd=folder, check=True)


def strip(folder: Path, name: str, bare: str) -> None:
    """Copy a program without its debug information."""
    subprocess.run([tool("strip", "binutils"), "-o", bare, name], cwd=folder, check=True)


async def test_a_native_child_of_python_stops_at_its_breakpoint(tmp_path: Path) -> None:
    built(tmp_path, "worker", WORKER)
    (tmp_path / "starts.py").write_text(STARTS)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="starts.py", breakpoints=[AT_RETURN])
        assert (stop["parent"], stop["line"], stop["function"]) == (1, 6, "twice")
        assert stop["locals"] == {"doubled": "42", "n": "21"}
        assert has_all(
            await read(c, "dap_status"), "./worker 21 (gdb, child of 1)", "group starts.py"
        )
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"], end["session_id"]) == ("ended", 0, 1)
        assert end["output"].strip() == r"worker b'42\n' 7 True"
        again = await ask(c, "dap_restart")
        assert (again["parent"], again["line"]) == (3, 6)


async def test_a_child_for_which_no_debugger_comes_in_time_runs_on_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_languages, "SECONDS_TO_ATTACH", 0.01)
    built(tmp_path, "worker", WORKER)
    (tmp_path / "starts.py").write_text(STARTS)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", program="starts.py", breakpoints=[AT_RETURN])
        assert has_all(said, r"worker b'42\n' 7 True", "exit code 0")
        assert has_all(said, "`./worker 21` ran undebugged: no debugger came within 0.01 s")
        assert 'dap_run(request="attach", pid=' in said
        status = await ask(c, "dap_status")
        assert [each["session_id"] for each in status["sessions"]] == [1]


async def test_lldb_debugs_a_native_child_in_a_language_that_gdb_does_not(tmp_path: Path) -> None:
    needs("lldb-dap")
    # A file of Objective-C, of which that is all.
    (tmp_path / "worker.m").write_text(WORKER)
    compile_it = [tool("gcc"), "-x", "c", "-g", "-o", "worker", "worker.m"]
    await asyncio.to_thread(subprocess.run, compile_it, cwd=tmp_path, check=True)
    (tmp_path / "starts.py").write_text(STARTS)
    at = {"filename": "worker.m", "line": 6}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="starts.py", breakpoints=[at])
        assert (stop["parent"], stop["line"], stop["locals"]["n"]) == (1, 6, "21")
        assert "output" not in stop
        assert "./worker 21 (lldb-dap, child of 1)" in await read(c, "dap_status")
        end = await ask(c, "dap_continue")
        assert (end["state"], end["session_id"]) == ("ended", 1)
        assert end["output"].strip() == r"worker b'42\n' 7 True"


WAITS_C = """
#include <unistd.h>
int main(void) {
  int n = 0;
  while (n < 6000) {
    usleep(10000);
    n++;
  }
  return 0;
}
"""
WAITS_PY = "import time\nn = 0\nwhile n < 6000:\n    time.sleep(0.01)\n    n += 1\n"
WAITS_JS = "let n = 0;\nsetInterval(() => {\n  n++;\n}, 10);\n"
SAYS = "runs undebugged, and a breakpoint is in a file of its language; "


async def named(c: Client, program: str, *at: object) -> str:
    """Run a program that starts others and waits for them; return the answer that it runs."""
    return await read(c, "dap_run", program=program, breakpoints=[*at], timeout_ms=5_000)


async def test_a_child_of_a_shell_is_named_once_with_the_call_that_attaches(tmp_path: Path) -> None:
    built(tmp_path, "waits", WAITS_C)
    shell = "import subprocess\nsubprocess.run(['sh', '-c', './waits; true'])\n"
    (tmp_path / "shell.py").write_text(shell)
    at = {"filename": "waits.c", "line": 6}
    async with asyncio.timeout(2 * LIMIT), client(tmp_path) as c:
        told = await named(c, "shell.py", at)
        found = re.search(rf"process (\d+) `./waits` {SAYS}(dap_run\(.*\)) attaches", told)
        assert found, told
        pid = int(found[1])
        assert found[2] == f'dap_run(request="attach", pid={pid})'
        assert told.count("runs undebugged") == 1
        assert "runs undebugged" not in await read(c, "dap_wait_until_paused", timeout_ms=100)
        stop = await ask(c, "dap_run", request="attach", pid=pid, timeout_ms=60_000)
        assert (stop["state"], stop["line"]) == ("stopped", 6)


async def test_a_program_that_has_become_another_one_is_named(tmp_path: Path) -> None:
    built(tmp_path, "waits", WAITS_C)
    (tmp_path / "becomes.py").write_text("import os\nos.execv('./waits', ['waits'])\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        told = await named(c, "becomes.py", "waits.c:6")
        assert re.search(
            rf"process (\d+) `waits` {SAYS}dap_run\(request=\"attach\", pid=\1\)", told
        )


async def test_children_of_shells_of_node_are_named(tmp_path: Path) -> None:
    needs("js-debug")
    built(tmp_path, "waits", WAITS_C)
    (tmp_path / "waits.py").write_text(WAITS_PY)
    starts = "const { exec } = require('child_process');\n"
    starts += f"exec('{sys.executable} waits.py; true');\nexec('./waits; true');\n"
    (tmp_path / "starts.js").write_text(starts)
    async with asyncio.timeout(2 * LIMIT), client(tmp_path) as c:
        told = await named(c, "starts.js", "waits.py:5", "waits.c:6")
        assert re.search(
            rf"process (\d+) `\S+ waits.py` {SAYS}dap_run\(request=\"attach\", pid=\1\)", told
        )
        assert re.search(
            rf"process (\d+) `./waits` {SAYS}dap_run\(request=\"attach\", pid=\1\)", told
        )


async def test_a_debugged_child_is_as_it_was_started(tmp_path: Path) -> None:
    built(tmp_path, "tells", TELLS)
    strip(tmp_path, "tells", "bare")
    (tmp_path / "below").mkdir()
    (tmp_path / "compares.py").write_text(COMPARES)
    at = {"filename": "tells.c", "line": 17, "condition": "argc == 99"}
    async with asyncio.timeout(2 * LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program="compares.py", breakpoints=[at], timeout_ms=90_000)
        lines = end["output"].strip().splitlines()
        assert [each.split()[-3:] for each in lines] == [["True", "3", "3"]] * 7, lines
        names = [each["name"] for each in (await ask(c, "dap_status"))["sessions"]]
        assert names == ["compares.py", *["me  \N{REPLACEMENT CHARACTER} z"] * 7]


async def test_nothing_changes_without_a_breakpoint_in_such_a_file(tmp_path: Path) -> None:
    built(tmp_path, "worker", WORKER)
    (tmp_path / "starts.py").write_text(STARTS)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program="starts.py")
        assert end["output"].strip() == r"worker b'42\n' 7 False"
        at = [{"filename": "starts.py", "line": 4}]
        stop = await ask(c, "dap_run", program="starts.py", breakpoints=at)
        assert (stop["line"], stop["session_id"]) == (4, 2)


async def test_follow_children_switches_it_off(tmp_path: Path) -> None:
    built(tmp_path, "worker", WORKER)
    (tmp_path / "starts.py").write_text(STARTS)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(
            c, "dap_run", program="starts.py", breakpoints=[AT_RETURN], follow_children=False
        )
        assert (end["state"], end["output"].strip()) == ("ended", r"worker b'42\n' 7 False")


async def test_a_stopped_child_ends_with_its_program(tmp_path: Path) -> None:
    built(tmp_path, "worker", WORKER)
    (tmp_path / "starts.py").write_text(STARTS)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="starts.py", breakpoints=[AT_RETURN])
        pid = (await ask(c, "dap_status"))["sessions"][1]["pid"]
        await ask(c, "dap_terminate", session_id=1)
        assert stop["session_id"] == 2
        assert not is_running(pid)
