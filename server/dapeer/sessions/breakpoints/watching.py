"""Runs a program until an expression holds or a value changes, by the road that its adapter allows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio

from dapeer.base.errors import ArgumentError, DapeerError
from dapeer.base.system.tasks import WaitFor
from dapeer.collecting.rows.collected import Collected, Watch
from dapeer.collecting.text.summary import outcome
from dapeer.mirror.mirror import Mirror
from dapeer.sessions.breakpoints.lines import LineBreakpoints

ScopeSpec = Mapping[str, list[str]]
"""The code that is looked at: its `files` and `functions`; neither: all that is no library."""


class Watching:
    """What a session's program runs until, one thing at a time, and what it records besides, each time."""

    def __init__(
        self, collected: Collected, mirror: Mirror, lines: LineBreakpoints, wait: WaitFor
    ) -> None:
        """Watch nothing yet.

        The rows of watches come to `collected`, and `wait` waits for messages of the session.
        """
        self.current: Watch | None = None
        """What the program runs until, or has run until last."""
        self.recorded: list[Watch] = []
        """What is recorded each time."""
        self._collected = collected
        self._mirror = mirror
        self._lines = lines
        self._wait = wait
        self._started_at = 0.0

    async def begin(self, watch: Watch, scope: ScopeSpec, frame_id: int | None) -> None:
        """Instruct the stopped program to look at `watch` on each line, and no more at `current`.

        Without `every`, `current` is set to `watch`. A watch with `every` is appended to `recorded`; then `current` keeps
        the earlier watch, of which `outcomes` and `unwatch_at_stop` still speak although the program does not look at it
        any more. `scope` is the code whose lines are looked at (keys `files` and `functions`); `frame_id` is the adapter's
        id of the frame in which names are looked up. The program is not resumed.

        Raises:
            ArgumentError: The program cannot watch the expression, and looks no more at `current` either; both attributes
                stay.
            ChannelClosed: The session ended first.
        """
        if self.current is not None:
            await self._lines.unwatch(self.current.point.number)
        outcome = await self._lines.watch(_spec(watch, scope), frame_id)
        if not outcome.get("bound") or outcome.get("message"):
            await self._lines.unwatch(watch.point.number)
            why = outcome.get("message") or "the program does not say why"
            raise ArgumentError(f"`expression` cannot be watched here: {why}.", INSTEAD[watch.on])
        watch.begin("tracer", self._mirror.epoch)
        self._started_at = anyio.current_time()
        if watch.every:
            self.recorded.append(watch)
        else:
            self.current = watch

    def set_driven(self, watch: Watch) -> None:
        """Set `current` to `watch`, for which dapeer itself looks at each stop, so nothing is sent.

        Its time begins now. An earlier `current` that the program watches is not ended.
        """
        self.current, self._started_at = watch, anyio.current_time()

    async def unwatch_at_stop(self) -> None:
        """Wait for the next stop or the end, then instruct the program to watch `current` no more.

        The next stop is the first after `current` was begun; it may have come already. The wait has no time limit. If
        the program has ended, nothing is sent. Watches that record each time go on, and `current` stays set. If
        `current` is None, this method returns at once and does nothing. A failed request is ignored.
        """
        watch, mirror = self.current, self._mirror
        if watch is None:
            return
        await self._wait(lambda: mirror.has_moved_on(watch.epoch), None)
        if not mirror.has_ended:
            with contextlib.suppress(DapeerError):
                await self._lines.unwatch(watch.point.number)

    async def clear(self) -> None:
        """Remove all watches that record each time, and instruct the program to watch them no more."""
        points = [each.point.number for each in self.recorded]
        self.recorded.clear()
        await self._lines.unwatch(*points)

    def outcomes(self, project: Path) -> Iterator[tuple[Watch, str, bool]]:
        """Yield each watch that has an outcome to tell, with a sentence on it and whether it has come true.

        A watch that runs the program until something happens is yielded while the program runs to the first stop
        after the watch began, at that stop, or at an end without such a stop. A watch that records each time
        (`every`) is yielded only at the end of the program, and only if it has no rows; one for which dapeer itself
        looks at each stop is yielded as the first kind, with or without rows. A watch has come true if a row of it
        was collected.

        The caller reads new rows before, since rows that were not read yet do not count. `project` is the folder to
        which paths are relative. As a side effect, the seconds that the program has run so far are recorded in a
        watch that the program itself looks at.
        """
        stop, ended = self._mirror.stop, self._mirror.has_ended
        state = "stopped" if stop else "ended" if ended else "running"
        for watch in [*self.recorded, *filter(None, [self.current])]:
            later = self._mirror.epoch - watch.epoch
            # Where each stop is looked at, the last one ends it.
            driven = bool(watch.cost)
            if watch.every and not driven and not ended:
                continue
            if (driven or not watch.every) and later != (stop is not None):
                continue
            if not driven and (not watch.seconds or state == "running"):
                watch.set_run_seconds(anyio.current_time() - self._started_at)
            rows = [*self._collected.rows_of(watch.point)]
            if driven or not (rows and watch.every):
                looks = [*self._collected.rows_of(watch.look_point)]
                yield watch, outcome(watch, rows, looks, state, project), bool(rows)


INSTEAD = {
    "true": "Correct it.",
    "change": "Correct it.",
    "write": "Stop where it exists, or take on=change, which looks in every function of the scope.",
}


def _spec(watch: Watch, scope: ScopeSpec) -> dict[str, Any]:
    """Return the dict by which the program is told to watch `watch` in `scope`.

    Its keys are `id` (the number of the watch's point), the expression as `writes` if `watch.on` is `write`, else
    as `until`, `on`, `scope` (a shallow copy), `stop` (whether to stop there) and `looks` (the number of the point
    for rows on the looking).
    """
    what = {"writes": watch.expression} if watch.on == "write" else {"until": watch.expression}
    return {
        "id": watch.point.number,
        **what,
        "on": watch.on,
        "scope": {**scope},
        "stop": not watch.every,
        "looks": watch.look_point.number,
    }
