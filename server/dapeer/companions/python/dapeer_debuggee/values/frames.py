"""Shows tables of pandas and Polars: shape, columns with types, missing cells, first and last rows.

They are DataFrame, Series and Index.

The number of inspected cells is bounded. Cells are shown as all other values.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import arrays, objects

FRAMES = ("DataFrame", "Series")
"""Names of the pandas types that are shown as tables."""
MAX_COLUMNS = 20
"""Columns that are shown."""
MAX_ROWS = 10
"""A table with at most this many rows is shown whole."""
HEAD, TAIL = 3, 2
"""Rows that are shown at each end of a longer one."""
CELL_CHARS = 40
"""Characters of a cell, or of a column's name."""
PLAIN = (str, int, float, bool, type(None), dt.date, dt.datetime, dt.time, dt.timedelta)

if TYPE_CHECKING:
    # Python 3.8 cannot make this type.
    Show = Callable[[Any, int], str]
    """Shows a value in at most that many characters."""


def describe_table(value: Any, kind: Any, room: int, show: Show) -> str | None:
    """Return the text of a DataFrame, Series, Index or array of pandas; None for all other values.

    `room` is how many characters it may have, `show` makes the text of a cell.
    """
    pandas = sys.modules["pandas"]
    if kind.__name__ in FRAMES:
        return frame(value, room, show, pandas)
    if issubclass(kind, (pandas.Index, pandas.api.extensions.ExtensionArray)):
        return sequence(value, kind, room, show)
    return None


def of_polars(value: Any, kind: Any, room: int, show: Show) -> str | None:
    """Return shape, typed columns, first and last rows of a DataFrame or Series of Polars; else None.

    Where `room` is less than `arrays.MIN_ALONE_CHARS`, or a column has objects, rows are left out.
    """
    name = objects.name_of(kind)
    if name not in FRAMES:
        return None
    table = value.to_frame() if name == "Series" else value
    shown_columns = [f"{column} {dtype}" for column, dtype in table.schema.items()]
    more = ["…"] if len(shown_columns) > MAX_COLUMNS else []
    head = f"{value.shape} {', '.join(shown_columns[:MAX_COLUMNS] + more)}"
    if room < arrays.MIN_ALONE_CHARS or any(each.endswith(" Object") for each in shown_columns):
        return f"{name}({head})"
    ends = [table] if len(table) <= MAX_ROWS else [table.head(HEAD), table.tail(TAIL)]
    rows = [[show(row, room // MAX_ROWS) for row in end[:, :MAX_COLUMNS].rows()] for end in ends]
    return "\n".join([head, *"\n…\n".join("\n".join(each) for each in rows).split("\n")])


def frame(value: Any, room: int, show: Show, pandas: Any) -> str:
    """Return shape, columns with types and missing cells, and first and last rows of a pandas table.

    `room` is how many characters it may have: with less than `arrays.MIN_ALONE_CHARS` rows and missing cells are left out. `show` makes the
    text of an object, `pandas` is the module.
    """
    name = type(value).__name__
    shape = tuple(value.shape)
    named = value.ndim > 1 or value.name is not None
    table = value.to_frame() if value.ndim == 1 else value
    wide = room >= arrays.MIN_ALONE_CHARS
    lost = missing_cells(table) if wide else []
    shown_columns = list(columns(table, lost, show, named=named))
    head = f"{shape} {', '.join(shown_columns)}"
    if not wide:
        return f"{name}({head})"
    ends = [table] if len(table) <= MAX_ROWS else [table.iloc[:HEAD], table.iloc[-TAIL:]]
    with pandas.option_context("display.float_format", None):
        rows = [
            known_labels(part, show, pandas).to_string(
                max_cols=MAX_COLUMNS,
                max_colwidth=2 * CELL_CHARS,
                header=value.ndim > 1 and not number,
                index_names=not number,
            )
            for number, part in enumerate(ends)
        ]
    return "\n".join([head, *"\n…\n".join(rows).split("\n")]) if len(table) else head


def missing_cells(table: Any) -> list[int]:
    """Return how many cells of each column of a pandas DataFrame are missing.

    It is empty if they are not counted.
    """
    if table.size > arrays.MAX_COUNTED_CELLS or not all(map(is_known, table.dtypes)):
        return []
    return [int(each) for each in table.isna().sum()]


def columns(table: Any, lost: list[int], show: Show, *, named: bool) -> Any:
    """Yield the text of each column: name (if `named`), type and missing cells; `…` for some left out.

    Of many columns these are those with missing cells, and those at both ends. `lost` is what `missing` returns.
    """
    count = table.shape[1]
    chosen = list(range(count))
    if count > MAX_COLUMNS:
        gaps = [number for number, each in enumerate(lost) if each]
        chosen = sorted([*dict.fromkeys([*gaps, count - 1, *range(count)])][:MAX_COLUMNS])
    last = -1
    for number in chosen:
        if number > last + 1:
            yield "…"
        last = number
        label = f"{text(table.columns[number], show)} " if named else ""
        gone = f" ({lost[number]} missing)" if lost and lost[number] else ""
        yield f"{label}{table.dtypes.iloc[number]}{gone}"


def is_known(dtype: Any) -> bool:
    """Whether a dtype belongs to pandas or NumPy."""
    return type(dtype).__module__.partition(".")[0] in ("pandas", "numpy")


def known_labels(part: Any, show: Show, pandas: Any) -> Any:
    """Return a copy of a few rows, each object replaced by its text: pandas runs no `repr` of it then.

    `part` is a DataFrame with these rows, `pandas` the module.
    """
    part = part.copy()
    count = part.shape[1]
    half = MAX_COLUMNS // 2
    for number in sorted({*range(min(half, count)), *range(max(count - half, 0), count)}):
        dtype = part.dtypes.iloc[number]
        if str(dtype) in ("object", "category"):
            cells = [text(each, show) for each in part.iloc[:, number]]
            part.isetitem(number, cells)
        elif not is_known(dtype):
            part.isetitem(number, "…")
    part.index = labels(part.index, show, pandas)
    part.columns = labels(part.columns, show, pandas)
    return part


def labels(index: Any, show: Show, pandas: Any) -> Any:
    """Return the labels of rows or columns as a pandas index, each object replaced by its text."""
    if index.nlevels > 1:
        shown = [tuple(text(each, show) for each in label) for label in index]
        return pandas.MultiIndex.from_tuples(shown, names=index.names) if shown else index
    if str(index.dtype) in ("object", "category"):
        return pandas.Index([text(each, show) for each in index], name=index.name, dtype=object)
    return index


def sequence(value: Any, kind: Any, room: int, show: Show) -> str:
    """Return type, length, data type and elements of a pandas index or array; of many those at its ends.

    `room` tells how many are shown. Elements of a type that is neither pandas' nor NumPy's are not shown.
    """
    threshold, edge = arrays.edges(room)
    cut = len(value) > min(threshold, 10 * edge)
    ends = [value[:edge], value[-edge:]] if cut else [value]
    plain = is_known(value.dtype)
    shown = ", …, ".join(
        ", ".join(
            show(each, CELL_CHARS) if isinstance(each, str) else text(each, show)
            for each in (end if plain else ())
        )
        for end in ends
    )
    return f"{kind.__name__} ({len(value)},) {value.dtype} [{shown or '…' * bool(len(value))}]"


def text(each: Any, show: Show) -> str:
    """Return the text of a cell or label; a short string without quotes."""
    kind: Any = type(each)  # pyright: ignore[reportUnknownVariableType]
    own = objects.is_one_of(kind, PLAIN) or objects.module_of(kind).partition(".")[0] in (
        "pandas",
        "numpy",
    )
    if own and kind is not str and not hasattr(each, "shape"):
        return str(each)
    if kind is str:
        return each if len(each) <= CELL_CHARS else f"{each[:CELL_CHARS]}… ({len(each)} chars)"
    return show(each, CELL_CHARS)
