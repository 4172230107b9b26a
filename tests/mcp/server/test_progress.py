"""How a call tells its client that it still works."""

import asyncio

from mcp import Client

from dapeer.mcp.server.toolbox import Progress
from tests.mcp.small import in_memory
from tests.processes import LIMIT

Told = tuple[float, str | None]


class Listener:
    """A client's end of one call."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[Told] = asyncio.Queue()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        await self.told.put((progress, message))


async def test_a_message_goes_out_at_once() -> None:
    listener = Listener()
    with Progress(listener, beat=1000, title="Step") as progress:
        await progress("thread 1 runs")
    assert listener.told.get_nowait() == (1, "thread 1 runs")


async def test_of_messages_in_quick_succession_the_newest_follows() -> None:
    listener = Listener()
    async with asyncio.timeout(LIMIT):
        with Progress(listener, beat=1000, title="Step") as progress:
            for text in ("one", "two", "three", "four"):
                await progress(text)
            assert await listener.told.get() == (1, "one")
            assert await listener.told.get() == (2, "four")
            assert listener.told.empty()


async def test_a_silent_call_repeats_its_newest_message_and_the_number_increases() -> None:
    listener = Listener()
    async with asyncio.timeout(LIMIT):
        with Progress(listener, beat=0.01, title="Step") as progress:
            assert await listener.told.get() == (1, "Step")
            await progress("a line of output")
            while (told := await listener.told.get())[1] == "Step":
                pass
            number = told[0]
            assert told == (number, "a line of output")
            assert await listener.told.get() == (number + 1, "a line of output")


async def test_after_the_call_nothing_is_sent() -> None:
    listener = Listener()
    with Progress(listener, beat=0, title="Step"):
        pass
    await asyncio.sleep(0)
    assert listener.told.empty()


async def test_a_client_that_does_not_read_is_sent_one_message_at_a_time() -> None:
    begun: list[float] = []

    async def never(progress: float, total: float | None, message: str | None) -> None:
        del total, message
        begun.append(progress)
        await asyncio.Event().wait()

    with Progress(never, beat=0, title="Step"):
        for _ in range(50):
            await asyncio.sleep(0)
    assert begun == [1]


async def test_a_long_call_has_a_heartbeat() -> None:
    listener = Listener()
    async with (
        asyncio.timeout(LIMIT),
        in_memory(heartbeat=0.01) as server,
        Client(server, mode="legacy") as client,
        asyncio.TaskGroup() as tasks,
    ):
        arguments = {"tag": "heartbeat"}
        call = tasks.create_task(
            client.call_tool("small_wait", arguments, progress_callback=listener)
        )
        first, second = await listener.told.get(), await listener.told.get()
        assert first[0] < second[0]
        assert second[1] == "Wait"
        call.cancel()
