"""What an adapter answers before it is asked, and when that is used."""

import asyncio
from collections.abc import Iterable
from contextlib import aclosing

import pytest
from anyio.lowlevel import checkpoint

from dapeer.adapters.definition.quirks import Quirks
from dapeer.adapters.process.ahead import AHEAD, Ahead
from dapeer.adapters.process.normalize import NormalizedTransport
from dapeer.dap.messages import Body, Event, Message, Request, Response
from dapeer.dap.transport import transport_pair
from tests.processes import LIMIT

STACK = {"threadId": 1, "startFrame": 0, "levels": 20}
LOOK: tuple[tuple[str, Body, Body], ...] = (
    ("stackTrace", STACK, {"stackFrames": [{"id": 7}, {"id": 8}]}),
    ("scopes", {"frameId": 8}, {"scopes": [{"variablesReference": 3}, {"variablesReference": 4}]}),
    ("variables", {"variablesReference": 4}, {"variables": []}),
)
PATTERN = {"stackTrace": {"startFrame": 0, "levels": 20}, "frame": 1, "scopes": [1]}
COMING = ["stackTrace", "scopes", "variables"]
LAST = Event(AHEAD, {"last": True})


def stopped(**more: object) -> Event:
    return Event("stopped", {"threadId": 1, **more})


def answer(command: str, arguments: Body, body: Body) -> Event:
    told = {"command": command, "arguments": arguments, "success": True, "body": body}
    return Event(AHEAD, {"answers": [told]})


def heard(ahead: Ahead, *messages: Message) -> list[Message]:
    """Return what the client gets of messages."""
    return [each for message in messages for each in ahead.heard(message)]


def sent(ahead: Ahead, command: str, arguments: Body = STACK, seq: int = 1) -> list[Message]:
    """Return what comes of a request: the adapter's request, the client's response, or nothing."""
    return [*ahead.sent(Request(seq, command, arguments))]


def looked() -> Ahead:
    """Return what is known after a client has looked at a stop."""
    ahead = Ahead()
    assert heard(ahead, stopped()) == [stopped()]
    for seq, (command, arguments, body) in enumerate(LOOK):
        assert sent(ahead, command, arguments, seq) == [Request(seq, command, arguments)]
        response = Response(seq, command, success=True, body=body)
        assert heard(ahead, response) == [response]
    return ahead


def resumed() -> Ahead:
    """Return the same, when the program runs again."""
    ahead = looked()
    ((request),) = sent(ahead, "next", {"threadId": 1})
    assert isinstance(request, Request)
    assert request.arguments == {"threadId": 1, AHEAD: PATTERN}
    return ahead


def names(messages: Iterable[Message]) -> list[tuple[str, str]]:
    return [
        (type(each).__name__, each.event if isinstance(each, Event) else each.command)
        for each in messages
    ]


def test_a_look_that_is_answered_ahead_does_not_reach_the_adapter_and_goes_on_at_the_next_stop() -> (
    None
):
    ahead = resumed()
    events = [answer(*each) for each in LOOK]
    assert heard(ahead, stopped(**{AHEAD: COMING}), *events, LAST) == [stopped()]
    for command, arguments, body in LOOK:
        (response,) = sent(ahead, command, arguments, 9)
        assert isinstance(response, Response)
        assert (response.request_seq, response.success) == (9, True)
        assert response.body.keys() == body.keys()
    (request,) = sent(ahead, "continue", {"threadId": 1})
    assert isinstance(request, Request)
    assert request.arguments[AHEAD] == PATTERN


def told_unasked(ahead: Ahead) -> list[tuple[str, Body]]:
    """Return what the client is told without asking: by the question, which comes before its answer."""
    told = list(ahead.unasked())
    assert all(isinstance(each, Request) and each.seq < 0 for each in told[::2])
    assert all(isinstance(each, Response) and each.success for each in told[1::2])
    pairs = zip(told[::2], told[1::2], strict=True)
    return [
        (one.command, other.arguments)
        for one, other in pairs
        if isinstance(one, Request) and isinstance(other, Response)
        and one.seq == other.request_seq
    ]  # fmt: skip


def test_who_asks_for_the_stack_is_told_of_the_innermost_frame_without_asking() -> None:
    look = [LOOK[0], ("scopes", {"frameId": 7}, LOOK[1][2]), LOOK[2]]
    ahead = resumed()
    events = [answer(*each) for each in look]
    heard(ahead, stopped(**{AHEAD: COMING}), *events, LAST)
    assert told_unasked(ahead) == [], "it may not look at this stop"
    assert names(sent(ahead, "stackTrace")) == [("Response", "stackTrace")]
    assert told_unasked(ahead) == [(command, arguments) for command, arguments, _ in look[1:]]
    assert told_unasked(ahead) == []
    # It may have sent this before it has read what it was told.
    assert names(sent(ahead, "variables", look[2][1])) == [("Response", "variables")]
    assert names(sent(ahead, "variables", look[2][1])) == [("Request", "variables")]
    # What it asks for later is no part of a look.
    sent(ahead, "variables", {"variablesReference": 3})
    ((request),) = sent(ahead, "next", {"threadId": 1})
    assert isinstance(request, Request)
    assert request.arguments[AHEAD] == {**PATTERN, "frame": 0}


def test_another_frame_is_told_only_when_it_is_asked_for() -> None:
    ahead = resumed()
    heard(ahead, stopped(**{AHEAD: COMING}), *(answer(*each) for each in LOOK), LAST)
    sent(ahead, "stackTrace")
    assert told_unasked(ahead) == []
    assert names(sent(ahead, "scopes", LOOK[1][1])) == [("Response", "scopes")]
    assert told_unasked(ahead) == [("variables", LOOK[2][1])]


@pytest.mark.parametrize("event", ["continued", "invalidated", "memory"])
def test_nothing_is_told_unasked_after_something_that_may_change_it(event: str) -> None:
    ahead = resumed()
    heard(ahead, stopped(**{AHEAD: COMING}), *(answer(*each) for each in LOOK), LAST, Event(event))
    assert names(sent(ahead, "stackTrace")) == [("Request", "stackTrace")]
    assert told_unasked(ahead) == []


def test_a_question_waits_for_an_answer_that_comes_and_goes_to_the_adapter_if_none_does() -> None:
    ahead = resumed()
    heard(ahead, stopped(**{AHEAD: COMING}))
    other = {"threadId": 2}
    assert sent(ahead, "stackTrace") == sent(ahead, "stackTrace", other, 2) == []
    assert names(heard(ahead, answer(*LOOK[0]))) == [("Response", "stackTrace")]
    assert ahead.released() == []
    assert heard(ahead, LAST) == []
    assert ahead.released() == [Request(2, "stackTrace", other)]


def test_an_answer_is_used_once_and_never_after_something_that_may_change_it() -> None:
    ahead = resumed()
    heard(ahead, stopped(**{AHEAD: COMING}), *(answer(*each) for each in LOOK))
    assert names(sent(ahead, "stackTrace")) == [("Response", "stackTrace")]
    waiting = sent(ahead, "stackTrace", seq=2)
    assert waiting == []
    assert names(sent(ahead, "setVariable", {})) == [
        ("Request", "stackTrace"),
        ("Request", "setVariable"),
    ]
    assert names(sent(ahead, "variables", LOOK[2][1])) == [("Request", "variables")]


def test_a_stop_that_is_not_answered_ahead_is_asked_for() -> None:
    ahead = resumed()
    heard(ahead, stopped(**{AHEAD: COMING}), answer(*LOOK[0]), Event("continued"), stopped())
    assert names(sent(ahead, "stackTrace")) == [("Request", "stackTrace")]


def test_what_a_resume_cannot_repeat_is_not_asked_ahead() -> None:
    ahead = Ahead()
    heard(ahead, stopped())
    odd: list[Body] = [{}, {"frameId": [1]}, {"variablesReference": {}}, {"threadId": None}]
    for arguments in odd:
        for command in ("stackTrace", "scopes", "variables"):
            assert len(sent(ahead, command, arguments)) == 1
    assert sent(ahead, "next", {}) == [Request(1, "next", {})]


async def test_an_invalid_answer_costs_only_itself() -> None:
    adapter, inner = transport_pair()
    folded = {"dapeerFrames": {"ids": [1], "like": [5]}}
    wrong: list[Body] = [
        {"answers": [{"command": "stackTrace", "success": True, "body": folded}]},
        {"answers": [{"command": []}, 3], "last": []},
    ]
    transport = NormalizedTransport(
        inner, Quirks(answers_ahead=True), {}, stop_on_entry=False, settle=checkpoint, sent={}
    )
    async with asyncio.timeout(LIMIT), aclosing(adapter), aclosing(transport):
        for body in wrong:
            await adapter.send(Event(AHEAD, body))
        await adapter.send(Event("continued"))
        while (message := await transport.receive()) != Event("continued"):
            assert isinstance(message, Event)
            assert message.event == AHEAD
