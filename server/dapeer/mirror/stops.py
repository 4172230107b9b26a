"""The stops of a session, readable also after the program has resumed or ended. Pure."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from dapeer.base.errors import ArgumentError, StaleReference
from dapeer.dap.messages import Body
from dapeer.dap.requests import STEPS
from dapeer.dap.types import StackFrame, StackTraceResponseBody, Variable
from dapeer.mirror.frames import Frames
from dapeer.mirror.values import KEPT_VARIABLES, Values

# The ids of frames and variables that callers see: handles, counted over a session's stops. Pure.
#
# Adapters number frames and variables anew at each stop, some from 1 again. So that an id of an earlier stop can never be
# mistaken for one of a later stop, callers get handles instead.

HANDLES_PER_STOP = 100_000
"""Ids that callers may be given at one stop."""

Kind = Literal["frame_id", "variables_reference"]
Target = tuple[Kind, int, int | None]
"""The target of a handle: the adapter's id, and the frame of a scope."""


@dataclass(slots=True)
class HandleNumbers:
    """Gives the numbers of a session's handles, none twice."""

    last_given: int = 0
    """The last number that was given."""

    def another(self) -> int:
        """Return the next number, which no handle of the session has had."""
        self.last_given += 1
        return self.last_given


@dataclass(slots=True)
class Handles:
    """The handles of one stop: `handle_for` gives them, and `resolve` takes them back."""

    numbers: HandleNumbers = field(default_factory=HandleNumbers)
    """Of the session's handles."""
    last_earlier_handle: int = 0
    """The last handle that was given at the stops before."""
    _handles: dict[Target, int] = field(default_factory=dict[Target, int])
    _targets: dict[int, Target] = field(default_factory=dict[int, Target])

    def handle_for(self, kind: Kind, adapters_id: int, frame_id: int | None = None) -> int:
        """Return the handle of a frame or a container of variables at this stop, a new one at the first call.

        `kind` says which of the two `adapters_id` is: a frame's id, or a variablesReference. `frame_id` is the adapter's
        id of the frame, passed for a scope only. The handle is a number that no other handle of the session has.

        Raises:
            ArgumentError: It would be a new handle, and the stop has `HANDLES_PER_STOP - 1` handles already.
        """
        key = (kind, adapters_id, frame_id)
        if key not in self._handles:
            if len(self._handles) + 1 >= HANDLES_PER_STOP:
                raise ArgumentError("Too many ids at one stop.", "Go on to the next stop.")
            self._handles[key] = handle = self.numbers.another()
            self._targets[handle] = key
        return self._handles[key]

    def resolve(self, kind: Kind, handle: int) -> int:
        """Return the adapter's id behind a handle of this stop; `kind` says what the handle has to be of.

        Raises:
            StaleReference: The handle belongs to an earlier stop.
            ArgumentError: There is no handle of this kind and number.
        """
        if 0 < handle <= self.last_earlier_handle:
            raise StaleReference(
                f"{kind} {handle} belongs to an earlier stop; the program has run since.",
                "Ids live for one stop only: take a new one from dap_stacktrace, dap_scopes or dap_variables.",
            )
        found = self._targets.get(handle)
        if found is None or found[0] != kind:
            raise ArgumentError(
                f"There is no {kind} {handle} at this stop.",
                "Take one from dap_stacktrace, dap_scopes or dap_variables, or name a variable by `path`.",
            )
        return found[1]

    def frame_of_scope(self, handle: int) -> int | None:
        """Return the adapter's id of the frame whose scope the handle stands for; None if it is no scope's."""
        found = self._targets.get(handle)
        return found[2] if found else None

    def forget(self) -> None:
        """Drop all handles of the stop, once the program has resumed; none resolves any more."""
        self._handles.clear()
        self._targets.clear()


# The stacks of the threads at a stop, as far as they were fetched. Pure.

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
    default_index: int | None = 0
    """Number of the frame to look at first; None: the user's own is not among those that are known."""
    outermost: StackFrame | None = None
    """The outermost frame of the user's own code that is known of the thread that stopped."""

    @property
    def default_frame(self) -> StackFrame | None:
        """The frame to look at first, of the thread that stopped; None if none was fetched."""
        frames = self.frames.get(self.thread_id)
        return frames[self.default_index or 0] if frames else None

    def frame(self, frame_id: int | None) -> StackFrame | None:
        """Return a fetched frame of any thread by the adapter's id; None if it is not known."""
        known = itertools.chain(*self.frames.values(), self.outer)
        return next((each for each in known if each["id"] == frame_id), None)

    def name_thread(self, thread_id: int) -> None:
        """Set the thread that stopped, which its adapter had left out."""
        self.thread_id = thread_id

    def add_frames(self, arguments: Body, body: StackTraceResponseBody) -> Sequence[StackFrame]:
        """Add the frames of a `stackTrace` response; return all that are known of the thread that stopped.

        `arguments` are the request's (`threadId`, `startFrame`, `levels`), `body` the response's; one with more
        frames than `levels` counts as the whole stack. The frames replace known ones with the same numbers.
        Frames of the thread that stopped that do not follow its known ones directly are kept in `outer`, if
        they reach the end of the stack; other frames out of order are dropped. `total_frames` is set for the
        thread if the response has that number and it is not less than the known frames, or else if frames that
        were not out of order reach the end of the stack. The result is the stack's own list, which later calls
        change; it is empty if the response is of another thread.
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

    def set_front_frame(self, frame_owners: Frames, *, planned: bool) -> None:
        """Set `default_index`, the frame to look at first, and `outermost`, the user's outermost frame.

        `frame_owners` tells the user's frames from others. At a `planned` stop the first one is looked at, else the innermost of the
        user's; `default_index` is None if none of the user's is known. The frames of the thread must have been fetched.
        """
        frames = self.frames[self.thread_id]
        self.outermost = frame_owners.outermost_users_frame([*frames, *self.outer])
        if not planned:
            users = frame_owners.innermost_users_frame(frames)
            self.default_index = frames.index(users) if users else None

    def reduce_to_history(self) -> None:
        """Drop all frames but the thread's own down to `KEPT_FRAMES` below the one looked at first."""
        kept = self.frames.get(self.thread_id)
        last = (self.default_index or 0) + KEPT_FRAMES
        self.frames = {} if kept is None else {self.thread_id: kept[:last]}
        self.outer = []


def _part(arguments: Body, count: int) -> tuple[int, int]:
    """Return the first frame's number and the number of frames that a `stackTrace` response was asked for.

    `count` is how many frames came: more than asked means that the adapter sent all, which (0, 0) says. A `levels` of 0
    asks for all.
    """
    start, levels = (int(arguments.get(each) or 0) for each in ("startFrame", "levels"))
    return (0, 0) if 0 < levels < count else (start, levels)


KEPT_STOPS = 100
_PLANNED = frozenset({
    "breakpoint", "data breakpoint", "entry", "function breakpoint", "goto", "instruction breakpoint",
    "step",
})  # fmt: skip
"""Reasons of stops at a requested location."""


@dataclass(frozen=True, slots=True)
class StopFindings:
    """What dapeer has found out about a stop beyond what its adapter reports."""

    signal: str = ""
    """Name of the program's signal, if the adapter does not report it."""
    source: tuple[int, list[str]] | None = None
    """The lines around the place as they were then: number of the first, and their text."""
    outdated_source: str = ""
    """A note if the file has changed since the program loaded it."""
    why_no_locals: str = ""
    """Why the adapter has no locals for the frame to look at first."""
    left_out_note: str = ""
    """A note on how many frames of that thread its adapter leaves out, and why; empty if none are known."""
    printed_place: tuple[str, int] | None = None
    """File and line of the user's code that the program has printed.

    It is there where the debugger knows no frame of it.
    """
    resumed_by: str = ""
    """The name of the client that has resumed the program; empty if unknown."""


@dataclass(slots=True)
class ShownStop:
    """What was shown of a stop, and by which numbers callers know it."""

    output_start: int = 0
    """Cursor of the first output shown with this stop: that since the previous one, if not shown yet."""
    previous_output_end: int = 0
    """Cursor at which the previous stop's output ended."""
    handles: Handles = field(default_factory=Handles)
    """The ids that callers see of its frames and containers of variables."""
    output_shown: int | None = None
    """Cursor up to which that output was shown."""
    is_output_arriving: bool = False
    """Whether more of that output is arriving, as far as known."""

    def set_output_flows(self, *, flows: bool) -> None:
        """Set `is_output_arriving`: whether more of the stop's output is still arriving."""
        self.is_output_arriving = flows

    def mark_shown(self, cursor: int) -> None:
        """Set `output_shown`: the cursor up to which clients have seen the stop's output."""
        self.output_shown = cursor

    def output_from(self, shown: int) -> int:
        """Return the cursor at which the stop's output begins for a reader.

        `shown` is the cursor up to which the program's output was shown: a stop that was not reported yet begins no earlier.
        """
        return self.output_start if self.output_shown is not None else max(self.output_start, shown)

    def skip_to(self, cursor: int) -> None:
        """Move the start of the stop's output to `cursor`, if that is later.

        What is before was shown with another stop.
        """
        self.output_start = max(self.output_start, cursor)


@dataclass(slots=True)
class Stop:
    """One suspension of the debuggee: what was reported, fetched, found out and shown of it."""

    number: int
    """The epoch: counts stops of the session from 1."""
    body: Body
    """Body of the `stopped` event."""
    stack: Stack
    values: Values = field(default_factory=Values)
    findings: StopFindings = field(default_factory=StopFindings)
    presentation: ShownStop = field(default_factory=ShownStop)
    real_reason: str = ""
    """Why it really stopped, where the adapter speaks of a breakpoint."""
    exception: Body | None = None
    """Body of the `exceptionInfo` response."""
    resumed_with: str = ""
    """The request that resumed its thread; `continue` if it was another thread's, empty if unknown."""

    @property
    def thread_id(self) -> int:
        """The thread that stopped."""
        return self.stack.thread_id

    @property
    def reason(self) -> str:
        """Why the program stopped; free text of the adapter."""
        return self.real_reason or str(self.body.get("reason") or "unknown")

    @property
    def all_threads(self) -> bool:
        """Whether every thread stopped, not only `thread_id`; the adapter's `allThreadsStopped`."""
        return bool(self.body.get("allThreadsStopped"))

    @property
    def planned(self) -> bool:
        """Whether the program has stopped as asked: at a breakpoint, after a step, at the entry."""
        return self.reason in _PLANNED

    @property
    def default_frame(self) -> StackFrame | None:
        """The frame to look at first, of the thread that stopped.

        That is the innermost; at an unplanned stop, or where data was written, the innermost of the user's code.
        """
        return self.stack.default_frame

    @property
    def default_frame_id(self) -> int | None:
        """The id of that frame; None: it is not known."""
        top = self.default_frame
        return top["id"] if top else None

    def locals(self, frame_id: int | None = None) -> list[Variable]:
        """Return the local variables and arguments of a frame, as far as fetched; empty if nothing was.

        `frame_id` is the adapter's; None: that of the frame to look at first (`top`).
        """
        if frame_id is not None:
            return self.values.locals(frame_id)
        top = self.default_frame_id
        return [] if top is None else self.values.top_locals(top)

    def arguments(self) -> set[str]:
        """Return the names of the arguments of the frame to look at first, as far as the adapter marks them.

        It may mark their scope or each variable. What was not fetched yet is missing; the set may be empty.
        """
        top = self.default_frame_id
        of_scopes = set[str]() if top is None else self.values.argument_names(top)
        hinted = (
            v for v in self.locals() if v.get("presentationHint", {}).get("kind") == "argument"
        )
        return of_scopes | {variable["name"] for variable in hinted}

    # -- what changes it

    def record_resume(self, command: str) -> None:
        """Keep the name of the request that resumes its thread, in `resumed_with`; empty: none does."""
        self.resumed_with = command

    def set_front_frame(self, frame_owners: Frames) -> None:
        """Set `real_reason`, and the frame to look at first (`default_frame`), by the fetched stack.

        The stack is that of the thread that stopped; at least its innermost frame must have been fetched.
        `frame_owners` tells the user's frames from others. `real_reason` is set only where the adapter gives a
        breakpoint or nothing as the reason: to what the innermost frame's name tells, such as `panic`, or to an
        empty text. The frame to look at first is the innermost; at an unplanned stop or a data breakpoint it is
        the innermost of the user's code, or, if none of these is known, the innermost of all. The user's
        outermost frame is set, too.
        """
        if self.reason.endswith(("breakpoint", "unknown")):
            self.real_reason = frame_owners.reason(self.stack.frames[self.thread_id][0])
        # Data are often written by a library for the user's code.
        self.stack.set_front_frame(
            frame_owners, planned=self.planned and self.reason != "data breakpoint"
        )

    def record_exception(self, body: Body) -> None:
        """Set `exception` to what is known of it: an `exceptionInfo` response's body, or only a `description`."""
        self.exception = body

    def record_findings(self, found: StopFindings) -> None:
        """Set `findings` to what dapeer has found out beyond its adapter's reports."""
        self.findings = found

    def reduce_to_history(self) -> None:
        """Drop what history does not show, once the program has resumed; its handles resolve no more."""
        self.values.reduce_to_history(self.default_frame_id)
        self.stack.reduce_to_history()
        self.presentation.handles.forget()

    def comparable_locals(self) -> dict[str, tuple[str, tuple[int, str]]]:
        """Return the locals that history shows, by name: the text of each, and its depth and adapter's value.

        The dictionary has the first `KEPT_VARIABLES` locals at most, each as (text, (depth, value)). The depth is
        the number of containers that were expanded to show the local, 0 if it was not expanded; the value is the
        adapter's text, shortened. The text is that value, or shows the members where the local was expanded. With
        depth and value, two stops can compare only values that were expanded alike.
        """
        values = self.values
        known: dict[str, tuple[str, tuple[int, str]]] = {}
        for each in self.locals()[:KEPT_VARIABLES]:
            depth = values.depth_and_value(each)
            opened = depth[0] > 0 and not values.is_settled
            value = each["value"] if values.is_settled else depth[1]
            known[each["name"]] = values.brief(each) if opened else value, depth
        return known


class StopHistory:
    """The stops so far, the oldest dropped first."""

    def __init__(self, limit: int = KEPT_STOPS) -> None:
        """Begin an empty history, which keeps the last `limit` stops."""
        self._stops: deque[Stop] = deque(maxlen=limit)
        self.numbers = HandleNumbers()
        """Of the handles of all stops."""

    def __iter__(self) -> Iterator[Stop]:
        """Yield the stops, the oldest first."""
        return iter(self._stops)

    def new_handles(self) -> Handles:
        """Return an empty table of handles for a new stop, which continues the session's numbers."""
        return Handles(self.numbers, self.numbers.last_given)

    def add(self, stop: Stop) -> None:
        """Append a new stop.

        The previous one drops what history does not show, and above the limit the oldest goes.
        """
        if self._stops:
            self._stops[-1].reduce_to_history()
        self._stops.append(stop)

    @property
    def latest(self) -> Stop | None:
        """The last stop, though it may be over."""
        return self._stops[-1] if self._stops else None

    def find(self, number: int) -> Stop | None:
        """Return the stop with this number (its epoch), or None if there was none or it was dropped."""
        # Mostly one of the last is asked for.
        found = next((stop for stop in reversed(self._stops) if stop.number <= number), None)
        return found if found is not None and found.number == number else None

    def interrupted_step(self, thread_id: int) -> Stop | None:
        """Return the stop at which a thread began a step that another thread's stop has interrupted.

        The result is None if the thread has not stopped yet, if the latest stop is its own, or if it was resumed otherwise than
        by a step.
        """
        last = next((stop for stop in reversed(self._stops) if stop.thread_id == thread_id), None)
        if last is None or last is self.latest or last.resumed_with not in STEPS:
            return None
        return last

    def stops_before(self, stop: Stop) -> list[Stop]:
        """Return the kept stops before one, the oldest first."""
        stops = list(self._stops)
        while stops and stops[-1].number >= stop.number:
            del stops[-1]
        return stops

    def output_end(self, stop: Stop) -> int | None:
        """Return the cursor at which a stop's output ends and the next stop's begins.

        The result is None if it is the latest.
        """
        later = self.find(stop.number + 1)
        return later.presentation.output_start if later else None
