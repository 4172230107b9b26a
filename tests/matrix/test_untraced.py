"""A Python program is not traced until something needs that, and stops where it would if it were: with and without the patch."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import ask, client, evaluate, printed, read
from tests.matrix.interpreters import story, with_packages
from tests.matrix.test_stories import written
from tests.processes import LIMIT
from tests.pythons import python_of

PATCHES = ["", "-untraced-until-needed"]
OLD = {"3.8", "3.9", "3.10", "3.11"}
"""Versions in which pydevd traces by `sys.settrace`."""

ERRORS = """
import _thread
import sys
import threading

sys.excepthook = lambda *error: print("hook", error[0].__name__)
threading.excepthook = lambda error: print("hook of threads", error.exc_type.__name__)


def fail(amount):
    twice = amount * 2
    raise ValueError(twice)  # @raise


def leave():
    done.acquire()
    fail(3)


print("tracer", sys.gettrace())
one = threading.Thread(target=lambda: print("tracer of a thread", sys.gettrace()))
one.start()
one.join()
one = threading.Thread(target=fail, args=(2,))
one.start()
one.join()
try:
    fail(1)
except ValueError:
    pass
fail(4)
"""

LOOPS = """
import threading
import time


def spin():
    n = 0
    while running:
        n += 1  # @spin


def count(upto):
    k = 0
    while k < upto:
        k += 1  # @count
        yield k


def take():
    for each in numbers:
        time.sleep(0.001)  # @take


running = True
numbers = count(10**9)
next(numbers)
other = threading.Thread(target=take, daemon=True)
other.start()
print("go", flush=True)
spin()
"""

FAIL = """def fail(n):
    try:
        raise KeyError(n)  # @raised
    except KeyError:
        return 1


def spin"""

ASKS = """
import threading


def work(n):
    twice = n * 2
    breakpoint()
    return twice  # @return


one = threading.Thread(target=work, args=(21,))
one.start()
one.join()
print("end", work(4))  # @end
"""


ALONE = """
import sys
import time


def add(a, b):
    total = a + b  # @add
    return total


def work():
    n = 0
    while n < 10**9:
        n = add(n, 1)  # @work
        if not n % 5:
            print("traced", sys.gettrace() is not None, mark, flush=True)
            time.sleep(0.01)


mark = 0
work()
"""

CROWD = """
import threading


def turn(n):
    while not ended.wait(0.5):  # @while
        n += 0  # @turn


ended = threading.Event()
crowd = [threading.Thread(target=turn, args=(n,)) for n in range(300)]
[each.start() for each in crowd]
print("go", flush=True)
[each.join() for each in crowd]
print("over")
"""

GREENLETS = """
import time
import greenlet


def ask():
    while True:
        answering.switch()


def answer():
    k = 0
    while True:
        k += 1  # @answer
        time.sleep(0.001)
        asking.switch()


asking, answering = greenlet.greenlet(ask), greenlet.greenlet(answer)
print("go", flush=True)
asking.switch()
"""

WATCHED = """
import cProfile
import sys


def add(n):
    return n + 1  # @add


def work():
    for n in range(50):
        add(n)


def trace(frame, event, argument):
    if frame.f_code is add.__code__:
        lines.append(event)
    return trace


lines = []
profiler = cProfile.Profile()
profiler.runcall(work)
calls = [each.callcount for each in profiler.getstats() if each.code is add.__code__]
sys.settrace(trace)
work()
sys.settrace(None)
print("calls", *calls, "lines", lines.count("line"))
add("x")
"""


@pytest.fixture(params=PATCHES)
def patches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run with the patch, and without."""
    monkeypatch.setenv("DAPEER_PATCHES", request.param)
    return request.param


@story()
async def test_errors_that_leave_a_program_or_a_thread_stop_it_whatever_hooks_it_has(
    tmp_path: Path, version: str, patches: str
) -> None:
    p, python = written(tmp_path, "errors.py", ERRORS), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), python=python)
        assert (stop["line"], stop["exception"]) == (p.line("raise"), "ValueError: 4")
        if not patches:
            said = await printed(c, "tracer")
            assert "tracer None" in said
            assert "tracer of a thread None" in said
        assert await evaluate(c, "amount + twice") == "6"
        stop = await ask(c, "dap_continue")
        assert (stop["line"], stop["exception"]) == (p.line("raise"), "ValueError: 8")
        assert len(stop["stack"]) == 2
        end = await ask(c, "dap_continue")
        assert end["exit_code"] == 1
        said = await read(c, "dap_program_output", since=0)
        assert [line.strip() for line in said.splitlines() if "hook" in line] == [
            "hook of threads ValueError",
            "hook ValueError",
        ]


@pytest.mark.usefixtures("patches")
@story()
@pytest.mark.parametrize("place", ["spin", "count", "take"])
async def test_a_breakpoint_binds_in_loops_and_generators_that_run_already(
    tmp_path: Path, version: str, place: str
) -> None:
    p, python = written(tmp_path, "loops.py", LOOPS), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), python=python, wait_until_paused=False)
        assert await printed(c, "go")
        await ask(c, "dap_set_breakpoint", path=str(p), line=p.line(place))
        stop = await ask(c, "dap_wait_until_paused")
        assert (stop["reason"], stop["line"]) == ("breakpoint", p.line(place))
        await ask(c, "dap_remove_breakpoint", path=str(p), line=p.line(place))
        stop = await ask(c, "dap_step_over")
        assert (stop["reason"], stop["line"]) == (
            "step",
            p.line(place) + {"count": 1}.get(place, -1),
        )


@pytest.mark.usefixtures("patches")
@story()
async def test_a_program_that_asks_for_a_stop_stops_and_is_stepped_on(
    tmp_path: Path, version: str
) -> None:
    p, python = written(tmp_path, "asks.py", ASKS), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), python=python)
        assert (stop["line"], stop["locals"]["twice"]) == (p.line("return"), "42")
        stop = await ask(c, "dap_continue")
        assert (stop["line"], stop["locals"]["twice"]) == (p.line("return"), "8")
        stop = await ask(c, "dap_step_out")
        assert stop["line"] == p.line("end")
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 0)


@story()
async def test_a_program_of_one_thread_is_traced_no_longer_once_nothing_needs_it(
    tmp_path: Path, version: str, patches: str
) -> None:
    p, python = written(tmp_path, "alone.py", ALONE), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        points = [{"path": str(p), "line": p.line("add"), "condition": "a == 7"}]
        await ask(c, "dap_run", program=str(p), python=python, breakpoints=points)
        traced = bool(patches) and version in OLD
        for mark, (place, other) in enumerate([("work", "add"), ("add", "work")] * 2, 1):
            await ask(c, "dap_clear_breakpoints")
            await evaluate(c, f"globals().update(mark={mark})")
            await ask(c, "dap_continue", wait_until_paused=False)
            await printed(c, f"traced {traced} {mark}")
            await ask(c, "dap_pause")
            await ask(c, "dap_set_breakpoint", path=str(p), line=p.line(place))
            stop = await ask(c, "dap_continue")
            assert (stop["reason"], stop["line"]) == ("breakpoint", p.line(place))
            stop = await ask(c, "dap_step_out" if place == "add" else "dap_step_into")
            assert stop["line"] == p.line(other)


@pytest.mark.usefixtures("patches")
@story()
async def test_a_filter_for_raised_exceptions_holds_in_what_runs_already(
    tmp_path: Path, version: str
) -> None:
    text = LOOPS.replace("n += 1  #", "n += fail(n)  #").replace("def spin", FAIL)
    p, python = written(tmp_path, "loops.py", text), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), python=python, wait_until_paused=False)
        await printed(c, "go")
        await ask(c, "dap_set_exception_breakpoints", filters=["raised"])
        stop = await ask(c, "dap_wait_until_paused")
        assert (stop["reason"], stop["line"]) == ("exception", p.line("raised"))


@pytest.mark.usefixtures("patches")
@story()
async def test_a_program_of_300_threads_stops_where_it_should_after_it_ran_without_a_breakpoint(
    tmp_path: Path, version: str
) -> None:
    p, python = written(tmp_path, "crowd.py", CROWD), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), python=python, wait_until_paused=False)
        await printed(c, "go")
        point = p.at("turn", condition="n == 299")
        await ask(c, "dap_set_breakpoint", **point)
        stop = await ask(c, "dap_wait_until_paused")
        assert (stop["reason"], stop["line"]) == ("breakpoint", p.line("turn"))
        assert await evaluate(c, "(n, threading.active_count())") == "(299, 301)"
        await ask(c, "dap_clear_breakpoints")
        stop = await ask(c, "dap_step_over")
        assert (stop["reason"], stop["line"]) == ("step", p.line("while"))
        await ask(c, "dap_continue", wait_until_paused=False)
        await ask(c, "dap_pause")
        await ask(c, "dap_wait_until_paused")
        await evaluate(c, "ended.set()")
        end = await ask(c, "dap_continue")
        assert (end["state"], end["output"][-5:]) == ("ended", "over\n")


@pytest.mark.usefixtures("patches")
@story()
async def test_a_program_with_a_profiler_and_a_tracer_of_its_own_has_what_they_tell(
    tmp_path: Path, version: str
) -> None:
    p, python = written(tmp_path, "watched.py", WATCHED), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), python=python)
        # Up to Python 3.11 its own `sys.settrace(None)` has ended pydevd's tracing, too.
        assert stop["exception"].startswith("TypeError")
        assert stop["line"] == p.line("add")
        said = await read(c, "dap_program_output", since=0)
        assert "calls 50 lines 50" in said


@pytest.mark.usefixtures("patches")
@story()
async def test_a_breakpoint_binds_in_a_greenlet_that_runs_already(
    tmp_path: Path, version: str
) -> None:
    p = written(tmp_path, "greenlets.py", GREENLETS)
    python = with_packages("greenlet", version, "greenlet>=1")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), python=python, wait_until_paused=False)
        await printed(c, "go")
        await ask(c, "dap_set_breakpoint", path=str(p), line=p.line("answer"))
        stop = await ask(c, "dap_wait_until_paused")
        assert (stop["reason"], stop["line"]) == ("breakpoint", p.line("answer"))
        assert (await ask(c, "dap_step_over"))["line"] == p.line("answer") + 1
