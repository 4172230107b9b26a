"""The deadline of a tool call."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

import anyio

from dapeer.base.errors import Overdue

SECONDS_WITHOUT_TIMEOUT = 15.0
"""Seconds for a tool without a timeout: a single request may take 10 of them."""
SECONDS_AFTER_TIMEOUT = 0.8
"""Seconds after the caller's timeout in which the result is written."""
TIMEOUTS = ("timeout_ms", "wait_ms")
"""Arguments in which a caller gives a timeout, in milliseconds."""

SECONDS_TO_INSPECT = 0.5
"""Seconds after the caller's timeout in which a stop may still be inspected."""

T = TypeVar("T")


class Left:
    """The remaining time of a caller."""

    def __init__(self, timeout_ms: float) -> None:
        self._clock = anyio.current_time
        self._began = self._clock()
        self._end = self._began + timeout_ms / 1000

    @property
    def spent(self) -> float:
        """Seconds since the call."""
        return self._clock() - self._began

    @property
    def ms(self) -> float:
        """Milliseconds until the time-out; 0 after it."""
        return max(self._end - self._clock(), 0) * 1000

    @property
    def to_ask(self) -> float:
        """Seconds until the adapter is no longer waited for, so that there is time to look."""
        return max(self.to_inspect - SECONDS_TO_INSPECT / 2, 0)

    @property
    def to_inspect(self) -> float:
        """Seconds after which missing facts are left out."""
        return max(self._end + SECONDS_TO_INSPECT - self._clock(), 0)


def seconds_for(arguments: Mapping[str, object]) -> float:
    """Return how long a tool that talks to an adapter may take with these arguments.

    >>> seconds_for({"timeout_ms": 2000}), seconds_for({"expression": "x"}), seconds_for({"wait_ms": 0})
    (2.8, 15.0, 0.8)
    """
    for name in TIMEOUTS:
        if isinstance(given := arguments.get(name), int):
            return given / 1000 + SECONDS_AFTER_TIMEOUT
    return SECONDS_WITHOUT_TIMEOUT


async def bounded(name: str, seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Run a tool, with a deadline after some `seconds`.

    Nothing is killed, and late answers of the adapter still reach the mirror.

    Raises:
        Overdue: The time has passed.
    """
    with anyio.move_on_after(seconds):
        return await work
    raise Overdue(
        f"{name} timed out after {seconds:g} s: the adapter has not answered.",
        "The session continues: check with dap_status, try again, or end it with dap_terminate.",
    )
