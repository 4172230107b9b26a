"""How an adapter's programs collect rows without stopping: the table `[collect]` of a definition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from dapeer.adapters.definition.table import DefinitionTable, Regex

VALUE = "{${expression}}"
"""How most adapters are asked for a value in a log message."""


@dataclass(frozen=True, slots=True)
class Collect:
    """What a session's `lines` need to know."""

    tracers: tuple[str, ...] = ()
    """Expressions by which the program collects by itself; the first that can be evaluated is used.

    `${spec}` in them stands for what is collected, as a text of JSON. None: log points collect.
    """
    syntax: Literal["", "python"] = ""
    """The language of expressions, where they are checked before anything runs: `python`."""

    conditions: bool = True
    """Log points heed conditions; else the condition is one more value, and decides about its row here."""

    value: str = VALUE
    """How a log message asks for a collected value, as the adapter shows values.

    It differs where the adapter prints texts of users' log messages without quotes.
    """

    places: str = ""
    """A command for the context `repl` that lists all places of the function breakpoint `${number}`.

    Empty: the adapter names the only one in its answer.
    """
    place: Regex = ""
    """A pattern of one place in its answer, with the groups `path` and `line`, and perhaps `column`."""
    functions: bool = False
    """Function breakpoints take log messages, too, which DAP does not know."""
    removes: bool = False
    """A log point can be removed while the program runs."""
    at_entry: bool = False
    """Where functions are is known only once the program has begun, so it stops at its entry for a moment."""

    @classmethod
    def read(cls, table: DefinitionTable) -> Collect:
        """Return the table `[collect]`, with the expressions `tracer` and `brought` as `tracers`.

        Raises:
            DefinitionError: Something in it is wrong.
        """
        tracers = (table.expression("tracer"), table.expression("brought"))
        return table.read(cls, tracers=tuple(filter(None, tracers)))

    def places_in(self, answer: str) -> Iterator[tuple[str, int, int]]:
        """Yield path, line and column (0: unknown) of each place in an answer to the command `places`."""
        found = re.finditer(self.place, answer, re.MULTILINE) if self.place else ()
        groups = (each.groupdict() for each in found)
        yield from dict.fromkeys(
            (each["path"], int(each["line"]), int(each.get("column") or 0)) for each in groups
        )
