"""Breakpoints as dapeer's callers want them: DAP's, and those that collect."""

from __future__ import annotations

# ruff: noqa: N815 - keys as DAP writes its own
from typing import NotRequired, TypedDict

from dapeer.dap.types import SourceBreakpoint


class WantedBreakpoint(SourceBreakpoint):
    """DAP's breakpoint, with what dapeer keeps to itself: no adapter gets it."""

    column: NotRequired[int]
    collect: NotRequired[list[str]]
    """Expressions of which each hit makes a row, instead of a stop."""
    maxHits: NotRequired[int]
    """The hits after which nothing is collected any more."""
    collectedBy: NotRequired[str]
    """The client that has asked for it."""
    point: NotRequired[int]
    """The number of the collection point, in what is sent."""
    others: NotRequired[list[WantedBreakpoint]]
    """What other clients collect on its line, in what is sent."""


class WantedLife(TypedDict):
    """Which call of functions that are collected is wanted line by line."""

    call: int
    """Its number, as calls begin."""
    function: str
    """The qualified name of its function."""


class WantedFunction(TypedDict):
    """Functions at which a program collects, by name: no adapter gets it."""

    name: str
    """`shop.total`, `Order.*`; several between commas."""
    calls: bool
    """A row for each call that is over; else for each one that begins."""
    collect: list[str]
    """Expressions; a call's are evaluated at its end."""
    condition: NotRequired[str]
    maxHits: NotRequired[int]
    collectedBy: NotRequired[str]
    life: NotRequired[WantedLife]


def title_of(wanted: WantedFunction) -> str:
    """Return what functions at which a program collects are known by."""
    return f"calls of {wanted['name']}" if wanted["calls"] else wanted["name"]
