"""The errors that a program prints, as its language writes them."""

from __future__ import annotations

import re

from dapeer.mirror.output import OutputLog

LAST_WORDS = 4000
"""Characters at the end of the output in which an error is looked for that has ended the program."""


class PrintedErrors:
    """Finds them in what is printed."""

    def __init__(self, output: OutputLog, pattern: re.Pattern[str] | None) -> None:
        """`pattern`: how the program prints an error that ends it; None: nobody knows."""
        self._output = output
        self._pattern = pattern

    def since(self, cursor: int) -> re.Match[str] | None:
        """Return the last error that the program has printed since a cursor."""
        if self._pattern is None:
            return None
        text = self._output.read(cursor).text.replace("\r\n", "\n")
        return next(reversed(list(self._pattern.finditer(text))), None)

    def last(self) -> re.Match[str] | None:
        """Return the last error in the program's latest output."""
        return self.since(self._output.end - LAST_WORDS)
