"""Breakpoints and small parts as text."""

from pathlib import Path

import pytest

from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.dap.types import Breakpoint
from dapeer.view import render
from dapeer.view.snapshot import Snapshot

PROJECT = Path("/project")


@pytest.mark.parametrize(
    ("made", "state"),
    [
        (None, "waiting for a session"),
        (Breakpoint(verified=True), "verified"),
        (Breakpoint(verified=True, message="moved"), "verified"),
        (Breakpoint(verified=False), "pending"),
        (Breakpoint(verified=False, reason="pending", message="no such file yet"), "pending"),
        (Breakpoint(verified=False, message="Breakpoint is pending."), "pending"),
        (Breakpoint(verified=False, message="Unbound breakpoint"), "pending"),
        (Breakpoint(verified=False, message="No code on this line"), "rejected"),
    ],
)
def test_a_breakpoint_is_verified_pending_rejected_or_waits(
    made: Breakpoint | None, state: str
) -> None:
    assert render.breakpoint_state(made) == state


@pytest.mark.parametrize(
    ("wanted", "made", "text", "line"),
    [
        (RequestedBreakpoint(line=5), Breakpoint(verified=True, line=5), "", "5 verified"),
        (RequestedBreakpoint(line=5), Breakpoint(verified=True), "  x = 1 ", "5 verified | x = 1"),
        (
            RequestedBreakpoint(line=5),
            Breakpoint(verified=True, line=7),
            "y = 2",
            "5 verified, moved to line 7 | y = 2",
        ),
        (
            RequestedBreakpoint(line=5),
            Breakpoint(verified=False, message="No code here"),
            "",
            "5 rejected: No code here",
        ),
        (
            RequestedBreakpoint(line=5, condition="x > 1", hitCondition="3", logMessage="{x}"),
            None,
            "",
            "5 waiting for a session (if x > 1; hits 3; logs {x})",
        ),
    ],
)
def test_a_breakpoint_is_one_line(
    wanted: RequestedBreakpoint, made: Breakpoint | None, text: str, line: str
) -> None:
    assert render.breakpoint_line(wanted, made, text) == line


def test_a_change_from_an_empty_value_is_not_a_new_variable() -> None:
    changed = {"a": ["", "x"], "b": [None, "y"]}
    assert render.change_lines(changed, {"a", "b"}) == ["a:  → x", "b: new"]
    assert render.change_lines(changed) == ["a:  → x", "b = y (new)"]


@pytest.mark.parametrize(
    ("path", "line", "function", "text"),
    [
        ("/project/a.py", 3, "f", " at a.py:3 in f"),
        ("/elsewhere/a.py", 3, "", " at /elsewhere/a.py:3"),
        ("", None, "clone", " in clone"),
        ("", None, "", ""),
    ],
)
def test_a_place_is_told_as_far_as_it_is_known(
    path: str, line: int | None, function: str, text: str
) -> None:
    assert render.location(path, line, function, PROJECT) == text


def test_a_long_value_is_cut_and_says_how_to_see_the_rest() -> None:
    assert render.value("x" * 30, 10, "slice it") == "xxxxxxxxxx… (30 chars)\n(slice it)"


def test_a_stack_does_not_name_the_file_again_that_the_first_line_names() -> None:
    view = Snapshot(
        session_id=1, state="stopped", reason="step", file="/project/shop/cart.py", line=3, function="total",
        stack=["total shop/cart.py:3", "pay shop/till.py:9", "main shop/cart.py:20"], locals={},
    )  # fmt: skip
    assert render.snapshot(view, PROJECT).splitlines() == [
        "Stopped (step) at shop/cart.py:3 in total [session 1]",
        "Called by:", "  pay shop/till.py:9", "  main :20",
    ]  # fmt: skip
