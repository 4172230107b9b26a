"""What one task hands to another."""

import anyio
import anyio.lowlevel
import pytest

from dapeer.base.system.tasks import Answer, Mailbox, all_of
from tests.processes import LIMIT


async def test_an_answer_is_given_once_to_all_who_wait_also_when_one_no_longer_waits() -> None:
    answer = Answer[int]()
    with anyio.move_on_after(0):
        await answer.wait()
    assert not answer.is_given
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer.wait_until_given)
        await anyio.lowlevel.checkpoint()
        answer.give(1)
        answer.give(2)
        answer.fail(KeyError())
    with anyio.fail_after(LIMIT):
        assert await all_of([answer.wait(), answer.wait()]) == [1, 1]


async def test_an_answer_that_fails_raises_where_it_is_waited_for() -> None:
    answer = Answer[int]()
    answer.fail(KeyError("x"))
    answer.give(1)
    for _ in range(2):
        with pytest.raises(KeyError, match="x"):
            await answer.wait()


async def test_a_mailbox_gives_what_has_come_in_order_also_after_its_end() -> None:
    mailbox = Mailbox[int]()
    taken: list[int] = []

    async def take() -> None:
        while True:
            try:
                taken.append(await mailbox.take())
            except anyio.EndOfStream:
                return

    with anyio.fail_after(LIMIT):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(take)
            tasks.start_soon(take)
            await anyio.lowlevel.checkpoint()
            mailbox.put(1)
            mailbox.put(2)
            await anyio.lowlevel.checkpoint()
            mailbox.put(3)
            mailbox.end()
            assert mailbox
    assert taken == [1, 2, 3]
    assert not mailbox
