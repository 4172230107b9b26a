"""Stops at a line whose expectation fails; each hit is a row, so those before it are shown, too."""

from __future__ import annotations

from typing import Any

MISSING = object()
"""Stands for the value of what has raised something."""


class Expecting:
    """The lines of a code with expectations; the names are those of `watching.CodeWatches`."""

    def __init__(self, points: list[Any], maker: Any, frame: Any, inner: Any) -> None:
        """Take the points, what makes recorders, a frame of the code, and what else is watched in it."""
        self._maker = maker
        self._inner = inner
        self._points = [
            (
                point,
                maker.recorder(point, frame),
                maker.condition(point, frame) if point.condition else None,
                maker.value(point.expect, frame, MISSING, missed, holds=True),
            )
            for point in points
        ]

    @property
    def over(self) -> bool:
        """Whether all of them have what they want."""
        inner = self._inner is None or self._inner.over
        return inner and all(point.ended for point, *_ in self._points)

    def begin(self, frame: Any) -> tuple[int, dict[Any, Any]]:
        """Return the line that a frame is at which runs already, and what is known then."""
        return (frame.f_lineno, {}) if self._inner is None else self._inner.begin(frame)

    def look(self, frame: Any, line: int, seen: dict[Any, Any], event: str) -> bool:
        """Record the line that a frame comes to; whether the thread is to stop."""
        stop = self._inner is not None and self._inner.look(frame, line, seen, event)
        for point, record, met, holds in self._points:
            if event != "line" or frame.f_lineno != point.line or point.ended:
                continue
            record(frame, self._maker.context(frame))
            if met is None or met(frame, ""):
                outcome = holds(frame)
                stop |= outcome is MISSING or not outcome[0]
        return bool(stop)


def missed(_error: str) -> None:
    """Hear what an expectation has raised: its row tells it."""
