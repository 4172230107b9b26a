"""How a program runs until an expression holds or a value is written: `[until]`, `[watchpoint]`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dapeer.adapters.definition.table import Regex

NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Until:
    """Conditions of breakpoints on every line, and expressions in the program's language on their records.

    `${expression}` stands for what the caller looks for, `${place}` for the number of a line.
    """

    holds: str = ""
    """Holds where the expression does and did not at the look before. Empty: conditions are not of use."""
    fails: str = ""
    """Where `holds` records nothing: holds where the expression does not."""
    changes: str = ""
    """Holds where the value is another than at the look before; empty: it cannot be told."""
    begin: str = ""
    """Begins to record; `${seen}` is 1 where the expression has a value now, else 0; empty: no record."""
    read: str = ""
    """The record as a text: the lines of the last two looks, the last first, and the value, with `|`."""
    undo: str = ""
    """Forgets the value of the last look."""
    end: str = ""
    """Removes what is recorded."""
    shared: str = ""
    """The condition of a line that has a breakpoint of somebody's: `${ours}`, and its `${own}`.

    Empty: such lines are not looked at.
    """
    files: str = ""
    """The files that the program has loaded, a line each; empty: the adapter tells them."""

    lines: str = ""
    """The lines of `${path}` that can have a breakpoint, with commas; empty: the adapter lists them."""
    failed: Regex = ""
    """A pattern of a stop that is one because the condition could not be evaluated."""

    def filled(self, text: str, values: Mapping[str, object]) -> str:
        """Return one of its texts with these values in place of its placeholders, stripped."""
        for name, value in values.items():
            text = text.replace(f"${{{name}}}", str(value))
        return text.strip()


@dataclass(frozen=True, slots=True)
class Watchpoints:
    """Commands of the debugger, evaluated in the context `repl`, where it has no data breakpoints."""

    set: str = ""
    """Sets one on `${expression}`; its answer has the number. Empty: there is no such command."""
    remove: str = ""
    """Removes that of `${number}`."""
    writer: str = ""
    """The line of the instruction before `${pc}`, which has written; empty: the stop's line is shown."""
    line: Regex = ""
    """A pattern of that answer; its first group is the line."""
    address: str = ""
    """What a data breakpoint on `${expression}` is set by, where the adapter takes a value for an address."""

    def line_in(self, answer: str) -> str:
        """Return the line, as digits, that the answer to the command `writer` names; empty: it names none."""
        found = re.search(self.line, answer) if self.line else None
        return found[1] if found else ""
