"""Hints on messages of an adapter or a program. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dapeer.adapters.definition.placeholders import UNSET, fill
from dapeer.adapters.definition.table import Table

PLACES = ("exception", "evaluate", "breakpoint", "output", "silence")
"""`exception`: one that stops or ends the program; `evaluate`: a failed evaluation, except in the context `repl`: the hint follows the message. `breakpoint`, `output`: the hint replaces the adapter's message. `silence`: the path of a program that has ended well and printed nothing; the hint follows its end."""


@dataclass(frozen=True, slots=True)
class Hint:
    """One `[[hint]]` of a definition."""

    at: str
    """One of `PLACES`."""
    pattern: str
    """A regular expression, searched for in the message."""
    say: str
    """A sentence; it is left out when a placeholder in it has no value."""
    unless: tuple[str, ...]
    """Inputs with which it is of no use."""

    @classmethod
    def read(cls, table: Table) -> Hint:
        """Read one `[[hint]]`."""
        at = table.one_of("at", PLACES)
        hint = cls(at, table.pattern("pattern"), table.text("say"), table.texts("unless"))
        table.done()
        return hint


def advise(hints: Sequence[Hint], values: Mapping[str, object], at: str, text: str) -> str | None:
    """Return the first hint on a text at one of `PLACES`, with its placeholders filled in; None if there is none.

    >>> hints = [Hint("exception", "^ImportError", "It ran in ${python}.", ())]
    >>> advise(hints, {"python": "/usr/bin/python3"}, "exception", "ImportError: no x")
    'It ran in /usr/bin/python3.'
    >>> advise(hints, {}, "exception", "ImportError: no x")
    """
    for hint in hints:
        wanted = hint.at == at and not any(values.get(name) for name in hint.unless)
        if wanted and re.search(hint.pattern, text, re.MULTILINE):
            said = fill(hint.say, values)
            if said is not UNSET:
                return str(said)
    return None
