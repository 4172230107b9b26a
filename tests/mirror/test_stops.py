"""What is remembered of stops, and the numbers by which callers name what is in them."""

from collections.abc import Mapping

import pytest

from dapeer.base.errors import ArgumentError, StaleReference
from dapeer.mirror.stops import KEPT_FRAMES, KEPT_STOPS, Stop, StopHistory
from dapeer.mirror.values import KEPT_VALUE, KEPT_VARIABLES
from tests.told import Told

LOCALS = 7
"""variablesReference of the locals in these tests."""


def at(
    told: Told,
    function: str = "f",
    shown: Mapping[str, str] | None = None,
    *,
    depth: int = 1,
    thread: int = 1,
    **more: str,
) -> Stop:
    """Let the program stop in a function with these locals."""
    told.ask("continue", threadId=1)
    stop = told.stopped(thread)
    called = {"id": 1, "name": function, "line": 1, "column": 1, "source": {"path": "/a.py"}}
    caller = {"id": 2, "name": "caller", "line": 9, "column": 1}
    told.tell("stackTrace", {"stackFrames": [called, *[caller] * (depth - 1)]}, threadId=thread)
    scope = {"name": "Locals", "variablesReference": LOCALS, "expensive": False}
    told.tell("scopes", {"scopes": [scope]}, frameId=1)
    told.variables(LOCALS, **(shown or {}), **more)
    return stop


# -- handles


def test_a_handle_stands_for_the_adapter_s_id() -> None:
    stop = Told().stopped()
    frame, container = (
        stop.presentation.handles.handle_for("frame_id", 1),
        stop.presentation.handles.handle_for("variables_reference", 1),
    )
    assert frame != container
    assert stop.presentation.handles.resolve("frame_id", frame) == 1
    assert stop.presentation.handles.resolve("variables_reference", container) == 1


def test_a_handle_is_the_same_each_time_it_is_asked_for() -> None:
    stop = Told().stopped()
    assert stop.presentation.handles.handle_for(
        "frame_id", 5
    ) == stop.presentation.handles.handle_for("frame_id", 5)


def test_a_handle_of_the_wrong_kind_is_refused() -> None:
    stop = Told().stopped()
    frame = stop.presentation.handles.handle_for("frame_id", 1)
    with pytest.raises(ArgumentError, match=f"no variables_reference {frame} at this stop"):
        stop.presentation.handles.resolve("variables_reference", frame)


@pytest.mark.parametrize("handle", [-1, 0, 1, 999_999_999])
def test_a_number_that_is_no_handle_is_refused(handle: int) -> None:
    stop = Told().stopped()
    with pytest.raises(ArgumentError, match=f"no frame_id {handle} "):
        stop.presentation.handles.resolve("frame_id", handle)


def test_a_handle_of_an_earlier_stop_is_stale_also_where_the_adapter_s_id_is_the_same() -> None:
    told = Told()
    old = told.stopped().presentation.handles.handle_for("frame_id", 1)
    now = told.stopped()
    assert (
        now.presentation.handles.resolve(
            "frame_id", now.presentation.handles.handle_for("frame_id", 1)
        )
        == 1
    )
    with pytest.raises(StaleReference, match=rf"frame_id {old} belongs to an earlier stop"):
        now.presentation.handles.resolve("frame_id", old)


def test_a_handle_that_a_stop_of_another_thread_gives_later_is_no_one_s_else() -> None:
    told = Told()
    told.threads(1, 2)
    one, two = told.stopped(1), told.stopped(2)
    assert two.presentation.handles.handle_for("frame_id", 7) == 1
    late = one.presentation.handles.handle_for("frame_id", 8)
    assert two.presentation.handles.handle_for("frame_id", 9) == 3
    with pytest.raises(ArgumentError, match=f"no frame_id {late} at this stop"):
        two.presentation.handles.resolve("frame_id", late)


def test_no_handle_is_ever_used_again_by_a_later_stop() -> None:
    told = Told()
    seen: set[int] = set()
    for _ in range(20):
        stop = told.stopped()
        given = {
            stop.presentation.handles.handle_for("variables_reference", number)
            for number in range(50)
        }
        assert len(given) == 50
        assert not given & seen
        seen |= given


def test_the_handles_of_a_stop_end_with_it() -> None:
    told = Told()
    first = told.stopped()
    handle = first.presentation.handles.handle_for("frame_id", 1)
    told.stopped()
    with pytest.raises(ArgumentError):
        first.presentation.handles.resolve("frame_id", handle)


# -- what is kept


def test_a_stop_that_is_over_keeps_the_locals_of_its_innermost_frame_only() -> None:
    told = Told()
    first = at(told, x="1")
    told.variables(99, secret="2")
    at(told)
    assert [v["name"] for v in first.locals()] == ["x"]
    assert first.values.variables.keys() == {LOCALS}
    assert first.values.is_settled


def test_what_is_kept_of_a_stop_is_bounded() -> None:
    told = Told()
    first = at(told, shown={f"v{n}": "x" * 5000 for n in range(1000)}, depth=500)
    at(told)
    assert len(first.stack.frames[1]) == KEPT_FRAMES
    assert len(first.locals()) == KEPT_VARIABLES
    assert {len(v["value"]) for v in first.locals()} == {KEPT_VALUE + len("… (5000 chars)")}


def test_a_variable_of_a_stop_that_is_over_cannot_be_opened() -> None:
    told = Told()
    first = at(told)
    nested = {"name": "x", "value": "[1]", "variablesReference": 8}
    told.tell("variables", {"variables": [nested]}, variablesReference=LOCALS)
    at(told)
    assert [v["variablesReference"] for v in first.locals()] == [0]


def test_the_history_holds_the_last_hundred_stops() -> None:
    told = Told()
    for _ in range(KEPT_STOPS + 50):
        told.stopped()
    history = told.mirror.history
    assert [stop.number for stop in history] == list(range(51, 151))
    assert history.find(50) is None
    assert history.find(51) is next(iter(history))


def test_a_stop_that_was_never_there_is_not_found() -> None:
    assert StopHistory().find(1) is None


def test_the_scopes_that_a_person_looks_at_first_are_found_by_hint_then_by_name() -> None:
    told = Told()
    stop = told.stopped()
    named = [scope("Registers"), scope("Locals"), scope("Arguments")]
    hinted = [scope("Variables", presentationHint="locals"), scope("Locals of a module")]
    others = [scope("Everything"), scope("Globals")], [scope("Globals")]
    for frame, scopes in enumerate((named, hinted, *others)):
        numbered = [{**each, "variablesReference": 10 * frame + 1} for each in scopes]
        told.tell("scopes", {"scopes": numbered}, frameId=frame)
    chosen = [[found["name"] for found in stop.values.local_scopes(frame)] for frame in range(4)]
    assert chosen == [["Locals", "Arguments"], ["Variables"], ["Everything"], []]


def test_an_expensive_scope_is_none_that_a_person_looks_at_first() -> None:
    told = Told()
    stop = told.stopped()
    told.tell("scopes", {"scopes": [scope("Locals", expensive=True)]}, frameId=0)
    assert stop.values.local_scopes(0) == []


def scope(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "variablesReference": 1, "expensive": False, **more}


def test_a_reference_that_is_used_for_another_frame_takes_nothing_from_the_innermost() -> None:
    told = Told()
    stop = told.stopped()
    told.frames(2)
    for frame, value in ((100, "1"), (101, "2"), (100, "1")):
        told.tell("scopes", {"scopes": [scope("Locals", variablesReference=1)]}, frameId=frame)
        assert 1 not in stop.values.variables
        if frame == 101:
            assert [v["value"] for v in stop.locals()] == ["1"]
            assert stop.values.scopes.keys() == {101}
        told.variables(1, x=value)
        assert [v["value"] for v in stop.locals(frame)] == [value]
        assert [v["value"] for v in stop.locals()] == ["1"]
    told.tell("scopes", {"scopes": [scope("Locals", variablesReference=1)]}, frameId=101)
    told.stopped()
    # It is what the history remembers of the stop, too.
    assert [v["value"] for v in stop.locals()] == ["1"]


def test_a_handle_of_a_scope_knows_its_frame() -> None:
    stop = Told().stopped()
    of_frame = [
        stop.presentation.handles.handle_for("variables_reference", 1, frame)
        for frame in (100, 101)
    ]
    assert len(set(of_frame)) == 2
    assert [
        stop.presentation.handles.resolve("variables_reference", handle) for handle in of_frame
    ] == [1, 1]
    assert [stop.presentation.handles.frame_of_scope(handle) for handle in of_frame] == [100, 101]
    assert (
        stop.presentation.handles.frame_of_scope(
            stop.presentation.handles.handle_for("variables_reference", 1)
        )
        is None
    )
