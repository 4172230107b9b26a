"""A value as a small text on one line, made at once, without any code of the program."""

from __future__ import annotations

import types
from typing import Any

from . import values

MAX_CELL_CHARS = 160
"""Characters of a cell."""
MAX_WHOLE_CELL_CHARS = 2000
"""Characters of one of a point that has few rows."""
FEW_ROWS = 10
LARGE_INTEGER = 1 << 64
"""Integers below it are written by themselves."""
MAX_ELEMENTS = 8
"""Elements of a container that is written by itself if they are plain."""
FAILED = "\x15"
"""Begins the text of an expression that could not be evaluated; no value begins so."""
PLAIN = (float, bool, type(None))
SHOWN_AS_THEY_ARE = (*PLAIN, int, str, bytes)
ARGUMENTS: Any = values.ARGUMENTS
is_one_of, name_of = values.objects.is_one_of, values.objects.name_of
ROW = values.Inside()
"""A value of a row is shown as at a stop, but without its address."""


def cell(value: Any, max_chars: int = MAX_CELL_CHARS) -> str:
    """Return a value as one line of text for a row, in about `max_chars`; no code of the program runs.

    It is like the value's `repr` where that is short, else it is cut, with the length; line breaks and other
    unprintable characters are escaped. Whole, whatever `max_chars` says, are floats, booleans, None, integers
    between -2**64 and 2**64 (both exclusive), and lists and tuples of at most `MAX_ELEMENTS` elements that are
    all short (`is_small`). A larger integer is cut if it has more than `3 * max_chars` bits, which is about
    `max_chars` digits.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is int:
        return (
            repr(value)
            if -LARGE_INTEGER < value < LARGE_INTEGER
            else values.integer(value, 3 * max_chars)
        )
    if kind is str:
        return (
            repr(value) if len(value) <= max_chars else escaped(values.value_text(value, max_chars))
        )
    if kind is float or kind is bool or value is None:
        return repr(value)
    if (kind is list or kind is tuple) and len(value) <= MAX_ELEMENTS and all(map(is_small, value)):
        return repr(value)
    return escaped(values.value_text(value, max_chars, ROW))


def is_small(value: Any) -> bool:
    """Return whether a list's element is short enough for the list's `repr` to be used as it is.

    Short are None, booleans, floats, integers between -2**64 and 2**64, and strings of at most
    `MAX_CELL_CHARS // MAX_ELEMENTS` characters. Instances of subclasses of these types are not.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    return (
        is_one_of(kind, PLAIN)
        or (kind is int and -LARGE_INTEGER < value < LARGE_INTEGER)
        or (kind is str and len(value) <= MAX_CELL_CHARS // MAX_ELEMENTS)
    )


def error_cell(error: BaseException) -> str:
    """Return a cell's text for an expression that raised `error`: `FAILED`, its type, Python's own text."""
    text = str(error) if written_by_python(error) else ""
    return FAILED + escaped(f"{name_of(type(error))}{': ' if text else ''}{text[:MAX_CELL_CHARS]}")


def written_by_python(error: BaseException) -> bool:
    """Return whether an exception's text is made by Python alone, of plain arguments."""
    writes = values.objects.class_member(type(error), "__str__")
    arguments: Any = ARGUMENTS.__get__(error)  # pyright: ignore[reportAttributeAccessIssue]
    return type(writes) is types.WrapperDescriptorType and all(
        is_one_of(type(x), SHOWN_AS_THEY_ARE) for x in arguments
    )


def escaped(text: str) -> str:
    """Return a text with all unprintable characters escaped, since such characters separate a row's parts."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
