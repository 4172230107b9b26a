"""How an adapter's programs collect rows without stopping: the table `[collect]` of a definition."""

from __future__ import annotations

from dataclasses import dataclass

from dapeer.adapters.definition.table import Table


@dataclass(frozen=True, slots=True)
class Collect:
    """What a session's `lines` need to know."""

    tracers: tuple[str, ...] = ()
    """Expressions in which `${spec}` stands for what is collected, as a text of JSON; the first that can be evaluated has the program collect by itself. None: log points do."""
    syntax: str = ""
    """The language of expressions, where they are checked before anything runs: `python`."""

    conditions: bool = True
    """Log points heed conditions; where they do not, the condition is one more value, and decides about its row here."""

    @classmethod
    def read(cls, table: Table) -> Collect:
        """Read `[collect]`."""
        tracers = (table.expression("tracer"), table.expression("brought"))
        found = cls(
            tuple(filter(None, tracers)),
            table.one_of("syntax", ("", "python"), ""),
            table.get("conditions", bool, default=True),
        )
        table.done()
        return found
