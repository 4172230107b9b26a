"""What one process collects, as its output tells it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from dapeer.collecting.rows.collected import LOG, ROW, Collected
from dapeer.collecting.rows.table import CollectedRow
from dapeer.dap.messages import Body, Event, Message

REMOVED = "dapeerRemoved"
"""Tells that the log points of a `point` are gone, since they have brought all rows that were wanted."""


@dataclass(slots=True)
class Gathered:
    """Takes in what one process collects, as its output tells it."""

    collected: Collected
    process: int
    """The number of its session."""
    _started_at: float | None = None

    def reached(self, path: str, line: int) -> bool:
        """Whether some process has come by a collection point."""
        return self.collected.reached(path, line)

    def full(self, message: Message) -> int:
        """Return the number of the point whose last accepted row a message has brought; 0: of none."""
        row = message.body.get(ROW) if isinstance(message, Event) else None
        number = int(row.get("point") or 0) if row else 0
        rows = self.collected.collections.get((self.process, number))
        return number if rows and 0 < rows.point.max_hits == rows.hits else 0

    def removed(self, body: Body) -> None:
        """Take note that the log points of a `point` are gone, since they have brought all rows."""
        for each in self.collected.of_point(int(body.get("point") or 0)):
            each.remove()

    def take(self, body: Body, at: float) -> None:
        """Take in a row that came at time `at` (seconds): the number of its `point`, and its `cells`."""
        self._started_at = at if self._started_at is None else self._started_at
        point, cells = int(body.get("point") or 0), tuple(map(str, body.get("cells") or ()))
        row = CollectedRow(point, 0, at - self._started_at, "", "", "", cells)
        self.collected.add(self.process, row, LOG)
