"""Tasks side by side, and in the background."""

import logging
import sys

import anyio
import anyio.lowlevel
import pytest

from dapeer.base.system.tasks import BackgroundTask, all_of, first_of
from dapeer.base.system.threads import in_thread
from tests.processes import LIMIT


async def _return(value: int, turns: int = 0) -> int:
    for _ in range(turns):
        await anyio.lowlevel.checkpoint()
    return value


async def _fail() -> int:
    raise KeyError("x")


async def test_all_results_come_in_order() -> None:
    with anyio.fail_after(LIMIT):
        assert await all_of(_return(each, 3 - each) for each in range(4)) == [0, 1, 2, 3]
        assert await all_of(()) == []


async def test_the_first_failure_is_raised_as_it_is_and_cancels_the_others() -> None:
    ended = anyio.Event()

    async def wait() -> int:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        return 0

    with anyio.fail_after(LIMIT), pytest.raises(KeyError, match="x"):
        await all_of([wait(), _fail()])
    assert ended.is_set()
    with anyio.fail_after(LIMIT), pytest.raises(KeyError, match="x"):
        await first_of(wait, _fail)


async def test_the_first_that_returns_ends_the_others() -> None:
    with anyio.fail_after(LIMIT):
        await first_of(anyio.sleep_forever, lambda: _return(1), anyio.sleep_forever)


async def test_who_stops_waiting_for_a_task_does_not_cancel_it() -> None:
    go_on = anyio.Event()
    task = BackgroundTask(go_on.wait())
    with anyio.move_on_after(0):
        await task.wait_for_end()
    assert not task.done
    go_on.set()
    with anyio.fail_after(LIMIT):
        await task.wait_for_end()
    assert task.done


async def test_the_failure_of_a_task_is_logged_unless_somebody_waits_for_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR), anyio.fail_after(LIMIT):
        task = BackgroundTask(_fail())
        await task.wait_for_end()
        with pytest.raises(KeyError):
            task.result()
        assert not caplog.records
        BackgroundTask(_fail())
        await anyio.wait_all_tasks_blocked()
        await anyio.lowlevel.checkpoint()
    assert [record.exc_info and record.exc_info[0] for record in caplog.records] == [KeyError]


async def test_an_end_that_work_in_a_thread_asks_for_reaches_the_caller() -> None:
    with anyio.fail_after(LIMIT), pytest.raises(SystemExit, match="3"):
        await in_thread(sys.exit, 3)


async def test_an_iterator_that_ends_in_a_thread_leaves_no_caller_waiting() -> None:
    with anyio.fail_after(LIMIT), pytest.raises(RuntimeError, match="StopIteration"):
        await in_thread(next, iter(()))
