"""What values look like: as much as there is room for, how long they are, and nothing is run to show them."""

import asyncio

from tests.harness import ask, client, evaluate, needs, read
from tests.processes import LIMIT
from tests.programs import program
from tests.shown import Shows


async def test_nested_values_are_shown_by_the_room_that_there_is(shows: Shows) -> None:
    p = program("values.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("place")])
        nested = "{0: [[1, 2], [3]], 1: [[4, 5]], 2: {'a': {'b': [1, {'c': 2}]}}}"
        assert await evaluate(c, "nested") == nested
        assert f"nested: dict = {nested} [" in await read(c, "dap_variables", path="nested")
        items = await evaluate(c, "order.items")
        assert items.startswith("[{'name': 'cup', 'price': 0}, {'name': 'cup', 'price': 1}, ")
        assert items.endswith("…, {'name': 'cup', 'price': 999}] (1000 items)")
    shows("python", "values")


async def test_a_long_string_tells_its_true_length() -> None:
    p = program("values.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("place")])
        assert stop["notes"] == ["13 more locals: dap_variables"]
        assert (await evaluate(c, "big")).endswith("(1048576 chars)")
        shown = await read(c, "dap_variables")
        assert "… (1048576 chars)" in shown
        assert "… (1500 chars)" in shown, "an escaped line end is one character"


async def test_the_names_on_the_line_come_first_and_functions_among_them_are_shown() -> None:
    p = program("values.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("place")])
        assert list(stop["locals"])[:4] == ["callback", "sort", "zone", "b0"]
        assert list(stop["locals"])[-1] == "order", (
            "the argument, behind what the lines around name"
        )
        assert stop["locals"]["callback"].startswith("<function weight(here, there) values.py:")
        assert "Order" in stop["locals"]["order"]


async def test_what_a_module_defines_is_counted_unless_the_line_names_it() -> None:
    p = program("values.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("module")])
        assert set(stop["locals"]) == {"Order", "place", "weighed", "json"}
        assert stop["notes"] == ["also 1 module, 1 class: dap_variables"]
        assert "sys: module = <module sys>" in await read(c, "dap_variables")


async def test_opening_an_object_runs_no_property_until_it_is_asked_for() -> None:
    p = program("values.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("place")])
        opened = await read(c, "dap_variables", path="order")
        assert "items: list = [{'name': 'cup', 'price': 0}" in opened
        for name in ("total", "report"):
            assert f"{name}: property = (property: ask for it by its path)" in opened
        order = await ask(c, "dap_variables", path="order")
        # debugpy's own list, as for NumPy's objects.
        asked = {"variablesReference": order["variables_reference"], "format": {"hex": True}}
        listed = await ask(c, "dap_request", command="variables", arguments=asked)
        kinds = {each["name"]: each["type"] for each in listed["body"]["variables"]}
        assert kinds["total"] == "property"
        assert await read(c, "dap_variables", path="order.total") == "  order.total = 1000"
        end = await ask(c, "dap_continue")
        assert end["output"].count("was computed") == 1


async def test_a_container_is_not_written_out_above_its_own_elements() -> None:
    p = program("values.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("place")])
        first, *elements = (await read(c, "dap_variables", path="order.items", count=2)).split("\n")
        assert len(first) < 200
        assert elements[0].startswith("  [0]: dict = {'name': 'cup', 'price': 0}")


async def test_the_elements_of_javascripts_arrays_and_maps_are_shown_and_no_getter_runs() -> None:
    needs("js-debug")
    p = program("values.js")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")])
        first = "(1000) [{id: 0, name: 'cup'}, {id: 1, name: 'cup'}, "
        assert stop["locals"]["items"].startswith(first)
        assert stop["locals"]["map"] == "Map(1) {here => {id: 1}}"
        assert stop["locals"]["order"].startswith("Order {items: (2) [{…}, {…}]")
        assert stop["locals"]["this"] == "global", "nothing names it"
        assert stop["locals"]["big"].endswith("… (at least 99998 chars)")
        chosen = await evaluate(c, "items.filter(each => each.id > 997)")
        assert chosen == "(2) [{id: 998, name: 'cup'}, {id: 999, name: 'cup'}]"
        end = await ask(c, "dap_continue")
        assert "was computed" not in end.get("output", "")
