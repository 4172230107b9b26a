"""Measured values, and what a reader wants to know of them. Pure, but for the clock."""

import random
import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Samples:
    """Values of one thing.

    >>> Samples([3, 1, 2]).median
    2
    >>> low, high = Samples(range(11)).spread
    >>> low, high
    (1.0, 9.0)
    """

    values: Sequence[float]

    @property
    def median(self) -> float:
        """The value in the middle."""
        return statistics.median(self.values)

    @property
    def spread(self) -> tuple[float, float]:
        """The 10th and the 90th percentile."""
        if len(self.values) == 1:
            return self.values[0], self.values[0]
        tenths = statistics.quantiles(self.values, n=10, method="inclusive")
        return tenths[0], tenths[-1]


class Measured:
    """Values by what was measured and of whom."""

    def __init__(self) -> None:
        self._values: defaultdict[str, dict[str, list[float]]] = defaultdict(dict)

    def add(self, what: str, whose: str, value: float) -> None:
        """Note one value."""
        self._values[what].setdefault(whose, []).append(value)

    def add_since(self, what: str, whose: str, began: float) -> None:
        """Note the milliseconds that have passed since `now()` was `began`."""
        self.add(what, whose, (now() - began) * 1000)

    def of(self, what: str) -> Mapping[str, Samples]:
        """Return the values of one thing, by whose they are."""
        return {whose: Samples(values) for whose, values in self._values[what].items()}


def now() -> float:
    """Return the time in seconds, from any start."""
    return time.perf_counter()


def shuffled(names: Iterable[str]) -> list[str]:
    """Return the names in any order."""
    names = list(names)
    return random.sample(names, len(names))


async def in_turn(
    measured: Measured,
    what: str,
    operations: Mapping[str, Callable[[], Awaitable[object]]],
) -> None:
    """Time everybody's operation once, in any order: each is colder or warmer after another."""
    for name in shuffled(operations):
        began = now()
        await operations[name]()
        measured.add_since(what, name, began)
