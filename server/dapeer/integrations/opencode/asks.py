"""The permissions and questions of an OpenCode session, and their answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json
from dapeer.base.text.fitting import shortened

LONGEST_DETAILS: Final = 2_000

Decision = Literal["once", "always", "reject"]


def ask_data(ask: Json, session: str) -> Json:
    """Return a permission or question as data, with `request_id` and `kind`.

    A question has `questions`; a permission has `permission`, `patterns`, and `always` and `details` where they say more.

    Args:
        ask: The permission or question as OpenCode sends it, with its `kind` added.
        session: The id of the caller's session; if a subagent's session asks, the data has its `session_id`.
    """
    known: Json = {"request_id": ask["id"], "kind": ask["kind"]}
    if ask["sessionID"] != session:
        known["session_id"] = ask["sessionID"]
    if ask["kind"] == "question":
        return known | {"questions": ask["questions"]}
    patterns: list[str] = ask.get("patterns") or []
    lasting: list[str] = ask.get("always") or []
    known |= {"permission": ask["permission"], "patterns": patterns}
    if always := [one for one in lasting if one not in patterns]:
        known["always"] = always
    details: Json = ask.get("metadata") or {}
    if any(value not in patterns for value in details.values()):
        known["details"] = shortened(json.dumps(details, ensure_ascii=False), LONGEST_DETAILS)
    return known


def ask_lines(facts: Json) -> Iterable[str]:
    """Yield the lines in which a person or model reads a permission or question.

    `facts` is its data, as `ask_data` returns it.
    """
    who = f" (of the subagent {facts['session_id']})" if "session_id" in facts else ""
    if facts["kind"] == "permission":
        what = " ".join([facts["permission"], ", ".join(facts["patterns"])]).strip()
        always = f"; always means {', '.join(facts['always'])}" if "always" in facts else ""
        yield f"  {facts['request_id']}{who}: may it {what}? decision once, always or reject{always}"
        if "details" in facts:
            yield f"    {facts['details']}"
        return
    yield f"  {facts['request_id']}{who}: {len(facts['questions'])} questions:"
    for number, one in enumerate(facts["questions"], 1):
        yield f"    {number}. {one['question']} {_choices(one)}"


def ask_to_answer(asks: Sequence[Json], request: str | None) -> Json:
    """Return the permission or question that a call answers, from those that wait.

    It has the id `request`, or is the only one if that is None. `asks` are those that wait, as OpenCode sends them.

    Raises:
        ArgumentError: There is none, or there are several and the call names none.
    """
    fitting = [ask for ask in asks if request in (None, ask["id"])]
    if len(fitting) == 1:
        return fitting[0]
    if not asks:
        raise ArgumentError(
            "The session is not waiting for an answer.",
            "Another client may have answered; see opencode_status.",
        )
    what = f"does not wait for {request}" if request else "waits for several answers"
    waiting = ", ".join(ask["id"] for ask in asks)
    raise ArgumentError(f"The session {what}.", f"Give `request_id`: {waiting}.")


def reply_request(
    ask: Json,
    decision: Decision | None,
    answers: Sequence[Sequence[str]] | None,
    message: str | None,
) -> tuple[str, Json]:
    """Check an answer to a permission or question, and return path and body of the request that sends it.

    Nothing is sent.

    Args:
        ask: The permission or question, as OpenCode sends it, with its `kind`.
        decision: Of a permission `once`, `always` or `reject`; a question can only be rejected, and None answers it by `answers`.
        answers: For each question the chosen labels, or free text; None: there are none.
        message: A reason to reject a permission; None: there is none.

    Raises:
        ArgumentError: The answer does not fit.
    """
    path = f"/{ask['kind']}/{ask['id']}"
    if message and (decision != "reject" or ask["kind"] == "question"):
        raise ArgumentError("`message` is only for a permission that is rejected.", "Leave it out.")
    if ask["kind"] == "permission":
        if decision is None or answers:
            raise ArgumentError("This asks for a permission.", "Give `decision`, and no `answers`.")
        return f"{path}/reply", {"reply": decision, **({"message": message} if message else {})}
    if decision == "reject":
        return f"{path}/reject", {}
    questions: list[Json] = ask["questions"]
    if len(answers or ()) != len(questions):
        raise ArgumentError(
            f"{len(questions)} answers are needed, one for each question.",
            "Give `answers`, or decision reject.",
        )
    return f"{path}/reply", {
        "answers": [_answer(*both) for both in zip(questions, answers or (), strict=True)]
    }


def _answer(question: Json, given: Sequence[str]) -> list[str]:
    """Return the answer to one question as a list of texts.

    Raises `ArgumentError` if it has too many, or unknown, choices. `given` are the caller's choices for it. `question` is as OpenCode
    sends it.
    """
    several = list(given)
    if len(several) > 1 and not question.get("multiple"):
        raise ArgumentError(
            f"This question takes one answer: {question['question']}", "Give only one."
        )
    labels = _labels(question)
    if question.get("custom") is False and (wrong := [one for one in several if one not in labels]):
        raise ArgumentError(
            f"`{wrong[0]}` is not one of the options.", f"They are: {_quote_labels(labels)}."
        )
    return several


def _choices(question: Json) -> str:
    """Return the choices of a question as text in parentheses.

    `question` is as OpenCode sends it. Without options it is free text.
    """
    labels = _labels(question)
    if not labels:
        return "(free text)"
    how = "any of" if question.get("multiple") else "one of"
    free = "" if question.get("custom") is False else ", or free text"
    return f"({how}: {_quote_labels(labels)}{free})"


def _labels(question: Json) -> list[str]:
    options: list[Json] = question.get("options") or []
    return [option["label"] for option in options]


def _quote_labels(labels: Sequence[str]) -> str:
    return ", ".join(labels)
