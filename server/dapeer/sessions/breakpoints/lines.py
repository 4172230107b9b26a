"""A session's breakpoints on lines: those that stop or log, and those at which it collects.

Rows come by a tracer in the program, or by log points, as definition and adapter allow.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import anyio

from dapeer.adapters.definition.sections import Collect
from dapeer.base.errors import DapeerError, RequestFailed, RequestTimeout
from dapeer.base.system.tasks import BackgroundTask
from dapeer.collecting.points import ensure_function_point, ensure_line_point
from dapeer.collecting.rows.collected import OF_LIVES, REMOVED, Collected, Point
from dapeer.dap.messages import Body, Event, Message
from dapeer.dap.requested_breakpoints import (
    RequestedBreakpoint,
    RequestedFunction,
    Spot,
    spot_of,
)
from dapeer.dap.requests import OPTIONS
from dapeer.dap.sent_requests import EvaluateArguments, SendRequest, SetBreakpointsArguments
from dapeer.dap.types import Breakpoint
from dapeer.mirror.breakpoint_status import TRACED
from dapeer.mirror.places import SPEC, parse_object_value
from dapeer.sessions.breakpoints.stops_at import FunctionsAndFilters
from dapeer.sessions.traits import Traits

# The log points by which a program collects: on lines, and where functions begin.

NUMBER = "${number}"
"""Stands in the definition's command for the number of a breakpoint."""
UNKNOWN = "no function of this name is loaded"
NOWHERE = "the adapter does not tell where it is: collect on a line of it"
STOPS = "the adapter cannot collect where a breakpoint stops"

LogPlace = tuple[str, int, int]
"""Path, line and column; column 0: it is not told."""


class CollectingLogPoints:
    """Makes the log points by which a program records values, where it cannot do so by itself.

    It knows which log points stand for what is collected in each file; nothing is sent but for functions.
    """

    def __init__(
        self,
        collected: Collected,
        stops_at: FunctionsAndFilters,
        request: SendRequest,
        collect_definition: Collect,
        *,
        columns: bool,
    ) -> None:
        """Keep the tools for one session's log points.

        `collect_definition` is the `[collect]` table of the adapter's definition. `columns`: the adapter tells places of a line apart.
        """
        self.columns = columns
        """The adapter tells places of a line apart."""
        self._collect_definition = collect_definition
        self._collected = collected
        self._stops_at = stops_at
        self._request = request
        self._requested: dict[str, Sequence[RequestedBreakpoint]] = {}
        """By path the breakpoints of a file, as they were wanted last."""
        self._places: dict[str, list[LogPlace]] = {}
        """By name where a function begins; it may have several forms."""
        self._full_points: set[int] = set()
        """The numbers of the points that have all their rows."""
        self._function_points: dict[str, list[dict[str, Any]]] = {}
        """By path the log points where functions begin."""
        self._named_points: list[dict[str, Any]] = []
        """The log points at functions that have no place."""

    def requested(self, path: str) -> Sequence[RequestedBreakpoint]:
        """Return the breakpoints of a file that `log_points_of` was given last; empty: none yet."""
        return self._requested.get(path, ())

    def log_points_of(
        self, path: str, requested: Sequence[RequestedBreakpoint]
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the log points to send for a file's breakpoints that collect; record `requested` first.

        Nothing is recorded before the first item is taken. `requested` are all breakpoints of the file `path`,
        which `requested()` returns afterwards; log points at functions of the file are yielded, too. Each item, in
        no order, is a DAP breakpoint with further keys: `collect` (the expressions) and `point` (the number by
        which its output is recognised); further points at the same place are a list in its `others`. Places with a
        breakpoint that stops are left out, since no adapter has two at one, and so are points that have all their
        rows.
        """
        self._requested[path] = requested
        by_spot: dict[Spot, list[dict[str, Any]]] = {}
        numbered: list[dict[str, Any]] = [
            {**each, "point": ensure_line_point(self._collected, path, each).number}
            for each in requested
            if "collect" in each
        ]
        for point in self._unfinished_points([*numbered, *self._function_points.get(path, ())]):
            by_spot.setdefault(self.adapter_spot(spot_of(point)), []).append(point)
        stopping = self._stopping(path)
        for spot in (each for each in by_spot if each not in stopping):
            first, *others = by_spot[spot]
            yield {**first, "others": others} if others else first

    def adapter_spot(self, spot: Spot) -> Spot:
        """Return the place that the adapter takes for `spot`: one without a column, unless it tells these."""
        return spot if self.columns else (spot[0], 0)

    def note_complete(self, number: int) -> bool:
        """Record that a point has all its rows; return whether it has log points to remove now.

        A point is a place that collects, named here by its `number`. True only at the first call for a point, and
        if it has log points in a file or at functions. False, with nothing recorded, where the adapter's log
        points cannot be removed while the program runs.

        Raises:
            KeyError: No point has this number; the number is recorded nevertheless.
        """
        if number in self._full_points or not self._collect_definition.removes:
            return False
        self._full_points.add(number)
        return bool(self.files_of_point(number)) or any(
            each["point"] == number for each in self._named_points
        )

    def files_of_point(self, number: int) -> list[str]:
        """Return the files in which a point that collects has log points.

        `number` is the point's number. The files are that of the point's line, if `log_points_of` was given the
        breakpoints of that file, and those in which the point's functions begin. The list is empty if there is
        none.

        Raises:
            KeyError: No point has this number.
        """
        at = (
            path
            for path, each in self._function_points.items()
            if any(one["point"] == number for one in each)
        )
        path = self._collected.points[number].path
        return [*([path] if path in self._requested else ()), *at]

    def completed_breakpoints(self, path: str) -> list[RequestedBreakpoint]:
        """Return those breakpoints of a file that collect, and have recorded as often as they are to.

        They are among those that `log_points_of` got last for the file `path`. Empty: none is known to be
        complete (by `note_complete`), which is always so where the adapter's log points cannot be removed while
        the program runs.
        """
        collecting_here = [each for each in self.requested(path) if "collect" in each]
        return [
            each
            for each in collecting_here
            if ensure_line_point(self._collected, path, each).number in self._full_points
        ]

    async def log_at_functions(self) -> None:
        """Send function breakpoints with log messages, if the adapter's definition says that it has such."""
        if self._collect_definition.functions:
            await self._stops_at.set_function_log_points(
                self._unfinished_points(self._named_points)
            )

    def _unfinished_points(self, points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return those of these log points whose point still wants rows."""
        return [each for each in points if each["point"] not in self._full_points]

    async def find_functions(
        self, functions: Sequence[RequestedFunction]
    ) -> tuple[list[Breakpoint], set[str]]:
        """Find where functions begin, and replace the log points at functions by ones there.

        Return each function's state, and the paths of the files whose log points change; the caller sends the breakpoints
        of these files. `functions` are all that are wanted: log points at others are dropped. The states are DAP
        breakpoints in the order of `functions`: verified, or with a message that says why not. A function that is not
        known yet is found by a function breakpoint that is set for a moment, at which a program may stop if its adapter
        has no conditions. Where the adapter logs at functions by itself, the function breakpoints are sent here, the
        states are pending (not verified, without a message), and no file changes.

        Raises:
            DapeerError: The adapter rejects a request, or does not answer; where functions are looked up, the earlier
                log points stay.
        """
        if self._collect_definition.functions:
            self._named_points = [{"name": each["name"], **self._point(each)} for each in functions]
            await self.log_at_functions()
            return [Breakpoint(verified=False, reason="pending") for _ in functions], set()
        before, self._function_points = self._function_points, {}
        try:
            made = [await self._add_function_points(each) for each in functions]
        except BaseException:
            self._function_points = before
            raise
        return made, {
            path
            for path in {*before, *self._function_points}
            if before.get(path) != self._function_points.get(path)
        }

    async def _add_function_points(self, requested: RequestedFunction) -> Breakpoint:
        """Find where a function begins, and add log points there to `_function_points`.

        `requested` has the function's `name`, what to `collect`, and perhaps a `condition`. Sending the log
        points is left to the caller. Return the state of `requested` as a DAP breakpoint, with the line of the
        first place. The places are found by a function breakpoint that is set for a moment, at which a program
        may stop if its adapter has no conditions; they are kept for the next time. An unverified breakpoint has a
        message, and adds nothing: there is no such function, its place is not known, or a breakpoint stops there.

        Raises:
            DapeerError: The adapter rejects a request, or does not answer.
        """
        name = requested["name"]
        if name not in self._places:
            async with self._stops_at.temporary_breakpoint(name) as made:
                if not made.get("verified"):
                    message = made.get("message")
                    return Breakpoint(
                        verified=False, message=f"{UNKNOWN}: {message}" if message else UNKNOWN
                    )
                places = await self._places_of(made)
            if not places:
                return Breakpoint(verified=False, message=NOWHERE)
            self._places[name] = places
        stops = (self._stopping(path) for path, *_ in self._places[name])
        at = (self.adapter_spot((line, column)) for _, line, column in self._places[name])
        if any(spot in stopping for spot, stopping in zip(at, stops, strict=True)):
            return Breakpoint(verified=False, message=STOPS)
        point = self._point(requested)
        for path, line, column in self._places[name]:
            place = {"line": line, "column": column} if column else {"line": line}
            self._function_points.setdefault(path, []).append({**place, **point})
        return Breakpoint(verified=True, line=self._places[name][0][1])

    def _stopping(self, path: str) -> set[Spot]:
        """Return the places of a file at which a breakpoint stops."""
        stopping = (each for each in self.requested(path) if "collect" not in each)
        return {self.adapter_spot(spot_of(each)) for each in stopping}

    def _point(self, requested: RequestedFunction) -> dict[str, Any]:
        """Return the keys of a log point at a function that do not depend on its place."""
        point = {
            "collect": requested["collect"],
            "point": ensure_function_point(self._collected, requested).number,
        }
        return point | ({"condition": requested["condition"]} if "condition" in requested else {})

    async def _places_of(self, made: Breakpoint) -> list[LogPlace]:
        """Return where the function of a function breakpoint begins, as path, line and column.

        There may be several places. `made` is the adapter's answer on the breakpoint. The definition's command that
        lists all places is evaluated; without a command or a number in `made`, or if it lists none or fails, the place
        in `made` is the only one. Column 0: it is not known. Empty: the adapter tells no place.
        """
        places: list[LogPlace] = []
        if self._collect_definition.places and "id" in made:
            command = self._collect_definition.places.replace(NUMBER, str(made["id"]))
            arguments: EvaluateArguments = {"expression": command, "context": "repl"}
            try:
                body = await self._request("evaluate", arguments)
                places = [*self._collect_definition.places_in(str(body.get("result") or ""))]
            except DapeerError:
                # While the program runs, some evaluate nothing.
                places = []
        path = str(made.get("source", {}).get("path") or "")
        only = [(path, made["line"], made.get("column", 0))] if path and "line" in made else []
        return places or only


Road = Literal["tracer", "log points", ""]
MAX_REASON_CHARS = 200
"""Characters of why it does not."""
OVER = "it has all its rows"
"""The message of a breakpoint of which no more are taken."""
FAILED = "the program does not collect"


class LineBreakpoints:
    """Sets breakpoints on lines in one session, and has the program collect at those that collect.

    A breakpoint that collects records values each time the program comes by, without a stop.
    """

    functions: Sequence[RequestedFunction]
    """The functions at which the program is to collect."""

    def __init__(
        self,
        collected: Collected,
        supports: Callable[[str], bool],
        request: SendRequest,
        observe: Callable[[Message], None],
        log: CollectingLogPoints,
        traits: Traits,
        folder: Callable[[], Path] | None,
    ) -> None:
        """Keep what sends and what is sent for one session; nothing is sent yet.

        `supports` tells whether the adapter has a request or an option, `observe` applies an event to the session, and `folder` returns
        where the program's processes write rows (None: nowhere, so that only log points can collect).
        """
        self.log_points = log
        self.tracers = traits.collect.tracers
        """Expressions that have the program collect, and return the outcome; each for when one fails.

        None: it cannot.
        """
        self._collected = collected
        self._supports = supports
        self._request = request
        self._observe = observe
        self.functions = ()
        self.sees_output = not traits.is_shared
        """What the adapter says of log points passes us."""
        self._folder = folder
        self._points: dict[str, list[RequestedBreakpoint]] = {}
        self._last_spec: list[dict[str, Any]] | None = []
        """What the program was told last; None: it was told something, and that has failed."""
        self._watch_specs: dict[int, Mapping[str, Any]] = {}
        """By number of a point: what the program is to watch."""
        self._answers: Mapping[int, Mapping[str, Any]] = {}
        """By number of a point: what the program has told of it; 0: of all."""
        self._send_lock = anyio.Lock(fast_acquire=True)

    @property
    def collecting_way(self) -> Road:
        """How the program records values: "tracer" (by itself), "log points", or empty: it cannot."""
        if self.tracers and self._folder is not None:
            return "tracer"
        return "log points" if self.sees_output and self._supports("logMessage") else ""

    @property
    def traces(self) -> bool:
        """Whether the program can look at each line by itself (`collecting_way` is "tracer")."""
        return self.collecting_way == "tracer"

    async def set(self, path: str, requested: Sequence[RequestedBreakpoint]) -> None:
        """Send `setBreakpoints` with all breakpoints of a file, without options that the adapter lacks.

        `requested` are all breakpoints of the file `path`; those that collect are among them; an empty sequence
        removes all. For those that collect, the program is instructed to record values by itself ("tracer"), or log
        points are sent in the same request, or nothing (""), as `collecting_way`, the way that this session allows,
        says. The mirror gets the adapter's answer. The tools that show recorded values become listed if some collect,
        and `collecting_way` is not empty.

        Raises:
            DapeerError: The adapter rejects the request, or does not answer; or the session has ended.
        """
        sent: list[Mapping[str, Any]] = [each for each in requested if "collect" not in each]
        if self.collecting_way == "log points":
            sent += self.log_points.log_points_of(path, requested)
        arguments: SetBreakpointsArguments = {
            "source": {"path": path, "name": Path(path).name},
            "breakpoints": [
                {key: value for key, value in each.items() if self._may_send_option(key)}
                for each in sent
            ],
            "sourceModified": False,
        }
        await self._request("setBreakpoints", arguments)
        await self.collect(path, requested)

    async def collect(self, path: str, requested: Sequence[RequestedBreakpoint]) -> None:
        """Instruct the program to record values by itself at those of a file's breakpoints that collect.

        `requested` are all breakpoints of the file `path`; those that do not collect are ignored. Nothing is sent
        if `collecting_way`, the way that this session allows, is not "tracer", or if the file has no breakpoints
        that collect and had none. The tools that show rows are listed from now on, if there are such breakpoints
        and `collecting_way` is not empty. A program that fails to follow raises nothing: the mirror's breakpoints
        say so.

        Raises:
            ChannelClosed: The session ended first.
        """
        road = self.collecting_way
        points = [each for each in requested if "collect" in each]
        if points and road:
            self._list_tools()
        if road == "tracer" and (points or path in self._points):
            self._points[path] = points
            await self.send_points()

    async def collect_at(self, functions: Sequence[RequestedFunction]) -> None:
        """Have the program record values at these functions, and no others, by itself or by log points.

        An empty sequence ends the recording. Functions at which the program cannot record (`why_not_at`) are left out
        silently. An event tells the mirror what became of the others. Where log points are used, function breakpoints are
        sent (for a moment, to find where functions begin, or with log messages), and `setBreakpoints` is sent again for
        each file whose log points change. The tools that show recorded rows become listed. Nothing happens if none of the
        functions is possible and none was recorded before. A program that records by itself and fails to follow raises
        nothing: the mirror says so.

        Raises:
            ChannelClosed: The session ended first.
            DapeerError: Log points are used, and the adapter rejects a request, or does not answer.
        """
        able = [each for each in functions if not self.why_not_at(each, "")]
        if not (able or self.functions):
            return
        self._list_tools()
        self.functions = able
        if self.collecting_way == "tracer":
            await self.send_points()
            return
        made, changed = await self.log_points.find_functions(able)
        self._observe(Event(TRACED, {"functions": able, "made": made}))
        for path in changed:
            await self.set(path, self.log_points.requested(path))

    def remove_log_points(self, number: int) -> None:
        """Remove, in the background, the log points of the point `number`, which has brought all its rows.

        Nothing happens if they are gone, or the adapter's log points cannot be removed while it runs.
        """
        if self.log_points.note_complete(number):
            BackgroundTask(self._remove(number))

    async def _remove(self, number: int) -> None:
        """Send the breakpoints of a point's files without its log points, and tell the mirror by events.

        The point `number` is a place that collects, which has recorded as often as it is to. Function breakpoints
        that log are sent again, too, if the adapter has such. A `TRACED` event for each file gives the completed
        breakpoints the message `OVER`, and a `REMOVED` event names the point `number`. A `DapeerError` is not
        raised, but ends the work: files and events behind it are left out, the log point may stay, and its
        further hits are counted.

        Raises:
            KeyError: No point has this number; function breakpoints may have been sent.
        """
        # Its further hits are counted if it stays, so no caller needs to know.
        with contextlib.suppress(DapeerError):
            await self.log_points.log_at_functions()
            for path in self.log_points.files_of_point(number):
                await self.set(path, self.log_points.requested(path))
                over = self.log_points.completed_breakpoints(path)
                made = [Breakpoint(verified=True, line=each["line"], message=OVER) for each in over]
                body: Body = {"source": {"path": path}, "breakpoints": over, "made": made}
                self._observe(Event(TRACED, body))
            self._observe(Event(REMOVED, {"point": number}))

    def why_not_at(self, requested: RequestedFunction, adapter: str) -> str:
        """Return why the program cannot collect at functions, and what to do instead; empty: it can.

        That the functions exist is not checked. A program whose `collecting_way` is "tracer" can at any. `requested`
        counts by its key `calls` only: rows of calls that are over come from a tracer alone. `adapter` is the
        adapter's name, with which the text begins.
        """
        road, stops = self.collecting_way, self._supports("setFunctionBreakpoints")
        if road == "tracer":
            return ""
        if requested["calls"]:
            where = "at `function`" if stops and road else "on a line of it"
            return f"{adapter} does not tell calls: `collect` {where} tells how they begin"
        if not self.sees_output:
            return f"{adapter} cannot in a session of Neovim"
        if not road:
            instead = (
                "dap_set_function_breakpoints stops there" if stops else "stop on a line of it"
            )
            return f"{adapter} has no log points: {instead}"
        return "" if stops else f"{adapter} has no function breakpoints: collect on a line of it"

    def _list_tools(self) -> None:
        """Set the capability by which the tools that show rows are listed, unless it is set."""
        if not self._supports("collected"):
            self._observe(Event("capabilities", {"capabilities": {"dapeerCollects": True}}))

    def _may_send_option(self, option: str) -> bool:
        """Return whether a key of a breakpoint may be sent: it is no option, or one that the adapter supports."""
        return option not in OPTIONS or self._supports(option)

    def _point(self, path: str, requested: RequestedBreakpoint) -> Point:
        """Return the point of a breakpoint that collects, which is made at its first use."""
        return ensure_line_point(self._collected, path, requested)

    def _point_at(self, requested: RequestedFunction) -> Point:
        """Return the point of functions at which the program collects, which is made at its first use."""
        return ensure_function_point(self._collected, requested)

    def _life(self, requested: RequestedFunction) -> dict[str, Any]:
        """Return the key `life` of a point whose calls are recorded line by line; an empty dict for any other."""
        if "life" not in requested:
            return {}
        lines = self._collected.ensure_point(OF_LIVES, function=requested["name"])
        return {"life": {**requested["life"], "lines": lines.number}}

    async def watch(self, watched: Mapping[str, Any], frame_id: int | None) -> Mapping[str, Any]:
        """Instruct the program to evaluate one thing more at each line; return the program's answer on it.

        `watched` is what the program is told, with the point's number as `id`; `frame_id` is the adapter's id of the frame in which names
        are looked up. The answer has the keys `bound` (whether it is watched) and `message`, which says why not; both lack if the program
        gave no answer or has no folder for rows. The point stays among what is watched, also then: the caller calls `unwatch`.
        """
        number = int(watched["id"])
        self._watch_specs[number] = watched
        self._list_tools()
        await self.send_points(frame_id)
        return self._answers.get(number, self._answers.get(0, {}))

    async def unwatch(self, *points: int) -> None:
        """Instruct the program to watch the points with these numbers no more; unknown numbers are ignored."""
        if self._watch_specs.keys() & {*points}:
            self._watch_specs = {
                n: each for n, each in self._watch_specs.items() if n not in points
            }
            await self.send_points()

    async def send_points(self, frame_id: int | None = None) -> None:
        """Instruct the program to record values at exactly the points that are wanted now.

        Points are the lines and functions at which it records, and what it watches; each has a number. The
        definition's tracer expressions, which run code of dapeer in the program, are evaluated one by one until one
        succeeds, in the frame with the adapter's id `frame_id`, or in none for None. Nothing is evaluated if the
        program has no folder for rows, or if the points are those of the last evaluation, unless that failed. The
        mirror gets events with the outcome at each line and function; a failed evaluation raises nothing, and is
        the `message` of all points.

        Raises:
            ChannelClosed: The session ended first.
        """
        if self._folder is None:
            return
        async with self._send_lock:
            points = [*self._point_specs()]
            if points == self._last_spec:
                return
            spec = {"folder": str(self._folder()), "points": points}
            answer, has_failed = await self._evaluate_spec(json.dumps(spec), frame_id)
            self._apply_answers(answer)
            self._last_spec = None if has_failed else points

    async def _evaluate_spec(
        self, spec: str, frame_id: int | None
    ) -> tuple[Mapping[str, Any], bool]:
        """Evaluate the definition's tracer expressions one by one until one succeeds.

        A tracer expression has the program collect values by itself; it runs code in the program. Return the program's
        answer, a JSON object, and whether all have failed. `spec` is JSON: the folder for rows and the points.
        `frame_id` is the adapter's id of the frame; None: no frame. If all fail, time out or give no JSON object, the
        answer has only a `message` that says why the last one did.

        Raises:
            ChannelClosed: The session ended first.
        """
        why = ""
        for tracer in self.tracers:
            try:
                return await self.evaluate_object(tracer, spec, frame_id), False
            except (RequestFailed, RequestTimeout, ValueError) as error:
                why = " ".join(str(error).split())[-MAX_REASON_CHARS:]
        return {"message": f"{FAILED}: {why}"}, True

    async def evaluate_object(
        self, template: str, spec: str, frame_id: int | None
    ) -> Mapping[str, Any]:
        """Have the adapter evaluate an expression of the definition, and return the JSON object that it gives.

        `template` is the expression; each `${spec}` in it is replaced by `spec` as a string literal in double
        quotes. `frame_id` is the adapter's id of the frame in which the expression is evaluated; None: in no
        frame.

        Raises:
            RequestFailed, RequestTimeout: The evaluation failed, or the adapter did not answer in time.
            ChannelClosed: The session ended first.
            ValueError: The result is no JSON object; the message is the text of the result, or `nothing was told`
                if that is empty.
        """
        expression = template.replace(SPEC, json.dumps(spec))
        arguments: EvaluateArguments = {"expression": expression, "context": "clipboard"}
        if frame_id is not None:
            arguments["frameId"] = frame_id
        body = await self._request("evaluate", arguments)
        return parse_object_value(str(body.get("result") or ""))

    def _point_specs(self) -> Iterable[dict[str, Any]]:
        """Yield the instruction for each point: a line or function at which to record values, or a watch.

        Those on lines and at functions have the keys `id`, `collect`, `condition`, `expect`, `max_hits` and `calls`, and
        `file` and `line`, or `function` and perhaps `life`. Those that are watched are as `watch` got them. A point that is
        not among the program's yet is added.
        """
        for path, collecting_lines in self._points.items():
            for each in collecting_lines:
                point = self._point(path, each)
                yield {**_facts(point, each), "file": path, "line": each["line"]}
        for each in self.functions:
            yield {
                **_facts(self._point_at(each), each),
                "function": each["name"],
                **self._life(each),
            }
        for each in self._watch_specs.values():
            yield {**each}

    def _apply_answers(self, answer: Mapping[str, Any]) -> None:
        """Keep the program's answers on its points, and apply events that tell the mirror of each breakpoint.

        Points are the lines and functions at which the program is to record values, and what it watches. `answer`
        has a list `points`, each with `id` (the point's number), `bound` (whether the program records there),
        `line` and `message`, and perhaps a `message` for all, which stands for a missing one; as a whole it
        replaces the answers before. A `TRACED` event is applied for each file, and one for all functions if there
        are any. A breakpoint that the answer does not name becomes unverified. Nothing is sent.
        """
        whole = str(answer.get("message") or "")
        answers: dict[int, Mapping[str, Any]] = {
            int(each["id"]): {**each, "message": each.get("message") or whole}
            for each in answer.get("points") or ()
        }
        self._answers = {0: {"message": whole}, **answers}
        for path, collecting_lines in self._points.items():
            made = [
                _as_breakpoint(answers.get(self._point(path, each).number) or {}, whole)
                for each in collecting_lines
            ]
            body: Body = {"source": {"path": path}, "breakpoints": collecting_lines, "made": made}
            self._observe(Event(TRACED, body))
        if self.functions:
            made = [
                _as_breakpoint(answers.get(self._point_at(each).number) or {}, whole)
                for each in self.functions
            ]
            self._observe(Event(TRACED, {"functions": self.functions, "made": made}))


def _facts(point: Point, requested: RequestedBreakpoint | RequestedFunction) -> dict[str, Any]:
    """Return the dict by which a place that collects is described to the program, but for the place.

    Its keys are `id` (the point's number), `collect` (a list of expressions), `condition` and `expect` (an expression; None: none),
    `max_hits` (None: no limit) and `calls` (whether its rows are calls that are over, not hits).
    """
    return {
        "id": point.number,
        "collect": [*point.expressions],
        "condition": requested.get("condition"),
        "expect": requested.get("expect"),
        "max_hits": point.max_hits or None,
        "calls": point.calls,
    }


def _as_breakpoint(answer: Mapping[str, Any], common_message: str) -> Breakpoint:
    """Return the state of a place that collects as a DAP breakpoint, made of the program's answer on it.

    `answer` has the keys `bound` (it is verified), `line` and `message`; it is empty if the program did not
    name the point. `common_message` is the program's message on all points, for a point that has no message
    of its own. The result has no `line` where that is missing or 0, and no `message` where both are empty.
    """
    made = Breakpoint(verified=bool(answer.get("bound")))
    if answer.get("line"):
        made["line"] = int(answer["line"])
    if message := str(answer.get("message") or common_message):
        made["message"] = message
    return made
