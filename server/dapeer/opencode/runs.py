"""A prompt in a session of OpenCode's, from its beginning until it ends or needs somebody.

The event stream only tells when to look. What is true is always asked for anew, so that nothing is missed
when the stream breaks, and nothing depends on the order in which things are told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from dapeer.errors import OpenCodeFailed
from dapeer.opencode.client import Json, OpenCode
from dapeer.opencode.events import CONNECTED, follow
from dapeer.opencode.messages import Turn, error_of, turn_after

MOST_MESSAGES: Final = 200
ASKED: Final = ("permission.asked", "question.asked")
TOLD: Final = (CONNECTED, *ASKED, "session.idle", "session.error", "session.status")

State = Literal["done", "failed", "needs_input", "running"]
Tell = Callable[[str], Awaitable[None]]
Begin = Callable[[], Coroutine[Any, Any, Any]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How far a prompt has come."""

    state: State
    turn: Turn
    asks: Sequence[Json] = ()
    """What it waits for: permissions and questions, as OpenCode tells them."""
    error: str = ""


class Run:
    """One prompt, or one command.

    Args:
        opencode: Where it runs.
        session: Its session, as OpenCode tells it.
        after: The last message before it; None: there was none.
    """

    def __init__(self, opencode: OpenCode, session: Json, after: str | None) -> None:
        self._opencode = opencode
        self._after = after
        self._error = ""
        self._parents: dict[str, str | None] = {}
        self.id: str = session["id"]
        self.directory = Path(session["directory"])

    async def wait(self, begin: Begin | None, tell: Tell, seconds: float) -> Outcome:
        """Begin, and wait until it ends or needs somebody; after `seconds` it runs on without us.

        Args:
            begin: What begins it; begun once events are heard. None: it runs already.
            tell: Is told the newest of what happens.
            seconds: How long to wait.

        Raises:
            OpenCodeError: OpenCode is gone, or refuses.
        """
        heard = asyncio.Event()
        watching = asyncio.create_task(self._watch(heard, tell, look_at_once=begin is None))
        beginning = asyncio.create_task(self._begin(begin, heard)) if begin else None
        try:
            async with asyncio.timeout(seconds):
                return await self._first(watching, beginning)
        except TimeoutError:
            return Outcome("running", await self._turn())
        finally:
            tasks: list[asyncio.Task[Any]] = [watching, *([beginning] if beginning else [])]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _first(
        self, watching: asyncio.Task[Outcome], beginning: asyncio.Task[None] | None
    ) -> Outcome:
        if beginning:
            await asyncio.wait((watching, beginning), return_when=asyncio.FIRST_COMPLETED)
            if not watching.done():
                # What has begun it is answered when it has ended, as a rule.
                await beginning
                if outcome := await self.look():
                    return outcome
        return await watching

    async def _begin(self, begin: Begin, heard: asyncio.Event) -> None:
        await heard.wait()
        await begin()

    async def _watch(self, heard: asyncio.Event, tell: Tell, *, look_at_once: bool) -> Outcome:
        async with aclosing(follow(self._opencode)) as events:
            async for event in events:
                first = event["type"] == CONNECTED and not heard.is_set()
                heard.set()
                if first and not look_at_once:
                    continue
                if self._is_news(event) and (outcome := await self.look()):
                    return outcome
                if words := self._words(event):
                    await tell(words)
        raise OpenCodeFailed("OpenCode's events have ended.", "opencode_status tells the state.")

    def _is_news(self, event: Json) -> bool:
        kind, told = event["type"], event["properties"]
        mine = told.get("sessionID") == self.id
        if kind == "session.error" and mine:
            self._error = error_of(told.get("error"))
        return kind in TOLD and (mine or kind in (CONNECTED, *ASKED))

    def _words(self, event: Json) -> str:
        """Return what a waiting client may want to read of an event."""
        told = event["properties"]
        part: Json = told.get("part") or {}
        if self.id not in (told.get("sessionID"), part.get("sessionID")):
            return ""
        match part:
            case {"type": "tool", "tool": str(tool), "state": {"status": str(status), **more}}:
                return f"{tool} {more.get('title') or ''} ({status})".replace("  ", " ")
            case {"type": "text", "text": str(text)}:
                return text.strip().rpartition("\n")[2][:200]
            case _:
                return _trying_again(told.get("status"))

    async def look(self) -> Outcome | None:
        """Return how it has ended, or what it needs; None: it runs."""
        if asks := await self.asks():
            return Outcome("needs_input", await self._turn(), asks)
        busy = await self._is_busy()
        turn = await self._turn()
        if busy:
            return None
        if turn.ended:
            return Outcome("failed" if turn.error else "done", turn, error=turn.error)
        return Outcome("failed", turn, error=self._error) if self._error else None

    async def state(self) -> Outcome:
        """Return how far it is, without waiting."""
        return await self.look() or Outcome(
            "running" if await self._is_busy() else "done", await self._turn()
        )

    async def _is_busy(self) -> bool:
        return self.id in await self._opencode.get("/session/status", self.directory)

    async def asks(self) -> list[Json]:
        """Return the permissions and questions that it, or a session that it has begun, waits for."""
        found = [
            {"kind": kind, **ask}
            for kind in ("permission", "question")
            for ask in await self._opencode.get(f"/{kind}", self.directory)
        ]
        return [ask for ask in found if await self._is_mine(ask["sessionID"])]

    async def _is_mine(self, session: str | None) -> bool:
        while session is not None and session != self.id:
            if session not in self._parents:
                told = await self._opencode.get(f"/session/{session}", self.directory)
                self._parents[session] = told.get("parentID")
            session = self._parents[session]
        return session is not None

    async def _turn(self) -> Turn:
        messages = await self._opencode.get(
            f"/session/{self.id}/message", self.directory, limit=MOST_MESSAGES
        )
        return turn_after(messages, self._after)


def _trying_again(status: Any) -> str:  # noqa: ANN401 - of a session, or of something else
    match status:
        case {"type": "retry", "message": str(message)}:
            return f"OpenCode tries again: {message}"
        case _:
            return ""
