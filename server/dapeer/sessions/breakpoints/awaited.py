"""The breakpoints that a caller awaits of one program, and what was reported about them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Awaited:
    """The breakpoints that a caller awaits of one program; its first session has them."""

    places: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Path and line of those that were set for this program."""
    kept_from: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Path and line of those that this program did not get; the caller knows why."""
    reported: set[tuple[str, str, int]] = field(default_factory=set[tuple[str, str, int]])
    """States that the caller knows already: state, path and line."""
    reported_from: object = None
    """What is known of breakpoints and their states, as it was when the caller was told last."""

    def expect(self, places: Iterable[tuple[str, int]]) -> None:
        """Await breakpoints that are set for this program, by path and line."""
        self.places.update(places)

    def keep_from(self, places: Iterable[tuple[str, int]]) -> None:
        """Take note of breakpoints that this program does not get, as the caller knows."""
        self.kept_from.update(places)

    def admit(self, path: str) -> None:
        """Take note that this program has got the breakpoints of a file after all."""
        self.kept_from = {each for each in self.kept_from if each[0] != path}

    def mark_reported(self, states: Iterable[tuple[str, str, int]], known: object) -> None:
        """Take note that the caller knows these states; nothing is new as long as `known` stays equal."""
        self.reported.update(states)
        self.reported_from = known

    def move(self, path: str, moves: Mapping[int, int]) -> None:
        """Await those of a file on other lines, by the line that each had."""
        self.places = {(at, moves.get(n, n) if at == path else n) for at, n in self.places}
