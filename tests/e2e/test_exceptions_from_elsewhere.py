"""Exceptions of Python whose cause is elsewhere: in a worker, a task, a group; and those that no tracer sees."""

import asyncio
import re

from tests.harness import ask, client, read
from tests.processes import LIMIT
from tests.programs import program

STOPS_THERE = 'exception_filters=["userUnhandled"] stops there'


async def test_a_recursion_without_end_stops_where_it_is() -> None:
    """Python switches tracing off there, and stock debugpy lets the program run through."""
    p = program("raises.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), args=["recursion"])
        assert (stop["state"], stop["function"]) == ("stopped", "deeper")
        assert stop["exception"].startswith("RecursionError: maximum recursion depth exceeded")
        assert int(stop["locals"]["number"]) > 100
        trace = await read(c, "dap_exception_info")
        assert re.search(
            r"\n    return deeper\(number \+ 1\)\n  \[Previous line repeated \d{3} more times",
            trace,
        )
        assert trace.count("in deeper\n") < 4
        assert "pydevd" not in trace
        assert (await ask(c, "dap_continue"))["exit_code"] == 1


LOOP = """
import sys

def slot(row):
    return 1 / row

for row in (1, 0, 2):
    try:
        slot(row)
    except BaseException:
        sys.excepthook(*sys.exc_info())
"""


async def test_what_a_loop_in_c_gives_to_the_hook_stops_where_it_was_raised_and_the_loop_goes_on() -> (
    None
):
    """As Qt does with what leaves a slot."""
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", code=LOOP)
        assert (stop["line"], stop["function"], stop["locals"]["row"]) == (5, "slot", "0")
        assert stop["exception"] == "ZeroDivisionError: division by zero"
        assert (await ask(c, "dap_continue"))["exit_code"] == 0


async def test_a_group_tells_its_members_and_their_places() -> None:
    p = program("raises.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), args=["group"])
        assert stop["line"] == p.line("group")
        first, member = stop["exception"].splitlines()
        assert first == "ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)"
        assert member.startswith("  ValueError: bad number at ")
        assert member.endswith(f"raises.py:{p.line('work')} in work")
        trace = await read(c, "dap_exception_info")
        assert f'raises.py", line {p.line("work")}, in work' in trace


async def test_the_parent_of_a_worker_tells_where_the_worker_raised() -> None:
    p = program("raises.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), args=["pool"])
        assert stop["line"] == p.line("pool")
        assert f"raises.py:{p.line('work')} in work; {STOPS_THERE}" in stop["exception"]
        assert f"line {p.line('work')}, in work" in await read(c, "dap_exception_info")


async def test_what_asyncio_catches_is_told() -> None:
    p = program("raises.py")
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", program=str(p), args=["callback"])
        place = f"fixtures/programs/raises.py:{p.line('work')}"
        assert end["notes"][-1] == (
            f"asyncio callback failed at {place}: ValueError: bad number; {STOPS_THERE}"
        )
        stop = await ask(
            c,
            "dap_run",
            program=str(p),
            args=["callback"],
            exception_filters=["userUnhandled"],
        )
        assert (stop["line"], stop["function"]) == (p.line("work"), "work")
        assert stop["exception"] == "ValueError: bad number"


async def test_a_traceback_has_one_order_from_the_first_cause_on() -> None:
    p = program("raises.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), args=["chained"])
        stack = [line.partition(" [")[0] for line in stop["stack"]]
        place = "fixtures/programs/raises.py"
        assert stack[-3:] == [
            "(before it: ValueError: bad number)",
            f"work {place}:{p.line('work')}",
            f"chained {place}:{p.line('tried')}",
        ]
        told = (await read(c, "dap_exception_info")).splitlines()
        assert told[0] == "  KeyError: 'outer' (unhandled)"
        places = [line.split(", ")[1] for line in told if line.startswith("  File ")]
        lines = [int(place.split()[1]) for place in places]
        names = [p.line("tried"), p.line("work")]
        assert lines[:2] == names
        assert lines[-1] == p.line("chained")
        assert "launcher" not in "".join(told)
        assert sum(line.startswith("  KeyError: 'outer'") for line in told) == 1
        assert f'  File "fixtures/programs/raises.py", line {p.line("tried")}, in chained' in told
