"""What a person would look at, as data: bounded, and nothing is left out without a word."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest
from pydantic import TypeAdapter

from dapeer.base.sources import relative_to_project
from dapeer.dap.types import StackFrame
from dapeer.mirror.breakpoint_status import LOG_POINT
from dapeer.mirror.stops import Stack, Stop, StopFindings
from dapeer.view import render, snapshot, stacks, variables
from dapeer.view.snapshot import Snapshot
from tests.told import Told
from tools.record import read

PROJECT = Path("/project")
CHECK = TypeAdapter(Snapshot)


def shown(told: Told) -> Snapshot:
    """Return the snapshot of where the program is stopped, held against its own shape."""
    view = snapshot.snapshot_of_stop(1, told.mirror, told.mirror.require_stop(), PROJECT)
    assert CHECK.validate_python(view, strict=True, extra="forbid") == view
    return view


def text(told: Told) -> str:
    return render.snapshot(shown(told), PROJECT)


def stop(
    told: Told, many: Mapping[str, str] | None = None, *, frames: int = 1, **more: str
) -> Stop:
    """Let the program stop with that many frames, and these locals in the innermost."""
    told.ask("continue", threadId=1)
    stopped = told.stopped(reason="breakpoint")
    stack = [
        {"id": n, "name": f"f{n}", "line": 10 + n, "column": 1, "source": {"path": "/project/a.py"}}
        for n in range(frames)
    ]
    body = {"stackFrames": stack[:20], "totalFrames": frames}
    told.tell("stackTrace", body, threadId=1, startFrame=0, levels=20)
    scope = {"name": "Locals", "variablesReference": 7, "expensive": False}
    told.tell("scopes", {"scopes": [scope]}, frameId=0)
    told.variables(7, **more, **(many or {}))
    return stopped


def notes(told: Told) -> list[str]:
    return shown(told).get("notes", [])


# -- a stop


def test_a_stop_tells_reason_place_stack_and_locals() -> None:
    told = Told()
    stop(told, frames=2, x="1")
    assert shown(told) == {
        "session_id": 1,
        "state": "stopped",
        "stop": 1,
        "reason": "breakpoint",
        "thread_id": 1,
        "file": "/project/a.py",
        "line": 10,
        "function": "f0",
        "stack": ["f0 a.py:10", "f1 a.py:11 [1]"],
        "locals": {"x": "1"},
    }


def test_a_stop_of_which_nothing_is_known_yet_says_so_little() -> None:
    told = Told()
    told.stopped(reason="pause")
    assert shown(told) == {
        "session_id": 1,
        "state": "stopped",
        "stop": 1,
        "reason": "pause",
        "thread_id": 1,
        "stack": [],
        "locals": {},
    }


def test_of_600_frames_the_innermost_are_shown_and_the_others_counted() -> None:
    told = Told()
    stop(told, frames=600)
    lines = shown(told).get("stack", ())
    assert [line.split()[0] for line in lines[: stacks.MAX_STACK_LINES]] == [
        f"f{n}" for n in range(5)
    ]
    more = f"… {600 - stacks.MAX_STACK_LINES - 1} more: dap_stacktrace start_frame=5"
    assert lines[stacks.MAX_STACK_LINES :] == [more, "f19 a.py:29 [5]"], (
        "the outermost that is known"
    )
    assert "Called by [id]:\n  f1 :11 [1]\n" in text(told)


def test_of_30_locals_20_are_shown_and_the_others_counted() -> None:
    told = Told()
    stop(told, {f"v{n}": str(n) for n in range(30)})
    assert len(shown(told).get("locals", ())) == variables.MAX_LOCALS
    assert notes(told) == ["10 more locals: dap_variables"]


def test_a_value_of_a_megabyte_is_cut_and_says_how_long_it_was() -> None:
    told = Told()
    stop(told, big="x" * 1_000_000)
    assert shown(told).get("locals") == {"big": "x" * variables.VALUE_CHARS + "… (1000000 chars)"}


def test_of_30_conditions_that_failed_20_are_shown_and_the_others_counted() -> None:
    told = Told()
    told.stopped()
    for line in range(30):
        told.event("breakpointFailed", expression="x", path="/p/a.py", line=line, error="no")
    *shown_ones, left = notes(told)
    assert len(shown_ones) == 20
    assert left == "10 more expressions of breakpoints failed"


def test_locals_of_the_same_name_are_both_shown() -> None:
    told = Told()
    stop(told)
    twins = [{"name": "i", "value": v, "variablesReference": 0} for v in ("1", "2")]
    told.tell("variables", {"variables": twins}, variablesReference=7)
    assert shown(told).get("locals") == {"i": "1", "i'": "2"}


def test_locals_that_did_not_arrive_are_told_of() -> None:
    told = Told()
    stop(told).values.variables.clear()
    assert notes(told) == ["locals did not arrive (a slow repr?): ask again with dap_variables"]


def test_a_frame_without_scopes_has_no_locals_and_that_is_all() -> None:
    told = Told()
    stop(told)
    told.tell("scopes", {"scopes": []}, frameId=0)
    assert (shown(told).get("locals"), notes(told)) == ({}, [])


def test_changes_are_shown_as_before_and_after() -> None:
    told = Told()
    stop(told, count="1", empty="")
    stop(told, count="2", empty="x", later="3")
    assert shown(told).get("changed") == {
        "count": ["1", "2"],
        "empty": ["", "x"],
        "later": [None, "3"],
    }


def test_of_many_changes_the_first_are_shown_and_the_others_counted() -> None:
    told = Told()
    stop(told, {f"v{n}": "0" for n in range(12)})
    stop(told, {f"v{n}": "1" * 1000 for n in range(12)})
    changed = shown(told).get("changed", {})
    assert len(changed) == variables.MAX_CHANGES
    assert changed["v0"] == ["0", "1" * variables.VALUE_CHARS + "… (1000 chars)"]
    assert notes(told) == [f"{12 - variables.MAX_CHANGES} more changed: dap_variables"]


def test_long_source_lines_are_cut_and_say_how_long_they_were() -> None:
    told = Told()
    stop(told).record_findings(StopFindings(source=(9, ["short", "y" * 5000])))
    first, second = str(shown(told).get("source")).splitlines()
    assert first == "   9 short"
    assert second == "→ 10 " + "y" * snapshot.SOURCE_LINE + "… (5000 chars)"


def test_much_output_is_cut_to_its_last_lines_and_the_call_for_the_rest_is_named() -> None:
    told = Told()
    told.event("output", category="stdout", output="first\n" * 4)
    told.stopped().presentation.output_shown = told.mirror.output.end
    told.ask("continue", threadId=1)
    told.event("output", category="stdout", output="".join(f"line {n}\n" for n in range(5000)))
    stop(told)
    snapshot = shown(told).get("output", "")
    assert snapshot.splitlines() == [f"line {n}" for n in range(4990, 5000)]
    left = told.mirror.output.end - 24 - len(snapshot)
    assert notes(told) == [f"{left} more characters of output: dap_program_output since=24"]


def test_one_endless_line_of_output_is_cut_too() -> None:
    told = Told()
    told.event("output", category="stdout", output="x" * 100_000)
    stop(told)
    assert shown(told).get("output") == "x" * snapshot.OUTPUT_CHARS
    assert len(notes(told)) == 1


def test_everything_at_once_is_still_small() -> None:
    told = Told()
    for value in "ab":
        told.event("output", category="stdout", output="o" * 1_000_000)
        stopped = stop(told, {f"v{n}": value * 100_000 for n in range(300)}, frames=600)
        stopped.record_findings(StopFindings(source=(7, ["s" * 100_000] * 7)))
        stopped.exception = {"exceptionId": "E", "description": "d" * 1_000_000}
        stopped.body = {**stopped.body, "description": "D" * 1_000_000}
    assert len(text(told)) < 10_000


def test_an_exception_is_told_by_its_type_and_message() -> None:
    told = Told()
    stop(told).exception = {
        "exceptionId": "ValueError",
        "description": "no number",
        "details": {"typeName": "builtins.ValueError", "message": "no number: 'x'"},
    }
    assert shown(told).get("exception") == "builtins.ValueError: no number: 'x'"


@pytest.mark.parametrize(
    ("info", "body", "told_of"),
    [
        ({"exceptionId": "SIGSEGV"}, {}, "SIGSEGV"),
        ({"exceptionId": "E", "description": "why"}, {}, "E: why"),
        ({}, {}, ""),
        (None, {"reason": "exception", "text": "Boom"}, "Boom"),
        (None, {"reason": "step", "text": "Boom"}, ""),
    ],
)
def test_an_exception_is_told_as_far_as_the_adapter_does(
    info: dict[str, object] | None, body: dict[str, object], told_of: str
) -> None:
    stopped = Stop(1, body, Stack(1), exception=info)
    assert snapshot.exception_text(stopped) == told_of


@pytest.mark.parametrize(
    ("exception", "said"),
    [
        ("AssertionError [ERR_ASSERTION]: 3 == 4", "failed assertion"),
        ("JestAssertionError: expected 3", "failed assertion"),
        ("Error: expect(received).toBe(expected)", "failed assertion"),
        ("Error: no expectation", "promise rejection"),
        ("TypeError: n is null", "promise rejection"),
    ],
)
def test_an_assertion_that_fails_in_a_promise_is_headed_as_one(exception: str, said: str) -> None:
    told = Told()
    told.event("stopped", threadId=1, reason="exception", description="Paused on promise rejection")
    assert told.mirror.stop is not None
    told.mirror.stop.exception = {"description": exception}
    assert shown(told).get("description") == said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"reason": "breakpoint", "description": "Paused on breakpoint"}, None),
        ({"reason": "pause", "description": "Paused on debugger statement"}, "debugger statement"),
        ({"reason": "step", "description": "Paused"}, None),
        ({"reason": "step", "description": "Step"}, None),
        ({"reason": "signal", "description": "Segmentation fault"}, "Segmentation fault"),
    ],
)
def test_a_description_is_shown_where_it_says_more_than_the_reason(
    body: dict[str, object], said: str | None
) -> None:
    told = Told()
    told.event("stopped", threadId=1, **body)
    assert shown(told).get("description") == said


# -- the text


def test_the_text_of_a_stop_of_a_small_program_is_under_700_bytes() -> None:
    told = Told()
    for line in read("debugpy"):
        told.mirror.apply(line.message, line.at)
        stopped = told.mirror.stop
        if stopped is not None and stopped.locals():
            lines = [f"    total = a + b  # line {n}" for n in range(7)]
            stopped.record_findings(StopFindings(source=(2, lines)))
            assert 100 < len(text(told).encode()) < 700


NOT_AT_A_STOP = {
    "exit_code",
    "other_thread",
    "breakpoints",
    "cause",
    "collected",
    "parent",
    "pausing",
    "threads",
    "tasks",
    "deadlock",
    "waits",
    "values",
    "failed",
    "returned",
    "raised",
    "until",
}
"""Facts of a snapshot that this one does not have."""


def test_text_and_data_tell_the_same_facts() -> None:
    told = Told()
    told.threads(1, 2)
    stop(told, frames=9, x="1", empty="").presentation.output_shown = 0
    told.ask("continue", threadId=1)
    told.event("output", category="stdout", output="said\n\npartly" + "z" * 700)
    where = {"source": {"path": "/project/b.py"}, "line": 3, LOG_POINT: True}
    told.event("output", category="stdout", output="logged", **where)
    stopped = stop(told, {f"v{n}": f"<{n}>" for n in range(30)}, frames=9, x="2", empty="e")
    stopped.record_findings(StopFindings(source=(9, ["def f0():", "    pass"])))
    stopped.exception = {"exceptionId": "Oops", "description": "it broke"}
    stopped.body = {**stopped.body, "description": "A description"}
    view, written = shown(told), text(told)
    assert view.keys() == Snapshot.__annotations__.keys() - NOT_AT_A_STOP
    told_by_text = [
        view.get("reason"), view.get("description"), view.get("function"), view.get("exception"),
        "a.py:10", "session 1", *view.get("notes", ()),
        *(line.replace(" a.py:", " :") for line in view.get("stack", ())[1:]),
        *view.get("source", "").splitlines(),
        *(f"{name} = {value}" for name, value in view.get("locals", {}).items()),
        "x: 1 → 2", "empty:  → e", "v0: new", *view.get("output", "").splitlines(),
        "b.py:3 #1 logged",
    ]  # fmt: skip
    assert [fact for fact in told_by_text if str(fact) not in written] == []


def test_the_thread_is_named_where_it_is_not_the_first() -> None:
    told = Told()
    told.stopped(1)
    assert "thread" not in text(told)
    told.stopped(2)
    assert "[session 1, thread 2]" in text(told)


def test_what_is_relative_in_text_is_absolute_in_data() -> None:
    told = Told()
    stop(told)
    assert shown(told).get("file") == "/project/a.py"
    assert "at a.py:10 in f0" in text(told)


# -- running and ended


def test_a_running_program_shows_what_it_printed_since() -> None:
    told = Told()
    told.event("output", category="stdout", output="old\nnew\n")
    view = snapshot.snapshot_of_running(1, told.mirror, 4, PROJECT)
    assert CHECK.validate_python(view, strict=True) == view
    assert view == {"session_id": 1, "state": "running", "output": "new\n"}
    assert render.snapshot(view, PROJECT).splitlines() == [
        "Still running [session 1]. Wait on with dap_wait_until_paused, or stop it with dap_pause.",
        "Output:",
        "  new",
    ]


def test_a_pause_that_is_pending_is_told_with_places() -> None:
    told = Told()
    told.ask("pause", threadId=1)
    view = snapshot.snapshot_of_running(1, told.mirror, 0, PROJECT)
    view["threads"] = ["1 main blocked at a.py:3 in f"]
    view["tasks"] = ["Task-1 at a.py:9 in g"]
    assert CHECK.validate_python(view, strict=True) == view
    lines = render.snapshot(view, PROJECT).splitlines()
    assert lines[0].startswith(
        "Not stopped yet [session 1]: all its threads are blocked, or run native code."
    )
    assert lines[1:] == [
        "Threads:",
        *map("  {}".format, view["threads"]),
        "Tasks:",
        *map("  {}".format, view["tasks"]),
    ]


def test_the_end_tells_code_cause_and_last_output() -> None:
    told = Told()
    told.event("output", category="stderr", output="bye\n")
    told.event("exited", exitCode=3)
    told.event("terminated")
    view = snapshot.snapshot_of_end(1, told.mirror, 0, "its adapter has gone", PROJECT)
    assert CHECK.validate_python(view, strict=True) == view
    assert view == {
        "session_id": 1,
        "state": "ended",
        "exit_code": 3,
        "cause": "its adapter has gone",
        "output": "bye\n",
    }
    assert render.snapshot(view, PROJECT) == (
        "Ended, exit code 3: its adapter has gone [session 1]\nOutput:\n  bye"
    )
    # What its adapter tells as the exit code of a killed program is none.
    assert "exit_code" not in snapshot.snapshot_of_end(
        1, told.mirror, 0, "killed by SIGKILL", PROJECT
    )


def test_an_exit_code_of_zero_is_told_and_an_unknown_one_is_called_so() -> None:
    told = Told()
    told.event("terminated")
    unknown = snapshot.snapshot_of_end(1, told.mirror, 0, None, PROJECT)
    told.event("exited", exitCode=0)
    known = snapshot.snapshot_of_end(1, told.mirror, 0, None, PROJECT)
    assert render.snapshot(unknown, PROJECT) == "Ended, exit code unknown [session 1]"
    assert render.snapshot(known, PROJECT) == "Ended, exit code 0 [session 1]"


def test_much_output_of_an_ended_program_is_cut_and_counted() -> None:
    told = Told()
    told.event("output", category="stdout", output="x" * 10_000)
    told.event("terminated")
    view = snapshot.snapshot_of_end(1, told.mirror, 0, None, PROJECT)
    assert view.get("notes") == ["9400 more characters of output: dap_program_output since=0"]


# -- small parts


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("/project/src/a.py", "src/a.py"),
        ("/elsewhere/a.py", "/elsewhere/a.py"),
        ("/projects/a.py", "/projects/a.py"),
        ("", ""),
    ],
)
def test_a_path_in_the_project_is_written_relative_to_it(path: str, written: str) -> None:
    assert relative_to_project(path, PROJECT) == written


def test_a_frame_without_a_file_is_written_by_what_is_known() -> None:
    bare = {"id": 1, "name": "clone", "line": 0, "column": 0}
    named = {**bare, "source": {"name": "<string>"}}
    lines = [stacks.frame_line(cast("StackFrame", f), PROJECT) for f in (bare, named)]
    assert lines == ["clone", "clone <string>:0"]


def test_an_earlier_stop_shows_its_own_output_only() -> None:
    told = Told()
    told.event("output", category="stdout", output="one\n")
    first = stop(told)
    first.presentation.output_shown = told.mirror.output.end
    told.ask("continue", threadId=1)
    told.event("output", category="stdout", output="two\n")
    stop(told)
    view = snapshot.snapshot_of_stop(1, told.mirror, first, PROJECT)
    assert view.get("output") == "one\n"


# -- whose the frames are


def crashed(told: Told, reason: str, *names: str) -> Stop:
    """Let the program stop with these frames; those that begin with an underscore have no source."""
    told.ask("continue", threadId=1)
    stopped = told.stopped(reason=reason)
    stack: list[dict[str, object]] = []
    for number, name in enumerate(names):
        made: dict[str, object] = {"id": number, "name": name, "line": 10 + number, "column": 1}
        source = {} if name.startswith("_") else {"source": {"path": "/project/a.c"}}
        stack.append({**made, **source})
    told.tell("stackTrace", {"stackFrames": stack}, threadId=1, startFrame=0, levels=20)
    if stopped.default_frame is not None:
        told.tell("scopes", {"scopes": []}, frameId=stopped.default_frame["id"])
    return stopped


CRASH = ("_kill", "_raise", "_abort", "check", "main", "_call_main", "_start")


def test_at_a_crash_the_users_frame_comes_first_and_others_are_counted() -> None:
    told = Told()
    stop = crashed(told, "signal", *CRASH)
    view = shown(told)
    assert (view.get("line"), view.get("function")) == (13, "check")
    assert view.get("stack") == [
        "3 frames of code without source: _kill …",
        "check a.c:13",
        "main a.c:14 [1]",
        "2 frames of code without source",
    ]
    assert "notes" not in view
    assert stop.default_frame is stop.stack.frames[1][3]


def test_where_somebody_wanted_to_stop_the_innermost_frame_comes_first() -> None:
    told = Told()
    crashed(told, "step", *CRASH)
    view = shown(told)
    assert view.get("function") == "_kill"
    assert view.get("stack") == [
        "_kill",
        "_raise [1]",
        "_abort [2]",
        "check a.c:13 [3]",
        "main a.c:14 [4]",
        "2 frames of code without source",
    ]


def test_frames_that_are_counted_together_are_not_counted_again() -> None:
    told = Told()
    crashed(told, "pause", "_wait", "_read", "a", "_b", "_c", "d", "_e", "_f", "g", "_h", "_i")
    assert shown(told).get("stack") == [
        "2 frames of code without source: _wait …",
        "a a.c:12",
        "2 frames of code without source",
        "d a.c:15 [1]",
        "2 frames of code without source",
        "g a.c:18 [2]",
        "2 frames of code without source",
    ]


def test_without_any_frame_of_the_users_all_are_shown_as_they_are() -> None:
    told = Told()
    crashed(told, "signal", "_kill", "_raise", "_start")
    view = shown(told)
    assert view.get("function") == "_kill"
    assert view.get("stack") == ["_kill", "_raise [1]", "_start [2]"]


def test_output_that_is_cut_begins_with_a_whole_line() -> None:
    lines = [f"{number} {'x' * 98}\n" for number in range(9)]
    assert snapshot.last_lines("".join(lines)) == "".join(lines[4:])
    assert snapshot.last_lines("y" * 700) == "y" * 600
    assert snapshot.last_lines("y" * 700 + "\nend\n") == "end\n"
