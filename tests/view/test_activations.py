"""What has changed within one call of a function, and what is another call."""

from collections.abc import Mapping

from dapeer.mirror.stops import Stop
from dapeer.mirror.values import KEPT_VARIABLES
from dapeer.view.activations import ACTIVATION, ActivationComparison, compare_locals
from tests.told import Told

LOCALS = 7
"""variablesReference of the locals in these tests."""

Changes = Mapping[str, tuple[str | None, str]]


def at(
    told: Told,
    function: str = "f",
    shown: Mapping[str, str] | None = None,
    *,
    by: str = "continue",
    line: int = 1,
    callers: tuple[int, ...] = (9,),
    thread: int = 1,
    call: int | None = None,
    **more: str,
) -> Stop:
    """Let the program be resumed `by` a request and stop in a function with these locals, called from these lines."""
    told.ask(by, threadId=thread)
    known = {} if call is None else {ACTIVATION: call}
    told.event("stopped", reason="step", threadId=thread, allThreadsStopped=True, **known)
    stop = told.mirror.stop
    assert stop is not None
    called = {"id": 1, "name": function, "line": line, "column": 1, "source": {"path": "/a.py"}}
    above = [
        {"id": n, "name": "caller", "line": at, "column": 1} for n, at in enumerate(callers, 2)
    ]
    told.tell("stackTrace", {"stackFrames": [called, *above]}, threadId=thread)
    scope = {"name": "Locals", "variablesReference": LOCALS, "expensive": False}
    told.tell("scopes", {"scopes": [scope]}, frameId=1)
    told.variables(LOCALS, **(shown or {}), **more)
    return stop


def comparison(told: Told, stop: Stop) -> ActivationComparison:
    return compare_locals(told.mirror.history, stop)


def changes(told: Told, stop: Stop) -> Changes:
    return comparison(told, stop).changes


def test_what_changed_and_what_is_new_is_told_and_what_stayed_is_not() -> None:
    told = Told()
    at(told, same="1", count="1")
    stop = at(told, same="1", count="2", later="3")
    assert changes(told, stop) == {"count": ("1", "2"), "later": (None, "3")}


def test_frames_of_others_below_a_call_do_not_make_it_another_one() -> None:
    told = Told()
    inner = [{"id": n, "name": "inner", "line": 1, "column": 1} for n in range(12)]
    own = [
        {"id": n, "name": "f", "line": n, "column": 1, "source": {"path": "/a.py"}}
        for n in range(12, 30)
    ]
    for _ in range(2):
        told.ask("continue", threadId=1)
        told.event("stopped", reason="exception", threadId=1, allThreadsStopped=True)
        told.tell("stackTrace", {"stackFrames": [*inner, *own]}, threadId=1)
    stop = told.mirror.require_stop()
    assert stop.stack.default_index == len(inner)
    assert comparison(told, stop).is_same is None


def test_what_is_gone_is_no_change() -> None:
    told = Told()
    at(told, x="1", y="2")
    assert changes(told, at(told, x="1")) == {}


def test_the_first_stop_in_a_function_has_no_changes() -> None:
    told = Told()
    at(told, "f", x="1")
    assert comparison(told, at(told, "g", x="2")) == ActivationComparison()


def test_steps_in_a_function_and_what_it_calls_stay_in_the_same_call() -> None:
    told = Told()
    at(told, "f", line=1, x="1")
    at(told, "f", by="next", line=2, x="2")
    at(told, "g", by="stepIn", line=7, callers=(2, 9), y="1")
    stop = at(told, "f", by="stepOut", line=3, x="3")
    found = comparison(told, stop)
    assert (found.is_same, found.changes) == (True, {"x": ("2", "3")})


def test_a_loop_that_is_stepped_through_is_the_same_call() -> None:
    told = Told()
    at(told, line=1, i="0")
    at(told, by="next", line=2, i="0")
    at(told, by="next", line=3, i="0")
    assert comparison(told, at(told, by="next", line=2, i="1")).is_same is True


def test_a_step_back_to_the_first_line_that_was_seen_may_be_the_next_call() -> None:
    """A debugger does not stop in a caller such as `sort`, which calls the function again."""
    told = Told()
    at(told, line=1, i="0")
    at(told, by="next", line=2, i="0")
    assert comparison(told, at(told, by="next", line=1, i="1")).is_same is None


def test_a_jump_to_another_line_is_the_same_call_also_where_it_goes_back() -> None:
    told = Told()
    at(told, line=2, i="0")
    at(told, by="goto", line=1, i="1")
    found = comparison(told, at(told, by="goto", line=3, i="2"))
    assert (found.is_same, found.changes) == (True, {"i": ("1", "2")})
    assert comparison(told, at(told, by="goto", line=1, i="3")).is_same is True


def test_a_continued_program_may_be_in_another_call_from_the_same_place() -> None:
    told = Told()
    at(told, x="1")
    found = comparison(told, at(told, x="2"))
    assert (found.is_same, found.changes) == (None, {"x": ("1", "2")})


def test_a_call_from_another_line_is_another_one_and_nothing_is_compared() -> None:
    told = Told()
    at(told, callers=(9,), x="1")
    found = comparison(told, at(told, callers=(10,), x="2"))
    assert (found.is_same, found.changes) == (False, {})


def test_a_call_after_the_program_was_seen_in_the_caller_is_another_one() -> None:
    told = Told()
    at(told, callers=(9, 20), x="1")
    at(told, "caller", by="stepOut", line=9, callers=(20,), y="1")
    assert comparison(told, at(told, by="stepIn", callers=(9, 20), x="2")).is_same is False


def test_a_function_of_the_same_depth_between_them_makes_another_call() -> None:
    told = Told()
    at(told, "f", x="1")
    at(told, "g", x="2")
    assert comparison(told, at(told, "f", x="3")).is_same is False


def test_a_recursive_call_is_another_place_and_what_has_called_it_the_same_as_before() -> None:
    told = Told()
    at(told, callers=(9,), n="3")
    deeper = at(told, by="stepIn", callers=(1, 9), n="2")
    assert changes(told, deeper) == {}
    back = at(told, by="stepOut", line=2, callers=(9,), n="4")
    assert (comparison(told, back).is_same, changes(told, back)) == (True, {"n": ("3", "4")})


def test_an_adapter_that_numbers_calls_is_believed() -> None:
    told = Told()
    at(told, call=1, x="1")
    assert comparison(told, at(told, call=1, line=1, x="2")).is_same is True
    assert comparison(told, at(told, by="next", line=2, call=2, x="3")).is_same is False


def test_of_a_call_that_is_resumed_the_callers_tell_nothing() -> None:
    told = Told()
    at(told, call=0, callers=(9,), x="1")
    assert comparison(told, at(told, call=0, callers=(10,), x="2")).is_same is None


def test_another_thread_is_another_place_and_its_stops_leave_the_question_open() -> None:
    told = Told()
    told.threads(1, 2)
    at(told, thread=1, x="1")
    assert comparison(told, at(told, thread=2, x="2")) == ActivationComparison()
    assert comparison(told, at(told, by="next", thread=1, line=2, x="2")).is_same is None


def test_the_changes_of_a_stop_that_is_over_stay_the_same() -> None:
    told = Told()
    at(told, x="1")
    second = at(told, x="2")
    at(told, x="3")
    assert changes(told, second) == {"x": ("1", "2")}


def test_a_long_value_that_stayed_is_no_change() -> None:
    told = Told()
    at(told, text="x" * 5000)
    assert changes(told, at(told, text="x" * 5000)) == {}


def test_a_long_value_that_grew_is_a_change() -> None:
    told = Told()
    at(told, text="x" * 5000)
    assert changes(told, at(told, text="x" * 5001)).keys() == {"text"}


def test_variables_beyond_those_that_are_kept_are_not_taken_for_new() -> None:
    many = {f"v{n}": "0" for n in range(KEPT_VARIABLES + 50)}
    told = Told()
    at(told, shown=many)
    assert changes(told, at(told, shown=many)) == {}


def test_a_stop_without_a_stack_has_no_changes() -> None:
    told = Told()
    told.stopped()
    assert comparison(told, told.stopped()) == ActivationComparison()
