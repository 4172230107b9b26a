"""A breakpoint that collects stops nobody: each hit is a row, and what could not be collected is said."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import ask, client, needs, read, refusal
from tests.processes import LIMIT
from tests.programs import Program

CART_JS = """
function total(items, index) {
  const name = index === 3 ? undefined : "multi\\nline | " + index;
  return items.length + index; // @total
}
let sum = 0;
for (let index = 0; index < 12; index++) sum += total([1, 2], index);
console.log("sum", sum);
"""
CART_C = """
#include <stdio.h>
static int total(int index, const char *name) {
    int value = index * 2;
    return value; // @total
}
int main(void) {
    int sum = 0;
    for (int index = 0; index < 12; index++) sum += total(index, index == 3 ? 0 : "a\\n|b");
    printf("sum %d\\n", sum);
    return 0;
}
"""


def written(folder: Path, name: str, text: str) -> Program:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return Program(path, path)


async def test_log_points_bring_rows_of_several_expressions_each_with_its_own_errors(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    p = written(tmp_path, "cart.js", CART_JS)
    point = p.at("total", collect=["name", "index", "items.length", "index > 9 ? lost : 'there'"])
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(p), breakpoints=[point])
        rows = "\n".join(end["collected"])
        assert end["collected"][0] == f"cart.js:{p.line('total')}: 12 rows, log points"
        assert "always items.length = 2" in rows
        assert "#4 name = undefined, index = 3" in rows
        assert "'multi\\nline | 0'" in rows
        assert "(ReferenceError: lost is not defined)" in rows
        # What is collected is no output, and hides none.
        assert end["output"] == "sum 90\n"
        assert "logged" not in end
        assert "breakpoints" not in end


async def test_native_programs_collect_by_log_points(tmp_path: Path) -> None:
    needs("gdb")
    source = written(tmp_path, "cart.c", CART_C)
    built = tmp_path / "cart"
    command = ["gcc", "-g", "-O0", "-o", str(built), str(source)]
    assert await (await asyncio.create_subprocess_exec(*command)).wait() == 0
    wanted = {"condition": "index != 5", "max_hits": 10}
    point = source.at("total", collect=["index", "name", "nowhere"], **wanted)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await ask(c, "dap_run", program=str(built), type="gdb", breakpoints=[point])
        assert end["collected"][0] == "cart.c:5: 10 rows, 11 hits, log points"
        rows = "\n".join(end["collected"])
        assert 'always nowhere = (No symbol "nowhere" in current context.)' in rows
        assert "#4 index = 3, name = 0x0" in rows
        assert end["output"] == "sum 132\n"


async def test_what_an_adapter_cannot_is_said_by_name_and_stops_nobody(tmp_path: Path) -> None:
    needs("rdbg")
    p = written(tmp_path, "cart.rb", "total = 1\nputs total # @total\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        points = [p.at("total", collect=["total"])]
        end = await ask(c, "dap_run", program=str(p), breakpoints=points)
        assert end["state"] == "ended"
        assert end["breakpoints"] == {"not collected": ["cart.rb:2 (rdbg has no log points)"]}


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"collect": ["total +"]}, "`total +` does not parse: invalid syntax."),
        ({"collect": ["x = 1"]}, "`x = 1` does not parse"),
        ({"collect": ["x"], "condition": "if"}, "`if` does not parse"),
        ({"collect": ["x\0"]}, "does not parse"),
        ({"collect": ["(" * 500]}, "does not parse"),
        ({"collect": [" "]}, "An expression of `collect` is empty."),
        ({"collect": ["x"] * 31}, "`collect` takes 30 expressions"),
        ({"collect": ["x"], "log_message": "{x}"}, "`collect` and `log_message` exclude each other."),
        ({"collect": ["x"], "hit_condition": "3"}, "`collect` and `hit_condition` exclude"),
        ({"max_hits": 3}, "`max_hits` is for `collect`."),
    ],
)  # fmt: skip
async def test_what_cannot_be_collected_is_refused_before_anything_runs(
    tmp_path: Path, wanted: dict[str, object], why: str
) -> None:
    path = tmp_path / "shop.py"
    path.write_text("x = 1\n", encoding="utf-8")
    async with client(tmp_path) as c:
        point = {"filename": str(path), "line": 1, **wanted}
        assert why in await refusal(c, "dap_run", program=str(path), breakpoints=[point])
        assert why in await refusal(c, "dap_set_breakpoint", **point)
        assert await read(c, "dap_breakpoints") == "No breakpoints."
        assert (await ask(c, "dap_status"))["sessions"] == []
