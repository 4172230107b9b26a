"""Shows dates, enums, paths, functions, and the data types of libraries in a form of their own.

A type counts only if it is exactly the one of its package. No module is imported to find that out.
"""

from __future__ import annotations

import datetime as dt
import enum
import pathlib
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from . import arrays, frames, libraries, objects, statements

ARRAYS = ("numpy", "torch", "jax", "jaxlib", "tensorflow", "cupy")
"""Packages whose arrays have a shape and a dtype."""
WIDE: int = arrays.MIN_ALONE_CHARS
MOMENTS = (dt.datetime, dt.date, dt.time, dt.timedelta)
PATHS = (pathlib.PosixPath, pathlib.WindowsPath)

QUALIFIED: Any = type.__dict__["__qualname__"]

if TYPE_CHECKING:
    # Python 3.8 cannot make this type.
    Show = Callable[[Any, int], str]
    """Shows a value in at most that many characters."""


def described(value: Any, kind: Any, room: int, show: Show) -> str | None:
    """Return the text of a value that has a form of its own, such as a date, enum or function; else None.

    `kind` is the value's type, `room` about how many characters it may have, `show` makes the text of a value inside. None also means that
    making the text has failed.
    """
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
        if kind is memoryview:
            return memory(value, room)
        return (
            named(value, kind)
            or place_of(value, kind)
            or libraries.describe_library_value(value, kind, room, show)
        )
    except Exception:
        return None


def named(value: Any, kind: Any) -> str | None:
    """Return a function with its parameters and location, a class or module by its name.

    It is None for all else. The location shows which of several functions with one name it is.
    """
    if issubclass(kind, type):
        return f"<class {objects.module_of(value)}.{QUALIFIED.__get__(value)}>"
    if kind is types.ModuleType:
        return f"<module {objects.attributes_of(value).get('__name__')}>"
    if kind is types.MethodType:
        return f"<method {name_of(value.__func__)} of {owner_of(value.__self__)}>"
    if kind is types.FunctionType:
        code = value.__code__
        names = ", ".join(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        file = code.co_filename.replace("\\", "/").rpartition("/")[2]
        name = value.__qualname__.rpartition("<locals>.")[2]
        return f"<function {name}({names}) {file}:{code.co_firstlineno}>"
    return None


def name_of(function: Any) -> str:
    """Return the qualified name of a function that a method calls; of another callable the type in `<…>`."""
    known = type(function) is types.FunctionType
    return str(function.__qualname__) if known else f"<{objects.name_of(type(function))}>"


def owner_of(value: Any) -> str:
    """Return to what a method is bound: `class NAME`, or the type of an object as `<NAME>`."""
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    name = objects.name_of(value if issubclass(kind, type) else kind)
    return f"class {name}" if issubclass(kind, type) else f"<{name}>"


def moment(value: Any) -> str | None:
    """Return a date or time as Python writes it; None if its time zone is of a class of the program."""
    zone = getattr(value, "tzinfo", None)
    known = zone is None or type(zone) is dt.timezone
    known = known or (objects.module_of(type(zone)), objects.name_of(type(zone))) == (
        "zoneinfo",
        "ZoneInfo",
    )
    return str(value) if known else None


def member(value: Any, kind: Any, room: int, show: Show) -> str | None:
    """Return name and value of an enum member; of several flags together all their names.

    None: it has no name, and its value is no integer.
    """
    held = objects.attributes_of(value)
    whole, name = held["_value_"], held["_name_"]
    if name is None:
        if type(whole) is not int:
            return None
        named = [each for each, one in members_of(kind) if one and whole & one == one]
        name = "|".join(named) or "0"
    return f"{objects.name_of(kind)}.{name} ({show(whole, room)})"


def members_of(kind: Any) -> Iterator[tuple[str, int]]:
    """Yield name and number of each flag of an enum class."""
    for name, each in objects.found(kind, "_member_map_").items():
        number = objects.attributes_of(each).get("_value_")
        if type(number) is int:
            yield name, number


def place_of(value: Any, kind: Any) -> str | None:
    """Return a generator or coroutine with the line where it is suspended; None for all else."""
    for known, word, frame in SUSPENDED:
        if kind is known:
            at = getattr(value, frame)
            where = "that is over"
            if at is not None:
                file = at.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
                where = f"{'at' if at.f_lasti >= 0 else 'not begun,'} {file}:{at.f_lineno}"
            return f"<{word} {value.__qualname__.rpartition('<locals>.')[2]} {where}>"
    return None


def memory(value: Any, room: int) -> str:
    """Return the first bytes of a memory view, and its size; its shape where it has several dimensions."""
    if value.ndim == 1 and value.contiguous:
        size = max(room // 4, MIN_SHOWN_BYTES)
        more = f"… ({value.nbytes} bytes)" if value.nbytes > size else ""
        return f"<memory {bytes(value.cast('B')[:size])!r}{more}>"
    return f"<memory {value.shape} of format {value.format}>"


MIN_SHOWN_BYTES = 4
"""Bytes of a memory view that are shown at least."""
SUSPENDED = (
    (types.GeneratorType, "generator", "gi_frame"),
    (types.CoroutineType, "coroutine", "cr_frame"),
    (types.AsyncGeneratorType, "async generator", "ag_frame"),
)


PACKAGES: dict[str, Callable[[Any, Any, int, Show], str | None]] = {
    "pandas": frames.describe_table,
    "polars": frames.of_polars,
    "sqlalchemy": statements.describe_statement,
    **dict.fromkeys(ARRAYS, arrays.describe_array),
}
