"""Who looks first at a stop, told message by message: the person's requests have negative numbers."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from dapeer.dap.messages import Body, Request, Response
from dapeer.sessions.core.views import snapshot
from tests.peer import Wired, wired
from tests.processes import LIMIT

LOOKS = ["scopes", "stackTrace", "threads", "variables"]


@asynccontextmanager
async def stepped() -> AsyncGenerator[Wired]:
    """Have the person step to a stop that nobody looks at yet."""
    async with wired() as w:
        await w.stop()
        w.peer.requests.clear()
        await w.peer.wire.send(Request(-1, "next", {"threadId": 1}))
        await w.peer.wire.send(Response(-1, "next", success=True))
        await stops(w)
        yield w


async def stops(w: Wired) -> None:
    """Let the program stop, without a look."""
    epoch = w.session.mirror.epoch
    await w.peer.event("stopped", reason="step", threadId=1, allThreadsStopped=True)
    await w.session.wait_for(lambda: w.session.mirror.epoch > epoch, LIMIT)


async def asks(w: Wired, number: int, command: str, arguments: Body) -> None:
    """Have the person's client ask."""
    await w.peer.wire.send(Request(number, command, arguments))
    await w.session.wait_for(lambda: w.session.inspect.other_client.is_waiting, LIMIT)


async def test_a_stop_of_the_person_is_looked_at_when_somebody_asks() -> None:
    async with stepped() as w:
        assert w.peer.commands() == []
        await snapshot(w.session)
        assert sorted(w.peer.commands()) == LOOKS


async def test_an_answer_that_never_comes_keeps_nobody_from_looking_once_the_stop_is_over() -> None:
    async with stepped() as w:
        await asks(w, -2, "stackTrace", {"threadId": 1})
        looking = asyncio.create_task(snapshot(w.session))
        await w.peer.wire.send(Request(-3, "next", {"threadId": 1}))
        await w.peer.wire.send(Response(-3, "next", success=True))
        await stops(w)
        assert (await looking).get("state") == "stopped"


async def test_a_pause_that_the_assistant_asks_for_makes_the_stop_its_own() -> None:
    async with stepped() as w:
        await w.peer.wire.send(Request(-2, "continue", {"threadId": 1}))
        await w.peer.wire.send(Response(-2, "continue", success=True))
        await w.session.wait_for(lambda: w.session.mirror.stop is None, LIMIT)
        await w.session.pause(1, LIMIT)
        await w.stop()
        await w.peer.asked("variables")


async def test_what_the_persons_client_asks_is_not_asked_again_unless_its_answer_is_no_use() -> (
    None
):
    async with wired() as w:
        await w.stop()
        inspect, whole = w.session.inspect, {"variablesReference": 77}
        questions: list[tuple[Body, bool, list[str]]] = [
            (whole, True, []),
            ({**whole, "start": 1}, True, ["v78"]),
            (whole, False, ["v79"]),
        ]
        for number, (given, success, asked) in enumerate(questions):
            reference = 77 + number
            arguments = {**given, "variablesReference": reference}
            await asks(w, -2 - number, "variables", arguments)
            w.peer.requests.clear()
            looking = asyncio.create_task(inspect.variables(reference))
            told = {"variables": [{"name": "told", "value": "1", "variablesReference": 0}]}
            # What the look has sent by now it has sent without waiting.
            await w.session.request("threads")
            assert bool(w.peer.of("variables")) == ("start" in given)
            answer = Response(-2 - number, "variables", success=success, body=told)
            w.session.apply_message(replace(answer, arguments=arguments))
            names = [each["name"] for each in await looking]
            assert names == (asked or ["told"])
            assert len(w.peer.of("variables")) == len(asked)


@pytest.mark.parametrize(
    "blocked", [False, True], ids=["its editor is free", "its editor waits for a key"]
)
async def test_at_the_assistants_stop_a_question_is_left_to_a_client_that_is_about_to_ask_it(
    blocked: bool,
) -> None:
    async with wired() as w:
        await w.stop()
        w.session.inspect.other_client.is_present = True
        w.peer.requests.clear()
        await w.session.resume("next", {"threadId": 1})
        await stops(w)
        if blocked:
            await w.peer.event("dapeer.blocked")
            await snapshot(w.session)
            assert {"stackTrace", "scopes", "variables"} <= {*w.peer.commands()}
            return
        looking = asyncio.create_task(snapshot(w.session))
        frame = {"id": 9, "name": "f", "line": 1, "column": 1, "source": {"path": "/a.py"}}
        scope = {"name": "Locals", "variablesReference": 90, "expensive": False}
        told = {"name": "told", "value": "1", "variablesReference": 0}
        conversation: list[tuple[str, Body, Body]] = [
            ("stackTrace", {"threadId": 1}, {"stackFrames": [frame], "totalFrames": 1}),
            ("scopes", {"frameId": 9}, {"scopes": [scope]}),
            ("variables", {"variablesReference": 90}, {"variables": [told]}),
        ]
        for number, (command, arguments, body) in enumerate(conversation, 2):
            await asks(w, -number, command, arguments)
            answer = Response(-number, command, success=True, body=body)
            w.session.apply_message(replace(answer, arguments=arguments))
        assert (await looking).get("locals") == {"told": "1"}
        assert not {"stackTrace", "scopes", "variables"} & {*w.peer.commands()}
