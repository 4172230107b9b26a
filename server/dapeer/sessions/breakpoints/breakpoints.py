"""The set of breakpoints, by whichever client, for present and later sessions. Pure."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dapeer.collecting.points import ByPlace, CollectionPoints, FunctionPoints, put_at
from dapeer.dap.requested_breakpoints import (
    Place,
    RequestedBreakpoint,
    RequestedFunction,
    Spot,
    collects_at,
    spot_of,
    title_of,
)
from dapeer.dap.requests import is_supported
from dapeer.dap.types import Breakpoint
from dapeer.mirror.mirror import Mirror
from dapeer.sessions.doings import Doings

FilterListener = Callable[[list[str] | None], None]
"""Gets the exception filters that are wanted now; None: each adapter's own defaults."""
Listener = Callable[[str, int, RequestedBreakpoint | None], None]
"""Gets path, line, and what stands for all that stop there now (`Breakpoints.breakpoint_for_sign`)."""


AtSpot = tuple[RequestedBreakpoint | None, RequestedBreakpoint | None]
"""What is wanted at a place: to stop or log, and to collect for one client."""


@dataclass(slots=True)
class Breakpoints:
    """The one set of wanted breakpoints.

    It outlives sessions: what is set while nothing runs is sent when something starts. What an
    adapter made of it is in that session's mirror. A place, which is a line or a column of it, has one that
    stops or logs, whoever set it, and one that collects for each client.
    """

    by_path: ByPlace[int] = field(default_factory=ByPlace[int])
    """By absolute source path, and line and column (0: none) that were asked for."""
    changes: int = 0
    """Counts the changes of those."""
    points: CollectionPoints = field(default_factory=CollectionPoints)
    functions: list[str] = field(default_factory=list[str])
    function_points: FunctionPoints = field(default_factory=FunctionPoints)
    exceptions: list[str] | None = None
    """Exception filters; None means the adapter's own defaults."""
    places_for_next_start: set[Place] = field(default_factory=set[Place])
    """Places of those that a tool set since a program was started; they are for the next one."""
    person_places: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Path and line of those that a person has set in an editor; they have no column."""
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
        return self.changes + self.points.change_count + self.function_points.change_count

    @property
    def collects(self) -> bool:
        """Whether any breakpoint collects: it records values instead of stopping."""
        return bool(self.points.by_path or self.function_points)

    def breakpoints_at(self, path: str, spot: Spot, client: str = "") -> AtSpot:
        """Return the breakpoint at a place of a file that stops or logs, and the client's one that collects.

        Either is None where there is none. `client` is the key of the client whose collecting is meant.
        """
        line, column = spot
        stops = self.by_path.get(path, {}).get(line, {}).get(column)
        return stops, self.points.get(path, spot, client)

    def spots_on(self, path: str, line: int, client: str = "") -> list[Spot]:
        """Return the places of a line with a breakpoint that stops or logs, or collects for the client."""
        stopping = self.by_path.get(path, {}).get(line, ())
        columns = {*stopping, *self.points.columns_on(path, line, client)}
        return [(line, column) for column in sorted(columns)]

    def breakpoint_for_sign(self, path: str, line: int) -> RequestedBreakpoint | None:
        """Return the breakpoint that an editor shows for a line; None if no breakpoint there stops or logs.

        The breakpoint stands for all breakpoints of the shared set on that line of the file `path`, apart from those
        that only collect. The one without a column is taken, and is the set's own object; if there is none, that of the
        lowest column is taken, as a copy in which `column` is left out: an editor has one sign for a line.
        """
        first = next(iter(self.stopping_on(path, line)), None)
        if first is None or "column" not in first:
            return first
        first = first.copy()
        del first["column"]
        return first

    def stopping_on(self, path: str, line: int) -> list[RequestedBreakpoint]:
        """Return the breakpoints of a line that stop or log, by column."""
        here = self.by_path.get(path, {}).get(line, {})
        return [here[column] for column in sorted(here)]

    def add(self, path: str, requested: RequestedBreakpoint, client: str = "") -> AtSpot:
        """Put a breakpoint into the set, at its own place (`line`, and `column` if it has one).

        Return what was wanted there before, for `restore`: the breakpoint that stopped or logged there, and the
        one of this client that collects (records values without stopping); each may be None. A breakpoint that
        stops or logs replaces both. One that collects replaces both, too, but without a `column` leaves the
        stopping one on a line where a person has set it. `listeners` are called if the line's sign changes,
        those of `points` with the path if what this client collects there does. `client` is the client's key, and
        counts only if the breakpoint has no `collectedBy`. No request is sent.
        """
        spot = spot_of(requested)
        client = requested.get("collectedBy") or client
        before = self.breakpoints_at(path, spot, client)
        if "collect" in requested:
            self.points.set_collecting(path, spot, client, requested)
        if "collect" not in requested or spot[1] or (path, spot[0]) not in self.person_places:
            self._put(path, spot, None if "collect" in requested else requested)
        if "collect" not in requested:
            self.points.set_collecting(path, spot, client, None)
        return before

    def replace_line(self, path: str, requested: RequestedBreakpoint) -> None:
        """Make a person's breakpoint, which has no column, the only one of its line that stops or logs.

        The client's that collect stay; `listeners` are called if what stands for the line changes.
        """
        for each in self.stopping_on(path, requested["line"]):
            if spot_of(each)[1]:
                self._put(path, spot_of(each), None)
        self.add(path, requested)
        self.person_places.add((path, requested["line"]))

    def _put(self, path: str, spot: Spot, requested: RequestedBreakpoint | None) -> None:
        """Set, or with None remove, the breakpoint that stops or logs at a place, and record who did it.

        `path` is absolute; `spot` is line and column (0: none). `listeners` are called with path, line and the
        new sign (None: none is left) if what stands for the line changes. No request is sent to an adapter.
        """
        line, _ = spot
        before = self.breakpoint_for_sign(path, line)
        self._replace_on_line(path, spot, requested)
        now = self.breakpoint_for_sign(path, line)
        if before != now:
            for listener in self.listeners:
                listener(path, line, now)

    def _replace_on_line(
        self, path: str, spot: Spot, requested: RequestedBreakpoint | None
    ) -> None:
        """Set, or with None remove, the breakpoint that stops at a place, and record who did it.

        No listener is called.
        """
        self.changes += 1
        line, column = spot
        before = self.stopping_on(path, line)
        put_at(self.by_path, path, line, column, requested)
        self.doings.record_change(path, line, before or None, self.stopping_on(path, line) or None)

    def take_fresh(self) -> set[Place]:
        """Empty `places_for_next_start`, and return what it held.

        Those are the places of the breakpoints that are meant for the program that starts now.
        """
        fresh, self.places_for_next_start = self.places_for_next_start, set()
        return fresh

    def set_function_names(self, functions: Sequence[str]) -> None:
        """Replace all function breakpoints by these function names, and record what has changed in `doings`."""
        for name in dict.fromkeys([*self.functions, *functions]):
            was, wanted = name in self.functions, name in functions
            self.doings.record_change(name, 0, was or None, wanted or None)
        self.functions = [*functions]

    def restore(self, path: str, spot: Spot, before: AtSpot, client: str) -> None:
        """Undo an `add` that failed: put back what it has returned as `before`.

        `client` is the key of the client that collects there: the breakpoint's `collectedBy`, if it had one. `listeners` are not called,
        because a Neovim has not changed its sign either. The place is removed from `fresh`; `person_places` stays.
        """
        self.places_for_next_start.discard((path, *spot))
        self._replace_on_line(path, spot, before[0])
        self.points.set_collecting(path, spot, client, before[1])

    def remove(
        self,
        path: str,
        line: int,
        mirrors: Sequence[Mirror] = (),
        client: str = "",
        *,
        column: int | None = None,
    ) -> list[RequestedBreakpoint]:
        """Remove the breakpoints of a line that stop or log, and the client's that collect there; return them.

        With a `column`, only those that were asked for there (0: without a column). Empty: there were none. `line` is
        the requested one, or the one to which an adapter moved it, as one of the `mirrors` of sessions says.
        `listeners` are called if what stands for the line changes; unless there is a `column`, the requested line is
        removed from `person_places`, also if there were none.
        """
        requested_line = self._requested_line(path, line, mirrors, client)
        removed: list[RequestedBreakpoint] = []
        for spot in self.spots_on(path, requested_line, client):
            if column in {None, spot[1]}:
                removed += filter(None, self.breakpoints_at(path, spot, client))
                self._put(path, spot, None)
                self.points.set_collecting(path, spot, client, None)
        if column is None:
            self.person_places.discard((path, requested_line))
        return removed

    def move(self, path: str, moves: Mapping[int, int]) -> None:
        """Move a file's breakpoints to other lines; `moves` has the new line by the old one, other lines stay.

        A person's breakpoints that stop or log stay, because the person's editor moves them. A breakpoint that
        is at a new place already is replaced, but one that collects, without a column, does not replace a
        person's. `listeners` are called for each line whose sign in an editor changes, those of `points` where
        what is collected does. No request is sent.
        """
        here = [each for each in self.in_file(path) if each["line"] in moves]
        moving = [w for w in here if "collect" in w or (path, w["line"]) not in self.person_places]
        for each in moving:
            self._remove_breakpoint(path, each)
        for each in moving:
            self.add(path, {**each, "line": moves[each["line"]]})

    def _remove_breakpoint(self, path: str, requested: RequestedBreakpoint) -> None:
        """Remove the breakpoint at the place of `requested`: the one that collects, or the one that stops.

        If `requested` has `collect`, what its client (`collectedBy`; none if that is missing) collects at this
        place is removed; otherwise the breakpoint there that stops or logs is, whoever has set it. `path` is the
        file; the place is line and column of `requested`. The listeners of what collects are called if that
        changes, or those of signs if the line's sign changes. No request is sent.
        """
        if "collect" in requested:
            self.points.set_collecting(
                path, spot_of(requested), requested.get("collectedBy") or "", None
            )
        else:
            self._put(path, spot_of(requested), None)

    def _requested_line(self, path: str, line: int, mirrors: Sequence[Mirror], client: str) -> int:
        """Return the line that was asked for of a breakpoint that an adapter may have moved to `line`.

        If the shared set has a breakpoint on `line` itself, that is `line`. Else it is the first requested line
        which, as the `mirrors` of sessions tell, an adapter has moved to `line`, and on which the set still has a
        breakpoint. Only breakpoints that stop or log, or collect for the client with the key `client`, count.
        Without such a breakpoint, `line` is returned.
        """
        moved = (
            sent["line"]
            for mirror in mirrors
            for sent, made in mirror.breakpoint_statuses.breakpoints_in(path)
            if made.get("line") == line and self.spots_on(path, sent["line"], client)
        )
        return line if self.spots_on(path, line, client) else next(moved, line)

    def at_functions(self, client: str) -> list[tuple[str, str]]:
        """Return the keys (client and title) of `collecting` that belong to `client`."""
        return [each for each in self.function_points if each[0] == client]

    def want_functions(self, requested: Sequence[RequestedFunction]) -> None:
        """Add function breakpoints: those that collect to `collecting`, names of the others to `functions`."""
        for each in requested:
            if collects_at(each):
                self.function_points[each.get("collectedBy", ""), title_of(each)] = each
            elif each["name"] not in self.functions:
                self.set_function_names([*self.functions, each["name"]])

    @contextlib.contextmanager
    def adding_functions(self, requested: Sequence[RequestedFunction]) -> Generator[None]:
        """Add function breakpoints to the set before the body of a `with`, and leave them there after it.

        Those of `requested` that collect go to `function_points`, the names of the others to `functions`, where a name
        is only once. The changes of names are recorded in `doings`; nothing is sent. If the body raises, or is
        cancelled, they are removed, those that they have replaced are put back, and the error goes on; what others have
        changed meanwhile stays.
        """
        before, stops = dict(self.function_points), self.functions
        self.want_functions(requested)
        ours = {
            key: each for key, each in self.function_points.items() if before.get(key) is not each
        }
        names = [each for each in self.functions if each not in stops]
        try:
            yield
        except BaseException:
            for key, each in ours.items():
                if self.function_points.get(key) is not each:
                    continue
                del self.function_points[key]
                if key in before:
                    self.function_points[key] = before[key]
            self.set_function_names([each for each in self.functions if each not in names])
            raise

    @contextlib.contextmanager
    def adding(self, requested: Sequence[tuple[str, RequestedBreakpoint]]) -> Generator[None]:
        """Add breakpoints to the set before the body of a `with`, and leave them there after it.

        `requested` has pairs of path and breakpoint; each is added as by `add`, and no request is sent. If the body raises, or is
        cancelled, restore what was at those places before, and `person_places`, and call the listeners again.
        """
        persons = {*self.person_places}
        replaced = [(path, each, self.add(path, each)) for path, each in requested]
        try:
            yield
        except BaseException:
            for path, each, (stops, collects) in reversed(replaced):
                self._put(path, spot_of(each), stops)
                self.points.set_collecting(
                    path, spot_of(each), each.get("collectedBy") or "", collects
                )
            self.person_places = persons
            raise

    def clear(self, path: str | None = None, client: str = "") -> list[str]:
        """Remove all breakpoints of a file, whoever set them, and what the client collects there.

        Return the files that had any on lines. `path` is absolute; None: those of all files are removed, all
        function breakpoints, and what the client collects at functions (functions are not in the result). `client`
        is the key of the client whose collecting breakpoints are removed, and what other clients collect stays; the
        empty default stands for no client. Exception filters and data breakpoints stay. Listeners are called for
        those on lines that stopped or logged; the caller sends the requests to the adapters.
        """
        if path is None:
            self.set_function_names([])
            for each in self.at_functions(client):
                del self.function_points[each]
        gone = dict.fromkeys(each[:2] for each in self.places(client) if path in {None, each[0]})
        for each in gone:
            self.remove(*each, client=client)
        return _files(gone)

    def remove_for_new_start(
        self,
        kept_places: Collection[Place] = (),
        collecting: Collection[Place] = (),
        titles: Collection[str] = (),
        client: str = "",
    ) -> list[str]:
        """Remove what tools have set, except some, for a new start; return the files that had any of it.

        Of the breakpoints that stop or log, whoever's tools have set them, those stay that a person has set, and
        those in `kept_places`. Of what collects, in lines and at functions, only that of `client` (its key) is
        removed, save what is in `collecting` (on lines) and `titles` (at functions); other clients' stays. All
        function breakpoints that stop go, exception filters are again the defaults, and `places_for_next_start` is
        emptied. Only files with breakpoints on lines are in the result. Listeners are called; no request is sent.
        """
        stop = [
            (path, spot)
            for path, spot in self._stopping()
            if (spot[1] or (path, spot[0]) not in self.person_places)
            and (path, *spot) not in kept_places
        ]
        collect = [at for at in self.points.spots(client) if (at[0], *at[1]) not in collecting]
        for path, spot in stop:
            self._put(path, spot, None)
        for path, spot in collect:
            self.points.set_collecting(path, spot, client, None)
        self.set_function_names([])
        for each in self.at_functions(client):
            if each[1] not in titles:
                del self.function_points[each]
        if self.exceptions is not None:
            self.set_exception_filters(None)
        self.places_for_next_start.clear()
        return _files([*stop, *collect])

    def set_exception_filters(self, filters: list[str] | None) -> None:
        """Set the exception filters of all sessions, and call `filter_listeners`.

        None: each adapter's own defaults. Requests are sent by the listeners, not here.
        """
        self.exceptions = filters
        for notify in self.filter_listeners:
            notify(filters)

    def drop_client(self, client: str) -> list[str]:
        """Remove all breakpoints with which a disconnected client collects, on lines and at functions.

        `client` is the client's key; breakpoints that stop or log stay. Return the paths of the files in which the client
        collected on lines, each once; empty: in none, though the client may have collected at functions. The listeners of
        `points` are called with the path of each removed breakpoint on a line. No request is sent: the caller sends the
        breakpoints of these files, and what is still collected at functions, to the sessions.
        """
        for each in self.at_functions(client):
            del self.function_points[each]
        spots = self.points.spots(client)
        for path, spot in spots:
            self.points.set_collecting(path, spot, client, None)
        return _files(spots)

    def places(self, client: str = "") -> list[Place]:
        """Return the places of all breakpoints that stop, and of those that collect for `client`.

        Each place is there once.
        """
        every = dict.fromkeys([*self._stopping(), *self.points.spots(client)])
        return [(path, line, column) for path, (line, column) in every]

    def _stopping(self) -> list[tuple[str, Spot]]:
        """Return the places of all line breakpoints that stop or log, as pairs of path and (line, column).

        Column 0 stands for none. The pairs are not sorted.
        """
        return [
            (path, (line, column))
            for path, lines in self.by_path.items()
            for line, here in lines.items()
            for column in here
        ]

    def in_file(self, path: str) -> list[RequestedBreakpoint]:
        """Return all breakpoints of a file, of all clients, by place; at each the one that stops is first."""
        stop = (each for here in self.by_path.get(path, {}).values() for each in here.values())
        return sorted([*stop, *self.points.breakpoints_of_file(path)], key=spot_of)


def _files(places: Iterable[tuple[str, object]]) -> list[str]:
    """Return the paths of `places` (each a path and what is in it), each once, in their order."""
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
    return mirror.breakpoint_statuses.state_at(
        path, spot_of(requested), collecting="collect" in requested
    )
