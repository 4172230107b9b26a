"""Texts, numbers, arrays, tables, and those in objects of subclasses, without code of the class."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from . import objects

BITS = 14_000
"""Bits of an integer that has fewer digits for certain than the 4,300 that Python writes."""
SHOWN_DIGITS = 20
"""Digits that are shown of a larger one."""
MAX_COUNTED_BITS = 1_000_000
"""Bits of the largest integer whose digits are counted; those of a larger one would take long."""


def string(value: Any, room: int) -> str:
    """Return a string or bytes as Python writes it; a longer one than `room` is cut, with its length."""
    if len(value) <= room:
        return repr(value)
    text = repr(value[:room])
    return f"{text[:-1]}…{text[-1]} ({len(value)} chars)"


def integer(value: int, most: int = BITS) -> str:
    """Return an integer in digits; of one of more than `most` bits the first digits, and how many it has.

    A huge one is written in hexadecimal, with its number of bits.
    """
    bits = value.bit_length()
    if bits <= most:
        return repr(value)
    if bits > MAX_COUNTED_BITS:
        return f"{value >> (bits - 64):#x}… ({bits} bits)"
    # log10(2) is a little more than this.
    power = bits * 30_102 // 100_000 - SHOWN_DIGITS
    first = str(abs(value) // 10**power)
    sign = "-" * (value < 0)
    return f"{sign}{first[:SHOWN_DIGITS]}… ({len(first) + power} digits)"


def plain_value(value: Any, kind: Any) -> Any:
    """Return a value of a subclass as one of exactly the built-in type, array or table; None: it is none.

    No code of its class is run.
    """
    for known, convert in KNOWN:
        if issubclass(kind, known):
            return convert(value)
    array: Any = getattr(sys.modules.get("numpy"), "ndarray", None)
    of_array: Any = type(array)  # pyright: ignore[reportUnknownVariableType]
    if of_array is type and issubclass(kind, array) and kind is not array:
        return array.view(value, array)
    table: Any = getattr(sys.modules.get("pandas"), "DataFrame", None)
    reads = objects.found(kind, "__getattribute__")
    if type(table) is type and issubclass(kind, table) and reads is object.__getattribute__:
        return table(value)
    return None


WHOLE = slice(None)
KNOWN: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (int, int.__int__),
    (float, float.__float__),
    (complex, lambda value: complex.__add__(value, 0j)),
    (str, lambda value: str.__getitem__(value, WHOLE)),
    (bytes, lambda value: bytes.__getitem__(value, WHOLE)),
    (bytearray, lambda value: bytearray.__getitem__(value, WHOLE)),
)
"""Types, and what makes an object of exactly that one."""
