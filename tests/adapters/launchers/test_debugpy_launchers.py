"""Our launchers of debugpy: prompt and quiet where they can be, plain where they cannot."""

import asyncio
import importlib
import io
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from debugpy.common import log, messaging

from dapeer.adapters.definition.definition import own_values
from dapeer.adapters.launchers.debugpy_adapter import acknowledge_promptly, launch_beneath
from dapeer.adapters.launchers.debugpy_launcher import describe_only_what_is_logged, without
from tests.harness import ask, client, evaluate
from tests.processes import LIMIT
from tests.programs import program

QUICKACK = (socket.IPPROTO_TCP, getattr(socket, "TCP_QUICKACK", 0))
ADAPTER = f"{own_values()['launchers']}/debugpy_adapter.py"
LAUNCHER = f"{own_values()['launchers']}/debugpy_launcher.py"
WAITS = """
import importlib, sys, threading
from types import SimpleNamespace

sys.path.insert(0, sys.argv[1])
importlib.import_module("debugpy._vendored.force_pydevd")
import pydevd
from _pydevd_bundle.pydevd_additional_thread_info import set_additional_thread_info
from _pydevd_bundle.pydevd_constants import STATE_RUN, STATE_SUSPEND, get_current_thread_id

if sys.argv[2] == "ours":
    importlib.import_module("in_debuggee.dapeer_commands").improve(prints=True)
debugger = pydevd.PyDB(set_as_global=False)
debugger.writer = SimpleNamespace(add_command=lambda command: None)
thread = threading.current_thread()
info = set_additional_thread_info(thread)
info.pydev_state = STATE_SUSPEND
us = get_current_thread_id(thread)
queue, event = debugger.get_internal_queue_and_event(us)
waits = []

class Command:
    def can_be_executed_by(self, thread_id):
        return True

    def do_it(self, debugger):
        if queue.empty():
            info.pydev_state = STATE_RUN

def wait(seconds, stock=event.wait):
    if not event.is_set() and not queue.empty():
        waits.append(queue.qsize())
    return stock(seconds)

event.wait = wait
for _ in range(3):
    debugger.post_internal_command(Command(), us)
debugger._do_wait_suspend(thread, sys._getframe(), "line", None, "trace", [], None)
print(waits)
"""
"""A thread that pydevd suspends gets three commands; prints how many were queued each time that it waited all the same."""


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="needs Linux")
def test_each_line_that_is_read_is_acknowledged_promptly(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = cast("Any", messaging.JsonIOStream)
    monkeypatch.setattr(streams, "from_socket", streams.__dict__["from_socket"])
    acknowledge_promptly(streams, socket.TCP_QUICKACK)
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
        with theirs:
            ours.setsockopt(*QUICKACK, 0)
            stream = streams.from_socket(ours, "test")
            body = json.dumps({"hello": 1}).encode()
            theirs.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            assert stream.read_json() == {"hello": 1}
            assert ours.getsockopt(*QUICKACK) == 1
        stream.close()


@pytest.mark.parametrize(
    "inside",
    [
        {},
        {"common/__init__.py": ""},
        {"common/__init__.py": "", "common/messaging.py": ""},
        {"common/__init__.py": "", "common/messaging.py": "class JsonIOStream: pass"},
    ],
)
def test_a_debugpy_that_is_not_as_expected_is_started_plainly(
    inside: dict[str, str], tmp_path: Path
) -> None:
    files = {
        "__init__.py": "",
        "adapter/__init__.py": "",
        "adapter/__main__.py": "import sys; print('plain', sys.argv[1:])",
        **inside,
    }
    for name, text in files.items():
        path = tmp_path / "debugpy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-P", ADAPTER, "--log-stderr"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "plain ['--log-stderr']\n"


@pytest.mark.parametrize(("entry", "arguments"), [("launcher", ["1", "--"]), ("", ["--connect"])])
def test_a_debugpy_that_is_not_as_expected_launches_plainly(
    entry: str, arguments: list[str], tmp_path: Path
) -> None:
    says = "import sys\ndef main(): print('plain', sys.path[0], sys.argv[1:])\n"
    files = {
        "__init__.py": "",
        "launcher/__init__.py": "",
        "launcher/__main__.py": f"{says}main()",
        "server/__init__.py": "",
        "server/cli.py": says,
    }
    for name, text in files.items():
        path = tmp_path / "debugpy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    plain = [sys.executable, "-c", "import sys; print(sys.path[1])"]
    first = subprocess.run(plain, capture_output=True, text=True, check=True).stdout.strip()
    done = subprocess.run(
        [sys.executable, LAUNCHER, tmp_path / "debugpy" / entry, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"plain {first} {arguments}\n"


def test_the_environment_is_described_where_that_is_logged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    described: list[str] = []
    module = cast("Any", log)
    monkeypatch.setattr(module, "describe_environment", described.append)
    describe_only_what_is_logged(module)
    monkeypatch.setattr(module, "_levels", {"warning", "error"})
    module.describe_environment("quiet")
    monkeypatch.setattr(module, "_levels", {"info"})
    module.describe_environment("logged")
    assert described == ["logged"]


def test_what_was_imported_without_a_module_gets_it_when_it_uses_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "this", raising=False)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with without("this", "sys"):
        late = importlib.import_module("this")
        assert late.describes() == ""
        assert importlib.import_module("sys") is sys
    assert "this" not in sys.modules
    assert late.d["N"] == "A"
    with pytest.raises(AttributeError):
        _ = late.nothing


def test_a_launcher_of_somebodys_own_is_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / "launcher"
    theirs.touch()
    started: list[object] = []

    def stock(*given: object) -> None:
        started.append(given[2])

    module, session = SimpleNamespace(spawn_debuggee=stock), SimpleNamespace()
    launch_beneath(module, str(tmp_path), "ours.py")
    for path in (tmp_path, theirs):
        module.spawn_debuggee(session, "request", ["python"], str(path), "127.0.0.1")
    assert started == [["python", "ours.py"], ["python"]]


async def test_a_program_knows_nothing_of_the_launcher() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        everything = {"justMyCode": False}
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")], config=everything)
        frames = (await ask(c, "dap_stacktrace"))["frames"]
        assert {frame["file"] for frame in frames} == {str(p.source)}
        seen = "__import__('sys').argv + __import__('sys').path[:1]"
        assert await evaluate(c, seen) == f"['{p}', '{p.source.parent}']"
        # debugpy imports these for other clients, or to describe its environment.
        unused = "{'importlib.metadata', 'xmlrpc.client', 'http.server', 'email', 'ssl'}"
        assert await evaluate(c, f"{unused} & {{*__import__('sys').modules}}") == "set()"
        later = await evaluate(c, "__import__('http.server').server.HTTPServer")
        assert later == "<class http.server.HTTPServer>"


@pytest.mark.parametrize(
    ("whose", "waits"),
    [
        ("ours", "[]"),
        # Once this fails, debugpy does it by itself, and `dapeer_commands` can go.
        ("stock", "[1]"),
    ],
)
def test_a_stopped_thread_does_all_that_is_queued_before_it_waits(whose: str, waits: str) -> None:
    launchers = str(own_values()["launchers"])
    command = [sys.executable, "-Xfrozen_modules=off", "-c", WAITS, launchers]
    done = subprocess.run(
        [*command, whose], capture_output=True, text=True, check=True, timeout=LIMIT
    )
    assert done.stdout.strip() == waits


LOOKS_FOR_LINES = """
import importlib, os, sys, tokenize

sys.path.insert(0, sys.argv[1])
importlib.import_module("debugpy._vendored.force_pydevd")
import pydevd
import _pydevd_bundle.pydevd_api as api

if sys.argv[2] == "ours":
    importlib.import_module("in_debuggee.dapeer_lines").improve(prints=True)
path, reads, stock = sys.argv[3], [], tokenize.open
tokenize.open = lambda name: (reads.append(name), stock(name))[1]
found = [sorted(set(api._get_code_lines(path)) - {0}) for _ in range(3)]
first = len(reads)
with open(path, "a") as file:
    file.write("three = 3\\n")
found += [sorted(set(api._get_code_lines(path)) - {0}) for _ in range(2)]
print([first, len(reads) - first, found])
"""


@pytest.mark.parametrize(("whose", "reads"), [("stock", (3, 2)), ("ours", (1, 1))])
def test_a_file_is_read_once_for_all_of_its_breakpoints_until_it_changes(
    tmp_path: Path, whose: str, reads: tuple[int, int]
) -> None:
    source = tmp_path / "source.py"
    source.write_text("one = 1\n\nif one:\n    two = 2\n")
    folder = str(own_values()["launchers"])
    command = [sys.executable, "-c", LOOKS_FOR_LINES, folder, whose, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT)
    before, after = [1, 3, 4], [1, 3, 4, 5]
    assert json.loads(done.stdout) == [*reads, [before, before, before, after, after]]


DESCRIBES_FRAMES = """
import importlib, json, sys, types

sys.path.insert(0, sys.argv[1])
importlib.import_module("debugpy._vendored.force_pydevd")
import pydevd
import _pydevd_bundle.pydevd_net_command_factory_json as answers
from _pydevd_bundle.pydevd_frame_utils import create_frames_list_from_frame

if sys.argv[2] == "ours":
    importlib.import_module("in_debuggee.dapeer_levels").improve(prints=True)
factory, debugger, described = answers.NetCommandFactoryJson(), pydevd.PyDB(), []
stock = factory._format_frame_name
factory._format_frame_name = lambda *given: (described.append(given), stock(*given))[1]
debugger.writer = types.SimpleNamespace(add_command=lambda command: None)

def deep(left):
    return deep(left - 1) if left else create_frames_list_from_frame(sys._getframe())

with debugger.suspended_frames_manager.track_frames(debugger) as tracker:
    tracker.track("1", deep(98))
    for start, levels in ((0, 3), (97, 20), (200, 3), (0, 0), (0, 200)):
        asked = {"must_be_suspended": True, "start_frame": start, "levels": levels}
        told = factory.make_get_thread_stack_message(debugger, 1, "1", None, None, **asked)
        body = json.loads(told._as_bytes)["body"]
        names = [frame["name"] for frame in body["stackFrames"]]
        print(json.dumps([len(described), body["totalFrames"], len(names), names[-1:]]))
        described.clear()
"""


@pytest.mark.parametrize(("whose", "described"), [("stock", (100,) * 3), ("ours", (3, 3, 0))])
def test_only_the_frames_that_are_asked_for_are_described(
    whose: str, described: tuple[int, ...]
) -> None:
    folder = str(own_values()["launchers"])
    command = [sys.executable, "-Xfrozen_modules=off", "-c", DESCRIBES_FRAMES, folder, whose]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        [described[0], 100, 3, ["deep"]],
        [described[1], 100, 3, ["<module>"]],
        [described[2], 100, 0, []],
        [100, 100, 100, ["<module>"]],
        [100, 100, 100, ["<module>"]],
    ]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("", ""),
        (
            "api._get_code_lines = lambda: ()",
            "dapeer_lines: Remembers which lines of a file have code.\n",
        ),
        (
            "del importlib.import_module('debugpy.launcher.output').CaptureOutput._worker",
            "debugpy_output: Tells when all output before a stop has been sent.\n",
        ),
    ],
)
def test_a_patch_that_does_not_fit_is_named_and_changes_nothing(change: str, told: str) -> None:
    code = f"""
import importlib, runpy, sys
importlib.import_module("debugpy._vendored.force_pydevd")
import _pydevd_bundle.pydevd_api as api
{change}
before = api._get_code_lines
runpy.run_path({f"{own_values()['launchers']}/debugpy_fits.py"!r}, run_name="__main__")
assert (api._get_code_lines is before) == {"dapeer_lines" in told}
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=LIMIT
    )
    assert done.stdout == told
