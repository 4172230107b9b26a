"""Values in the debuggee that have a form of their own: arrays, frames, dates, enumerations, paths, expressions of SQL, functions.

Types are known by being exactly those of their package; no module is imported for it.
"""

from __future__ import annotations

import datetime as dt
import enum
import importlib
import pathlib
import re
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

objects: Any = importlib.import_module("in_debuggee.dapeer_objects")

CELLS = 1_000_000
"""Elements of an array or frame up to which those that are missing are counted."""
ARRAYS = ("numpy", "torch", "jax", "jaxlib", "tensorflow", "cupy")
"""Packages whose arrays have a shape and a dtype."""
FRAMES = ("DataFrame", "Series")
"""Names of pandas' types that are shown as frames."""
WIDE = 1000
"""Characters of room from which on a value is shown as if it were alone."""
COLUMNS = 20
MOMENTS = (dt.datetime, dt.date, dt.time, dt.timedelta)
PATHS = (pathlib.PosixPath, pathlib.WindowsPath)
PARAMETER = re.compile(r"(?<!:):([A-Za-z_]\w*)")

if TYPE_CHECKING:
    # Python 3.8 cannot make this type.
    Show = Callable[[Any, int], str]
    """Shows a value in as many characters."""


def described(value: Any, kind: Any, room: int, show: Show) -> str | None:  # noqa: ANN401
    """Return how a value of a special kind is shown; None: as it shows itself."""
    try:
        package = str(kind.__module__).partition(".")[0]
        if package in PACKAGES:
            return PACKAGES[package](value, kind, room, show)
        if kind in MOMENTS:
            return moment(value)
        if issubclass(kind, enum.Enum):
            return member(value, kind, room, show)
        if kind in PATHS:
            return f"Path({str(value)!r})"
        if kind in (types.FunctionType, types.ModuleType) or issubclass(kind, type):
            return named(value)
    except Exception:  # noqa: BLE001 - a library's own code
        return None
    return None


def named(value: Any) -> str:  # noqa: ANN401
    """Return a function with its parameters and place, a class or a module by its name; anything else as its `repr`.

    Of a function that is made in another one, the place tells which that is.
    """
    if isinstance(value, types.ModuleType):
        return f"<module {value.__name__}>"
    if isinstance(value, type):
        return f"<class {value.__module__}.{value.__qualname__}>"
    if isinstance(value, types.FunctionType):
        code = value.__code__
        names = ", ".join(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        file = code.co_filename.replace("\\", "/").rpartition("/")[2]
        name = value.__qualname__.rpartition("<locals>.")[2]
        return f"<function {name}({names}) {file}:{code.co_firstlineno}>"
    return repr(value)


def moment(value: Any) -> str | None:  # noqa: ANN401 - of the module `datetime`
    """Return a date or time as people write it; None where its time zone is of the program's own."""
    zone = getattr(value, "tzinfo", None)
    known = zone is None or type(zone) is dt.timezone
    known = known or (type(zone).__module__, type(zone).__name__) == ("zoneinfo", "ZoneInfo")
    return str(value) if known else None


def member(value: Any, kind: Any, room: int, show: Show) -> str | None:  # noqa: ANN401
    """Return a member of an enumeration by its name, and its value; None where it shows itself in another way."""
    if not objects.written_in(objects.found(kind, "__repr__"), "/enum.py"):
        return None
    text = repr(value) if room >= WIDE else ""
    if text and not text.startswith(f"<{kind.__name__}."):
        return None
    name = text[1:].partition(":")[0] if text else f"{kind.__name__}.{value._name_}"
    return f"{name} ({show(value._value_, room)})"


def array(value: Any, kind: Any, room: int, show: Show) -> str | None:  # noqa: ANN401, ARG001 - as all of them
    """Return shape, type and what is missing, then the elements of an array, its beginning and end where it is long."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        plain = kind.__module__ == "numpy" and value.dtype.kind in "biufcMm"
        return str(value) if plain else None
    if not hasattr(value, "dtype") or not getattr(value, "shape", ()):
        return None
    lost = missing(value, kind, numpy)
    if numpy is not None and kind is numpy.ndarray:
        threshold, edge = (max(room // 8, 20), 3) if room >= WIDE else (10, 2)
        text = numpy.array2string(value, threshold=threshold, edgeitems=edge, separator=", ")
    else:
        text = repr(value)
    text = " ".join(text.split()).replace("...,", "…,").replace("[ ", "[").replace(" ]", "]")
    body = text[text.find("[") : text.rfind("]") + 1]
    return f"{tuple(value.shape)} {value.dtype} {lost}{body}"


def missing(value: Any, kind: Any, numpy: Any) -> str:  # noqa: ANN401
    """Return how many elements of an array are missing; empty: none, or they are not counted."""
    count = 0
    if numpy is not None and kind is numpy.ndarray:
        if value.size <= CELLS and value.dtype.kind in "fcMm":
            is_missing = numpy.isnat if value.dtype.kind in "Mm" else numpy.isnan
            count = int(is_missing(value).sum())
    elif kind.__module__ == "torch" and value.is_floating_point():
        # What lies on another device is not fetched from there.
        count = (
            int(value.isnan().sum()) if value.numel() <= CELLS and value.device.type == "cpu" else 0
        )
    return f"({count} missing) " if count else ""


def frame(value: Any, kind: Any, room: int, show: Show) -> str | None:  # noqa: ANN401, ARG001 - as all of them
    """Return shape, columns with their types and what is missing in them, and where there is room the first and last rows."""
    if kind.__name__ not in FRAMES:
        return None
    columns = [value.name] if value.ndim == 1 else list(value.columns)
    dtypes = [value.dtype] if value.ndim == 1 else list(value.dtypes)
    wide = room >= WIDE
    lost: list[int] = []
    if wide and value.size <= CELLS:
        counted = value.isna().sum()
        lost = [int(counted)] if value.ndim == 1 else [int(each) for each in counted]
    told = [
        f"{column if value.ndim > 1 else column or ''} {dtype}".strip()
        + (f" ({lost[i]} missing)" if i < len(lost) and lost[i] else "")
        for i, (column, dtype) in enumerate(zip(columns, dtypes))  # noqa: B905 - Python 3.8
    ]
    head = f"{tuple(value.shape)} {', '.join(told)}"
    if not wide:
        return f"{type(value).__name__}({head})"
    rows = value.head(3).to_string(**widths(value)).split("\n")
    if len(value) > SHOWN:
        rows += ["…", value.tail(2).to_string(**widths(value), header=False)]
    elif len(value) > 3:
        rows = [value.to_string(**widths(value))]
    return "\n".join([head, *rows])


SHOWN = 6
"""Rows of a frame that are all shown."""


def widths(value: Any) -> dict[str, int]:  # noqa: ANN401
    """Return how many columns of a frame are shown."""
    return {} if value.ndim == 1 else {"max_cols": COLUMNS}


def statement(value: Any, kind: Any, room: int, show: Show) -> str | None:  # noqa: ANN401, ARG001 - as all of them
    """Return an expression of SQL with its parameters in their places; None: it is none."""
    elements = sys.modules.get("sqlalchemy.sql.elements")
    attributes = sys.modules.get("sqlalchemy.orm.attributes")
    if attributes is not None and isinstance(value, attributes.QueryableAttribute):
        return str(value)
    if elements is None or not isinstance(value, elements.ClauseElement):
        return None
    if isinstance(value, sys.modules["sqlalchemy.sql.schema"].SchemaItem):
        return None
    compiled = value.compile()
    held: dict[str, Any] = compiled.params

    def parameter(match: re.Match[str]) -> str:
        name = match[1]
        return show(held[name], room) if name in held else match[0]

    return PARAMETER.sub(parameter, " ".join(str(compiled).split()))


PACKAGES: dict[str, Callable[[Any, Any, int, Show], str | None]] = {
    "pandas": frame,
    "sqlalchemy": statement,
    **dict.fromkeys(ARRAYS, array),
}
