"""In which function a line of source stands, judged by its indentation. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence


def is_inside(lines: Sequence[str], line: int, function: str) -> bool:
    """Whether a line (from 1) stands in a function of this name.

    >>> is_inside(["def add(a):", "    if a:", "        b = 1", "add(2)"], 3, "Cart.add")
    True
    >>> is_inside(["def add(a):", "    if a:", "        b = 1", "add(2)"], 4, "Cart.add")
    False
    """
    names = re.findall(r"[\w$]+", re.split(r"(?<!\.)\(", function)[0])
    bare = names[-1] if names else ""
    return bool(bare) and any(
        re.search(rf"(?<![\w$]){re.escape(bare)}(?![\w$])", each) for each in _around(lines, line)
    )


def _around(lines: Sequence[str], line: int) -> Iterator[str]:
    """Yield the lines that enclose one, the innermost first."""
    if not 0 < line <= len(lines):
        return
    depth = _depth(lines[line - 1])
    for text in reversed(lines[: line - 1]):
        if text.strip() and _depth(text) < depth:
            depth = _depth(text)
            yield text


def _depth(text: str) -> int:
    return len(text) - len(text.lstrip())
