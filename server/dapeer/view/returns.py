"""The function that has just returned, inferred from earlier stops. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from dapeer.base.text.fitting import fitted
from dapeer.dap.types import StackFrame
from dapeer.mirror.stops import Stop, StopHistory
from dapeer.view.relevance import choose_locals

MAX_LOCALS = 4
"""Locals of a returned function that are shown."""
VALUE_CHARS = 50
"""Characters of each."""
RAISED = "dapeerRaised"
"""A key in the body of `stopped`: the exception that ended the function in which the step began.

Only dapeer's launcher of debugpy sends it.
"""


def describe_raising_function(history: StopHistory, now: Stop) -> str:
    """Return the function that an exception ended since the previous stop, with that and its locals.

    The text is as that of `describe_returned_function`, with the exception after the name. Empty if the adapter reports none: only dapeer's
    launcher of debugpy does.
    """
    error = now.body.get(RAISED)
    return _describe_left_function(history, now, f": {error}") if error else ""


def describe_returned_function(history: StopHistory, now: Stop) -> str:
    """Return the name of the function that returned since the previous stop, with the locals it had there.

    At most `MAX_LOCALS` are named. Empty if it is not known that one returned, or an exception ended it.
    """
    return "" if now.body.get(RAISED) else _describe_left_function(history, now)


def _describe_left_function(history: StopHistory, now: Stop, end: str = "") -> str:
    """Return the name of the function that was left since the previous stop, `end`, and its locals there.

    `now` is the current stop, `end` a text on how the function was left, which stands directly behind the name. At most `MAX_LOCALS` locals
    are named, with shortened values. Empty if it is not known that one was left.
    """
    last = stop_in_returned_function(history.stops_before(now)[-1:], now)
    if last is None or last.top is None:
        return ""
    found = [
        each for each in choose_locals(last, ()).shown_locals if not each["name"].startswith("(")
    ]
    values = [
        f"{each['name']} = {fitted(one_line(each['value']), VALUE_CHARS)}"
        for each in found[:MAX_LOCALS]
    ]
    more = ", …" if len(found) > MAX_LOCALS else ""
    known = f"; its locals at line {last.top['line']}: {', '.join(values)}{more}" if values else ""
    return f"{last.top['name']}{end}{known}"


def one_line(value: str) -> str:
    """Return a value's text with all white space as single spaces, if it has several lines."""
    return " ".join(value.split()) if "\n" in value else value


def stop_in_returned_function(stops: Iterable[Stop], now: Stop) -> Stop | None:
    """Return the last stop in a function that the current function called and that has returned since.

    `stops` are those of the session, the oldest first; only those before `now`, of its thread, count. None if there is no earlier stop at
    another depth of the stack, if the last of these was not deeper, or if its caller at that depth is not the function of `now`.
    """
    earlier = (s for s in reversed(list(stops)) if s.number < now.number and _comparable(s, now))
    last = next((s for s in earlier if _depth(s) != _depth(now)), None)
    if last is None or _depth(last) < _depth(now) or now.top is None:
        return None
    frames = last.stack.frames[last.thread_id]
    caller = (last.stack.front or 0) + _depth(last) - _depth(now)
    here = caller < len(frames) and _function(frames[caller]) == _function(now.top)
    return last if here else None


def _comparable(one: Stop, other: Stop) -> bool:
    """Return whether a stop is of the same thread as `other` and has a known frame."""
    return one.thread_id == other.thread_id and one.top is not None


def _depth(stop: Stop) -> int:
    """Return how many frames a stop's stack has from the frame to look at first to the outermost one."""
    frames = stop.stack.frames.get(stop.thread_id, ())
    return stop.stack.total_frames.get(stop.thread_id, len(frames)) - (stop.stack.front or 0)


def _function(frame: StackFrame) -> tuple[object, ...]:
    """Return a key of a frame's function: its name and its file."""
    return frame["name"], frame.get("source", {}).get("path")
