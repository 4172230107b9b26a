r"""Texts of others among dapeer's own lines: dapeer's start in the first column, theirs do not. Pure.

A program chooses its values, messages and names, an adapter its errors, a repository its files' names. None of them can
write a line that reads as one of dapeer's, or a character that a reader does not see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, cast

from dapeer.base.json_types import is_object

INDENT: Final = "  "

_UNSEEN = re.compile(
    "\r\n|[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
"""What a reader does not see: control characters but for the tab and the line's end, and others.

The others are marks of writing direction, characters without width, other ends of lines.
"""


def escaped(text: str) -> str:
    r"""Return a text whose invisible characters are written as escapes; tabs and line feeds stay.

    >>> escaped("a\x1b[2J\u202eb\tc\r\nd")
    'a\\x1b[2J\\u202eb\tc\nd'
    >>> escaped("admin\u3164")
    'admin\\u3164'
    """
    # Some letters have no look, as the Hangul fillers: for Python they are printable.
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    r"""Return the escape of an invisible character that was matched, such as `\x07` or `\u200b`.

    A CR LF becomes a line feed, and a single CR `\r`.
    """
    if found[0] == "\r\n":
        return "\n"
    code = ord(found[0])
    if found[0] == "\r":
        return "\\r"
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )


def with_changed_texts(change: Callable[[str], str], value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a copy of JSON data in which `change` has replaced every text and every key of an object.

    Tuples become lists; numbers, booleans and None stay.
    """
    match value:
        case str():
            return change(value)
        case _ if is_object(value):
            return {change(key): with_changed_texts(change, each) for key, each in value.items()}
        case list() | tuple():
            return [with_changed_texts(change, each) for each in cast("list[Any]", value)]
        case _:
            return value


def escaped_in(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a copy of JSON data in which the invisible characters of all texts and keys are escaped."""
    return with_changed_texts(escaped, value)


def indented(text: str) -> str:
    r"""Return a text with all of its lines indented by `INDENT`; an empty text stays empty.

    >>> indented("a\nb")
    '  a\n  b'
    """
    return INDENT + indented_after_first(text) if text else text


def indented_after_first(text: str) -> str:
    r"""Return a text with all of its lines but the first indented by `INDENT`.

    >>> indented_after_first("a\nb")
    'a\n  b'
    """
    return text.replace("\n", f"\n{INDENT}") if "\n" in text else text


def lines_of(items: Iterable[str]) -> str:
    r"""Return texts joined to lines; each begins in the first column, its own further lines are indented.

    >>> lines_of(["a\nb", "c"])
    'a\n  b\nc'
    """
    return "\n".join(map(indented_after_first, items))
