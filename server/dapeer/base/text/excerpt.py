"""Selects the lines of source around a stop that belong to its function, in any language. Pure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

LINES_ABOVE = 2
"""Lines above the next one to run. More lines are shown below it, because they have not run yet."""
_NAME = re.compile(r"\w+")


def lines_of_function(
    first: int, lines: list[str], line: int, function: str
) -> tuple[int, list[str]]:
    """Return the number of the first line of the function at `line`, and those of `lines` in it.

    `first` is the number of `lines[0]`, `function` the function's name as a debugger shows it. Lines above the function's head, more than
    `LINES_ABOVE` lines above `line`, and below the function's end are left out, and blank lines at both ends. Where `line` is not among
    `lines`, all are returned with `first`.

    >>> lines_of_function(7, ["    return 1", "", "def f(x):", "    y = x", "    return y", "", "def g():"], 10, "f")
    (9, ['def f(x):', '    y = x', '    return y'])
    """
    at = line - first
    if not 0 <= at < len(lines):
        return first, lines
    head = _head(lines, at, function)
    above = max(at - LINES_ABOVE, head or 0)
    below = _end(lines, at, 0 if head is None else _indent(lines[head]))
    kept = [number for number in range(above, below) if lines[number].strip() or number == at]
    return first + kept[0], lines[kept[0] : kept[-1] + 1]


def dedented(lines: Sequence[str]) -> list[str]:
    """Return lines without the white space that all of them begin with; blank lines do not count for that.

    >>> dedented(["        if ready:", "", "            go()"])
    ['if ready:', '', '    go()']
    """
    return textwrap.dedent("\n".join(lines)).split("\n")


def _head(lines: Sequence[str], index: int, function: str) -> int | None:
    """Return the index of the line with the function's head, above `index`; None if none is found.

    The head contains the function's last name, and is indented less than the line at `index`; of several the least indented, nearest
    one is returned.
    """
    names = _NAME.findall(function.partition("(")[0])
    if not names:
        return None
    named = re.compile(rf"\b{re.escape(names[-1])}\b")
    inside = _indent(lines[index])
    found = [
        number
        for number in range(index)
        if named.search(lines[number]) and _indent(lines[number]) < inside
    ]
    return min(found, key=lambda number: (_indent(lines[number]), -number), default=None)


def _end(lines: Sequence[str], index: int, indent: int) -> int:
    """Return the index after the last line of the function that the line at `index` is in.

    `indent` is the indentation of its head. It ends at a blank line before a line that is indented no more than that; where there
    is none, it is the number of lines.
    """
    if _indent(lines[index]) <= indent:
        return len(lines)
    for number in range(index + 1, len(lines)):
        rest = [line for line in lines[number:] if line.strip()]
        if not lines[number].strip() and rest and _indent(rest[0]) <= indent:
            return number
    return len(lines)


def _indent(line: str) -> int:
    """Return how many characters of white space a line begins with."""
    return len(line) - len(line.lstrip())
