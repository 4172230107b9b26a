"""Expressions at a stop: what they are, in which frame, and what a name may have meant that is not there."""

import ast
import asyncio
from pathlib import Path

import pytest

from tests.harness import ask, client, needs, read, refusal
from tests.processes import LIMIT
from tests.programs import compiled, program

SHOP = program("shop.py")


async def test_several_expressions_are_evaluated_by_one_call_and_none_fails_the_others() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(SHOP), breakpoints=[SHOP.at("total")])
        asked = ["self.discount", "1 / 0", "len(self.items)", "self.items[1:2]"]
        assert (await read(c, "dap_evaluate", expressions=asked)).splitlines() == [
            "self.discount = 0.1",
            "1 / 0: ZeroDivisionError: division by zero",
            "len(self.items) = 4",
            "self.items[1:2] = [Item(name='mug', price=7.5, quantity=4)]",
            f"(in total fixtures/programs/shop.py:{SHOP.line('total')})",
        ]
        assert "`expressions` is empty" in await refusal(c, "dap_evaluate", expressions=[])


async def test_the_type_of_a_value_is_told_where_it_is_not_seen() -> None:
    seen = {
        "total": "90.0",
        "self.customer": "'Ada'",
        "[total]": "[90.0]",
        "range(3)": "range(0, 3)",
    }
    unseen = {"type('Name', (str,), {})('Ada')": "'Ada'", "type('Names', (list,), {})([1])": "[1]"}
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(SHOP), breakpoints=[SHOP.at("total")])
        told = (await read(c, "dap_evaluate", expressions=[*seen, *unseen])).splitlines()
        assert told[: len(seen)] == [f"{each} = {value}" for each, value in seen.items()]
        assert told[len(seen)].endswith(" = 'Ada' [type Name]")
        assert told[len(seen) + 1].endswith(" = [1] [type Names]")


async def test_an_evaluation_says_in_which_frame_it_was_made() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(SHOP), breakpoints=[SHOP.at("total")])
        place = f"fixtures/programs/shop.py:{SHOP.line('total')}"
        assert await read(c, "dap_evaluate", expression="total") == f"  90.0\n(in total {place})"
        outer = (await ask(c, "dap_stacktrace"))["frames"][1]["frame_id"]
        told = await refusal(c, "dap_evaluate", expression="total", frame_id=outer)
        assert (
            told.splitlines()[1]
            .strip()
            .startswith(f"(in main fixtures/programs/shop.py:{SHOP.line('order_ready')}")
        )


async def test_an_error_tells_names_that_are_near_one_that_is_not_there() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(SHOP), breakpoints=[SHOP.at("total")])
        asked = ["totl", "self.items[1].prise + 1", "Ordr('Ada')", "zzz", "total + 'a'"]
        told = (await read(c, "dap_evaluate", expressions=asked)).splitlines()
        for line, near in zip(told, ("total", "price", "Order"), strict=False):
            assert line.endswith(f"(near: {near})")
        assert told[3] == "zzz: NameError: name 'zzz' is not defined"
        assert "near" not in told[4]
        assert "near: total" in await refusal(c, "dap_evaluate", expression="totl")


async def test_an_error_tells_a_name_that_the_function_had_which_has_returned() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(SHOP), breakpoints=[SHOP.at("total")])
        assert "returned" not in await refusal(c, "dap_evaluate", expression="amount")
        await ask(c, "dap_step_out")
        told = await refusal(c, "dap_evaluate", expression="total")
        assert told.endswith("; total = 90.0 in total, which has returned)")
        assert "returned" not in await refusal(c, "dap_evaluate", expression="order.total.x")


async def test_a_reference_is_told_only_where_there_is_more_to_see() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(SHOP), breakpoints=[SHOP.at("total")])
        for whole in ("self", "{'a': [[1, 2], [3]]}", "(1, 2)", "self.discount"):
            assert "reference" not in await read(c, "dap_evaluate", expression=whole)
        for more in ("object()", "[[1] * 9] * 9999", "Order", "[object()]"):
            assert "[variables_reference " in await read(c, "dap_evaluate", expression=more)


async def test_after_an_expression_without_an_end_the_others_are_not_tried() -> None:
    asked = ["self.discount", "[0 for _ in iter(int, 1)]", "1"]
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(SHOP), breakpoints=[SHOP.at("total")])
        told = await read(c, "dap_evaluate", expressions=asked, timeout_ms=2000)
        assert told.splitlines()[0] == "self.discount = 0.1"
        assert "did not answer" in told.splitlines()[1]
        assert told.splitlines()[2] == "1: not evaluated"


@pytest.mark.parametrize(
    ("adapter", "name"),
    [("gdb", "loop.c"), ("lldb-dap", "loop.c"), ("js-debug", "loop.js"), ("delve", "loop.go")],
)
async def test_names_that_are_near_are_told_whatever_the_adapter_calls_the_error(
    adapter: str, name: str, tmp_path: Path
) -> None:
    needs(adapter)
    p = compiled(name, tmp_path) if name.endswith(".c") else program(name)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), type=adapter, breakpoints=[p.at("inner")])
        told = (await read(c, "dap_evaluate", expressions=["value", "valu"])).splitlines()
        assert told[0] == "value = 0"
        assert told[1].startswith("valu: ")
        assert "(near: value" in told[1]
        assert "inner fixtures/programs/loop" in told[2]


async def test_javascripts_values_are_cut_by_the_room_and_not_by_their_depth() -> None:
    needs("js-debug")
    p = program("values.js")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")])
        nested = "({a: [[1, [2, [3]]], {b: {c: {d: [4]}}}]})"
        told = (await read(c, "dap_evaluate", expression=nested)).splitlines()[0]
        assert told == "  {a: (2) [(2) [1, (2) [2, (1) [3]]], {b: {c: {d: (1) [4]}}}]}"
        around = "(() => { const o = {n: 1}; o.self = o; return o })()"
        assert (await read(c, "dap_evaluate", expression=around)).startswith("  {n: 1, self: ")


LONG = {
    "long.py": 's = "abc def " * 2000\nrows = [{"id": n} for n in range(2000)]\nprint(len(s))\n',
    "long.js": 'const s = "abc def ".repeat(2000);\nconst rows = [1];\nconsole.log(s.length);\n',
}


@pytest.mark.parametrize(("adapter", "name"), [("debugpy", "long.py"), ("js-debug", "long.js")])
async def test_a_value_that_is_cut_names_what_shows_the_whole(
    adapter: str, name: str, tmp_path: Path
) -> None:
    needs(adapter)
    (tmp_path / name).write_text(LONG[name], "utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=name, breakpoints=[f"{name}:3"])
        cut = await read(c, "dap_evaluate", expression="s")
        assert "or dap_evaluate max_chars=100000 shows more)" in cut
        whole = await ask(c, "dap_evaluate", expression="s", max_chars=100_000)
        assert whole["result"].strip("'\"") == "abc def " * 2000
        if name == "long.py":
            rows = await ask(c, "dap_evaluate", expression="rows", max_chars=100_000)
            assert ast.literal_eval(rows["result"]) == [{"id": n} for n in range(2000)]
            both = await ask(c, "dap_evaluate", expressions=["rows", "len(s)"], max_chars=50_000)
            assert ast.literal_eval(both["values"][0]["result"])[-1] == {"id": 1999}
            assert both["values"][1]["result"] == "16000"
            with_error = await refusal(c, "dap_evaluate", expression="nosuch", max_chars=9)
            assert "NameError" in with_error


SET = """\
from dataclasses import dataclass

SHARED = 5

@dataclass(frozen=True)
class Item:
    name: str

def work(number):
    item, pair, rows = Item("mug"), (1, 2), {"a": [1, 2]}
    print(number + SHARED, item.name, pair, rows)

work(3)
"""


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("item.name", "'cup'", "FrozenInstanceError: cannot assign to field 'name'"),
        ("item.size", "1", "FrozenInstanceError: cannot assign to field 'size'"),
        ("pair[0]", "5", "TypeError: 'tuple' object does not support item assignment"),
        ("rows['a'][1]", "1 / 0", "ZeroDivisionError: division by zero"),
        ("number", "nosuch", "NameError: name 'nosuch' is not defined"),
        ("number", "(1", "SyntaxError: "),
        ("number", " ", "`value` is empty"),
        ("SHARED", "nosuch", "NameError: name 'nosuch' is not defined"),
    ],
)
async def test_what_cannot_be_assigned_in_python_stays_and_the_error_says_why(
    path: str, value: str, why: str, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text(SET, "utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="a.py", breakpoints=["a.py:11"])
        said = await refusal(c, "dap_set_variable", path=path, value=value)
        assert why in said
        assert "Traceback" not in said
        told = await read(c, "dap_continue")
        assert "8 mug (1, 2) {'a': [1, 2]}" in told


async def test_what_is_assigned_in_python_is_what_the_program_goes_on_with(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SET, "utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="a.py", breakpoints=["a.py:11"])
        for path, value, said in (
            ("item", "Item('cup')", "item = Item(name='cup') (was Item(name='mug'))"),
            ("rows['a'][1]", "number + 6", "rows['a'][1] = 9 (was 2)"),
            ("number", "number + 1", "number = 4 (was 3)"),
            ("SHARED", "10  # ten", "SHARED = 10 (was 5)"),
            ("SHARED", "5 + 5", "SHARED = 10 (was 10)"),
        ):
            assert await read(c, "dap_set_variable", path=path, value=value) == said
        assert "14 cup (1, 2) {'a': [1, 9]}" in await read(c, "dap_continue")
