"""The set of breakpoints, by whichever client, for present and later sessions. Pure."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field

from dapeer.collecting.points import CollectionPoints, FunctionPoints
from dapeer.dap.requested_breakpoints import (
    RequestedBreakpoint,
    RequestedFunction,
    collects_at,
    title_of,
)
from dapeer.dap.requests import can
from dapeer.dap.types import Breakpoint
from dapeer.mirror.mirror import Mirror
from dapeer.sessions.doings import Doings

FilterListener = Callable[[list[str] | None], None]
"""Gets the exception filters that are wanted now; None: each adapter's own defaults."""
Listener = Callable[[str, int, RequestedBreakpoint | None], None]
"""Gets path, line, and the breakpoint that is wanted there now."""


OnLine = tuple[RequestedBreakpoint | None, RequestedBreakpoint | None]
"""What is wanted on a line: to stop or log, and to collect for one client."""


@dataclass(slots=True)
class Breakpoints:
    """The one set of wanted breakpoints.

    It outlives sessions: what is set while nothing runs is sent when something starts. What an
    adapter made of it is in that session's mirror. A line has one that stops or logs, whoever set it,
    and one that collects for each client.
    """

    by_path: dict[str, dict[int, RequestedBreakpoint]] = field(
        default_factory=dict[str, dict[int, RequestedBreakpoint]]
    )
    """By absolute source path and the line that was asked for."""
    changes: int = 0
    """Counts the changes of those."""
    points: CollectionPoints = field(default_factory=CollectionPoints)
    functions: list[str] = field(default_factory=list[str])
    collecting: FunctionPoints = field(default_factory=FunctionPoints)
    exceptions: list[str] | None = None
    """Exception filters; None means the adapter's own defaults."""
    fresh: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Path and line of those that a tool set since a program was started; they are for the next one."""
    persons: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Path and line of those that a person has set in an editor."""
    filter_listeners: list[FilterListener] = field(default_factory=list[FilterListener])
    """Called at once when other exception filters are wanted."""
    doings: Doings = field(default_factory=Doings)
    """Who has changed them, for those who are told."""
    listeners: list[Listener] = field(default_factory=list[Listener])
    """Called at once for each line breakpoint that is added, changed or removed."""

    @property
    def paths(self) -> list[str]:
        """The files that have some."""
        return list(dict.fromkeys([*self.by_path, *self.points.by_path]))

    @property
    def news(self) -> int:
        """Counts the changes of all that is on lines or collects."""
        return self.changes + self.points.news + self.collecting.news

    @property
    def collects(self) -> bool:
        """Whether some collect instead of stopping."""
        return bool(self.points.by_path or self.collecting)

    def on(self, path: str, line: int, client: str = "") -> OnLine:
        """Return what is wanted on a line."""
        return self.by_path.get(path, {}).get(line), self.points.get(path, line, client)

    def add(self, path: str, requested: RequestedBreakpoint, client: str = "") -> OnLine:
        """Want a breakpoint; return what was wanted on its line.

        A client has one on a line: it stops or it collects. But what collects leaves a person's alone.
        """
        line = requested["line"]
        client = requested.get("collectedBy") or client
        before = self.on(path, line, client)
        if "collect" in requested:
            self.points.put(path, line, client, requested)
        if "collect" not in requested or (path, line) not in self.persons:
            self._put(path, line, None if "collect" in requested else requested)
        if "collect" not in requested:
            self.points.put(path, line, client, None)
        return before

    def _put(self, path: str, line: int, requested: RequestedBreakpoint | None) -> None:
        """Have programs stop on a line, or not any longer."""
        before = self._take(path, line, requested)
        if before != requested:
            for listener in self.listeners:
                listener(path, line, requested)

    def _take(
        self, path: str, line: int, requested: RequestedBreakpoint | None
    ) -> RequestedBreakpoint | None:
        self.changes += 1
        lines = self.by_path.setdefault(path, {})
        before = lines.pop(line, None)
        if requested is not None:
            lines[line] = requested
        if not lines:
            del self.by_path[path]
        self.doings.change(path, line, before, requested)
        return before

    def take_fresh(self) -> set[tuple[str, int]]:
        """Return path and line of those that are meant for the next program, which has come."""
        fresh, self.fresh = self.fresh, set()
        return fresh

    def stop_at(self, functions: Sequence[str]) -> None:
        """Want programs to stop at these functions, and at no others."""
        for name in dict.fromkeys([*self.functions, *functions]):
            was, wanted = name in self.functions, name in functions
            self.doings.change(name, 0, was or None, wanted or None)
        self.functions = [*functions]

    def restore(self, path: str, line: int, before: OnLine, client: str) -> None:
        """Undo an `add` whose breakpoint was not applied; a Neovim has not changed its sign either."""
        self.fresh.discard((path, line))
        self._take(path, line, before[0])
        self.points.put(path, line, client, before[1])

    def remove(
        self, path: str, line: int, mirrors: Sequence[Mirror] = (), client: str = ""
    ) -> RequestedBreakpoint | None:
        """Remove the client's breakpoint at a line, and what it collects there.

        `line` is the requested one, or the one to which an adapter moved it.

        Returns the breakpoint, or None if there is none, and nothing has changed.
        """
        requested_line = self._requested_line(path, line, mirrors, client)
        stops, collects = self.on(path, requested_line, client)
        self.persons.discard((path, requested_line))
        self._put(path, requested_line, None)
        self.points.put(path, requested_line, client, None)
        return stops or collects

    def move(self, path: str, moves: Mapping[int, int]) -> None:
        """Move a file's breakpoints, by the line that each has; an editor moves a person's, so they stay."""
        here = [each for each in self.of(path) if each["line"] in moves]
        moving = [w for w in here if "collect" in w or (path, w["line"]) not in self.persons]
        for each in moving:
            self._drop(path, each)
        for each in moving:
            self.add(path, {**each, "line": moves[each["line"]]})

    def _drop(self, path: str, requested: RequestedBreakpoint) -> None:
        if "collect" in requested:
            self.points.put(path, requested["line"], requested.get("collectedBy") or "", None)
        else:
            self._put(path, requested["line"], None)

    def _requested_line(self, path: str, line: int, mirrors: Sequence[Mirror], client: str) -> int:
        moved = (
            sent["line"]
            for mirror in mirrors
            for sent, made in mirror.placed.at(path)
            if made.get("line") == line and any(self.on(path, sent["line"], client))
        )
        return line if any(self.on(path, line, client)) else next(moved, line)

    def at_functions(self, client: str) -> list[tuple[str, str]]:
        """Return client and title of what a client collects at functions."""
        return [each for each in self.collecting if each[0] == client]

    def want_functions(self, requested: Sequence[RequestedFunction]) -> None:
        """Want to collect at functions from now on, or to stop."""
        for each in requested:
            if collects_at(each):
                self.collecting[each.get("collectedBy", ""), title_of(each)] = each
            elif each["name"] not in self.functions:
                self.stop_at([*self.functions, each["name"]])

    @contextlib.contextmanager
    def wanting_functions(self, requested: Sequence[RequestedFunction]) -> Generator[None]:
        """Want to collect at functions from now on, or to stop; all is as before if the body fails."""
        before, stops = dict(self.collecting), self.functions
        self.want_functions(requested)
        try:
            yield
        except BaseException:
            for each in self.collecting.keys() - before.keys():
                del self.collecting[each]
            self.collecting.update(before)
            self.stop_at(stops)
            raise

    @contextlib.contextmanager
    def wanting(self, requested: Sequence[tuple[str, RequestedBreakpoint]]) -> Generator[None]:
        """Want breakpoints (path and breakpoint) from now on; all is as before if the body fails."""
        persons = {*self.persons}
        replaced = [(path, each, self.add(path, each)) for path, each in requested]
        try:
            yield
        except BaseException:
            for path, each, (stops, collects) in reversed(replaced):
                self._put(path, each["line"], stops)
                self.points.put(path, each["line"], each.get("collectedBy") or "", collects)
            self.persons = persons
            raise

    def clear(self, path: str | None = None, client: str = "") -> list[str]:
        """Remove all breakpoints, of a file or all, and what the client collects there; return the files.

        Without a path the function breakpoints go, too.
        """
        if path is None:
            self.stop_at([])
            for each in self.at_functions(client):
                del self.collecting[each]
        gone = [each for each in self.places(client) if path in {None, each[0]}]
        for each in gone:
            self.remove(*each, client=client)
        return _files(gone)

    def forget(
        self,
        kept: Collection[tuple[str, int]] = (),
        collecting: Collection[tuple[str, int]] = (),
        client: str = "",
    ) -> list[str]:
        """Remove what tools have set, except some; return the files that had any.

        These stay: those `kept` that stop (path and line), and those of the client's that go on `collecting`.
        """
        stop = [each for each in self.places() if each not in self.persons and each not in kept]
        collect = [each for each in self.points.places(client) if each not in collecting]
        for path, line in stop:
            self._put(path, line, None)
        for path, line in collect:
            self.points.put(path, line, client, None)
        self.stop_at([])
        for each in self.at_functions(client):
            if (each[1], 0) not in collecting:
                del self.collecting[each]
        if self.exceptions is not None:
            self.choose(None)
        self.fresh.clear()
        return _files([*stop, *collect])

    def choose(self, filters: list[str] | None) -> None:
        """Want these exception filters, None: each adapter's own defaults."""
        self.exceptions = filters
        for notify in self.filter_listeners:
            notify(filters)

    def left(self, client: str) -> list[str]:
        """Collect no longer what a client has asked for that has gone; return the files."""
        for each in self.at_functions(client):
            del self.collecting[each]
        places = self.points.places(client)
        for path, line in places:
            self.points.put(path, line, client, None)
        return _files(places)

    def places(self, client: str = "") -> list[tuple[str, int]]:
        """Return path and line of all that stop, and of those that collect for a client."""
        stop = [(path, line) for path, lines in self.by_path.items() for line in lines]
        return list(dict.fromkeys([*stop, *self.points.places(client)]))

    def of(self, path: str) -> list[RequestedBreakpoint]:
        """Return the breakpoints of a file, by line; those that collect behind the one that stops."""
        stop = [sent for _, sent in sorted(self.by_path.get(path, {}).items())]
        return sorted([*stop, *self.points.of(path)], key=lambda each: each["line"])


def _files(places: Sequence[tuple[str, int]]) -> list[str]:
    return list(dict.fromkeys(path for path, _ in places))


OPTIONS = ("condition", "hitCondition", "logMessage")
"""The options of a breakpoint."""


def unsupported(mirror: Mirror, requested: RequestedBreakpoint) -> list[str]:
    """Return the options of a breakpoint that an adapter will not heed."""
    return [
        option for option in OPTIONS if option in requested and not can(mirror.capabilities, option)
    ]


def answered(mirror: Mirror, path: str, requested: RequestedBreakpoint) -> Breakpoint | None:
    """Return the state of a breakpoint in an adapter; None if the adapter has not got it."""
    return mirror.placed.on(path, requested["line"], collecting="collect" in requested)
