"""How a program runs until an expression holds by conditions of breakpoints: the table `[until]` of a definition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dapeer.adapters.definition.table import DefinitionTable


@dataclass(frozen=True, slots=True)
class Until:
    """Conditions of breakpoints on every line, and expressions of the program's language about what they record.

    `${expression}` stands for what the caller looks for, `${place}` for the number of a line.
    """

    holds: str = ""
    """Holds where the expression does and did not at the look before. Empty: conditions are not of use."""
    fails: str = ""
    """Where `holds` records nothing: holds where the expression does not."""
    changes: str = ""
    """Holds where the value is another than at the look before; empty: it cannot be told."""
    begin: str = ""
    """Begins to record; `${seen}` is 1 where the expression has a value now, else 0. Empty: nothing is recorded."""
    read: str = ""
    """What is recorded, as a text: the number of the line of the last look, that of the look before, and the value there, with `|` between them."""
    undo: str = ""
    """Forgets the value of the last look."""
    end: str = ""
    """Removes what is recorded."""
    shared: str = ""
    """The condition of a line that has a breakpoint of somebody's: `${ours}`, and `${own}` as it is there. Empty: such lines are not looked at."""
    files: str = ""
    """The files that the program has loaded, a line each; empty: the adapter tells them."""

    lines: str = ""
    """The lines of the file `${path}` that can have a breakpoint, with commas between; empty: the adapter tells them."""
    failed: str = ""
    """A pattern of a stop that is one because the condition could not be evaluated."""

    @classmethod
    def read_from(cls, table: DefinitionTable) -> Until:
        """Read `[until]`."""
        keys = (
            "holds",
            "fails",
            "changes",
            "begin",
            "read",
            "undo",
            "end",
            "files",
            "lines",
            "shared",
        )
        texts = {key: table.get(key, str, "") for key in keys}
        found = cls(**texts, failed=table.pattern("failed"))
        table.done()
        return found

    def filled(self, text: str, values: Mapping[str, object]) -> str:
        """Return one of its texts with values for placeholders."""
        for name, value in values.items():
            text = text.replace(f"${{{name}}}", str(value))
        return text.strip()
