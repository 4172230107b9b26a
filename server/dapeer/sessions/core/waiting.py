"""A process that waits for its debugger before it becomes the program that it was started for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Changes = Mapping[str, str | None]
"""Variables of an environment to set, or with None to remove."""


@dataclass(slots=True, eq=False)
class WaitingProcess:
    """A process that a debuggee has started, and that waits before `exec`."""

    pid: int
    environment: Mapping[str, str]
    """The variables that it has."""
    _let_go: Callable[[Changes, Mapping[str, object]], None]
    """Tells it to go on, with changes of its environment, and what its adapter has reported."""
    event: str = ""
    """The event by which its adapter tells that it may go on; empty: none does."""
    has_gone: bool = field(default=False, init=False)
    """Whether it was told to go on."""

    def become(self, environment: Changes, reported: Mapping[str, object] | None = None) -> None:
        """Have the process become its program, with the variables of `environment` over its own.

        Those that have the same value already are left out. `reported` is what its adapter says with `event`. Nothing happens if the process
        was told so before.
        """
        if not self.has_gone:
            self.has_gone = True
            known = self.environment
            changes = {name: to for name, to in environment.items() if to != known.get(name)}
            self._let_go(changes, reported or {})
