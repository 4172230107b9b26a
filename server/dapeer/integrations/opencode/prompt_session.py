"""One session of an OpenCode server: what it says, what it asks, and how it is stopped."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from dapeer.base.json_types import Json
from dapeer.integrations.opencode.asks import reply_request
from dapeer.integrations.opencode.client import OpenCode
from dapeer.integrations.opencode.errors import OpenCodeMissing
from dapeer.integrations.opencode.messages import PromptTurn, last_prompt, turn_of

PAGE_MESSAGES: Final = 50
"""Messages that are asked for at first; then twice as many, until the prompt is among them."""


class OpenCodeSession:
    """A session.

    Args:
        opencode: Where it is.
        sent: The session, as OpenCode sends it.
    """

    def __init__(self, opencode: OpenCode, sent: Json) -> None:
        self.id: str = sent["id"]
        self.directory = Path(sent["directory"])
        self._opencode = opencode
        self._parents: dict[str, str | None] = {}

    async def asks(self, answered: str = "") -> list[Json]:
        """Request the permissions and questions for which the session, or a subagent's session of it, waits.

        Each is as OpenCode sends it, with its `kind` (`permission` or `question`). `answered` is the id of one that was answered this
        moment, and is left out; empty: none was.
        """
        found = [
            {"kind": kind, **ask}
            for kind in ("permission", "question")
            for ask in await self._opencode.get(f"/{kind}", self.directory)
        ]
        return [
            ask for ask in found if ask["id"] != answered and await self._is_mine(ask["sessionID"])
        ]

    async def abort(self, answered: str = "") -> None:
        """Stop what the session does, whichever client has started it, and reject what it asks.

        `answered` is the id of a permission or question that was answered this moment, and is left out.

        Raises:
            OpenCodeError: OpenCode is gone.
        """
        await self.stop()
        # OpenCode itself would keep a question of a session that no longer waits.
        for ask in await self.asks(answered):
            path, body = reply_request(ask, "reject", None, None)
            with contextlib.suppress(OpenCodeMissing):
                await self._opencode.post(path, body, self.directory)

    async def stop(self) -> None:
        """Stop what the session does; its permissions and questions stay.

        Raises:
            OpenCodeError: OpenCode is gone.
        """
        await self._opencode.post(f"/session/{self.id}/abort", None, self.directory)

    async def _is_mine(self, session: str | None) -> bool:
        """Whether a session, by its id, is this one or a descendant of it; parents are requested once."""
        while session is not None and session != self.id:
            if session not in self._parents:
                self._parents[session] = await self._parent(session)
            session = self._parents[session]
        return session is not None

    async def _parent(self, session: str) -> str | None:
        """Request a session's parent, and return its id; None: it has none, or the session is gone."""
        with contextlib.suppress(OpenCodeMissing):
            answer: Json = await self._opencode.get(f"/session/{session}", self.directory)
            return answer.get("parentID")
        return None

    async def is_busy(self) -> bool:
        """Request from OpenCode whether the session works on a prompt now."""
        return self.id in await self._opencode.get("/session/status", self.directory)

    async def turn(self, prompt: str | None) -> PromptTurn:
        """Request messages until a prompt is among them, and return the prompt with its answers.

        The turn is empty if the prompt is not there. `prompt` is the id of its message; None: the last prompt of the session.
        """
        count = PAGE_MESSAGES
        while True:
            messages = await self.messages(count)
            message = prompt or last_prompt(messages)
            turn = turn_of(messages, message) if message else PromptTurn(())
            if turn.messages or len(messages) < count:
                return turn
            count *= 2

    async def messages(self, count: int) -> list[Json]:
        """Request the newest `count` messages of the session, and return them, oldest first."""
        path = f"/session/{self.id}/message"
        return await self._opencode.get(path, self.directory, limit=count)
