"""What has changed since the program stopped earlier in the same call of a function. Pure.

DAP has no identity of calls: frames are numbered anew at each stop. It is inferred from the stops in between,
how each was left, and from the callers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dapeer.base.text.fitting import shortened
from dapeer.dap.types import StackFrame
from dapeer.mirror.stops import Stop, StopHistory
from dapeer.view.stacks import HEAD_NAME_CHARS

ACTIVATION = "dapeerActivation"
"""A key of `stopped` from dapeer's launcher of debugpy: a number that identifies the innermost call.

0: a generator or coroutine, which is resumed, so its callers say nothing.
"""
STEPS = frozenset({"next", "stepIn", "stepOut"})
"""Requests that do not leave a function without a stop in its caller."""
JUMP = "goto"
"""The request that moves a call to another of its lines, and runs nothing."""


NOT_COMPARED = "not compared"
"""So ends the note that a stop is in another call of its function than the one before."""


@dataclass(frozen=True, slots=True)
class ActivationComparison:
    """A stop, compared with an earlier one in the same function."""

    earlier: Stop | None = None
    """None if there is none."""
    is_same: bool | None = None
    """Whether it is the same call; None: that is not known."""
    changes: Mapping[str, tuple[str | None, str]] = field(
        default_factory=dict[str, tuple[str | None, str]]
    )
    """By name the value before, None: it is new, and the value now; another call's are not compared."""

    @property
    def perhaps_another(self) -> bool:
        """Whether locals have changed since a stop of which it is unknown if it was in the same call."""
        return self.earlier is not None and self.is_same is None and bool(self.changes)

    @property
    def notes(self) -> list[str]:
        """A note that the stop is in another call of its function than before; empty unless that is known."""
        if self.earlier is None or self.earlier.default_frame is None or self.is_same is not False:
            return []
        name = shortened(self.earlier.default_frame["name"], HEAD_NAME_CHARS)
        return [f"another call of {name} than before: {NOT_COMPARED}"]


def compare_locals(history: StopHistory, stop: Stop) -> ActivationComparison:
    """Compare a stop's locals with those of the last stop in the same function, thread and stack depth.

    `history` has the session's stops. Only earlier stops whose scopes were fetched count; if there is none, `earlier`
    of the result is None. `is_same` says whether both stops are in the same call of the function; None: unknown.
    `changes` maps the name of each local that is new or differs to two texts: the value before (None: new) and the
    value now. It is empty if the calls are known to differ, and does not tell of locals that are gone.
    """
    before = history.stops_before(stop)
    # Where many stops follow each other, nobody looks at the locals of most.
    seen = (
        each for each in reversed(before) if _is_same_function(each, stop) and each.values.scopes
    )
    earlier = next(seen, None)
    if earlier is None:
        return ActivationComparison()
    same = _is_same_call(earlier, stop, before)
    if same is False:
        return ActivationComparison(earlier, same)
    old, new = earlier.comparable_locals(), stop.comparable_locals()
    changes = {
        name: (old[name][0] if name in old else None, value)
        for name, (value, note) in new.items()
        if name not in old or _differs(old[name], (value, note))
    }
    return ActivationComparison(earlier, same, changes)


def _is_same_call(earlier: Stop, stop: Stop, before: Sequence[Stop]) -> bool | None:
    """Return whether two stops in one function are in the same call of it; None if that is not known.

    `before` are all stops of the session before `stop`, the oldest first, with `earlier` among them. debugpy's
    numbers of the calls decide, where both stops have one other than 0 (0: a generator or coroutine). Else it
    is False, unless a number is 0, if the callers or their lines are others, or the thread stopped meanwhile in
    a caller or in another function at the same depth; and True if only steps that cannot have left the call led
    from one stop to the other.
    """
    numbers = earlier.body.get(ACTIVATION), stop.body.get(ACTIVATION)
    if all(numbers):
        return numbers[0] == numbers[1]
    between = [each for each in before if each.number >= earlier.number]
    if 0 not in numbers and _has_returned(earlier, stop, between):
        return False
    alone = all(each.thread_id == stop.thread_id for each in between)
    # A step that goes back to the first line at which the function was seen may have come to the next call
    # of a caller that debuggers do not stop in, such as a sort.
    lowest = min(_line(each) for each in before if _is_same_function(each, stop))
    ways = zip(between, [*between[1:], stop], strict=True)
    stepped = alone and all(_stays_in_call(one, other, _depth(stop), lowest) for one, other in ways)
    return True if stepped else None


def _has_returned(earlier: Stop, stop: Stop, between: Sequence[Stop]) -> bool:
    """Return whether the function of two stops has certainly returned between them.

    Both stops are in the same function. It has returned if its `MAX_COMPARED_CALLERS` innermost callers, or their
    lines, are others now, or if the same thread stopped meanwhile in one of the callers, or in another function at
    the same depth. `between` are the stops from `earlier` until before `stop`. False does not mean that it has not
    returned.
    """
    if _callers(earlier) != _callers(stop):
        return True
    own = [
        each
        for each in between
        if each.thread_id == stop.thread_id and each.default_frame is not None
    ]
    depth = _depth(stop)
    return any(
        _depth(each) < depth or (_depth(each) == depth and not _is_same_function(each, stop))
        for each in own
    )


def _stays_in_call(one: Stop, other: Stop, depth: int, lowest: int) -> bool:
    """Return whether the program cannot have left a call of a function between one stop and the next.

    `one` and `other` follow each other. A jump (`goto`) counts as staying, and so does a step, except one out of
    that call; any other resume, or an unknown one, does not. A step past the call's end counts as staying, too: the
    caller compares the depths. `depth` is how many frames the stack has from that call to the outermost frame, 1
    for a function without a caller. `lowest` is the first line at which the function was seen: a step within the
    call back to that line, or before, may be a new call, unless the function has no caller.
    """
    if one.resumed_with == JUMP:
        return True
    if one.resumed_with not in STEPS or (one.resumed_with == "stepOut" and _depth(one) <= depth):
        return False
    # A function without a caller is not called twice.
    inside = _depth(one) == _depth(other) == depth and depth > 1
    return not (inside and _line(other) <= min(lowest, _line(one)))


def _line(stop: Stop) -> int:
    """Return the line of the frame to look at first; 0 if it is unknown."""
    return stop.default_frame["line"] if stop.default_frame else 0


def _depth(stop: Stop) -> int:
    """Return how many frames a stop's stack has from the frame to look at first to the outermost one."""
    frames = stop.stack.frames.get(stop.thread_id, ())
    return stop.stack.total_frames.get(stop.thread_id, len(frames)) - (
        stop.stack.default_index or 0
    )


def _callers(stop: Stop) -> list[tuple[object, ...]]:
    """Return for each caller its function, file, line and column, the innermost first.

    At most `MAX_COMPARED_CALLERS` are returned.
    """
    frames = stop.stack.frames.get(stop.thread_id, ())[(stop.stack.default_index or 0) + 1 :]
    return [
        (*_function(each), each["line"], each.get("column"))
        for each in frames[:MAX_COMPARED_CALLERS]
    ]


MAX_COMPARED_CALLERS = 10
"""Callers that are compared: fewer than are kept of a stop that is over."""


def _function(frame: StackFrame) -> tuple[object, ...]:
    """Return a key of a frame's function: its name and its file."""
    return frame["name"], frame.get("source", {}).get("path")


def _is_same_function(one: Stop, other: Stop) -> bool:
    """Return whether two stops are of one thread, in the same function, at the same depth of the stack.

    A function is known by its name and file. The result is False if the frame of one is unknown.
    """
    return (
        one.default_frame is not None
        and other.default_frame is not None
        and one.thread_id == other.thread_id
        and _function(one.default_frame) == _function(other.default_frame)
        and _depth(one) == _depth(other)
    )


ShownLocal = tuple[str, tuple[int, str]]
"""A local as it is shown, with how far it is expanded and what the adapter says of it."""


def _differs(before: ShownLocal, now: ShownLocal) -> bool:
    """Return whether a local has changed; values that are expanded differently are compared unexpanded."""
    (was, (depth_before, note_before)), (shown, (depth, note)) = before, now
    return was != shown if depth_before == depth else note_before != note
