"""What a mirror keeps of what it is told: variables, frames, output, breakpoints, capabilities."""

import pytest

from dapeer.dap.messages import Request
from dapeer.mirror.output import OutputIntake
from tests.public import public
from tests.told import Told, variables


def test_evaluate_marks_what_was_fetched_as_outdated_until_it_is_fetched_again() -> None:
    told = Told()
    stop = told.stopped()
    told.variables(7, x="1")
    told.variables(8, y="1")
    told.tell("evaluate", {"result": "2"}, expression="x = 2", context="repl")
    assert stop.values.outdated_references == {7, 8}
    told.variables(7, x="2")
    assert stop.values.outdated_references == {8}


def test_a_hover_changes_nothing() -> None:
    told = Told()
    stop = told.stopped()
    told.variables(7, x="1")
    told.tell("evaluate", {"result": "1"}, expression="x", context="hover")
    assert not stop.values.outdated_references


def test_a_refused_write_marks_nothing_as_outdated() -> None:
    told = Told()
    stop = told.stopped()
    told.variables(7, x="1")
    told.answer(told.ask("setVariable", variablesReference=7, name="x"), success=False)
    assert not stop.values.outdated_references


def test_a_page_of_a_long_container_is_not_taken_for_the_whole() -> None:
    told = Told()
    stop = told.stopped()
    told.tell(
        "variables", {"variables": variables({"[5]": "1"})}, variablesReference=7, start=5, count=1
    )
    assert not stop.values.variables


def test_telemetry_is_no_output() -> None:
    told = Told()
    told.event("output", category="telemetry", output="debugpy")
    assert told.mirror.output.end == 0


@pytest.mark.parametrize(
    ("category", "known"),
    [("stdout", "stdout"), ("stderr", "stderr"), (None, "console"), ("important", "console")],
)
def test_output_of_an_unknown_category_is_the_console_s(category: str | None, known: str) -> None:
    told = Told()
    told.event("output", category=category, output="x")
    assert [piece.category for piece in told.mirror.output.pieces()] == [known]


def test_unknown_events_and_responses_are_harmless() -> None:
    told = Told()
    before = public(told.mirror)
    told.event("debugpySockets", sockets=[])
    told.event("output")
    told.tell("makeCoffee", {"cups": 1})
    told.mirror.apply(Request(7, "startDebugging", {"configuration": {}}))
    assert public(told.mirror) == before


def with_breakpoints(*made: dict[str, object]) -> Told:
    told = Told()
    wanted = [{"line": 10 * n} for n, _ in enumerate(made, 1)]
    told.tell(
        "setBreakpoints", {"breakpoints": list(made)}, source={"path": "/a.py"}, breakpoints=wanted
    )
    return told


def test_breakpoints_are_kept_as_they_were_wanted_and_as_they_were_made() -> None:
    told = with_breakpoints({"id": 1, "verified": True, "line": 11}, {"id": 2, "verified": False})
    assert told.mirror.breakpoints == {
        "/a.py": [
            ({"line": 10}, {"id": 1, "verified": True, "line": 11}),
            ({"line": 20}, {"id": 2, "verified": False}),
        ]
    }


def test_a_changed_breakpoint_keeps_what_the_event_does_not_tell() -> None:
    told = with_breakpoints({"id": 1, "verified": False, "message": "pending", "line": 10})
    told.event("breakpoint", reason="changed", breakpoint={"id": 1, "line": 12})
    [(_, made)] = told.mirror.breakpoints["/a.py"]
    assert made == {"id": 1, "verified": False, "message": "pending", "line": 12}


def test_why_a_breakpoint_was_not_verified_is_forgotten_when_it_is() -> None:
    told = with_breakpoints({"id": 1, "verified": False, "message": "pending", "line": 10})
    told.event("breakpoint", reason="changed", breakpoint={"id": 1, "verified": True, "line": 12})
    [(_, made)] = told.mirror.breakpoints["/a.py"]
    assert made == {"id": 1, "verified": True, "line": 12}


@pytest.mark.parametrize("reason", ["changed", "removed"])
def test_breakpoints_of_one_number_are_told_apart_by_their_lines(reason: str) -> None:
    told = with_breakpoints(
        {"id": 1, "verified": True, "line": 10}, {"id": 1, "verified": True, "line": 20}
    )
    told.event("breakpoint", reason=reason, breakpoint={"id": 1, "verified": False, "line": 20})
    verified = [made.get("verified") for _, made in told.mirror.breakpoints["/a.py"]]
    assert verified == [True, False]


@pytest.mark.parametrize(
    ("reason", "changed"),
    [
        ("new", {"id": 9, "verified": True, "line": 5}),
        ("removed", {"id": 9, "verified": False}),
        ("changed", {"verified": True}),
    ],
)
def test_breakpoint_events_about_none_of_ours_change_nothing(
    reason: str, changed: dict[str, object]
) -> None:
    told = with_breakpoints({"id": 1, "verified": True})
    told.event("breakpoint", reason=reason, breakpoint=changed)
    assert told.mirror.breakpoints == {"/a.py": [({"line": 10}, {"id": 1, "verified": True})]}


def test_a_breakpoint_that_the_adapter_has_removed_is_no_longer_verified() -> None:
    told = with_breakpoints({"id": 1, "verified": True})
    told.event("breakpoint", reason="removed", breakpoint={"id": 1})
    [(_, made)] = told.mirror.breakpoints["/a.py"]
    assert made == {"id": 1, "verified": False, "message": "removed by the adapter"}


def test_function_breakpoints_are_kept_by_name() -> None:
    told = Told()
    body = {"breakpoints": [{"id": 1, "verified": True}]}
    told.tell("setFunctionBreakpoints", body, breakpoints=[{"name": "main"}])
    assert told.mirror.breakpoint_statuses.functions == [("main", {"id": 1, "verified": True})]


def test_breakpoints_on_data_and_instructions_are_kept_and_changed_by_events() -> None:
    told = Told()
    watched, at = {"dataId": "a/4"}, {"instructionReference": "0x10"}
    made = {"breakpoints": [{"id": 1, "verified": False}]}
    told.tell("setDataBreakpoints", made, breakpoints=[watched])
    told.tell("setInstructionBreakpoints", {"breakpoints": [{"id": 2}]}, breakpoints=[at])
    told.event("breakpoint", reason="changed", breakpoint={"id": 1, "verified": True})
    told.event("breakpoint", reason="changed", breakpoint={"id": 2, "verified": True})
    assert told.mirror.breakpoint_statuses.data == [(watched, {"id": 1, "verified": True})]
    assert told.mirror.breakpoint_statuses.instructions == [(at, {"id": 2, "verified": True})]
    told.tell("setDataBreakpoints", {"breakpoints": []}, breakpoints=[])
    assert told.mirror.breakpoint_statuses.data == []


def test_a_capabilities_event_adds_to_what_initialize_said() -> None:
    told = Told()
    told.tell("initialize", {"supportsSetVariable": True, "supportsLogPoints": False})
    told.event("capabilities", capabilities={"supportsLogPoints": True})
    assert told.mirror.capabilities == {"supportsSetVariable": True, "supportsLogPoints": True}


def test_modules_come_and_go() -> None:
    told = Told()
    told.event("module", reason="new", module={"id": 1, "name": "a"})
    told.event("module", reason="new", module={"id": 2, "name": "b"})
    told.event("module", reason="removed", module={"id": 1})
    assert told.mirror.loaded_sources.modules == {"2": {"id": 2, "name": "b"}}


def test_modules_that_are_listed_replace_those_of_events_and_a_later_page_adds() -> None:
    told = Told()
    told.event("module", reason="new", module={"id": 1, "name": "a"})
    told.tell("modules", {"modules": [{"id": 2, "name": "b"}]})
    told.tell("modules", {"modules": [{"id": 3, "name": "c"}]}, startModule=1)
    assert list(told.mirror.loaded_sources.modules) == ["2", "3"]


def test_sources_come_and_go_by_path_or_by_reference() -> None:
    told = Told()
    file, text = {"path": "/a.py"}, {"name": "<made>", "sourceReference": 7}
    told.event("loadedSource", reason="new", source=file)
    told.event("loadedSource", reason="changed", source=text)
    assert list(told.mirror.loaded_sources.sources.values()) == [file, text]
    told.event("loadedSource", reason="removed", source=file)
    assert list(told.mirror.loaded_sources.sources.values()) == [text]
    told.tell("loadedSources", {"sources": [file]})
    assert list(told.mirror.loaded_sources.sources.values()) == [file]


@pytest.mark.parametrize("event", ["memory", "invalidated"])
def test_what_somebody_has_changed_at_a_stop_is_outdated(event: str) -> None:
    told = Told()
    stop = told.stopped()
    told.variables(5, x="1")
    told.event(event, memoryReference="0x10")
    assert stop.values.outdated_references == {5}
    told.variables(5, x="2")
    told.tell("writeMemory", {}, memoryReference="0x10", data="")
    assert stop.values.outdated_references == {5}


def test_a_short_stack_without_a_total_is_whole() -> None:
    told = Told()
    stop = told.stopped()
    told.frames(3)
    assert stop.stack.total_frames == {1: 3}


def test_a_full_page_without_a_total_leaves_the_total_open() -> None:
    told = Told()
    stop = told.stopped()
    told.frames(20)
    assert stop.stack.total_frames == {}
    told.frames(5, start=20)
    assert stop.stack.total_frames == {1: 25}
    assert [each["id"] for each in stop.stack.frames[1]] == list(range(100, 125))


def test_a_total_that_is_too_small_is_not_believed() -> None:
    told = Told()
    stop = told.stopped()
    told.frames(3, total=1)
    assert stop.stack.total_frames == {1: 3}


def test_a_total_counts_frames_that_were_not_fetched() -> None:
    told = Told()
    stop = told.stopped()
    told.frames(20, total=600)
    assert stop.stack.total_frames == {1: 600}
    assert len(stop.stack.frames[1]) == 20


def test_a_page_that_leaves_a_gap_is_not_kept() -> None:
    told = Told()
    stop = told.stopped()
    told.frames(3, total=600)
    told.frames(2, total=600, start=50)
    assert len(stop.stack.frames[1]) == 3


def test_output_that_was_shown_at_a_stop_is_not_told_again_at_the_next() -> None:
    told = Told()
    told.event("output", category="stdout", output="one\n")
    first = told.stopped()
    first.presentation.output_shown = told.mirror.output.end
    told.ask("next", threadId=1)
    told.event("output", category="stdout", output="two\n")
    second = told.stopped()
    assert (first.presentation.output_start, second.presentation.output_start) == (0, 4)
    assert told.mirror.output.read(second.presentation.output_start).text == "two\n"


def test_output_that_nobody_was_shown_is_told_with_the_next_stop() -> None:
    told = Told()
    told.event("output", category="stdout", output="one\n")
    told.stopped()
    told.ask("next", threadId=1)
    assert told.stopped().presentation.output_start == 0


def test_output_that_was_shown_at_a_later_stop_of_another_process_is_not_told_again() -> None:
    printed = OutputIntake()
    told, other = Told(printed), Told(printed)
    told.event("output", category="stdout", output="one\n")
    stops = [told.stopped(), other.stopped()]
    other.mirror.mark_reported(stops[1], printed.output.end, [])
    assert stops[0].presentation.output_from(printed.output.shown_end) == 4
    told.mirror.mark_reported(stops[0], printed.output.end, [])
    assert stops[0].presentation.output_start == 4
