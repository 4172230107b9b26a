"""What blocked threads and tasks wait for, in each Python: twelve deadlocks and more are named, who only waits is in none."""

import importlib
import json
import subprocess
import sys
from types import FunctionType
from typing import Any

import pytest

from dapeer.adapters.definition.table import COMPANIONS
from tests.matrix.interpreters import chosen
from tests.processes import LIMIT
from tests.programs import program
from tests.pythons import python_of

JUDGE = """
import json, os, runpy, sys, threading, time
folder, program, *kinds = sys.argv[1:]
sys.path.insert(0, folder)
from dapeer_debuggee.stacks import waits

def watch(kind, expected):
    threads = waits.threads
    waits.threads = lambda: (each for each in threads() if each.name != "judge")
    end = time.monotonic() + 20
    answer = {"circle": [], "waits": []}
    while time.monotonic() < end and not (answer["circle"] if expected else answer["waits"]):
        try:
            answer = json.loads(waits.look("{}"))
        except Exception as error:  # modules are being imported
            print(kind, repr(error), file=sys.stderr)
    names = [" ".join(answer["members"][each][:2]) for each in answer["circle"]]
    twice = [each["by"] for each in answer["waits"] if "Lock" in each["what"] and len(each["by"]) > 1]
    print(json.dumps([kind, names + twice]), flush=True)
    os._exit(0)

for each in kinds:
    kind, expected = each.split(":")
    if not os.fork():
        threading.Thread(target=watch, args=(kind, int(expected)), name="judge", daemon=True).start()
        sys.argv[1:] = [kind]
        runpy.run_path(program, run_name="__main__")
        os._exit(1)
    os.wait()
"""
CIRCLES = {
    "two_locks": {"thread MainThread", "thread left"},
    "one_line": {"thread MainThread", "thread left"},
    "attributes": {"thread MainThread", "thread back"},
    "calls": {"thread MainThread", "thread left"},
    "reentrant": {"thread MainThread", "thread left"},
    "join": {"thread MainThread", "thread worker"},
    "itself": {"thread MainThread"},
    "silent": {"thread MainThread"},
    "pool": {"thread pool_0", "thread pool_1"},
    "tasks": {"task a", "task b"},
    "async_locks": {"task up", "task down"},
    "chain": {"thread lower", "thread upper", "task settle", "task order", "thread worker"},
    "event_loop": {"thread MainThread"},
    "ring": {"thread MainThread", "thread diner1", "thread diner2"},
    "stripes": {"thread MainThread", "thread left"},
    "sleeper": set[str](),
    "renamed": set[str](),
    "notified": set[str](),
    "idle_queue": set[str](),
    "event": set[str](),
    "limited": set[str](),
    "slow_holder": set[str](),
    "consumers": set[str](),
}
"""By kind of `waiting.py` the members of its circle."""


@pytest.mark.parametrize("version", chosen())
def test_deadlocks_are_found_and_no_others(version: str) -> None:
    kinds = [f"{kind}:{int(bool(circle))}" for kind, circle in CIRCLES.items()]
    command = [
        python_of(version),
        "-c",
        JUDGE,
        str(COMPANIONS / "python"),
        str(program("waiting.py")),
        *kinds,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
    found = {
        kind: {renamed(each) for each in circle}
        for kind, circle in map(json.loads, done.stdout.splitlines())
    }
    assert found == CIRCLES, done.stderr


def test_what_dapeer_runs_in_a_line_is_no_place_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", [str(COMPANIONS / "python"), *sys.path])
    awaiting: Any = importlib.import_module("dapeer_debuggee.stacks.awaiting")
    made: dict[str, Any] = {"now": sys._getframe}  # pyright: ignore[reportPrivateUsage]
    record = FunctionType(compile("now()", "<dapeer>", "eval"), made)
    own, here = awaiting.stack(record())[:2], awaiting.stack(sys._getframe())[:2]  # pyright: ignore[reportPrivateUsage]
    assert [each[0] for each in own] == [each[0] for each in here]


def renamed(member: str) -> str:
    """Return a member under one name, whatever Python calls it."""
    if member.endswith(("asyncio_0", "ThreadPoolExecutor-0_0")):
        return "thread worker"
    return "task settle" if member.startswith("task Task-") else member
