"""What is known of a session when somebody looks at it, so that none of it is told again later. Pure."""

from __future__ import annotations

from dapeer.mirror.mirror import Mirror


class Telling:
    """One look at a session, from when it is taken until it is told: more may happen meanwhile."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self.stop = mirror.stop
        self._end = mirror.output.end
        self._failures = [(failure, failure.count) for failure in mirror.failures]

    def told(self) -> None:
        """Take note that somebody has been told of all that was known."""
        self._mirror.output.shown = max(self._mirror.output.shown, self._end)
        for failure, count in self._failures:
            failure.told = count
        if self.stop is None:
            return
        self.stop.output_shown = self._end
        latest = self._mirror.history.latest
        if latest is not None and latest is not self.stop:
            latest.output_start = max(latest.output_start, self._end)
