"""Stops at a line whose expectation fails; each hit is a row, so those before it are shown, too."""

from __future__ import annotations

from typing import Any

MISSING = object()
"""Stands for the value of what has raised something."""


class Expecting:
    """Looks at lines with an expectation in one code, and stops where it fails.

    It can be a code's `watching`.
    """

    def __init__(self, points: list[Any], maker: Any, frame: Any, inner: Any) -> None:
        """Make a recorder and a check for each of some points.

        `maker` is a `recorders.Maker`, `frame` one of the code, `inner` what else is watched in it, or None. `points` are
        `points.SpecifiedPoint`s.
        """
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
        """Whether no point wants more hits, and what else is watched is over."""
        inner = self._inner is None or self._inner.over
        return inner and all(point.ended for point, *_ in self._points)

    def begin(self, frame: Any) -> tuple[int, dict[Any, Any]]:
        """Return the line at which a running frame is, and what is known of what else is watched."""
        return (frame.f_lineno, {}) if self._inner is None else self._inner.begin(frame)

    def look(self, frame: Any, line: int, seen: dict[Any, Any], event: str) -> bool:
        """Write a row for the line that a frame comes to, if it has an expectation; return whether to stop.

        It stops where the expectation is false, or raises something. `line` is the line before, `seen` what is known of what else is
        watched.
        """
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
    """Do nothing with what an expectation has raised: its row tells it."""
