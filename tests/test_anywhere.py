"""Started where something is missing, dapeer works, or says in one sentence what it needs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mcp.wire import call, opening, request
from tests.processes import LIMIT
from tests.programs import ROOT

DAPEER = f"{sys.executable} -m dapeer"
SERVE = f"exec {DAPEER} serve --with-stdin"
STDIO = f"exec {DAPEER} stdio --no-bridge --nvim none"


def sh(script: str, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the shell to its end."""
    return subprocess.run(
        ["sh", "-c", script],
        input=given,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


def isolated(setup: str, *options: str) -> str:
    """Return a command that runs `stdio` in namespaces of its own, after some setup."""
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, *options, "true"], check=False).returncode:
        pytest.skip("needs namespaces: run as root on Linux, with unshare (util-linux)")
    return f"unshare {' '.join(options)} sh -c '{setup} {STDIO}'"


@pytest.fixture(autouse=True)
def _folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("DAPEER_TOKEN", raising=False)


WORKS: tuple[tuple[str, dict[str, str], str], ...] = (
    (SERVE, {"XDG_RUNTIME_DIR": "/dev/null"}, "other clients of this project do not find"),
    (SERVE, {"HOME": "/dev/null"}, "clients must show the token"),
    (f"{SERVE} --no-auth", {}, "without a token, every user of this machine can run programs here"),
    (f"{SERVE} 2>&-", {}, ""),
    (f"{SERVE} 2>/dev/full", {}, ""),
    (f"{SERVE} --log-file /dev/full --log-level info", {}, "cannot log to /dev/full"),
    (SERVE, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "the token"),
)


@pytest.mark.parametrize(("script", "environment", "words"), WORKS)
def test_a_server_starts_where_something_is_missing(
    script: str, environment: dict[str, str], words: str
) -> None:
    done = sh(script, **environment)
    assert done.returncode == 0
    assert done.stdout.startswith("MCP server listening on port ")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


NO_STATE = {"XDG_STATE_HOME": "/dev/null"}
SENTENCES: tuple[tuple[str, dict[str, str], str], ...] = (
    (SERVE, NO_STATE, "Cannot keep a token in /dev/null/dapeer: Not a directory. Give one in $"),
    (f"{SERVE} --no-auth >/dev/full", {}, "Cannot write to standard output: No space left on"),
    (
        f"{STDIO} >/dev/full",
        {},
        "The operating system reports: No space left on device. Make room there.",
    ),
    (f"mkdir gone; cd gone; rmdir ../gone; {SERVE}", {}, "The folder in which dapeer was started"),
    (f"mkdir gone; cd gone; rmdir ../gone; {DAPEER} stdio", {}, "The folder in which dapeer was"),
)


@pytest.mark.parametrize(("script", "environment", "words"), SENTENCES)
def test_what_a_server_cannot_do_without_is_told_in_one_sentence(
    script: str, environment: dict[str, str], words: str, tmp_path: Path
) -> None:
    given = json.dumps(request("initialize", 1, **opening("2025-11-25"))) + "\n"
    script = script.replace("gone", f"{tmp_path}/gone").replace("../", "")
    done = sh(script, given, **environment)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"dapeer: {words}")
    assert "Traceback" not in done.stderr


def test_a_client_that_is_not_there_is_no_mistake() -> None:
    done = sh(f"{STDIO} <&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def started(script: str) -> str:
    """Run `stdio` and return what it answers to a start."""
    messages = (
        request("initialize", 1, **opening("2025-11-25")),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        call(2, "dap_run", code="print(1)"),
    )
    process = subprocess.Popen(
        ["sh", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    with process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write("".join(f"{json.dumps(message)}\n" for message in messages))
        process.stdin.flush()
        answers = map(json.loads, process.stdout)
        answer = next(answer for answer in answers if answer.get("id") == 2)
        process.stdin.close()
        assert "Traceback" not in process.stderr.read()
    return answer["result"]["content"][0]["text"]


def test_without_a_loopback_interface_a_start_says_so_at_once() -> None:
    told = started(isolated("", "-n"))
    assert told.startswith("Python (debugpy) needs the loopback interface, which is down here.")


def test_without_a_temporary_folder_a_start_says_so_at_once() -> None:
    mounts = "".join(
        f"mount --bind {each} {each} && mount -o remount,ro,bind {each}; "
        for each in ("/tmp", "/var/tmp")
    )
    told = started(isolated(f"{mounts} cd /proc; unset TMPDIR;", "-m", "--propagation", "private"))
    assert told.startswith("No temporary folder is writable: ")


def test_without_file_descriptors_a_start_says_so() -> None:
    told = started(f"ulimit -n 16; {STDIO}")
    assert told.startswith("The operating system reports: Too many open files")
    assert "ulimit -n" in told


def test_on_a_full_disk_a_server_says_so_and_leaves_no_half_token(tmp_path: Path) -> None:
    mounted = f"mount -t tmpfs -o size=4k none {tmp_path}; "
    filled = f"head -c 9000 /dev/zero >{tmp_path}/much 2>/dev/null; "
    command = isolated(mounted + filled, "-m", "--propagation", "private")
    done = sh(command.replace(STDIO, f"{DAPEER} serve; find {tmp_path} -name token*"))
    assert done.stderr.startswith(f"dapeer: Cannot keep a token in {tmp_path}/state/dapeer: No sp")
    assert done.stdout == ""
