"""What a program prints: its processes' shared output, and the messages of log points. Pure."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import NamedTuple

from dapeer.dap.messages import Body
from dapeer.dap.requested_breakpoints import Place
from dapeer.mirror.bounded import Bounded
from dapeer.mirror.output import Category, OutputLog

IN_TERMINAL = "dapeerTerminal"
"""Marks output from a terminal, and sessions whose program runs in one."""
MAX_KEPT_MESSAGES = 1_000_000
"""Messages of one log point with their positions in the output; the oldest are dropped first."""


class LogMessage(NamedTuple):
    """One message of a log point."""

    path: str
    line: int
    number: int
    """Counts the messages of its log point from 1."""
    text: str
    cursor: int
    """Where it begins in the output."""


@dataclass(slots=True)
class LogPoint:
    """The messages of one log point, by their cursors in the output."""

    count: int = 0
    begins: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))

    def add(self, begin: int, end: int) -> None:
        """Count one more message, which begins and ends at these cursors of the output.

        Above `MAX_KEPT_MESSAGES` the places of the oldest half are dropped; their numbers still count.
        """
        self.count += 1
        self.begins.append(begin)
        self.ends.append(end)
        if len(self.begins) > MAX_KEPT_MESSAGES:
            del self.begins[: MAX_KEPT_MESSAGES // 2], self.ends[: MAX_KEPT_MESSAGES // 2]

    def numbers_between(self, since: int, until: int) -> range:
        """Return the numbers of the kept messages that begin between two cursors, `until` excluded.

        The first message of the log point has the number 1.
        """
        forgotten = self.count - len(self.begins) + 1
        return range(
            bisect_left(self.begins, since) + forgotten, bisect_left(self.begins, until) + forgotten
        )

    def cursors_of(self, number: int) -> tuple[int, int]:
        """Return the cursors at which the message with this number begins and ends; it must be kept still."""
        index = number - 1 - (self.count - len(self.begins))
        return self.begins[index], self.ends[index]


class PrintedLogPoints:
    """The log points of a program that have said something; their messages are part of its output."""

    def __init__(self, output: OutputLog) -> None:
        self._output = output
        self.points: Bounded[Place, LogPoint] = Bounded("log points")
        """By place, as they were asked for."""

    def add(self, place: Place, text: str, arrived_at: float) -> None:
        """Append a log point's message to the program's output as a line of its own, and record where it is.

        `place` is where the log point was requested; `arrived_at` is the time of arrival in seconds.
        """
        text = text.rstrip("\r\n") + "\n"
        begin = self._output.end
        self._output.append("log", text, arrived_at)
        point = self.points.get(place)
        if point is None:
            point = self.points[place] = LogPoint()
        point.add(begin, self._output.end)

    def last_messages(
        self, since: int, until: int, max_messages: int
    ) -> tuple[list[LogMessage], int]:
        """Return the last messages of all log points between two cursors, and how many more there are.

        `since` and `until` are cursors of the output. The list has at most `max_messages`, in the order of the output. The newest message
        of each log point comes before older ones of others, so that each log point is represented as far as `max_messages` allows.
        """
        within = {
            place: point.numbers_between(since, until) for place, point in self.points.items()
        }
        within = {place: numbers for place, numbers in within.items() if numbers}
        candidates = [
            (self.points[place].cursors_of(number)[0], place, number)
            for place, numbers in within.items()
            for number in numbers[-max_messages:]
        ]
        newest = {place: numbers[-1] for place, numbers in within.items()}
        # The newest of each log point first, then the newest of all.
        candidates.sort(key=lambda each: (newest[each[1]] == each[2], each[0]), reverse=True)
        chosen = sorted(candidates[:max_messages])
        count = sum(map(len, within.values()))
        return [self._message(place, number) for _, place, number in chosen], count - len(chosen)

    def _message(self, place: Place, number: int) -> LogMessage:
        """Return the message of the log point at a place by its number, with its text read from the output."""
        begin, end = self.points[place].cursors_of(number)
        text = "".join(piece.text for piece in self._output.between(begin, end))
        path, line, _ = place
        return LogMessage(path, line, number, text.rstrip("\n"), begin)


class OutputIntake:
    """Takes in output events."""

    def __init__(self) -> None:
        self.output = OutputLog()
        self.logged = PrintedLogPoints(self.output)

    def append_output(self, body: Body, arrived_at: float, log_point: Place | None) -> None:
        """Append the text of an `output` event's body to the output, or to the messages of its log point.

        `arrived_at` is the time of arrival in seconds; `log_point` is the place of the log point that has printed it, or None.
        Telemetry is dropped, and so is an adapter's repetition of what the program's terminal has already sent.
        """
        category = body.get("category") or "console"
        if category == "telemetry":  # > … should be sent to telemetry … instead of being shown
            return
        known: Category = category if category in ("stdout", "stderr") else "console"
        if body.get(IN_TERMINAL):
            self.output.enter_terminal()
        elif self.output.in_terminal and known != "console" and log_point is None:
            return  # the adapter repeats the terminal's output
        text = str(body.get("output") or "")
        if log_point is None:
            self.output.append(known, text, arrived_at)
        else:
            self.logged.add(log_point, text, arrived_at)
