"""The ended programs whose collected rows are kept: the last ones, as far as there is room."""

from __future__ import annotations

from collections.abc import Sequence

from dapeer.sessions.core.program import Program
from dapeer.sessions.core.session import Session

KEPT_FIELDS = 4_000_000
"""Fields of rows that are kept in all, some hundred bytes each."""
KEPT_RUNS = 2
"""Programs whose rows are kept in any case: so many are compared."""


def bound(ended: Sequence[Program[Session]]) -> None:
    """Give up the rows of programs that ended first, if all have too many; the last one ended last."""
    total = 0
    for number, program in enumerate(reversed(ended)):
        total += program.collected.fields
        if number >= KEPT_RUNS and total > KEPT_FIELDS:
            program.collected.give_up()
