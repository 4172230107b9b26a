"""Tasks: side by side in a block, or in the background of an object that lives in no block.

anyio has no task that belongs to an object, and no timer. Those of asyncio are used here, and nowhere else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from typing import Any, Generic, TypeVar

import anyio
from anyio.abc import TaskGroup

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
    """Yield a task group that raises the first failure of its tasks itself, not an exception group.

    As in any group of anyio, a failure cancels the other tasks, and the exit waits for all.
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
