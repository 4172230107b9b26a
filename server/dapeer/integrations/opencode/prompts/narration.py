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

    def words(self, event: Json) -> str:
        """Return new text worth showing; empty if there is none."""
        words = self._words(event)
        if not words or words == self._last:
            return ""
        self._last = words
        return words

    def _words(self, event: Json) -> str:
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
    match status:
        case {"type": "retry", "message": str(message)}:
            return f"OpenCode retries: {message}"
        case _:
            return ""
