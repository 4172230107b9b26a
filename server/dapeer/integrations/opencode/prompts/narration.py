"""Picks from a session's events what a waiting client may want to read, a line at a time."""

from __future__ import annotations

from typing import Final

from dapeer.base.json_types import Json

LONGEST_LINE: Final = 200
STEP_CHARS: Final = 150
"""Characters by which a line has grown when it is shown again."""


class Narration:
    """Collects the text in the events of a session and its subagents' sessions.

    Args:
        session: The session's id.
    """

    def __init__(self, session: str) -> None:
        self._family = {session}
        self._texts: dict[str, str] = {}
        """By the id of the part: the text so far of its last line."""
        self._last = ""

    def new_text(self, event: Json) -> str:
        """Return what a waiting client reads at an event: a line of text, or a call's state.

        Empty: there is nothing new. The event's text is kept. What was returned last is not returned again.
        """
        words = self._words(event)
        if not words or words == self._last:
            return ""
        self._last = words
        return words

    def _words(self, event: Json) -> str:
        """Return the text of an event, which may have been returned before; empty: it has none.

        New sessions of subagents are noted.
        """
        match event:
            case {"type": "session.created", "properties": {"info": {"id": str(child), **info}}}:
                if info.get("parentID") in self._family:
                    self._family.add(child)
            case {"properties": {"part": {"sessionID": session} as part}}:
                return self._part(part) if session in self._family else ""
            case {"properties": {"partID": str(part), "delta": str(delta)}}:
                return self._delta(part, delta)
            case {"type": "session.status", "properties": {"sessionID": session, "status": status}}:
                return _trying_again(status) if session in self._family else ""
            case _:
                pass
        return ""

    def _part(self, part: Json) -> str:
        """Return a call of a tool with its state, or the last line of a complete text; else empty.

        `part` is a part of a message, as OpenCode sends it.
        """
        match part:
            case {"type": "tool", "tool": str(tool), "state": {"status": str(status), **more}}:
                title = str(more.get("title") or "")[:LONGEST_LINE]
                return f"{tool} {title} ({status})" if title else f"{tool} ({status})"
            case {"type": "text", "id": str(name), "text": "", "time": {"start": _}}:
                # Prompts of users and the reasoning of models have no such beginning.
                self._texts[name] = ""
            case {"type": "text", "id": str(name), "text": str(text)} if name in self._texts:
                del self._texts[name]
                return text.rstrip().rpartition("\n")[2][:LONGEST_LINE]
            case _:
                pass
        return ""

    def _delta(self, part: str, delta: str) -> str:
        """Add a piece to a text that grows, and return the line that is to be shown, or an empty text.

        That is the newest complete line, or an incomplete one that has grown long. `part` is the id of the text, `delta` the piece.
        """
        if part not in self._texts:
            return ""
        before = self._texts[part]
        *lines, self._texts[part] = (before + delta).split("\n")
        line_now = next((line.strip() for line in reversed(lines) if line.strip()), "")
        now = self._texts[part]
        if not line_now and len(now) // STEP_CHARS > len(before) // STEP_CHARS:
            line_now = now.strip()
        return line_now[-LONGEST_LINE:]


def _trying_again(status: Json) -> str:
    """Return a sentence if a session's status is that OpenCode asks the model again; else empty."""
    match status:
        case {"type": "retry", "message": str(message)}:
            return f"OpenCode retries: {message}"
        case _:
            return ""
