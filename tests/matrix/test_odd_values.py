"""Values that do not want to be looked at, in each Python: each hides nothing but itself."""

import asyncio
from pathlib import Path

from tests.harness import ask, client, evaluate
from tests.matrix.interpreters import story
from tests.matrix.test_stories import written
from tests.processes import LIMIT
from tests.pythons import python_of

ODD = """
import weakref


class Node:
    pass


class Loud:
    def __getattribute__(self, name):
        raise RuntimeError(name)


class WithoutClass:
    @property
    def __class__(self):
        raise SystemExit("class")


class Exits(type):
    def __getattribute__(cls, name):
        raise SystemExit(name)

    def __instancecheck__(cls, value):
        raise KeyboardInterrupt


class OfIt(metaclass=Exits):
    pass


class Listed(list):
    def __len__(self):
        raise SystemExit

    __iter__ = __getitem__ = __len__


def look():
    total = 17
    node = Node()
    alive = weakref.proxy(node)
    dead = weakref.proxy(Node())
    loud, lost, exits, listed = Loud(), WithoutClass(), OfIt(), Listed([1])
    return total  # @look


look()
globals()[3] = "three"
globals()["a", 1] = "pair"
print("looked")  # @module


class Shelf:
    books = 1
    locals()[4] = "four"
    full = True  # @class
"""


@story()
async def test_an_odd_object_hides_no_other_variable(tmp_path: Path, version: str) -> None:
    p, python = written(tmp_path, "odd.py", ODD), python_of(version)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")], python=python)
        shown = (await ask(c, "dap_variables"))["variables"]
        seen = {each["name"]: each["value"].partition(" object at")[0] for each in shown}
        assert seen == {
            "total": "17",
            "node": "<__main__.Node",
            "alive": "<weakproxy to Node>",
            "dead": "<weakproxy to nothing>",
            "loud": "<__main__.Loud",
            "lost": "<__main__.WithoutClass",
            "exits": "<__main__.OfIt",
            "listed": "[1]",
        }
        assert (await ask(c, "dap_continue"))["exit_code"] == 0


INNER = """
import weakref


class Outer:
    class Inner:
        pass


inner = Outer.Inner()
alive = weakref.proxy(inner)
"""


@story()
async def test_a_proxy_of_a_class_elsewhere_is_alive(tmp_path: Path, version: str) -> None:
    written(tmp_path, "shop.py", INNER)
    p = written(tmp_path, "main.py", "import shop\nalive = shop.alive\nprint(1)  # @look\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        start = {"breakpoints": [p.at("look")], "python": python_of(version)}
        stop = await ask(c, "dap_run", program=str(p), **start)
        assert stop["locals"]["alive"] == "<weakproxy to Inner>"


@story()
async def test_a_key_that_is_no_name_hides_no_variable_and_these_can_be_set(
    tmp_path: Path, version: str
) -> None:
    p, python = written(tmp_path, "odd.py", ODD), python_of(version)
    points = [p.at("module"), p.at("class")]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(p), breakpoints=points, python=python)
        shown = (await ask(c, "dap_variables"))["variables"]
        assert {each["name"]: each["value"] for each in shown if each["type"] == "str"} == {
            "3": "'three'",
            "('a', 1)": "'pair'",
        }
        stop = await ask(c, "dap_continue")
        assert stop["locals"] == {"books": "1", "4": "'four'"}
        await ask(c, "dap_set_variable", path="books", value="2")
        assert await evaluate(c, "books") == "2"
        assert (await ask(c, "dap_continue"))["exit_code"] == 0
