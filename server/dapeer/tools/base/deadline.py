"""The deadline of a tool call."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

import anyio

from dapeer.base.errors import ToolTimeout

SECONDS_WITHOUT_TIMEOUT = 15.0
"""Seconds for a tool without a timeout: a single request may take 10 of them."""
SECONDS_AFTER_TIMEOUT = 0.8
"""Seconds after the caller's timeout in which the result is written."""
TIMEOUTS = ("timeout_ms", "wait_ms")
"""Arguments in which a caller gives a timeout, in milliseconds."""

SECONDS_TO_INSPECT = 0.5
"""Seconds after the caller's timeout in which a stop may still be inspected."""

T = TypeVar("T")


class RemainingTime:
    """The remaining time of a caller."""

    def __init__(self, timeout_ms: float) -> None:
        self._clock = anyio.current_time
        self._begin_time = self._clock()
        self._end_time = self._begin_time + timeout_ms / 1000

    @property
    def elapsed_s(self) -> float:
        """Seconds since this object was made, at the beginning of the call."""
        return self._clock() - self._begin_time

    @property
    def remaining_ms(self) -> float:
        """Milliseconds until the caller's timeout; 0 after it."""
        return max(self._end_time - self._clock(), 0) * 1000

    @property
    def seconds_to_wait(self) -> float:
        """Seconds for which to wait for the adapter, so that time is left to inspect the stop; at least 0."""
        return max(self.seconds_to_inspect - SECONDS_TO_INSPECT / 2, 0)

    @property
    def seconds_to_inspect(self) -> float:
        """Seconds until the inspection of a stop has to end; at least 0.

        That is a little after the caller's timeout.
        """
        return max(self._end_time + SECONDS_TO_INSPECT - self._clock(), 0)


def seconds_for(arguments: Mapping[str, object]) -> float:
    """Return how many seconds a call of a tool that talks to an adapter may take.

    That is its `timeout_ms` or `wait_ms` among the `arguments` (in milliseconds) and a little more, or `SECONDS_WITHOUT_TIMEOUT`.

    >>> seconds_for({"timeout_ms": 2000}), seconds_for({"expression": "x"}), seconds_for({"wait_ms": 0})
    (2.8, 15.0, 0.8)
    """
    for name in TIMEOUTS:
        if isinstance(given := arguments.get(name), int):
            return given / 1000 + SECONDS_AFTER_TIMEOUT
    return SECONDS_WITHOUT_TIMEOUT


async def run_with_deadline(name: str, seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Await the `work` of a tool, and return its result; cancel it after `seconds`.

    `name` is the tool's, for the error. Nothing is killed: late answers of the adapter still reach the session's mirror.

    Raises:
        ToolTimeout: The time has passed.
    """
    with anyio.move_on_after(seconds):
        return await work
    raise ToolTimeout(
        f"{name} timed out after {seconds:g} s: the adapter has not answered.",
        "The session continues: check with dap_status, try again, or end it with dap_terminate.",
    )
