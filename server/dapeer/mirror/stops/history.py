"""The stops of a session so far. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from dapeer.mirror.stops.handles import HandleNumbers, Handles
from dapeer.mirror.stops.stops import Stop

KEPT_STOPS = 100


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
