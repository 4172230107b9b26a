"""What the editors of JSON and TOML share. Pure."""

from __future__ import annotations

from collections.abc import Iterable

Keys = tuple[str, ...]
"""The keys that lead to a value."""


class MalformedText(ValueError):
    """A text that cannot be read; the message says where."""


def newline_of(text: str) -> str:
    """Return the line end that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"


def without(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    """Return the text without the characters from each start up to its end.

    >>> without("abcdef", [(4, 5), (1, 2)])
    'acdf'
    """
    for start, end in sorted(ranges, reverse=True):
        text = text[:start] + text[end:]
    return text
