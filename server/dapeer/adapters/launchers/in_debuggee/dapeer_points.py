"""Collecting points, and to which lines of which code they are bound."""

from __future__ import annotations

import functools
import importlib
import itertools
import os
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

expressions: Any = importlib.import_module("in_debuggee.dapeer_expressions")

COMPREHENSIONS = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"))
"""Codes within another one; before Python 3.12 all of them."""


class Point:
    """A point of the specification."""

    def __init__(self, told: dict[str, Any]) -> None:
        """Take what is told of it.

        Raises:
            Refused: An expression does not parse.
        """
        self.id: int = told["id"]
        self.file = same_file(mapped(told["file"])) if told.get("file") else ""
        wanted: list[str] = told.get("collect") or []
        self.line: int = told.get("line") or 0
        self.expressions: list[Any] = [expressions.Expression(each) for each in wanted]
        self.condition: Any = (
            expressions.Expression(told["condition"]) if told.get("condition") else None
        )
        self.max_hits: int | None = told.get("max_hits")
        self.hits = itertools.count(1)
        self.message = ""
        self.ended = False

    def end(self) -> bool:
        """Have enough hits."""
        self.ended = True
        return True

    def bind(self) -> bool:
        """Move to the next line that has code, as breakpoints do; whether there is one."""
        try:
            lines = lines_of(self.file, os.stat(self.file).st_mtime_ns)
        except Exception as error:
            self.message = f"{self.file} cannot be read there: {type(error).__name__}"
            return True
        line = next((each for each in lines if each >= self.line), 0)
        if not line:
            self.message = f"no code on line {self.line} or below"
        self.line = line or self.line
        return bool(line)


@functools.lru_cache(maxsize=20)
def lines_of(file: str, _changed: int) -> list[int]:
    """Return the lines of a file that have code, ascending."""
    with open(file, "rb") as stream:
        code = compile(stream.read(), file, "exec", dont_inherit=True)
    return sorted({line for each in within(code) for line in lines(each)})


def within(code: CodeType) -> Iterator[CodeType]:
    """Yield a code and those that are made in it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from within(each)


def lines(code: CodeType) -> set[int]:
    """Return the lines of a code at which Python tells that it is."""
    dis: Any = importlib.import_module("dis")
    return {line for _place, line in dis.findlinestarts(code) if line}


def inner_lines(code: CodeType) -> set[int]:
    """Return the lines of a code that are points of the code itself, not of the one around a comprehension."""
    found = lines(code)
    return found - {code.co_firstlineno} if code.co_name in COMPREHENSIONS else found


def mapped(file: str) -> str:
    """Return where a file of the client's is here."""
    files: Any = importlib.import_module("pydevd_file_utils")
    return str(files.map_file_to_server(file))


@functools.lru_cache(maxsize=10000)
def same_file(file: str) -> str:
    """Return one name for a file, by whatever name it is known."""
    return os.path.normcase(os.path.realpath(file))


class Bound:
    """The points of a specification by the codes that they are in, and their recorders."""

    def __init__(self, points: list[Any], record: Callable[[Any, Any], Any]) -> None:
        """Take the points, and what makes the recorder of a point for a frame."""
        self._record = record
        self._by_file: dict[str, list[Any]] = {}
        for each in points:
            self._by_file.setdefault(each.file, []).append(each)

    def recorders(self, frame: Any) -> dict[int, Any]:
        """Return what records in a frame's code, by line; none: it has no point."""
        code = frame.f_code
        found = self._by_file.get(same_file(code.co_filename)) if self._by_file else None
        if not found:
            return {}
        here = inner_lines(code)
        made: dict[int, Any] = {}
        for point in found:
            if point.line in here and not point.ended:
                record = self._record(point, frame)
                there = made.get(point.line)
                made[point.line] = record if there is None else both(there, record)
        return made


def both(first: Any, second: Any) -> Any:
    """Return what records two rows; it has enough when both have."""

    def record(frame: Any, context: str) -> bool:
        return bool(first(frame, context)) & bool(second(frame, context))

    return record
