"""What repeats in a sequence, so that it need be told once only. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAX_PERIOD_ELEMENTS = 12
"""Elements of what repeats, at most."""


class RepeatedPart(NamedTuple):
    """A part of a sequence: `period` elements from `start` on, so many `times`."""

    start: int
    period: int
    times: int

    @property
    def end(self) -> int:
        """The index behind the last element of the part."""
        return self.start + self.period * self.times


def repeats(sequence: Sequence[int]) -> Iterator[RepeatedPart]:
    """Yield the parts of a sequence in order; what does not repeat is a part of one element.

    >>> [tuple(each) for each in repeats([7, 1, 2, 1, 2, 1, 2, 5, 5, 5])]
    [(0, 1, 1), (1, 2, 3), (7, 1, 3)]
    """
    start = 0
    while start < len(sequence):
        found = max(
            (_at(sequence, start, period) for period in range(1, MAX_PERIOD_ELEMENTS + 1)),
            key=lambda each: (each.end if each.times > 1 else 0, -each.period),
        )
        found = found if found.times > 1 else RepeatedPart(start, 1, 1)
        yield found
        start = found.end


def _at(sequence: Sequence[int], start: int, period: int) -> RepeatedPart:
    """Return the `period` elements from `start` on as a part, with how often they follow each other.

    `times` is 1 if they do not repeat.
    """
    first = sequence[start]
    if start + period >= len(sequence) or sequence[start + period] != first:
        return RepeatedPart(start, period, 1)
    pattern = sequence[start : start + period]
    times = 1
    at = start + period
    while sequence[at : at + period] == pattern:
        times += 1
        at += period
    return RepeatedPart(start, period, times)
