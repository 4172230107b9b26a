"""Shows dates, enums, paths, functions, and the data types of libraries in a form of their own.

A type counts only if it is exactly the one of its package. No module is imported to find that out.
"""

from __future__ import annotations

import datetime as dt
import enum
import importlib
import pathlib
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

arrays: Any = importlib.import_module("in_debuggee.dapeer_arrays")
frames: Any = importlib.import_module("in_debuggee.dapeer_frames")
objects: Any = importlib.import_module("in_debuggee.dapeer_objects")
statements: Any = importlib.import_module("in_debuggee.dapeer_statements")

ARRAYS = ("numpy", "torch", "jax", "jaxlib", "tensorflow", "cupy")
"""Packages whose arrays have a shape and a dtype."""
WIDE: int = arrays.WIDE
MOMENTS = (dt.datetime, dt.date, dt.time, dt.timedelta)
PATHS = (pathlib.PosixPath, pathlib.WindowsPath)

QUALIFIED: Any = type.__dict__["__qualname__"]

if TYPE_CHECKING:
    # Python 3.8 cannot make this type.
    Show = Callable[[Any, int], str]
    """Shows a value in at most that many characters."""


def described(value: Any, kind: Any, room: int, show: Show) -> str | None:
    """Return the text of a value of such a type; None for all others."""
    try:
        package = objects.module_of(kind).partition(".")[0]
        if package in PACKAGES:
            return PACKAGES[package](value, kind, room, show)
        if objects.is_one_of(kind, MOMENTS):
            return moment(value)
        if issubclass(kind, enum.Enum):
            return member(value, kind, room, show)
        if objects.is_one_of(kind, PATHS):
            return f"Path({str(value)!r})"
        return named(value, kind)
    except Exception:
        return None


def named(value: Any, kind: Any) -> str | None:
    """Return a function with its parameters and location, a class or module by its name; None for all else.

    The location shows which of several functions with one name it is.
    """
    if issubclass(kind, type):
        return f"<class {objects.module_of(value)}.{QUALIFIED.__get__(value)}>"
    if kind is types.ModuleType:
        return f"<module {value.__name__}>"
    if kind is types.FunctionType:
        code = value.__code__
        names = ", ".join(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        file = code.co_filename.replace("\\", "/").rpartition("/")[2]
        name = value.__qualname__.rpartition("<locals>.")[2]
        return f"<function {name}({names}) {file}:{code.co_firstlineno}>"
    return None


def moment(value: Any) -> str | None:
    """Return a date or time in ISO format; None if its time zone is a class of the program."""
    zone = getattr(value, "tzinfo", None)
    known = zone is None or type(zone) is dt.timezone
    known = known or (type(zone).__module__, type(zone).__name__) == ("zoneinfo", "ZoneInfo")
    return str(value) if known else None


def member(value: Any, kind: Any, room: int, show: Show) -> str | None:
    """Return name and value of an enum member; None if it defines its own `repr`."""
    if not objects.written_in(objects.found(kind, "__repr__"), "/enum.py"):
        return None
    text = repr(value) if room >= WIDE else ""
    if text and not text.startswith(f"<{kind.__name__}."):
        return None
    name = text[1:].partition(":")[0] if text else f"{kind.__name__}.{value._name_}"
    return f"{name} ({show(value._value_, room)})"


PACKAGES: dict[str, Callable[[Any, Any, int, Show], str | None]] = {
    "pandas": frames.described,
    "sqlalchemy": statements.described,
    **dict.fromkeys(ARRAYS, arrays.described),
}
