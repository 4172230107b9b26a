"""How long a call of a tool may take, whatever the adapter sends or leaves unanswered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from dapeer.errors import Overdue

SECONDS_WITHOUT_TIMEOUT = 15.0
"""Seconds for a tool without a time-out of its own: one request may take 10 of them."""
SECONDS_AFTER_TIMEOUT = 0.8
"""Seconds after the time-out that a caller has given, for telling what has come by then."""
TIMEOUTS = ("timeout_ms", "wait_ms")
"""Arguments by which a caller says how long he waits."""

SECONDS_TO_TELL = 0.5
"""Seconds after a caller's time-out that looking at what has come may still take."""

T = TypeVar("T")


class Left:
    """What is left of the time that a caller has given."""

    def __init__(self, timeout_ms: float) -> None:
        self._clock = asyncio.get_running_loop().time
        self._end = self._clock() + timeout_ms / 1000

    @property
    def ms(self) -> float:
        """Milliseconds until the time-out; 0 after it."""
        return max(self._end - self._clock(), 0) * 1000

    @property
    def to_ask(self) -> float:
        """Seconds until the adapter is no longer waited for, so that there is time to look."""
        return max(self.to_tell - SECONDS_TO_TELL / 2, 0)

    @property
    def to_tell(self) -> float:
        """Seconds until what is not known by then is left out."""
        return max(self._end + SECONDS_TO_TELL - self._clock(), 0)


def seconds_for(arguments: Mapping[str, object]) -> float:
    """Return how long a tool that talks to an adapter may take with these arguments.

    >>> seconds_for({"timeout_ms": 2000}), seconds_for({"expression": "x"}), seconds_for({"wait_ms": 0})
    (2.8, 15.0, 0.8)
    """
    given = (arguments.get(name) for name in TIMEOUTS)
    return next(
        (each / 1000 + SECONDS_AFTER_TIMEOUT for each in given if isinstance(each, int)),
        SECONDS_WITHOUT_TIMEOUT,
    )


async def bounded(name: str, seconds: float, work: Callable[[], Awaitable[T]]) -> T:
    """Do the work of a tool; what is not done after `seconds` is left to itself.

    Nothing is killed, and the mirror takes in what the adapter answers later.

    Raises:
        Overdue: The time has passed.
    """
    timeout = asyncio.timeout(seconds)
    try:
        async with timeout:
            return await work()
    except TimeoutError as error:
        if not timeout.expired():
            raise
        raise Overdue(
            f"{name} timed out after {seconds:g} s: the adapter has not answered.",
            "The session continues: check with dap_status, try again, or end it with dap_terminate.",
        ) from error
