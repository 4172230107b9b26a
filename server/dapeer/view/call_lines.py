"""Calls as lines of text: what each was given, gave back and changed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dapeer.base.text.fitting import fitted
from dapeer.mirror.collected import OF_CALLS
from dapeer.mirror.rows import FAILED, Table
from dapeer.view.kinds import kind

FUNCTION, DEPTH, TOOK, ARGUMENTS, RESULT, CHANGED = range(len(OF_CALLS))
LONG = 100
"""Characters of arguments, and of what was changed."""
VALUE = 60
"""Characters of a result."""
SLOW = 1_000_000
"""Nanoseconds from which on it is told how long a call has taken."""


def nanoseconds(text: str) -> int:
    """Return what a field with a time says; a process may have spoilt what it wrote.

    >>> nanoseconds("1500e-9"), nanoseconds("x")
    (1500, 0)
    """
    digits = text.removesuffix("e-9")
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def duration(ns: float) -> str:
    """Return a time for a reader.

    >>> duration(1_500_000), duration(2e9)
    ('1.5 ms', '2 s')
    """
    return f"{ns / 1e9:.3g} s" if ns >= 1e9 else f"{ns / 1e6:.3g} ms"


@dataclass(frozen=True, slots=True)
class Lines:
    """Writes the calls of a table."""

    table: Table
    expressions: Sequence[str]

    def function(self, index: int) -> str:
        """Return the name of a call's function."""
        return self.table.cells[FUNCTION][index]

    def depth(self, index: int) -> int:
        """Return how many collected calls are around one."""
        text = self.table.cells[DEPTH][index]
        return int(text) if text.isascii() and text.isdigit() else 0

    def took(self, index: int) -> int:
        """Return how many nanoseconds a call has taken."""
        return nanoseconds(self.table.cells[TOOK][index])

    def has_changed(self, index: int) -> bool:
        """Whether a call has changed one of its arguments."""
        return bool(self.table.cells[CHANGED][index])

    def outcome(self, index: int) -> str:
        """Return of what kind a call's result is."""
        return kind(self.table.cells[RESULT][index])

    def line(self, index: int, around: str | None = None) -> str:
        """Return a call as text; `around`: the function of the call that it belongs to, empty: its caller is known."""
        cells = [column[index] for column in self.table.cells]
        text = as_text(cells, self.expressions, timed=self.took(index) >= SLOW)
        return f"#{self.table.hits[index]} {text}{self._via(index, around)}"

    def _via(self, index: int, around: str | None) -> str:
        """Return who has called, where that is not the call that it belongs to."""
        caller = self.table.callers[index]
        if not caller or around == "":
            return ""
        name = caller.partition(" ")[0].rpartition(".")[2]
        if around is not None and around.rpartition(".")[2] == name:
            return ""
        return f"  from {caller}"


def as_text(cells: Sequence[str], expressions: Sequence[str], *, timed: bool = False) -> str:
    """Return a call by its cells, with how long it took if it is `timed`."""
    return "".join(
        [
            f"{cells[FUNCTION]}({fitted(cells[ARGUMENTS], LONG)}){gave(cells[RESULT])}",
            f", {duration(nanoseconds(cells[TOOK]))}" if timed else "",
            f"; changes {fitted(changes(cells[ARGUMENTS], cells[CHANGED]), LONG)}"
            if cells[CHANGED]
            else "",
            *(
                f"; {name} = {value_of(text)}"
                for name, text in zip(expressions, cells[len(OF_CALLS) :], strict=True)
            ),
        ]
    )


def changes(arguments: str, changed: str) -> str:
    """Return what a call has changed; what it was before is among the arguments.

    >>> changes("n=1, seen={1}", "seen: {1} → {1, 2}")
    'seen to {1, 2}'
    """
    name, _, told = changed.partition(": ")
    given = f", {arguments}".partition(f", {name}=")[2]
    before, arrow, after = told.partition(" → ")
    return f"{name} to {after}" if arrow and given.startswith(before) else changed


def gave(result: str) -> str:
    """Return how a call has ended."""
    if result.startswith(FAILED):
        return f" raises {fitted(result[1:], VALUE)}"
    return f" → {fitted(result, VALUE)}"


def value_of(text: str) -> str:
    """Return the value of an expression, or its error."""
    if text.startswith(FAILED):
        return f"({fitted(text[1:].strip() or 'failed', VALUE)})"
    return fitted(text, VALUE) if text else "''"
