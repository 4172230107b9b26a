"""The function that has just returned, inferred from earlier stops. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from dapeer.base.text.fitting import fitted
from dapeer.dap.types import StackFrame
from dapeer.mirror.stops.stops import History, Stop
from dapeer.view.relevance import chosen

MAX_LOCALS = 4
"""Locals of a returned function that are shown."""
VALUE_CHARS = 50
"""Characters of each."""
RAISED = "dapeerRaised"
"""A key in the body of `stopped`: the exception that ended the function in which the step began.

Only dapeer's launcher of debugpy sends it.
"""


def last_of_raised(history: History, now: Stop) -> str:
    """Return the same as `last_of_returned`, with the exception that ended the function; empty: none did."""
    error = now.body.get(RAISED)
    return _last_of_left(history, now, f": {error}") if error else ""


def last_of_returned(history: History, now: Stop) -> str:
    """Return the function that returned since the stop before, and its locals there; empty: none known."""
    return "" if now.body.get(RAISED) else _last_of_left(history, now)


def _last_of_left(history: History, now: Stop, end: str = "") -> str:
    last = returned(history.before(now)[-1:], now)
    if last is None or last.top is None:
        return ""
    found = [each for each in chosen(last, ()).shown if not each["name"].startswith("(")]
    values = [
        f"{each['name']} = {fitted(one_line(each['value']), VALUE_CHARS)}"
        for each in found[:MAX_LOCALS]
    ]
    more = ", …" if len(found) > MAX_LOCALS else ""
    known = f"; its locals at line {last.top['line']}: {', '.join(values)}{more}" if values else ""
    return f"{last.top['name']}{end}{known}"


def one_line(value: str) -> str:
    """Return a value without the line ends that only lay it out."""
    return " ".join(value.split()) if "\n" in value else value


def returned(stops: Iterable[Stop], now: Stop) -> Stop | None:
    """Return the last stop in a function called by this stop's function, and returned from since.

    `stops` are those of the session, the oldest first. None: the program was not in such a function when
    it stopped last outside of this one.
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
    return one.thread_id == other.thread_id and one.top is not None


def _depth(stop: Stop) -> int:
    """Return how many frames there are from the one that is looked at to the outermost."""
    frames = stop.stack.frames.get(stop.thread_id, ())
    return stop.stack.total_frames.get(stop.thread_id, len(frames)) - (stop.stack.front or 0)


def _function(frame: StackFrame) -> tuple[object, ...]:
    return frame["name"], frame.get("source", {}).get("path")
