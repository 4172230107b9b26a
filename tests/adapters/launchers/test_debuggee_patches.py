"""Our patches of pydevd inside the program: what each changes, and that one which does not fit changes nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dapeer.adapters.definition.definition import own_values
from tests.processes import LIMIT

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


CONNECTS = """
import importlib, socket, sys

sys.path.insert(0, sys.argv[1])
importlib.import_module("debugpy._vendored.force_pydevd")
import pydevd

if sys.argv[2] == "ours":
    importlib.import_module("in_debuggee.dapeer_connecting").improve(prints=True)
debugger, slept = pydevd.PyDB(set_as_global=False), []
pydevd.time.sleep = slept.append
ours, theirs = socket.socketpair()
debugger.initialize_network(ours)
begun = {*debugger.created_pydb_daemon_threads} >= {debugger.reader, debugger.writer}
print([seconds for seconds in slept if seconds], begun or sys.argv[2])
"""
"""A debugger that connects; prints how long it slept for that, and whether its threads had begun."""


@pytest.mark.parametrize(
    ("whose", "told"),
    [
        ("ours", "[] True"),
        # Once this fails, debugpy does it by itself, and `dapeer_connecting` can go.
        ("stock", "[0.1]"),
    ],
)
def test_a_debugger_that_connects_waits_for_its_threads_and_no_longer(
    whose: str, told: str
) -> None:
    command = [sys.executable, "-Xfrozen_modules=off", "-c", CONNECTS]
    done = subprocess.run(
        [*command, str(own_values()["launchers"]), whose],
        capture_output=True, text=True, check=True, timeout=LIMIT,
    )  # fmt: skip
    assert done.stdout.startswith(told)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("", ""),
        (
            "importlib.import_module('pydevd').PyDB.initialize_network = lambda self: None",
            "dapeer_connecting: Lets a program begin as soon as its debugger is connected.\n",
        ),
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
