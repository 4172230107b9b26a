"""Places on a long line, as bundlers and minifiers write them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

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

    The list is empty if it is nowhere; an empty `text` is before each character, and at the end. A long line is cut in `context`.

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
    """Return where functions and classes begin on a line, at most `MAX_TOLD_PLACES`, the nearest first.

    `column` is the column that they should be near to, from 1 on; each place has the text that follows it.
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

    The line's length is added. A line that is short enough, or that has no such column, is returned as it is.

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
