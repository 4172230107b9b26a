"""A point's rows as bytes: of one shape where all values are plain, else lines of text."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from typing import Any

from ..values import cells
from . import row_format

MAX_VALUES = 127
"""Values of a row that is not text."""
SHAPES = 1 << 24
LETTERS = {id(kind): letter for kind, letter in row_format.LETTERS.items()}
"""By number of a type: its hash may be code of the program's."""
NOTHING: str = row_format.LETTERS[type(None)]
NONE = "-"
"""Stands for the letter of a type that has none."""


class CellText(str):
    """A value as its cell: what is no value, or was copied at once."""

    __slots__ = ()


class Shapes:
    """Makes the rows of one point as bytes."""

    def __init__(self, point: Any, rows: Any, failed: Callable[[BaseException], str]) -> None:
        """Create it for a point; `rows` is the file, `failed` makes the cell of an error.

        `point` is a `points.SpecifiedPoint`.
        """
        self._id: int = point.id
        self._rows = rows
        self._failed = failed
        few = 0 < (point.max_hits or 0) <= cells.FEW_ROWS
        self._room: int = cells.MAX_WHOLE_CELL_CHARS if few else cells.MAX_CELL_CHARS
        self._known: dict[Any, Any] = {}
        self.latest: tuple[Any, ...] = (*[None] * len(point.expressions), None, 0)
        """The types of the values of the row before, what packs them, and how they begin.

        Of values without bytes there is none.
        """

    def line(self, hit: int, context: Any, values: Any) -> bytes:
        """Return a row of these values: a plain row if all values are plain, else a line of text.

        `context` is a number or, where there is no room for more of them, a text; `hit` numbers the row. `latest` is set: it lets the next
        row with values of the same types be packed at once.
        """
        kinds: list[Any] = [*map(type, values)]
        letters = "".join([LETTERS.get(id(each), NONE) for each in kinds])
        shape = self._known.get(letters) or self._shape(letters)
        if shape is None or type(context) is str:
            return self.text(hit, context, values)
        pack, head = shape
        if NOTHING not in letters:
            self.latest = (*kinds, pack, head)
        try:
            plain = (each for each in values if each is not None)
            return pack(head, context, hit, *plain, time.perf_counter())
        except struct.error:
            # A whole number takes more than 8 bytes.
            return self.text(hit, context, values)

    def text(self, hit: int, context: Any, values: tuple[Any, ...]) -> bytes:
        """Return a row of these values as a line of text; see `line` for `context`."""
        head = f"{self._id}\t{hit}\t{self._rows.now()}\t{self._rows.context_text(context)}"
        return f"{head}{self.columns(values)}\n".encode()

    def columns(self, values: tuple[Any, ...]) -> str:
        """Return values as cells, a tab before each."""
        return "".join([f"\t{self.cell(each)}" for each in values])

    def cell(self, value: Any) -> CellText:
        """Return a value as a cell; one whose text cannot be made is the cell of that error."""
        if type(value) is CellText:
            return value
        try:
            return CellText(cells.cell(value, self._room))
        except BaseException as error:
            return CellText(self._failed(error))

    def _shape(self, letters: str) -> Any:
        """Return what packs values of these types, and how their rows begin; None: they are told as text.

        `letters` has one of `row_format.LETTERS` for each value, `NONE` for a type without one.
        """
        if NONE in letters or len(letters) > MAX_VALUES:
            return None
        number = self._rows.shape(self._id, letters)
        if not 0 < number < SHAPES:
            return None
        form = "".join({"?": "q", "x": "8x"}.get(each, each) for each in letters)
        pack = struct.Struct(f"{row_format.HEAD}{form}d").pack
        shape = self._known[letters] = pack, row_format.PLAIN + len(letters) + (number << 8)
        return shape
