"""The statements of a TOML text: where each is, and which key it sets. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from dapeer.cli.install.edits import Keys, MalformedText

_TOKEN: Final = re.compile(
    r'(?P<string>"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'
    r"|(?P<comment>#[^\r\n]*)|(?P<line>\r?\n)|(?P<space>[ \t]+)"
    r"|(?P<open>[\[{])|(?P<close>[\]}])|(?P<equals>=)|(?P<other>.)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A header, or a key with its value; from `start` to the end of its last line, exclusive."""

    start: int
    end: int
    path: Keys
    """The full path of the table or key."""
    value: tuple[int, int] | None
    """From where to where its value goes; a header has none."""


def parse_toml(text: str) -> dict[str, Any]:
    """Return what a TOML text holds.

    Raises:
        MalformedText: It is no TOML.
    """
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise MalformedText(str(error)) from error


def statements(text: str) -> Iterator[Statement]:
    """Yield the statements of a text that is valid TOML, in their order: headers, and keys with values."""
    table: Keys = ()
    for start, marks in _lines(text):
        end = marks[-1].end()
        equals = next((mark.start() for mark in marks if mark["equals"]), None)
        last = next(mark.end() for mark in reversed(marks) if not mark["comment"])
        if text[start] == "[":
            table = _path(text[start:last])
            yield Statement(start, end, table, None)
        elif equals is not None:
            path = (*table, *_path(f"{text[start:equals]} = 0"))
            value = (
                equals + 1 + len(text[equals + 1 : last]) - len(text[equals + 1 : last].lstrip())
            )
            yield Statement(start, end, path, (value, last))


def members(text: str, outer: Statement) -> Iterator[Statement]:
    """Yield each member of the inline table that is a statement's value, and of the inline tables in it.

    Nothing is yielded for another value. `outer` is a statement of the text.
    """
    if outer.value is None or text[outer.value[0]] != "{":
        return
    depth, marks = 0, list[re.Match[str]]()
    for match in _TOKEN.finditer(text, *outer.value):
        depth += bool(match["open"]) - bool(match["close"])
        if depth == 0 or (depth == 1 and match[0] == ","):
            if marks:
                yield from _member(text, outer, marks)
            marks = []
        elif not (
            match["space"] or match["line"] or match["comment"] or match.start() == outer.value[0]
        ):
            marks.append(match)


def _member(text: str, outer: Statement, marks: list[re.Match[str]]) -> Iterator[Statement]:
    """Yield a member of an inline table, given as its tokens, and the members of an inline table in it.

    `outer` is the statement that has the table as its value.
    """
    start, end = marks[0].start(), marks[-1].end()
    at = next(at for at, mark in enumerate(marks) if mark["equals"])
    path = (*outer.path, *_path(f"{text[start : marks[at].start()]} = 0"))
    one = Statement(start, end, path, (marks[at + 1].start(), end))
    yield one
    yield from members(text, one)


def comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield (index, text) of each comment."""
    for match in _TOKEN.finditer(text):
        if match["comment"]:
            yield match.start(), match["comment"].rstrip()


def _lines(text: str) -> Iterator[tuple[int, list[re.Match[str]]]]:
    """Yield (index, tokens) of each statement; a statement may have several lines.

    The tokens are without white space; comments within the statement, and behind it on its line, are among them.
    """
    depth, marks = 0, list[re.Match[str]]()
    for match in _TOKEN.finditer(text):
        depth += bool(match["open"]) - bool(match["close"])
        if match["line"] and not depth:
            if any(not mark["comment"] for mark in marks):
                yield marks[0].start(), marks
            marks = []
        elif not (match["space"] or match["line"]):
            marks.append(match)
    if any(not mark["comment"] for mark in marks):
        yield marks[0].start(), marks


def _path(text: str) -> Keys:
    """Return the keys that a header, or a key with the value 0, names."""
    found: dict[str, Any] | list[Any] = tomllib.loads(text)
    path: list[str] = []
    while found:
        if isinstance(found, dict):
            path.append(next(iter(found)))
            found = found[path[-1]]
        else:
            found = found[0]
    return tuple(path)
