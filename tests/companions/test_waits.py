"""What blocked threads and tasks wait for, in each Python: twelve deadlocks and more are named, who only waits is in none."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from threading import Lock
from types import CodeType, FunctionType
from typing import Any

import pytest

from dapeer.adapters.definition.table import COMPANIONS
from dapeer.view import waits
from tests.matrix.interpreters import chosen
from tests.processes import LIMIT
from tests.programs import program
from tests.pythons import python_of

STORED = """
import ast, dis, sys
sys.path.insert(0, sys.argv[1])
from dapeer_debuggee.stacks.symbols import is_changed

def works(lock, items):
    lock.acquire(); x = 1; print(lock, x)
    items[1:2] = [x]

def changes(expression):
    tree = ast.parse(expression, mode="eval").body
    return any(is_changed(tree, each) for each in dis.get_instructions(works))

print([changes(each) for each in ("lock", "x", "items", "items[0]")])
"""
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
SLOTS = """
import asyncio, json, os, sys, threading
sys.path.insert(0, sys.argv[1])
from dapeer_debuggee.stacks import waits

class Farm:
    def __init__(self):
        self.slots = asyncio.Semaphore(2)
        self.changed = asyncio.Condition()

async def render():
    async with farm.slots:
        await asyncio.Event().wait()

async def render_by_acquire():
    await farm.slots.acquire()
    try:
        await asyncio.Event().wait()
    finally:
        farm.slots.release()

async def queue():
    async with farm.slots:
        pass

async def write(key):
    await stripes[key].acquire()
    await asyncio.Event().wait()

async def change():
    async with farm.changed:
        await asyncio.Event().wait()

class Stripes:
    def __init__(self):
        self._locks = [asyncio.Lock() for _ in range(8)]

    def of(self, owner):
        return self._locks[len(owner)]

class Bank:
    def __init__(self):
        self.stripes = Stripes()

async def pay(bank, owner):
    async with bank.stripes.of(owner):
        await asyncio.Event().wait()

async def main():
    global farm, stripes
    farm, stripes, bank = Farm(), [asyncio.Lock() for _ in range(8)], Bank()
    works = dict(one=render(), two=render_by_acquire(), a=queue(), b=queue(), c=queue())
    works.update(payer=pay(bank, "fay"), payee=pay(bank, "eve"))
    works.update(writer=write(6), late=write(6), changer=change(), other=change())
    tasks = [asyncio.create_task(work, name=name) for name, work in works.items()]
    await asyncio.sleep(0.1)
    look = threading.Thread(target=lambda: print(waits.look("{}")))
    look.start()
    look.join()
    sys.stdout.flush()
    os._exit(0)

asyncio.run(main())
"""
POOL = """
import asyncio, json, multiprocessing, os, queue, sys, threading
from concurrent.futures import ProcessPoolExecutor
sys.path.insert(0, sys.argv[1])
from dapeer_debuggee.stacks import waits

context = multiprocessing.get_context("fork")
begun, events, pool = context.Queue(), context.Queue(1), ProcessPoolExecutor(2, context)
full = queue.Queue(2)

def draw(number):
    begun.put(number)
    events.put(number)

async def one(number):
    await asyncio.get_running_loop().run_in_executor(pool, draw, number)

async def ask(reply):
    await reply

def fill():
    while True:
        full.put(1)

async def main():
    loop = asyncio.get_running_loop()
    works = {f"draw-{n}": one(n) for n in range(5)}
    works.update({f"ask-{n}": ask(loop.create_future()) for n in range(3)})
    tasks = [loop.create_task(work, name=name) for name, work in works.items()]
    for _ in range(2):
        await loop.run_in_executor(None, begun.get)
    for name, work in {"filler": fill, "sender": lambda: events.put(0), "taker": queue.Queue().get}.items():
        threading.Thread(target=work, name=name, daemon=True).start()
    look = threading.Thread(target=told, args=(len(works) + 3,))
    look.start()
    look.join()
    for each in pool._processes:
        print(each)
    sys.stdout.flush()
    for each in [*pool._processes]:
        os.kill(each, 9)
    os._exit(0)

def told(count):
    answer = {"waits": []}
    while sum("draw-" in name or "ask-" in name or name in ("filler", "sender", "taker")
              for name in (answer["members"][each["member"]][1] for each in answer["waits"])) < count:
        answer = json.loads(waits.look("{}"))
    print(json.dumps(answer))

events.put(0)
asyncio.run(main())
"""
LIMITER = """
import json, os, sys, threading
import anyio
sys.path.insert(0, sys.argv[1])
from dapeer_debuggee.stacks import waits

class Farm:
    def __init__(self):
        self.slots = anyio.CapacityLimiter(2)

async def render():
    async with farm.slots:
        await anyio.Event().wait()

async def queue():
    async with farm.slots:
        pass

async def main():
    global farm
    farm = Farm()
    async with anyio.create_task_group() as group:
        for name in ("one", "two"):
            group.start_soon(render, name=name)
        await anyio.sleep(0.1)
        for name in ("a", "b"):
            group.start_soon(queue, name=name)
        await anyio.sleep(0.1)
        look = threading.Thread(target=lambda: print(waits.look("{}")))
        look.start()
        look.join()
        sys.stdout.flush()
        os._exit(0)

anyio.run(main, backend=sys.argv[2])
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


def printed(folder: Path, text: str, *arguments: str, python: str = sys.executable) -> list[str]:
    """Return the lines that a program prints, which is given where our modules are, then the arguments."""
    path = folder / "farm.py"
    path.write_text(text, "utf-8")
    command = [python, str(path), str(COMPANIONS / "python"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
    return done.stdout.splitlines()


def told_waits(text: str) -> list[str]:
    """Return the lines on all waits of an answer of the program."""
    answer = json.loads(text)
    return waits.lines_of_other_waits(answer, {number for _, _, number in answer["members"]})


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


@pytest.mark.parametrize("version", chosen())
def test_a_queue_is_one_line_with_the_holders_that_frames_prove(
    version: str, tmp_path: Path
) -> None:
    (text,) = printed(tmp_path, SLOTS, python=python_of(version))
    every = told_waits(text)
    first, *rest = every
    held, _, queued = first.rpartition(": ")
    assert held.startswith("3 tasks wait for asyncio Semaphore farm.slots, held by 2: task ")
    assert "task one since farm.py:" in held
    assert "task two since farm.py:" in held
    assert sorted(queued.split(", ")) == ["a", "b", "c"]
    assert sorted(re.sub(r" since farm.py:\d+", "", each) for each in rest[:3]) == [
        "task late waits for asyncio Lock stripes[6], held by task writer",
        "task other waits for asyncio Lock farm.changed, held by task changer",
        "task payee waits for asyncio Lock bank.stripes._locks[3] (owner = 'eve'), held by task payer (owner = 'fay')",
    ]
    # At a pause these lead on; what nobody is known to end does not.
    assert waits.lines_of_held_waits(json.loads(text)) == every[:4]


@pytest.mark.parametrize("version", chosen())
def test_a_pool_names_its_processes_and_what_waits_for_nobody_is_one_line(
    version: str, tmp_path: Path
) -> None:
    text, *pids = printed(tmp_path, POOL, python=python_of(version))
    lines = told_waits(text)
    pool = next(each for each in lines if "pool" in each)
    what, _, tasks = pool.rpartition(": ")
    assert what == f"5 tasks wait for a process pool's work items, processes {', '.join(pids)}"
    places = dict(each.rstrip(")").split(" (") for each in tasks.split(", "))
    assert sorted(places.values()) == [*(f"queued behind {n}" for n in (2, 3, 4)), *["running"] * 2]
    assert places["draw-4"] == "queued behind 4"
    futures = next(each for each in lines if "nobody" in each)
    assert futures.startswith("3 tasks wait for futures that nobody is known to end: ask-")
    assert "ask-1 (reply)" in futures
    expected = [
        "thread filler waits for Queue full, for room; it is full, 2 of 2",
        "thread sender waits for multiprocessing Queue events, for room; it is full, 1 of 1",
        "thread taker waits for Queue, for an item; it is empty",
    ]
    assert {*expected} <= {*lines}
    # What shows who has to go on comes first.
    first = max(map(lines.index, (pool, *expected[:2])))
    assert first < min(map(lines.index, (futures, expected[2])))


def test_a_limiter_names_who_has_its_tokens(tmp_path: Path) -> None:
    (text,) = printed(tmp_path, LIMITER, "asyncio")
    first, *_ = told_waits(text)
    held, _, queued = first.rpartition(": ")
    assert held.startswith("2 tasks wait for anyio CapacityLimiter farm.slots, held by 2: task ")
    assert "task one since farm.py:12" in held
    assert "task two since farm.py:12" in held
    assert sorted(queued.split(", ")) == ["a", "b"]


def test_what_dapeer_runs_in_a_line_is_no_place_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", [str(COMPANIONS / "python"), *sys.path])
    awaiting: Any = importlib.import_module("dapeer_debuggee.stacks.awaiting")
    made: dict[str, Any] = {"now": sys._getframe}  # pyright: ignore[reportPrivateUsage]
    record = FunctionType(compile("now()", "<dapeer>", "eval"), made)
    own, here = awaiting.stack(record())[:2], awaiting.stack(sys._getframe())[:2]  # pyright: ignore[reportPrivateUsage]
    assert [each[0] for each in own] == [each[0] for each in here]


@pytest.mark.parametrize(("lines", "count"), [(10, 1), (30_000, 0)])
def test_of_a_function_that_is_too_long_no_lock_is_told(
    monkeypatch: pytest.MonkeyPatch, lines: int, count: int
) -> None:
    monkeypatch.setattr(sys, "path", [str(COMPANIONS / "python"), *sys.path])
    holding: Any = importlib.import_module("dapeer_debuggee.stacks.holding")
    made: dict[str, Any] = {"lock": Lock()}
    text = "def take():\n  with lock:\n    yield\n" + "    n = 1\n" * lines
    (code,) = (
        each for each in compile(text, "farm.py", "exec").co_consts if type(each) is CodeType
    )
    taking = FunctionType(code, made)()
    next(taking)
    inside, _ = holding.locks_taken(taking.gi_frame)
    assert len(inside) == count


def renamed(member: str) -> str:
    """Return a member under one name, whatever Python calls it."""
    if member.endswith(("asyncio_0", "ThreadPoolExecutor-0_0")):
        return "thread worker"
    return "task settle" if member.startswith("task Task-") else member


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.13"])
def test_a_name_that_an_instruction_loads_beside_another_that_it_stores_is_unchanged(
    version: str,
) -> None:
    command = [python_of(version), "-c", STORED, str(COMPANIONS / "python")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
    assert done.stdout == "[False, True, False, True]\n"


DEBUGGED = """
import sys, threading
sys.path.insert(0, sys.argv[1])
import debugpy
from dapeer_debuggee.stacks import waits

debugpy.listen(("127.0.0.1", 0), in_process_debug_adapter=True)
begun = threading.Event()
threading.Thread(target=lambda: (begun.set(), threading.Event().wait()), name="own", daemon=True).start()
begun.wait()
print(sorted(each.name for each in waits.threads()))
"""


def test_the_debuggers_own_threads_are_none_of_the_programs() -> None:
    command = [sys.executable, "-c", DEBUGGED, str(COMPANIONS / "python")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
    assert done.stdout == "['MainThread', 'own']\n", done.stderr
