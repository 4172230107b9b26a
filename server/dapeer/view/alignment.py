"""Which rows of one sequence are which of another, as few as possible left over. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress, count
from operator import ne
from typing import NamedTuple

WINDOW = 20_000
"""Rows that are aligned at once: the time grows with its square, some 50 ms for so many that are all different."""


class Gap(NamedTuple):
    """Rows that differ: `a[start_a:end_a]` stand where `b[start_b:end_b]` do; what is between gaps is alike."""

    start_a: int
    end_a: int
    start_b: int
    end_b: int


def gaps(a: Sequence[int], b: Sequence[int], window: int = WINDOW) -> Iterator[Gap]:
    """Yield where two sequences differ, in order; the time is linear in their lengths, and goes with the `window`.

    >>> list(gaps([1, 2, 3, 4], [1, 3, 4, 5]))
    [Gap(start_a=1, end_a=2, start_b=1, end_b=1), Gap(start_a=4, end_a=4, start_b=3, end_b=4)]
    """
    ends = _common(a[::-1], b[::-1])
    ends = min(ends, min(len(a), len(b)) - _common(a, b))
    yield from _joined(_windows(a[: len(a) - ends], b[: len(b) - ends], window))


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    """Return how many rows at the beginning are alike."""
    return next(compress(count(), map(ne, a, b)), min(len(a), len(b)))


def _windows(a: Sequence[int], b: Sequence[int], window: int) -> Iterator[Gap]:
    """Yield the gaps of one window after the other; each begins behind the last rows that were found alike."""
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 - few runs are compared

    i = j = 0
    while i < len(a) or j < len(b):
        alike = _common(a[i:], b[j:])
        i, j = i + alike, j + alike
        left, right = a[i : i + window], b[j : j + window]
        whole = i + len(left) == len(a) and j + len(right) == len(b)
        found = [
            Gap(i + each.src_start, i + each.src_end, j + each.dest_start, j + each.dest_end)
            for each in Levenshtein.opcodes(left, right)
            if each.tag != "equal"
        ]
        if not whole and len(found) > 1:
            # What is near the end of a window may belong to rows behind it.
            del found[len(found) * 3 // 4 or 1 :]
        yield from found
        i, j = (len(a), len(b)) if whole else (found[-1].end_a, found[-1].end_b)


def _joined(found: Iterator[Gap]) -> Iterator[Gap]:
    """Yield gaps; those with nothing between them as one."""
    last: Gap | None = None
    for gap in found:
        if last is not None and (last.end_a, last.end_b) == (gap.start_a, gap.start_b):
            last = Gap(last.start_a, gap.end_a, last.start_b, gap.end_b)
            continue
        if last is not None:
            yield last
        last = gap
    if last is not None:
        yield last
