"""The function that has returned to the place of a stop."""

from dapeer.mirror.stops import Stop
from dapeer.view.variables import (
    RAISED,
    describe_raising_function,
    describe_returned_function,
    stop_in_returned_function,
)
from tests.told import Told


def at(told: Told, *functions: str, thread: int = 1) -> Stop:
    """Let a thread stop in the first of these functions, which the next ones have called."""
    told.ask("continue", threadId=thread)
    told.event("stopped", reason="step", threadId=thread, allThreadsStopped=True)
    stop = told.mirror.stop
    assert stop is not None
    frames = [
        {"id": n, "name": name, "line": n, "column": 1, "source": {"path": "/a.py"}}
        for n, name in enumerate(functions, 1)
    ]
    told.tell("stackTrace", {"stackFrames": frames}, threadId=thread)
    return stop


def test_the_function_that_was_left_is_the_one_that_has_returned() -> None:
    told = Told()
    inside = at(told, "total", "main")
    now = at(told, "main")
    assert stop_in_returned_function(told.mirror.history, now) is inside
    assert describe_returned_function(told.mirror.history, now) == "total"


def test_a_function_that_an_exception_has_ended_has_not_returned() -> None:
    told = Told()
    at(told, "total", "main")
    now = at(told, "main")
    now.body = {**now.body, RAISED: "KeyError: 'a'"}
    assert describe_returned_function(told.mirror.history, now) == ""
    assert describe_raising_function(told.mirror.history, now) == "total: KeyError: 'a'"


def test_a_function_of_another_thread_has_not_returned_here() -> None:
    told = Told()
    at(told, "total", "main", thread=2)
    now = at(told, "main")
    assert stop_in_returned_function(told.mirror.history, now) is None
    assert describe_returned_function(told.mirror.history, now) == ""


def test_a_function_that_another_one_had_called_has_not_returned_here() -> None:
    told = Told()
    at(told, "total", "elsewhere")
    assert stop_in_returned_function(told.mirror.history, at(told, "main")) is None
