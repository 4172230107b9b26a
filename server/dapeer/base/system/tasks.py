"""Tasks: side by side, or in the background of an object; how one waits for others.

anyio has no task that belongs to an object, and no timer. Those of asyncio are used here, and nowhere else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import anyio
from anyio.abc import TaskGroup

from dapeer.base.errors import DapeerError

log = logging.getLogger(__name__)

T = TypeVar("T")

Timer = asyncio.TimerHandle

_running: set[asyncio.Task[Any]] = set()
"""A loop itself does not keep its tasks alive."""


def call_after(seconds: float, call: Callable[[], object]) -> Timer:
    """Call a function once after so many seconds, in the running loop, unless the timer is cancelled."""
    return asyncio.get_running_loop().call_later(seconds, call)


class BackgroundTask(Generic[T]):
    """Work that goes on beside who has started it; its failure is logged, unless somebody waits."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        """Start the coroutine `work` as a task at once."""
        self._task = asyncio.create_task(work)
        self._is_awaited = False
        _running.add(self._task)
        self._task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[T]) -> None:
        _running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not self._is_awaited:
            log.error("a task has failed", exc_info=error)

    @property
    def done(self) -> bool:
        """Whether the task has ended: returned, failed, or was cancelled."""
        return self._task.done()

    def result(self) -> T:
        """Return what the task has returned, or raise what it has raised; only once it is `done`."""
        return self._task.result()

    def cancel(self) -> None:
        """Cancel the task; `wait_for_end` waits until it has ended."""
        self._task.cancel()

    async def wait_for_end(self) -> None:
        """Wait until the task has ended, without raising or logging its failure; a cancelled wait leaves it."""
        self._is_awaited = True
        await asyncio.wait({self._task})


@contextlib.asynccontextmanager
async def _group() -> AsyncGenerator[TaskGroup]:
    """Yield a task group that raises the first failure in it itself, not an exception group.

    A failure is an `Exception` of a task or of the body of the `with`. As in any group of anyio, a failure cancels
    the other tasks, and the exit waits for all; further failures are dropped. A group with a `BaseException` that
    is no `Exception`, such as `KeyboardInterrupt`, is raised as the group that it is.
    """
    failure: Exception | None = None
    try:
        async with anyio.create_task_group() as tasks:
            yield tasks
    except ExceptionGroup as failures:
        failure = failures.exceptions[0]
    if failure is not None:
        raise failure


async def first_of(*works: Callable[[], Awaitable[object]]) -> None:
    """Call these functions side by side until the first returns or raises; cancel and await the others.

    What it raises is raised here; what it returns is dropped. Without functions it returns at once.
    """
    async with _group() as tasks:

        async def one(work: Callable[[], Awaitable[object]]) -> None:
            await work()
            tasks.cancel_scope.cancel()

        for work in works:
            tasks.start_soon(one, work)


async def all_of(works: Iterable[Awaitable[T]]) -> list[T]:
    """Await all `works` side by side, and return their results in the order of `works`.

    The first failure is raised, and cancels the others.
    """
    results: dict[int, T] = {}

    async def one(number: int, work: Awaitable[T]) -> None:
        results[number] = await work

    async with _group() as tasks:
        for number, work in enumerate(works):
            tasks.start_soon(one, number, work)
    return [results[number] for number in sorted(results)]


# For what a task waits: an answer, a mailbox, or a predicate that becomes true.

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

        `seconds` None waits without a limit. The predicate is evaluated at once, whenever `wake` is called, and at the
        end of the time; when True is returned, it may have become false again. What it raises at the beginning or at
        the end leaves this function; what it raises in a `wake` leaves `wake`, and the wait goes on.
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

    `end` itself cannot be cancelled by it, and has no time limit. A `DapeerError` that `end` raises is
    ignored; another error leaves in place of the cancellation.
    """
    try:
        yield
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True), contextlib.suppress(DapeerError):
            await end(whom)
        raise
