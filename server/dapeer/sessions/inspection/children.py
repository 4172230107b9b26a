"""The children of a container, page by page: its elements first, then its other members.

An adapter may ignore the filter, the page, or both; it may send the same members with every page of
elements; it may list only the first elements unless a page is requested. The result is the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dapeer.dap.types import Variable
from dapeer.mirror.stops import Stop
from dapeer.mirror.values import is_element
from dapeer.sessions.inspection.fetching import Fetching

LEFT_OUT = "…"
"""Name of a child by which an adapter says that there are more."""
MAX_LISTED_AT_ONCE = 100_000
"""Elements of a sparse array that are requested at once."""
MAX_LEVELS = 4
"""Levels of children that stand for more elements."""
_RANGE = re.compile(r"\[(\d+):(\d+)\]")


@dataclass(frozen=True, slots=True)
class Page:
    """Some of a container's children."""

    rows: Sequence[Variable]
    total: int
    """Children of the kind in the container, as far as known."""
    open: bool = False
    """Whether there may be more than that."""
    by_number: bool = True
    """Whether the adapter lists any elements."""


@dataclass(frozen=True, slots=True)
class _ElementRange:
    """Elements that follow each other: one that is known, or several below a reference."""

    length: int
    element: Variable | None = None
    reference: int = 0


async def page_of(
    fetching: Fetching, stop: Stop, reference: int, kind: str | None, start: int, count: int
) -> Page:
    """Return `count` children of a container from `start` on, as a page with their total.

    `start` counts from 0; fewer are returned at the end. `kind` is "indexed" for elements, "named" for other
    members, or None for both. Of both, the elements come first, so that an element's index is its place.
    `reference` is the container's `variablesReference` at `stop`. `fetching` is what requests the children that
    the mirror lacks. `total` counts the children of the kind; for None it counts elements only if the page ends
    before the last element, or if `open` says that there may be more elements than `total`. `by_number` says
    whether the container has elements, or may have; with "named" it is always true.

    Raises:
        NotStopped: The program runs.
        DapeerError: A request failed.
    """
    container = await _container(fetching, stop, reference)
    if kind == "named":
        return cut(await container.members(), start, count)
    rows = await container.elements(start, count)
    size = container.size
    by_number = bool(size) or container.open
    if kind == "indexed" or container.open or start + count < size:
        return Page(rows, size, container.open, by_number)
    members = await container.members()
    first = max(start - size, 0)
    shown = [*rows, *members[first : first + count - len(rows)]]
    return Page(shown, size + len(members), by_number=by_number)


def cut(rows: Sequence[Variable], start: int, count: int) -> Page:
    """Return `count` of `rows` from `start` on, as a page; `rows` are all children of their kind."""
    return Page(rows[start : start + count], len(rows))


def of_kind(rows: Sequence[Variable], kind: str | None) -> Sequence[Variable]:
    """Return those of some children that are elements ("indexed") or are not ("named"); None: all."""
    return [each for each in rows if kind is None or is_element(each) is (kind == "indexed")]


async def _container(fetching: Fetching, stop: Stop, reference: int) -> _Container:
    """Return what gives the elements and members of the container `reference` at a stop.

    If the adapter says how many elements there are, and the mirror has not all of them, they are requested page
    by page later. Else the list of children is fetched here by `fetching`, unless the mirror has it. Children
    that are placeholders for more elements are followed through at most `MAX_LEVELS` levels, until it is known
    how many elements each stands for; those elements are requested later. `reference` is the adapter's
    `variablesReference`.

    Raises:
        NotStopped: The program runs.
        DapeerError: A request failed.
    """
    size = stop.values.element_counts.get(reference, 0)
    known = (
        stop.values.variables.get(reference, ())
        if reference not in stop.values.outdated_references
        else ()
    )
    if size and len(of_kind(known, "indexed")) != size:
        return _Container(fetching, reference, size)
    rows = await fetching.variables(reference)
    runs: list[_ElementRange] = []
    for row in rows:
        if _stands_for_more(fetching, row):
            runs += await _element_ranges(fetching, row, MAX_LEVELS)
        elif is_element(row):
            runs.append(_ElementRange(1, row))
    return _ListedContainer(fetching, reference, runs, rows)


class _Container:
    """A container of which the adapter says how many elements it has: they are requested page by page."""

    def __init__(self, fetching: Fetching, reference: int, size: int) -> None:
        """Hold a container with `size` elements, as its adapter has said."""
        self.size = size
        """Elements, as far as known."""
        self.open = False
        """Whether there may be more."""
        self._fetching = fetching
        self._reference = reference

    async def elements(self, start: int, count: int) -> list[Variable]:
        """Return at most `count` elements of the container, from the index `start` on.

        The result is empty, and nothing is requested, if `start` is not below `size`. If the adapter gives fewer
        elements than there should be, and `size` is at most `MAX_LISTED_AT_ONCE`, all elements are requested, since in
        a page a sparse array leaves out its holes; the result is cut out of them, unless even they end before the short
        page does. Then `size` becomes their number, but at least the end of that page. In a larger container `size`
        becomes the end of the short page.

        Raises:
            DapeerError: A request fails.
        """
        expected = min(count, self.size - start)
        if expected <= 0:
            return []
        rows = await self._page(start, expected)
        if len(rows) < expected and self.size <= MAX_LISTED_AT_ONCE:
            # Of a sparse array the page has those that are there; of all of them each has its place.
            every = await self._page(0, self.size)
            self.size = max(len(every), start + len(rows))
            return every[start : start + count] if len(every) >= start + len(rows) else rows
        if len(rows) < expected:
            self.size = start + len(rows)
        return rows

    async def _page(self, start: int, count: int) -> list[Variable]:
        """Request a page of elements; return at most `count` of them, from the index `start` on.

        If the adapter ignores the page and sends the whole list, the page is cut out of that. Members that are no elements
        are left out if `open` is set, or if the adapter sends more than `count` children and at least `count` of them are
        elements; in other answers they stay.

        Raises:
            DapeerError: The request fails.
        """
        rows = await self._fetching.page(self._reference, "indexed", start, count)
        if len(rows) > count or self.open:
            # Other members were sent with the page, or the whole container in place of it.
            elements = of_kind(rows, "indexed")
            rows = elements if self.open or len(elements) >= count else rows
        ignored = len(rows) >= self.size > 0 and rows[0]["name"].strip("[]") != str(start)
        return [*rows[start if ignored else 0 :][:count]]

    async def members(self) -> Sequence[Variable]:
        """Return all children that are no elements; they are requested from the adapter."""
        return _members(self._fetching, await self._fetching.named_children(self._reference))


class _ListedContainer(_Container):
    """A container whose elements are all listed, directly or below children that stand for more.

    Where the adapter has listed only the first ones, the others are requested page by page.
    """

    def __init__(
        self,
        fetching: Fetching,
        reference: int,
        runs: Sequence[_ElementRange],
        rows: Sequence[Variable],
    ) -> None:
        """Hold the listed elements `runs` and all listed children `rows`.

        A row named "…" says that there are more.
        """
        super().__init__(fetching, reference, sum(run.length for run in runs))
        self.open = any(row["name"] == LEFT_OUT for row in rows)
        self._runs = runs
        self._rows = rows

    async def elements(self, start: int, count: int) -> list[Variable]:
        """Return at most `count` elements from the index `start` on, which counts from 0.

        Elements that a child stands for are requested. If the list may go on beyond what was listed (`open`), and the
        page ends behind what is known (`size`), the page itself is requested; then `open` is whether it was full, and
        `size` the elements up to its end, and one more if `open`. The list is empty behind the last element.

        Raises:
            DapeerError: The program runs, or a request failed.
        """
        if self.open and start + count > self.size:
            rows = await self._page(start, count)
            self.open = len(rows) == count
            self.size = start + len(rows) + self.open
            return rows
        found: list[Variable] = []
        place = 0
        for run in self._runs:
            first, last = max(start - place, 0), min(start + count - place, run.length)
            place += run.length
            if first >= last:
                continue
            if run.element is not None:
                found.append(run.element)
            else:
                found += (await self._fetching.variables(run.reference))[first:last]
        return found

    async def members(self) -> Sequence[Variable]:
        """Return all listed children that are no elements."""
        return _members(self._fetching, self._rows)


def _members(fetching: Fetching, rows: Sequence[Variable]) -> Sequence[Variable]:
    """Return the children that are no elements of a container, and no placeholders for more elements."""
    return [
        each
        for each in of_kind(rows, "named")
        if each["name"] != LEFT_OUT and not _stands_for_more(fetching, each)
    ]


def _stands_for_more(fetching: Fetching, row: Variable) -> bool:
    """Return whether a child is a placeholder for more elements of its container (`more_elements`)."""
    pattern = fetching.more_elements
    return bool(pattern and pattern.fullmatch(f"{row['name']}: {row.get('type', '')}"))


async def _element_ranges(fetching: Fetching, row: Variable, levels: int) -> list[_ElementRange]:
    """Return the ranges of elements for which a child is a placeholder, in order; fetch them as needed.

    `row` is the child. If its value is a range such as `[100:200]`, the result is one range: its length, and the
    reference below which the elements are. Else its children are fetched, and the placeholders among them are
    followed, through at most `levels` levels; empty if that finds no range.

    Raises:
        DapeerError: The program runs, or a request failed.
    """
    if found := _RANGE.fullmatch(row["value"]):
        return [_ElementRange(int(found[2]) - int(found[1]), reference=row["variablesReference"])]
    if not levels or not row["variablesReference"]:
        return []
    inside = await fetching.variables(row["variablesReference"])
    return [
        run
        for each in inside
        if _stands_for_more(fetching, each)
        for run in await _element_ranges(fetching, each, levels - 1)
    ]
