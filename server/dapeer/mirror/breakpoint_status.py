"""The breakpoints that one adapter has got, and their states. Pure."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from dapeer.base.json_types import as_array, as_object
from dapeer.dap.decoding import ResponseHandler
from dapeer.dap.messages import Body, uncoloured
from dapeer.dap.requested_breakpoints import (
    Place,
    RequestedBreakpoint,
    Spot,
    last_part,
    spot_of,
    title_of,
)
from dapeer.dap.types import (
    Breakpoint,
    BreakpointEventBody,
    DataBreakpoint,
    InstructionBreakpoint,
    SetBreakpointsResponseBody,
    StackFrame,
)

LOG_POINT = "dapeerLogPoint"
"""Marks output of a log point; `source` and `line` are its requested location."""
FILE_NAMED = "dapeerFileNamed"
"""The event that tells what the program calls a file with breakpoints."""
TRACED = "dapeerTraced"
"""Reports what was `made` of the `breakpoints` of a `source`, or of `functions`, that collect."""
SET_LINES = "setBreakpoints"
MAX_SHARING_BREAKPOINTS = 100
"""Breakpoints that may share one number."""


class _SentBreakpoint(NamedTuple):
    """One of the breakpoints that were sent."""

    path: str
    """Empty: it is on no line."""
    pairs: list[tuple[Any, Breakpoint]]
    place: int

    @property
    def adapter_state(self) -> Breakpoint:
        """Its state: the adapter's latest `Breakpoint` of it."""
        return self.pairs[self.place][1]


@dataclass(slots=True)
class BreakpointStatuses:
    """Each breakpoint that was sent, with the adapter's answer. `Mirror` feeds it."""

    lines: dict[str, list[tuple[RequestedBreakpoint, Breakpoint]]] = field(
        default_factory=dict[str, list[tuple[RequestedBreakpoint, Breakpoint]]]
    )
    """By source path."""
    collecting_lines: dict[str, list[tuple[RequestedBreakpoint, Breakpoint]]] = field(
        default_factory=dict[str, list[tuple[RequestedBreakpoint, Breakpoint]]]
    )
    """By source path, those that no adapter has: the program collects there by itself."""
    collecting_functions: dict[str, Breakpoint] = field(default_factory=dict[str, Breakpoint])
    """By title the functions at which the program collects by itself."""
    functions: list[tuple[str, Breakpoint]] = field(default_factory=list[tuple[str, Breakpoint]])
    data: list[tuple[DataBreakpoint, Breakpoint]] = field(
        default_factory=list[tuple[DataBreakpoint, Breakpoint]]
    )
    data_names: dict[str, str] = field(default_factory=dict[str, str])
    """Callers' names of the data, by `dataId`; the protocol has no field for it."""
    instructions: list[tuple[InstructionBreakpoint, Breakpoint]] = field(
        default_factory=list[tuple[InstructionBreakpoint, Breakpoint]]
    )

    reached_places: set[Place] = field(default_factory=set[Place])
    """Requested places of those at which the program was seen."""
    functions_reached: set[str] = field(default_factory=set[str])
    """Functions of stops, by the last parts of their names; whole names of those with a breakpoint hit."""

    failed_requests: dict[str, str] = field(default_factory=dict[str, str])
    """By source path: why the last request has no response."""

    file_name_notes: dict[str, str] = field(default_factory=dict[str, str])
    """By source path what is known of the name that the program has of the file."""

    change_count: int = 0
    """Counts the messages that may have changed the state of a breakpoint."""

    _numbers: dict[int, list[_SentBreakpoint]] | None = None
    """By the adapter's number, where the breakpoints are that have it; None: to be found out."""

    @property
    def response_handlers(self) -> Mapping[str, ResponseHandler]:
        """Return the handlers of successful responses to requests that set breakpoints, by command.

        The commands are those for lines, functions, data and instructions, not for exceptions. The mirror calls each
        handler with the request's arguments and the response's body, and passes failed responses to `record_refusal`.
        """
        return {
            SET_LINES: self._set_lines,
            "setFunctionBreakpoints": self._set_functions,
            "setDataBreakpoints": self._set_data,
            "setInstructionBreakpoints": self._set_instructions,
        }

    def name_data(self, data_id: str, name: str) -> None:
        """Keep the name by which a caller knows the data of a data breakpoint, by its `dataId`."""
        self.data_names[data_id] = name

    def name_file(self, path: str, note: str) -> None:
        """Keep in `file_name_notes` a clause (`note`) on the program's own name of a source file."""
        self.change_count += 1
        self.file_name_notes[path] = note

    def apply_file_name_event(self, body: Body) -> None:
        """Apply the event that tells the program's name of a file."""
        self.name_file(str(body.get("path")), f"the program has the file as {body.get('name')}")

    def apply_request(self, command: str, arguments: Body) -> None:
        """Mark a file's breakpoints as unanswered when a `setBreakpoints` request is sent.

        Other commands change nothing. `arguments` are the request's; the mark in `failed_requests` lasts until the response.
        """
        if command == SET_LINES:
            self.change_count += 1
            self.failed_requests[_path(arguments)] = f"has not answered `{command}`"

    def record_refusal(self, command: str, arguments: Body, why: str) -> None:
        """Keep in `failed_requests` why the adapter has rejected a `setBreakpoints` request (`why`).

        Other commands change nothing.
        """
        if command == SET_LINES and arguments:
            self.change_count += 1
            self.failed_requests[_path(arguments)] = f"refused: {why}"

    def apply_breakpoint_event(self, body: BreakpointEventBody) -> None:
        """Merge a `breakpoint` event into the state of the breakpoints that have its number (`id`).

        `body` is the event's. An event without a number, or with one that no breakpoint has, changes no state;
        `change_count` grows in any case. A removed breakpoint stays, not verified, with a message on this. A breakpoint
        that becomes verified loses its old message. Since js-debug may give several breakpoints one number, only those
        in a file of the same name as the event's are changed (all, if the event names no file), and in each file only
        those that the adapter has placed on the event's line, if there are any. Breakpoints that are in no file are
        changed too.
        """
        self.change_count += 1
        named = _plain(body["breakpoint"]) if "breakpoint" in body else Breakpoint(verified=False)
        number = named.get("id")
        if number is None:
            return
        changed = named
        if body.get("reason") == "removed":
            changed = Breakpoint(id=number, verified=False, message="removed by the adapter")
        # js-debug gives one the number of another in another file.
        found = (
            each
            for each in self._breakpoints_with_id(number)
            if not each.path or _may_be_in(named, each.path)
        )
        for _, group in itertools.groupby(found, lambda each: id(each.pairs)):
            same = [*group]
            # js-debug gives a new one the number of another; their lines still differ.
            there = [each for each in same if each.adapter_state.get("line") == named.get("line")]
            for each in there or same:
                each.pairs[each.place] = (
                    each.pairs[each.place][0],
                    _merged(each.adapter_state, changed),
                )

    def _breakpoints_with_id(self, number: int) -> Sequence[_SentBreakpoint]:
        """Return the breakpoints to which the adapter has given the number `number`; empty if none has it.

        The table behind the result is built at the first call after a
        change of the breakpoints, since there may be thousands of events. At most `MAX_SHARING_BREAKPOINTS` per number are
        kept.
        """
        if self._numbers is None:
            self._numbers = {}
            others = ("", self.functions), ("", self.data), ("", self.instructions)
            for path, pairs in [*self.lines.items(), *others]:
                for index, (_, made) in enumerate(pairs):
                    if "id" not in made:
                        continue
                    same = self._numbers.setdefault(made["id"], [])
                    if len(same) < MAX_SHARING_BREAKPOINTS:
                        same.append(_SentBreakpoint(path, pairs, index))
        return self._numbers.get(number, ())

    def record_tracing(self, body: Body) -> None:
        """Record where the program collects by itself, without a breakpoint of the adapter.

        `body` has either `functions` (`RequestedFunction`s), or `breakpoints` and their `source`, and in `made` the
        states of these in the same order; one without a state is left out. The states replace those that were recorded
        for all functions, or for that file; without `made` none remain. `change_count` is increased.
        """
        self.change_count += 1
        if "functions" in body:
            titles = map(title_of, body["functions"])
            self.collecting_functions = dict(zip(titles, body.get("made") or (), strict=False))
            return
        pairs = zip(body.get("breakpoints") or (), body.get("made") or (), strict=False)
        self.collecting_lines[_path(body)] = list(pairs)

    def breakpoints_in(
        self, path: str, *, collecting: bool = False
    ) -> list[tuple[RequestedBreakpoint, Breakpoint]]:
        """Return the breakpoints on lines of a file, each as sent and with its state; empty if there are none.

        Those of the adapter come first, then those at which the program collects by itself; with `collecting` the other way round.
        """
        every = [[*self.lines.get(path, ())], [*self.collecting_lines.get(path, ())]]
        return [pair for each in (reversed(every) if collecting else every) for pair in each]

    def state_at(self, path: str, spot: Spot, *, collecting: bool = False) -> Breakpoint | None:
        """Return the state of the first breakpoint that was requested at a place of a file, or None.

        Breakpoints of the adapter come before those at which the program collects by itself; with `collecting` these
        come first, and the adapter's after them. `spot` is line and column, the column 0 for a breakpoint without
        one, such as a sign of Neovim's. If none of the same kind was requested exactly there, a breakpoint without a
        column counts for every column of its line, if it is the only one of its kind on the line; so it comes before
        an exact one of the other kind. The reverse does not hold: for column 0, a breakpoint with a column gives
        None. None: no such breakpoint was answered yet.
        """
        line, _ = spot
        every = [self.lines.get(path, ()), self.collecting_lines.get(path, ())]
        for pairs in reversed(every) if collecting else every:
            # They are mostly in order, and may be many.
            near = bisect_left(pairs, line, key=_line)
            following = (pairs[number] for number in range(near, len(pairs)))
            here = [*itertools.takewhile(lambda pair: _line(pair) == line, following)]
            here = here or [pair for pair in pairs if _line(pair) == line]
            found = next((made for sent, made in here if spot_of(sent) == spot), None)
            if found is not None:
                return found
            if len(here) == 1 and "column" not in here[0][0]:
                return here[0][1]
        return None

    def record_hits(self, numbers: Sequence[int]) -> None:
        """Record as reached the breakpoints whose numbers a `stopped` event lists in `hitBreakpointIds`.

        The names of function breakpoints get into `functions_reached`. The place of a line breakpoint gets into
        `reached_places` only if no other line breakpoint has the same number. Other kinds of breakpoints, and numbers
        that none has, are ignored.
        """
        for number in numbers:
            at = self._breakpoints_with_id(number)
            self.functions_reached |= {
                each.pairs[each.place][0] for each in at if each.pairs is self.functions
            }
            found = [each for each in at if each.path]
            # js-debug reuses the number of another breakpoint; the location identifies it.
            if len(found) == 1:
                only = found[0]
                self.reached_places.add((only.path, *spot_of(only.pairs[only.place][0])))

    def is_breakpoint_stop(self, body: Body) -> bool:
        """Return whether a `stopped` event is of a function breakpoint, or of a line's that does not collect.

        `body` is the event's. Only its `hitBreakpointIds` decide: without them, or if no such breakpoint was sent with
        one of these ids, the result is False.
        """
        hit = {*as_array(body.get("hitBreakpointIds"))}
        lines = (
            made for pairs in self.lines.values() for sent, made in pairs if "collect" not in sent
        )
        return any(
            made.get("id") in hit for made in [*lines, *(made for _, made in self.functions)]
        )

    def record_frame(self, frame: StackFrame) -> None:
        """Record a frame in which the program has stopped, for any reason, as a reached line and function.

        `reached_places` gets the breakpoints on its line, but for those whose columns differ, and
        `functions_reached` the last part of its name; pending function breakpoints may become verified. Files
        are compared by their names: adapters follow links, and a wrong "not hit" would mislead.
        """
        self.functions_reached.add(last_part(frame["name"]))
        self._verify_reached()
        line = frame["line"]
        name = str(frame.get("source", {}).get("path") or "").rpartition("/")[2]
        for known, pairs in self.lines.items():
            if known.rpartition("/")[2] == name:
                self.reached_places.update(
                    (known, *spot_of(sent))
                    for sent, made in pairs
                    if line in (sent["line"], made.get("line")) and _may_be_at(sent, made, frame)
                )

    def reaches_function(self, name: str) -> bool:
        """Return whether the program was seen at a function, by its whole name or the last part of it."""
        return bool({name, last_part(name)} & self.functions_reached)

    def log_point(self, body: Body) -> Place | None:
        """Return the place of the log point that an output event is of; None: it is of no log point.

        `body` is the event's. If it has `LOG_POINT`, the place is its own path (the text `None` if it has none), line
        and column. Else the output is of a log point if its `source` is a file with a breakpoint that has a
        `logMessage`, and its `line` (without one it is of none) is that breakpoint's, as requested or as the adapter
        has set it; columns do not matter. Then the place is path, line and column as requested for the first such breakpoint.
        """
        path = _path(body)
        if body.get(LOG_POINT):
            return (path, *spot_of(body))
        line = body.get("line")
        if line is None:
            return None
        return next(
            (
                (path, *spot_of(sent))
                for sent, made in self.lines.get(path, ())
                if "logMessage" in sent and line in {sent["line"], made.get("line")}
            ),
            None,
        )

    def _set_lines(self, arguments: Body, body: SetBreakpointsResponseBody) -> None:
        """Replace the breakpoints of a file by those of a `setBreakpoints` request, with their states.

        `arguments` are the request's, `body` is the response's. The file is no longer in `failed_requests`, and
        `change_count` grows. js-debug has a client ask twice at a start and answers the second time with an empty
        list: breakpoints without an answer keep the state that they had; without one, they are left out.
        """
        self.change_count += 1
        self._numbers = None
        path = _path(arguments)
        self.failed_requests.pop(path, None)
        known, paired = self.lines.get(path, []), _paired(arguments, body)
        # js-debug has a client ask twice at a start, and answers the second time with an empty list.
        silent = as_array(arguments.get("breakpoints"))[len(paired) :]
        self.lines[path] = [*paired, *(pair for pair in known if pair[0] in silent)]

    def _set_functions(self, arguments: Body, body: SetBreakpointsResponseBody) -> None:
        """Replace the function breakpoints by those of a `setFunctionBreakpoints` request, with their states.

        `arguments` are the request's, `body` is that of its response. `functions` becomes a list of pairs of a
        name and its state, in the order of the request; breakpoints for which the response has no state are left
        out. Pending ones whose function the program was seen at become verified. `change_count` grows by one.
        """
        self.change_count += 1
        self._numbers = None
        self.functions = [
            (str(requested["name"]), made) for requested, made in _paired(arguments, body)
        ]
        self._verify_reached()

    def _verify_reached(self) -> None:
        """Mark pending function breakpoints as verified whose function the program has been seen at."""
        for index, (name, made) in enumerate(self.functions):
            if made.get("reason") == "pending" and self.reaches_function(name):
                kept: Body = {k: v for k, v in made.items() if k not in {"reason", "message"}}
                self.functions[index] = name, cast("Breakpoint", {**kept, "verified": True})

    def _set_data(self, arguments: Body, body: SetBreakpointsResponseBody) -> None:
        """Replace the data breakpoints by those of a `setDataBreakpoints` request, with their states."""
        self._numbers = None
        self.data = _paired(arguments, body)

    def _set_instructions(self, arguments: Body, body: SetBreakpointsResponseBody) -> None:
        """Replace the instruction breakpoints by those of a request, with their states."""
        self._numbers = None
        self.instructions = _paired(arguments, body)


def _may_be_in(made: Breakpoint, path: str) -> bool:
    """Return whether a breakpoint's state may be of a file: it names no file, or one of the same name.

    Only the last part of the paths is compared, since adapters follow links.
    """
    placed = str(made.get("source", {}).get("path") or path)
    return placed.rpartition("/")[2] == path.rpartition("/")[2]


def _may_be_at(sent: RequestedBreakpoint, made: Breakpoint, frame: StackFrame) -> bool:
    """Return whether a frame on a breakpoint's line may be at its place; False: their columns differ."""
    at, column = made.get("column"), frame.get("column")
    return not ("column" in sent and at and column) or column in (at, sent["column"])


def _line(pair: tuple[RequestedBreakpoint, Breakpoint]) -> int:
    """Return the line that a breakpoint was requested on."""
    return pair[0]["line"]


def _path(arguments: Body) -> str:
    """Return the path of the `source` in a request's arguments or an event's body.

    Without a source or a path, the result is the text `None`.
    """
    return str(as_object(arguments.get("source")).get("path"))


def _merged(reported: Breakpoint, changed: Breakpoint) -> Breakpoint:
    """Return a breakpoint's state, updated by the fields of an event.

    Once verified, it loses the old reason.
    """
    over = {"message", "reason"} if changed.get("verified") else set[str]()
    kept = {key: value for key, value in reported.items() if key not in over}
    new = {key: value for key, value in changed.items() if key in Breakpoint.__annotations__}
    return cast("Breakpoint", {**kept, **new})


def _paired(arguments: Body, body: SetBreakpointsResponseBody) -> list[tuple[Any, Breakpoint]]:
    """Return each breakpoint of a request with its state in the response.

    Those without an answer are left out.
    """
    requested = as_array(arguments.get("breakpoints"))
    return list(zip(requested, map(_plain, body.get("breakpoints", ())), strict=False))


def _plain(made: Breakpoint) -> Breakpoint:
    """Return a breakpoint's state with a message without terminal colours, and without a line below 1."""
    if made.get("line", 1) < 1:
        # debugpy's, for an empty line above the first statement of a file.
        made = made.copy()
        del made["line"]
    return {**made, "message": uncoloured(made["message"])} if "message" in made else made
