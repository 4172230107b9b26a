"""The facts of a session become one snapshot."""

from dapeer.collecting.text.timeline import CollectedNews
from dapeer.tools.base.report import SessionFacts, snapshot_of
from dapeer.view.snapshot import Snapshot
from tests.harness import needs
from tools.source import Source
from tools.traced_stop import UP, traced

STATE = Snapshot(
    session_id=1, state="stopped", reason="step", description="why", locals={}, notes=["a"]
)
NO_NEWS = CollectedNews(lines=[], until_lines=[], has_come_about=False)


def test_each_fact_has_its_field_and_notes_follow_each_other() -> None:
    facts = SessionFacts(STATE, {"threads": ["one"], "tasks": []}, NO_NEWS, {}, ["b"])
    assert snapshot_of(facts) == {**STATE, "threads": ["one"], "notes": ["a", "b"]}


def test_without_news_it_is_the_state_alone_and_that_stays_as_it_was() -> None:
    before = STATE.copy()
    assert snapshot_of(SessionFacts(STATE, {}, NO_NEWS, {}, [])) == before
    assert before == STATE


def test_a_run_until_something_that_has_come_about_is_the_reason() -> None:
    until = CollectedNews(lines=["rows"], until_lines=["n == 3"], has_come_about=True)
    view = snapshot_of(SessionFacts(STATE, {}, until, {"breakpoints": {"moved": ["a.py:3"]}}, []))
    assert view.get("reason") == "until"
    assert "description" not in view
    assert view.get("until") == ["n == 3"]
    assert view.get("collected") == ["rows"]
    assert view.get("breakpoints") == {"moved": ["a.py:3"]}
    assert STATE.get("reason") == "step"


async def test_the_way_of_a_stop_to_its_text_calls_nothing_above() -> None:
    """It goes down to the facts, and back up by returns alone."""
    needs("debugpy")
    counted = await traced(Source())
    assert counted["calls between rooms"]
    assert not counted[UP]
