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


async def test_two_places_of_one_line_are_refused_and_not_lost(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("a = 1; b = 2; c = 3\nprint(a + b + c)\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = {"filename": "one.py", "line": 1}
        twice = [{**at, "collect": ["a"]}, {**at, "collect": ["b"]}]
        said = await refusal(c, "dap_run", program="one.py", breakpoints=twice)
        assert "two are on one.py:1, and a line has one" in said
        said = await refusal(
            c, "dap_run", program="one.py", breakpoints=[at, {**at, "condition": "b"}]
        )
        assert "two are on one.py:1" in said
        # The same twice is one.
        stop = await ask(c, "dap_run", program="one.py", breakpoints=[at, at])
        assert stop["line"] == 1


async def test_a_long_line_of_one_statement_needs_no_column(tmp_path: Path) -> None:
    row = ", ".join(f"{{'a': {n}}}" for n in range(300))
    (tmp_path / "table.py").write_text(f"rows = [{row}]\nprint(len(rows))\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = {"filename": "table.py", "line": 1}
        stop = await ask(c, "dap_run", program="table.py", breakpoints=[at])
        assert (stop["reason"], stop["line"]) == ("breakpoint", 1)
