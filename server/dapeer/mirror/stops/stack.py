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
        """The frame to look at first, of the thread that stopped; None if none was fetched."""
        frames = self.frames.get(self.thread_id)
        return frames[self.front or 0] if frames else None

    def frame(self, frame_id: int | None) -> StackFrame | None:
        """Return a fetched frame of any thread by the adapter's id; None if it is not known."""
        known = itertools.chain(*self.frames.values(), self.outer)
        return next((each for each in known if each["id"] == frame_id), None)

    def name_thread(self, thread_id: int) -> None:
        """Set the thread that stopped, which its adapter had left out."""
        self.thread_id = thread_id

    def take(self, arguments: Body, body: StackTraceResponseBody) -> Sequence[StackFrame]:
        """Add the frames of a `stackTrace` response; return those known of the thread that stopped.

        `arguments` are the request's: `threadId`, `startFrame`, `levels`. Frames that do not follow the known ones directly are
        kept in `outer`, if they reach the end of the stack. Empty if the response is of another thread.
        """
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
        """Set `front`, the number of the frame to look at first, and `outermost`, the user's outermost frame.

        `whose` tells the user's frames from others. At a `planned` stop the first one is looked at, else the innermost of the
        user's; `front` is None if none of the user's is known. The frames of the thread must have been fetched.
        """
        frames = self.frames[self.thread_id]
        self.outermost = whose.outermost([*frames, *self.outer])
        if not planned:
            users = whose.foremost(frames)
            self.front = frames.index(users) if users else None

    def settle(self) -> None:
        """Drop all frames but the thread's own down to `KEPT_FRAMES` below the one looked at first."""
        kept = self.frames.get(self.thread_id)
        last = (self.front or 0) + KEPT_FRAMES
        self.frames = {} if kept is None else {self.thread_id: kept[:last]}
        self.outer = []


def _part(arguments: Body, count: int) -> tuple[int, int]:
    """Return the first frame's number and the number of frames that a `stackTrace` response was asked for.

    `count` is how many frames came: more than asked means that the adapter sent all, which (0, 0) says. A `levels` of 0
    asks for all.
    """
    start, levels = (int(arguments.get(each) or 0) for each in ("startFrame", "levels"))
    return (0, 0) if 0 < levels < count else (start, levels)
