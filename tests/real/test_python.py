"""Bugs in Python packages, found as an assistant would."""

import asyncio
import re
import urllib.request
from pathlib import Path

import pytest

from tests.e2e.running import free_port
from tests.real.assistant import assistant, broken, line_of
from tests.real.software import environment, site_packages

SECONDS = 120


def project_of(environment_name: str, package: str, folder: Path, file: str, *bug: str) -> Path:
    """Copy a package into a project whose own copy wins; return the file that has the bug."""
    installed = site_packages(environment(environment_name)) / package
    return broken(installed, folder / package, file, *bug)


async def test_networkx_a_failing_test_shows_its_values_in_one_call(tmp_path: Path) -> None:
    dijkstra = project_of(
        "networkx", "networkx", tmp_path, "algorithms/shortest_paths/weighted.py",
        "u not in seen or vu_dist < seen[u]:", "u not in seen or vu_dist > seen[u]:",
    )  # fmt: skip
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -n 2\n", encoding="utf-8")
    test = "networkx/algorithms/shortest_paths/tests/test_weighted.py"
    python = str(environment("networkx"))
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(program=f"{test}::TestWeightedPath::test_dijkstra", python=python)
        assert stop.startswith("Stopped (exception"), stop
        assert f"{test}:" in stop.splitlines()[0], stop
        assert "AssertionError: assert 9 == 13" in stop
        # What the failing line speaks of comes first.
        assert stop.partition("Locals:\n")[2].split()[:5] == [
            "computed",
            "=",
            "13",
            "soln_len",
            "=",
        ]
        assert "path = ['s', 'x', 'y', 'v']" in stop
        assert a.calls == 1
        await a.read("dap_terminate")
        stop = await a.run(
            program=f"{test}::TestWeightedPath::test_dijkstra", python=python,
            breakpoints=[{
                "filename": str(dijkstra), "line": line_of(dijkstra, "vu_dist > seen[u]:"),
                "condition": "u == 'v' and v == 'x'",
            }],
        )  # fmt: skip
        # What the line itself speaks of comes before what is first in the alphabet.
        for name in ("seen = {", "u = 'v'", "vu_dist = "):
            assert name in stop, stop


def request(url: str) -> str:
    """Ask a server, as a user's browser would, while the debugger holds it."""
    with urllib.request.urlopen(url, timeout=SECONDS) as answer:  # noqa: S310 - our own server
        return answer.read().decode()


TRIO = """
import {library}

async def take(one, other):
    async with one:
        await {library}.sleep(0.1)
        async with other:
            print("never")

async def main():
    a, b = {library}.Lock(), {library}.Lock()
    async with {group}() as group:
        group.start_soon(take, a, b, name="up")
        group.start_soon(take, b, a, name="down")

{run}
"""


@pytest.mark.parametrize(
    ("library", "group", "run"),
    [
        ("trio", "trio.open_nursery", "trio.run(main)"),
        ("anyio", "anyio.create_task_group", "anyio.run(main, backend='trio')"),
    ],
)
async def test_a_deadlock_of_trio_is_named_task_by_task(
    tmp_path: Path, library: str, group: str, run: str
) -> None:
    (tmp_path / "tasks.py").write_text(TRIO.format(library=library, group=group, run=run))
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        python = str(environment("trio"))
        await a.run(program="tasks.py", python=python, wait_until_paused=False)
        while "Deadlock:" not in await a.read("dap_threads"):
            pass
        # Where tasks are is asked before what they wait for, and may have been from before.
        told = await a.read("dap_threads")
        since = " since tasks.py:5" if library == "trio" else ""
        for one, other in (("up", "down"), ("down", "up")):
            assert f"task {one} waits for trio Lock other, held by task {other}{since}\n" in told
        assert "in take, inside __aenter__" in told
        assert "; in a nursery of __main__.main\n" in told
        assert "task __main__.main waits for the tasks of its nursery, task " in told
        [frame] = re.findall(r"^  up .* \[frame_id (\d+)\]", told, re.MULTILINE)
        assert "other = " in await a.read("dap_variables", frame_id=int(frame))
        await a.read("dap_terminate")


LIMITER = """\
import trio

slots = trio.CapacityLimiter(1)

async def render():
    async with slots:
        await trio.sleep_forever()

async def queue():
    async with slots:
        print("never")

async def main():
    async with trio.open_nursery() as group:
        group.start_soon(render, name="one")
        await trio.sleep(0.1)
        group.start_soon(queue, name="a")

trio.run(main)
"""


async def test_a_limiter_of_trio_names_who_has_its_tokens(tmp_path: Path) -> None:
    (tmp_path / "slots.py").write_text(LIMITER)
    held = "task a waits for trio CapacityLimiter slots, held by task one since slots.py:6\n"
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        python = str(environment("trio"))
        await a.run(program="slots.py", python=python, wait_until_paused=False)
        while held not in await a.read("dap_threads"):
            pass
        await a.read("dap_terminate")


TWISTED = """
import gc
from twisted.internet import defer, reactor, task
from twisted.logger import Logger


gc.set_threshold(0)  # another thread may collect, and is not stopped then


def tick():
    raise KeyError("tick")


@defer.inlineCallbacks
def half(number):
    found = yield task.deferLater(reactor, 0, lambda: number)
    return found / 0


def fire(deferred):
    deferred.errback(ValueError("not raised"))


task.deferLater(reactor, 0, tick).addErrback(lambda failure: Logger().failure("mine", failure))
task.deferLater(reactor, 0, tick).addErrback(defer.logError).addErrback(lambda _: None)
reactor.callLater(0, tick)
reactor.callLater(0, fire, defer.Deferred())
half(7)
reactor.callLater(0.1, reactor.stop)
reactor.run()
"""


async def test_an_error_that_no_errback_of_twisted_handles_stops_where_it_was_raised(
    tmp_path: Path,
) -> None:
    (tmp_path / "loop.py").write_text(TWISTED)
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        told = [await a.run(program="loop.py", python=str(environment("twisted")))]
        while not told[-1].startswith("Ended, exit code 0"):
            told.append(await a.read("dap_continue"))
        stops = sorted(" ".join(each.split()[:8]) for each in told[:-1])
        assert stops == [
            "Stopped (exception) at loop.py:11 in tick KeyError: 'tick'",
            "Stopped (exception) at loop.py:17 in half ZeroDivisionError: division",
            "Stopped (exception) at loop.py:30 in <module> ValueError: not",
        ]
        assert "found = 7" in "".join(told)


SHOP_FASTAPI = """
from fastapi import FastAPI

app = FastAPI()
PRICES = {"tea": 4, "pot": 30}


@app.get("/sync/{name}")
def price(name: str) -> dict:
    total = PRICES[name]
    return {"total": total}


@app.get("/async/{name}")
async def price_soon(name: str) -> dict:
    amount = PRICES[name]
    return {"total": amount}
"""


@pytest.mark.parametrize("options", [[], ["--reload"]], ids=["plain", "reload"])
async def test_fastapi_stops_in_a_route_while_a_client_waits(
    tmp_path: Path, options: list[str]
) -> None:
    (tmp_path / "shop.py").write_text(SHOP_FASTAPI, encoding="utf-8")
    port = free_port()
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        await a.run(
            module="uvicorn", args=["shop:app", "--port", str(port), *options],
            python=str(environment("web")), wait_until_paused=False,
            breakpoints=[
                {"filename": "shop.py", "line": line_of(tmp_path / "shop.py", '{"total": total}')},
                {"filename": "shop.py", "line": line_of(tmp_path / "shop.py", '{"total": amount}')},
            ],
        )  # fmt: skip
        await a.until_printed("Application startup complete")
        for way, name in (("sync", "total"), ("async", "amount")):
            answer = asyncio.create_task(
                asyncio.to_thread(request, f"http://127.0.0.1:{port}/{way}/pot")
            )
            stop = await a.read("dap_wait_until_paused", timeout_ms=SECONDS * 1000)
            assert "shop.py" in stop.splitlines()[0], stop
            assert f"{name} = 30" in stop
            await a.read("dap_continue", wait_until_paused=False)
            assert await answer == '{"total":30}'
        await a.read("dap_terminate")


SHOP_FLASK = """
from flask import Flask, jsonify

app = Flask(__name__)


@app.route("/<int:count>")
def total(count):
    price = 4 * count
    return jsonify(total=price)


app.run(port=PORT, debug=True)
"""


async def test_flask_with_its_reloader_stops_in_the_process_that_serves(tmp_path: Path) -> None:
    port = free_port()
    shop = tmp_path / "shop.py"
    shop.write_text(SHOP_FLASK.replace("PORT", str(port)), encoding="utf-8")
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        line = line_of(shop, "jsonify(total=price)")
        await a.run(
            program="shop.py", python=str(environment("web")), wait_until_paused=False,
            breakpoints=[{"filename": "shop.py", "line": line}],
        )  # fmt: skip
        await a.until_printed("Running on")
        answer = asyncio.create_task(asyncio.to_thread(request, f"http://127.0.0.1:{port}/3"))
        stop = await a.read("dap_wait_until_paused", timeout_ms=SECONDS * 1000)
        assert f"shop.py:{line} in total" in stop, stop
        assert "price = 12" in stop
        await a.read("dap_continue", wait_until_paused=False)
        assert '"total": 12' in await answer
        await a.read("dap_terminate")


@pytest.mark.parametrize(
    "asked",
    [
        {"program": "manage.py", "args": ["test", "blog"]},
        {"program": "manage.py", "args": ["test", "blog.tests.SlugTest.test_a_title"]},
        {"program": "blog/tests.py::SlugTest::test_a_title"},
    ],
    ids=["all", "one", "node id"],
)
async def test_django_a_failing_test_of_manage_py_stops_in_the_test(
    tmp_path: Path, asked: dict[str, object]
) -> None:
    text = project_of(
        "web", "django", tmp_path, "utils/text.py",
        'value = re.sub(r"[^\\w\\s-]", "", value.lower())', 'value = re.sub(r"[^\\w\\s-]", "", value)',
    )  # fmt: skip
    (tmp_path / "manage.py").write_text(MANAGE, encoding="utf-8")
    app = tmp_path / "blog"
    app.mkdir()
    (app / "__init__.py").touch()
    (app / "tests.py").write_text(BLOG_TESTS, encoding="utf-8")
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(
            **asked,
            python=str(environment("web")),
            # pydevd looks for Django before the program's own folder is on sys.path.
            env={"PYTHONPATH": str(tmp_path)},
        )
        assert f"blog/tests.py:{line_of(app / 'tests.py', 'assertEqual')}" in stop, stop
        assert "slug = 'Hello-World'" in stop
        assert "AssertionError: 'Hello-World' != 'hello-world'" in stop
        assert a.calls == 1
    assert text.exists()


MANAGE = """
import sys

from django.conf import settings
from django.core.management import execute_from_command_line

settings.configure(
    INSTALLED_APPS=["blog"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
)
execute_from_command_line(sys.argv)
"""
BLOG_TESTS = """
from django.test import SimpleTestCase
from django.utils.text import slugify


class SlugTest(SimpleTestCase):
    def test_a_title(self):
        title = "Hello, World"
        slug = slugify(title)
        self.assertEqual(slug, "hello-world")
"""


async def test_click_a_console_script_stops_where_the_library_goes_wrong(tmp_path: Path) -> None:
    formatting = project_of(
        "click", "click", tmp_path, "formatting.py",
        "yield row + (\"\",) * (col_count - len(row))", "yield row + (\"\",) * (len(row) - col_count)",
    )  # fmt: skip
    (tmp_path / "tool.py").write_text(TOOL, encoding="utf-8")
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(
            program="tool.py", args=["--help"], python=str(environment("click")),
            breakpoints=[{"filename": str(formatting), "line": line_of(formatting, "len(row) - col_count"),
                          "condition": "len(row) != col_count"}],
        )  # fmt: skip
        assert "Ended, exit code 0" in stop, stop
        assert "Not hit: click/formatting.py" in stop
        stop = await a.run(
            program="tool.py", args=["--help"], python=str(environment("click")),
            breakpoints=[{"filename": str(formatting), "line": line_of(formatting, "len(row) - col_count")}],
        )  # fmt: skip
        assert "in iter_rows" in stop.splitlines()[0], stop
        assert "col_count = 2" in stop


TOOL = """
import click


@click.command()
@click.option("--count", default=1, help="How many.")
def tool(count):
    click.echo(count)


tool()
"""


async def test_pandas_a_frame_shows_its_shape_its_head_and_what_is_missing(tmp_path: Path) -> None:
    sales = tmp_path / "sales.py"
    sales.write_text(SALES, encoding="utf-8")
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(
            program="sales.py", python=str(environment("pandas")),
            breakpoints=[{"filename": "sales.py", "line": line_of(sales, "total = ")}],
        )  # fmt: skip
        assert "in main" in stop.splitlines()[0], stop
        assert "1000" in stop, stop
        assert "50" in stop
        assert "float64" in stop
        assert a.calls == 1


SALES = """
import numpy as np
import pandas as pd


def main():
    frame = pd.DataFrame(np.arange(50_000.0).reshape(1000, 50), columns=[f"c{n}" for n in range(50)])
    frame.loc[3, "c1"] = None
    column = frame["c1"]
    array = frame.to_numpy()
    total = column.sum()
    print(total)


main()
"""
