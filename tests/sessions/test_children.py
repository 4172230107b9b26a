"""A page of a container's children, from adapters that each ignore another part of the question."""

from collections.abc import Callable, Mapping

import pytest

from dapeer.dap.messages import Body, Request
from dapeer.sessions.inspection.children import page_of
from tests.peer import Answer, Wired, wired

Adapter = Callable[[Body], list[Body]]
"""Answers for a container, by the arguments of `variables`."""

SIZE = 300


def row(name: str) -> Body:
    return {"name": name, "value": name, "variablesReference": 0}


ELEMENTS = [row(f"[{n}]") for n in range(SIZE)]
LENGTH = row("length")


def ignores_all(_: Body) -> list[Body]:
    return [LENGTH, *ELEMENTS]


def sends_members_with_each_page(asked: Body) -> list[Body]:
    if asked.get("filter") == "named":
        return [LENGTH]
    start, count = asked.get("start", 0), asked.get("count", SIZE)
    return [*ELEMENTS[start : start + count], LENGTH]


def fills_up_with_nothing(asked: Body) -> list[Body]:
    if asked.get("filter") != "indexed":
        return [LENGTH]
    return [row(f"[{asked['start'] + n}]") for n in range(asked["count"])]


def gives_fewer_than_it_has_named(asked: Body) -> list[Body]:
    if asked.get("filter") != "indexed":
        return [LENGTH]
    start = asked["start"]
    return ELEMENTS[:280][start : start + asked["count"]]


def lists_only_the_first_100(asked: Body) -> list[Body]:
    if "filter" not in asked:
        return [LENGTH, *ELEMENTS[:100], row("…")]
    return sends_members_with_each_page(asked)


def answering(answer: Adapter, size: int) -> Mapping[str, Answer]:
    """Answer for the locals, among them a container of a size, and for that container."""
    items = {"name": "items", "value": "…", "variablesReference": 99, "indexedVariables": size}

    def variables(asked: Request) -> Body:
        container = asked.arguments["variablesReference"] == 99
        return {"variables": answer(asked.arguments) if container else [items]}

    return {"variables": variables}


async def listed(w: Wired, kind: str | None, start: int, count: int) -> tuple[list[str], int]:
    """Return the names on a page, and how many follow."""
    stop = w.session.mirror.require_stop()
    page = await page_of(w.session.inspect, stop, 99, kind, start, count)
    return [each["name"] for each in page.rows], page.total - start - len(page.rows)


@pytest.mark.parametrize(
    ("answer", "size"),
    [
        (ignores_all, SIZE),
        (ignores_all, 0),
        (sends_members_with_each_page, SIZE),
        (fills_up_with_nothing, SIZE),
    ],
)
async def test_a_page_has_the_same_rows_whatever_the_adapter_ignores(
    answer: Adapter, size: int
) -> None:
    async with wired(answering(answer, size)) as w:
        await w.stop()
        assert await listed(w, "indexed", 10, 3) == (["[10]", "[11]", "[12]"], 287)
        assert await listed(w, "indexed", 2, 298) == ([f"[{n}]" for n in range(2, 300)], 0)
        assert await listed(w, "indexed", 298, 50) == (["[298]", "[299]"], 0)
        assert await listed(w, "indexed", 300, 50) == ([], 0)
        assert await listed(w, "named", 0, 50) == (["length"], 0)
        assert await listed(w, None, 10, 2) == (["[10]", "[11]"], 288)
        assert await listed(w, None, 299, 50) == (["[299]", "length"], 0)


async def test_an_adapter_that_gives_fewer_elements_than_it_has_named_ends_the_list() -> None:
    async with wired(answering(gives_fewer_than_it_has_named, SIZE)) as w:
        await w.stop()
        assert await listed(w, "indexed", 270, 20) == ([f"[{n}]" for n in range(270, 280)], 0)
        assert await listed(w, "indexed", 280, 20) == ([], 0)


async def test_elements_behind_those_that_an_adapter_lists_are_requested() -> None:
    async with wired(answering(lists_only_the_first_100, 0)) as w:
        await w.stop()
        assert await listed(w, None, 98, 4) == (["[98]", "[99]", "[100]", "[101]"], 1)
        assert await listed(w, "indexed", 298, 4) == (["[298]", "[299]"], 0)
