"""Where the values of a JSON text are, with comments and trailing commas allowed (JSONC). Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from dapeer.cli.install.edits import MalformedText

_TOKEN: Final = re.compile(
    r"(?P<space>\s+)|(?P<comment>//[^\r\n]*|/\*.*?\*/)"
    r'|(?P<string>"(?:\\.|[^"\\\n])*+")'
    r"|(?P<mark>[{}\[\],:])"
    r"|(?P<atom>[^\s{}\[\],:\"/]+)",
    re.DOTALL,
)


@dataclass(slots=True)
class Node:
    """A value: from `start` up to and without `end`."""

    start: int
    end: int
    members: list[JsonMember] | None = None
    """In their order; `None` if the value is no object."""


@dataclass(slots=True)
class JsonMember:
    """A key with its value."""

    key: str
    start: int
    value: Node


@lru_cache(maxsize=4)
def parse_document(text: str) -> Node:
    """Return where the object that a text holds, and all members in it, are; cached for the latest texts.

    A file of Claude's may have megabytes, and is read often.

    Raises:
        MalformedText: It is no JSON object, or nested too deeply.
    """
    found = tokens(text)
    try:
        node = _value(text, found, next(found, None))
        if following := next(found, None):
            raise _malformed(text, following.start())
        read_value(text)
    except RecursionError as error:
        raise MalformedText("it is nested too deeply") from error
    if node.members is None:
        raise MalformedText(f"line {line_of(text, node.start)}: the file is no object")
    return node


def read_value(text: str, *, pairs: bool = False) -> object:
    """Return the value of a text, whose comments and trailing commas are ignored.

    With `pairs` objects are tuples of (key, value), and numbers are texts as they are written.

    Raises:
        MalformedText: The text is no JSON.
    """
    try:
        return _strict(text, pairs=pairs)
    except ValueError:
        kept = list(tokens(text))
    closed = [
        part[0]
        for part, following in zip(kept, [*kept[1:], None], strict=True)
        if not (part[0] == "," and following and following[0] in ("}", "]"))
    ]
    try:
        return _strict("".join(closed), pairs=pairs)
    except ValueError as error:
        raise _malformed(text, 0) from error


def _strict(text: str, *, pairs: bool) -> object:
    """Return the value of a text without comments and trailing commas; `pairs` is as in `read_value`.

    Raises:
        ValueError: The text is no JSON.
    """
    if not pairs:
        return json.loads(text)
    return json.loads(
        text,
        object_pairs_hook=tuple,
        parse_int=_as_written,
        parse_float=_as_written,
        parse_constant=_as_written,
    )


def tokens(
    text: str, start: int = 0, end: int | None = None, *, spaces: bool = False
) -> Iterator[re.Match[str]]:
    """Yield the tokens of a part of a text; white space and comments only if `spaces` is set.

    The part is from index `start` up to `end`, exclusive; None: to the end of the text.

    Raises:
        MalformedText: Something is no token.
    """
    end = len(text) if end is None else end
    for match in _TOKEN.finditer(text, start, end):
        if match.start() != start:
            break
        start = match.end()
        if spaces or match.lastgroup not in ("space", "comment"):
            yield match
    if start < end:
        raise _malformed(text, start)


def line_of(text: str, at: int) -> int:
    """Return the number of the line that a character is in, counted from 1."""
    return text.count("\n", 0, at) + 1


def _as_written(written: str) -> str:
    """Return a number as text: 1.0 is not 1, and NaN not equal to itself."""
    return f"\0{written}"


def _value(text: str, found: Iterator[re.Match[str]], first: re.Match[str] | None) -> Node:
    """Read a value from the tokens `found`, of which `first` is taken already; return where it is.

    `text` is the whole text, for errors.

    Raises:
        MalformedText: There is no value.
    """
    if first is None:
        raise _malformed(text, len(text))
    node = Node(first.start(), first.end())
    if first[0] == "{":
        node.members = []
        node.end = _filled(text, found, node.members)
    elif first[0] == "[":
        node.end = _skipped(text, found)
    elif first.lastgroup == "mark":
        raise _malformed(text, first.start())
    return node


def _filled(text: str, found: Iterator[re.Match[str]], members: list[JsonMember]) -> int:
    """Read the members of an object behind its brace into `members`; return the index of the object's end.

    `found` are the tokens that follow; `text` is the whole text.

    Raises:
        MalformedText: They are not valid.
    """
    for token in found:
        if token[0] == "}":
            return token.end()
        if token[0] == ",":
            continue
        colon = next(found, None)
        if token.lastgroup != "string" or colon is None or colon[0] != ":":
            raise _malformed(text, token.start())
        value = _value(text, found, next(found, None))
        members.append(JsonMember(_key(text, token), token.start(), value))
    raise _malformed(text, len(text))


def _key(text: str, token: re.Match[str]) -> str:
    """Return the text that a string token stands for; raise `MalformedText` if it has an invalid escape."""
    try:
        return json.loads(token[0])
    except ValueError as error:
        raise _malformed(text, token.start()) from error


def _skipped(text: str, found: Iterator[re.Match[str]]) -> int:
    """Read the rest of an array from the tokens `found`; return the index of the array's end.

    Raises:
        MalformedText: It is not valid.
    """
    for token in found:
        if token[0] == "]":
            return token.end()
        if token[0] != ",":
            _value(text, found, token)
    raise _malformed(text, len(text))


def _malformed(text: str, at: int) -> MalformedText:
    return MalformedText(f"line {line_of(text, at)} is no JSON")
