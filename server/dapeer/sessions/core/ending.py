"""The end of a session: why it came, where that was not the program's own doing."""

from __future__ import annotations

from dataclasses import dataclass

SECONDS_TO_END_ITSELF = 2.0
"""Seconds in which a debuggee may end by itself when it is asked to."""


@dataclass(slots=True)
class Ending:
    """The cause of a session's end, as far as anybody knows it."""

    cause: str | None = None
    by_us: bool = False
    """A tool has ended the program, so its exit code means nothing."""

    def explain(self, cause: str) -> None:
        """Record a cause that was noticed, unless one is known."""
        self.cause = self.cause or cause

    def decide(self, cause: str, *, by_us: bool) -> None:
        """Record the cause that a client has decided on, which counts more than what was noticed."""
        self.cause, self.by_us = cause, self.by_us or by_us

    def credit(self, tool: str) -> None:
        """Name the tool that has ended the program, if a tool of ours has."""
        if self.by_us:
            self.cause = f"ended by {tool}"
