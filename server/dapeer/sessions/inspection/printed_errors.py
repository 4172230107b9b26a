"""The errors that a program prints, as its language writes them."""

from __future__ import annotations

import re

from dapeer.mirror.output import OutputLog

LAST_WORDS = 4000
"""Characters at the end of the output in which an error is looked for that has ended the program."""


class PrintedErrors:
    """Finds the errors that a program prints, as its language writes them."""

    def __init__(
        self,
        output: OutputLog,
        pattern: re.Pattern[str] | None,
        debugger: re.Pattern[str] | None = None,
    ) -> None:
        """Find errors by a pattern.

        Args:
            output: What is printed.
            pattern: How the program prints an error that ends it; None: nobody knows.
            debugger: A pattern of the files of the debugger, where that runs in the program.
        """
        self._output = output
        self._pattern = pattern
        self._debugger = debugger

    def since(self, cursor: int) -> re.Match[str] | None:
        """Return the last error of the program itself that was printed since the position `cursor`.

        None: none. The match has the groups of the pattern, such as `error`, `file` and `line`.
        """
        return next(
            (each for each in self._errors_since(cursor) if not self._is_debuggers(each)), None
        )

    def of_debugger(self) -> str:
        """Return a clause on the last error of the debugger itself in the latest output; empty: there is none."""
        found = self._errors_since(self._output.end - LAST_WORDS)
        error = next(filter(self._is_debuggers, found), None)
        if error is None:
            return ""
        named = f": {error['error']}" if error.groupdict().get("error") else ""
        place = f"{error['file'].rpartition('/')[2]}:{error['line']}"
        return f"the debugger has failed, not the program, at {place}{named}"

    def _errors_since(self, cursor: int) -> list[re.Match[str]]:
        """Return the errors that were printed since the position `cursor`, the last one first."""
        if self._pattern is None:
            return []
        text = self._output.read(cursor).text.replace("\r\n", "\n")
        return list(self._pattern.finditer(text))[::-1]

    def _is_debuggers(self, error: re.Match[str]) -> bool:
        """Return whether an error was raised in a file of the debugger, which runs in the program."""
        file = error.groupdict().get("file")
        return bool(self._debugger and file and self._debugger.search(file))

    def last(self) -> re.Match[str] | None:
        """Return the last error of the program itself in its latest output, as `since` does; None: none."""
        return self.since(self._output.end - LAST_WORDS)
