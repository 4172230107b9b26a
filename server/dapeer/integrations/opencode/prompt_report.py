"""The result of a prompt and the messages of a session, as data and as text for a model.

Both have a limit, and say how to read the rest.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from dapeer.base.json_types import Json
from dapeer.base.text.fitting import shortened
from dapeer.integrations.opencode import prompt_runs
from dapeer.integrations.opencode.messages import (
    PromptOutcome,
    call_of,
    calls_of,
    error_of,
    text_of,
)

LONGEST_LINE: Final = 160
LONGEST_OUTPUT: Final = 1_000
LONGEST_ANSWER: Final = 30_000
LONGEST_TEXT: Final = 60_000
MOST_CALLS: Final = 30


def outcome_data(session: str, outcome: PromptOutcome) -> Json:
    """Return the outcome of a prompt as data: `session_id`, `state`, `answer` and `tool_calls`.

    `answer` has its first `LONGEST_ANSWER` characters, and `tool_calls` the last `MOST_CALLS` calls, as of `call_of`. `answer_cut` and
    `earlier_calls` count what is left out; `error` and `asks` are there if there are some. `session` is the session's id.
    """
    calls = outcome.turn.calls
    known: Json = {
        "session_id": session,
        "state": outcome.state,
        "answer": outcome.turn.answer[:LONGEST_ANSWER],
        "tool_calls": [call_of(call, LONGEST_OUTPUT) for call in calls[-MOST_CALLS:]],
    }
    if (cut := len(outcome.turn.answer) - LONGEST_ANSWER) > 0:
        known["answer_cut"] = cut
    if len(calls) > MOST_CALLS:
        known["earlier_calls"] = len(calls) - MOST_CALLS
    if outcome.error:
        known["error"] = outcome.error
    if outcome.questions:
        known["asks"] = [prompt_runs.ask_data(ask, session) for ask in outcome.questions]
    return known


def outcome_text(facts: Json) -> str:
    """Return the outcome of a prompt as text for a model.

    `facts` is its data, as `outcome_data` returns it.
    """
    lines = [*_beginning(facts)]
    if facts["answer"]:
        lines.append(facts["answer"])
    if "answer_cut" in facts:
        lines.append(
            f"… ({facts['answer_cut']} more characters: opencode_messages with count 1 and a larger `length`)"
        )
    if facts["tool_calls"]:
        lines.append("Tool calls:")
    if "earlier_calls" in facts:
        lines.append(f"  ({facts['earlier_calls']} earlier ones: opencode_messages)")
    lines += map(call_line, facts["tool_calls"])
    return "\n".join(lines)


def _beginning(facts: Json) -> Sequence[str]:
    """Return the lines with which the text begins, by the outcome's state; empty: the answer says all.

    `facts` is the outcome's data, as `outcome_data` returns it.
    """
    match facts["state"]:
        case "failed":
            return (f"The prompt failed: {facts['error'].rstrip('.')}.",)
        case "running":
            return (
                f"It runs in {facts['session_id']}: opencode_status shows its progress, opencode_abort stops it.",
            )
        case "idle":
            return ("Idle.",)
        case "needs_input":
            questions = (line for ask in facts["asks"] for line in prompt_runs.ask_lines(ask))
            whom = f"session_id {facts['session_id']}"
            return (f"Needs input; answer with opencode_reply, {whom}:", *questions)
        case _:
            return () if facts["answer"] else ("Done, without an answer.",)


def call_line(call: Json) -> str:
    """Return the data of a tool's call as one line, with a shortened input and output."""
    outcome = " ".join(str(call.get("error") or call.get("output") or "").split())
    line = f"  {call['tool']}({shortened(_input(call), LONGEST_LINE)}) {call['status']}"
    return f"{line}: {shortened(outcome, LONGEST_LINE)}" if outcome else line


def message_data(message: Json, length: int) -> Json:
    """Return a message as data: `message_id`, `role`, `text`, `tool_calls`, and `error` if it has failed.

    `message` is as OpenCode sends it. `tool_calls` lists the calls as `call_of` returns them: `tool`, `status`,
    `input`, and `output` or `error` if there is one. `text` and each value of a call are cut to `length`
    characters; the message's own `error`, a text, is not cut.
    """
    info: Json = message["info"]
    known: Json = {
        "message_id": info["id"],
        "role": info["role"],
        "text": shortened(text_of(message), length),
        "tool_calls": [call_of(call, length) for call in calls_of(message)],
    }
    return known | {"error": error_of(info["error"])} if info.get("error") else known


def conversation_text(messages: Sequence[Json]) -> tuple[str, int]:
    """Return the newest messages that fit as text, oldest first, and how many these are.

    `messages` are data as `message_data` makes it, oldest first. The text has about `LONGEST_TEXT` characters at most, but at least one
    message; it is empty if there are none.
    """
    blocks: list[str] = []
    room = LONGEST_TEXT
    for one in reversed(messages):
        block = _message_text(one)
        if blocks and len(block) > room:
            break
        blocks.append(block)
        room -= len(block)
    return "\n".join(filter(None, reversed(blocks))), len(blocks)


def _message_text(message: Json) -> str:
    """Return the data of a message as text, with its calls of tools.

    `message` is what `message_data` returns.
    """
    lines = [f"{message['role']}: {message['text']}"] if message["text"] else []
    if "error" in message:
        lines.append(f"{message['role']} failed: {message['error']}")
    for call in message["tool_calls"]:
        output = call.get("error") or call.get("output")
        lines.append(f"  {call['tool']}({_input(call)}) {call['status']}{':' if output else ''}")
        if output:
            lines.append(output.rstrip("\n"))
    return "\n".join(lines)


def _input(call: Json) -> str:
    """Return a call's input as text: JSON, or the text that it was shortened to."""
    given = call["input"]
    if isinstance(given, str):
        return given
    return json.dumps(given, ensure_ascii=False, separators=(",", ":"))


def patch_of(change: Json) -> str:
    """Return the patch of a file's change from its first hunk on; empty: there is none.

    The lines above only repeat the file's name.
    """
    patch = str(change.get("patch") or "")
    return patch[max(0, patch.find("@@")) :].rstrip("\n")


def change_text(row: Json) -> str:
    """Return a change of a file as text: what has happened, lines added and deleted, and the patch."""
    what = f"{row.get('status', 'modified')} {row.get('file')}"
    return f"{what} +{row['additions']} -{row['deletions']}\n{row['patch']}".rstrip()
