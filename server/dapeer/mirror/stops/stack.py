"""The stacks of the threads at a stop, as far as they were fetched. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from dapeer.dap.bodies import StackTraceResponseBody
from dapeer.dap.messages import Body
from dapeer.dap.types import StackFrame
from dapeer.mirror.frames import Frames

KEPT_FRAMES = 20


@dataclass(slots=True)
class Stack:
    """The frames of all threads, and which of them is looked at first."""

    thread_id: int
    """The thread that stopped."""
    frames: dict[int, list[StackFrame]] = field(default_factory=dict[int, list[StackFrame]])
    """Frames by thread id, the innermost first."""
    total_frames: dict[int, int] = field(default_factory=dict[int, int])
    """How many frames a thread has, where the adapter said."""
    outer: list[StackFrame] = field(default_factory=list[StackFrame])
    """The outermost frames of the thread that stopped, where those before them are not fetched."""
    front: int | None = 0
    """Number of the frame to look at first; None: the user's own is not among those that are known."""
    outermost: StackFrame | None = None
    """The outermost frame of the user's own code that is known of the thread that stopped."""

    @property
    def top(self) -> StackFrame | None:
        """The frame to look at first, of the thread that stopped."""
        frames = self.frames.get(self.thread_id)
        return frames[self.front or 0] if frames else None

    def frame(self, frame_id: int | None) -> StackFrame | None:
        """Return a frame by its id; None if it is not known."""
        known = itertools.chain(*self.frames.values(), self.outer)
        return next((each for each in known if each["id"] == frame_id), None)

    def name_thread(self, thread_id: int) -> None:
        """Take note of which thread it was that stopped."""
        self.thread_id = thread_id

    def take(self, arguments: Body, body: StackTraceResponseBody) -> Sequence[StackFrame]:
        """Take in frames; return those that are known now of the thread that stopped, if they are its."""
        thread, frames = arguments["threadId"], body.get("stackFrames", [])
        start, levels = _part(arguments, len(frames))
        known = self.frames.setdefault(thread, [])
        whole = not levels or len(frames) < levels
        if start <= len(known):
            known[start : start + len(frames)] = frames
        elif whole and thread == self.thread_id:
            self.outer = frames
        total = body.get("totalFrames")
        if isinstance(total, int) and total >= len(known):
            self.total_frames[thread] = total
        elif whole and start <= len(known):
            self.total_frames[thread] = len(known)
        return known if thread == self.thread_id else ()

    def place(self, whose: Frames, *, planned: bool) -> None:
        """Find the frame to look at first: the innermost; of a stop not `planned`, that of the user's."""
        frames = self.frames[self.thread_id]
        self.outermost = whose.outermost([*frames, *self.outer])
        if not planned:
            users = whose.foremost(frames)
            self.front = frames.index(users) if users else None

    def settle(self) -> None:
        """Keep only what history shows, once the program has resumed."""
        kept = self.frames.get(self.thread_id)
        last = (self.front or 0) + KEPT_FRAMES
        self.frames = {} if kept is None else {self.thread_id: kept[:last]}
        self.outer = []


def _part(arguments: Body, count: int) -> tuple[int, int]:
    """Return from which frame on how many are told; some adapters tell all, whatever is asked."""
    start, levels = (int(arguments.get(each) or 0) for each in ("startFrame", "levels"))
    return (0, 0) if 0 < levels < count else (start, levels)
