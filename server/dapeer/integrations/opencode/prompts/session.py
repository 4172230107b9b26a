"""One session of an OpenCode server: what it says, what it asks, and how it is stopped."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from dapeer.base.json_types import Json
from dapeer.integrations.opencode.client import OpenCode
from dapeer.integrations.opencode.errors import OpenCodeMissing
from dapeer.integrations.opencode.prompts.asks import reply
from dapeer.integrations.opencode.prompts.messages import Turn, last_prompt, turn_of

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
        """Return the permissions and questions that it, or a session that it has begun, waits for.

        `answered`: the id of one that has been answered this moment.
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
        """Stop what the session does, whichever client has started it; `answered` as for `asks`.

        Raises:
            OpenCodeError: OpenCode is gone.
        """
        await self.stop()
        # OpenCode itself would keep a question of a session that no longer waits.
        for ask in await self.asks(answered):
            path, body = reply(ask, "reject", None, None)
            with contextlib.suppress(OpenCodeMissing):
                await self._opencode.post(path, body, self.directory)

    async def stop(self) -> None:
        """Stop what the session does; what it asks stays.

        Raises:
            OpenCodeError: OpenCode is gone.
        """
        await self._opencode.post(f"/session/{self.id}/abort", None, self.directory)

    async def _is_mine(self, session: str | None) -> bool:
        while session is not None and session != self.id:
            if session not in self._parents:
                self._parents[session] = await self._parent(session)
            session = self._parents[session]
        return session is not None

    async def _parent(self, session: str) -> str | None:
        with contextlib.suppress(OpenCodeMissing):
            answer: Json = await self._opencode.get(f"/session/{session}", self.directory)
            return answer.get("parentID")
        return None

    async def is_busy(self) -> bool:
        """Whether it works."""
        return self.id in await self._opencode.get("/session/status", self.directory)

    async def turn(self, prompt: str | None) -> Turn:
        """Return what has come of a prompt, by the id of its message; None: of the last one."""
        count = PAGE_MESSAGES
        while True:
            messages = await self.messages(count)
            message = prompt or last_prompt(messages)
            turn = turn_of(messages, message) if message else Turn(())
            if turn.messages or len(messages) < count:
                return turn
            count *= 2

    async def messages(self, count: int) -> list[Json]:
        """Return its newest messages."""
        path = f"/session/{self.id}/message"
        return await self._opencode.get(path, self.directory, limit=count)
