"""The set of breakpoints, by whichever client, for present and later sessions. Pure."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, field

from dapeer.dap.requests import can
from dapeer.dap.types import Breakpoint
from dapeer.dap.wanted import WantedBreakpoint
from dapeer.mirror.mirror import Mirror

Listener = Callable[[str, int, WantedBreakpoint | None], None]
"""Gets path, line, and the breakpoint that is wanted there now."""


@dataclass(slots=True)
class Breakpoints:
    """The one set of wanted breakpoints.

    It outlives sessions: what is set while nothing runs is sent when something starts. What an
    adapter made of it is in that session's mirror.
    """

    by_path: dict[str, dict[int, WantedBreakpoint]] = field(
        default_factory=dict[str, dict[int, WantedBreakpoint]]
    )
    """By absolute source path and the line that was asked for."""
    functions: list[str] = field(default_factory=list[str])
    exceptions: list[str] | None = None
    """Exception filters; None means the adapter's own defaults."""
    fresh: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Path and line of those that were set by a tool since a program was started: they are meant for the next one."""
    persons: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Path and line of those that a person has set in an editor."""
    listeners: list[Listener] = field(default_factory=list[Listener])
    """Called at once for each line breakpoint that is added, changed or removed."""

    def add(self, path: str, wanted: WantedBreakpoint) -> WantedBreakpoint | None:
        """Want a breakpoint; return the one on its line that it replaces."""
        lines = self.by_path.setdefault(path, {})
        replaced = lines.get(wanted["line"])
        lines[wanted["line"]] = wanted
        if replaced != wanted:
            self._tell(path, wanted["line"], wanted)
        return replaced

    @property
    def collects(self) -> bool:
        """Whether some collect instead of stopping."""
        return any("collect" in each for lines in self.by_path.values() for each in lines.values())

    def restore(self, path: str, line: int, replaced: WantedBreakpoint | None) -> None:
        """Undo an `add` whose breakpoint was not applied."""
        self.fresh.discard((path, line))
        if replaced is None:
            del self.by_path[path][line]
        else:
            self.by_path[path][line] = replaced

    def remove(
        self, path: str, line: int, mirrors: Sequence[Mirror] = ()
    ) -> WantedBreakpoint | None:
        """Want it no longer; `line` is the one asked for, or the one an adapter moved it to.

        Returns the breakpoint, or None if there is none, and nothing has changed.
        """
        lines = self.by_path.get(path, {})
        moved = (
            wanted["line"]
            for mirror in mirrors
            for wanted, made in mirror.breakpoints.get(path, ())
            if made.get("line") == line and wanted["line"] in lines
        )
        asked = line if line in lines else next(moved, line)
        removed = lines.pop(asked, None)
        self.persons.discard((path, asked))
        if not lines:
            self.by_path.pop(path, None)
        if removed is not None:
            self._tell(path, asked, None)
        return removed

    @contextlib.contextmanager
    def wanting(self, wanted: Sequence[tuple[str, WantedBreakpoint]]) -> Generator[None]:
        """Want breakpoints (path and breakpoint) from now on; all is as before if the body fails."""
        persons = {*self.persons}
        replaced = [(path, each, self.add(path, each)) for path, each in wanted]
        try:
            yield
        except BaseException:
            for path, each, before in reversed(replaced):
                self.remove(path, each["line"])
                if before is not None:
                    self.add(path, before)
            self.persons = persons
            raise

    def clear(self, path: str | None = None) -> list[str]:
        """Want none any longer, in one file or anywhere; return the files that had some.

        Without a path the function breakpoints go, too.
        """
        paths = [path] if path else list(self.by_path)
        if path is None:
            self.functions.clear()
        cleared = [path for path in paths if path in self.by_path]
        for path in cleared:
            for line in list(self.by_path[path]):
                self.remove(path, line)
        return cleared

    def forget(self, kept: Collection[tuple[str, int]] = ()) -> list[str]:
        """Remove all breakpoints that tools have set, except `kept` (path and line); return the files that had some."""
        gone = [
            (path, line)
            for path, lines in self.by_path.items()
            for line in lines
            if (path, line) not in self.persons and (path, line) not in kept
        ]
        for path, line in gone:
            self.remove(path, line)
        self.functions.clear()
        self.exceptions = None
        self.fresh.clear()
        return list(dict.fromkeys(path for path, _ in gone))

    def _tell(self, path: str, line: int, wanted: WantedBreakpoint | None) -> None:
        for listener in self.listeners:
            listener(path, line, wanted)

    def of(self, path: str) -> list[WantedBreakpoint]:
        """Return the breakpoints of a file, by line."""
        return [wanted for _, wanted in sorted(self.by_path.get(path, {}).items())]


OPTIONS = ("condition", "hitCondition", "logMessage")
"""The options of a breakpoint."""


def unsupported(mirror: Mirror, wanted: WantedBreakpoint) -> list[str]:
    """Return the options of a breakpoint that an adapter will not heed."""
    return [
        option for option in OPTIONS if option in wanted and not can(mirror.capabilities, option)
    ]


def answered(mirror: Mirror, path: str, wanted: WantedBreakpoint) -> Breakpoint | None:
    """Return the state of a breakpoint in an adapter; None if the adapter has not got it."""
    pairs = (*mirror.breakpoints.get(path, ()), *mirror.placed.collecting.get(path, ()))
    return next((made for asked, made in pairs if asked["line"] == wanted["line"]), None)
