"""The breakpoints that a caller awaits of one program, and what was reported about them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class AwaitedBreakpoints:
    """The breakpoints that a caller awaits of one program; its first session has them."""

    places: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Path and line of those that were set for this program."""
    undelivered: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Path and line of those that this program did not get; the caller knows why."""
    reported: set[tuple[str, str, int]] = field(default_factory=set[tuple[str, str, int]])
    """States that the caller knows already: state, path and line."""
    reported_from: object = None
    """What is known of breakpoints and their states, as it was when the caller was told last."""

    def expect(self, places: Iterable[tuple[str, int]]) -> None:
        """Add breakpoints, by path and line, to those whose states the caller wants to know."""
        self.places.update(places)

    def keep_from(self, places: Iterable[tuple[str, int]]) -> None:
        """Add breakpoints, by path and line, that this program does not get; the caller knows why."""
        self.undelivered.update(places)

    def admit(self, path: str) -> None:
        """Remove a file's breakpoints from `undelivered`: the program has got them after all."""
        self.undelivered = {each for each in self.undelivered if each[0] != path}

    def mark_reported(self, states: Iterable[tuple[str, str, int]], known: object) -> None:
        """Record that the caller was told `states`, each a state, path and line.

        `known` is compared later: as long as it stays equal, nothing is new.
        """
        self.reported.update(states)
        self.reported_from = known

    def move(self, path: str, moves: Mapping[int, int]) -> None:
        """Change the lines of the awaited breakpoints of a file; `moves` has the new line by the old one."""
        self.places = {(at, moves.get(n, n) if at == path else n) for at, n in self.places}
