"""Of which programs that have ended the collected rows are kept: of the last ones, as far as there is room."""

from __future__ import annotations

from collections.abc import Sequence

from dapeer.sessions.core.program import Program
from dapeer.sessions.core.session import Session

KEPT_FIELDS = 4_000_000
"""Fields of rows that are kept in all, some hundred bytes each."""
KEPT_RUNS = 2
"""Programs whose rows are kept in any case: so many are compared."""


def bound(ended: Sequence[Program[Session]]) -> None:
    """Give up the rows of the programs that have ended first, where all together have too many; the last one is the last to end."""
    total = 0
    for number, program in enumerate(reversed(ended)):
        total += program.collected.fields
        if number >= KEPT_RUNS and total > KEPT_FIELDS:
            program.collected.give_up()
