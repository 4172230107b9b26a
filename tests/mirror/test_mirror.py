"""How single messages of a session move its mirror: threads, stops, the end."""

from collections.abc import Callable

import pytest

from dapeer.base.errors import NotStopped
from dapeer.dap.messages import Event, Response
from dapeer.mirror.mirror import UNKNOWN, Mirror
from dapeer.mirror.states import Phase
from tests.told import Told, frame, variables


def test_a_stop_before_the_response_of_the_step_that_caused_it_lasts() -> None:
    told = Told()
    told.stopped()
    step = told.ask("next", threadId=1)
    second = told.stopped()
    told.answer(step)
    assert told.mirror.stop is second
    assert told.mirror.epoch == 2


def test_what_was_stopped_runs_from_the_moment_the_step_is_sent() -> None:
    told = Told()
    told.stopped()
    told.ask("next", threadId=1)
    assert told.mirror.phase is Phase.RUNNING


def test_a_refused_step_takes_the_stop_back() -> None:
    told = Told()
    first = told.stopped()
    told.answer(told.ask("next", threadId=1), success=False)
    assert told.mirror.stop is first
    assert (told.mirror.phase, told.mirror.epoch) == (Phase.STOPPED, 1)
    assert first.resumed_with == ""


def test_a_refused_step_does_not_bring_back_a_stop_that_a_newer_one_has_replaced() -> None:
    told = Told()
    told.stopped()
    refused = told.ask("next", threadId=1)
    second = told.stopped()
    told.answer(refused, success=False)
    assert told.mirror.stop is second


def test_a_refused_step_does_not_bring_back_a_stop_of_long_ago() -> None:
    told = Told()
    told.stopped()
    refused = told.ask("next", threadId=1)
    told.stopped()
    told.ask("continue", threadId=1)
    told.answer(refused, success=False)
    assert told.mirror.phase is Phase.RUNNING


def test_a_step_refused_because_the_program_has_ended_brings_nothing_back() -> None:
    told = Told()
    told.stopped()
    refused = told.ask("next", threadId=1)
    told.event("terminated")
    told.answer(refused, success=False)
    assert told.mirror.phase is Phase.ENDED
    assert told.mirror.stop is None


def test_of_two_who_continue_at_once_the_refused_one_takes_nothing_back() -> None:
    told = Told()
    told.stopped()
    first, second = told.ask("continue", threadId=1), told.ask("continue", threadId=1)
    told.answer(first)
    told.answer(second, success=False)
    assert told.mirror.phase is Phase.RUNNING


def test_a_second_client_that_continues_makes_the_program_run() -> None:
    told = Told()
    told.stopped()
    told.mirror.apply(Response(0, "continue", success=True))
    assert told.mirror.phase is Phase.RUNNING


def test_a_continue_of_a_second_client_that_is_refused_changes_nothing() -> None:
    told = Told()
    stop = told.stopped()
    told.mirror.apply(Response(0, "continue", success=False))
    assert told.mirror.stop is stop


def test_continued_for_one_thread_leaves_the_others_stopped() -> None:
    told = Told()
    one, two = told.stopped(1, everybody=False), told.stopped(2, everybody=False)
    told.event("continued", threadId=2, allThreadsContinued=False)
    assert told.mirror.stop is one
    assert told.mirror.stop_of(2) is None
    assert two in list(told.mirror.history)


def test_continued_says_nothing_of_other_threads_and_so_means_all() -> None:
    told = Told()
    told.stopped(1, everybody=False)
    told.stopped(2, everybody=False)
    told.event("continued", threadId=2)
    assert told.mirror.phase is Phase.RUNNING


def test_a_stop_of_all_threads_holds_each_of_them() -> None:
    told = Told()
    told.threads(1, 2)
    stop = told.stopped(2)
    assert told.mirror.stop_of(1) is stop
    assert told.mirror.require_stop(1) is stop


def test_a_stop_of_all_threads_replaces_the_stops_of_single_ones() -> None:
    told = Told()
    told.stopped(1, everybody=False)
    told.stopped(2)
    told.event("continued", threadId=2, allThreadsContinued=False)
    assert told.mirror.phase is Phase.RUNNING


def test_a_thread_that_stops_again_is_the_latest() -> None:
    told = Told()
    told.stopped(1, everybody=False)
    told.stopped(2, everybody=False)
    again = told.stopped(1, everybody=False)
    assert told.mirror.stop is again


def test_a_running_thread_is_named_when_another_is_stopped() -> None:
    told = Told()
    told.stopped(1, everybody=False)
    with pytest.raises(NotStopped, match="Thread 2 is running"):
        told.mirror.require_stop(2)


def test_a_thread_that_exits_takes_its_stop_with_it() -> None:
    told = Told()
    told.threads(1, 2)
    first = told.stopped(1, everybody=False)
    told.stopped(2, everybody=False)
    told.event("thread", reason="exited", threadId=2)
    assert told.mirror.stop is first
    assert told.mirror.threads == {1: "T1"}


def test_a_thread_event_without_an_id_is_harmless() -> None:
    told = Told()
    told.event("thread", reason="started")
    assert told.mirror.threads == {1: ""}


def test_threads_are_known_once_each_has_a_name() -> None:
    told = Told()
    assert not told.mirror.has_all_threads
    told.threads(1)
    assert told.mirror.has_all_threads
    told.event("thread", reason="started", threadId=2)
    assert not told.mirror.has_all_threads


def test_threads_must_be_listed_anew_at_each_stop_where_no_event_tells_of_them() -> None:
    mirror = Mirror()
    mirror.apply(Event("stopped", {"reason": "entry", "threadId": 1}))
    mirror.apply(Response(0, "threads", success=True, body={"threads": [{"id": 1, "name": "a"}]}))
    assert mirror.has_all_threads
    mirror.apply(Event("stopped", {"reason": "step", "threadId": 1}))
    assert not mirror.has_all_threads


@pytest.mark.parametrize(
    ("command", "arguments", "body"),
    [
        ("variables", {"variablesReference": 7}, {"variables": variables({"x": "1"})}),
        ("scopes", {"frameId": 100}, {"scopes": [{"name": "Locals", "variablesReference": 7}]}),
        ("stackTrace", {"threadId": 1}, {"stackFrames": [frame(0)]}),
        ("exceptionInfo", {"threadId": 1}, {"exceptionId": "ValueError"}),
    ],
)
def test_what_is_told_late_about_an_earlier_stop_is_dropped(
    command: str, arguments: dict[str, object], body: dict[str, object]
) -> None:
    told = Told()
    told.stopped()
    late = told.ask(command, **arguments)
    told.ask("next", threadId=1)
    second = told.stopped()
    told.answer(late, body)
    assert not second.values.variables
    assert not second.values.scopes
    assert not second.stack.frames
    assert second.exception is None


def test_what_an_adapter_says_of_another_thread_is_not_the_exception_of_the_stop() -> None:
    told = Told()
    stop = told.stopped(1, reason="exception")
    told.tell("exceptionInfo", {"exceptionId": "exception: type unknown"}, threadId=2)
    assert stop.exception is None
    told.tell("exceptionInfo", {"exceptionId": "ValueError"}, threadId=1)
    assert stop.exception == {"exceptionId": "ValueError"}


def test_what_comes_while_the_program_runs_is_dropped() -> None:
    told = Told()
    told.stopped()
    late = told.ask("variables", variablesReference=7)
    told.ask("next", threadId=1)
    told.answer(late, {"variables": variables({"x": "1"})})
    assert not next(iter(told.mirror.history)).values.variables


def test_a_stop_without_a_thread_takes_the_first_one_once_the_threads_are_listed() -> None:
    mirror = Mirror()
    mirror.apply(Event("stopped", {"reason": "entry"}))
    stop = mirror.stop
    assert stop is not None
    assert stop.thread_id == UNKNOWN
    mirror.apply(Response(0, "threads", success=True, body={"threads": [{"id": 5}, {"id": 6}]}))
    assert stop.thread_id == 5
    assert mirror.stop_of(5) is mirror.stop is stop
    assert mirror.threads == {5: "thread 5", 6: "thread 6"}


def test_a_stop_without_a_thread_takes_the_first_known_one_at_once() -> None:
    told = Told()
    told.event("stopped", reason="entry")
    assert told.mirror.require_stop(1).thread_id == 1


def test_an_exit_code_after_the_end_is_still_taken() -> None:
    told = Told()
    told.event("terminated")
    told.event("exited", exitCode=7)
    assert (told.mirror.phase, told.mirror.exit_code) == (Phase.ENDED, 7)


def test_an_exit_without_a_code_has_none() -> None:
    told = Told()
    told.event("exited", exitCode=None)
    assert told.mirror.exit_code is None


def test_the_end_ends_every_stop() -> None:
    told = Told()
    told.stopped(1, everybody=False)
    told.stopped(2, everybody=False)
    told.event("terminated")
    assert told.mirror.stop is None
    with pytest.raises(NotStopped, match="has ended"):
        told.mirror.require_stop()


def test_nothing_is_stopped_before_the_first_stop() -> None:
    with pytest.raises(NotStopped, match="is running"):
        Told().mirror.require_stop()


def test_a_response_to_launch_makes_the_program_run() -> None:
    mirror = Mirror()
    assert mirror.phase is Phase.STARTING
    mirror.apply(Response(0, "launch", success=True))
    assert mirror.phase is Phase.RUNNING


MANY = 10_100
BodyOf = Callable[[int], dict[str, object]]
ENDLESS: dict[str, tuple[str, BodyOf]] = {
    "threads": ("thread", lambda n: {"reason": "started", "threadId": n}),
    "modules": ("module", lambda n: {"reason": "new", "module": {"id": n, "name": "m"}}),
    "sources": ("loadedSource", lambda n: {"reason": "new", "source": {"path": f"/{n}"}}),
    "failures": ("breakpointFailed", lambda n: {"expression": "x", "error": f"no {n}"}),
    "capabilities": ("capabilities", lambda n: {"capabilities": {f"supports{n}": True}}),
    "long names": (
        "module",
        lambda n: {"reason": "new", "module": {"id": n, "name": "m" * 20_000}},
    ),
}


@pytest.mark.parametrize("told_of", ENDLESS)
def test_what_an_adapter_tells_without_end_is_kept_in_part_and_that_is_told(told_of: str) -> None:
    told = Told()
    event, body = ENDLESS[told_of]
    for number in range(MANY):
        told.event(event, **body(number))
    mirror = told.mirror
    loaded = mirror.loaded_sources
    tables = (mirror.threads, loaded.modules, loaded.sources, mirror.failures.known)
    assert max(len(table) for table in (*tables, mirror.capabilities)) < MANY
    assert (mirror.overflow_note or "").startswith("It sent ")


def test_of_threads_that_stop_without_end_the_latest_are_known() -> None:
    told = Told()
    for number in range(1, MANY):
        told.stopped(number, everybody=False)
    assert told.mirror.stop_of(1) is None
    assert told.mirror.stop is told.mirror.stop_of(MANY - 1)


def test_what_a_breakpoint_event_invents_is_not_kept() -> None:
    told = Told()
    wanted = {"source": {"path": "/a"}, "breakpoints": [{"line": 1}]}
    told.tell("setBreakpoints", {"breakpoints": [{"id": 1, "verified": False}]}, **wanted)
    told.event("breakpoint", reason="changed", breakpoint={"id": 1, "verified": True, "odd": "x"})
    ((_, made),) = told.mirror.breakpoints["/a"]
    assert made == {"id": 1, "verified": True}
