"""What changes in a mirror without a message: dapeer's findings, and what readers have seen. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dapeer.dap.messages import Body
from dapeer.mirror.failures import Failure, Failures
from dapeer.mirror.output import OutputLog
from dapeer.mirror.stops.stops import Findings, History, Stop


class Notes:
    """The part of a session's state that takes in such notes."""

    def __init__(self, history: History, output: OutputLog, failures: Failures) -> None:
        self.history = history
        """The stops so far."""
        self.output = output
        self.failures = failures
        """Conditions and log messages that could not be evaluated."""

    def learn(self, stop: Stop, found: Findings) -> None:
        """Set a stop's `found` to what dapeer has found out about it beyond its adapter's reports."""
        stop.learn(found)

    def take_exception(self, stop: Stop, description: str | None) -> None:
        """Set a stop's exception to the description that the program itself gives of it; None: it gave none."""
        stop.take_exception({"description": description})

    def take_members(self, stop: Stop, members: Mapping[int, str]) -> None:
        """Add containers' texts to a stop's values, by variablesReference, as the program printed them."""
        stop.values.parts.take_reported(members)

    def take_patch_off(self, body: Body) -> None:
        """Record, once, that a patch of ours is off; `body` has the patch's `name`, what is `lost`, and `why`."""
        self.failures.take_patch_off(body)

    def mark_flowing(self, stop: Stop, *, flows: bool) -> None:
        """Record whether more of the output that belongs to a stop is still arriving."""
        stop.reported.flow(flows=flows)

    def mark_shown(self, cursor: int) -> None:
        """Record that a client has seen the program's output up to a cursor."""
        self.output.mark_shown(cursor)

    def mark_reported(
        self, stop: Stop | None, cursor: int, failed: Iterable[tuple[Failure, int]]
    ) -> None:
        """Record that a client has seen a stop, output up to a cursor, and counts of failed expressions.

        `stop` is None if none was shown. `failed` has each failure with the count that was shown. Output that was shown with
        another process's or a later stop is not counted as this stop's.
        """
        if stop is not None:
            # Another process may have stopped later, and been shown first.
            stop.reported.skip_to(stop.reported.output_from(self.output.shown))
        self.mark_shown(cursor)
        for failure, count in failed:
            failure.mark_reported(count)
        if stop is None:
            return
        stop.reported.mark_shown(cursor)
        latest = self.history.latest
        if latest is not None and latest is not stop:
            latest.reported.skip_to(cursor)
