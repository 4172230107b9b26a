"""How a program stops where a value is written, beside data breakpoints: the table `[watchpoint]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dapeer.adapters.definition.table import DefinitionTable

NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Watchpoints:
    """Commands of the debugger, evaluated in the context `repl`."""

    set: str = ""
    """Sets one on `${expression}`; its answer has the number. Empty: there is no such command."""
    remove: str = ""
    """Removes that of `${number}`."""
    writer: str = ""
    """The line of the instruction before `${pc}`, which has written; empty: the stop's line is shown."""
    line: str = ""
    """A pattern of that answer; its first group is the line."""
    address: str = ""
    """What a data breakpoint on `${expression}` is set by, where the adapter takes a value for an address."""

    @classmethod
    def read(cls, table: DefinitionTable) -> Watchpoints:
        """Read `[watchpoint]`."""
        found = cls(
            table.get("set", str, ""),
            table.get("remove", str, ""),
            table.get("writer", str, ""),
            table.pattern("line"),
            table.get("address", str, ""),
        )
        table.done()
        return found

    def line_in(self, answer: str) -> str:
        """Return the line that an answer tells; empty: none."""
        found = re.search(self.line, answer) if self.line else None
        return found[1] if found else ""
