"""Started where something is missing, dapeer works, or says in one sentence what it needs."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dapeer.adapters.definition.definition import load_all
from dapeer.base.system import folder_names
from dapeer.base.system.process_table import thread_ids
from tests.mcp.wire import call, opening, request
from tests.ordinary_user import without_root_rights
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
    (f"mkdir gone; cd gone; rmdir ../gone; {DAPEER} status", {}, "The folder in which dapeer was"),
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


def started(script: str, **arguments: object) -> str:
    """Run `stdio` and return what it answers to a start, with these arguments besides; where it cannot serve, what it says."""
    messages = (
        request("initialize", 1, **opening("2025-11-25")),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        call(2, "dap_run", **({} if "program" in arguments else {"code": "print(1)"}) | arguments),
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
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write("".join(f"{json.dumps(message)}\n" for message in messages))
            process.stdin.flush()
        answers = map(json.loads, process.stdout)
        answer = next((answer for answer in answers if answer.get("id") == 2), None)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        said = process.stderr.read()
        assert "Traceback" not in said
    return answer["result"]["content"][0]["text"] if answer else said


def test_without_a_loopback_interface_a_start_says_so_at_once() -> None:
    told = started(isolated("", "-n"))
    assert told.startswith("Python (debugpy) needs the loopback interface, which is down here.")


def test_without_the_usual_address_of_loopback_a_start_names_it() -> None:
    if shutil.which("ip") is None:
        pytest.skip("needs ip: apt-get install iproute2")
    told = started(isolated("ip link set lo up; ip addr del 127.0.0.1/8 dev lo;", "-n"))
    assert told.startswith(
        "Python (debugpy) needs 127.0.0.1, an address that no interface has here."
    )
    assert "ip addr add 127.0.0.1/8 dev lo" in told


NO_TERMINALS = (
    "mount --bind /dev/null /dev/ptmx;",
    "mount -t tmpfs none /dev/pts;",
    # One that is full: the only terminal that it has is open.
    "mount -t devpts -o max=1,ptmxmode=666 none /dev/pts; mount --bind /dev/pts/ptmx /dev/ptmx; exec 3<>/dev/ptmx;",
)


@pytest.mark.parametrize("setup", NO_TERMINALS)
def test_without_terminals_a_start_in_one_says_so_at_once(setup: str) -> None:
    command = isolated(setup, "-m", "--propagation", "private")
    told = started(command, terminal=True)
    assert told.startswith("No terminal can be opened: "), told
    assert "Leave `terminal` out" in told
    assert "Ended, exit code 0" in started(command)


def test_where_warnings_are_errors_a_program_is_debugged() -> None:
    strict = "PYTHONWARNDEFAULTENCODING=1 PYTHONWARNINGS=error"
    assert "Ended, exit code 0" in started(STDIO.replace("exec ", f"exec env {strict} "))


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ("LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0", "UnicodeEncodeError: 'ascii' codec"),
        ("PYTHONIOENCODING=ascii", "UnicodeEncodeError: 'ascii' codec"),
        ("PYTHONIOENCODING=utf-8", "caf\u00e9"),
    ],
)
def test_a_program_prints_in_the_encoding_that_it_has_without_a_debugger(
    environment: str, words: str
) -> None:
    told = started(STDIO.replace("exec ", f"exec env {environment} "), code="print('caf\\xe9')")
    assert words in told


def test_a_server_starts_where_the_folder_of_definitions_may_not_be_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    closed = tmp_path / "adapters"
    closed.mkdir(mode=0)
    with without_root_rights():
        assert load_all(closed) == {}
    assert f"{closed} cannot be read: Permission denied" in caplog.text
    closed.chmod(0o700)


@pytest.mark.parametrize(
    "variable", ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "HOME"]
)
def test_a_relative_folder_of_the_user_is_ignored(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(each)
    monkeypatch.setenv(variable, "near")
    for folder in (
        folder_names.configuration,
        folder_names.cache,
        folder_names.state,
        folder_names.runtime,
    ):
        assert Path(folder()).is_absolute()
        assert "near" not in Path(folder()).parts


def test_without_a_temporary_folder_a_start_says_so_at_once() -> None:
    mounts = "".join(
        f"mount --bind {each} {each} && mount -o remount,ro,bind {each}; "
        for each in ("/tmp", "/var/tmp")
    )
    told = started(isolated(f"{mounts} cd /proc; unset TMPDIR;", "-m", "--propagation", "private"))
    assert told.startswith("No temporary folder is writable: ")


COLLECTED = "for i in range(200_000):\n    i += 0\nprint('TOTAL 42')\n"
LOST = (
    r"[\d,]+ rows lost: the program could not write what it collected \(No space left on device\)"
)


@pytest.mark.parametrize("size", ["8k", "200k", "1m"])
def test_on_a_full_disk_a_program_runs_as_ever_and_its_rows_are_told_as_lost(
    size: str, tmp_path: Path
) -> None:
    """The disk has room for nothing, for less than a header, or for less than a chunk of rows."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "small.py").write_text(COLLECTED, encoding="utf-8")
    mounted = f"mount -t tmpfs -o size={size} none {tmp_path}/disk; export TMPDIR={tmp_path}/disk;"
    told = started(
        isolated(mounted, "-m", "--propagation", "private"),
        program=str(tmp_path / "small.py"),
        breakpoints=[
            {"filename": str(tmp_path / "small.py"), "line": 2, "collect": ["i"]},
            {"calls": "__main__.*"},
        ],
    )
    assert told.startswith("Ended, exit code 0"), told
    assert "TOTAL 42" in told
    assert re.search(LOST, told), told
    assert "Not hit" not in told
    assert "Never called" not in told


def test_without_file_descriptors_a_start_says_so() -> None:
    told = started(f"ulimit -n 16; {STDIO}")
    assert told.startswith("The operating system reports: Too many open files")
    assert "ulimit -n" in told


@pytest.mark.parametrize(
    "kilobytes", [65_000, 74_000, 78_000, 82_000, 170_000, 220_000, 260_000, 340_000]
)
def test_with_too_little_memory_a_server_or_a_start_says_so(kilobytes: int) -> None:
    """What fails first, a library or an adapter, depends on the sizes of both."""
    told = started(f"ulimit -v {kilobytes}; {STDIO}")
    assert re.search("too little memory|start new thread|Ended, exit code 0", told), told


@pytest.mark.parametrize("room", [1, 2, 3, 7, 8, 9, 12, 13, 14, 15, 16])
def test_without_room_for_another_thread_or_process_it_says_so(room: int) -> None:
    if os.geteuid() == 0:
        pytest.skip("needs an ordinary user: for root there is always room")
    pids = [each.name for each in Path("/proc").iterdir() if each.name.isdigit()]
    tasks = [Path(f"/proc/{pid}/task/{each}") for pid in pids for each in thread_ids(int(pid))]
    own = sum(map(is_own, tasks))
    # The one of dash, and that of other shells.
    limit = f"ulimit -p {own + room} 2>&- || ulimit -u {own + room}"
    told = started(f"{limit}; {STDIO}")
    assert re.search("ulimit -u|Ended, exit code 0", told), told


@pytest.fixture
def group() -> Iterator[Path]:
    """Give a control group in which processes are counted, as those of containers are."""
    every = Path("/sys/fs/cgroup")
    known = every / "pids"
    path = (known if known.is_dir() else every) / f"dapeer-{os.getpid()}"
    try:
        path.mkdir()
    except OSError as error:
        pytest.skip(f"needs control groups, as root: {error}")
    yield path
    path.rmdir()


@pytest.mark.parametrize("room", [7, 8, 9, 12])
def test_in_a_container_without_room_for_an_adapter_it_says_so(room: int, group: Path) -> None:
    if not (group / "pids.max").exists():
        pytest.skip("needs the controller of processes (pids)")
    (group / "pids.max").write_text(str(room))
    told = started(f"echo $$ >{group}/cgroup.procs; {STDIO}")
    assert re.search("There is room for only|ulimit -u|start new thread", told), told
    assert room > 9 or "ulimit -u" in told


def is_own(task: Path) -> bool:
    with contextlib.suppress(OSError):
        return task.stat().st_uid == os.geteuid()
    return False


def test_on_a_full_disk_a_server_says_so_and_leaves_no_half_token(tmp_path: Path) -> None:
    mounted = f"mount -t tmpfs -o size=4k none {tmp_path}; "
    filled = f"head -c 9000 /dev/zero >{tmp_path}/much 2>/dev/null; "
    command = isolated(mounted + filled, "-m", "--propagation", "private")
    done = sh(command.replace(STDIO, f"{DAPEER} serve; find {tmp_path} -name token*"))
    assert done.stderr.startswith(f"dapeer: Cannot keep a token in {tmp_path}/state/dapeer: No sp")
    assert done.stdout == ""
