"""A session acts: what it sends, what it does not, and what it does when nobody answers."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import anyio
import pytest

from dapeer.base.errors import (
    ArgumentError,
    ChannelClosed,
    DapeerError,
    NotStopped,
    RequestFailed,
    RequestTimeout,
    Unsupported,
)
from dapeer.dap.messages import Body, Request
from dapeer.dap.requests import NEEDS
from dapeer.mirror.states import Phase
from dapeer.sessions.core.evaluating import evaluate, set_variable
from dapeer.sessions.core.views import snapshot, summary, view_of
from tests.peer import Refused, wired


def never(_: Request) -> Body | None:
    """Leave a request without an answer."""
    return None


def refused(_: Request) -> Body | None:
    raise Refused("cannot")


async def failure(waiting: Awaitable[Any]) -> DapeerError:
    """Return what a call fails with."""
    with pytest.raises(DapeerError) as caught:
        await waiting
    return caught.value


# -- what is sent


@pytest.mark.parametrize("command", sorted(NEEDS))
async def test_a_request_that_is_not_advertised_is_never_sent(command: str) -> None:
    async with wired() as w:
        error = await failure(w.session.send(command))
        assert isinstance(error, Unsupported)
        assert f"toy-adapter does not support `{command}`" in str(error)
        await w.session.request("threads")
        assert w.peer.commands() == ["threads"]


@pytest.mark.parametrize(("command", "capability"), sorted(NEEDS.items()))
async def test_a_request_that_is_advertised_is_sent(command: str, capability: str) -> None:
    filters = [{"filter": "raised", "label": "Raised"}]
    offered = filters if capability == "exceptionBreakpointFilters" else True
    async with wired(capabilities={capability: offered}) as w:
        await w.session.send(command, {})
        assert w.peer.commands() == [command]


async def test_a_request_that_nobody_has_specified_is_sent_only_when_it_is_forced() -> None:
    async with wired() as w:
        assert isinstance(await failure(w.session.send("makeCoffee")), Unsupported)
        await w.session.send("makeCoffee", forced=True)
        assert w.peer.commands() == ["makeCoffee"]


async def test_a_capability_that_comes_later_counts_from_then_on() -> None:
    async with wired() as w:
        assert isinstance(await failure(w.session.request("terminate")), Unsupported)
        await w.peer.event("capabilities", capabilities={"supportsTerminateRequest": True})
        known = w.session.mirror.capabilities
        await w.session.wait_for(lambda: "supportsTerminateRequest" in known, None)
        await w.session.request("terminate")
        assert w.peer.commands() == ["terminate"]


async def test_what_the_adapter_refuses_is_told_in_its_words() -> None:
    async with wired({"evaluate": refused}) as w:
        error = await failure(evaluate(w.session, "x", None, "watch", 5))
        assert isinstance(error, RequestFailed)
        assert str(error) == "cannot"
        assert w.killed == []


async def test_breakpoints_of_a_file_are_sent_whole() -> None:
    async with wired() as w:
        await w.session.set_breakpoints("/project/a.py", [{"line": 3}])
        [request] = w.peer.requests
        assert request.arguments == {
            "source": {"path": "/project/a.py", "name": "a.py"},
            "breakpoints": [{"line": 3}],
            "sourceModified": False,
        }


async def test_an_unknown_exception_filter_is_named_with_those_there_are() -> None:
    offered = [{"filter": "raised", "label": "r"}, {"filter": "uncaught", "label": "u"}]
    async with wired(capabilities={"exceptionBreakpointFilters": offered}) as w:
        w.session.functions_and_filters.check(["raised"])
        with pytest.raises(ArgumentError, match=r"filter 'rised'. It offers: raised, uncaught;"):
            w.session.functions_and_filters.check(["rised"])


# -- when nobody answers


async def test_an_end_without_an_answer_kills_and_says_so() -> None:
    async with wired({"disconnect": never}, control=0.01) as w:
        error = await failure(w.session.request("disconnect"))
        assert isinstance(error, RequestTimeout)
        assert "did not answer `disconnect` within 0.01 s" in str(error)
        assert "killed together with the program" in str(error)
        assert len(w.killed) == 1
        assert w.session.is_over
        assert w.session.mirror.phase is Phase.ENDED
        assert "`disconnect`" in str(view_of(w.session).get("cause"))
        assert "killed" in str(view_of(w.session).get("cause"))


@pytest.mark.parametrize("command", ["pause", "setBreakpoints", "continue", "next"])
async def test_what_is_no_end_kills_nobody_without_an_answer(command: str) -> None:
    """The program may run code that lets no debugger in."""
    async with wired({command: never}, control=0.01) as w:
        assert isinstance(await failure(w.session.send(command)), RequestTimeout)
        assert w.killed == []
        assert not w.session.is_over


async def test_an_inspection_without_an_answer_kills_nobody() -> None:
    async with wired({"threads": never}, request=0.01) as w:
        error = await failure(w.session.request("threads"))
        assert isinstance(error, RequestTimeout)
        assert "The session continues" in str(error)
        assert w.killed == []
        assert not w.session.is_over


async def test_a_wire_that_ends_has_not_broken_an_evaluation_off() -> None:
    answers = {"evaluate": never, "cancel": never}
    capabilities = {"supportsCancelRequest": True}
    async with wired(answers, capabilities=capabilities) as w, asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(failure(evaluate(w.session, "x", None, "watch", 0.01)))
        await w.peer.asked("cancel")
        await w.peer.wire.aclose()
        assert "broken off" not in str(await waiting)


async def test_the_end_of_the_wire_without_a_word_ends_the_session_and_says_so() -> None:
    async with wired({"evaluate": never}) as w:
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(failure(evaluate(w.session, "x", None, "watch", 60)))
            await w.peer.asked("evaluate")
            await w.peer.wire.aclose()
            assert isinstance(await waiting, ChannelClosed)
        await w.session.wait_for(lambda: w.session.is_over, None)
        assert view_of(w.session) == {
            "session_id": 7,
            "state": "ended",
            "cause": "the adapter ended unexpectedly",
        }


async def test_an_end_that_was_announced_has_no_cause() -> None:
    async with wired() as w:
        await w.peer.event("exited", exitCode=3)
        await w.peer.event("terminated")
        await w.peer.wire.aclose()
        await w.session.wait_for(lambda: w.session.is_over, None)
        assert view_of(w.session) == {"session_id": 7, "state": "ended", "exit_code": 3}


# -- resuming


async def test_a_program_that_runs_cannot_be_resumed_and_nothing_is_sent() -> None:
    async with wired() as w:
        error = await failure(w.session.resume("continue", {"threadId": 1}))
        assert isinstance(error, NotStopped)
        assert w.peer.commands() == []


async def test_a_resume_makes_the_program_run() -> None:
    async with wired() as w:
        await w.stop()
        await w.session.resume("next", {"threadId": 1})
        assert w.session.mirror.phase is Phase.RUNNING


async def test_a_resume_that_is_refused_is_told_and_the_stop_lasts() -> None:
    async with wired({"next": refused}) as w:
        await w.stop()
        assert isinstance(await failure(w.session.resume("next", {"threadId": 1})), RequestFailed)
        assert w.session.mirror.require_stop().number == 1


async def test_an_adapter_that_ends_at_a_resume_is_no_failure_of_it() -> None:
    async with wired({"continue": never}) as w:
        await w.stop()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(w.session.resume("continue", {"threadId": 1}))
            await w.peer.asked("continue")
            await w.peer.wire.aclose()
        await w.session.wait_for(lambda: w.session.is_over, None)
        assert w.session.mirror.phase is Phase.ENDED


async def test_a_pause_without_a_thread_takes_the_first() -> None:
    async with wired() as w:
        await w.session.pause(None, 1)
        [request] = w.peer.of("pause")
        assert request.arguments == {"threadId": 1}


async def test_a_program_that_has_ended_cannot_be_paused() -> None:
    async with wired() as w:
        await w.peer.event("terminated")
        await w.session.wait_for(lambda: w.session.mirror.has_ended, None)
        assert isinstance(await failure(w.session.pause(None, 1)), NotStopped)
        assert w.peer.commands() == []


# -- evaluation


async def test_evaluations_go_one_at_a_time() -> None:
    async with wired({"evaluate": never}) as w, asyncio.TaskGroup() as tasks:
        for expression in "abc":
            tasks.create_task(evaluate(w.session, expression, 10, "watch", 60))
        for number, expression in enumerate("abc", 1):
            last = (await w.peer.asked("evaluate", number))[-1]
            assert last.arguments["expression"] == expression
            # Whatever else could be sent has been sent when this answer is here.
            await w.session.request("threads")
            assert len(w.peer.of("evaluate")) == number
            await w.peer.answer(last, {"result": expression})


async def test_a_write_waits_for_an_evaluation_too() -> None:
    async with (
        wired({"evaluate": never}, capabilities={"supportsSetVariable": True}) as w,
        asyncio.TaskGroup() as tasks,
    ):
        tasks.create_task(evaluate(w.session, "x", 10, "watch", 60))
        [evaluation] = await w.peer.asked("evaluate")
        writing = tasks.create_task(set_variable(w.session, 20, "x", "2"))
        await w.session.request("threads")
        assert w.peer.of("setVariable") == []
        await w.peer.answer(evaluation, {"result": "1"})
        await writing
        assert len(w.peer.of("setVariable")) == 1


async def test_an_evaluation_whose_caller_gives_up_holds_up_nobody() -> None:
    async with wired({"evaluate": never}) as w, asyncio.TaskGroup() as tasks:
        given_up = tasks.create_task(evaluate(w.session, "a", 10, "watch", 60))
        await w.peer.asked("evaluate")
        other = tasks.create_task(evaluate(w.session, "b", 10, "watch", 60))
        given_up.cancel()
        second = (await w.peer.asked("evaluate", 2))[1]
        await w.peer.answer(second, {"result": "b"})
        assert (await other)["result"] == "b"


# -- looking and waiting


async def test_a_summary_is_one_line_of_facts() -> None:
    async with wired() as w:
        await w.stop(reason="breakpoint")
        assert summary(w.session) == {
            "session_id": 7,
            "name": "toy",
            "type": "toy-adapter",
            "state": "stopped",
            "reason": "breakpoint",
            "line": 3,
            "function": "f",
        }


async def test_output_that_was_shown_at_a_stop_is_not_shown_while_the_program_runs_on() -> None:
    async with wired() as w:
        await w.peer.event("output", category="stdout", output="one\n")
        await w.stop()
        assert (await snapshot(w.session)).get("output") == "one\n"
        await w.session.resume("next", {"threadId": 1})
        assert "output" not in view_of(w.session)
        await w.peer.event("output", category="stdout", output="two\n")
        await w.session.wait_for(lambda: w.session.program.output.end == 8, None)
        assert view_of(w.session).get("output") == "two\n"


async def test_what_is_true_already_is_not_waited_for() -> None:
    async with wired() as w:
        assert await w.session.wait_for(lambda: True, 0)


async def test_who_waits_for_a_stop_is_woken_by_it() -> None:
    async with wired() as w, asyncio.TaskGroup() as tasks:
        mirror = w.session.mirror
        waiting = tasks.create_task(w.session.wait_for(lambda: mirror.stop is not None, None))
        await w.peer.event("output", category="stdout", output="not yet")
        await w.peer.event("stopped", reason="step", threadId=1)
        assert await waiting


async def test_who_waits_longer_than_allowed_is_told_so() -> None:
    async with wired() as w:
        assert not await w.session.wait_for(lambda: False, 0.01)


async def test_who_waits_is_woken_by_the_end() -> None:
    async with wired() as w, asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(w.session.wait_for(lambda: w.session.is_over, None))
        await w.peer.wire.aclose()
        assert await waiting


async def test_a_function_breakpoint_that_is_tried_is_removed_also_for_who_no_longer_waits() -> (
    None
):
    supported = {"supportsFunctionBreakpoints": True}
    async with wired({"setFunctionBreakpoints": never}, capabilities=supported) as w:
        scope = anyio.CancelScope()

        async def give_up() -> None:
            await w.peer.asked("setFunctionBreakpoints")
            scope.cancel()
            _, undone = await w.peer.asked("setFunctionBreakpoints", times=2)
            await w.peer.answer(undone)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(give_up)
            with scope:
                async with w.session.functions_and_filters.temporary_breakpoint("f"):
                    pass
        sent = [each.arguments["breakpoints"] for each in w.peer.of("setFunctionBreakpoints")]
        assert sent == [[{"name": "f"}], []]
