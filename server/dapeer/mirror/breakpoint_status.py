"""The breakpoints that one adapter has got, and their states. Pure."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from dapeer.base.json_types import as_array, as_object
from dapeer.dap.bodies import BreakpointEventBody, SetBreakpointsResponseBody
from dapeer.dap.messages import Body, uncoloured
from dapeer.dap.requested_breakpoints import RequestedBreakpoint, last_part, title_of
from dapeer.dap.shapes import ResponseHandler
from dapeer.dap.types import Breakpoint, DataBreakpoint, InstructionBreakpoint, StackFrame

LOG_POINT = "dapeerLogPoint"
"""Marks output of a log point; `source` and `line` are its requested location."""
TRACED = "dapeerTraced"
"""Reports what was `made` of the `breakpoints` of a `source`, or of `functions`, that collect."""
SET_LINES = "setBreakpoints"
MAX_SHARING_BREAKPOINTS = 100
"""Breakpoints that may share one number."""


class _At(NamedTuple):
    """One of the breakpoints that were sent."""

    path: str
    """Empty: it is on no line."""
    pairs: list[tuple[Any, Breakpoint]]
    place: int

    @property
    def made(self) -> Breakpoint:
        """Its state."""
        return self.pairs[self.place][1]


@dataclass(slots=True)
class Placed:
    """Each breakpoint that was sent, with the adapter's answer. `Mirror` feeds it."""

    lines: dict[str, list[tuple[RequestedBreakpoint, Breakpoint]]] = field(
        default_factory=dict[str, list[tuple[RequestedBreakpoint, Breakpoint]]]
    )
    """By source path."""
    collecting: dict[str, list[tuple[RequestedBreakpoint, Breakpoint]]] = field(
        default_factory=dict[str, list[tuple[RequestedBreakpoint, Breakpoint]]]
    )
    """By source path, those that no adapter has: the program collects there by itself."""
    collecting_at: dict[str, Breakpoint] = field(default_factory=dict[str, Breakpoint])
    """By title the functions at which the program collects by itself."""
    functions: list[tuple[str, Breakpoint]] = field(default_factory=list[tuple[str, Breakpoint]])
    data: list[tuple[DataBreakpoint, Breakpoint]] = field(
        default_factory=list[tuple[DataBreakpoint, Breakpoint]]
    )
    names: dict[str, str] = field(default_factory=dict[str, str])
    """Callers' names of the data, by `dataId`; the protocol has no field for it."""
    instructions: list[tuple[InstructionBreakpoint, Breakpoint]] = field(
        default_factory=list[tuple[InstructionBreakpoint, Breakpoint]]
    )

    reached: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Requested path and line of those at which the program was seen."""
    functions_reached: set[str] = field(default_factory=set[str])
    """Functions of stops, by the last parts of their names; whole names of those with a breakpoint hit."""

    unanswered: dict[str, str] = field(default_factory=dict[str, str])
    """By source path: why the last request has no response."""

    named: dict[str, str] = field(default_factory=dict[str, str])
    """By source path what is known of the name that the program has of the file."""

    news: int = 0
    """Counts the messages that may have changed the state of a breakpoint."""

    _numbers: dict[int, list[_At]] | None = None
    """By the adapter's number, where the breakpoints are that have it; None: to be found out."""

    @property
    def on_response(self) -> Mapping[str, ResponseHandler]:
        """What takes in each response."""
        return {
            SET_LINES: self._set_lines,
            "setFunctionBreakpoints": self._set_functions,
            "setDataBreakpoints": self._set_data,
            "setInstructionBreakpoints": self._set_instructions,
        }

    def name_data(self, data_id: str, name: str) -> None:
        """Take note of the name by which a caller knows the data of a breakpoint."""
        self.names[data_id] = name

    def name_file(self, path: str, told: str) -> None:
        """Take note of what is known of the program's name of a file."""
        self.news += 1
        self.named[path] = told

    def take_request(self, command: str, arguments: Body) -> None:
        """Apply a request, which may set breakpoints."""
        if command == SET_LINES:
            self.news += 1
            self.unanswered[_path(arguments)] = f"has not answered `{command}`"

    def refused(self, command: str, arguments: Body, why: str) -> None:
        """Record that the adapter has rejected a request, with its error."""
        if command == SET_LINES and arguments:
            self.news += 1
            self.unanswered[_path(arguments)] = f"refused: {why}"

    def changed(self, body: BreakpointEventBody) -> None:
        """Apply a `breakpoint` event."""
        self.news += 1
        changed = _plain(body["breakpoint"]) if "breakpoint" in body else Breakpoint(verified=False)
        number = changed.get("id")
        if number is None:
            return
        if body.get("reason") == "removed":
            changed = Breakpoint(id=number, verified=False, message="removed by the adapter")
        # js-debug gives one the number of another in another file.
        found = (
            each
            for each in self._numbered(number)
            if not each.path or _may_be_in(changed, each.path)
        )
        for _, group in itertools.groupby(found, lambda each: id(each.pairs)):
            same = [*group]
            # js-debug gives a new one the number of another; their lines still differ.
            there = [each for each in same if each.made.get("line") == changed.get("line")]
            for each in there or same:
                each.pairs[each.place] = each.pairs[each.place][0], _merged(each.made, changed)

    def _numbered(self, number: int) -> Sequence[_At]:
        """Return where the breakpoints are that the adapter gave a number; events may tell of thousands."""
        if self._numbers is None:
            self._numbers = {}
            others = ("", self.functions), ("", self.data), ("", self.instructions)
            for path, pairs in [*self.lines.items(), *others]:
                for index, (_, made) in enumerate(pairs):
                    same = self._numbers.setdefault(made.get("id", 0), [])
                    if len(same) < MAX_SHARING_BREAKPOINTS:
                        same.append(_At(path, pairs, index))
        return self._numbers.get(number, ())

    def traced(self, body: Body) -> None:
        """Take in where in a file, or at which functions, the program collects by itself."""
        self.news += 1
        if "functions" in body:
            titles = map(title_of, body["functions"])
            self.collecting_at = dict(zip(titles, body.get("made") or (), strict=False))
            return
        pairs = zip(body.get("breakpoints") or (), body.get("made") or (), strict=False)
        self.collecting[_path(body)] = list(pairs)

    def at(
        self, path: str, *, collecting: bool = False
    ) -> list[tuple[RequestedBreakpoint, Breakpoint]]:
        """Return those on lines of a file; what is `collecting` by itself first, or last."""
        every = [[*self.lines.get(path, ())], [*self.collecting.get(path, ())]]
        return [pair for each in (reversed(every) if collecting else every) for pair in each]

    def on(self, path: str, line: int, *, collecting: bool = False) -> Breakpoint | None:
        """Return the first of `at` that was asked for on a line; None if there is none."""
        every = [self.lines.get(path, ()), self.collecting.get(path, ())]
        for pairs in reversed(every) if collecting else every:
            # They are mostly in order, and may be many.
            near = bisect_left(pairs, line, key=_line)
            found = next((pair for pair in pairs[near : near + 1] if _line(pair) == line), None)
            found = found or next((pair for pair in pairs if _line(pair) == line), None)
            if found is not None:
                return found[1]
        return None

    def hit(self, numbers: Sequence[int]) -> None:
        """Record the ids of the breakpoints of a stop."""
        for number in numbers:
            at = self._numbered(number)
            self.functions_reached |= {
                each.pairs[each.place][0] for each in at if each.pairs is self.functions
            }
            found = [each for each in at if each.path]
            # js-debug reuses the number of another breakpoint; the location identifies it.
            if len(found) == 1:
                only = found[0]
                self.reached.add((only.path, only.pairs[only.place][0]["line"]))

    def stops(self, body: Body) -> bool:
        """Whether a stop, by its event's body, is at a breakpoint that was set to stop."""
        hit = {*as_array(body.get("hitBreakpointIds"))}
        lines = (
            made for pairs in self.lines.values() for sent, made in pairs if "collect" not in sent
        )
        return any(
            made.get("id") in hit for made in [*lines, *(made for _, made in self.functions)]
        )

    def passed(self, frame: StackFrame) -> None:
        """Record a location at which the program has stopped, for any reason.

        Files are compared by their names: adapters follow links, and a wrong "not hit" would mislead.
        """
        self.functions_reached.add(last_part(frame["name"]))
        self._verify_reached()
        line = frame["line"]
        name = str(frame.get("source", {}).get("path") or "").rpartition("/")[2]
        for known, pairs in self.lines.items():
            if known.rpartition("/")[2] == name:
                at = (
                    sent["line"] for sent, made in pairs if line in (sent["line"], made.get("line"))
                )
                self.reached.update((known, each) for each in at)

    def reaches_function(self, name: str) -> bool:
        """Whether the program was seen at a function, whose breakpoint may be named otherwise than its frame."""
        return bool({name, last_part(name)} & self.functions_reached)

    def log_point(self, body: Body) -> tuple[str, int] | None:
        """Return path and line, as requested, of the log point that output comes from; None: of none."""
        path = _path(body)
        if body.get(LOG_POINT):
            return path, body["line"]
        return next(
            (
                (path, sent["line"])
                for sent, made in self.lines.get(path, ())
                if "logMessage" in sent and body.get("line") in {sent["line"], made.get("line")}
            ),
            None,
        )

    def _set_lines(self, arguments: Body, body: SetBreakpointsResponseBody) -> None:
        self.news += 1
        self._numbers = None
        path = _path(arguments)
        self.unanswered.pop(path, None)
        known, paired = self.lines.get(path, []), _paired(arguments, body)
        # js-debug has a client ask twice at a start, and answers the second time with an empty list.
        silent = as_array(arguments.get("breakpoints"))[len(paired) :]
        self.lines[path] = [*paired, *(pair for pair in known if pair[0] in silent)]

    def _set_functions(self, arguments: Body, body: SetBreakpointsResponseBody) -> None:
        self.news += 1
        self._numbers = None
        self.functions = [
            (str(requested["name"]), made) for requested, made in _paired(arguments, body)
        ]
        self._verify_reached()

    def _verify_reached(self) -> None:
        """Call the breakpoints verified that were pending until the program was at their functions."""
        for index, (name, made) in enumerate(self.functions):
            if made.get("reason") == "pending" and self.reaches_function(name):
                kept: Body = {k: v for k, v in made.items() if k not in {"reason", "message"}}
                self.functions[index] = name, cast("Breakpoint", {**kept, "verified": True})

    def _set_data(self, arguments: Body, body: SetBreakpointsResponseBody) -> None:
        self._numbers = None
        self.data = _paired(arguments, body)

    def _set_instructions(self, arguments: Body, body: SetBreakpointsResponseBody) -> None:
        self._numbers = None
        self.instructions = _paired(arguments, body)


def _may_be_in(made: Breakpoint, path: str) -> bool:
    """Whether a breakpoint may be in a file; names are compared, since adapters follow links."""
    placed = str(made.get("source", {}).get("path") or path)
    return placed.rpartition("/")[2] == path.rpartition("/")[2]


def _line(pair: tuple[RequestedBreakpoint, Breakpoint]) -> int:
    return pair[0]["line"]


def _path(arguments: Body) -> str:
    return str(as_object(arguments.get("source")).get("path"))


def _merged(known: Breakpoint, changed: Breakpoint) -> Breakpoint:
    """Return the current state, without the reason why it was not verified before."""
    over = {"message", "reason"} if changed.get("verified") else set[str]()
    kept = {key: value for key, value in known.items() if key not in over}
    new = {key: value for key, value in changed.items() if key in Breakpoint.__annotations__}
    return cast("Breakpoint", {**kept, **new})


def _paired(arguments: Body, body: SetBreakpointsResponseBody) -> list[tuple[Any, Breakpoint]]:
    requested = as_array(arguments.get("breakpoints"))
    return list(zip(requested, map(_plain, body.get("breakpoints", ())), strict=False))


def _plain(made: Breakpoint) -> Breakpoint:
    """Return a breakpoint's state, its reason without colours, and its line where there can be one."""
    if made.get("line", 1) < 1:
        # debugpy's, for an empty line above the first statement of a file.
        made = made.copy()
        del made["line"]
    return {**made, "message": uncoloured(made["message"])} if "message" in made else made
