"""Which messages of a session belong to a prompt, and what is an answer to what OpenCode asks."""

import re
from typing import Any

import pytest

from dapeer.base.errors import ArgumentError
from dapeer.integrations.opencode.messages import (
    ask_to_answer,
    last_prompt,
    new_id,
    reply_request,
    turn_of,
)
from tests.json_types import Json


def said(name: str, **part: object) -> Json:
    """Return what somebody has said."""
    part = {"type": "text", "text": name, **part}
    return {"info": {"id": name, "role": "user"}, "parts": [part]}


def replied(to: str, text: str, finish: str | None = "stop", **info: object) -> Json:
    """Return what a model has replied."""
    about = {
        "id": f"to {to}: {text}",
        "role": "assistant",
        "parentID": to,
        "finish": finish,
        **info,
    }
    if finish:
        about["time"] = {"completed": 1}
    return {"info": about, "parts": [{"type": "text", "text": text}]}


def test_a_reply_belongs_to_the_prompt_that_it_names() -> None:
    two = [
        said("A"),
        replied("A", "looks", "tool-calls"),
        said("B"),
        replied("A", "a"),
        replied("B", "b"),
    ]
    assert (turn_of(two, "A").answer, turn_of(two, "B").answer) == ("a", "b")
    # What was begun before ours is no answer to it, though it comes later.
    waiting = two[:4]
    assert turn_of(waiting, "A").answered
    assert (turn_of(waiting, "B").answer, turn_of(waiting, "B").ended) == ("", False)
    assert not turn_of(waiting, "C").messages


def test_what_comes_between_is_answered_together() -> None:
    busy = [said("A"), replied("A", "looks", "tool-calls"), said("B"), replied("B", "both")]
    assert turn_of(busy, "A").answer == "both"
    summed_up = [
        said("A"),
        replied("A", "looks", "tool-calls"),
        said("", type="compaction"),
        replied("", "all so far", summary=True),
        said("go on", synthetic=True),
        replied("go on", "done"),
    ]
    assert last_prompt(summed_up) == "A"
    assert [reply["parts"][0]["text"] for reply in turn_of(summed_up, "A").replies] == [
        "looks",
        "done",
    ]


def test_a_reply_that_is_being_written_is_no_answer() -> None:
    turn = turn_of([said("A"), replied("A", "I th", None)], "A")
    assert (turn.ended, turn.answered) == (False, False)
    failed = turn_of([said("A"), replied("A", "", None, error={"name": "APIError"})], "A")
    assert (failed.answered, failed.error) == (True, "APIError")


def test_ids_are_of_the_form_of_opencodes_own() -> None:
    assert re.fullmatch(r"msg_[0-9a-f]{12}[0-9a-f]{14}", new_id())
    assert new_id() != new_id()


TEA: Json = {
    "id": "que_1",
    "kind": "question",
    "questions": [
        {"question": "Tea?", "options": [{"label": "Yes"}, {"label": "No"}], "custom": False},
        {"question": "With?", "options": [{"label": "Milk"}], "multiple": True},
    ],
}
READ: Json = {"id": "per_1", "kind": "permission", "permission": "read"}


def test_an_answer_must_fit_what_is_asked() -> None:
    answers = [["Yes"], ["Milk", "honey"]]
    assert reply_request(TEA, None, answers, None) == (
        "/question/que_1/reply",
        {"answers": [["Yes"], ["Milk", "honey"]]},
    )
    assert reply_request(TEA, "reject", None, None) == ("/question/que_1/reject", {})
    assert reply_request(READ, "reject", None, "not now")[1] == {
        "reply": "reject",
        "message": "not now",
    }
    wrong: list[tuple[Json, Any, Any, Any, str]] = [
        (
            TEA,
            None,
            [["Perhaps"], ["Milk"]],
            None,
            "`Perhaps` is not one of the options. They are: Yes, No.",
        ),
        (TEA, None, [["Yes", "No"], ["Milk"]], None, "This question takes one answer: Tea?"),
        (TEA, "once", None, None, "2 answers are needed, one for each question."),
        (TEA, "reject", None, "why", "`message` is only for a permission that is rejected."),
        (READ, "once", None, "why", "`message` is only for a permission that is rejected."),
        (
            READ,
            None,
            [["Yes"]],
            None,
            "This asks for a permission. Give `decision`, and no `answers`.",
        ),
    ]
    for ask, decision, given, message, sentence in wrong:
        with pytest.raises(ArgumentError, match=re.escape(sentence)):
            reply_request(ask, decision, given, message)


def test_who_asks_several_things_is_answered_by_name() -> None:
    assert ask_to_answer([TEA, READ], "per_1") is READ
    with pytest.raises(ArgumentError, match="Give `request_id`: que_1, per_1"):
        ask_to_answer([TEA, READ], None)
    with pytest.raises(ArgumentError, match="is not waiting for an answer"):
        ask_to_answer([], None)
