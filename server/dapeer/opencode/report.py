"""What has come of a prompt, as text for a model and as the same facts in data."""

from __future__ import annotations

import json
from collections.abc import Iterable

from dapeer.opencode.client import Json
from dapeer.opencode.messages import shortened
from dapeer.opencode.runs import Outcome

LONGEST_LINE = 160


def facts(session: str, outcome: Outcome) -> Json:
    """Return an outcome as data."""
    told: Json = {
        "session_id": session,
        "state": outcome.state,
        "answer": outcome.turn.answer,
        "tool_calls": outcome.turn.calls,
    }
    if outcome.error:
        told["error"] = outcome.error
    if outcome.asks:
        told["asks"] = [_ask(ask) for ask in outcome.asks]
    return told


def text(told: Json) -> str:
    """Return the same as text."""
    lines = [told["answer"]] if told["answer"] else []
    if told["tool_calls"]:
        lines += ["Tool calls:", *map(call_line, told["tool_calls"])]
    match told["state"]:
        case "failed":
            lines.insert(0, f"The prompt has failed: {told['error']}.")
        case "running":
            lines.insert(
                0, f"Still running in {told['session_id']}; opencode_status tells when it is done."
            )
        case "needs_input":
            lines.insert(0, "Needs input; answer with opencode_reply:")
            lines[1:1] = map(ask_line, told["asks"])
        case _:
            pass
    return "\n".join(lines) or "Done, without an answer."


def _ask(ask: Json) -> Json:
    if ask["kind"] == "permission":
        return {
            "request_id": ask["id"],
            "kind": "permission",
            "permission": ask["permission"],
            "patterns": ask.get("patterns") or [],
        }
    return {"request_id": ask["id"], "kind": "question", "questions": ask["questions"]}


def ask_line(ask: Json) -> str:
    """Return what is asked, in a line for each question."""
    if ask["kind"] == "permission":
        patterns = ", ".join(ask["patterns"])
        return f"  {ask['request_id']}: may it {ask['permission']} {patterns}? decision once, always or reject"
    return "\n".join(
        f"  {ask['request_id']}: {one['question']} Options: {_labels(one.get('options') or [])}"
        for one in ask["questions"]
    )


def _labels(options: Iterable[Json]) -> str:
    return ", ".join(option["label"] for option in options) or "none, answer freely"


def call_line(call: Json) -> str:
    """Return a call of a tool in one line."""
    given = json.dumps(call["input"], ensure_ascii=False, separators=(",", ":"))
    told = " ".join(str(call.get("error") or call.get("output") or "").split())
    line = f"  {call['tool']}({shortened(given, LONGEST_LINE)}) {call['status']}"
    return f"{line}: {shortened(told, LONGEST_LINE)}" if told else line
