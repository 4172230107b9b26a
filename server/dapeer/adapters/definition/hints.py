"""Hints on messages of an adapter or a program. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dapeer.adapters.definition.placeholders import UNSET, fill
from dapeer.adapters.definition.table import DefinitionTable, Regex

PLACES = (
    "exception",
    "evaluate",
    "breakpoint",
    "output",
    "silence",
    "end",
    "killed",
    "locals",
    "failed",
    "not_hit",
    "beside",
    "unbound",
    "slow",
    "start",
    "printed",
)
"""Where hints are looked for; most follow the text that they match.

- `exception`: one that stops or ends the program.
- `evaluate`: a failed evaluation, except in the context `repl`.
- `breakpoint`, `output`: the hint replaces the adapter's message.
- `silence`: the path of a program that has ended well and printed nothing.
- `end`: what a program has printed that has ended with an exit code other than 0.
- `killed`: the name and the output of a program one of whose processes was killed while it was stopped.
- `locals`: the values at a stop of which the source is known; the hint follows the stop.
- `failed`: what is shown of conditions, log messages and rows with an expression that failed.
- `not_hit`: the path of a file and its lines up to a breakpoint that was not hit.
- `beside`: the path of a file whose breakpoint was not hit or bound, and the names of files beside it with its stem.
- `unbound`: why an adapter has rejected a breakpoint, the path of its file, and the lines up to it; the hint replaces the reason.
- `slow`: the conditions of breakpoints, where the program has run for long; the hint follows the state.
- `start`: why a start failed.
- `printed`: what a program has printed first; the hint follows the state, unless the output there has it.
"""


@dataclass(frozen=True, slots=True)
class Hint:
    """One `[[hint]]` of a definition."""

    at: str
    """One of `PLACES`."""
    pattern: Regex
    """A regular expression, searched for in the message."""
    say: str
    """A sentence; it is left out when a placeholder in it, or a named group of the pattern, has no value."""
    unless: tuple[str, ...]
    """Inputs with which it is of no use."""

    @property
    def groups(self) -> Collection[str]:
        """The named groups of the pattern."""
        return re.compile(self.pattern).groupindex.keys()

    @classmethod
    def read(cls, table: DefinitionTable) -> Hint:
        """Return one table `[[hint]]`.

        Raises:
            DefinitionError: Something in it is wrong.
        """
        return table.read(cls, at=table.one_of("at", PLACES))


def advise(hints: Sequence[Hint], values: Mapping[str, object], at: str, text: str) -> str | None:
    """Return the first hint on a text, its placeholders filled in; None: there is none.

    `at` is one of `PLACES`, `values` are those of placeholders and inputs. A hint is passed over if a placeholder in it has
    no value, or an input in its `unless` has one.

    >>> hints = [Hint("exception", "^ImportError", "It ran in ${python}.", ())]
    >>> advise(hints, {"python": "/usr/bin/python3"}, "exception", "ImportError: no x")
    'It ran in /usr/bin/python3.'
    >>> advise(hints, {}, "exception", "ImportError: no x")
    """
    for hint in hints:
        applies = hint.at == at and not any(values.get(name) for name in hint.unless)
        found = re.search(hint.pattern, text, re.MULTILINE) if applies else None
        if found:
            sentence = fill(hint.say, {**values, **found.groupdict()})
            if sentence is not UNSET:
                return str(sentence)
    return None
