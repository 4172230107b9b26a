"""Our patches of pydevd inside the program: what each changes, and that one which does not fit changes nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dapeer.adapters.definition.table import installation_values
from dapeer.adapters.process.normalized_transport import with_all_frames
from dapeer.dap.messages import Body
from tests.processes import LIMIT

FOLDER = f"{installation_values()['launchers']}/python"

WAITS = """
import importlib, sys, threading
from types import SimpleNamespace

sys.path.insert(0, sys.argv[1])
importlib.import_module("debugpy._vendored.force_pydevd")
import pydevd
from _pydevd_bundle.pydevd_additional_thread_info import set_additional_thread_info
from _pydevd_bundle.pydevd_constants import STATE_RUN, STATE_SUSPEND, get_current_thread_id

if sys.argv[2] == "ours":
    importlib.import_module("dapeer_debuggee.stops.suspended").QUEUE.apply()
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
        # Once this fails, debugpy does it by itself, and `commands` can go.
        ("stock", "[1]"),
    ],
)
def test_a_stopped_thread_does_all_that_is_queued_before_it_waits(whose: str, waits: str) -> None:
    command = [sys.executable, "-Xfrozen_modules=off", "-c", WAITS, FOLDER]
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
    importlib.import_module("dapeer_debuggee.stops.breakpoints").KEPT.apply()
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
    command = [sys.executable, "-c", LOOKS_FOR_LINES, FOLDER, whose, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT)
    before, after = [1, 3, 4], [1, 3, 4, 5]
    assert json.loads(done.stdout) == [*reads, [before, before, before, after, after]]


DESCRIBES_FRAMES = """
import importlib, json, sys, types

sys.path.insert(0, sys.argv[1])
importlib.import_module("debugpy._vendored.force_pydevd")
import pydevd
import _pydevd_bundle.pydevd_frame_utils as lists
import _pydevd_bundle.pydevd_net_command_factory_json as answers

if sys.argv[2] == "ours":
    importlib.import_module("dapeer_debuggee.stacks.stacks").LEVELS.apply()
factory, debugger, described = answers.NetCommandFactoryJson(), pydevd.PyDB(), []
stock = factory._format_frame_name
factory._format_frame_name = lambda *given: (described.append(given), stock(*given))[1]
debugger.writer = types.SimpleNamespace(add_command=lambda command: None)

def deep(left):
    return deep(left - 1) if left else lists.create_frames_list_from_frame(sys._getframe())

def fail(left):
    return 1 + fail(left - 1) if left else 1 / left

def stacks():
    yield deep(97)
    try:
        fail(97)
    except ZeroDivisionError as error:
        kind, _, trace = sys.exc_info()
        yield lists.create_frames_list_from_traceback(trace, None, kind, error)

for thread, stack in enumerate(stacks()):
    with debugger.suspended_frames_manager.track_frames(debugger) as tracker:
        tracker.track(str(thread), stack)
        for start, levels in ((0, 3), (97, 20), (200, 3), (0, 0), (0, 200)):
            asked = {"must_be_suspended": True, "start_frame": start, "levels": levels}
            told = factory.make_get_thread_stack_message(debugger, 1, str(thread), None, None, **asked)
            print(len(described), told._as_bytes.decode())
            described.clear()
"""


def test_frames_are_described_as_far_as_they_are_asked_for_and_those_at_one_place_once(
    tmp_path: Path,
) -> None:
    path = tmp_path / "describes.py"
    path.write_text(DESCRIBES_FRAMES)
    numbers: list[list[int]] = []
    stacks: list[list[Body]] = []
    for whose in ("stock", "ours"):
        command = [sys.executable, "-Xfrozen_modules=off", str(path), FOLDER, whose]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT)
        told = [line.partition(" ") for line in done.stdout.splitlines()]
        numbers.append([int(number) for number, *_ in told])
        bodies = [with_all_frames(json.loads(body)["body"]) for *_, body in told]
        for frame in (frame for body in bodies for frame in body["stackFrames"]):
            del frame["id"]
        stacks.append(bodies)
    assert numbers == [[100] * 10, [3, 3, 0, 100, 3, 3, 3, 0, 100, 4]]
    assert stacks[0] == stacks[1]


@pytest.mark.parametrize(
    ("change", "off"),
    [
        ("", []),
        ("api._get_code_lines = lambda: ()", ["lines-with-code"]),
        ("del output.CaptureOutput._worker", ["output-drained"]),
        ("del sys.modules['debugpy.adapter.servers'].inject", ["attach-again"]),
        ("del launchers.Launcher.output_event", ["early-ends"]),
        ("launchers.spawn_debuggee = lambda session: 0", ["early-ends", "launcher-beneath"]),
    ],
)
def test_a_patch_that_does_not_fit_is_named_and_changes_nothing(
    change: str, off: list[str]
) -> None:
    code = f"""
import importlib, runpy, sys
importlib.import_module("debugpy._vendored.force_pydevd")
importlib.import_module("debugpy.adapter.clients")
import _pydevd_bundle.pydevd_api as api
from debugpy.adapter import launchers
from debugpy.launcher import output
{change}
before = api._get_code_lines
runpy.run_path({f"{FOLDER}/debugpy_fits.py"!r}, run_name="__main__")
assert (api._get_code_lines is before) == {"lines-with-code" in off}
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=LIMIT
    )
    assert [row["name"] for row in json.loads(done.stdout) if row["off"]] == off


TEMPLATE = """
import sys
sys.path.insert(0, sys.argv[1])
from dapeer_debuggee.stops import breakpoints
print(*map(breakpoints.is_template, sys.argv[2:]))
"""


@pytest.mark.parametrize(
    ("name", "text", "is_one"),
    [
        ("page.html", "<p>{{ item }}</p>", True),
        ("mail.txt", "{% if item %}yes{% endif %}", True),
        ("page.html", "<p>none</p>", False),
        ("tool", "#!/usr/bin/python3\nprint('{{', {1: {2: 3}})", False),
        ("fast.pyx", "cdef int n = 1\nprint(f'{{{n}}}')", False),
        ("wrong.py", "print('{{'", False),
    ],
)
def test_a_template_is_known_by_its_marks_and_is_no_code(
    tmp_path: Path, name: str, text: str, is_one: bool
) -> None:
    (tmp_path / name).write_text(text)
    command = [sys.executable, "-c", TEMPLATE, FOLDER, str(tmp_path / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT)
    assert done.stdout.strip() == str(is_one)
