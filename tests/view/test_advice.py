"""What to do about what an adapter and its program say."""

import pytest

from dapeer.base.errors import RequestFailed
from dapeer.mirror.output import OutputLog
from dapeer.view.advice import Advice
from dapeer.view.snapshot import Snapshot


def hint(at: str, text: str) -> str | None:
    """Know what to do about one text, where an expression says it."""
    return "Say it aloud." if (at, text) == ("evaluate", "mute") else None


def failure(context: str, message: str) -> RequestFailed:
    with pytest.raises(RequestFailed) as failed, Advice(hint).on_failure(context):
        raise RequestFailed("evaluate", message)
    return failed.value


def test_a_failed_evaluation_gets_a_hint_where_there_is_one() -> None:
    assert "Say it aloud." in str(failure("watch", "mute"))
    assert "Say it aloud." not in str(failure("watch", "loud"))
    assert "Say it aloud." not in str(failure("repl", "mute"))


def cause(view: Snapshot, why: str | None) -> str | None:
    advice = Advice(missing=lambda _printed: why)
    return advice.noted(view, OutputLog()).get("cause")


def test_why_a_program_has_done_nothing_is_told_at_its_end_alone() -> None:
    assert cause({"session_id": 1, "state": "ended"}, "no tests") == "no tests"
    assert cause({"session_id": 1, "state": "ended"}, None) is None
    assert cause({"session_id": 1, "state": "running"}, "no tests") is None
    assert cause({"session_id": 1, "state": "ended", "cause": "killed"}, "no tests") == "killed"
