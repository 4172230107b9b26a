"""Lines of source in any language: which belong to a function, and places on a long one. Pure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_LINE_ENDS = re.compile(r"\r\n|\r|\n")


def split_lines(text: str) -> list[str]:
    r"""Return the lines of a source text without their ends, as compilers and debuggers count them.

    `str.splitlines` also splits at characters that end no line of a program, such as a form feed.

    >>> split_lines("a = 1\n\x0c\nb = 2\r\nc\u2028d")
    ['a = 1', '\x0c', 'b = 2', 'c\u2028d']
    """
    lines = _LINE_ENDS.split(text)
    return lines if lines[-1] else lines[:-1]


# The lines around a stop that belong to its function.

LINES_ABOVE = 2
"""Lines above the next one to run. More lines are shown below it, because they have not run yet."""
_NAME = re.compile(r"\w+")


def lines_of_function(
    first: int, lines: list[str], line: int, function: str
) -> tuple[int, list[str]]:
    """Return the number of the first line of the function at `line`, and those of `lines` in it.

    `first` is the number of `lines[0]`, `function` the function's name as a debugger shows it. Lines above the
    function's head, more than `LINES_ABOVE` lines above `line`, and below the function's end are left out, and
    blank lines at both ends, but never `line`. Where no head is found above `line`, as if `line` is the head
    itself, `LINES_ABOVE` lines above stay; if `line` is not indented then, all below stay, too. Where `line` is
    not among `lines`, all are returned with `first`.

    >>> lines_of_function(7, ["    return 1", "", "def f(x):", "    y = x", "    return y", "", "def g():"], 10, "f")
    (9, ['def f(x):', '    y = x', '    return y'])
    """
    at = line - first
    if not 0 <= at < len(lines):
        return first, lines
    head = _head(lines, at, function)
    above = max(at - LINES_ABOVE, head or 0)
    below = _end_of_function(lines, at, 0 if head is None else _indent(lines[head]))
    kept = [number for number in range(above, below) if lines[number].strip() or number == at]
    return first + kept[0], lines[kept[0] : kept[-1] + 1]


def dedented(lines: Sequence[str]) -> list[str]:
    """Return lines without the white space that all of them begin with; blank lines do not count for that.

    >>> dedented(["        if ready:", "", "            go()"])
    ['if ready:', '', '    go()']
    """
    return textwrap.dedent("\n".join(lines)).split("\n")


def _head(lines: Sequence[str], index: int, function: str) -> int | None:
    """Return the index of the line, above `index`, with a function's head; None if none is found.

    `function` is the function's name as a debugger shows it, perhaps qualified or with parameters. A head
    contains the last part of that name as a word, and is indented less than the line at `index`; of several,
    the least indented count, and of these the nearest. Indexes begin at 0.
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


def _end_of_function(lines: Sequence[str], index: int, head_indent: int) -> int:
    """Return the index after the last line of the function that encloses the line at `index`.

    `head_indent` is the indentation of the function's head, in characters. The function ends at the first blank
    line after which the next line with text is indented no more than its head. The result is the number of
    lines if there is no such blank line, or if the line at `index` is itself indented no more than the head.
    """
    if _indent(lines[index]) <= head_indent:
        return len(lines)
    for number in range(index + 1, len(lines)):
        rest = [line for line in lines[number:] if line.strip()]
        if not lines[number].strip() and rest and _indent(rest[0]) <= head_indent:
            return number
    return len(lines)


def _indent(line: str) -> int:
    """Return how many characters of white space a line begins with."""
    return len(line) - len(line.lstrip())


# In which function a line stands, judged by its indentation.


def is_inside(lines: Sequence[str], line: int, function: str) -> bool:
    """Return whether a line (1 is the first) stands in a function of this name, by indentation.

    `function` is a name as debuggers show it, such as `Cart.add(int)`; only its last name, here `add`,
    counts, and without one the result is False. The line is inside if one of the lines above that enclose
    it by a smaller indent has that name as a word, be it in a call. The line itself does not count. A line
    out of `lines` is in none.

    >>> is_inside(["def add(a):", "    if a:", "        b = 1", "add(2)"], 3, "Cart.add")
    True
    >>> is_inside(["def add(a):", "    if a:", "        b = 1", "add(2)"], 4, "Cart.add")
    False
    """
    names = re.findall(r"[\w$]+", re.split(r"(?<!\.)\(", function)[0])
    bare = names[-1] if names else ""
    return bool(bare) and any(
        re.search(rf"(?<![\w$]){re.escape(bare)}(?![\w$])", lines[index])
        for index in _enclosing_lines(lines, line)
    )


def is_outside(lines: Sequence[str], line: int) -> bool:
    """Return whether a line (1 is the first) stands in no function, only in statements of a module.

    >>> is_outside(["for (;;) {", "  a();", "}", "function b() {", "  a();"], 2)
    True
    >>> is_outside(["for (;;) {", "  a();", "}", "function b() {", "  a();"], 5)
    False
    """
    return all(_STATEMENT.match(lines[index]) for index in _enclosing_lines(lines, line))


_STATEMENT = re.compile(
    r"\s*(\}\s*)?(for|foreach|while|until|unless|if|elsif|else|try|catch|finally|switch|case|begin|do|loop)\b(?!.*(=>|->|\bfunction\b|\bsub\b|\bdo \|))"
)
"""The head of a statement that has lines in it and is no function of its own."""


def runs_late(lines: Sequence[str], line: int) -> bool:
    """Return whether a line of Python is in a function that may run while the interpreter ends.

    `lines` is the file's text, and `line` counts from 1. Such functions are `__del__`, one with the decorator
    `@atexit.register` in the line above, and those whose names stand anywhere in `lines` within the call of
    `atexit.register` or a `finalize` on one line. Any function that encloses the line by indentation counts. False
    also for a number outside of `lines`.

    >>> runs_late(["def bye():", "    print(1)", "atexit.register(bye)"], 2)
    True
    >>> runs_late(["def bye():", "    print(1)", "bye()"], 2)
    False
    >>> runs_late(["def bye():", "    print(1)", "@atexit.register", "def bye():", "    print(2)"], 5)
    True
    """
    for index in _enclosing_lines(lines, line):
        if (found := re.match(r"\s*(?:async\s+)?def\s+(\w+)", lines[index])) is None:
            continue
        given = re.compile(rf"(atexit\.register|[Ff]inalize)\(.*\b{found[1]}\b")
        before = lines[index - 1] if index else ""
        if found[1] == "__del__" or "@atexit.register" in before or any(map(given.search, lines)):
            return True
    return False


def _enclosing_lines(lines: Sequence[str], line: int) -> Iterator[int]:
    """Yield the indices of the lines above `line` (1 is the first) that enclose it by indentation.

    The innermost comes first. Blank lines enclose nothing; a number outside of `lines` yields nothing.
    """
    if not 0 < line <= len(lines):
        return
    depth = _indent(lines[line - 1])
    for index in range(line - 2, -1, -1):
        if lines[index].strip() and _indent(lines[index]) < depth:
            depth = _indent(lines[index])
            yield index


# Places on a long line, as bundlers and minifiers write them.

LONG_LINE_CHARS = 500
"""Characters of a line from which on it may hold many places."""
MIN_PLACES = 10
"""Ends of statements and heads of functions on such a line from which on it does."""
MAX_TOLD_PLACES = 5
"""Places that are told as choices."""
CONTEXT_CHARS = 24
"""Characters around a place that are told on each side."""
MAX_SEARCHED_CHARS = 200_000
"""Characters of a line in which the nearest text is looked for."""
_ENDS = re.compile(r";|=>|\)\{")
_HEADS = re.compile(
    r"\bfunction\b[^({]{0,40}\(|[\w$]{1,40}=\(?[\w$,]{0,40}\)?=>|\bclass [\w$]{1,40}"
)


class LinePlace(NamedTuple):
    """A place on a line: its column, from 1 on, and the text around it."""

    column: int
    context: str


def has_many_places(line: str) -> bool:
    """Return whether a line is so long, with so many statements, that a breakpoint on it is ambiguous."""
    return len(line) > LONG_LINE_CHARS and len(_ENDS.findall(line)) > MIN_PLACES


def places_of(line: str, text: str) -> list[LinePlace]:
    """Return each place where `text` is on a line, from left to right, without overlaps.

    The list is empty if `text` is nowhere; an empty `text` is before each character, and at the end. `column`
    counts from 1. `context` is the line's text from `CONTEXT_CHARS` characters before that column to as many from
    there on, white space included, and without a mark where the line was cut.

    >>> places_of("a(1);b(2);a(3)", "a(")
    [LinePlace(column=1, context='a(1);b(2);a(3)'), LinePlace(column=11, context='a(1);b(2);a(3)')]
    """
    starts: list[int] = []
    start = line.find(text)
    while start >= 0:
        starts.append(start)
        start = line.find(text, start + max(len(text), 1))
    return [LinePlace(start + 1, _context_at(line, start)) for start in starts]


def heads_near(line: str, column: int = 1) -> list[LinePlace]:
    """Return where JavaScript's functions and classes seem to begin on a line, at most `MAX_TOLD_PLACES`.

    They come nearest first to `column`, which counts from 1. Each place has its own column, and the text of the
    line from there on, at most twice `CONTEXT_CHARS` characters. It is a guess for minified code: methods, and
    arrow functions whose parameters do not stand right behind `NAME=`, are missed.
    """
    starts = sorted(
        (found.start() for found in _HEADS.finditer(line)), key=lambda at: abs(at + 1 - column)
    )
    return [
        LinePlace(each + 1, line[each : each + 2 * CONTEXT_CHARS])
        for each in starts[:MAX_TOLD_PLACES]
    ]


def nearest_place(line: str, text: str) -> str:
    """Return the place on a line that has the longest part of `text`, as ``COLUMN `CONTEXT` ``.

    It is empty where less than half of the text is there in one piece, or the line is longer than `MAX_SEARCHED_CHARS`.

    >>> nearest_place("let s=1,{late:i}=B(e);f(s)", "let{late:i}=B(")
    '9 `let s=1,{late:i}=B(e);f(s)`'
    """
    if len(line) > MAX_SEARCHED_CHARS:
        return ""
    part = SequenceMatcher(None, line, text, autojunk=False).find_longest_match()
    place = LinePlace(part.a + 1, _context_at(line, part.a))
    return listed_places([place]) if part.size * 2 > len(text) else ""


def listed_places(places: Sequence[LinePlace]) -> str:
    """Return places as one text of choices, ``COLUMN `TEXT` ``, with how many are not listed."""
    shown = ", ".join(f"{place.column} `{place.context}`" for place in places[:MAX_TOLD_PLACES])
    left = len(places) - MAX_TOLD_PLACES
    return shown + (f" and {left} more" if left > 0 else "")


def cut_around(line: str, column: int, limit: int) -> str:
    """Return `limit` characters of a line around `column` (1 is the first), with `▸` before that column.

    The line's length is added. The line is returned as it is if it is short enough, or if `column` is below 1 or
    above the line's length + 1.

    >>> cut_around("x" * 50 + "f(1);" + "y" * 50, 51, 20)
    '…xxxxxx▸f(1);yyyyyyyyy… (105 chars)'
    """
    if len(line) <= limit or not 0 < column <= len(line) + 1:
        return line
    start = max(0, min(column - 1 - limit // 3, len(line) - limit))
    end = start + limit
    at = column - 1
    return f"{'…' if start else ''}{line[start:at]}▸{line[at:end]}{'…' if end < len(line) else ''} ({len(line)} chars)"


def _context_at(line: str, start: int) -> str:
    """Return the text around the index `start` of a line, `CONTEXT_CHARS` on each side."""
    return line[max(0, start - CONTEXT_CHARS) : start + CONTEXT_CHARS]
