"""The output of a program, with a limit, read by cursor."""

from __future__ import annotations

import itertools
import re
from collections import deque
from dataclasses import dataclass, replace
from typing import Literal

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

        `arrived_at` is when it arrived, in seconds since the epoch; 0: unknown. It joins the newest piece if that is of the same
        category and second and stays below `PIECE_CHARS`.
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

    Otherwise a copy is returned, whose `start` is `since`; the piece is not edited.
    """
    cut = max(0, since - piece.start)
    return (
        OutputPiece(piece.start + cut, piece.category, piece.text[cut:], piece.time)
        if cut
        else piece
    )
