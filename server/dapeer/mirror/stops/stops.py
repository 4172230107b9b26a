"""The stops of a session, readable also after the program has resumed or ended. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from dapeer.dap.messages import Body
from dapeer.dap.requests import STEPS
from dapeer.dap.types import StackFrame, Variable
from dapeer.mirror.frames import Frames
from dapeer.mirror.stops.handles import HandleNumbers, Handles
from dapeer.mirror.stops.stack import Stack
from dapeer.mirror.stops.values import KEPT_VARIABLES, Values

KEPT_STOPS = 100
_PLANNED = frozenset({
    "breakpoint", "data breakpoint", "entry", "function breakpoint", "goto", "instruction breakpoint",
    "step",
})  # fmt: skip
"""Reasons of stops at a requested location."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What dapeer has found out about a stop beyond what its adapter reports."""

    signal: str = ""
    """Name of the program's signal, if the adapter does not report it."""
    source: tuple[int, list[str]] | None = None
    """The lines around the place as they were then: number of the first, and their text."""
    outdated_source: str = ""
    """A note if the file has changed since the program loaded it."""
    withheld: str = ""
    """Why the adapter has no locals for the frame to look at first."""
    left_out: str = ""
    """A note on how many frames of that thread its adapter leaves out, and why; empty if none are known."""
    place: tuple[str, int] | None = None
    """File and line of the user's code that the program has printed.

    It is there where the debugger knows no frame of it.
    """
    left_by: str = ""
    """The name of the client that has resumed the program; empty if unknown."""


@dataclass(slots=True)
class Reported:
    """What was shown of a stop, and by which numbers callers know it."""

    output_start: int = 0
    """Cursor of the first output shown with this stop: that since the previous one, if not shown yet."""
    left_at: int = 0
    """Cursor at which the previous stop's output ended."""
    handles: Handles = field(default_factory=Handles)
    """The ids that callers see of its frames and containers of variables."""
    output_shown: int | None = None
    """Cursor up to which that output was shown."""
    output_flows: bool = False
    """Whether more of that output is arriving, as far as known."""

    def flow(self, *, flows: bool) -> None:
        """Take note of whether more output is arriving."""
        self.output_flows = flows

    def mark_shown(self, cursor: int) -> None:
        """Take note that its output was shown up to a cursor."""
        self.output_shown = cursor

    def output_from(self, shown: int) -> int:
        """Return where its output begins for a reader; the program's is shown up to `shown`."""
        return self.output_start if self.output_shown is not None else max(self.output_start, shown)

    def skip_to(self, cursor: int) -> None:
        """Take note that output up to a cursor was shown with another stop."""
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
    found: Findings = field(default_factory=Findings)
    reported: Reported = field(default_factory=Reported)
    raised: str = ""
    """Why it really stopped, where the adapter speaks of a breakpoint."""
    exception: Body | None = None
    """Body of the `exceptionInfo` response."""
    left_with: str = ""
    """The request that resumed its thread; `continue` if it was another thread's, empty if unknown."""

    @property
    def thread_id(self) -> int:
        """The thread that stopped."""
        return self.stack.thread_id

    @property
    def reason(self) -> str:
        """Why the program stopped; free text of the adapter."""
        return self.raised or str(self.body.get("reason") or "unknown")

    @property
    def all_threads(self) -> bool:
        """Whether every thread stopped, not only `thread_id`."""
        return bool(self.body.get("allThreadsStopped"))

    @property
    def planned(self) -> bool:
        """Whether the program has stopped at a requested location."""
        return self.reason in _PLANNED

    @property
    def top(self) -> StackFrame | None:
        """The frame to look at first, of the thread that stopped.

        That is the innermost; at an unplanned stop, or where data was written, the innermost of the user's code.
        """
        return self.stack.top

    @property
    def top_id(self) -> int | None:
        """The id of that frame; None: it is not known."""
        top = self.top
        return top["id"] if top else None

    def locals(self, frame_id: int | None = None) -> list[Variable]:
        """Return the local variables and arguments of a frame, default `top`, as far as fetched."""
        if frame_id is not None:
            return self.values.locals(frame_id)
        top = self.top_id
        return [] if top is None else self.values.top_locals(top)

    def arguments(self) -> set[str]:
        """Return the names of the innermost frame's arguments, if the adapter marks them."""
        top = self.top_id
        of_scopes = set[str]() if top is None else self.values.arguments(top)
        hinted = (
            v for v in self.locals() if v.get("presentationHint", {}).get("kind") == "argument"
        )
        return of_scopes | {variable["name"] for variable in hinted}

    # -- what changes it

    def leave(self, command: str) -> None:
        """Take note of the request that resumes its thread."""
        self.left_with = command

    def place(self, whose: Frames) -> None:
        """Find out why it really stopped, and which frame is looked at first, now that some are known."""
        if self.reason.endswith(("breakpoint", "unknown")):
            self.raised = whose.reason(self.stack.frames[self.thread_id][0])
        # Data are often written by a library for the user's code.
        self.stack.place(whose, planned=self.planned and self.reason != "data breakpoint")

    def take_exception(self, body: Body) -> None:
        """Take in what is known of the exception that it stopped at."""
        self.exception = body

    def learn(self, found: Findings) -> None:
        """Take in what dapeer has found out."""
        self.found = found

    def settle(self) -> None:
        """Keep only what history shows, once the program has resumed."""
        self.values.settle(self.top_id)
        self.stack.settle()
        self.reported.handles.forget()

    def compared(self) -> dict[str, tuple[str, tuple[int, str]]]:
        """Return the locals that history shows, by name: each as it is shown, and its depth and value."""
        values = self.values
        known: dict[str, tuple[str, tuple[int, str]]] = {}
        for each in self.locals()[:KEPT_VARIABLES]:
            depth = values.depth_and_value(each)
            opened = depth[0] > 0 and not values.settled
            value = each["value"] if values.settled else depth[1]
            known[each["name"]] = values.brief(each) if opened else value, depth
        return known


class History:
    """The stops so far, the oldest dropped first."""

    def __init__(self, limit: int = KEPT_STOPS) -> None:
        self._stops: deque[Stop] = deque(maxlen=limit)
        self.numbers = HandleNumbers()
        """Of the handles of all stops."""

    def __iter__(self) -> Iterator[Stop]:
        """Yield the stops, the oldest first."""
        return iter(self._stops)

    def new_handles(self) -> Handles:
        """Return the handles of a new stop."""
        return Handles(self.numbers, self.numbers.given)

    def add(self, stop: Stop) -> None:
        """Begin a new stop; the previous one keeps only what history shows."""
        if self._stops:
            self._stops[-1].settle()
        self._stops.append(stop)

    @property
    def latest(self) -> Stop | None:
        """The last stop, though it may be over."""
        return self._stops[-1] if self._stops else None

    def find(self, number: int) -> Stop | None:
        """Return the stop with this number, or None when it was never or is no longer here."""
        # Mostly one of the last is asked for.
        found = next((stop for stop in reversed(self._stops) if stop.number <= number), None)
        return found if found is not None and found.number == number else None

    def interrupted_step(self, thread_id: int) -> Stop | None:
        """Return the stop at which a thread's step began that another thread's stop has interrupted.

        None: the thread has stopped since, or was resumed otherwise.
        """
        last = next((stop for stop in reversed(self._stops) if stop.thread_id == thread_id), None)
        if last is None or last is self.latest or last.left_with not in STEPS:
            return None
        return last

    def before(self, stop: Stop) -> list[Stop]:
        """Return the stops before one, the oldest first."""
        stops = list(self._stops)
        while stops and stops[-1].number >= stop.number:
            del stops[-1]
        return stops

    def output_end(self, stop: Stop) -> int | None:
        """Return the cursor at which a stop's output ends; None while it is the latest stop."""
        later = self.find(stop.number + 1)
        return later.reported.output_start if later else None
