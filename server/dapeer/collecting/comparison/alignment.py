"""Which rows of one sequence are which of another, as few as possible left over. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import accumulate, compress, count
from operator import ne, sub
from typing import NamedTuple

WINDOW_ROWS = 20_000
"""Rows that are aligned at once: the time grows with its square."""
MAX_PAIRS = 4_000_000
"""Pairs of rows of which all differences are kept, two bits each; more are halved."""


class Gap(NamedTuple):
    """Rows that differ: `a[start_a:end_a]` stand where `b[start_b:end_b]` do; between gaps all are alike."""

    start_a: int
    end_a: int
    start_b: int
    end_b: int


def gaps(a: Sequence[int], b: Sequence[int], window: int = WINDOW_ROWS) -> Iterator[Gap]:
    """Yield the stretches in which two sequences of row numbers differ, in order.

    Equal numbers are equal rows. Sequences longer than `window` are aligned one window after the other, so the result may have more edits
    than needed there. The time grows with the lengths times the window.

    >>> list(gaps([1, 2, 3, 4], [1, 3, 4, 5]))
    [Gap(start_a=1, end_a=2, start_b=1, end_b=1), Gap(start_a=4, end_a=4, start_b=3, end_b=4)]
    """
    ends = _common(a[::-1], b[::-1])
    ends = min(ends, min(len(a), len(b)) - _common(a, b))
    yield from _joined(_windows(a[: len(a) - ends], b[: len(b) - ends], window))


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    """Return how many rows at the beginning of two sequences are equal."""
    return next(compress(count(), map(ne, a, b)), min(len(a), len(b)))


def _windows(a: Sequence[int], b: Sequence[int], window: int) -> Iterator[Gap]:
    """Yield the gaps between `a` and `b`, of one window after the other, each of at most `window` rows.

    A window begins behind the last equal rows of the one before.
    """
    i = j = 0
    while i < len(a) or j < len(b):
        alike = _common(a[i:], b[j:])
        i, j = i + alike, j + alike
        left, right = a[i : i + window], b[j : j + window]
        whole = i + len(left) == len(a) and j + len(right) == len(b)
        found = list(_joined(_edits(left, right, i, j)))
        if not whole and len(found) > 1:
            # What is near the end of a window may belong to rows behind it.
            del found[len(found) * 3 // 4 or 1 :]
        yield from found
        i, j = (len(a), len(b)) if whole else (found[-1].end_a, found[-1].end_b)


def _edits(a: Sequence[int], b: Sequence[int], i: int, j: int) -> Iterator[Gap]:
    """Yield the gaps of the fewest edits (a row added, removed or replaced), moved by `i` and `j`.

    Long sequences are halved, to bound the memory.
    """
    alike = _common(a, b)
    a, b, i, j = a[alike:], b[alike:], i + alike, j + alike
    if not a or not b or set(a).isdisjoint(b):
        if a or b:
            yield Gap(i, i + len(a), j, j + len(b))
    elif len(a) * len(b) > MAX_PAIRS and len(b) > 1:
        # The edits pass the middle of b where those before and behind it are the fewest.
        middle = len(b) // 2
        before = _distances(a, b[:middle])
        behind = _distances(a[::-1], b[middle:][::-1])[::-1]
        at = min(range(len(before)), key=lambda n: before[n] + behind[n])
        yield from _edits(a[:at], b[:middle], i, j)
        yield from _edits(a[at:], b[middle:], i + at, j + middle)
    else:
        yield from _traced(a, b, i, j)


def _columns(a: Sequence[int], b: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield for each row of `b` two integers, with a bit for each row of `a`, as distances change.

    In the first a bit is set where the distance to that beginning of `a` grows by one, in the second where it falls. That is Hyyrö's
    bit-parallel form of Levenshtein's distance, with Python's integers as words.
    """
    places: dict[int, int] = {}
    for n, each in enumerate(a):
        places[each] = places.get(each, 0) | 1 << n
    whole = (1 << len(a)) - 1
    grows, falls = whole, 0
    for each in b:
        same = places.get(each, 0)
        level = ((((same & grows) + grows) ^ grows) | same | falls) & whole
        more = ((falls | ((level | grows) ^ whole)) << 1 | 1) & whole
        less = (level & grows) << 1 & whole
        grows, falls = less | ((level | more) ^ whole), more & level
        yield grows, falls


def _distances(a: Sequence[int], b: Sequence[int]) -> Sequence[int]:
    """Return how many edits lead from each beginning of `a`, the empty one first, to `b`.

    The sequence `b` must not be empty.
    """
    last = deque(_columns(a, b), maxlen=1)[0]
    bits = (map(int, f"{each:0{len(a)}b}"[::-1]) for each in last)
    return list(accumulate(map(sub, *bits), initial=len(b)))


def _traced(a: Sequence[int], b: Sequence[int], i: int, j: int) -> Iterator[Gap]:
    """Yield the gaps of the fewest edits, as `_edits` does; all columns are kept, so both must be short."""
    columns = list(_columns(a, b))
    alike: list[tuple[int, int]] = [(len(a), len(b))]
    x, y = len(a), len(b)
    while x and y:
        if columns[y - 1][0] >> (x - 1) & 1:
            x -= 1
            continue
        y -= 1
        if y and columns[y - 1][1] >> (x - 1) & 1:
            continue
        x -= 1
        if a[x] == b[y]:
            alike.append((x, y))
    x = y = 0
    for end_x, end_y in reversed(alike):
        if end_x > x or end_y > y:
            yield Gap(i + x, i + end_x, j + y, j + end_y)
        x, y = end_x + 1, end_y + 1


def _joined(found: Iterator[Gap]) -> Iterator[Gap]:
    """Yield gaps, where those that touch each other are one."""
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
