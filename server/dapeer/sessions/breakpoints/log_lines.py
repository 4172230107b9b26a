"""The log points by which a program collects: on lines, and where functions begin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dapeer.adapters.definition.collect import Collect
from dapeer.base.errors import DapeerError
from dapeer.collecting.points import point_at, point_of
from dapeer.collecting.rows.collected import Collected
from dapeer.dap.requested_breakpoints import RequestedBreakpoint, RequestedFunction
from dapeer.dap.sent_requests import EvaluateArguments, SendRequest
from dapeer.dap.types import Breakpoint
from dapeer.sessions.breakpoints.stops_at import StopsAt

NUMBER = "${number}"
"""Stands in the definition's command for the number of a breakpoint."""
UNKNOWN = "no function of this name is loaded"
NOWHERE = "the adapter does not tell where it is: collect on a line of it"
STOPS = "the adapter cannot collect where a breakpoint stops"

LogPlace = tuple[str, int, int]
"""Path, line and column; column 0: it is not told."""


class LogLines:
    """Makes the log points by which a program records values, where it cannot do so by itself.

    It knows which log points stand for what is collected in each file; nothing is sent but for functions.
    """

    def __init__(
        self, collected: Collected, stops_at: StopsAt, request: SendRequest, known: Collect
    ) -> None:
        """Keep the tools for one session's log points.

        `known` is the `[collect]` table of the adapter's definition.
        """
        self._known = known
        self._collected = collected
        self._stops_at = stops_at
        self._request = request
        self._requested: dict[str, Sequence[RequestedBreakpoint]] = {}
        """By path the breakpoints of a file, as they were wanted last."""
        self._places: dict[str, list[LogPlace]] = {}
        """By name where a function begins; it may have several forms."""
        self._over: set[int] = set()
        """The numbers of the points that have all their rows."""
        self._at: dict[str, list[dict[str, Any]]] = {}
        """By path the log points where functions begin."""
        self._named: list[dict[str, Any]] = []
        """The log points at functions that have no place."""

    def requested(self, path: str) -> Sequence[RequestedBreakpoint]:
        """Return the breakpoints of a file that `log_points_of` was given last; empty: none yet."""
        return self._requested.get(path, ())

    def log_points_of(
        self, path: str, requested: Sequence[RequestedBreakpoint]
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the log points to send for what is collected in a file, one per line; keep `requested`.

        Lines with a breakpoint that stops are left out: no adapter has two on a line. Further points on the same line are in `others` of
        the first. Points that have all their rows are left out, too.
        """
        self._requested[path] = requested
        by_line: dict[int, list[dict[str, Any]]] = {}
        numbered: list[dict[str, Any]] = [
            {**each, "point": point_of(self._collected, path, each).number}
            for each in requested
            if "collect" in each
        ]
        for point in self._left([*numbered, *self._at.get(path, ())]):
            by_line.setdefault(point["line"], []).append(point)
        for line in by_line.keys() - self._stopping(path):
            first, *others = by_line[line]
            yield {**first, "others": others} if others else first

    def note_complete(self, number: int) -> bool:
        """Record that a point has all its rows; return whether there are log points of it to remove now.

        False also the second time, and if the adapter's log points cannot be removed while it runs.
        """
        if number in self._over or not self._known.removes:
            return False
        self._over.add(number)
        return bool(self.files(number)) or any(each["point"] == number for each in self._named)

    def files(self, number: int) -> list[str]:
        """Return the files in which a point, by its number, has log points."""
        at = (
            path for path, each in self._at.items() if any(one["point"] == number for one in each)
        )
        path = self._collected.points[number].path
        return [*([path] if path in self._requested else ()), *at]

    def completed_breakpoints(self, path: str) -> list[RequestedBreakpoint]:
        """Return those breakpoints of a file that collect, and whose point has all its rows already."""
        collecting_here = [each for each in self.requested(path) if "collect" in each]
        return [
            each
            for each in collecting_here
            if point_of(self._collected, path, each).number in self._over
        ]

    async def log_at_functions(self) -> None:
        """Send function breakpoints with log messages, if the adapter's definition says that it has such."""
        if self._known.functions:
            await self._stops_at.log(self._left(self._named))

    def _left(self, points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return those of these log points whose point still wants rows."""
        return [each for each in points if each["point"] not in self._over]

    async def find(
        self, functions: Sequence[RequestedFunction]
    ) -> tuple[list[Breakpoint], set[str]]:
        """Find where functions begin, for log points there.

        Return each one's state, and the files that change. The states are DAP breakpoints in the order of `functions`: verified, or with
        a message that says why not. Where the adapter logs at functions by itself, the function breakpoints are sent here, and the states
        are pending. The caller sends the breakpoints of the files.
        """
        if self._known.functions:
            self._named = [{"name": each["name"], **self._point(each)} for each in functions]
            await self.log_at_functions()
            return [Breakpoint(verified=False, reason="pending") for _ in functions], set()
        before, self._at = self._at, {}
        made = [await self._found(each) for each in functions]
        return made, {
            path for path in {*before, *self._at} if before.get(path) != self._at.get(path)
        }

    async def _found(self, requested: RequestedFunction) -> Breakpoint:
        """Find where a function begins, and add log points there to `_at`.

        Return its state as a DAP breakpoint. The places are found by a function breakpoint that is set for a moment, and are kept for the
        next time. An unverified breakpoint has a message: there is no such function, its place is not known, or a breakpoint stops there.
        """
        name = requested["name"]
        if name not in self._places:
            async with self._stops_at.trying(name) as made:
                if not made.get("verified"):
                    message = made.get("message")
                    return Breakpoint(
                        verified=False, message=f"{UNKNOWN}: {message}" if message else UNKNOWN
                    )
                places = await self._places_of(made)
            if not places:
                return Breakpoint(verified=False, message=NOWHERE)
            self._places[name] = places
        if any(line in self._stopping(path) for path, line, _ in self._places[name]):
            return Breakpoint(verified=False, message=STOPS)
        point = self._point(requested)
        for path, line, column in self._places[name]:
            place = {"line": line, "column": column} if column else {"line": line}
            self._at.setdefault(path, []).append({**place, **point})
        return Breakpoint(verified=True, line=self._places[name][0][1])

    def _stopping(self, path: str) -> set[int]:
        """Return the lines of a file on which a breakpoint stops."""
        return {each["line"] for each in self.requested(path) if "collect" not in each}

    def _point(self, requested: RequestedFunction) -> dict[str, Any]:
        """Return the keys of a log point at a function that do not depend on its place."""
        point = {
            "collect": requested["collect"],
            "point": point_at(self._collected, requested).number,
        }
        return point | ({"condition": requested["condition"]} if "condition" in requested else {})

    async def _places_of(self, made: Breakpoint) -> list[LogPlace]:
        """Return where the function of a function breakpoint begins, as path, line and column.

        It may be several. `made` is the adapter's answer on the breakpoint. Its own place counts if the definition has no command that
        lists all. Empty: the adapter tells no place.
        """
        places: list[LogPlace] = []
        if self._known.places:
            command = self._known.places.replace(NUMBER, str(made.get("id")))
            arguments: EvaluateArguments = {"expression": command, "context": "repl"}
            try:
                body = await self._request("evaluate", arguments)
                places = [*self._known.places_in(str(body.get("result") or ""))]
            except DapeerError:
                # While the program runs, some evaluate nothing.
                places = []
        path = str(made.get("source", {}).get("path") or "")
        only = [(path, made["line"], made.get("column", 0))] if path and "line" in made else []
        return places or only
