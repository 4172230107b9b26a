"""In which function a line of source stands, judged by its indentation. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence


def is_inside(lines: Sequence[str], line: int, function: str) -> bool:
    """Return whether a line (1 is the first) stands in a function of this name, by indentation.

    `function` is a name as debuggers show it, such as `Cart.add(int)`; only its last name, here `add`, counts. The line is inside if one of
    the lines that enclose it has that name as a word. A line out of `lines` is in none.

    >>> is_inside(["def add(a):", "    if a:", "        b = 1", "add(2)"], 3, "Cart.add")
    True
    >>> is_inside(["def add(a):", "    if a:", "        b = 1", "add(2)"], 4, "Cart.add")
    False
    """
    names = re.findall(r"[\w$]+", re.split(r"(?<!\.)\(", function)[0])
    bare = names[-1] if names else ""
    return bool(bare) and any(
        re.search(rf"(?<![\w$]){re.escape(bare)}(?![\w$])", each)
        for each in _enclosing_lines(lines, line)
    )


def is_outside(lines: Sequence[str], line: int) -> bool:
    """Return whether a line (1 is the first) stands in no function, only in statements of a module.

    >>> is_outside(["for (;;) {", "  a();", "}", "function b() {", "  a();"], 2)
    True
    >>> is_outside(["for (;;) {", "  a();", "}", "function b() {", "  a();"], 5)
    False
    """
    return all(_STATEMENT.match(each) for each in _enclosing_lines(lines, line))


_STATEMENT = re.compile(
    r"\s*(\}\s*)?(for|foreach|while|until|unless|if|elsif|else|try|catch|finally|switch|case|begin|do|loop)\b(?!.*(=>|->|\bfunction\b|\bsub\b|\bdo \|))"
)
"""The head of a statement that has lines in it and is no function of its own."""


def runs_late(lines: Sequence[str], line: int) -> bool:
    """Return whether a line of Python is in a function that may run while the interpreter ends.

    `line` 1 is the first of `lines`, the file's text. Such functions are `__del__`, and those whose names the source gives to
    `atexit.register` or a `finalize` on one line; any function that encloses the line counts. False also for a line out of `lines`.

    >>> runs_late(["def bye():", "    print(1)", "atexit.register(bye)"], 2)
    True
    >>> runs_late(["def bye():", "    print(1)", "bye()"], 2)
    False
    """
    for text in _enclosing_lines(lines, line):
        if (found := re.match(r"\s*(?:async\s+)?def\s+(\w+)", text)) is None:
            continue
        given = re.compile(rf"(atexit\.register|[Ff]inalize)\(.*\b{found[1]}\b")
        before = lines[lines.index(text) - 1] if lines.index(text) else ""
        if found[1] == "__del__" or "@atexit.register" in before or any(map(given.search, lines)):
            return True
    return False


def _enclosing_lines(lines: Sequence[str], line: int) -> Iterator[str]:
    """Yield the lines above `line` (1 is the first) that enclose it by indentation, the innermost first.

    Blank lines enclose nothing; a number outside of `lines` yields nothing.
    """
    if not 0 < line <= len(lines):
        return
    depth = _depth(lines[line - 1])
    for text in reversed(lines[: line - 1]):
        if text.strip() and _depth(text) < depth:
            depth = _depth(text)
            yield text


def _depth(text: str) -> int:
    """Return how many characters of white space a line begins with."""
    return len(text) - len(text.lstrip())
