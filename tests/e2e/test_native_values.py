"""What is in the values of compiled programs, as each adapter tells them."""

from pathlib import Path

import pytest

from tests.harness import ask, client, evaluate, needs
from tests.programs import Program, compiled
from tests.shown import Shows


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return compiled("shapes.cpp", tmp_path_factory.mktemp("shapes"), options=("-std=c++17",))


SHOWN = {
    "gdb": {
        "inv": '{id = 3, items = std::vector of length 2, capacity 2 = {{id = 1, name = "bolt"}',
        "first": ' → {id = 1, name = "bolt"}',
        "numbers": "{1, 2, 3}",
        "ages": '{["Ada"] = 36}',
        "some": "= 5}",
        "either": '"hello"',
        "owned": '{id = 7, name = "owned"}',
        "shared": '{id = 8, name = "shared"}',
        "list": " → {value = 49, next = 0x",
        "raw": "{9, 8, 7}",
        "text": "(3000 chars)",
        "many": "std::vector of length 200000, capacity 200000 = {3, 3, 3",
    },
}


@pytest.mark.parametrize("adapter", SHOWN)
async def test_a_value_says_in_one_line_what_is_in_it(
    shapes: Program, adapter: str, shows: Shows
) -> None:
    needs(adapter)
    async with client() as c:
        stop = await ask(
            c, "dap_run", program=str(shapes), type=adapter, breakpoints=[shapes.at("work")]
        )
        wrong = {
            name: stop["locals"].get(name)
            for name, part in SHOWN[adapter].items()
            if part not in stop["locals"].get(name, "")
        }
        assert not wrong
        assert await evaluate(c, "inv.total()") == "2"
        assert await evaluate(c, "*at") == "1"
    shows(adapter, "values")


async def test_a_variable_without_a_value_costs_no_other_its_own(tmp_path: Path) -> None:
    needs("gdb")
    program = compiled("optimised.cpp", tmp_path, options=("-std=c++17", "-O2"))
    async with client() as c:
        stop = await ask(
            c, "dap_run", program=str(program), type="gdb", breakpoints=[program.at("work")]
        )
        assert stop["locals"]["at"] == "<optimized out>"
        assert stop["locals"]["kept"].startswith("{{left = 1, right = 2}")
        assert "notes" not in stop


async def test_a_long_container_is_opened_at_its_beginning_or_at_any_page(shapes: Program) -> None:
    needs("gdb")
    async with client() as c:
        await ask(c, "dap_run", program=str(shapes), type="gdb", breakpoints=[shapes.at("work")])
        listed = await ask(c, "dap_variables", path="many", start=998)
        assert [v["name"] for v in listed["variables"]] == ["[998]", "[999]", "…"]
        assert "left out" in listed["variables"][-1]["value"]
        page = await ask(c, "dap_variables", path="many", filter="indexed", start=5000, count=2)
        assert [v["name"] for v in page["variables"]] == ["[5000]", "[5001]"]
