"""Columns of collected values: texts, or numbers that are told as Python writes them. Pure."""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import eq
from typing import cast, overload


class NumberColumn(Sequence[str]):
    """Numbers of 8 bytes, all whole or all fractions: kept as they are, and read as texts."""

    __slots__ = ("values",)

    def __init__(self, values: array[int] | array[float]) -> None:
        """Take them; they are of 8 bytes each."""
        self.values = values

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> NumberColumn: ...
    def __getitem__(self, index: int | slice) -> str | NumberColumn:
        """Return one as text, or some of them."""
        if isinstance(index, slice):
            return NumberColumn(self.values[index])
        return repr(self.values[index])

    def __iter__(self) -> Iterator[str]:
        """Yield them as texts."""
        return map(repr, self.values)

    def __eq__(self, other: object) -> bool:
        """Whether another column has the same texts."""
        if isinstance(other, NumberColumn) and self.whole and other.whole:
            return self.values == other.values
        if not isinstance(other, NumberColumn | list) or len(self) != len(cast("Cells", other)):
            return False
        return all(map(eq, self, cast("Cells", other)))

    def __hash__(self) -> int:
        """Refuse: it changes."""
        raise TypeError

    def count(self, value: object) -> int:
        """Return how many of the numbers are written as the text `value`."""
        if not self.whole:
            return [*self].count(cast("str", value))
        number = _whole(value)
        return 0 if number is None else self.values.count(number)

    def index(self, value: object, start: int = 0, stop: int = sys.maxsize) -> int:
        """Return the index of the first number that is written as the text `value`.

        Raises:
            ValueError: None is.
        """
        if self.whole and (number := _whole(value)) is not None:
            return self.values.index(number, start, stop)
        return super().index(value, start, stop)

    def __delitem__(self, part: slice) -> None:
        """Forget some."""
        del self.values[part]

    @property
    def whole(self) -> bool:
        """Whether the numbers are whole ones."""
        return self.values.typecode != "d"

    def picked(self, indices: Sequence[int]) -> NumberColumn:
        """Return a column with the values at these indices."""
        return NumberColumn(array(self.values.typecode, map(self.values.__getitem__, indices)))


Cells = list[str] | NumberColumn


def counted(column: Sequence[str]) -> Counter[str]:
    """Return how often each text occurs in a column."""
    if not isinstance(column, NumberColumn) or not column.whole:
        return Counter(column)
    return Counter({f"{number}": count for number, count in Counter(column.values).items()})


def _whole(value: object) -> int | None:
    """Return the whole number that a text writes; None: it writes none."""
    text = cast("str", value)
    return int(text) if text.removeprefix("-").isdecimal() else None


def joined(column: Cells, more: Sequence[str]) -> Cells:
    """Return `column` with the values of `more` behind.

    `column` may be changed, and must not be used any more.
    """
    if isinstance(more, NumberColumn):
        if not column:
            return NumberColumn(more.values[:])
        if isinstance(column, NumberColumn) and column.values.typecode == more.values.typecode:
            column.values.extend(more.values)  # type: ignore[arg-type]
            return column
    texts = list(column) if isinstance(column, NumberColumn) else column
    texts.extend(more)
    return texts


def picked(column: Cells, indices: Sequence[int]) -> Cells:
    """Return the values of a column at these indices."""
    if isinstance(column, NumberColumn):
        return column.picked(indices)
    return [column[index] for index in indices]
