"""Reads what was said and done in an OpenCode session from its messages."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from dapeer.base.json_types import Json
from dapeer.base.text.fitting import shortened

GOES_ON: Final = ("tool-calls", "unknown")
"""How a message of a model's has finished after which OpenCode asks it again."""


@dataclass(frozen=True, slots=True)
class PromptTurn:
    """A prompt and the messages that answer it."""

    messages: Sequence[Json]
    """The prompt's own message first; empty if it has none yet."""

    @property
    def replies(self) -> list[Json]:
        """The assistant's messages of the turn, oldest first, without OpenCode's own summaries."""
        infos = ((one, one["info"]) for one in self.messages)
        return [
            one for one, info in infos if info["role"] == "assistant" and not info.get("summary")
        ]

    @property
    def ended(self) -> bool:
        """Whether the assistant's last message is complete or failed; the session may go on all the same."""
        last: Json = self.replies[-1]["info"] if self.replies else {}
        return bool(last.get("error") or last.get("time", {}).get("completed"))

    @property
    def answered(self) -> bool:
        """Whether its answer is final: the last message has ended, and OpenCode does not ask the model again.

        The session may be busy with another prompt.
        """
        return bool(self.replies) and self.ended and _is_last(self.replies[-1]["info"])

    @property
    def answer(self) -> str:
        """The text of the assistant's last message that has one; empty: none has."""
        texts = [text_of(reply) for reply in self.replies]
        return next(filter(None, reversed(texts)), "")

    @property
    def calls(self) -> list[Json]:
        """The parts of the assistant's messages that are calls of tools, oldest first, as OpenCode sends them."""
        return [call for reply in self.replies for call in calls_of(reply)]

    @property
    def error(self) -> str:
        """Why the last message has failed; empty: it has not, or there is none."""
        return error_of(self.replies[-1]["info"].get("error")) if self.replies else ""


State = Literal["idle", "done", "failed", "needs_input", "running"]


@dataclass(frozen=True, slots=True)
class PromptOutcome:
    """How far a prompt has come."""

    state: State
    turn: PromptTurn
    questions: Sequence[Json] = ()
    """What it waits for: permissions and questions, as OpenCode sends them."""
    error: str = ""


def new_id() -> str:
    """Return a new id for a message: time and chance, as in OpenCode's own ids."""
    since = int(time.time() * 1000) << 12
    return f"msg_{since & (1 << 48) - 1:012x}{secrets.token_hex(7)}"


def turn_of(messages: Sequence[Json], prompt: str) -> PromptTurn:
    """Return a prompt, by the id of its message, with the messages that answer it.

    `messages` are as OpenCode sends them, oldest first; the turn is empty if the prompt is not among them. A reply names its prompt, and
    the replies that name this one are the turn if they end with a final answer. Without that, another prompt, or OpenCode's summary, has
    come between, whose replies answer this one, too: then all later prompts with their replies are in the turn.
    """
    ids = [one["info"]["id"] for one in messages]
    if prompt not in ids:
        return PromptTurn(())
    since = messages[ids.index(prompt) :]
    own = PromptTurn(_with_replies(since, {prompt}))
    return (
        own
        if own.answered
        else PromptTurn(_with_replies(since, {one["info"]["id"] for one in since}))
    )


def last_prompt(messages: Sequence[Json]) -> str | None:
    """Return the id of the last message that a user has written; None: there is none."""
    return next((one["info"]["id"] for one in reversed(messages) if is_prompt(one)), None)


def is_prompt(message: Json) -> bool:
    """Return whether a user has written this message, and not OpenCode itself in the user's name.

    OpenCode's own have only parts that are marked as `synthetic`, or as a compaction; a user's message without parts yet is a prompt.
    """
    own = all(part.get("synthetic") or part["type"] == "compaction" for part in message["parts"])
    return message["info"]["role"] == "user" and not (own and message["parts"])


def text_of(message: Json) -> str:
    """Return the text of a message, without what OpenCode has added itself."""
    parts = [part for part in message["parts"] if part["type"] == "text"]
    return "\n".join(part["text"] for part in parts if not part.get("synthetic")).strip()


def calls_of(message: Json) -> list[Json]:
    """Return the parts of a message that are calls of tools."""
    return [part for part in message["parts"] if part["type"] == "tool"]


def call_of(part: Json, max_chars: int) -> Json:
    """Return a tool's call as data: `tool`, `status`, `input`, and `output` or `error` if there is one.

    `part` is the call as OpenCode sends it. Each value is cut to `max_chars`; an `input` that is longer is text.
    """
    state: Json = part["state"]
    given: Json = state.get("input") or {}
    as_text = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    call: Json = {
        "tool": part["tool"],
        "status": state["status"],
        "input": given if len(as_text) <= max_chars else shortened(as_text, max_chars),
    }
    for name in ("output", "error"):
        if state.get(name):
            call[name] = shortened(str(state[name]), max_chars)
    return call


def error_of(error: Any) -> str:
    """Return an error of a message or session as text, such as `ProviderAuthError: no key`.

    `error` is as OpenCode sends it: an object with `name` and maybe `data.message`, or anything else, of which the text is returned.
    Empty: there is none.
    """
    match error:
        case {"name": str(name), "data": {"message": str(message)}}:
            return f"{name}: {message}"
        case {"name": str(name)}:
            return name
        case _:
            return str(error) if error else ""


def _with_replies(messages: Sequence[Json], prompts: set[str]) -> list[Json]:
    """Return the messages with these ids, and the replies to them, in their order."""
    infos = ((one, one["info"]) for one in messages)
    return [one for one, info in infos if info.get("parentID", info["id"]) in prompts]


def _is_last(reply: Json) -> bool:
    """Whether OpenCode does not ask the model again after this reply (the `info` of a message)."""
    return bool(reply.get("error") or reply.get("finish") not in GOES_ON)
