"""Waits for a predicate."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import anyio

from dapeer.base.errors import Overdue

Predicate = Callable[[], bool]
WaitFor = Callable[[Predicate, float | None], Awaitable[bool]]
"""Waits until a predicate is true, or for so many seconds; returns whether it is."""


@dataclass(slots=True, eq=False)
class _Waiter:
    predicate: Predicate
    woken: anyio.Event


class Waiters:
    """The callers that wait until a predicate is true; `wake` evaluates the predicates.

    It is cheap without waiters, so it may be called after every message.
    """

    def __init__(self) -> None:
        self._waiting: list[_Waiter] = []

    def wake(self) -> None:
        """Wake the waiters whose predicate has become true."""
        for waiter in self._waiting:
            if not waiter.woken.is_set() and waiter.predicate():
                waiter.woken.set()

    async def wait_for(self, predicate: Predicate, seconds: float | None) -> bool:
        """Wait until `predicate` is true; False when `seconds` pass first (None: no limit)."""
        if predicate():
            return True
        waiter = _Waiter(predicate, anyio.Event())
        self._waiting.append(waiter)
        try:
            with anyio.fail_after(seconds):
                await waiter.woken.wait()
        except TimeoutError:
            return predicate()
        else:
            return True
        finally:
            self._waiting.remove(waiter)


Of = TypeVar("Of")


@contextlib.asynccontextmanager
async def unless_cancelled(end: Callable[[Of], Awaitable[None]], whom: Of) -> AsyncGenerator[None]:
    """Run the body; if it is cancelled and was the last waiter, `end` the work."""
    try:
        yield
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True), contextlib.suppress(Overdue):
            await end(whom)
        raise
