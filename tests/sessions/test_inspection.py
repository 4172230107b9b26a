"""Looking at a stopped program: fetched before anybody asks, else once, however many ask."""

import asyncio

import pytest

from dapeer.base.errors import NotStopped, RequestFailed
from dapeer.dap.messages import Body, Request
from dapeer.sessions.core.evaluating import evaluate
from dapeer.sessions.core.views import snapshot, view_of
from tests.peer import Answer, Refused, wired


def never(_: Request) -> Body | None:
    """Leave a request without an answer."""
    return None


def refused(_: Request) -> Body | None:
    raise Refused("cannot")


def held(*references: int) -> dict[str, Answer]:
    """Leave the `variables` of these containers without an answer."""

    def answer(asked: Request) -> Body | None:
        waits = asked.arguments["variablesReference"] in references
        return None if waits else {"variables": []}

    return {"variables": answer}


# -- at every stop


async def test_what_everybody_asks_is_fetched_before_anybody_does() -> None:
    async with wired() as w:
        await w.stop()
        assert sorted(w.peer.commands()) == ["scopes", "stackTrace", "threads", "variables"]
        assert view_of(w.session).get("locals") == {"v20": "1"}


async def test_what_is_known_is_not_asked_again() -> None:
    async with wired() as w:
        await w.stop()
        before = w.peer.commands()
        for _ in range(3):
            await snapshot(w.session)
            await w.session.inspect.stack_trace(1)
            await w.session.inspect.scopes(10)
            await w.session.inspect.variables(20)
            await w.session.inspect.threads()
        assert w.peer.commands() == before


async def test_the_next_stop_is_fetched_anew() -> None:
    async with wired() as w:
        await w.stop()
        await w.stop()
        assert len(w.peer.of("stackTrace")) == len(w.peer.of("variables")) == 2


async def test_an_exception_is_asked_for_where_the_adapter_can_tell() -> None:
    told = {"exceptionId": "ValueError", "description": "no number"}
    answers: dict[str, Answer] = {"exceptionInfo": lambda _: told}
    async with wired(answers, capabilities={"supportsExceptionInfoRequest": True}) as w:
        await w.stop(reason="exception")
        assert view_of(w.session).get("exception") == "ValueError: no number"
        await w.stop(reason="step")
        assert len(w.peer.of("exceptionInfo")) == 1


async def test_an_exception_is_not_asked_for_where_the_adapter_cannot_tell() -> None:
    async with wired() as w:
        await w.stop(reason="exception", text="Boom")
        assert w.peer.of("exceptionInfo") == []
        assert view_of(w.session).get("exception") == "Boom"


async def test_a_stop_without_a_thread_asks_for_the_threads_first() -> None:
    async with wired() as w:
        await w.stop(threadId=None)
        assert w.peer.commands()[:2] == ["threads", "stackTrace"]
        assert w.peer.of("stackTrace")[0].arguments["threadId"] == 1
        assert view_of(w.session).get("function") == "f"


@pytest.mark.parametrize("command", ["threads", "stackTrace", "scopes", "variables"])
async def test_a_stop_is_told_even_when_a_part_of_it_cannot_be_had(command: str) -> None:
    async with wired({command: refused}) as w:
        await w.stop(reason="breakpoint")
        view = await snapshot(w.session)
        assert (view["state"], view.get("reason")) == ("stopped", "breakpoint")


async def test_a_part_that_could_not_be_had_is_asked_for_again_by_who_looks() -> None:
    answers: dict[str, Answer] = {"stackTrace": refused}
    async with wired(answers) as w:
        await w.stop()
        assert view_of(w.session).get("stack") == []
        w.peer.answers["stackTrace"] = lambda _: {
            "stackFrames": [{"id": 10, "name": "late", "line": 1, "column": 1}]
        }
        assert (await snapshot(w.session)).get("function") == "late"


async def test_locals_that_cannot_be_had_are_told_of() -> None:
    async with wired({"variables": refused}) as w:
        await w.stop()
        assert "locals did not arrive" in str((await snapshot(w.session)).get("notes"))


# -- when asked


async def test_callers_who_ask_at_once_share_one_fetch() -> None:
    async with wired(held(99)) as w:
        await w.stop()
        async with asyncio.TaskGroup() as tasks:
            asking = [tasks.create_task(w.session.inspect.variables(99)) for _ in range(5)]
            [request] = [r for r in await w.peer.asked("variables", 2) if is_for(r, 99)]
            shown = [{"name": "x", "value": "1", "variablesReference": 0}]
            await w.peer.answer(request, {"variables": shown})
            assert [await each for each in asking] == [shown] * 5
        assert len([r for r in w.peer.of("variables") if is_for(r, 99)]) == 1


def is_for(request: Request, reference: int) -> bool:
    return request.arguments["variablesReference"] == reference


async def test_a_caller_that_gives_up_stops_no_fetch_that_others_wait_for() -> None:
    async with wired(held(99)) as w:
        await w.stop()
        async with asyncio.TaskGroup() as tasks:
            first = tasks.create_task(w.session.inspect.variables(99))
            await w.peer.asked("variables", 2)
            second = tasks.create_task(w.session.inspect.variables(99))
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            # One of those who joined does it again.
            await w.peer.asked("variables", 3)
            for request in w.peer.waiting:
                await w.peer.answer(request, {"variables": []})
            assert await second == []


async def test_a_fetch_that_everybody_has_given_up_is_still_remembered() -> None:
    async with wired(held(99)) as w:
        await w.stop()
        stop = w.session.mirror.require_stop()
        alone = asyncio.create_task(w.session.inspect.variables(99))
        await w.peer.asked("variables", 2)
        alone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await alone
        [request] = w.peer.waiting
        await w.peer.answer(request, {"variables": []})
        assert await w.session.wait_for(lambda: 99 in stop.values.variables, None)


async def test_a_fetch_that_fails_fails_for_all_who_wait_and_is_tried_again_by_the_next() -> None:
    async with wired() as w:
        await w.stop()
        w.peer.answers["variables"] = refused
        asked = [w.session.inspect.variables(99) for _ in range(3)]
        told = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(each) for each in told] == [RequestFailed] * 3
        w.peer.answers["variables"] = lambda _: {"variables": []}
        assert await w.session.inspect.variables(99) == []
        assert len(w.peer.of("variables")) == 3


async def test_after_an_evaluation_what_was_known_is_asked_again_once() -> None:
    async with wired({"evaluate": lambda _: {"result": "2"}}) as w:
        await w.stop()
        await evaluate(w.session, "x = 2", 10, "repl", 5)
        await asyncio.gather(snapshot(w.session), snapshot(w.session))
        await snapshot(w.session)
        assert len(w.peer.of("variables")) == 2
        assert len(w.peer.of("stackTrace")) == 1


async def test_what_is_told_after_the_program_has_moved_on_is_nobody_s() -> None:
    async with wired(held(99)) as w:
        await w.stop()
        async with asyncio.TaskGroup() as tasks:
            asking = tasks.create_task(w.session.inspect.variables(99))
            await w.peer.asked("variables", 2)
            [request] = w.peer.waiting
            await w.stop()
            late = [{"name": "old", "value": "1", "variablesReference": 0}]
            await w.peer.answer(request, {"variables": late})
            assert await asking == []
        assert 99 not in w.session.mirror.require_stop().values.variables


async def test_there_is_nothing_to_look_at_while_the_program_runs() -> None:
    async with wired() as w:
        for look in (w.session.inspect.stack_trace, w.session.inspect.scopes):
            with pytest.raises(NotStopped):
                await look(1)
        assert w.peer.commands() == []


async def test_a_page_of_children_is_asked_for_as_it_is() -> None:
    async with wired() as w:
        await w.stop()
        await w.session.inspect.page(99, "indexed", 10, 5)
        assert w.peer.of("variables")[-1].arguments == {
            "variablesReference": 99,
            "filter": "indexed",
            "start": 10,
            "count": 5,
        }


async def test_threads_that_events_have_told_of_are_listed_for_their_names_once() -> None:
    async with wired() as w:
        await w.peer.event("thread", reason="started", threadId=1)
        await w.stop()
        await w.stop()
        assert await w.session.inspect.threads() == {1: "main"}
        assert len(w.peer.of("threads")) == 1


async def test_a_stop_waits_for_its_output_that_travels_by_a_slower_road() -> None:
    async with wired() as w, asyncio.TaskGroup() as tasks:
        w.peer.answers["stackTrace"] = never
        tasks.create_task(w.stop(reason="breakpoint"))
        [request] = await w.peer.asked("stackTrace")
        await w.peer.event("output", category="stdout", output="late\n")
        await w.peer.answer(request, {"stackFrames": []})
        w.peer.answers["stackTrace"] = lambda _: {"stackFrames": []}
        assert (await snapshot(w.session)).get("output") == "late\n"
