"""A value as a small text on one line, made at once, without any code of the program."""

from __future__ import annotations

import importlib
import types
from typing import Any

values: Any = importlib.import_module("in_debuggee.dapeer_values")

ROOM = 160
"""Characters of a cell."""
LARGE = 1 << 64
"""Integers below it are written by themselves."""
FEW = 8
"""Elements of a container that is written by itself if they are plain."""
FAILED = "\x15"
"""Begins the text of an expression that could not be evaluated; no value begins so."""
PLAIN = (float, bool, type(None))
TOLD = (*PLAIN, int, str, bytes)
ARGUMENTS: Any = values.ARGUMENTS
is_one_of, name_of = values.objects.is_one_of, values.objects.name_of
WITHIN = values.Inside((), 1)
"""What an object holds is shown so: no `repr` of the program's is run."""


def cell(value: Any) -> str:
    """Return a value as text."""
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is int:
        return repr(value) if -LARGE < value < LARGE else whole(value)
    if kind is str:
        return repr(value) if len(value) <= ROOM else escaped(values.shown(value, ROOM))
    if kind is float or kind is bool or value is None:
        return repr(value)
    if (kind is list or kind is tuple) and len(value) <= FEW and all(map(is_small, value)):
        return repr(value)
    return escaped(shown(value, kind))


def is_small(value: Any) -> bool:
    """Whether an element is written by itself."""
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    return (
        is_one_of(kind, PLAIN)
        or (kind is int and -LARGE < value < LARGE)
        or (kind is str and len(value) <= ROOM // FEW)
    )


def whole(value: int) -> str:
    """Return a large integer: its end costs more than it tells."""
    bits = value.bit_length()
    if bits < ROOM * 3:
        return repr(value)
    return f"{value >> (bits - 64):#x}… ({bits} bits)"


def shown(value: Any, kind: Any) -> str:
    """Return a value as a stop shows it; an object that shows itself by code of the program, by what it holds."""
    text: str = values.shown(value, ROOM, WITHIN)
    if text != f"<{name_of(kind)}>" or values.objects.found(kind, "__repr__") is object.__repr__:
        return text
    held = values.objects.own(value)
    within = WITHIN.of(value, opened=True)
    parts: list[str] = []
    left = ROOM
    for name, each in held.items():
        parts.append(f"{name}={values.shown(each, max(left // 2, values.LEAST), within)}")
        left -= len(parts[-1]) + 2
        if left < values.LEAST:
            break
    more = ["…"] if len(parts) < len(held) else []
    return f"{name_of(kind)}({', '.join(parts + more)})" if held else text


def failed(error: BaseException) -> str:
    """Return what an expression has raised."""
    text = str(error) if written_by_python(error) else ""
    return FAILED + escaped(f"{name_of(type(error))}{': ' if text else ''}{text[:ROOM]}")


def written_by_python(error: BaseException) -> bool:
    """Whether an exception's text is made by Python alone, of plain values."""
    writes = values.objects.found(type(error), "__str__")
    arguments: Any = ARGUMENTS.__get__(error)  # pyright: ignore[reportAttributeAccessIssue]
    return type(writes) is types.WrapperDescriptorType and all(
        is_one_of(type(x), TOLD) for x in arguments
    )


def escaped(text: str) -> str:
    """Return a text without the characters that rows are made of."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
