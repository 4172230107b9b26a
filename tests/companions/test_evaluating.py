"""What evaluations print is theirs, and the program's streams are its own again, however the evaluations overlap."""

import sys
import threading

import pytest

from dapeer.companions.python.dapeer_debuggee.stops.evaluating import capture_printed, take_printed
from tests.processes import LIMIT


def test_evaluations_that_overlap_leave_the_streams_of_the_program(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = sys.stdout, sys.stderr
    inside, over = threading.Event(), threading.Event()
    printed: list[str] = []

    def evaluate() -> None:
        with capture_printed():
            sys.stdout.write("first\n")
            inside.set()
            # It is still evaluated when the other one ends, and began before that.
            assert over.wait(LIMIT)
            sys.stderr.write("last\n")
            printed.append(take_printed())

    thread = threading.Thread(target=evaluate)
    thread.start()
    assert inside.wait(LIMIT)
    sys.stdout.write("the program's own\n")
    with capture_printed():
        sys.stdout.write("second\n")
        printed.append(take_printed())
        printed.append(take_printed())
    over.set()
    thread.join(LIMIT)
    assert printed == ["second\n", "", "first\nlast\n"]
    assert (sys.stdout, sys.stderr) == before
    sys.stdout.write("after\n")
    assert capsys.readouterr().out == "the program's own\nafter\n"


def test_an_evaluation_within_another_leaves_the_outer_ones_text() -> None:
    with capture_printed():
        sys.stdout.write("outer, ")
        with capture_printed():
            sys.stdout.write("inner")
            inner = take_printed()
        sys.stdout.write("outer again")
        assert (inner, take_printed()) == ("inner", "outer, outer again")
