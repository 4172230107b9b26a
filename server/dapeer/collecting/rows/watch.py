"""What a program is run until: an expression that holds, or a value that changes. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dapeer.collecting.rows.collected import Collected
from dapeer.collecting.rows.collection import Point
from dapeer.companions.python.dapeer_debuggee.collecting import row_format

On = Literal["true", "change", "write"]
"""Until an expression holds, or changes within a call; or until a value is written where it is now."""

_WORDS = {"true": "until", "change": "changes of", "write": "writes of"}


@dataclass(slots=True)
class Watch:
    """One request to run until something."""

    expression: str
    on: On
    every: bool
    """Each line that does it is recorded, and none stops the program."""
    point: Point
    """Its rows have `row_format.WATCH_COLUMNS`."""
    looks: Point
    """Its rows have `row_format.LOOK_COLUMNS`."""
    road: str = ""
    epoch: int = 0
    """The number of the stop at which it began."""
    seconds: float = 0
    """How long the program has run until it stopped or ended; 0: it runs."""
    seen: bool = False
    """The line shown is the one that the program came to next: which ran before is unknown there."""
    returned: bool = False
    """The shown line may have been its call's last: then the rest of the line that called has run, too."""
    others: bool = False
    """Other threads ran beside that line, and nobody looked which of them has done it."""
    already: bool = False
    """It holds where the program is stopped, which has not moved."""
    passed_by: str = ""
    """The lines that were not looked at, where the line that did it may be one of them."""
    cost: str = ""
    """What a road has taken that can be counted."""

    def begin(self, road: str, epoch: int, *, holds: bool = False) -> None:
        """Set the number of the stop at which it begins, how it runs, and whether it holds there already.

        `road` is how it runs; `holds` says whether the expression holds at that stop.
        """
        self.road, self.epoch = road, epoch
        self.already = holds and self.on == "true" and not self.every

    def explain_road(self, why: str) -> None:
        """Append to `road` why it runs so, and in no better way."""
        self.road = f"{self.road}, as {why}"

    def doubt(
        self,
        *,
        seen: bool = False,
        returned: bool = False,
        others: bool = False,
        passed_by: str = "",
    ) -> None:
        """Set the doubts about the line that has done it; those that are left out are set to none."""
        self.seen, self.returned, self.others, self.passed_by = seen, returned, others, passed_by

    def run(self, seconds: float) -> None:
        """Set how long the program has run until it stopped or ended."""
        self.seconds = seconds

    def end(self, epoch: int, cost: str) -> None:
        """Set the number of the stop at which it is over, and what it has cost, as text."""
        self.epoch, self.cost = epoch, cost


def watch(
    collected: Collected, expression: str, on: On, client: str, *, every: bool = False
) -> Watch:
    """Add two points for the rows of a watch to `collected`, and return the watch.

    The program is not told. `client` is the key of the client that asks. With `every` each line that does it is recorded, and none stops
    the program.
    """
    name = f"{_WORDS[on]} {expression}"
    return Watch(
        expression,
        on,
        every,
        collected.watched(name, row_format.WATCH_COLUMNS, client),
        collected.watched(name, row_format.LOOK_COLUMNS, client, aside=True),
    )
