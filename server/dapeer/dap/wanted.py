"""Breakpoints on lines as dapeer's callers want them: DAP's, and those that collect."""

from __future__ import annotations

# ruff: noqa: N815 - keys as DAP writes its own
from typing import NotRequired

from dapeer.dap.types import SourceBreakpoint


class WantedBreakpoint(SourceBreakpoint):
    """DAP's breakpoint, with what dapeer keeps to itself: no adapter gets it."""

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
