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
from dapeer.dap.requests import is_supported
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
    person_places: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Path and line of those that a person has set in an editor."""
    filter_listeners: list[FilterListener] = field(default_factory=list[FilterListener])
    """Called at once when other exception filters are wanted."""
    doings: Doings = field(default_factory=Doings)
    """Who has changed them, for those who are told."""
    listeners: list[Listener] = field(default_factory=list[Listener])
    """Called at once for each line breakpoint that is added, changed or removed."""

    @property
    def paths(self) -> list[str]:
        """The source files that have breakpoints, those that collect included, each once."""
        return list(dict.fromkeys([*self.by_path, *self.points.by_path]))

    @property
    def change_count(self) -> int:
        """How often breakpoints on lines, and all that collects, have changed; equal numbers mean no change."""
        return self.changes + self.points.change_count + self.collecting.change_count

    @property
    def collects(self) -> bool:
        """Whether any breakpoint collects: it records values instead of stopping."""
        return bool(self.points.by_path or self.collecting)

    def on(self, path: str, line: int, client: str = "") -> OnLine:
        """Return the breakpoint on a line that stops or logs, and the client's one that collects.

        Either is None where there is none. `client` is the key of the client whose collecting is meant.
        """
        return self.by_path.get(path, {}).get(line), self.points.get(path, line, client)

    def add(self, path: str, requested: RequestedBreakpoint, client: str = "") -> OnLine:
        """Put a breakpoint into the set, on its own `line`.

        Return what was wanted there before, for `restore`. What comes back is the breakpoint that stopped or logged there, and the one of
        this client that collects (records values without stopping); each may be None. A breakpoint that stops replaces both; one that
        collects replaces both, too, but leaves a person's alone. `listeners` are called if what stops there changes. `client` is the
        client's key, and counts only if the breakpoint has no `collectedBy`. No request is sent.
        """
        line = requested["line"]
        client = requested.get("collectedBy") or client
        before = self.on(path, line, client)
        if "collect" in requested:
            self.points.put(path, line, client, requested)
        if "collect" not in requested or (path, line) not in self.person_places:
            self._put(path, line, None if "collect" in requested else requested)
        if "collect" not in requested:
            self.points.put(path, line, client, None)
        return before

    def _put(self, path: str, line: int, requested: RequestedBreakpoint | None) -> None:
        """Set, or with None remove, the breakpoint that stops on a line; call `listeners` if it changes."""
        before = self._take(path, line, requested)
        if before != requested:
            for listener in self.listeners:
                listener(path, line, requested)

    def _take(
        self, path: str, line: int, requested: RequestedBreakpoint | None
    ) -> RequestedBreakpoint | None:
        """Set, or with None remove, the breakpoint that stops on a line, and record who did it.

        Return the old one. No listener is called.
        """
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
        """Empty `fresh`, and return what it held.

        That is path and line of the breakpoints that are meant for the program that starts now.
        """
        fresh, self.fresh = self.fresh, set()
        return fresh

    def stop_at(self, functions: Sequence[str]) -> None:
        """Replace all function breakpoints by these function names, and record what has changed in `doings`."""
        for name in dict.fromkeys([*self.functions, *functions]):
            was, wanted = name in self.functions, name in functions
            self.doings.change(name, 0, was or None, wanted or None)
        self.functions = [*functions]

    def restore(self, path: str, line: int, before: OnLine, client: str) -> None:
        """Undo an `add` that failed: put back what it has returned as `before`.

        `client` is the key of the client that collects there: the breakpoint's `collectedBy`, if it had one. `listeners` are not called,
        because a Neovim has not changed its sign either. The line is removed from `fresh`; `person_places` stays.
        """
        self.fresh.discard((path, line))
        self._take(path, line, before[0])
        self.points.put(path, line, client, before[1])

    def remove(
        self, path: str, line: int, mirrors: Sequence[Mirror] = (), client: str = ""
    ) -> RequestedBreakpoint | None:
        """Remove the breakpoint that stops at a line, and the one with which the client collects there.

        Return the one that stopped, else the one that collected; None: there was neither, and nothing has changed. `line` is the requested
        one, or the one to which an adapter moved it, as one of the `mirrors` of sessions says. `listeners` are called if one that stopped
        was removed; the line is removed from `person_places`. No request is sent.
        """
        requested_line = self._requested_line(path, line, mirrors, client)
        stops, collects = self.on(path, requested_line, client)
        self.person_places.discard((path, requested_line))
        self._put(path, requested_line, None)
        self.points.put(path, requested_line, client, None)
        return stops or collects

    def move(self, path: str, moves: Mapping[int, int]) -> None:
        """Move a file's breakpoints to other lines; `moves` has the new line by the old one.

        A person's breakpoints that stop stay, because the person's editor moves them. `listeners` are called for each line that changes; a
        breakpoint that was on a new line already is replaced. No request is sent.
        """
        here = [each for each in self.of(path) if each["line"] in moves]
        moving = [w for w in here if "collect" in w or (path, w["line"]) not in self.person_places]
        for each in moving:
            self._remove_breakpoint(path, each)
        for each in moving:
            self.add(path, {**each, "line": moves[each["line"]]})

    def _remove_breakpoint(self, path: str, requested: RequestedBreakpoint) -> None:
        """Remove one breakpoint, the one that stops or the one that collects."""
        if "collect" in requested:
            self.points.put(path, requested["line"], requested.get("collectedBy") or "", None)
        else:
            self._put(path, requested["line"], None)

    def _requested_line(self, path: str, line: int, mirrors: Sequence[Mirror], client: str) -> int:
        """Return the line that was asked for of a breakpoint that an adapter may have moved to `line`.

        A breakpoint of the set on `line` itself comes first; it stops there, or collects for `client` (a key). Else the `mirrors` of
        sessions tell which requested line an adapter has moved there. Without such a breakpoint, `line` itself is returned.
        """
        moved = (
            sent["line"]
            for mirror in mirrors
            for sent, made in mirror.placed.breakpoints_in(path)
            if made.get("line") == line and any(self.on(path, sent["line"], client))
        )
        return line if any(self.on(path, line, client)) else next(moved, line)

    def at_functions(self, client: str) -> list[tuple[str, str]]:
        """Return the keys (client and title) of `collecting` that belong to `client`."""
        return [each for each in self.collecting if each[0] == client]

    def want_functions(self, requested: Sequence[RequestedFunction]) -> None:
        """Add function breakpoints: those that collect to `collecting`, names of the others to `functions`."""
        for each in requested:
            if collects_at(each):
                self.collecting[each.get("collectedBy", ""), title_of(each)] = each
            elif each["name"] not in self.functions:
                self.stop_at([*self.functions, each["name"]])

    @contextlib.contextmanager
    def wanting_functions(self, requested: Sequence[RequestedFunction]) -> Generator[None]:
        """Add function breakpoints to the set before the body of a `with`, and leave them there after it.

        Those of `requested` that collect go to `collecting`, the names of the others to `functions`; nothing is sent. If the body raises,
        or is cancelled, both are as they were before.
        """
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
        """Add breakpoints to the set before the body of a `with`, and leave them there after it.

        `requested` has pairs of path and breakpoint; each is added as by `add`, and no request is sent. If the body raises, or is
        cancelled, restore what was on those lines before, and `person_places`, and call the listeners again.
        """
        persons = {*self.person_places}
        replaced = [(path, each, self.add(path, each)) for path, each in requested]
        try:
            yield
        except BaseException:
            for path, each, (stops, collects) in reversed(replaced):
                self._put(path, each["line"], stops)
                self.points.put(path, each["line"], each.get("collectedBy") or "", collects)
            self.person_places = persons
            raise

    def clear(self, path: str | None = None, client: str = "") -> list[str]:
        """Remove all breakpoints of a file, whoever set them, and what the client collects there.

        Return the files that had any. Without a path, those of all files are removed, all function breakpoints, and what the client
        collects at functions. Exception filters stay. `client` is the key of the client whose collecting breakpoints are removed. Listeners
        are called for those that stopped on lines; no request is sent.
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
        kept_places: Collection[tuple[str, int]] = (),
        collecting: Collection[tuple[str, int]] = (),
        client: str = "",
    ) -> list[str]:
        """Remove what tools have set, except some, for a new start; return the files that had any of it.

        Of the breakpoints that stop, whoever's tools have set them, those stay that a person has set, and those in `kept_places` (path and
        line). Of what collects, in lines and at functions, only that of `client` (its key) is removed, save what is in `collecting` (path
        and line, or title and 0); other clients' stays. All function breakpoints that stop go, exception filters are again the defaults,
        and `fresh` is emptied. No request is sent.
        """
        stop = [
            each
            for each in self.places()
            if each not in self.person_places and each not in kept_places
        ]
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
        """Set the exception filters of all sessions, and call `filter_listeners`.

        None: each adapter's own defaults. Requests are sent by the listeners, not here.
        """
        self.exceptions = filters
        for notify in self.filter_listeners:
            notify(filters)

    def drop_client(self, client: str) -> list[str]:
        """Remove all with which a client collects, which has disconnected, on lines and at functions.

        Return the files in which it had collected on lines, each once. Nothing is sent to sessions: the caller does so.
        """
        for each in self.at_functions(client):
            del self.collecting[each]
        places = self.points.places(client)
        for path, line in places:
            self.points.put(path, line, client, None)
        return _files(places)

    def places(self, client: str = "") -> list[tuple[str, int]]:
        """Return path and line of all breakpoints that stop, and of those that collect for `client`.

        Each place is there once.
        """
        stop = [(path, line) for path, lines in self.by_path.items() for line in lines]
        return list(dict.fromkeys([*stop, *self.points.places(client)]))

    def of(self, path: str) -> list[RequestedBreakpoint]:
        """Return all breakpoints of a file, of all clients, by line; on one line the one that stops is first."""
        stop = [sent for _, sent in sorted(self.by_path.get(path, {}).items())]
        return sorted([*stop, *self.points.of(path)], key=lambda each: each["line"])


def _files(places: Sequence[tuple[str, int]]) -> list[str]:
    """Return the paths of `places` (path and line), each once, in their order."""
    return list(dict.fromkeys(path for path, _ in places))


OPTIONS = ("condition", "hitCondition", "logMessage")
"""The options of a breakpoint."""


def unsupported(mirror: Mirror, requested: RequestedBreakpoint) -> list[str]:
    """Return those of a breakpoint's options (the keys in `OPTIONS`) that the adapter does not support."""
    return [
        option
        for option in OPTIONS
        if option in requested and not is_supported(mirror.capabilities, option)
    ]


def adapter_answer(mirror: Mirror, path: str, requested: RequestedBreakpoint) -> Breakpoint | None:
    """Return the adapter's answer on a breakpoint, as a mirror has it.

    None if it was not sent or not answered.
    """
    return mirror.placed.state_on_line(path, requested["line"], collecting="collect" in requested)
