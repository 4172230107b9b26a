"""Requests, their responses, and who sees what when."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import pytest

from dapeer.base.errors import ChannelClosed, RequestFailed, RequestTimeout
from dapeer.dap.channel import Channel, body_of
from dapeer.dap.messages import Body, Event, Message, Request, Response
from dapeer.dap.transport import Transport
from tests.processes import LIMIT
from tests.transports import transport_pair


@dataclass
class Wire:
    """A running channel, the adapter's end of it, and all that the observer saw."""

    channel: Channel
    adapter: Transport
    seen: list[Message] = field(default_factory=list[Message])

    async def asked(self) -> Request:
        """Return the next request that reaches the adapter."""
        request = await self.adapter.receive()
        assert isinstance(request, Request)
        return request

    async def answer(self, request: Request, body: Body | None = None) -> None:
        response = Response(request.seq, request.command, success=True, body=body or {}, seq=90)
        await self.adapter.send(response)


async def refuse(request: Request) -> Body:
    if request.command == "runInTerminal":
        return {"processId": 7}
    raise RequestFailed(request.command, f"no {request.command} here")


@asynccontextmanager
async def wire() -> AsyncGenerator[Wire]:
    seen: list[Message] = []
    ours, adapter = transport_pair()

    def observe(message: Message) -> None:
        if message == Event("odd"):
            raise KeyError
        seen.append(message)

    channel = Channel(ours, observe, refuse)
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(channel.run())
        yield Wire(channel, adapter, seen)
        await adapter.aclose()
        await running
        await ours.aclose()


async def test_a_request_returns_the_body_of_its_response() -> None:
    async with wire() as w, asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(w.channel.request("threads"))
        request = await w.asked()
        await w.answer(request, {"threads": []})
        assert await asking == {"threads": []}
        assert (request.seq, request.command) == (1, "threads")


async def test_responses_may_come_in_any_order() -> None:
    async with wire() as w, asyncio.TaskGroup() as tasks:
        first = tasks.create_task(w.channel.request("evaluate", {"expression": "1"}))
        second = tasks.create_task(w.channel.request("evaluate", {"expression": "2"}))
        requests = [await w.asked(), await w.asked()]
        for request in reversed(requests):
            await w.answer(request, {"result": request.arguments["expression"]})
        assert (await first, await second) == ({"result": "1"}, {"result": "2"})


async def test_the_observer_sees_a_response_before_the_waiter_wakes() -> None:
    async with wire() as w, asyncio.TaskGroup() as tasks:

        async def ask() -> Message:
            await w.channel.request("threads")
            return w.seen[-1]

        asking = tasks.create_task(ask())
        await w.answer(await w.asked())
        last = await asking
        assert isinstance(last, Response)
        assert last.command == "threads"


async def test_the_observer_sees_both_directions_in_order() -> None:
    async with wire() as w, asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(w.channel.request("next", {"threadId": 1}))
        request = await w.asked()
        await w.adapter.send(Event("continued", {"threadId": 1}))
        # The stop comes before the response of the step that caused it.
        await w.adapter.send(Event("stopped", {"reason": "step"}))
        await w.answer(request)
        await asking
        response = Response(1, "next", success=True, arguments={"threadId": 1}, seq=90)
        assert w.seen == [
            Request(1, "next", {"threadId": 1}),
            Event("continued", {"threadId": 1}),
            Event("stopped", {"reason": "step"}),
            response,
        ]


async def test_a_response_without_a_command_gets_that_of_its_request() -> None:
    async with wire() as w, asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(w.channel.request("threads"))
        request = await w.asked()
        await w.adapter.send(Response(request.seq, "", success=True))
        await asking
        seen = w.seen[-1]
        assert isinstance(seen, Response)
        assert seen.command == "threads"


async def test_the_answer_to_another_clients_request_is_observed_only() -> None:
    async with wire() as w, asyncio.TaskGroup() as tasks:
        await w.adapter.send(Request(-7, "next"))
        await w.adapter.send(Response(-7, "next", success=True))
        asking = tasks.create_task(w.channel.request("threads"))
        await w.answer(await w.asked())
        await asking
        assert Response(-7, "next", success=True) in w.seen


async def test_a_second_answer_and_one_that_nobody_asked_for_are_dropped() -> None:
    async with wire() as w, asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(w.channel.request("threads"))
        request = await w.asked()
        await w.answer(request)
        await w.answer(request)
        await w.adapter.send(Response(99, "next", success=True))
        await asking
        again = tasks.create_task(w.channel.request("scopes"))
        await w.answer(await w.asked())
        await again
        assert [type(message) for message in w.seen] == [Request, Response, Request, Response]


async def test_a_message_that_the_observer_cannot_take_in_costs_that_message_only() -> None:
    async with wire() as w, asyncio.TaskGroup() as tasks:
        await w.adapter.send(Event("odd"))
        asking = tasks.create_task(w.channel.request("threads"))
        await w.answer(await w.asked())
        await asking
        assert w.channel.fault == "dapeer could not process its event odd"


async def test_a_failed_response_raises_with_the_words_of_the_adapter() -> None:
    async with wire() as w, asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(_failure(w.channel, "evaluate"))
        request = await w.asked()
        await w.adapter.send(
            Response(request.seq, "", success=False, message="NameError: name 'x' is not defined")
        )
        error = await asking
    assert isinstance(error, RequestFailed)
    assert error.command == "evaluate"
    assert "NameError: name 'x' is not defined" in str(error)


async def test_no_answer_in_time_raises_and_the_late_one_is_still_observed() -> None:
    async with wire() as w, asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(_failure(w.channel, "variables", seconds=0.01))
        request = await w.asked()
        assert isinstance(await asking, RequestTimeout)
        await w.answer(request, {"variables": []})
        again = tasks.create_task(w.channel.request("threads"))
        await w.answer(await w.asked())
        await again
        assert w.seen[1] == Response(1, "variables", success=True, body={"variables": []}, seq=90)


async def test_a_caller_that_was_cancelled_leaves_the_channel_usable() -> None:
    async with wire() as w, asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(w.channel.request("evaluate"))
        request = await w.asked()
        asking.cancel()
        await w.answer(request)
        again = tasks.create_task(w.channel.request("threads"))
        await w.answer(await w.asked(), {"threads": []})
        assert await again == {"threads": []}


async def test_every_waiter_fails_when_the_wire_dies() -> None:
    async with wire() as w, asyncio.TaskGroup() as tasks:
        waiting = [tasks.create_task(_failure(w.channel, name)) for name in ("a", "b", "c")]
        _, sent = await w.channel.send("d")
        for _ in range(4):
            await w.asked()
        await w.adapter.aclose()
        assert [type(await task) for task in waiting] == [ChannelClosed] * 3
        with pytest.raises(ChannelClosed, match="`d`"):
            await sent.wait()


async def test_a_request_after_the_end_fails_at_once() -> None:
    async with wire() as w:
        await w.adapter.aclose()
        await w.channel.closed_event.wait()
        with pytest.raises(ChannelClosed, match="`threads`"):
            await w.channel.request("threads")


async def test_a_waiter_that_nobody_awaits_leaves_no_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        async with wire() as w:
            await w.channel.send("launch")
            await w.adapter.aclose()
            await w.channel.closed_event.wait()
    assert not caplog.records


async def test_waiters_fail_when_the_channel_is_cancelled() -> None:
    ours, adapter = transport_pair()
    channel = Channel(ours, lambda _: None, refuse)
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(channel.run())
        waiting = tasks.create_task(_failure(channel, "threads"))
        await adapter.receive()
        running.cancel()
        assert isinstance(await waiting, ChannelClosed)
    await ours.aclose()
    await adapter.aclose()


async def test_a_request_of_the_adapter_is_answered() -> None:
    async with wire() as w:
        await w.adapter.send(Request(5, "runInTerminal", {"args": ["x"]}))
        answer = await w.adapter.receive()
        assert isinstance(answer, Response)
        assert (answer.request_seq, answer.success, answer.body) == (5, True, {"processId": 7})
        assert w.seen[0] == Request(5, "runInTerminal", {"args": ["x"]})
        assert w.seen[1] == answer


async def test_a_request_of_the_adapter_that_is_unknown_is_refused() -> None:
    async with wire() as w:
        await w.adapter.send(Request(5, "makeCoffee"))
        answer = await w.adapter.receive()
        assert isinstance(answer, Response)
        assert (answer.success, answer.message) == (False, "no makeCoffee here")


async def test_receiving_goes_on_while_a_request_of_the_adapter_is_answered() -> None:
    held = anyio.Event()

    async def wait(_: Request) -> Body:
        await held.wait()
        return {}

    ours, adapter = transport_pair()
    channel = Channel(ours, lambda _: None, wait)
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(channel.run())
        await adapter.send(Request(1, "startDebugging"))
        asking = tasks.create_task(channel.request("threads"))
        request = await adapter.receive()
        assert isinstance(request, Request)
        await adapter.send(Response(request.seq, "threads", success=True))
        assert await asking == {}
        held.set()
        answer = await adapter.receive()
        assert isinstance(answer, Response)
        assert answer.request_seq == 1
        await adapter.aclose()
        await running
    await ours.aclose()


async def test_our_numbers_rise_across_requests_and_answers() -> None:
    async with wire() as w:
        await w.channel.send("initialize")
        await w.adapter.send(Request(1, "runInTerminal"))
        numbers = [(await w.adapter.receive()).seq, (await w.adapter.receive()).seq]
        await w.channel.send("threads")
        numbers.append((await w.adapter.receive()).seq)
        assert numbers == sorted(set(numbers))


def test_the_body_of_a_success_is_its_body() -> None:
    assert body_of(Response(1, "threads", success=True, body={"threads": []})) == {"threads": []}


async def _failure(channel: Channel, command: str, seconds: float = LIMIT) -> Exception:
    try:
        await channel.request(command, seconds=seconds)
    except (RequestFailed, RequestTimeout, ChannelClosed) as error:
        return error
    raise AssertionError
