"""What clients and people have done, as the others are told."""

from pathlib import Path

from dapeer.sessions.breakpoints.breakpoints import Breakpoints
from dapeer.sessions.doings import PERSON, Actor, Doings

PROJECT = Path("/p")
OTHER = Actor("b", "claude-code 2.0")


def test_changes_of_a_place_are_one_and_those_undone_are_none() -> None:
    kept = Breakpoints()
    with kept.doings.acting_as(OTHER):
        kept.add("/p/a.py", {"line": 3})
        kept.add("/p/a.py", {"line": 3, "condition": "x"})
        kept.add("/p/b.py", {"line": 4})
        kept.remove("/p/b.py", 4)
        kept.set_function_names(["main"])
    said = "since your last answer another client (claude-code 2.0) set a.py:3, main"
    assert kept.doings.describe_others("a", 0, (), PROJECT) == said
    assert not kept.doings.describe_others("b", 0, (), PROJECT)
    assert not kept.doings.describe_others("a", kept.doings.count, (), PROJECT)


def test_a_change_that_the_client_itself_has_made_undone_is_not_told() -> None:
    kept = Breakpoints()
    with kept.doings.acting_as(PERSON):
        kept.add("/p/a.py", {"line": 3})
    with kept.doings.acting_as(Actor("a")):
        kept.remove("/p/a.py", 3)
    assert not kept.doings.describe_others("a", 0, (), PROJECT)


def test_steps_are_counted_and_those_of_other_programs_left_out() -> None:
    doings, mine, theirs = Doings(), object(), object()
    with doings.acting_as(PERSON):
        doings.record_move("next", 1, mine)
        doings.record_move("next", 1, mine)
        doings.record_move("continue", 2, theirs)
        doings.record_move("terminate", 1, mine)
        doings.record_move("disconnect", 1, mine)
    said = "since your last answer the person stepped over in session 1 2 times, ended session 1"
    assert doings.describe_others("a", 0, {mine}, PROJECT) == said


def test_what_nobody_has_done_is_not_told() -> None:
    kept = Breakpoints()
    kept.add("/p/a.py", {"line": 3})
    assert not kept.doings.describe_others("a", 0, (), PROJECT)


def test_of_many_places_the_first_ones_are_named() -> None:
    kept = Breakpoints()
    with kept.doings.acting_as(PERSON):
        for line in range(1, 9):
            kept.add("/p/a.py", {"line": line})
    assert kept.doings.describe_others("a", 0, (), PROJECT).endswith("a.py:4, a.py:5 and 3 more")
