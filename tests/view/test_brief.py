"""What a reader who was told of one stop need not be told again at the next."""

from dapeer.view.snapshot import Snapshot, SnapshotReader, shorten_snapshot


def look(stop: int, **locals_: str) -> Snapshot:
    """Return a look at a stop in `f`, which `main` has called."""
    return {
        "session_id": 1,
        "state": "stopped",
        "stop": stop,
        "reason": "step",
        "thread_id": 1,
        "file": "/project/a.py",
        "line": 10,
        "function": "f",
        "stack": ["f a.py:10", "main a.py:20 [1]"],
        "source": "→ 10 work()",
        "locals": locals_,
    }


def untold(before: Snapshot, now: Snapshot) -> Snapshot:
    reader = SnapshotReader()
    reader.mark_read(before)
    return reader.without_read_parts(now)


def test_the_locals_that_are_as_before_are_counted_and_left_out() -> None:
    kept = untold(look(1, a="1", b="2", c="3"), look(2, a="1", b="2", c="4"))
    assert kept.get("locals") == {"c": "4"}
    assert kept.get("notes") == ["as before: stack, 2 locals"]


def test_what_was_returned_is_told_again_and_not_counted_as_before() -> None:
    same = {"a": "1", "(return) total": "7"}
    kept = untold(look(1, **same), look(2, **same))
    assert kept.get("locals") == {"(return) total": "7"}
    assert kept.get("notes") == ["as before: stack, 1 local"]


def test_the_same_stop_is_shown_whole_to_who_asks_again() -> None:
    assert untold(look(1, a="1"), look(1, a="1")) == look(1, a="1")


def test_a_brief_look_has_of_the_locals_what_was_returned_alone() -> None:
    assert shorten_snapshot(look(1, a="1", **{"(return) total": "7"})).get("locals") == {
        "(return) total": "7"
    }
    assert "locals" not in shorten_snapshot(look(1, a="1"))
