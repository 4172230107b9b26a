"""Reads JSON as VS Code's files have it: with comments and trailing commas. Pure."""

from __future__ import annotations

import json
import re
from typing import Any

from dapeer.base.json_types import Json, as_array, is_array, is_object

_STRING = r'"(?:\\.|[^"\\\n])*+"'
_STRING_OR_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING_OR_LAST_COMMA = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])")
_STRING_OR_BRACKET = re.compile(rf"({_STRING})|[{{}}\[\],]")


class MalformedJson(ValueError):
    """A file that cannot be read, and where: line and column count from 1."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.column = column


def read_object(data: bytes) -> tuple[Json, str]:
    """Return the JSON object that a file's bytes hold, and the file's text.

    Comments and trailing commas are allowed.

    Raises:
        MalformedJson: It is no JSON object, or no UTF-8.
    """
    text = _decoded(data)
    return _loads(text), text


def _decoded(data: bytes) -> str:
    """Return the text of a file, without a byte order mark.

    Raises:
        MalformedJson: It is no UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        column = len(before) - before.rfind(b"\n")
        raise MalformedJson("this is not UTF-8", before.count(b"\n") + 1, column) from error


def _plain(text: str) -> str:
    """Return a text with spaces in place of comments and trailing commas, so that positions stay the same."""

    def blank(found: re.Match[str]) -> str:
        return found[1] or re.sub(r"[^\n]", " ", found[0])

    return _STRING_OR_LAST_COMMA.sub(blank, _STRING_OR_COMMENT.sub(blank, text))


def _loads(text: str) -> Json:
    """Return the object that a text of JSON with comments and trailing commas holds.

    Raises:
        MalformedJson: It is no JSON, is nested too deeply, or is no object.
    """
    try:
        top: object = json.loads(_plain(text))
    except json.JSONDecodeError as error:
        raise MalformedJson(error.msg, error.lineno, error.colno) from error
    except RecursionError as error:
        raise MalformedJson("this is nested too deeply", 1, 1) from error
    except ValueError as error:
        raise MalformedJson("a number has too many digits", 1, 1) from error
    if not is_object(top):
        raise MalformedJson("this must be an object", 1, 1)
    return top


def list_of(value: object) -> list[Any]:
    """Return `value` if it is a list, else an empty one."""
    return as_array(value)


def objects_at(top: Json, key: str, text: str) -> list[Json]:
    """Return the list of objects at a top-level key of a file; empty if the key is absent.

    `text` is the file's text, in which the place of an error is found.

    Raises:
        MalformedJson: The value is no list of objects.
    """
    value = top.get(key, [])
    if not is_array(value):
        raise MalformedJson(f"`{key}` must be a list", *_place(text, text.find(f'"{key}"')))
    for index, each in enumerate(value):
        if not is_object(each):
            raise MalformedJson(f"{key}[{index}] must be an object", *start_of(text, key, index))
    return value


def start_of(text: str, key: str, index: int) -> tuple[int, int]:
    """Return line and column, from 1, where an item of a top-level list begins in a file's text.

    `key` is the list's key, `index` the item's number from 0. The text must have this item: else the place that is returned means nothing.
    """
    plain = _plain(text)
    depth = items = 0
    at = found_key = -1
    for token in _STRING_OR_BRACKET.finditer(plain):
        if depth == 1 and token[0] == f'"{key}"':
            found_key = token.end()
        elif token[0] in "{[":
            depth += 1
            at = token.end() if depth == 2 and found_key > 0 > at else at
        elif token[0] in "}]":
            depth -= 1
        elif token[0] == "," and depth == 2 and at > 0 and items < index:
            items += 1
            at = token.end()
        if at > 0 and items == index:
            break
    return _place(plain, at + len(plain[at:]) - len(plain[at:].lstrip()))


def _place(text: str, offset: int) -> tuple[int, int]:
    """Return line and column, both from 1, of an index in a text; a negative index counts as 0."""
    before = text[: max(offset, 0)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")
