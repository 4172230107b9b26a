"""Breakpoints as dapeer's callers want them: DAP's, and those that collect."""

from __future__ import annotations

# ruff: noqa: N815 - keys as DAP writes its own
import re
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from dapeer.dap.types import SourceBreakpoint


class RequestedBreakpoint(SourceBreakpoint):
    """DAP's breakpoint, with what dapeer keeps to itself: no adapter gets it."""

    column: NotRequired[int]
    at: NotRequired[str]
    """The text at its place on the line; a column stands for it once the file is known."""
    collect: NotRequired[list[str]]
    """Expressions of which each hit makes a row, instead of a stop."""
    expect: NotRequired[str]
    """An expression; where it does not hold the program stops, with the row before."""
    maxHits: NotRequired[int]
    """The hits after which nothing is collected any more."""
    collectedBy: NotRequired[str]
    """The client that has asked for it."""
    point: NotRequired[int]
    """The number of the collection point, in what is sent."""
    others: NotRequired[list[RequestedBreakpoint]]
    """What other clients collect on its line, in what is sent."""


Spot = tuple[int, int]
"""Where in its file a breakpoint was asked for: line and column; column 0: it has none."""
Place = tuple[str, int, int]
"""Path, and the line and column of a `Spot`."""


def spot_of(requested: Mapping[str, Any]) -> Spot:
    """Return line and column by which a breakpoint is told from the others of its file.

    >>> spot_of({"line": 1, "column": 20}), spot_of({"line": 1})
    ((1, 20), (1, 0))
    """
    return int(requested.get("line") or 0), int(requested.get("column") or 0)


def place_in_file(spot: Spot) -> str:
    """Return a place as it is told behind its file's name: the line, and the column if it has one.

    >>> place_in_file((1, 20)), place_in_file((1, 0))
    ('1:20', '1')
    """
    line, column = spot
    return f"{line}:{column}" if column else f"{line}"


class RequestedLife(TypedDict):
    """Which call of functions that are collected is wanted line by line."""

    call: int
    """Its number, as calls begin."""
    function: str
    """The qualified name of its function."""


class RequestedFunction(TypedDict):
    """Functions at which a program collects, by name; no adapter gets them.

    Where one has neither calls nor expressions, the program stops.
    """

    name: str
    """`shop.total`, `Order.*`; several between commas."""
    calls: bool
    """A row for each call that is over; else for each one that begins."""
    collect: list[str]
    """Expressions; a call's are evaluated at its end."""
    condition: NotRequired[str]
    maxHits: NotRequired[int]
    collectedBy: NotRequired[str]
    life: NotRequired[RequestedLife]


def collects_at(requested: RequestedFunction) -> bool:
    """Return whether a program collects rows at these functions; False: it stops there."""
    return bool(requested["calls"] or requested["collect"])


def title_of(requested: RequestedFunction) -> str:
    """Return the title under which a collection point at functions is shown: `calls of NAME`, or `NAME`."""
    return f"calls of {requested['name']}" if requested["calls"] else requested["name"]


def function_breakpoint(text: str) -> dict[str, str]:
    """Return DAP's `FunctionBreakpoint` for a text that is `f`, or `f if condition`.

    >>> function_breakpoint("shop::total if n > 3")
    {'name': 'shop::total', 'condition': 'n > 3'}
    """
    name, _, condition = text.partition(" if ")
    return {"name": name.strip(), **({"condition": condition.strip()} if condition else {})}


def last_part(name: str) -> str:
    """Return the last part of a function's qualified name, without its parameters and template arguments.

    >>> last_part("shop::Cart<int>::add(int)"), last_part("main.(*Cart).Add"), last_part("Cart#add")
    ('add', 'Add', 'add')
    """
    return re.split(r"\W+", re.sub(r"(?<=\w)[(<].*?[)>]+(?=\W|$)", "", name).strip())[-1]
