"""Waiting until something is true, without asking again and again."""

import asyncio

import pytest

from dapeer.base.system.tasks import Waiters
from tests.processes import LIMIT


class Door:
    """Something that can be true, and counts how often it was asked."""

    def __init__(self) -> None:
        self.open = False
        self.asked = 0

    def __call__(self) -> bool:
        self.asked += 1
        return self.open


async def started(task: asyncio.Task[bool]) -> asyncio.Task[bool]:
    """Let a task run until it waits."""
    await asyncio.sleep(0)
    return task


async def test_what_is_true_already_is_not_waited_for() -> None:
    assert await Waiters().wait_for(lambda: True, 0)


async def test_who_waits_is_woken_when_it_becomes_true() -> None:
    waiters, door = Waiters(), Door()
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as tasks:
        waiting = await started(tasks.create_task(waiters.wait_for(door, None)))
        waiters.wake()
        assert not waiting.done()
        door.open = True
        waiters.wake()
        assert await waiting


async def test_it_stays_true_for_who_was_woken_even_when_it_is_over_by_then() -> None:
    waiters, door = Waiters(), Door()
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as tasks:
        waiting = await started(tasks.create_task(waiters.wait_for(door, None)))
        door.open = True
        waiters.wake()
        door.open = False
        assert await waiting


async def test_each_who_waits_is_woken_by_its_own_predicate() -> None:
    waiters, one, two = Waiters(), Door(), Door()
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as tasks:
        first = await started(tasks.create_task(waiters.wait_for(one, None)))
        second = await started(tasks.create_task(waiters.wait_for(two, None)))
        one.open = True
        waiters.wake()
        assert await first
        assert not second.done()
        two.open = True
        waiters.wake()
        assert await second


async def test_time_that_passes_first_is_false() -> None:
    assert not await Waiters().wait_for(lambda: False, 0)


async def test_what_became_true_without_a_word_is_found_at_the_end_of_the_time() -> None:
    answers = iter((False, True))
    assert await Waiters().wait_for(lambda: next(answers), 0)


async def test_nobody_is_asked_unless_something_happens() -> None:
    waiters, door = Waiters(), Door()
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as tasks:
        waiting = await started(tasks.create_task(waiters.wait_for(door, None)))
        assert door.asked == 1
        waiters.wake()
        assert door.asked == 2
        door.open = True
        waiters.wake()
        await waiting
        assert door.asked == 3


async def test_who_gives_up_is_not_asked_again() -> None:
    waiters, door = Waiters(), Door()
    waiting = await started(asyncio.create_task(waiters.wait_for(door, None)))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    waiters.wake()
    assert door.asked == 1


async def test_waking_more_often_than_needed_is_harmless() -> None:
    waiters, door = Waiters(), Door()
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as tasks:
        waiting = await started(tasks.create_task(waiters.wait_for(door, None)))
        door.open = True
        waiters.wake()
        waiters.wake()
        assert await waiting
