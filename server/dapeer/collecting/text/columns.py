"""What a column of collected values is like, and which of its rows are odd. Pure.

A hundred thousand values are told by few passes over all of them, each made by what Python has built in.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, pairwise, repeat
from operator import ge, le, sub
from typing import TypeAlias, TypeGuard

from dapeer.base.text.fitting import shortened
from dapeer.collecting.rows.table import FAILED, NumberColumn, counted

# Of what kind collected values are: type, sign, shape, whether there is nothing in them. Pure.

MAX_TEXT_SHAPES = 4
"""Different shapes of texts that are told apart; where there are more, texts are of any shape."""

_NUMBER = re.compile(r"(-?)(?:(\d+)|\d*\.?\d+(?:[eE][-+]?\d+)?|inf|nan)", re.IGNORECASE)
_NOTHING = frozenset({"None", "null", "nil", "undefined", "NULL", "<nil>", "nullptr", "0x0"})
NUMERIC = frozenset(
    {"whole", "negative whole", "fraction", "negative fraction", "zero", "nan", "inf", "-inf"}
)
_LOGICAL = frozenset({"True", "False", "true", "false"})
_EMPTY = re.compile(r"""(\w*)(?:\[\]|\{\}|\(\)|''|""|set\(\))""")
_NAME = re.compile(r"<?([A-Za-z_][\w.:]*)")
_QUOTES = {"'": "text", '"': "text", "[": "list", "{": "map", "(": "tuple"}


def kind(text: str) -> str:
    """Return a value's kind: its type as far as that shows, its sign, whether there is nothing in it.

    `text` is the value as its language writes it. An error gives "error" and its class, a text that shows
    no kind gives "value".

    >>> kind("3"), kind("-2.5"), kind("nan"), kind("None"), kind("''"), kind("Cart(total=3)")
    ('whole', 'negative fraction', 'nan', 'None', 'empty text', 'Cart')
    """
    if text.startswith(FAILED):
        return f"error {text[1:].partition(':')[0].strip()}"
    if text in _NOTHING:
        return text
    if text in _LOGICAL:
        return "bool"
    if number := _NUMBER.fullmatch(text):
        return _number_kind(text, number)
    what = _QUOTES.get(text[:1])
    named = _NAME.match(text)
    what = what or (named[1] if named else "value")
    return f"empty {what}" if _EMPTY.fullmatch(text) else what


def kinds_of_whole_numbers(numbers: Sequence[int], *, many: bool) -> Sequence[str]:
    """Return the kind of each whole number: "whole", "negative whole" or "zero".

    With `many` different numbers, zero counts as "whole". `numbers` must not be empty.
    """
    least, greatest = min(numbers), max(numbers)
    if least > 0 or (many and least == 0):
        return ["whole"] * len(numbers)
    if greatest < 0:
        return ["negative whole"] * len(numbers)
    zero = "whole" if many else "zero"
    return ["whole" if each > 0 else "negative whole" if each else zero for each in numbers]


def kinds_of_numbers(
    numbers: Sequence[float], texts: Sequence[str], *, many: bool
) -> Sequence[str]:
    """Return the kind of each number, one per item, by the number and its text.

    A text with a point is a "fraction", "negative fraction" or "zero"; with `many` different numbers, such a zero counts as "fraction". Any
    other text has the kind that `kind` gives it: "whole", "negative whole", "zero", "nan", "-inf" ….

    Raises:
        ValueError: There are more numbers than texts, or fewer.
    """
    zero = "fraction" if many else "zero"
    return [
        ("fraction" if number > 0 else "negative fraction" if number else zero)
        if "." in text
        else kind(text)
        for number, text in zip(numbers, texts, strict=True)
    ]


def _number_kind(text: str, number: re.Match[str]) -> str:
    """Return the kind of a text that writes a number.

    That is "zero", "whole", "negative whole", "fraction", "negative fraction", or the text itself in lower case
    if it writes an infinity or NaN ("inf", "-inf", "nan"). Whole is what is written in digits alone: "3.0" and
    "1e5" are fractions, but "0.0" is zero. `number` is the match of the pattern `_NUMBER` with all of `text`.
    """
    low = text.lower()
    if "n" in low:
        return low
    if float(text) == 0:
        return "zero"
    return f"{'negative ' * bool(number[1])}{'whole' if number[2] else 'fraction'}"


def value_kinds(values: Sequence[str], counts: Counter[str] | None) -> Sequence[str]:
    """Return the kind of each value ("whole", "empty text", "Cart", …), in the order of `values`.

    `values` are cells, as a program's language writes them. Where texts without a line end have from 2 to
    `MAX_TEXT_SHAPES` shapes, the kind of each names the shape, as "text like 'a-9'" (`'ab-12'` has the
    shape `'a-9'`). `counts` has each value, with how often it comes. None: there are too many different
    ones, and values of one shape get the kind of the last of them; if any has a line end, then all are of
    the kind "value".
    """
    if counts is None:
        return _kinds_by_shape(values)
    of = {text: kind(text) for text in counts}
    # A line end within a text would give the others each other's shapes.
    texts = [text for text in counts if of[text] == "text" and "\n" not in text]
    shapes = dict(zip(texts, shaped("\n".join(texts)), strict=False))
    if 1 < len(set(shapes.values())) <= MAX_TEXT_SHAPES:
        of |= {text: f"text like {shape}" for text, shape in shapes.items()}
    return list(map(of.__getitem__, values))


def _kinds_by_shape(values: Sequence[str]) -> Sequence[str]:
    """Return the kind of each value ("whole", "text", "Cart", …), in their order.

    Values of one shape (`'ab-12'` has `'a-9'`) all get the kind that the last of them has. Where texts have from 2 to
    `MAX_TEXT_SHAPES` shapes, their kinds name the shape, as "text like 'a-9'". If any value has a line end, all are of
    the kind "value".
    """
    shapes = shaped("\n".join(values))
    if len(shapes) != len(values):  # a value has a line end
        return ["value"] * len(values)
    example = dict(zip(shapes, values, strict=True))
    of = {shape: kind(text) for shape, text in example.items()}
    texts = [shape for shape in of if of[shape] == "text"]
    if 1 < len(texts) <= MAX_TEXT_SHAPES:
        of |= {shape: f"text like {shape}" for shape in texts}
    return list(map(of.__getitem__, shapes))


_CLASSES = str.maketrans(
    "bcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNOPQRSTUVWXYZ012345678", "a" * 25 + "A" * 25 + "9" * 9
)
_RUNS = re.compile("a{2,}|A{2,}|9{2,}")


def shaped(text: str) -> list[str]:
    """Return the shape of each line: small letters as one `a`, capitals as one `A`, digits as one `9`.

    >>> shaped("'ab-12'")
    ["'a-9'"]
    """
    return _RUNS.sub(lambda run: run[0][0], text.translate(_CLASSES)).split("\n")


MAX_ODD_ROWS = 3
"""Rows of one oddity that are shown."""
ROWS_PER_RARE_VALUE = 50
"""A value, kind or step is rare that has at most one in so many rows, or is alone."""
MAX_DISTINCT_VALUES = 20
"""Different values that are counted one by one."""
MIN_TREND_SHARE = 0.9
"""The share of all steps that make a column one that rises, falls, or goes by the same step."""
MIN_FIRST_SHARE = 0.6
"""The share of the first quarter of the steps that has, at least, what `MIN_TREND_SHARE` of all have."""
MIN_FAR_WIDTHS = 10
"""A number is far from the others that lies so many times their middle half's width away from that."""
LARGE_NUMBER = 1 << 53
"""Whole numbers from here on are reckoned with as fractions."""
MAX_ODD_VALUE_CHARS = 40
"""Characters of a value or kind that is said to be odd."""
SAMPLED_VALUES = 1000
"""First values by which the others are judged."""
MIN_ROWS_FOR_RARE = 8
"""Rows from which on rare is odd."""
ROWS_PER_ODD_ROW = 10
"""Where the rows of rare values are more than one in so many, none of them is odd."""
MIN_TREND_STEPS = 14
"""Steps from which on those to one row and on from there (`TO_AND_FRO`) take no trend away."""
TO_AND_FRO = 2

Fits: TypeAlias = Callable[[int, float], bool]
"""Whether a sequence may go so far in so many rows."""


@dataclass(frozen=True, slots=True)
class OddRow:
    """A row in which a column is unlike the rest of it."""

    index: int
    reason: str


@dataclass(slots=True)
class Column:
    """What is to be told of a column."""

    values: Sequence[str]
    counts: Counter[str] | None = None
    """How often each value comes; None: there are too many."""
    kinds: Counter[str] = field(default_factory=Counter[str])
    range: tuple[float, float] | None = None
    """The least and the greatest, where most are numbers."""
    trend: str = ""
    odd_rows: Sequence[OddRow] = ()

    @property
    def is_constant(self) -> bool:
        """Whether all values are the same."""
        return self.counts is not None and len(self.counts) == 1

    def drop_steps_over_gaps(self, gaps: Container[int]) -> None:
        """Drop the odd steps that go over rows which were dropped, by the indices of `gaps`."""
        self.odd_rows = [
            odd for odd in self.odd_rows if odd.index not in gaps or odd.reason[0] not in "+-"
        ]


def column(values: Sequence[str]) -> Column:
    """Return what a column of values is like: counts, kinds, range, trend, and odd rows.

    `values` are the cells' texts in the order of the rows, and must not be empty. If all are the same, nothing
    but `values` and `counts` of the result is set. `counts` is None if the first `SAMPLED_VALUES` have so many
    different values that counting them tells nothing.
    """
    if values[0] == values[-1] and values.count(values[0]) == len(values):
        return Column(values, Counter({values[0]: len(values)}))
    # Where the first values are all different, nobody counts the others.
    many = len(set(values[:SAMPLED_VALUES])) > max(MAX_DISTINCT_VALUES, SAMPLED_VALUES // 4)
    counts = None if many else counted(values)
    numbers = _numbers(values)
    if numbers is None:
        of = value_kinds(values, counts)
    else:
        of = (
            kinds_of_whole_numbers(numbers, many=many)
            if _are_whole(numbers)
            else kinds_of_numbers(numbers, values, many=many)
        )
    alike = of.count(of[0]) == len(of)
    found = Column(values, counts, Counter({of[0]: len(of)} if alike else of))
    odd = [*_find_odd_rows(found, of, numbers)]
    # What goes on and on comes by zero.
    found.odd_rows = _first_of_each(
        e for e in odd if not (found.trend and e.reason.endswith(" zero"))
    )
    return found


def _find_odd_rows(
    found: Column, kinds_of_values: Sequence[str], numbers: Sequence[float] | None
) -> Iterator[OddRow]:
    """Set range and trend of the column `found`, and yield its odd rows.

    This is a generator: range and trend are set once it is exhausted. They stay as they are where fewer
    than half of the values are numbers, or none is finite, and the trend also where there are fewer than
    `MIN_ROWS_FOR_RARE` numbers. `kinds_of_values` has the kind of each value of `found`, `numbers` the
    values as numbers; None: some values are no numbers, and those that are one are read from `found`.
    """
    yield from _rare_rows(kinds_of_values, found.kinds, kinds=True)
    if found.counts is not None and len(found.counts) <= MAX_DISTINCT_VALUES:
        yield from _rare_rows(found.values, found.counts)
    indices: Sequence[int] = range(len(found.values))
    if numbers is None:
        indices = [index for index, each in enumerate(kinds_of_values) if each in NUMERIC]
        if len(indices) * 2 < len(found.values):
            return
        numbers = _numbers([found.values[index] for index in indices])
    if numbers is None:
        return
    finite = numbers if _are_whole(numbers) else list(filter(math.isfinite, numbers))
    if not finite:
        return
    found.range = min(finite), max(finite)
    if len(numbers) >= MIN_ROWS_FOR_RARE:
        found.trend, steps = _trend(numbers, indices)
        yield from steps
        if not found.trend:
            yield from (OddRow(indices[each.index], each.reason) for each in _far_numbers(numbers))


def _first_of_each(odd: Iterable[OddRow]) -> list[OddRow]:
    """Return odd rows in the order of their index, each once, with the first reason."""
    first: dict[int, OddRow] = {}
    for each in odd:
        first.setdefault(each.index, each)
    return [first[index] for index in sorted(first)]


def _numbers(values: Sequence[str]) -> Sequence[float] | None:
    """Return the values as numbers, all int or all float; None: at least one of them is no number.

    They are float if one of them is no whole number, or is at or beyond `LARGE_NUMBER` or its negative. "nan" and "inf"
    are numbers, too. `values` must not be empty.
    """
    if isinstance(values, NumberColumn):
        known = values.values.tolist()
        large = values.whole and not -LARGE_NUMBER < min(known) <= max(known) < LARGE_NUMBER
        return [*map(float, known)] if large else known
    for kind_of in (int, float):
        try:
            numbers = list(map(kind_of, values))
        except ValueError:
            continue
        if kind_of is float or -LARGE_NUMBER < min(numbers) <= max(numbers) < LARGE_NUMBER:
            return numbers
    return None


def _are_whole(numbers: Sequence[float]) -> TypeGuard[Sequence[int]]:
    """Return whether numbers are whole ones: the first tells it of all."""
    return isinstance(numbers[0], int)


def is_rare(count: int, total: int) -> bool:
    """Return whether something that comes `count` times among `total` rows is rare."""
    return total >= MIN_ROWS_FOR_RARE and count <= max(1, total // ROWS_PER_RARE_VALUE)


def _rare_rows(
    values: Sequence[str], counts: Counter[str], *, kinds: bool = False
) -> Iterator[OddRow]:
    """Yield for each rare value its first rows, at most `MAX_ODD_ROWS`, each with a text on the value.

    Each `OddRow` has the row's index in `values`, from 0, and a text such as `the only 7` or `the first of 3
    7`. `counts` has how often each of `values` comes; it is not empty. Rare is what `is_rare` says; the most
    frequent value never is. Nothing is yielded for fewer than `MIN_ROWS_FOR_RARE` rows, nor, without `kinds`,
    where the rows with rare values are more than `MAX_ODD_ROWS` and more than one in `ROWS_PER_ODD_ROW`. With
    `kinds` the values are kinds of rows: the first row of each kind that is not rare is yielded, too, but not
    of the most frequent ones.
    """
    total = len(values)
    if total < MIN_ROWS_FOR_RARE:
        return
    usual = max(counts.values())
    if not kinds and sum(n for n in counts.values() if is_rare(n, total)) > max(
        MAX_ODD_ROWS, total // ROWS_PER_ODD_ROW
    ):
        return
    for value, count in counts.items():
        rare = is_rare(count, total)
        if count == usual or not (rare or kinds):
            continue
        index = -1
        what = shortened(value, MAX_ODD_VALUE_CHARS)
        for number in range(min(count, MAX_ODD_ROWS) if rare else 1):
            index = values.index(value, index + 1)
            which = "the first" if number == 0 else "one"
            yield OddRow(
                index, f"the only {what}" if count == 1 else f"{which} of {count:,} {what}"
            )


def _trend(numbers: Sequence[float], indices: Sequence[int]) -> tuple[str, list[OddRow]]:
    """Return how numbers go on ("rising", "each +1", "mostly falling"; empty: no trend), and odd rows.

    `numbers` are two at least; `indices` are their rows in the column. The odd rows are the first
    `MAX_ODD_ROWS` that break the trend, without those whose row above has no number. There are none where more
    rows than that, and more than one in `ROWS_PER_RARE_VALUE`, break it.
    """
    steps = list(map(sub, numbers[1:], numbers))
    step = steps[len(steps) // 2]
    times = steps.count(step)
    if times == len(steps):
        return _step_text(step), []
    first = steps[: len(steps) // 4 + 1]
    if not _are_nearly_all(times, len(steps)):
        # What nearly all steps are is the most frequent one of the first quarter, too.
        step = Counter(first).most_common(1)[0][0]
        times = steps.count(step)
    if _are_nearly_all(times, len(steps)):
        usual, trend = [each == step for each in steps], _step_text(step)
        fits: Fits = partial(_fits_constant_step, step)
    else:
        usual, trend, goes_on = _direction(steps, first)
        fits = partial(_fits_direction, goes_on)
    # Where most steps are none, or go both ways, there is no trend to break.
    if not trend or all(usual):
        return trend, []
    most = max(MAX_ODD_ROWS, len(steps) // ROWS_PER_RARE_VALUE)
    breaks = [*islice(_breaks(numbers, usual, fits), most + 1)]
    if len(breaks) > most:
        breaks = []
    odd = [
        OddRow(indices[row], f"{steps[row - 1]:+g}" if row else f"{steps[0]:+g} to the next")
        for row in breaks[:MAX_ODD_ROWS]
        # A step over what is no number is none.
        if not row or indices[row] == indices[row - 1] + 1
    ]
    return f"mostly {trend}", odd


def _fits_constant_step(step: float, rows: int, distance: float) -> bool:
    """Return whether a sequence with a constant `step` goes so far in so many rows."""
    return distance == rows * step


def _fits_direction(goes_on: Callable[[float, float], bool], _rows: int, distance: float) -> bool:
    """Return whether a sequence that rises, or falls, may go so far."""
    return goes_on(distance, 0)


def _are_nearly_all(times: int, total: int) -> bool:
    """Return whether `times` of all steps make a trend: nearly all, or all but the two around one odd row."""
    return times >= MIN_TREND_SHARE * total or (
        total >= MIN_TREND_STEPS and total - times <= TO_AND_FRO
    )


def _breaks(numbers: Sequence[float], usual: Sequence[bool], fits: Fits) -> Iterator[int]:
    """Yield the indices of the rows that break a sequence, such as one number that is out of order.

    `usual` has for each step, from a number to the next, whether it is as most are. Of the two rows of another
    step the one is yielded without which the sequence goes on, else the later one. The row behind a bad one does
    not break it, if it fits what was before. `fits(rows, difference)` says whether numbers that are so many rows
    apart may differ by so much.
    """

    def between(before: int, after: int) -> bool:
        """Return whether the numbers of two rows fit the sequence; False beyond its ends."""
        known = before >= 0 and after < len(numbers)
        return known and fits(after - before, numbers[after] - numbers[before])

    passed = -1
    for before in (step for step, fine in enumerate(usual) if not fine):
        behind = before + 1
        if before == passed:
            continue
        if between(before, behind + 1):
            yield behind
            passed = behind
        elif between(before - 1, behind) or (not before and between(behind, behind + 1)):
            yield before
        else:
            yield behind


def _step_text(step: float) -> str:
    """Return the trend of a constant step as text; empty for 0."""
    return f"each {step:+g}" if step else ""


def _direction(
    steps: Sequence[float], first: Sequence[float]
) -> tuple[list[bool], str, Callable[[float, float], bool]]:
    """Return for each step whether it follows the trend, then the trend, and the comparison of the trend.

    `steps` are the differences between neighbouring numbers, and `first` is the first quarter of them. The trend
    is "rising" or "falling"; a step of 0 follows both, and "rising" is tried first. Nearly all of `steps` and
    the share `MIN_FIRST_SHARE` of `first` must follow the trend. The comparison is `operator.ge` for "rising"
    and `le` for "falling", to be called with a step and 0. Without a trend, the list and the text are empty, and
    the comparison means nothing.
    """
    for trend, goes_on in (("rising", ge), ("falling", le)):
        if sum(map(goes_on, first, repeat(0))) < MIN_FIRST_SHARE * len(first):
            continue
        usual = list(map(goes_on, steps, repeat(0)))
        if _are_nearly_all(sum(usual), len(steps)):
            return usual, trend, goes_on
    return [], "", ge


def _far_numbers(numbers: Sequence[float]) -> Iterator[OddRow]:
    """Yield the first row of each number that is far from the middle half of all, in no special order.

    Far is more than `MIN_FAR_WIDTHS` times that half's width away from its nearer end. Where the width is 0,
    the absolute value of the half's upper end counts instead, or 1 if that is 0, too. The index of a row is
    that in `numbers`. Infinite numbers and NaN are left out. At most `MAX_ODD_ROWS` of the least and of the
    greatest numbers are looked at; nothing is yielded if fewer than `MIN_ROWS_FOR_RARE` numbers are finite.
    """
    finite = sorted(filter(math.isfinite, numbers))
    if len(finite) < MIN_ROWS_FOR_RARE:
        return
    low, high = finite[len(finite) // 4], finite[len(finite) * 3 // 4]
    width = MIN_FAR_WIDTHS * (high - low or abs(high) or 1)
    ends = [*finite[:MAX_ODD_ROWS], *finite[-MAX_ODD_ROWS:]]
    for value in {each for each in ends if not low - width <= each <= high + width}:
        yield OddRow(numbers.index(value), "far from the others")


def runs(indices: Sequence[int], total: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last index of each stretch of rows between the `indices`, of `total` rows.

    >>> list(runs([0, 3, 5], 6))
    [(1, 2), (4, 4)]
    """
    for before, after in pairwise([*indices, total]):
        if after - before > 1:
            yield before + 1, after - 1
