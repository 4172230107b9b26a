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
class Turn:
    """A prompt and the messages that answer it."""

    messages: Sequence[Json]
    """The prompt's own message first; empty if it has none yet."""

    @property
    def replies(self) -> list[Json]:
        """The assistant's messages, without the summaries that OpenCode makes for itself."""
        infos = ((one, one["info"]) for one in self.messages)
        return [
            one for one, info in infos if info["role"] == "assistant" and not info.get("summary")
        ]

    @property
    def ended(self) -> bool:
        """Whether its last message is complete. The session may continue anyway."""
        last: Json = self.replies[-1]["info"] if self.replies else {}
        return bool(last.get("error") or last.get("time", {}).get("completed"))

    @property
    def answered(self) -> bool:
        """Whether its answer is final, although the session may be busy with another prompt."""
        return bool(self.replies) and self.ended and _is_last(self.replies[-1]["info"])

    @property
    def answer(self) -> str:
        """The text of the last message that has one."""
        texts = [text_of(reply) for reply in self.replies]
        return next(filter(None, reversed(texts)), "")

    @property
    def calls(self) -> list[Json]:
        """The parts that are calls of tools, oldest first."""
        return [call for reply in self.replies for call in calls_of(reply)]

    @property
    def error(self) -> str:
        """Why it has failed; empty: it has not."""
        return error_of(self.replies[-1]["info"].get("error")) if self.replies else ""


State = Literal["idle", "done", "failed", "needs_input", "running"]


@dataclass(frozen=True, slots=True)
class PromptOutcome:
    """How far a prompt has come."""

    state: State
    turn: Turn
    asks: Sequence[Json] = ()
    """What it waits for: permissions and questions, as OpenCode sends them."""
    error: str = ""


def new_id() -> str:
    """Return the id of a message to be: time and chance, as in OpenCode's own."""
    since = int(time.time() * 1000) << 12
    return f"msg_{since & (1 << 48) - 1:012x}{secrets.token_hex(7)}"


def turn_of(messages: Sequence[Json], prompt: str) -> Turn:
    """Return the result of a prompt.

    What is said to a session that is busy is queued: OpenCode names in each reply the newest prompt that it had
    known when it began. So replies that name ours are ours; without a last one, another prompt, or a summary of
    all that was said, has come between, and what is answered there answers ours, too.
    """
    ids = [one["info"]["id"] for one in messages]
    if prompt not in ids:
        return Turn(())
    since = messages[ids.index(prompt) :]
    own = Turn(_with_replies(since, {prompt}))
    return own if own.answered else Turn(_with_replies(since, {one["info"]["id"] for one in since}))


def last_prompt(messages: Sequence[Json]) -> str | None:
    """Return the id of the last message of a user, without those of OpenCode itself."""
    return next((one["info"]["id"] for one in reversed(messages) if is_prompt(one)), None)


def is_prompt(message: Json) -> bool:
    """Return whether a user has written this message."""
    own = all(part.get("synthetic") or part["type"] == "compaction" for part in message["parts"])
    return message["info"]["role"] == "user" and not (own and message["parts"])


def text_of(message: Json) -> str:
    """Return the text of a message, without OpenCode's additions."""
    parts = [part for part in message["parts"] if part["type"] == "text"]
    return "\n".join(part["text"] for part in parts if not part.get("synthetic")).strip()


def calls_of(message: Json) -> list[Json]:
    """Return the parts of a message that are calls of tools."""
    return [part for part in message["parts"] if part["type"] == "tool"]


def call_of(part: Json, most: int) -> Json:
    """Return a tool's call: tool, status, input, and output or error, each of `most` characters at most."""
    state: Json = part["state"]
    given: Json = state.get("input") or {}
    as_text = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    call: Json = {
        "tool": part["tool"],
        "status": state["status"],
        "input": given if len(as_text) <= most else shortened(as_text, most),
    }
    for name in ("output", "error"):
        if state.get(name):
            call[name] = shortened(str(state[name]), most)
    return call


def error_of(error: Any) -> str:
    """Return the error of a message or session; empty if there is none."""
    match error:
        case {"name": str(name), "data": {"message": str(message)}}:
            return f"{name}: {message}"
        case {"name": str(name)}:
            return name
        case _:
            return str(error) if error else ""


def _with_replies(messages: Sequence[Json], prompts: set[str]) -> list[Json]:
    """Return these prompts and the replies to them."""
    infos = ((one, one["info"]) for one in messages)
    return [one for one, info in infos if info.get("parentID", info["id"]) in prompts]


def _is_last(reply: Json) -> bool:
    return bool(reply.get("error") or reply.get("finish") not in GOES_ON)
