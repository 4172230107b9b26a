"""Secrets in the columns of tables: CSV, lines with `|`, tables of SQL clients and of pandas. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from dapeer.base.secrets.names import Name, Span

MAX_TABLE_ROWS: Final = 1000
"""Rows below a heading that are looked at."""
MAX_LINE_CHARS: Final = 4000
"""Characters of a line that can be of a table."""
_BREAK = re.compile(r"[\r\n]+|(?:\\r)?\\n")
"""Ends a line of a text, or of a text in the `repr` of one."""
_RULE = re.compile(r"[\s|+=:─-╿-]*|[\s│┆-]*(?:(?:str|i64|f64|bool|date|datetime)[\s│┆]*)+")
"""A line of a table that holds no values."""
_DELIMITERS = (re.compile(r"[|│┆]"), re.compile(r"\t|\\t"), re.compile(r"[,;]"))
_CELL = re.compile(r"\S+")
_PLAIN = re.compile(r"\s*[\w.\"'-]+\s*")
_WORD = re.compile(r"[^\s\"',;()\[\]{}|<>]{6,400}")
_SIZE = re.compile(r"(?<!\d)\(\d+, ?\d*\) [^|\n]{0,400}\Z")
"""Begins a table of pandas as dapeer shows it."""
_BELOW = re.compile(
    r"[^|\n]{0,400}(?P<rows> \| [^\n]{4,4000}|\n(?:[ ]+\S[^\n]{0,400}(?:\n|\Z)){1,60})"
)
"""Its rows, which stand in one line where there is little room."""


@dataclass(frozen=True, slots=True)
class _Head:
    """The heading of a column of secrets: its number, the number of cells, and its place in its line."""

    name: Name
    index: int
    count: int
    place: tuple[int, int]
    split: re.Pattern[str] | None


def column_secrets(text: str, names: Sequence[Name]) -> Iterator[Span]:
    """Yield the values below headings that are names of secrets, in tables of any of the known forms.

    `names` are the names of secrets in `text`, in their order. A table ends at the first line of another form, or after `MAX_TABLE_ROWS`.
    """
    heads: Sequence[_Head] = ()
    rows = position = following = 0
    while position < len(text) and (heads or following < len(names)):
        if not heads:
            position = max(position, _start(text, names[following].begin))
        found = _BREAK.search(text, position, position + MAX_LINE_CHARS)
        line = position, found.start() if found else min(position + MAX_LINE_CHARS, len(text))
        first = following
        while following < len(names) and names[following].begin < line[1]:
            yield from _column(text, names[following])
            following += 1
        headings = list(_heads(text, line, names[first:following]))
        if headings:
            heads, rows = headings, 0
        elif heads:
            rows += 1
            fits = rows <= MAX_TABLE_ROWS and (found or line[1] == len(text))
            held = _row(text, line, heads) if fits else None
            yield from held or ()
            heads = heads if held is not None else ()
        position = found.end() if found else max(line[1], position + 1)


def _start(text: str, position: int) -> int:
    """Return where the line that contains a position begins; at most `MAX_LINE_CHARS` before it."""
    least = max(position - MAX_LINE_CHARS, 0)
    ends = ((text.rfind(each, least, position), len(each)) for each in ("\n", "\\n"))
    return max([least, *(at + length for at, length in ends if at >= 0)])


def _heads(text: str, line: tuple[int, int], names: Sequence[Name]) -> Iterator[_Head]:
    """Yield the headings in a line that are names of secrets, if the line is the heading of a table.

    `line` is the line's start and end in `text`, `names` are the names in it.
    """
    if not names:
        return
    begins = {each.begin: each for each in names}
    for split in (*_DELIMITERS, None):
        cells = _cells(text, line, split)
        if len(cells) < 2 or not _is_heading(text, line, cells, split):
            continue
        bare = ((index, cell, _bare(text, cell)) for index, cell in enumerate(cells))
        found = [
            _Head(begins[start], index, len(cells), (cell[0] - line[0], cell[1] - line[0]), split)
            for index, cell, (start, end) in bare
            if start in begins and begins[start].end == end
        ]
        if found:
            yield from found
            return


def _bare(text: str, cell: tuple[int, int]) -> tuple[int, int]:
    """Return where the text of a cell begins and ends, without spaces and quotes around it."""
    body = text[slice(*cell)]
    start = cell[0] + len(body) - len(body.lstrip(" \"'`"))
    return start, max(cell[0] + len(body.rstrip(" \"'`")), start)


def _cells(
    text: str, line: tuple[int, int], split: re.Pattern[str] | None
) -> list[tuple[int, int]]:
    """Return where the cells of a line begin and end; `split` separates them, None: white space does."""
    if split is None:
        return [each.span() for each in _CELL.finditer(text, *line)]
    cuts = [each.span() for each in split.finditer(text, *line)]
    edges = [(line[0], line[0]), *cuts, (line[1], line[1])]
    return [(before[1], after[0]) for before, after in pairwise(edges)]


def _is_heading(
    text: str,
    line: tuple[int, int],
    cells: Sequence[tuple[int, int]],
    split: re.Pattern[str] | None,
) -> bool:
    """Return whether a line looks like the heading of a table, and not like a sentence or code.

    `cells` are the places of its cells, `split` is the delimiter's pattern, or None for columns that white space separates.
    """
    if split is None:
        # Columns stand apart; a sentence has single spaces.
        return "  " in text[slice(*line)]
    if split in _DELIMITERS[:2]:
        return True
    # Of CSV each is a plain name, without a space after the comma.
    first, *others = [text[slice(*each)] for each in cells]
    return all(map(_PLAIN.fullmatch, [first, *others])) and not any(
        each[:1] == " " for each in others
    )


def _row(text: str, line: tuple[int, int], heads: Sequence[_Head]) -> list[Span] | None:
    """Return the values of a line that stand below the headings; None if the line is no row of the table.

    A rule between rows has no values. Without delimiters a value is below a heading where both begin or end in the same column.
    """
    split = heads[0].split
    if _RULE.fullmatch(text, *line):
        return []
    cells = _cells(text, line, split)
    if split is not None and len(cells) != heads[0].count:
        return None
    below = [
        (place, head)
        for head in heads
        for place in ([cells[head.index]] if split else cells)
        if split or place[0] - line[0] == head.place[0] or place[1] - line[0] == head.place[1]
    ]
    return [span for place, head in below for span in _cell(text, place, head)]


def _cell(text: str, place: tuple[int, int], head: _Head) -> Iterator[Span]:
    """Yield the place of a cell's value if it looks like the secret that its heading names."""
    span = _bare(text, place)
    if not set(text[slice(*span)]) & set("()[]{}"):
        yield from head.name.credential_at(span, text, sure=head.split is not None)


def _column(text: str, name: Name) -> Iterator[Span]:
    """Yield the values of a pandas column with this name, printed as a series or as dapeer shows a table.

    `name` is a place in `text`, before or behind which the rows are looked for.
    """
    before = text[max(name.begin - 6, 0) : name.begin]
    if before == "Name: ":
        rows = text.rfind("\n\n", max(name.begin - MAX_LINE_CHARS, 0), name.begin), name.begin
        yield from _words(text, (max(rows[0], name.begin - MAX_LINE_CHARS, 0), rows[1]), name)
    elif before.endswith((") ", ", ")) and _SIZE.search(text, max(name.begin - 400, 0), name.begin):
        found = _BELOW.match(text, name.end)
        in_line = found is not None and found["rows"].startswith(" | ")
        if found and (in_line or before.endswith(",) ")):
            yield from _words(text, found.span("rows"), name)


def _words(text: str, place: tuple[int, int], name: Name) -> Iterator[Span]:
    """Yield the words between two positions of `text` that look like credentials, in whichever column."""
    for word in _WORD.finditer(text, *place):
        yield from name.credential_at(word.span(), text, sure=False)
