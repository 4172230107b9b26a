"""Work that is begun before it is awaited."""

import asyncio

import pytest

from dapeer.base.begun import Begun


async def test_what_waits_for_nothing_is_done_when_it_is_begun() -> None:
    async def known() -> int:
        return 3

    begun = Begun(known())
    assert not begun.waits
    assert await begun == 3


async def test_what_fails_before_it_waits_fails_when_it_is_begun() -> None:
    async def failing() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Begun(failing())


async def test_what_waits_goes_on_where_it_was_and_may_wait_again() -> None:
    done: list[str] = []

    async def waiting() -> str:
        done.append("begun")
        await asyncio.sleep(0)
        done.append("woken")
        return await asyncio.get_running_loop().run_in_executor(None, lambda: "answer")

    begun = Begun(waiting())
    assert (begun.waits, done) == (True, ["begun"])
    assert await begun == "answer"
    assert done == ["begun", "woken"]


async def test_what_waits_may_fail_and_be_cancelled() -> None:
    async def failing() -> None:
        await asyncio.sleep(0)
        raise ZeroDivisionError

    async def waiting() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "cancelled"
        return "woken"

    with pytest.raises(ZeroDivisionError):
        await Begun(failing())
    begun = Begun(waiting())

    async def rest() -> str:
        return await begun

    task = asyncio.create_task(rest())
    await asyncio.sleep(0)
    task.cancel()
    assert await task == "cancelled"


async def test_time_outs_within_and_around_it_end_what_they_are_for() -> None:
    async def within() -> str:
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            await asyncio.Event().wait()
        return "never"

    begun = Begun(within())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await begun
    current = asyncio.current_task()
    assert current is not None
    assert current.cancelling() == 0
