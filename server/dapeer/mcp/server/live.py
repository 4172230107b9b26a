"""What a person's live page shows: the rows that programs collect, as they come."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from typing import Final

import anyio

from dapeer.base.json_types import Json
from dapeer.base.redaction import Redaction, redacted
from dapeer.base.sources import relative_to_project
from dapeer.base.system.threads import in_thread
from dapeer.base.text.lines import escaped_in
from dapeer.collecting.text.timeline import page_of_rows
from dapeer.sessions.core import views
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger

SECONDS_BETWEEN_PICTURES: Final = 0.2
"""Seconds between two pictures, at least."""
SHOWN_PROGRAMS: Final = 4
"""Programs that are shown, the latest ones."""
SHOWN_POINTS: Final = 12
"""Points of a program that are shown."""


class LivePages:
    """Tells pages what is collected, whenever that has changed."""

    def __init__(self, debugger: Debugger, *, shows_secrets: bool) -> None:
        self._debugger = debugger
        self._shows_secrets = shows_secrets
        self._readers: set[Callable[[], None]] = set()
        self._is_closed = False

    def close(self) -> None:
        """End the streams of all pages."""
        self._is_closed = True
        for each in self._readers:
            each()

    async def page_lines(self) -> AsyncGenerator[str]:
        """Yield a line of JSON with all that a page shows, now and whenever that has changed, until `close`.

        The JSON is that of `_page_data`, with a line end. Two lines are at least `SECONDS_BETWEEN_PICTURES` apart, and differ. Each
        caller gets the whole of it.
        """
        news, shown = anyio.Event(), ""

        def wake(_change: object = None) -> None:
            """Wake the generator, at a change of a session or at the end."""
            news.set()

        unsubscribe = self._debugger.sessions.subscribe(wake)
        self._readers.add(wake)
        try:
            while not self._is_closed:
                news = anyio.Event()
                try:
                    picture = await self._page_line()
                except (IndexError, RuntimeError):
                    # Rows came or went while they were looked at: again.
                    news.set()
                    picture = shown
                if picture != shown:
                    yield picture
                shown = picture
                await news.wait()
                # What comes meanwhile is one change.
                await anyio.sleep(SECONDS_BETWEEN_PICTURES)
        finally:
            self._readers.discard(wake)
            unsubscribe()

    async def _page_line(self) -> str:
        """Read the newest rows of the latest programs, and return what a page shows of them as a line of JSON.

        At most `SHOWN_PROGRAMS` programs are shown, the newest first. The object is that of `_page_data`, with an empty
        `programs` if there is none, and the line ends with a newline. It is made in a thread, which other tasks do not wait
        for.

        Raises:
            IndexError, RuntimeError: Rows came or went meanwhile: it is to be called again.
        """
        sessions = self._debugger.sessions.values()
        programs = list(dict.fromkeys(each.program for each in sessions))
        for program in programs[-SHOWN_PROGRAMS:]:
            await program.read_rows()
        firsts = [each.first for each in reversed(programs[-SHOWN_PROGRAMS:])]
        return await in_thread(self._page_data, firsts)

    def _page_data(self, programs: list[Session]) -> str:
        """Return what a page shows of some programs, each given by its first session, as a line of JSON.

        It has `programs`, a list of objects with `name` (the session's number and name), `state` (the phase, such
        as `stopped`), `place` (the top frame of the current or last stop as a text, empty if there was none),
        `awaited` (a text for each of the last `SHOWN_POINTS` places that collect, if it has no row yet) and
        `points` (`page_of_rows` of each of the last `SHOWN_POINTS` such places that have rows). Secrets are masked,
        unless they are to be shown; invisible characters are escaped. The line has its line end, and no other. Call
        it in a thread, since it takes a while.
        """
        data: Json = {
            "programs": [
                {
                    "name": f"{each.id} {each.name}",
                    "state": each.mirror.phase.value,
                    "place": views.last_place(each),
                    "awaited": _points_without_rows(each),
                    "points": [
                        page_of_rows(of, each.project)
                        for of in each.program.collected.listed[-SHOWN_POINTS:]
                    ],
                }
                for each in programs
            ]
        }
        shown = escaped_in(data if self._shows_secrets else _mask_page_data(data))
        return json.dumps(shown, ensure_ascii=False, separators=(",", ":")) + "\n"


def _points_without_rows(session: Session) -> list[str]:
    """Return which of the last `SHOWN_POINTS` points of a session's program have no row yet, as texts.

    A text is `path:line`, with the path relative to the project, the name of a function, or the title of a watch. The order is that in
    which the points were added; points before the last `SHOWN_POINTS` are not looked at, so an empty list does not mean that all points
    have rows. Points for rows on the watching itself (`aside`) are left out.
    """
    collected = session.program.collected
    come = {id(each.point) for each in collected.collections.values()}
    return [
        f"{relative_to_project(each.path, session.project)}:{each.line}"
        if each.path
        else each.function or each.watch
        for each in list(collected.points.values())[-SHOWN_POINTS:]
        if id(each) not in come and not each.is_internal
    ]


def _mask_page_data(data: Json) -> Json:
    """Return a page's data with secrets masked.

    `data` has `programs`, each with `points`, each with `columns` (names), `rows` (lists: the hit, then a
    cell for each column) and `plots`. The rows and plots in the argument itself are replaced, too. A value
    counts as a secret by its text, or by the name of its column. The plot of a column with a masked value,
    and plots whose name and numbers look like a secret, are left out.
    """
    redaction = Redaction()
    for program in data["programs"]:
        for point in program["points"]:
            names = ["", *point["columns"]]
            rows = [
                [redaction.data(cell, name) for name, cell in zip(names, row, strict=True)]
                for row in point["rows"]
            ]
            cells = zip(rows, point["rows"], strict=True)
            masked = {
                name
                for shown, row in cells
                for name, *pair in zip(names, shown, row, strict=True)
                if pair[0] != pair[1]
            }
            point["rows"] = rows
            point["plots"] = [
                each
                for each in point["plots"]
                if each["name"] not in masked and not _shows_a_secret(each)
            ]
    return redaction.data(data)


def _shows_a_secret(plot: Json) -> bool:
    """Whether a plot is of numbers that are secrets, by its name and its lowest and highest number."""
    ends = f"{plot['name']}: {plot['low']:.0f}…{plot['high']:.0f}"
    return redacted(ends) != ends
