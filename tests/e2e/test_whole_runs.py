"""Bugs far from their symptoms: each is found by one or two questions about the whole run."""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import client, read
from tests.processes import LIMIT
from tests.programs import Program

ONE_GENERATOR_FOR_TWO_KEYS = """
CACHE = {}


def load(name):
    rows = (row for row in (3, 4))
    CACHE[name] = CACHE[name.upper()] = rows


def total(key):
    found = CACHE[key]
    cost = sum(found)
    return cost  # @read


load("tea")
assert total("tea") == total("TEA")
"""
PUBLISHED_BEFORE_IT_IS_FILLED = """
import threading

PRICES = None
published, looked = threading.Event(), threading.Event()


def prices():
    global PRICES
    if PRICES is None:
        PRICES = {}
        published.set()
        looked.wait(9)
        PRICES.update(tea=3, milk=2)
    return PRICES  # @get


def pay():
    published.wait(9)
    print(prices().get("tea"))
    looked.set()


waiter = threading.Thread(target=pay, name="waiter")
waiter.start()
prices()
waiter.join()
"""
PUT_BACK_IN_REVERSE = """
import asyncio
from collections import deque

QUEUE = deque("abcd")


def put_back(part):
    QUEUE.appendleft(part)
    return QUEUE  # @back


async def get():
    taken = [QUEUE.popleft(), QUEUE.popleft()]
    try:
        await asyncio.sleep(9)
    except asyncio.CancelledError:
        for part in taken:
            put_back(part)
        raise


async def main():
    try:
        await asyncio.wait_for(get(), 0.01)
    except asyncio.TimeoutError:
        assert "".join(QUEUE) == "abcd"


asyncio.run(main())
"""
A_KEY_WITHOUT_A_FIELD = """
CACHE = {}


def price(article, country):
    key = article
    if key not in CACHE:
        CACHE[key] = len(article) * (19 if country == "DE" else 7)
    cost = CACHE[key]
    return cost  # @price


bill = [price(article, country) for country in ("DE", "CH") for article in ("tea", "milk")]
assert bill[2:] == [21, 28]
"""
A_CACHE_FOR_TWO_CONTEXTS = """
class Context:
    def __init__(self, name, base=None):
        self.name = name
        self.cache = base.cache if base else {}

    def keep(self, key, value):
        self.cache[key] = value  # @keep

    def find(self, key):
        value = self.cache.get(key)
        return value  # @find


base = Context("base")
request = Context("request", base)
request.keep("user", "ada")
assert base.find("user") is None
"""
CHANGED_BEFORE_IT_IS_SAVED = """
class State:
    def __init__(self):
        self.counts = [0] * 16


def scan(state):
    state.counts[12] += 1  # @culprit


def save(state):
    return list(state.counts)


state = State()
state.counts[12] = 7  # @begin
scan(state)
saved = save(state)
scan(state)
assert saved[12] == 7
"""
A_COPY_THAT_SHARES_ITS_LIST = """
class Text:
    def __init__(self, spans):
        self.spans = spans

    def copy(self):
        return Text(self.spans)

    def style(self, span):
        self.spans.append(span)  # @culprit


title = Text(["bold"])
header = title.copy()
print("copied")  # @begin
header.style("red")
assert title.spans == ["bold"]
"""
AN_INDEX_THAT_OUTLIVES_ITS_ITEMS = """
DEAD, ITEMS = [], []


def keep(item):
    ITEMS.append(item)
    if item % 3 == 0:
        DEAD.append(len(ITEMS))


def cut(size):
    del ITEMS[size:]  # @culprit


size = 9  # @begin
for item in range(size):
    keep(item)
cut(8)
cut(4)
assert all(place <= len(ITEMS) for place in DEAD)
"""


class Question:
    """Asks about a program, and counts the calls that it takes."""

    def __init__(self, asked: Client, program: Program) -> None:
        self._client = asked
        self.program = program
        self.calls = 0

    async def run(self, *points: dict[str, object], **more: object) -> str:
        """Run the program with breakpoints; return what is answered."""
        return await self.ask("dap_run", program=str(self.program), breakpoints=[*points], **more)

    async def ask(self, tool: str, **arguments: object) -> str:
        """Call a tool; return the text of its answer."""
        self.calls += 1
        return await read(self._client, tool, **arguments)


@asynccontextmanager
async def question(folder: Path, source: str) -> AsyncGenerator[Question]:
    """Give somebody a program with a bug; they have two calls."""
    path = folder / "shop.py"
    path.write_text(source, encoding="utf-8")
    async with asyncio.timeout(LIMIT), client(folder) as c:
        asked = Question(c, Program(path, path))
        yield asked
        assert asked.calls <= 2


@pytest.mark.parametrize(
    ("source", "collected", "told"),
    [
        (
            ONE_GENERATOR_FOR_TWO_KEYS,
            {"read": ["key", "type(found).__name__", "id(found)", "cost"]},
            [
                r"always type\(found\).__name__ = 'generator', id\(found\) = \d+$",
                r"#1 key = 'tea', cost = 7$",
                r"#2 key = 'TEA', cost = 0$",
            ],
        ),
        (
            PUBLISHED_BEFORE_IT_IS_FILLED,
            {"get": ["len(PRICES)"]},
            [
                r"#1 waiter, pay shop.py:\d+, len\(PRICES\) = 0$",
                r"#2 MainThread, <module> shop.py:\d+, len\(PRICES\) = 2$",
            ],
        ),
        (
            PUT_BACK_IN_REVERSE,
            {"back": ["part", "list(QUEUE)"]},
            [
                r"#1 part = 'a', list\(QUEUE\) = \['a', 'c', 'd'\]$",
                r"#2 part = 'b', list\(QUEUE\) = \['b', 'a', 'c', 'd'\]$",
            ],
        ),
        (
            A_KEY_WITHOUT_A_FIELD,
            {"price": ["country", "article", "key", "cost"]},
            [
                r"key same as article$",
                r"#1 country = 'DE', article = 'tea', cost = 57$",
                r"#3 country = 'CH', article = 'tea', cost = 57$",
            ],
        ),
        (
            A_CACHE_FOR_TWO_CONTEXTS,
            {
                "keep": ["self.name", "value", "id(self.cache)"],
                "find": ["self.name", "value", "id(self.cache)"],
            },
            [
                r"#1 shop.py:\d+ self.name = 'request', value = 'ada', id\(self.cache\) = (\d+)\n"
                r" +#2 shop.py:\d+ self.name = 'base', value = 'ada', id\(self.cache\) = \1$",
            ],
        ),
    ],
    ids=["generator", "published", "reverse", "key", "contexts"],
)
async def test_one_run_that_collects_shows_the_culprit(
    tmp_path: Path, source: str, collected: dict[str, list[str]], told: Sequence[str]
) -> None:
    async with question(tmp_path, source) as asked:
        at = asked.program.at
        answer = await asked.run(*(at(name, collect=each) for name, each in collected.items()))
        for marker in collected:
            assert f"  shop.py:{asked.program.line(marker)}" in answer
        for each in told:
            assert re.search(each, answer, re.MULTILINE), answer
        assert asked.calls == 1


@pytest.mark.parametrize(
    ("source", "evaluated", "until", "told"),
    [
        (
            CHANGED_BEFORE_IT_IS_SAVED,
            "state.counts[12]",
            {"expression": "state.counts[12]", "on": "write", "every": True},
            r"#2 <module> shop.py:\d+, {}:{} in scan, before = 7, after = 8$",
        ),
        (
            A_COPY_THAT_SHARES_ITS_LIST,
            "header.spans is title.spans",
            {"expression": "len(title.spans)", "on": "change"},
            r"{}:{} in (?:Text\.)?style changed `len\(title.spans\)`: 1 → 2\b",
        ),
        (
            AN_INDEX_THAT_OUTLIVES_ITS_ITEMS,
            "len(ITEMS)",
            {"expression": "DEAD and DEAD[-1] > len(ITEMS)"},
            r"`DEAD and DEAD\[-1\] > len\(ITEMS\)` holds after {}:{} in cut\b",
        ),
    ],
    ids=["saved", "copy", "index"],
)
async def test_two_calls_lead_to_the_line_that_did_it(
    tmp_path: Path, source: str, evaluated: str, until: dict[str, object], told: str
) -> None:
    async with question(tmp_path, source) as asked:
        begins = await asked.run(asked.program.at("begin"), evaluate=[evaluated])
        if "copy" in source:
            assert f"{evaluated} = True" in begins
        answer = await asked.ask("dap_run_until", **until)
        place = re.escape("shop.py"), asked.program.line("culprit")
        assert re.search(told.format(*place), answer, re.MULTILINE), answer
        assert asked.calls == 2
