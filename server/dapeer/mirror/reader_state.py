"""What a reader has seen of a session, so that it is not shown again. Pure."""

from __future__ import annotations

from dapeer.mirror.mirror import Mirror


class Telling:
    """One reading of a session, from its start until it is answered: more may happen meanwhile."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self.stop = mirror.stop
        self._end = mirror.output.end
        self._failures = [(failure, failure.count) for failure in mirror.failures]

    def mark_reported(self) -> None:
        """Record that a reader has seen all of it."""
        self._mirror.mark_reported(self.stop, self._end, self._failures)
