"""What objects of Python hold, seen without running any of their code, and values as a person would write them."""

import asyncio
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.harness import ask, client, evaluate, read
from tests.processes import LIMIT
from tests.programs import program
from tests.pythons import python_of, versions


async def test_an_object_whose_repr_says_nothing_shows_first_what_the_code_nearby_uses() -> None:
    p = program("objects.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("work")])
        shown = stop["locals"]
        assert shown["self"].startswith("Worker(queue=[Slotted(left=1)], title='a title', first=")
        assert shown["slotted"] == "Slotted(left=1)"
        assert shown["wary"] == "Wary(count=3)"
        assert shown["odd"] == "[1, 2]"
        whole = await evaluate(c, "self")
        assert "loud=<Loud>" in whole, "nobody has asked for its repr"
        assert "parent=Worker(...), _private=1) at 0x" in whole
        step = await ask(c, "dap_step_over")
        assert step["changed"] == {"self.title": ["'a title'", "'a title!'"]}
        await ask(c, "dap_continue")
        assert (await ask(c, "dap_program_output", since=0))["text"] == ""


async def test_values_are_written_as_a_person_writes_them() -> None:
    p = program("objects.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("plain")])
        texts = stop["locals"].pop("texts")
        assert stop["locals"] == {
            "at": "2026-01-02 03:04:05+00:00",
            "colour": "Colour.RED ('red')",
            "day": "2026-01-02",
            "moved": "OrderedDict({'b': 2, 'a': 1})",
            "path": "Path('/srv/a b')",
            "point": "Point(x=1, inside=[Slotted(left=1)])",
            "right": "Right.READ (1)",
            "wait": "1 day, 0:00:05",
        }
        assert all(each in texts for each in ("['xxx", "'yyy", "'zzz")), "each is shortened"


def needs_libraries() -> None:
    if not all(map(find_spec, ("numpy", "pandas", "sqlalchemy"))):
        pytest.skip("needs numpy, pandas and sqlalchemy: uv sync --group dev")


async def test_arrays_frames_and_sql_tell_shape_type_ends_and_what_is_missing() -> None:
    needs_libraries()
    p = program("tables.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")])
        shown = stop["locals"]
        assert shown["array"].startswith("(100, 1000) int64 [[0, 1, 2, …, 997, 998, 999], [")
        assert shown["array"].endswith(", 99999]]")
        assert shown["gaps"] == "(3,) float64 (1 missing) [1.5, nan, 3.]"
        assert shown["number"] == "2.5"
        assert shown["frame"].startswith("(1000, 3) id int64, price float64 (500 missing), name ")
        assert shown["frame"].endswith("… | 999 999 2.5 saucer")
        assert shown["series"] == "(3,) col float64 (1 missing) | 0 1.0 | 1 NaN | 2 3.0"
        assert shown["holder"].startswith("Holder(frame=DataFrame(")
        assert "array=(100, 1000) int64 [[0, 1, …, 999]" in shown["holder"]
        assert (
            shown["query"] == "SELECT users.name FROM users WHERE users.id > 3 AND users.name = 'x'"
        )
        table = (await read(c, "dap_evaluate", expression="frame")).split("\n")
        assert table[1].split() == ["id", "price", "name"]
        assert [line.split()[0] for line in table[2:8]] == ["0", "1", "2", "…", "998", "999"]


async def test_what_libraries_write_is_bounded_and_runs_no_code_of_the_program() -> None:
    needs_libraries()
    p = program("tables_withstand.py")
    async with asyncio.timeout(LIMIT), client() as c:
        # The libraries alone may take half a minute to load.
        points = [p.at("look")]
        await ask(c, "dap_run", program=str(p), breakpoints=points, timeout_ms=LIMIT * 1000)
        shown = {name: await evaluate(c, name) for name in BOUNDED}
        assert {name: shown[name][: len(start)] for name, start in BOUNDED.items()} == BOUNDED
        assert "20000 float64 (1 missing), …, 29999 float64" in shown["wide"]
        assert (await ask(c, "dap_continue"))["output"] == "done\n"


BOUNDED = {
    "huge": "(3000000,) float64 [0., 0., 0., …, 0., 0., 0.]",
    "deep": "(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2) float64 [[[[",
    "texts": "(300,) <U50000 ['xxxx",
    "objects": "(100,) object [<Loud>, <Loud>, ",
    "frame": "(50, 2) it object, said ",
    "wide": "(5, 30000) 0 float64, 1 float64, ",
    "index": "Index (3000000,) float64 [0.0, 3.0, 6.0, …, ",
    "extended[0]": "(3, 3) one int64, two Mine, three str\n   one two three\n0    1   …     x\n1",
    "extended[1]": "<Series of Mine, not read>",
    "extended[2]": "<Index of Mine, not read>",
    "extended[3]": "<DataFrame with labels of Mine, not read>",
    "insert": "<Insert of more than 300 parts>",
    "among": "SELECT users.id FROM users WHERE users.id IN (0, 1, 2, ",
}


async def test_a_query_is_not_written_out_before_its_classes_are_ready() -> None:
    needs_libraries()
    p = program("mapped.py")
    async with asyncio.timeout(LIMIT), client() as c:
        places = [p.at("early"), p.at("late")]
        stop = await ask(c, "dap_run", program=str(p), breakpoints=places)
        assert stop["locals"]["query"] == "<Select, not compiled>"
        stop = await ask(c, "dap_continue")
        assert "user" in stop["locals"], "the look has not made a mapper fail"
        assert (await evaluate(c, "query")).endswith("WHERE users.name IN ('Ada', 'Alan')")
        assert (await evaluate(c, "user")).startswith("User(name='Ada', orders=[<Order>])")
        assert "_sa_instance_state" not in await evaluate(c, "user")


async def test_tensors_tell_shape_type_ends_what_is_missing_and_where_they_are() -> None:
    if find_spec("torch") is None:
        pytest.skip("needs torch: uv pip install torch, or apt-get install python3-torch")
    p = program("tensors.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")], timeout_ms=LIMIT * 1000)
        assert await evaluate(c, "long") == (
            "(2000000,) torch.int64 [0, 1, 2, …, 1999997, 1999998, 1999999]"
        )
        images = await evaluate(c, "images")
        assert images.startswith("(8, 3, 64, 64) torch.float32 [[[[0, 0, 0, …, 0, 0, 0], ")
        assert await evaluate(c, "gaps") == "(2,) torch.float32 (1 missing) [1.5, nan]"
        assert (await evaluate(c, "weight")).startswith("(1, 2) torch.float32 requires_grad [[")
        assert (await evaluate(c, "loss")).startswith("torch.float32 requires_grad ")
        assert await evaluate(c, "elsewhere") == "tensor((2, 3), torch.float32, meta)"


@versions("3.8", "3.9", "3.12", "3.13")
async def test_a_look_runs_no_code_of_any_value_at_a_stop_at_a_step_in_variables_and_in_rows(
    version: str,
) -> None:
    p = program("records_looks.py")
    points = [
        *map(p.at, ("inside", "look", "end")),
        p.at("called", collect=["it", "plain", "inside"]),
        {"calls": ["called", "look"]},
    ]
    ran = "sorted(set(ran))"
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(
            c, "dap_run", program=str(p), breakpoints=points, python=python_of(version)
        )
        for name in stop["locals"]:
            await ask(c, "dap_variables", path=name)
        every = {
            each["name"]: each["value"]
            for each in (await ask(c, "dap_variables", count=200))["variables"]
        }
        assert (every | SHOWN) == every
        assert (await ask(c, "dap_variables", path="table", start=699))["variables"][0][
            "name"
        ] == "699"
        assert await evaluate(c, ran) == "[]"
        stop = await ask(c, "dap_continue")
        assert {"dead": "<weakproxy to nothing>", "it": "<Whole>"}.items() <= stop["locals"].items()
        for name in ("locals_of_kinds", "it", "dead", "pointing", "three"):
            await ask(c, "dap_variables", path=name)
        await ask(c, "dap_step_over")
        assert await evaluate(c, "it is one") == "False"
        assert (await ask(c, "dap_continue"))["line"] == p.line("end")
        assert await evaluate(c, ran) == "[]"
        await read(c, "dap_collected", rows="1-50")
        assert (await ask(c, "dap_continue"))["output"] == "ran []\n"


SHOWN = {
    "a_tuple": "(<Whole>, 1)", "data": "Data(one=<Whole>, two=2)", "loud": "<Loud: one=<Whole>, two=2>",
    "space": "SimpleNamespace(one=<Whole>)", "fraction": "Fraction(1, 3)", "keyed": "{<Hashed>: <Whole>}",
    "error": "ValueError(<Whole>)", "mocked": "<MagicMock: name='db', calls=[get(<Whole>, one=<Whole>)]>",
    "proxy": "mappingproxy({'key': <Whole>})", "cell": "<cell: <Whole>>", "user": "UserDict(data={'key': <Whole>})",
}  # fmt: skip


HOLDERS = """
import types
from typing import Any, ClassVar
from pydantic import BaseModel, PrivateAttr

def clicked(*args):
    return args

class Model:
    kinds = ["k"]
    def save(self):
        return 1

class Button(Model):
    def __init__(self):
        self.label = "ok"
        self.on_click = clicked
        self.model = Model
        self.bound = self.save
        self._private = clicked

class Item(BaseModel):
    model_config = {"extra": "allow"}
    sku: str
    _seen: int = PrivateAttr(default=3)

button = Button()
table = {"call": clicked, "class": Model}
item = Item(sku="a1", colour="red")
item.colour = "blue"
item._seen = 4
print("done")
"""


async def test_what_an_object_itself_holds_is_listed_whatever_it_is(tmp_path: Path) -> None:
    (tmp_path / "holders.py").write_text(HOLDERS)
    at = {"filename": "holders.py", "line": HOLDERS.count("\n") - 2}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="holders.py", breakpoints=[at])
        assert stop["locals"]["item"] == "Item(sku='a1', colour='red', _seen=3)"

        async def names(path: str) -> list[str]:
            found = await ask(c, "dap_variables", path=path)
            return [each["name"] for each in found["variables"]]

        # What its class gives it is data, too, but for functions.
        own = ["_private", "bound", "kinds", "label", "model", "on_click"]
        assert await names("button") == own
        assert await names("button.model") == ["kinds", "save"]
        assert await names("Button") == ["kinds"]
        assert await names("table") == ["'call'", "'class'", "len()"]
        assert {"_seen", "colour", "sku"} <= {*await names("item")}
        assert not {each for each in await names("item") if each.startswith("_abc")}
        step = await ask(c, "dap_step_over")
        assert step["changed"] == {"item.colour": ["'red'", "'blue'"]}
        step = await ask(c, "dap_step_over")
        assert step["changed"] == {"item._seen": ["3", "4"]}
        assert await names("button.model.kinds") == ["[0]", "len()"]
