"""Breakpoints in files whose lines have many places, as bundlers write them."""

import asyncio
from pathlib import Path

from tests.harness import ask, client, needs, read, refusal
from tests.processes import LIMIT

FUNCTIONS = "".join(f"function f{n}(a){{const x=a*{n};return x+1}};" for n in range(20))
BUNDLE = f"{FUNCTIONS}console.log([{','.join(f'f{n}({n})' for n in range(20))}].length);\n"
FILE = {"filename": "app.min.js", "line": 1}


async def test_a_breakpoint_on_a_line_with_many_places_names_one(tmp_path: Path) -> None:
    needs("js-debug")
    (tmp_path / "app.min.js").write_text(BUNDLE)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await refusal(c, "dap_run", program="app.min.js", breakpoints=[FILE])
        assert "with many places" in said
        assert "functions begin at 1 `function f0(a)" in said
        said = await refusal(c, "dap_set_breakpoint", **FILE, at="return x+1")
        assert "at 20 places: " in said
        said = await refusal(c, "dap_set_breakpoint", **FILE, at="let x=a*7;return x+1")
        # `const` ends as `let` does.
        assert f"The nearest is {BUNDLE.index('t x=a*7;') + 1} `" in said
        at = {**FILE, "at": "const x=a*7"}
        stop = await ask(c, "dap_run", program="app.min.js", breakpoints=[at])
        assert (stop["function"], stop["locals"]["a"]) == ("global.f7", "7")
        # The line is shown around the place.
        assert "function f7(a){const x=▸a*7;return x+1}" in stop["source"]
        assert "function f7(a){const x=▸a*7" in await read(c, "dap_source", filename="app.min.js")
        column = BUNDLE.index("x+1}", BUNDLE.index("f9(a)")) + 1
        told = await read(c, "dap_set_breakpoint", **FILE, column=column)
        assert f"app.min.js:1:{column} verified" in told
        assert (await ask(c, "dap_continue"))["function"] == "global.f9"


async def test_two_places_of_one_line_stop_and_go_one_by_one(tmp_path: Path) -> None:
    needs("js-debug")
    (tmp_path / "app.min.js").write_text(BUNDLE)
    first, second = ({**FILE, "at": f"const x=a*{number}"} for number in (7, 9))
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        asked = {"program": "app.min.js", "breakpoints": [first, second]}
        assert (await ask(c, "dap_run", **asked))["function"] == "global.f7"
        assert (await ask(c, "dap_continue"))["function"] == "global.f9"
        third = await ask(c, "dap_set_breakpoint", **FILE, at="return x+1};function f13")
        listed = (await ask(c, "dap_breakpoints"))["breakpoints"]
        assert [each["state"] for each in listed] == ["verified"] * 3
        assert third["column"] in [each["column"] for each in listed]
        removed = await read(c, "dap_remove_breakpoint", **FILE, column=third["column"])
        assert f"Removed the breakpoint at app.min.js:1:{third['column']}." in removed
        assert len((await ask(c, "dap_breakpoints"))["breakpoints"]) == 2
        assert "all 2 breakpoints at app.min.js:1" in await read(c, "dap_remove_breakpoint", **FILE)
        assert (await ask(c, "dap_continue"))["state"] == "ended"


async def test_two_places_of_one_line_collect_and_the_one_not_reached_is_named(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    (tmp_path / "app.min.js").write_text(f"{BUNDLE}function never(b){{return b}}\n")
    points = [
        {**FILE, "at": "return x+1};function f8", "collect": ["x"]},
        {**FILE, "at": "return x+1};function f10", "collect": ["x", "a"]},
    ]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        unmet = {**FILE, "at": "const x=a*3", "condition": "a > 9"}
        ended = await read(c, "dap_run", program="app.min.js", breakpoints=[*points, unmet])
        # A short program may end before js-debug has told that it was bound.
        place = f"app.min.js:1:{BUNDLE.index('const x=a*3') + 1}"
        assert f"Not hit: {place}" in ended or f"Never bound: {place} " in ended
        first, second = (BUNDLE.index(f"return x+1}};function f{n}") + 1 for n in (8, 10))
        assert f"#1 app.min.js:1:{first} x = 49" in ended
        assert f"#2 app.min.js:1:{second} x = 81, a = 9" in ended


async def test_a_second_place_of_a_line_is_refused_where_the_adapter_tells_none_apart(
    tmp_path: Path,
) -> None:
    (tmp_path / "one.py").write_text("a = 1; b = 2; c = 3\nprint(a + b + c)\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = {"filename": "one.py", "line": 1}
        twice = [{**at, "collect": ["a"]}, {**at, "collect": ["b"]}]
        said = await refusal(c, "dap_run", program="one.py", breakpoints=twice)
        assert "Two breakpoints are at one.py:1, and a place has one" in said
        said = await refusal(
            c, "dap_run", program="one.py", breakpoints=[at, {**at, "condition": "b"}]
        )
        assert "Two breakpoints are at one.py:1" in said
        apart = [{**at, "at": "b = 2"}, {**at, "at": "c = 3"}]
        said = await refusal(c, "dap_run", program="one.py", breakpoints=apart)
        assert "debugpy does not tell places of one line apart" in said
        # The same twice is one.
        stop = await ask(c, "dap_run", program="one.py", breakpoints=[at, at])
        assert stop["line"] == 1
        said = await refusal(c, "dap_set_breakpoint", **at, at="c = 3")
        assert "debugpy does not tell places of one line apart" in said


async def test_a_long_line_of_one_statement_needs_no_column(tmp_path: Path) -> None:
    row = ", ".join(f"{{'a': {n}}}" for n in range(300))
    (tmp_path / "table.py").write_text(f"rows = [{row}]\nprint(len(rows))\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = {"filename": "table.py", "line": 1}
        stop = await ask(c, "dap_run", program="table.py", breakpoints=[at])
        assert (stop["reason"], stop["line"]) == ("breakpoint", 1)
