"""What was said and done in a session of OpenCode's, out of its messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from dapeer.opencode.client import Json

LONGEST_OUTPUT: Final = 2_000
LONGEST_ANSWER: Final = 30_000


@dataclass(frozen=True, slots=True)
class Turn:
    """A prompt, and what has come of it."""

    messages: Sequence[Json]
    """The prompt's own message first; empty: it has none yet."""

    @property
    def replies(self) -> list[Json]:
        """The assistant's messages."""
        return [one for one in self.messages if one["info"]["role"] == "assistant"]

    @property
    def ended(self) -> bool:
        """Whether its last message is complete. The session may go on all the same."""
        last: Json = self.replies[-1]["info"] if self.replies else {}
        return bool(last.get("error") or last.get("time", {}).get("completed"))

    @property
    def answer(self) -> str:
        """The text of the last message that has one."""
        texts = [text_of(reply) for reply in self.replies]
        return shortened(next(filter(None, reversed(texts)), ""), LONGEST_ANSWER)

    @property
    def calls(self) -> list[Json]:
        """The calls of tools, oldest first."""
        return [call for reply in self.replies for call in calls_of(reply)]

    @property
    def error(self) -> str:
        """Why it has failed; empty: it has not."""
        return error_of(self.replies[-1]["info"].get("error")) if self.replies else ""


def turn_after(messages: Sequence[Json], after: str | None) -> Turn:
    """Return the turn that the first prompt after a message has begun."""
    ids = [one["info"]["id"] for one in messages]
    start = ids.index(after) + 1 if after in ids else 0
    for index in range(start, len(messages)):
        if messages[index]["info"]["role"] == "user":
            return Turn(messages[index:])
    return Turn(())


def text_of(message: Json) -> str:
    """Return what a message says, without what OpenCode itself has added."""
    parts = [part for part in message["parts"] if part["type"] == "text"]
    return "\n".join(part["text"] for part in parts if not part.get("synthetic")).strip()


def calls_of(message: Json) -> list[Json]:
    """Return the calls of tools in a message: tool, status, input, and output or error."""
    return [_call(part) for part in message["parts"] if part["type"] == "tool"]


def _call(part: Json) -> Json:
    state: Json = part["state"]
    call: Json = {
        "tool": part["tool"],
        "status": state["status"],
        "input": state.get("input") or {},
    }
    for name in ("title", "output", "error"):
        if state.get(name):
            call[name] = shortened(str(state[name]), LONGEST_OUTPUT)
    return call


def error_of(error: Any) -> str:  # noqa: ANN401 - as OpenCode tells it
    """Return an error of a message or a session in words; empty: there is none."""
    match error:
        case {"name": str(name), "data": {"message": str(message)}}:
            return f"{name}: {message}"
        case {"name": str(name)}:
            return name
        case _:
            return str(error) if error else ""


def shortened(text: str, most: int) -> str:
    """Return a text, or its beginning and how much is missing."""
    more = len(text) - most
    return text if more <= 0 else f"{text[:most]}… ({more} more characters)"
