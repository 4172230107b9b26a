"""Steps over and out of what raises, in each Python: `DAPEER_PYTHONS=all uv run pytest tests/matrix`."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.harness import ask, client, read
from tests.matrix.interpreters import story
from tests.matrix.test_stories import written
from tests.processes import LIMIT
from tests.pythons import python_of

WAYS = """
import asyncio
import contextlib
import json


def bad():
    raise ValueError("no price")  # @raise


class Till:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.closed = True


def call():
    bad()


def through_a_function():
    try:
        call()
    except ValueError:  # @through_a_function
        pass


def through_a_with_block():
    try:
        with Till():
            bad()
    except ValueError:  # @through_a_with_block
        pass


def ended_by_a_with_block():
    with contextlib.suppress(ValueError):
        bad()
    seen = True  # @ended_by_a_with_block
    return seen


def numbers():
    yield 1
    bad()


def through_a_generator():
    try:
        for each in numbers():
            seen = each
    except ValueError:  # @through_a_generator
        pass


def through_c():
    try:
        list(map(lambda _: bad(), [1]))  # @here
    except ValueError:  # @through_c
        pass


def through_a_library():
    try:
        json.loads("{}", object_hook=lambda _: bad())  # @there
    except ValueError:  # @through_a_library
        pass


def to_a_finally():
    try:
        try:
            bad()
        finally:
            seen = True  # @to_a_finally
    except ValueError:
        return seen


async def load():
    await asyncio.sleep(0)
    bad()


async def locked():
    async with asyncio.Lock():
        await load()


async def catching(awaited):
    try:
        await awaited
    except ValueError:  # @coroutines
        pass


def through_coroutines():
    asyncio.run(catching(load()))


def through_an_async_with():
    asyncio.run(catching(locked()))


async def waiting():
    await catching(asyncio.ensure_future(load()))


def through_a_task():
    asyncio.run(waiting())


for way in list(globals().values()):
    if getattr(way, "__name__", "").startswith(("through", "ended", "to_")):
        way()
print("end")
"""
COROUTINES = ("through_coroutines", "through_an_async_with", "through_a_task")


@story()
@pytest.mark.parametrize("step", ["dap_step_over", "dap_step_out"])
async def test_a_step_from_what_raises_arrives_at_the_line_that_catches(
    tmp_path: Path, version: str, step: str
) -> None:
    p = written(tmp_path, "ways.py", WAYS)
    ways = re.findall(r"^def ((?:through|ended|to)_\w+)", WAYS, re.MULTILINE)
    wanted = {way: p.line("coroutines" if way in COROUTINES else way) for way in ways}
    python = python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        start = {"breakpoints": [p.at("raise")], "exception_filters": [], "python": python}
        stop = await ask(c, "dap_run", program=str(p), **start)
        arrived: dict[str, int] = {}
        for way in ways:
            stop = await ask(c, step)
            # A lambda of the program is on the way, and is named first.
            while stop.get("line") in {p.line("here"), p.line("there")}:
                stop = await ask(c, step)
            arrived[way] = stop["line"]
            stop = await ask(c, "dap_continue")
        assert arrived == wanted
        assert (stop["state"], stop["exit_code"]) == ("ended", 0)


@story()
async def test_a_function_that_has_raised_has_not_returned(tmp_path: Path, version: str) -> None:
    p, python = written(tmp_path, "ways.py", WAYS), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("raise")], python=python)
        stop = await ask(c, "dap_step_over")
        assert stop["raised"] == "bad: ValueError: no price"
        assert "returned" not in stop
        assert [name for name in stop.get("locals", {}) if "return" in name] == []
        assert "Raised in bad: ValueError: no price" in await read(c, "dap_snapshot")


WAITING = """
import asyncio


def numbers():
    yield 1  # @number
    yield 2


def summed():
    total = 0
    for each in numbers():  # @consumer
        total += each
    return total


async def load(value):
    try:
        raise ValueError(value)
    except ValueError:
        await asyncio.sleep(0)
    return value  # @value


async def one():
    got = await asyncio.ensure_future(load(1))
    return got  # @one


async def both():
    got = await asyncio.gather(load(2), asyncio.sleep(0))
    return got  # @both


async def shielded():
    got = await asyncio.shield(load(3))
    return got  # @shielded


async def main():
    await one()
    await both()
    await shielded()


summed()
asyncio.run(main())
"""


@story()
@pytest.mark.parametrize("step", ["dap_step_over", "dap_step_out"])
async def test_a_step_out_of_a_generator_or_a_task_lands_in_what_waits_for_it(
    tmp_path: Path, version: str, step: str
) -> None:
    p, python = written(tmp_path, "waiting.py", WAITING), python_of(version)
    wanted = [p.at("number"), p.at("value")]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=wanted, python=python)
        stop = await ask(c, step)
        assert stop["line"] == p.line("consumer" if step == "dap_step_out" else "number") + 1
        for waits in ("one", "both", "shielded"):
            await ask(c, "dap_continue")
            stop = await ask(c, step)
            assert (stop["function"], stop["line"]) == (waits, p.line(waits))
            assert "raised" not in stop


GIVING = """
import asyncio
import contextlib


def numbers():
    yield 1  # @gives
    yield 2


def pulled():
    every = numbers()
    first = next(every)
    return first, every  # @pulled


def sent():
    every = (each for each in numbers())
    first = every.send(None)
    return first, every  # @sent


def passed_on():
    yield from numbers()


def handed_through():
    for each in passed_on():
        return each  # @handed_through


@contextlib.contextmanager
def opened():
    yield from numbers()


def entered():
    with contextlib.suppress(RuntimeError), opened():  # @entered
        return 1


async def later():
    await asyncio.sleep(0)
    yield 1  # @later


async def looped():
    async for each in later():
        return each  # @looped


class Ready:
    def __await__(self):
        yield  # @part
        return 1


async def awaiting():
    got = await Ready()  # @awaiting
    return got


pulled()
sent()
handed_through()
entered()
asyncio.run(looped())
asyncio.run(awaiting())
"""


@story()
async def test_a_step_out_of_a_generator_lands_in_what_takes_its_value(
    tmp_path: Path, version: str
) -> None:
    p, python = written(tmp_path, "giving.py", GIVING), python_of(version)
    wanted = [p.at("gives"), p.at("later"), p.at("part")]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=wanted, python=python)
        arrived: list[tuple[str, int]] = []
        while stop["state"] == "stopped":
            stop = await ask(c, "dap_step_out")
            arrived.append((stop["function"], stop["line"]))
            stop = await ask(c, "dap_continue")
        ways = ("pulled", "sent", "handed_through", "entered", "looped", "awaiting")
        assert arrived == [(way, p.line(way)) for way in ways]


STREAM = """
import asyncio


async def parts():
    await asyncio.sleep(0.01)  # @waits
    first = 1
    yield first
    try:
        yield 2
        raise ValueError
    except ValueError:
        await asyncio.sleep(0)


async def taking():
    async for each in parts():
        await asyncio.sleep(0)
    return each


async def beside():
    for _ in range(100):
        await asyncio.sleep(0.001)


async def main():
    await asyncio.gather(taking(), beside())


asyncio.run(main())
"""


@story()
async def test_steps_over_what_an_asynchronous_generator_waits_for_and_gives_stay_in_it(
    tmp_path: Path, version: str
) -> None:
    p, python = written(tmp_path, "stream.py", STREAM), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(
            c, "dap_run", program=str(p), breakpoints=[p.at("waits")], python=python,
            exception_filters=[],
        )  # fmt: skip
        arrived: list[tuple[str, int]] = []
        while (stop["function"], len(arrived) < 10) == ("parts", True):
            stop = await ask(c, "dap_step_over")
            arrived.append((stop["function"], stop["line"] - p.line("waits")))
        inside = [("parts", n) for n in (1, 2, 3, 4, 5, 6, 7)]
        assert (arrived[:-1], stop["function"]) == (inside, "taking")
