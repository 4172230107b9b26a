"""Rows of `LOOK_COLUMNS` about what is watched: where it could be read, and where not."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from .. import functions
from ..values import cells
from . import watched

MAX_ROWS = 500
"""Rows."""


class Looks:
    """Writes rows about the watching of an expression: its first value in each function, and each error."""

    def __init__(self, point: int) -> None:
        """Create it; `point` is the number of the point for these rows; 0: none are written."""
        self._point = point
        self._codes: dict[int, Any] = {}
        """By number, since codes are compared slowly."""
        self._hits = itertools.count(1)

    def first(self, rows: Any, frame: Any, value: Any) -> None:
        """Write a row with a value of the expression, if it is the first one in this frame's code.

        `rows` is the `recording.Rows`.
        """
        code = frame.f_code
        if self._point and id(code) not in self._codes:
            self._codes[id(code)] = code
            self._write(rows, frame, watched.text_of(value))

    def error_writer(self, rows: Any, frame: Any) -> Callable[[str], None]:
        """Return a function that writes a row for each new error in a frame's code.

        It gets the cell of the error. `rows` is the `recording.Rows`.
        """
        reported: set[str] = set()

        def missed(error: str) -> None:
            if self._point and error not in reported:
                reported.add(error)
                self._write(rows, frame, error)

        return missed

    def _write(self, rows: Any, frame: Any, cell: str) -> None:
        """Write a row for a frame with the text `cell`; behind `MAX_ROWS` rows nothing is written.

        `rows` is the `recording.Rows`.
        """
        hit = next(self._hits)
        if hit <= MAX_ROWS:
            head = f"{self._point}\t{hit}\t{rows.now()}\t\t\t"
            write(rows, f"{head}\t{place_of(frame.f_code)}\t{frame.f_lineno}\t{cell}\n")


def place_of(code: Any) -> str:
    """Return the columns of a code's function and file, with a tab between them."""
    return f"{functions.qualified(code)}\t{cells.escaped(code.co_filename)}"


def write(rows: Any, text: str) -> None:
    """Write a row to a `recording.Rows`, in its next chunk if this one is full.

    `text` is the row, with its line end; `rows` may count it as lost.
    """
    try:
        rows.write(text.encode())
    except ValueError:
        rows.kept(text.encode())
