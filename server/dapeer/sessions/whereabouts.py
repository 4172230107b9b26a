"""Where every thread is, in one look, whether the program is stopped or runs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from dapeer.base.errors import DapeerError, RequestFailed
from dapeer.dap.types import StackFrame
from dapeer.mirror.mirror import Mirror
from dapeer.mirror.places import Place, Seen, Sight, by_thread, told
from dapeer.mirror.stops import Stop
from dapeer.sessions.fetching import SendRequest
from dapeer.sessions.inspection import Inspection
from dapeer.view.stacks import left_out, missing

SECONDS_TO_LOOK_AROUND = 1.5
"""Timeout of the inspection; later results are left out."""
MOST = 200
"""Threads whose stacks are requested."""

T = TypeVar("T")


class Whereabouts:
    """Looks at all threads at once.

    A stopped thread is told by its stack. One that runs is told by the program itself, where there is
    an expression for that: evaluating it needs no thread of the program, and takes no time.
    """

    def __init__(
        self, mirror: Mirror, inspect: Inspection, request: SendRequest, sight: Sight
    ) -> None:
        self._mirror = mirror
        self._inspect = inspect
        self._request = request
        self.sight = sight
        self._left_out: dict[tuple[object, ...], str] = {}
        """By the callers of a stop: the frames that are left out there."""

    @property
    def sees_running(self) -> bool:
        """Whether the locations of threads can be found while the program runs."""
        return bool(self.sight.expression)

    async def look(self, seconds: float = SECONDS_TO_LOOK_AROUND) -> Seen:
        """Return where the threads and tasks are, as far as known after `seconds`."""
        clock = asyncio.get_running_loop().time
        end = clock() + seconds
        names = await _within(seconds, self._inspect.threads())
        threads = {**(self._mirror.threads if names is None else names)}
        answer = await _within(end - clock(), self._told()) if names is not None else None
        known = answer or {}
        seen = by_thread(threads, known.get("threads", ()))
        # Some adapters take half a second for a thread that is not at rest, one after the other.
        missing = [] if seen else [each for each in threads if self._mirror.stop_of(each)]
        stacks = await self._stacks(missing[:MOST], end - clock())
        return Seen(
            [self._place(each, name, seen, stacks) for each, name in threads.items()],
            known.get("tasks", ()),
            silent=answer is None,
        )

    def complete(self, folded: re.Pattern[str] | None) -> None:
        """Ask the unpatched program for what its adapter leaves out; `folded` marks that in values."""
        self._inspect.folded = folded
        if self.sight.hides:
            self._inspect.compare = self.compare

    async def compare(self, stop: Stop) -> None:
        """Record at a stop which frames its adapter leaves out, if the program itself reports more.

        It is asked once for each chain of callers: a step within a function, which may be a person's, costs nothing.
        """
        top, *callers = stop.frames[stop.thread_id]
        if not callers:
            return
        chain = (top["name"], *((each["name"], each["line"]) for each in callers))
        if chain not in self._left_out:
            names = await self._inspect.threads()
            answer = await _within(SECONDS_TO_LOOK_AROUND, self._told())
            if answer is None:
                return
            seen = by_thread(names, answer.get("threads", ())).get(stop.thread_id)
            others = missing(seen.frames if seen else (), [top, *callers])
            self._left_out[chain] = left_out(others, self._mirror.frames, self.sight.hides)
        stop.left_out = self._left_out[chain]

    def _place(
        self,
        thread_id: int,
        name: str,
        seen: Mapping[int, Place],
        stacks: Mapping[int, Sequence[StackFrame]],
    ) -> Place:
        place = seen.get(thread_id, Place(name))
        frames = self._known(thread_id) or stacks.get(thread_id) or place.frames
        stopped = self._mirror.stop_of(thread_id) is not None
        return replace(place, thread_id=thread_id, stopped=stopped, frames=frames)

    def _known(self, thread_id: int) -> Sequence[StackFrame]:
        stop = self._mirror.stop_of(thread_id)
        return stop.frames.get(thread_id, ()) if stop is not None else ()

    async def _told(self) -> Mapping[str, Sequence[Place]]:
        if not self.sight.expression:
            return {}
        arguments = {"expression": self.sight.expression, "context": "clipboard"}
        try:
            body = await self._request("evaluate", arguments)
        except RequestFailed:
            return {}
        return told(str(body.get("result") or ""))

    async def _stacks(
        self, threads: Sequence[int], seconds: float
    ) -> Mapping[int, Sequence[StackFrame]]:
        """Return the stacks of stopped threads, side by side."""
        fetches = (_within(seconds, self._inspect.stack_trace(each)) for each in threads)
        stacks = await asyncio.gather(*fetches)
        return {each: stack for each, stack in zip(threads, stacks, strict=True) if stack}


async def _within(seconds: float, fetch: Awaitable[T]) -> T | None:
    """Return the result of a fetch; None if it failed or was too slow."""
    try:
        async with asyncio.timeout(max(seconds, 0)):
            return await fetch
    except (DapeerError, KeyError, TimeoutError):
        return None
