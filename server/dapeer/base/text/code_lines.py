"""Which line of a text a breakpoint on a line without code means. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_LINES_AHEAD = 50
"""Lines in which the next one with code is looked for."""
CLOSERS = re.compile(r"\s*[)\]}]")
"""How a line begins that ends what is around it."""


def line_with_code(lines: Sequence[str], line: int, empty: str) -> int:
    r"""Return the number of the line with code where a breakpoint on `line` belongs.

    `lines` are the file's lines, and numbers begin at 1. `empty` is a pattern that a line without code matches completely. The
    result is `line` itself if it has code, else the next line with code within `MAX_LINES_AHEAD` lines, or `line` if there is none
    in the same function. The function ends before a line at the margin that does more than close a bracket.

    >>> line_with_code(["def f():", "    a = 1", "", "    # then", "    b = 2"], 3, r"\s*(#.*)?")
    5
    >>> line_with_code(["def f():", "    a = 1", "", "f()"], 3, r"\s*(#.*)?")
    3
    """
    if not 0 < line <= len(lines) or not re.fullmatch(empty, lines[line - 1]):
        return line
    above = next(
        (each for each in reversed(lines[: line - 1]) if not re.fullmatch(empty, each)), ""
    )
    ahead = range(line + 1, min(len(lines), line + MAX_LINES_AHEAD) + 1)
    found = next((each for each in ahead if not re.fullmatch(empty, lines[each - 1])), line)
    text = lines[found - 1]
    leaves = above[:1].isspace() and not text[:1].isspace() and not CLOSERS.match(text)
    return line if leaves else found
