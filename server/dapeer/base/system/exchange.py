"""How one task waits for others: for an answer, at a mailbox, or until a predicate is true."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import anyio

from dapeer.base.errors import ToolTimeout

T = TypeVar("T")
Predicate = Callable[[], bool]
WaitFor = Callable[[Predicate, float | None], Awaitable[bool]]
"""Waits until a predicate is true, or for so many seconds; returns whether it is."""


class Answer(Generic[T]):
    """What is given once, or fails, while others wait for it; who stops waiting disturbs nobody."""

    def __init__(self) -> None:
        self._given_event = anyio.Event()
        self._value: T
        self._error: Exception | None = None

    @property
    def is_given(self) -> bool:
        """Whether the value has been given, or has failed."""
        return self._given_event.is_set()

    def give(self, value: T) -> None:
        """Set the value and wake all who wait for it; nothing happens if it was given or has failed before."""
        if not self._given_event.is_set():
            self._value = value
            self._given_event.set()

    def fail(self, error: Exception) -> None:
        """Have all who wait for the value raise `error`; nothing happens if it was given or has failed before."""
        if not self._given_event.is_set():
            self._error = error
            self._given_event.set()

    async def wait_until_given(self) -> None:
        """Wait until the value has been given or has failed; a failure is not raised here."""
        if not self._given_event.is_set():
            await self._given_event.wait()

    async def wait(self) -> T:
        """Wait for the value and return it, or raise the error with which it failed."""
        await self.wait_until_given()
        if self._error is not None:
            raise self._error
        return self._value


class Mailbox(Generic[T]):
    """What comes, to be taken in that order. Unlike a stream of anyio, it need not be closed."""

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self._has_ended = False
        self._news_event = anyio.Event()

    def put(self, item: T) -> None:
        """Add an item at the end, and wake a waiting `take`."""
        self._items.append(item)
        self._news_event.set()

    def end(self) -> None:
        """Mark the mailbox as ended: `take` raises once it is empty."""
        self._has_ended = True
        self._news_event.set()

    def __bool__(self) -> bool:
        return bool(self._items)

    async def take(self) -> T:
        """Wait until there is an item, remove the oldest one, and return it.

        Raises:
            anyio.EndOfStream: The mailbox is empty, and `end` was called.
        """
        while not self._items:
            if self._has_ended:
                raise anyio.EndOfStream
            if self._news_event.is_set():
                self._news_event = anyio.Event()
            await self._news_event.wait()
        return self._items.popleft()


@dataclass(slots=True, eq=False)
class _Waiter:
    predicate: Predicate
    wake_event: anyio.Event


class Waiters:
    """The callers that wait until a predicate is true; `wake` evaluates the predicates.

    It is cheap without waiters, so it may be called after every message.
    """

    def __init__(self) -> None:
        self._waiting: list[_Waiter] = []

    def wake(self) -> None:
        """Evaluate the predicates of all waiters, and wake those whose predicate is true."""
        for waiter in self._waiting:
            if not waiter.wake_event.is_set() and waiter.predicate():
                waiter.wake_event.set()

    async def wait_for(self, predicate: Predicate, seconds: float | None) -> bool:
        """Wait until `predicate` is true, and return True; return False if `seconds` pass first.

        `seconds` None waits without a limit. The predicate is evaluated at once, whenever `wake` is called, and at the end of the time.
        """
        if predicate():
            return True
        waiter = _Waiter(predicate, anyio.Event())
        self._waiting.append(waiter)
        try:
            with anyio.fail_after(seconds):
                await waiter.wake_event.wait()
        except TimeoutError:
            return predicate()
        else:
            return True
        finally:
            self._waiting.remove(waiter)


@contextlib.asynccontextmanager
async def on_cancellation(end: Callable[[T], Awaitable[None]], whom: T) -> AsyncGenerator[None]:
    """Run the body; if it is cancelled, await `end(whom)` before the cancellation goes on.

    `end` itself cannot be cancelled by it, and a `ToolTimeout` that it raises is ignored.
    """
    try:
        yield
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True), contextlib.suppress(ToolTimeout):
            await end(whom)
        raise
