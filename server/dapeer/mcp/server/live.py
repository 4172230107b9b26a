"""What a person's live page shows: the rows that programs collect, as they come."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Final

from anyio import to_thread

from dapeer.base.json_types import Json
from dapeer.base.system.redaction import Redaction
from dapeer.sessions.debugger import Debugger
from dapeer.sessions.session import Session
from dapeer.view.live_rows import drawn

SECONDS_BETWEEN_PICTURES: Final = 0.2
"""Seconds between two pictures, at least."""
PROGRAMS: Final = 4
"""Programs that are shown, the latest ones."""
POINTS: Final = 12
"""Points of a program that are shown."""


class Live:
    """Tells pages what is collected, whenever that has changed."""

    def __init__(self, debugger: Debugger, *, shows_secrets: bool) -> None:
        self._debugger = debugger
        self._shows_secrets = shows_secrets
        self._readers: set[asyncio.Event] = set()
        self._closed = False

    def close(self) -> None:
        """End all streams."""
        self._closed = True
        for each in self._readers:
            each.set()

    async def pictures(self) -> AsyncGenerator[str]:
        """Yield a line of JSON, now and whenever there is something else to see."""
        news, shown = asyncio.Event(), ""
        unsubscribe = self._debugger.sessions.subscribe(lambda _: news.set())
        self._readers.add(news)
        try:
            while not self._closed:
                news.clear()
                try:
                    picture = await self._picture()
                except (IndexError, RuntimeError):
                    # Rows came or went while they were looked at: again.
                    news.set()
                    picture = shown
                if picture != shown:
                    yield picture
                shown = picture
                await news.wait()
                # What comes meanwhile is one change.
                await asyncio.sleep(SECONDS_BETWEEN_PICTURES)
        finally:
            self._readers.discard(news)
            unsubscribe()

    async def _picture(self) -> str:
        sessions = self._debugger.sessions.values()
        programs = list(
            dict.fromkeys(each.program for each in sessions if each.program.collected.points)
        )
        for program in programs[-PROGRAMS:]:
            await program.read_rows()
        firsts = [each.first for each in reversed(programs[-PROGRAMS:])]
        return await to_thread.run_sync(self._drawn, firsts)

    def _drawn(self, programs: list[Session]) -> str:
        data: Json = {
            "programs": [
                {
                    "name": f"{each.id} {each.name}",
                    "state": each.mirror.phase.value,
                    "points": [
                        drawn(of, each.project)
                        for of in list(each.program.collected.collections.values())[-POINTS:]
                    ],
                }
                for each in programs
            ]
        }
        shown = data if self._shows_secrets else Redaction().data(data)
        return json.dumps(shown, ensure_ascii=False, separators=(",", ":")) + "\n"
