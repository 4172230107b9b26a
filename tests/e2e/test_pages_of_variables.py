"""The children of a container, page by page: the same rows under every adapter, whatever it can."""

import asyncio
import re
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import ask, call, client, data, read, text
from tests.languages import Language, program_of, ready
from tests.processes import LIMIT
from tests.programs import program

PROGRAMS = [
    Language("debugpy", "elements.py"),
    Language("js-debug", "elements.js"),
    Language("gdb", "elements.cpp"),
    Language("lldb-dap", "elements.cpp"),
    Language("codelldb", "elements.cpp"),
    Language("delve", "elements.go"),
    Language("rdbg", "elements.rb"),
    Language("jdi", "Elements.java"),
    Language("perl", "elements.pl", path="@items"),
    Language("bash-dap", "elements.sh"),
]
"""A list of the numbers from 0 to 299 in each language."""

NEXT = re.compile(r"\((\d+) more: start=(\d+)\)")


def path_of(language: Language) -> str:
    return "items" if language.path == "value" else language.path


async def numbers(c: Client, **which: object) -> tuple[list[int], str]:
    """Return the elements that an answer lists, and its last line."""
    answer = await call(c, "dap_variables", **which)
    rows = data(answer).get("variables", [])
    found = [int(each["value"].strip("'\"")) for each in rows if re.search(r"\d", each["name"])]
    return found, text(answer).splitlines()[-1]


@pytest.mark.parametrize("language", PROGRAMS, ids=str)
async def test_following_the_hints_reads_each_of_300_elements_once(
    language: Language, build: Path
) -> None:
    ready(language)
    p = program_of(language, build)
    path = path_of(language)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", type=language.adapter, program=str(p), breakpoints=[p.at("look")])
        reference = (await ask(c, "dap_variables", path=path, count=1))["variables_reference"]
        for where in ({"path": path}, {"variables_reference": reference}):
            for kind in ({}, {"filter": "indexed"}):
                await each_is_read_once(c, **where, **kind)
                three, hint = await numbers(c, start=10, count=3, **where, **kind)
                assert (three, NEXT.findall(hint)) == ([10, 11, 12], [("287", "13")])
                last, end = await numbers(c, start=298, count=5, **where, **kind)
                assert (last, NEXT.findall(end)) == ([298, 299], [])
            assert (await numbers(c, **where, filter="named"))[0] == []
            for kind in ("indexed", "named"):
                beyond = await read(c, "dap_variables", **where, filter=kind, start=300)
                assert beyond.splitlines()[-1].startswith("No variables")


async def each_is_read_once(c: Client, **which: object) -> None:
    seen: list[int] = []
    start = 0
    while True:
        rows, hint = await numbers(c, start=start, count=77, **which)
        seen += rows
        if not (more := NEXT.fullmatch(hint)):
            break
        start = int(more[2])
        assert start == len(seen)
        assert int(more[1]) == 300 - start
    assert seen == [*range(300)]


@pytest.mark.parametrize("name", ["table", "chosen", "row", "labelled", "many", "numbers"])
async def test_containers_of_each_kind_are_cut_alike_in_python(name: str) -> None:
    p = program("elements.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")])
        last = 2500 if name == "many" else 300
        for kind in ({}, {"filter": "indexed"}):
            page = await ask(c, "dap_variables", path=name, start=last - 5, count=2, **kind)
            assert [v["value"] for v in page["variables"]] == [str(last - 5), str(last - 4)]
            assert page["more"] == 3
        others = (await ask(c, "dap_variables", path=name, filter="named"))["variables"]
        own = {"labelled": ["label"], "numbers": ["itemsize", "typecode"]}.get(name, [])
        assert [v["name"] for v in others] == [*own, "len()"]


async def test_what_has_no_list_of_elements_is_asked_for_by_a_slice() -> None:
    p = program("elements.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("look")])
        for kind in ({}, {"filter": "indexed"}):
            answer = await read(c, "dap_variables", path="view", start=290, **kind)
            assert answer.splitlines()[-1] == (
                "No variables from 290 on: the adapter lists no elements of this value. If it has some,"
                " dap_evaluate shows them by a slice, such as [290:298] behind its path in Python."
            )


async def test_elements_come_before_other_members_and_each_is_found_by_its_index(
    build: Path,
) -> None:
    language = Language("js-debug", "elements.js")
    ready(language)
    p = program_of(language, build)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", type="js-debug", program=str(p), breakpoints=[p.at("look")])
        end = await ask(c, "dap_variables", path="labelled", start=299)
        assert [v["name"] for v in end["variables"]] == ["299", "label", "length", "[[Prototype]]"]
        for name in ("table", "chosen"):
            page = await ask(c, "dap_variables", path=name, filter="indexed", start=299)
            assert [v["name"] for v in page["variables"]] == ["299"]
            others = await ask(c, "dap_variables", path=name, filter="named")
            assert [v["name"] for v in others["variables"]] == ["size", "[[Prototype]]"]


async def test_a_page_from_the_midst_of_a_large_map_blocks_nobody(tmp_path: Path) -> None:
    ready(Language("js-debug", "elements.js"))
    text = "const map = new Map(Array.from({ length: 100000 }, (_, i) => [`n${i}`, i]));\nmap.get('n1');\n"
    (tmp_path / "map.js").write_text(text)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = {"filename": "map.js", "line": 2}
        await ask(c, "dap_run", program="map.js", breakpoints=[at])
        page = await ask(c, "dap_variables", path="map", start=50_000, count=3)
        assert [v["name"] for v in page["variables"]] == ["50000", "50001", "50002"]
        assert "n50001" in page["variables"][1]["value"]
        assert "100000" in await read(c, "dap_evaluate", expression="map.size")


async def test_the_locals_of_a_frame_are_filtered_and_a_start_behind_the_end_says_so() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        assert "value" in await read(c, "dap_variables", filter="named")
        assert await read(c, "dap_variables", filter="indexed") == "No variables."
        beyond = await read(c, "dap_variables", start=50)
        assert re.fullmatch(r"No variables from 50 on: there are? \d+\.", beyond)
