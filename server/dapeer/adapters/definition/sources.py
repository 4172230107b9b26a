"""The table of a definition that says by which names a program knows its files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dapeer.adapters.definition.table import Regex


@dataclass(frozen=True, slots=True)
class Sources:
    """`[sources]`: how to ask for the files of a program by their names."""

    named: str = ""
    """A command for the context `repl` that lists the files whose name is `${name}`; empty: none is known."""
    path: Regex = ""
    """A pattern of one file in its answer, with the group `path`."""

    rename: str = ""
    """A command that has the adapter find the files below `${there}` below `${here}`.

    Empty: dapeer translates their names.
    """

    def paths_in(self, answer: str) -> Sequence[str]:
        """Return the paths of files that the answer to the command `named` lists, in order, each once."""
        found = re.finditer(self.path, answer, re.MULTILINE) if self.path else ()
        return list(dict.fromkeys(each["path"] for each in found))
