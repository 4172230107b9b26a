"""What a program prints, with a limit, read by cursor, and the messages of log points in it. Pure."""

from __future__ import annotations

import itertools
import re
from array import array
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from dapeer.dap.messages import Body
from dapeer.dap.requested_breakpoints import Place
from dapeer.mirror.bounded import Bounded

Category = Literal["stdout", "stderr", "console", "log"]
"""`log`: messages of log points; `console`: messages of the adapter."""

MAX_KEPT_CHARS = 4 << 20
"""Characters kept; the oldest are dropped first."""
PIECE_CHARS = 4096
"""Adjacent output of one category is kept in pieces of about this many characters."""

_BLANKS = re.compile(" {80,}")
"""More than any table has between its columns."""


@dataclass(slots=True)
class OutputPiece:
    """A run of output of one category."""

    start: int
    """Cursor of its first character."""
    category: Category
    text: str
    time: float
    """Seconds since the epoch at which its first character arrived; 0 if unknown."""

    @property
    def end(self) -> int:
        """Cursor after its last character."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Output:
    """An answer of the log."""

    text: str
    cursor: int
    """Pass it as `since` to get what follows, without a gap or a repetition."""
    dropped: int
    """Characters after `since` that the log no longer has."""


def squeezed(text: str) -> str:
    """Return output for a reader: repetitions that only fill a screen are counted.

    >>> squeezed("name" + " " * 20 + "price" + " " * 700 + "Hello")
    'name                    price (700 blanks) Hello'
    """
    return _BLANKS.sub(lambda blanks: f" ({len(blanks[0])} blanks) ", text)


class OutputLog:
    r"""A ring of output, addressed by cursors: how many characters came before.

    Text stays as the program printed it: blank and partial lines are neither cut nor joined.

    >>> log = OutputLog()
    >>> log.append("stdout", "one\ntw"); log.append("stderr", "!"); log.append("stdout", "o\n")
    >>> log.read(category="stdout").text, log.read(since=7).text, log.end, log.lines
    ('one\ntwo\n', 'o\n', 9, 2)
    """

    def __init__(self, limit: int = MAX_KEPT_CHARS) -> None:
        """Begin an empty log, which keeps the last `limit` characters."""
        self._limit = limit
        self._pieces: deque[OutputPiece] = deque()
        self.end = 0
        self.lines = 0
        """Line ends that have passed through, the dropped ones included."""
        self.in_terminal = False
        """The program prints to a terminal of dapeer."""
        self.shown_end = 0
        """Cursor up to which the output was shown, with a stop."""

    def mark_shown(self, cursor: int) -> None:
        """Raise `shown_end`, up to which clients have seen the output, to `cursor` if that is later."""
        self.shown_end = max(self.shown_end, cursor)

    def enter_terminal(self) -> None:
        """Set `in_terminal`: the program prints to a terminal of dapeer."""
        self.in_terminal = True

    @property
    def start(self) -> int:
        """Cursor of the oldest character that is still here."""
        return self._pieces[0].start if self._pieces else self.end

    def append(self, category: Category, text: str, arrived_at: float = 0.0) -> None:
        """Add output of a category, and drop the oldest above the limit; an empty text adds nothing.

        `arrived_at` is when the text arrived, in seconds since the epoch; 0: unknown. The text joins the newest
        piece, which keeps its own time, if that is of the same category and second and has `PIECE_CHARS` characters
        at most with it; else it becomes a piece of its own. `end`, the cursor behind the last character, and
        `lines`, the number of line ends so far, grow.
        """
        if not text:
            return
        last = self._pieces[-1] if self._pieces else None
        if (
            last
            and last.category == category
            and len(last.text) + len(text) <= PIECE_CHARS
            and int(last.time) == int(arrived_at)
        ):
            last.text += text
        else:
            self._pieces.append(OutputPiece(self.end, category, text, arrived_at))
        self.end += len(text)
        self.lines += text.count("\n")
        self._trim()

    def read(self, since: int = 0, category: str = "all") -> Output:
        """Return the text from cursor `since` on, of one category or of `all`, with the cursor of its end.

        Its `dropped` counts the characters behind `since` that are no longer kept, of any category.
        """
        text = "".join(piece.text for piece in self.pieces(since, category))
        return Output(text, self.end, max(0, self.start - since))

    def pieces(self, since: int = 0, category: str = "all") -> list[OutputPiece]:
        """Return the pieces from cursor `since` on; the first is cut where `since` says."""
        newer = itertools.takewhile(lambda piece: piece.end > since, reversed(self._pieces))
        chosen = [piece for piece in newer if category in ("all", piece.category)]
        return [_piece_from(piece, since) for piece in reversed(chosen)]

    def between(self, since: int, until: int, category: str = "all") -> list[OutputPiece]:
        """Return the pieces between two cursors, the oldest first, of one category or of `all`.

        The pieces at both ends are cut there; output that is no longer kept is left out.
        """
        earlier = (piece for piece in self.pieces(since, category) if piece.start < until)
        return [replace(each, text=each.text[: until - each.start]) for each in earlier]

    def has(self, since: int, category: str = "all") -> bool:
        """Return whether there is kept output of a category, or of `all`, behind cursor `since`."""
        newer = itertools.takewhile(lambda piece: piece.end > since, reversed(self._pieces))
        return any(category in ("all", piece.category) for piece in newer)

    @property
    def ends_line(self) -> bool:
        """Whether the newest output ends with a line end."""
        return not self._pieces or self._pieces[-1].text.endswith("\n")

    def last_line(self) -> str:
        """Return the newest line that is not blank, of any category; empty if there is none."""
        newest = (
            line for piece in reversed(self._pieces) for line in reversed(piece.text.splitlines())
        )
        return next((line for line in newest if line.strip()), "")

    def _trim(self) -> None:
        """Drop the oldest characters above the limit that the log was made with; a piece may be cut for it."""
        while self.end - self.start > self._limit:
            excess = self.end - self.start - self._limit
            oldest = self._pieces[0]
            if len(oldest.text) <= excess:
                self._pieces.popleft()
            else:
                oldest.text = oldest.text[excess:]
                oldest.start += excess


def _piece_from(piece: OutputPiece, since: int) -> OutputPiece:
    """Return the part of a piece from cursor `since` on: the piece itself if it begins there or later.

    Otherwise a copy is returned, whose `start` is `since`, and whose text is empty if the piece ends
    there or before. The piece is not edited.
    """
    cut = max(0, since - piece.start)
    return (
        OutputPiece(piece.start + cut, piece.category, piece.text[cut:], piece.time)
        if cut
        else piece
    )


# What its processes share of it, and the messages of log points.

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
        """Append a log point's message and a line end to the program's output, and record where it is.

        `place` is where the log point was requested. Line ends at the end of `text` are replaced by one newline,
        which is added if there are none. `arrived_at` is the time of arrival in seconds since the epoch (0:
        unknown).
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

        A cursor is a number of characters of the output, counted from its beginning; a message counts if it begins
        at `since` or later, and before `until`. The list has at most `max_messages`, in the order of the output.
        The newest message of each log point comes before older ones of others, so that each log point is
        represented as far as `max_messages` allows. Messages that are no longer kept are neither returned nor
        counted.
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
        self.log_points = PrintedLogPoints(self.output)

    def append_output(self, body: Body, arrived_at: float, log_point: Place | None) -> None:
        """Append the text of an `output` event's body to the output, or to the messages of its log point.

        `arrived_at` is the time of arrival in seconds; `log_point` is the place of the log point that has printed the
        text, or None. The categories `stdout` and `stderr` are kept; any other, or none, counts as `console`. Nothing is
        appended for telemetry. A body with `IN_TERMINAL` comes from the program's terminal, and is appended; from the first
        such body on, text of `stdout` or `stderr` without that key and without a log point is dropped, because the adapter
        only repeats what the terminal has sent.
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
            self.log_points.add(log_point, text, arrived_at)
