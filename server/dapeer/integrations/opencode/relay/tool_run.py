"""A call of one of OpenCode's tools, from its start until the tool has ended or needs an answer."""

from __future__ import annotations

from typing import Final

from dapeer.base.json_types import Json
from dapeer.integrations.opencode.prompts.messages import PromptOutcome
from dapeer.integrations.opencode.prompts.runs import PromptRun

ENDS: Final = ("completed", "error")
"""The states of a call that has ended."""


class ToolRun(PromptRun):
    """A prompt of the relay, which ends with its tool.

    OpenCode then asks the relay once more, which takes it as long as the call did. Nobody needs that answer.
    """

    async def look(self, *, beat: bool = False) -> PromptOutcome | None:
        """Request the state of the session; return the tool's result, or what it needs; None: it still runs."""
        turn = await self._turn()
        if any(_has_ended(call) for call in turn.calls):
            return PromptOutcome("done", turn)
        return await super().look(beat=beat)

    async def _is_busy_before(self) -> bool:
        # Its session is its own, and each request costs OpenCode 10 ms or more.
        return False

    def _is_news(self, event: Json) -> bool:
        part: Json = event["properties"].get("part") or {}
        ended = part.get("sessionID") == self.session.id and _has_ended(part)
        return super()._is_news(event) or ended


def _has_ended(part: Json) -> bool:
    return part["type"] == "tool" and part["state"]["status"] in ENDS
