"""The page that shows a person what programs collect, as it comes."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

from mcp import Client

from dapeer.mcp.all_tools import TOOLS
from tests.harness import DATA, ask
from tests.json_types import Json
from tests.mcp.small import http_client, over_http, streamable
from tests.processes import LIMIT

SHOP = """
name, password = "<img src=x onerror=alert(1)>", "hunter2hunter2"
for number in range(40):
    cost = None if number == 20 else number * 2
    print(cost)  # @cost
input()
"""
COLLECTS = {"collect": ["cost", "name", "password"]}


async def picture(lines: AsyncIterator[str]) -> Json:
    """Return the next thing that a page is told."""
    return json.loads(await anext(lines))


async def test_a_page_shows_a_plot_the_odd_row_and_the_last_rows_when_they_come(
    tmp_path: Path,
) -> None:
    path = tmp_path / "shop.py"
    path.write_text(SHOP, encoding="utf-8")
    async with (
        asyncio.timeout(LIMIT),
        over_http(TOOLS) as (_, url),
        http_client() as web,
        web.stream("GET", f"{url}/live/rows") as answer,
        Client(streamable(url), extensions=DATA) as c,
    ):
        lines = answer.aiter_lines()
        assert await picture(lines) == {"programs": []}
        points = [{"filename": str(path), "line": 5, **COLLECTS}]
        asked = asyncio.create_task(
            ask(c, "dap_run", program=str(path), breakpoints=points, terminal=True, timeout_ms=900)
        )
        shown: list[Json] = []
        while not shown or len(shown[0]["rows"]) < 12 or shown[0]["rows"][-1][0] != "#40":
            told = (await picture(lines))["programs"]
            shown = told[0]["points"] if told else []
        await asked
        (cost,) = shown[0]["plots"]
        assert (cost["name"], cost["low"], cost["high"]) == ("cost", 0, 78)
        assert cost["band"][19:22] == [[38, 38], None, [42, 42]]
        assert cost["hits"][19:22] == [20, 21, 22]
        odd = zip(shown[0]["rows"], shown[0]["why"], strict=True)
        assert [(row[:2], why) for row, why in odd if why] == [
            (["#21", "None"], "cost the only None")
        ]
        assert shown[0]["columns"] == ["cost", "name", "password"]
        last = ["#40", "78", "'<img src=x onerror=alert(1)>'", "'<redacted: password>'"]
        assert shown[0]["rows"][-1] == last
        await ask(c, "dap_terminate")


async def test_a_page_shows_a_program_before_it_has_rows(tmp_path: Path) -> None:
    path = tmp_path / "shop.py"
    path.write_text(SHOP, encoding="utf-8")
    points = [{"filename": str(path), "line": 3}, {"filename": str(path), "line": 5, **COLLECTS}]
    async with (
        asyncio.timeout(LIMIT),
        over_http(TOOLS) as (_, url),
        http_client() as web,
        Client(streamable(url), extensions=DATA) as c,
    ):
        await ask(c, "dap_run", program=str(path), breakpoints=points)
        async with web.stream("GET", f"{url}/live/rows") as answer:
            (told,) = (await picture(answer.aiter_lines()))["programs"]
        assert (told["name"], told["state"]) == ("1 shop.py", "stopped")
        assert told["place"].endswith("shop.py:3")
        assert (told["points"], len(told["awaited"])) == ([], 1)
        assert told["awaited"][0].endswith("shop.py:5")
        await ask(c, "dap_terminate")


async def test_a_page_names_what_a_program_is_run_until(tmp_path: Path) -> None:
    path = tmp_path / "shop.py"
    path.write_text(SHOP, encoding="utf-8")
    points = [{"filename": str(path), "line": 3}]
    async with (
        asyncio.timeout(LIMIT),
        over_http(TOOLS) as (_, url),
        http_client() as web,
        Client(streamable(url), extensions=DATA) as c,
    ):
        await ask(c, "dap_run", program=str(path), breakpoints=points, terminal=True)
        await ask(c, "dap_remove_breakpoint", filename=str(path), line=3)
        await ask(c, "dap_run_until", expression="number > 100", timeout_ms=900)
        async with web.stream("GET", f"{url}/live/rows") as answer:
            (told,) = (await picture(answer.aiter_lines()))["programs"]
        assert (told["state"], told["awaited"]) == ("running", ["until number > 100"])
        assert told["points"] == [], "rows on the watching itself are not shown"
        await ask(c, "dap_terminate")


async def test_what_a_program_hides_in_its_values_and_names_is_seen_on_the_page(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a\u202e\x1b[2J.py"
    path.write_text("for n in range(3):\n    text = 'b\\u202e\\x1b[2J\\u200b'\n    n\n", "utf-8")
    points = [{"filename": str(path), "line": 3, "collect": ["text"]}]
    async with (
        asyncio.timeout(LIMIT),
        over_http(TOOLS) as (_, url),
        http_client() as web,
        Client(streamable(url), extensions=DATA) as c,
    ):
        await ask(c, "dap_run", program=str(path), breakpoints=points)
        async with web.stream("GET", f"{url}/live/rows") as answer:
            (told,) = (await picture(answer.aiter_lines()))["programs"]
        assert told["name"] == r"1 a\u202e\x1b[2J.py"
        assert r"a\u202e\x1b[2J.py:3" in told["points"][0]["title"]
        assert r"b\u202e\x1b[2J\u200b" in told["points"][0]["rows"][0][1]


async def test_the_page_tells_nothing_without_the_token_and_no_value_becomes_html() -> None:
    async with over_http() as (_, url), http_client(None) as stranger:
        assert (await stranger.get(f"{url}/live/rows")).status_code == 401
        for part, kind in (("", "html"), ("/page.js", "javascript"), ("/page.css", "css")):
            answer = await stranger.get(f"{url}/live{part}")
            assert answer.status_code == 200
            assert kind in answer.headers["content-type"]
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; script-src 'self';")
            # Whatever a program's values are, nothing of the page takes a text for HTML.
            assert "innerHTML" not in answer.text
            assert "insertAdjacent" not in answer.text
            if kind == "javascript":
                assert "This token is wrong." in answer.text


CODES = """
for number in range(30):
    pin = 123400 + number
    print(number)
"""


async def test_neither_a_plot_nor_a_summary_shows_a_number_that_is_a_secret(tmp_path: Path) -> None:
    path = tmp_path / "codes.py"
    path.write_text(CODES, encoding="utf-8")
    points = [{"filename": str(path), "line": 4, "collect": ["pin", "pin + 0", "number"]}]
    async with (
        asyncio.timeout(LIMIT),
        over_http(TOOLS) as (_, url),
        http_client() as web,
        Client(streamable(url), extensions=DATA) as c,
    ):
        stop = await ask(
            c, "dap_run", program=str(path), breakpoints=points, timeout_ms=LIMIT * 900
        )
        assert "  pin: <redacted: pin>…<redacted: pin>; each +1" in stop["collected"]
        async with web.stream("GET", f"{url}/live/rows") as answer:
            (told,) = (await picture(answer.aiter_lines()))["programs"]
        assert [each["name"] for each in told["points"][0]["plots"]] == ["number"]
        assert "1234" not in json.dumps(told)
