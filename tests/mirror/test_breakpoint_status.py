"""What an adapter has not answered about breakpoints."""

from dapeer.mirror.breakpoint_status import BreakpointStatuses
from tests.told import Told

ASKED = {"source": {"path": "/a.py"}, "breakpoints": [{"line": 3}]}


def test_a_file_whose_breakpoints_were_not_answered_is_known_with_the_reason() -> None:
    placed = BreakpointStatuses()
    placed.apply_request("setBreakpoints", ASKED)
    assert placed.failed_requests == {"/a.py": "has not answered `setBreakpoints`"}
    placed.record_refusal("setBreakpoints", ASKED, "no such file")
    assert placed.failed_requests == {"/a.py": "refused: no such file"}


def test_a_request_about_something_else_is_not_taken_for_one_about_a_file() -> None:
    placed = BreakpointStatuses()
    placed.apply_request("setFunctionBreakpoints", {"breakpoints": [{"name": "f"}]})
    placed.record_refusal("setFunctionBreakpoints", ASKED, "not supported")
    assert placed.failed_requests == {}


def test_an_answer_that_leaves_out_a_breakpoint_says_nothing_new_of_it() -> None:
    told = Told()
    asked = {"source": {"path": "/app.js"}, "breakpoints": [{"line": 2}]}
    told.tell("setBreakpoints", {"breakpoints": [{"id": 1, "verified": False}]}, **asked)
    told.tell("setBreakpoints", {"breakpoints": []}, **asked)
    told.event("breakpoint", reason="changed", breakpoint={"id": 1, "verified": True, "line": 2})
    assert told.mirror.breakpoints["/app.js"] == [
        ({"line": 2}, {"id": 1, "verified": True, "line": 2})
    ]
    # One that was not asked for again is gone.
    told.tell("setBreakpoints", {"breakpoints": []}, source={"path": "/app.js"}, breakpoints=[])
    assert told.mirror.breakpoints["/app.js"] == []


def test_the_number_0_is_a_number_as_any_other() -> None:
    told = Told()
    asked = {"source": {"path": "/a.py"}, "breakpoints": [{"line": 2}, {"line": 3}]}
    told.tell(
        "setBreakpoints",
        {"breakpoints": [{"id": 0, "verified": False}, {"verified": False}]},
        **asked,
    )
    told.event("breakpoint", reason="changed", breakpoint={"id": 0, "verified": True})
    states = [made["verified"] for _, made in told.mirror.breakpoints["/a.py"]]
    assert states == [True, False]


def test_output_without_a_line_is_of_no_log_point() -> None:
    told = Told()
    source = {"path": "/a.py"}
    asked = {"source": source, "breakpoints": [{"line": 2, "logMessage": "x"}]}
    told.tell("setBreakpoints", {"breakpoints": [{"verified": True}]}, **asked)
    statuses = told.mirror.breakpoint_statuses
    assert statuses.log_point({"source": source}) is None
    assert statuses.log_point({"source": source, "line": 2}) == ("/a.py", 2, 0)
