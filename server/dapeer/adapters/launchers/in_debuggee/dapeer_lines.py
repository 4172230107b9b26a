"""Remembers which lines of a file have code.

A breakpoint on a line without code moves to one that has some. To find that, pydevd reads and compiles the whole file
for each breakpoint, and a client sends all breakpoints of a file whenever it changes one.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable
from typing import Any

MOST = 50
"""Files whose lines are kept."""


class Lines:
    """Stands in for the function of pydevd that finds the lines of a file, or of a code object, that have code."""

    def __init__(self, stock: Callable[[Any], Iterable[int]]) -> None:
        self._stock = stock
        self._known: dict[str, tuple[tuple[int, ...], list[int]]] = {}

    def __call__(self, code: Any) -> Iterable[int]:
        """Return the lines; those of a file are kept until the file changes."""
        if not isinstance(code, str):
            return self._stock(code)
        # Before the file is read: what is written meanwhile counts as a change.
        edition = edition_of(code)
        known = self._known.get(code)
        if known is None or known[0] != edition:
            if len(self._known) >= MOST:
                self._known.clear()
            known = self._known[code] = (edition, sorted(set(self._stock(code))))
        return known[1]


def edition_of(path: str) -> tuple[int, ...]:
    """Return what differs after a change of a file.

    Raises:
        OSError: It cannot be read.
    """
    facts = os.stat(path)
    return (facts.st_ino, facts.st_size, facts.st_mtime_ns)


def improve(*, prints: bool) -> None:
    """Replace pydevd's function.

    Raises:
        AttributeError: pydevd has another structure.
    """
    api: Any = importlib.import_module("_pydevd_bundle.pydevd_api")
    if api._get_code_lines.__code__.co_argcount != 1:
        raise AttributeError
    api._get_code_lines = Lines(api._get_code_lines)
