"""The first line after which an expression holds, and every line that writes a value."""

import asyncio
from pathlib import Path

from tests.e2e.collecting import collect, rows
from tests.harness import ask, client, evaluate, refusal
from tests.processes import LIMIT
from tests.programs import program
from tests.pythons import python_of, versions

P = program("watched.py")
in_all = versions("3.8", "3.9", "3.12", "3.13")


def told(folder: Path, point: int) -> list[tuple[str, ...]]:
    """Return function, line, before and after of what a point has told."""
    found = [row.cells for row in rows(folder) if row.point == point]
    assert {each[1] for each in found} <= {str(P.source)}
    return [(each[0], *each[2:]) for each in found]


@in_all
async def test_every_write_of_an_attribute_an_item_and_a_variable_is_told(
    tmp_path: Path, version: str
) -> None:
    python = python_of(version)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(P), breakpoints=[P.at("ready")], python=python)
        answer = await collect(
            c, tmp_path,
            {"writes": "account.balance", "stop": False, "collect": ["amount"]},
            {"writes": "slotted.value", "stop": False},
            {"writes": "LIMIT", "stop": False},
            {"writes": "limits['most']", "stop": False},
            {"writes": "nobody.there", "stop": False},
            {"writes": "account.deposit(1)"},
        )  # fmt: skip
        assert [each["bound"] for each in answer["points"]] == [True] * 4 + [False] * 2
        assert "NameError" in answer["points"][4]["message"]
        assert "is no variable, attribute or item" in answer["points"][5]["message"]
        assert (await ask(c, "dap_continue"))["output"] == "over\n"
    names = [("Account.deposit", "0", "5", "deposit"), ("spend", "5", "4", "spend"),
             ("Account.close", "4", "None", "close")]  # fmt: skip
    wanted = [(name, str(P.line(at)), before, after) for name, before, after, at in names]
    found = told(tmp_path, 1)
    assert [each[:4] for each in found] == wanted
    assert found[0][4] == "5"
    assert [row.thread for row in rows(tmp_path) if row.point == 1][2] == "closer"
    assert told(tmp_path, 2) == [("work", str(P.line("slot")), "", "1")]
    assert told(tmp_path, 3) == [("adjust", str(P.line("limit")), "3", "4")]
    assert told(tmp_path, 4) == [("adjust", str(P.line("item")), "1", "2")]


@in_all
async def test_it_stops_after_the_first_line_after_which_an_expression_holds(
    tmp_path: Path, version: str
) -> None:
    python = python_of(version)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(P), breakpoints=[P.at("ready")], python=python)
        await collect(
            c, tmp_path,
            {"until": "dead and dead[-1] > len(items)", "collect": ["dead", "items"]},
            {"writes": "account.balance", "stop": True},
        )  # fmt: skip
        stop = await ask(c, "dap_continue")
        assert (stop["state"], stop["reason"]) == ("stopped", "breakpoint")
        assert (stop["function"], stop["line"]) == ("deposit", P.line("deposit"))
        assert told(tmp_path, 2) == [("Account.deposit", str(P.line("deposit")), "0", "5")]
        stop = await ask(c, "dap_continue")
        assert (stop["function"], stop["line"]) == ("index", P.line("cut") + 1)
        assert await evaluate(c, "items") == "[0, 1]"
        ((_name, line, before, after, dead, items),) = told(tmp_path, 1)
        assert (line, before, after) == (str(P.line("cut")), "False", "True")
        assert (dead, items) == ("[1, 4]", "[0, 1]")
        # Steps and breakpoints go on from there.
        assert (await ask(c, "dap_step_out"))["function"] == "work"
        await ask(c, "dap_set_breakpoint", **P.at("over"))
        assert (await ask(c, "dap_continue"))["line"] == P.line("over")
        assert (await ask(c, "dap_continue"))["state"] == "ended"


@in_all
async def test_it_stops_where_a_local_variable_changes_within_a_function(
    tmp_path: Path, version: str
) -> None:
    python = python_of(version)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(P), breakpoints=[P.at("ready")], python=python)
        await collect(
            c, tmp_path,
            {"until": "len(items)", "on": "change", "stop": False, "scope": {"functions": ["index"]}},
        )  # fmt: skip
        assert (await ask(c, "dap_continue"))["state"] == "ended"
    found = told(tmp_path, 1)
    assert [each[2:] for each in found] == [
        ("0", "1"),
        ("1", "2"),
        ("2", "3"),
        ("3", "4"),
        ("4", "2"),
    ]
    assert [int(each[1]) for each in found] == [P.line("cut") - 3] * 4 + [P.line("cut")]


async def test_a_breakpoint_on_data_names_what_runs_to_the_write(tmp_path: Path) -> None:
    path = tmp_path / "total.py"
    path.write_text(
        "total = 0\nmost = 3\nfor n in range(most):\n    total += n + 1\n", encoding="utf-8"
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="total.py", breakpoints=["total.py:2"])
        said = await refusal(c, "dap_set_data_breakpoint", path="total")
        assert said.endswith(
            'dap_run_until(expression="total", on="write") runs to the line that does it.'
        )
        stop = await ask(c, "dap_run_until", expression="total", on="write")
        assert (stop["reason"], stop["locals"]["n"]) == ("until", "0")
