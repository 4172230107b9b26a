"""Remembers which lines of a file have code.

A breakpoint on a line without code moves to one that has some. To find that, pydevd reads and compiles the whole file
for each breakpoint, and a client sends all breakpoints of a file whenever it changes one. For each of them pydevd also
sorts all others of the file by line, and looks at every thread again; here it does both once for a request.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable
from typing import Any

MOST = 50
"""Files whose lines are kept."""
SORTED_BY = 4
"""The parameters of pydevd's method that sorts breakpoints by line."""


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


def at_once(stock: Callable[..., Any]) -> Callable[..., Any]:
    """Return pydevd's handler of a request that sets breakpoints, with what it does about their change done once, at the end."""

    def handle(processor: Any, py_db: Any, request: Any) -> Any:
        changed: list[bool] = []
        sorts: dict[tuple[str, int], tuple[Any, ...]] = {}

        def sort_later(path: str, by_id: Any, by_path: Any) -> None:
            sorts[path, id(by_path)] = (path, by_id, by_path)

        py_db.on_breakpoints_changed = lambda removed=False: changed.append(removed)
        if getattr(py_db, "plugin", py_db) is None:  # a plugin uses what is sorted
            py_db.consolidate_breakpoints = sort_later
        try:
            return stock(processor, py_db, request)
        finally:
            py_db.__dict__.pop("consolidate_breakpoints", None)
            for each in sorts.values():
                py_db.consolidate_breakpoints(*each)
            del py_db.on_breakpoints_changed
            if changed:
                py_db.on_breakpoints_changed(removed=all(changed))

    return handle


def improve(*, prints: bool) -> None:
    """Replace pydevd's functions.

    Raises:
        AttributeError: pydevd has another structure.
    """
    api: Any = importlib.import_module("_pydevd_bundle.pydevd_api")
    commands: Any = importlib.import_module("_pydevd_bundle.pydevd_process_net_command_json")
    processor = commands.PyDevJsonCommandProcessor
    counts = [
        each.__code__.co_argcount
        for each in (api._get_code_lines, processor.on_setbreakpoints_request)
    ]
    if counts != [1, 3]:
        raise AttributeError
    debugger = importlib.import_module("pydevd").PyDB
    debugger.on_breakpoints_changed  # is it there?
    if debugger.consolidate_breakpoints.__code__.co_argcount != SORTED_BY:
        raise AttributeError
    processor.on_setbreakpoints_request = at_once(processor.on_setbreakpoints_request)
    api._get_code_lines = Lines(api._get_code_lines)
