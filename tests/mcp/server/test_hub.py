"""How changes reach the clients."""

import asyncio
from collections.abc import Callable

import pytest
from mcp.server.connection import Connection
from mcp.server.subscriptions import (
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.dispatcher import CallOptions

from dapeer.mcp.server.hub import Hub, events_of_change
from dapeer.sessions.debugger.registry import SessionChange
from tests.processes import LIMIT

OUTPUT = "debug://sessions/1/output"


class Outbound:
    """The far end of a connection: keeps what it is sent, while it reads."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[tuple[str, object]] = asyncio.Queue()
        self.reading = asyncio.Event()
        self.reading.set()

    async def notify(self, method: str, params: object, opts: CallOptions | None = None) -> None:
        del opts
        await self.reading.wait()
        await self.sent.put((method, params))

    async def send_raw_request(
        self, method: str, params: object, opts: CallOptions | None = None
    ) -> dict[str, object]:
        raise NotImplementedError


def listener() -> tuple[Callable[[ServerEvent], None], asyncio.Queue[ServerEvent]]:
    heard: asyncio.Queue[ServerEvent] = asyncio.Queue()
    return heard.put_nowait, heard


@pytest.mark.parametrize(
    ("change", "meaning"),
    [
        (
            SessionChange("sessions", 1),
            (ResourcesListChanged(), ResourceUpdated("debug://sessions")),
        ),
        (
            SessionChange("state", 2),
            (ResourceUpdated("debug://sessions"), ResourceUpdated("debug://sessions/2")),
        ),
        (SessionChange("output", 3), (ResourceUpdated("debug://sessions/3/output"),)),
        # Whether other tools are of use now is for the toolbox to say.
        (SessionChange("capabilities", 4), ()),
    ],
)
def test_a_change_has_a_meaning_to_clients(
    change: SessionChange, meaning: tuple[ServerEvent, ...]
) -> None:
    assert events_of_change(change) == meaning


async def test_a_hundred_thousand_changes_are_two_events() -> None:
    hub = Hub()
    listen, heard = listener()
    hub.subscribe(listen)
    async with asyncio.timeout(LIMIT):
        hub.note_session_change(SessionChange("output", 1))
        assert await heard.get() == ResourceUpdated(OUTPUT)
        for _ in range(100_000):
            hub.note_session_change(SessionChange("output", 1))
        assert await heard.get() == ResourceUpdated(OUTPUT)
        hub.note_session_change(SessionChange("state", 1))
        assert await heard.get() == ResourceUpdated("debug://sessions")


async def test_changes_after_one_that_a_listener_has_failed_at_are_told() -> None:
    hub = Hub()
    failed = asyncio.Event()

    def fail(_: ServerEvent) -> None:
        failed.set()
        raise ValueError("a fault of a listener")

    def heed_not(_loop: object, _context: object) -> None:
        """Leave the fault out of the test's output."""

    asyncio.get_running_loop().set_exception_handler(heed_not)
    async with asyncio.timeout(LIMIT):
        stop = hub.subscribe(fail)
        hub.note(ToolsListChanged())
        await failed.wait()
        stop()
        listen, heard = listener()
        hub.subscribe(listen)
        hub.note(ResourcesListChanged())
        assert await heard.get() == ResourcesListChanged()


async def test_who_has_unsubscribed_hears_nothing() -> None:
    hub = Hub()
    (early, nothing), (late, something) = listener(), listener()
    hub.subscribe(early)()
    hub.subscribe(late)
    await hub.publish(ToolsListChanged())
    assert something.get_nowait() == ToolsListChanged()
    assert nothing.empty()


async def test_a_connection_is_told_of_lists_and_of_what_it_has_subscribed_to() -> None:
    hub, outbound = Hub(), Outbound()
    connection = Connection.for_loop(outbound)
    async with asyncio.timeout(LIMIT), connection.exit_stack:
        hub.subscriber_of(connection).uris.add(OUTPUT)
        await hub.publish(ResourceUpdated("debug://sessions/9"))
        await hub.publish(ResourceUpdated(OUTPUT))
        await hub.publish(ResourcesListChanged())
        assert await outbound.sent.get() == ("notifications/resources/updated", {"uri": OUTPUT})
        assert (await outbound.sent.get())[0] == "notifications/resources/list_changed"
        assert outbound.sent.empty()


async def test_a_client_that_does_not_read_holds_up_nobody_and_gets_each_news_once() -> None:
    hub, slow, quick = Hub(), Outbound(), Outbound()
    slow.reading.clear()
    connections = [Connection.for_loop(slow), Connection.for_loop(quick)]
    async with (
        asyncio.timeout(LIMIT),
        connections[0].exit_stack,
        connections[1].exit_stack,
    ):
        for connection in connections:
            hub.subscriber_of(connection)
        for _ in range(1000):
            await hub.publish(ToolsListChanged())
            assert (await quick.sent.get())[0] == "notifications/tools/list_changed"
        slow.reading.set()
        await hub.publish(ResourcesListChanged())
        told = [(await slow.sent.get())[0] for _ in range(3)]
        assert told == [
            "notifications/tools/list_changed",
            "notifications/tools/list_changed",
            "notifications/resources/list_changed",
        ]


async def test_a_closed_connection_is_forgotten() -> None:
    hub, outbound = Hub(), Outbound()
    connection = Connection.for_loop(outbound, session_id="abc")
    async with connection.exit_stack:
        hub.subscriber_of(connection)
    await hub.publish(ToolsListChanged())
    hub.repeat_missed("abc")
    assert outbound.sent.empty()
    assert len(asyncio.all_tasks()) == 1


async def test_a_stream_that_opens_late_is_told_what_it_has_missed() -> None:
    hub, outbound = Hub(), Outbound()
    connection = Connection.for_loop(outbound, session_id="abc")
    async with asyncio.timeout(LIMIT), connection.exit_stack:
        hub.subscriber_of(connection)
        hub.repeat_missed("abc")
        await hub.publish(ToolsListChanged())
        assert (await outbound.sent.get())[0] == "notifications/tools/list_changed"
        hub.repeat_missed("abc")
        hub.repeat_missed("another")
        assert (await outbound.sent.get())[0] == "notifications/tools/list_changed"
