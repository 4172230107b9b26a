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
    _let_go: Callable[[Changes], None]
    """Tells it to go on, with changes of its environment."""
    has_gone: bool = field(default=False, init=False)
    """Whether it was told to go on."""

    def become(self, environment: Changes) -> None:
        """Have the process become its program, with the variables of `environment` over its own.

        Those that have the same value already are left out. Nothing happens if it was told so before.
        """
        if not self.has_gone:
            self.has_gone = True
            known = self.environment
            self._let_go({name: to for name, to in environment.items() if to != known.get(name)})
