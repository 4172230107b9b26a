"""The breakpoints that one adapter has got, and their states. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from dapeer.base.json_types import as_array, as_object
from dapeer.dap.bodies import BreakpointEventBody, SetBreakpointsResponseBody
from dapeer.dap.messages import Body, uncoloured
from dapeer.dap.shapes import ResponseHandler
from dapeer.dap.types import Breakpoint, DataBreakpoint, InstructionBreakpoint, StackFrame
from dapeer.dap.wanted import WantedBreakpoint, title_of

LOG_POINT = "dapeerLogPoint"
"""Marks output of a log point; `source` and `line` are its requested location."""
TRACED = "dapeerTraced"
"""Tells what became of the breakpoints of a file (`source`) at which the program collects by itself: `breakpoints`, or of its `functions`, and for each what was `made`."""
SET_LINES = "setBreakpoints"


@dataclass(slots=True)
class Awaited:
    """The breakpoints that a caller awaits of one program; its first session has them."""

    places: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Path and line of those that were set for this program."""
    kept_from: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Path and line of those that this program did not get; the caller knows why."""
    told: set[tuple[str, str, int]] = field(default_factory=set[tuple[str, str, int]])
    """States that the caller knows already: state, path and line."""
    told_by: object = None
    """What is known of breakpoints and their states, as it was when the caller was told last."""


@dataclass(slots=True)
class Placed:
    """Each breakpoint that was sent, with the adapter's answer. `Mirror` feeds it."""

    lines: dict[str, list[tuple[WantedBreakpoint, Breakpoint]]] = field(
        default_factory=dict[str, list[tuple[WantedBreakpoint, Breakpoint]]]
    )
    """By source path."""
    collecting: dict[str, list[tuple[WantedBreakpoint, Breakpoint]]] = field(
        default_factory=dict[str, list[tuple[WantedBreakpoint, Breakpoint]]]
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

    unanswered: dict[str, str] = field(default_factory=dict[str, str])
    """By source path: why the last request has no response."""

    news: int = 0
    """Counts the messages that may have changed the state of a breakpoint."""

    @property
    def on_response(self) -> Mapping[str, ResponseHandler]:
        """What takes in each response."""
        return {
            SET_LINES: self._set_lines,
            "setFunctionBreakpoints": self._set_functions,
            "setDataBreakpoints": self._set_data,
            "setInstructionBreakpoints": self._set_instructions,
        }

    def asked(self, command: str, arguments: Body) -> None:
        """Apply a request, which may set breakpoints."""
        if command == SET_LINES:
            self.news += 1
            self.unanswered[_path(arguments)] = f"has not answered `{command}`"

    def refused(self, command: str, asked: Body, why: str) -> None:
        """Record that the adapter has rejected a request, with its error."""
        if command == SET_LINES and asked:
            self.news += 1
            self.unanswered[_path(asked)] = f"refused: {why}"

    def changed(self, body: BreakpointEventBody) -> None:
        """Apply a `breakpoint` event."""
        self.news += 1
        changed = _plain(body["breakpoint"]) if "breakpoint" in body else Breakpoint(verified=False)
        number = changed.get("id")
        if number is None:
            return
        if body.get("reason") == "removed":
            changed = Breakpoint(id=number, verified=False, message="removed by the adapter")
        every: list[list[tuple[Any, Breakpoint]]] = [
            # js-debug gives one the number of another in another file.
            *(pairs for path, pairs in self.lines.items() if _may_be_in(changed, path)),
            self.functions,
            self.data,
            self.instructions,
        ]
        for pairs in every:
            found = [index for index, (_, known) in enumerate(pairs) if known.get("id") == number]
            # js-debug gives a new one the number of another; their lines still differ.
            there = [i for i in found if pairs[i][1].get("line") == changed.get("line")]
            for index in there or found:
                wanted, known = pairs[index]
                pairs[index] = wanted, _merged(known, changed)

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
    ) -> list[tuple[WantedBreakpoint, Breakpoint]]:
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
        pairs = self.lines.items() if numbers else ()
        every = [(path, *pair) for path, known in pairs for pair in known]
        for number in numbers:
            found = [
                (path, asked["line"]) for path, asked, made in every if made.get("id") == number
            ]
            # js-debug reuses the number of another breakpoint; the location identifies it.
            if len(found) == 1:
                self.reached.add(found[0])

    def stops(self, body: Body) -> bool:
        """Whether a stop, by its event's body, is at a breakpoint that was set to stop."""
        hit = {*as_array(body.get("hitBreakpointIds"))}
        lines = (
            made for pairs in self.lines.values() for asked, made in pairs if "collect" not in asked
        )
        return any(
            made.get("id") in hit for made in [*lines, *(made for _, made in self.functions)]
        )

    def passed(self, frame: StackFrame) -> None:
        """Record a location at which the program has stopped, for any reason.

        Files are compared by their names: adapters follow links, and a wrong "not hit" would mislead.
        """
        line = frame["line"]
        name = str(frame.get("source", {}).get("path") or "").rpartition("/")[2]
        for known, pairs in self.lines.items():
            if known.rpartition("/")[2] == name:
                at = (
                    asked["line"]
                    for asked, made in pairs
                    if line in (asked["line"], made.get("line"))
                )
                self.reached.update((known, each) for each in at)

    def log_point(self, body: Body) -> tuple[str, int] | None:
        """Return path and line, as they were asked for, of the log point that output comes from; None: of none."""
        path = _path(body)
        if body.get(LOG_POINT):
            return path, body["line"]
        return next(
            (
                (path, asked["line"])
                for asked, made in self.lines.get(path, ())
                if "logMessage" in asked and body.get("line") in {asked["line"], made.get("line")}
            ),
            None,
        )

    def _set_lines(self, asked: Body, body: SetBreakpointsResponseBody) -> None:
        self.news += 1
        path = _path(asked)
        self.unanswered.pop(path, None)
        self.lines[path] = _paired(asked, body)

    def _set_functions(self, asked: Body, body: SetBreakpointsResponseBody) -> None:
        self.news += 1
        self.functions = [(str(wanted["name"]), made) for wanted, made in _paired(asked, body)]

    def _set_data(self, asked: Body, body: SetBreakpointsResponseBody) -> None:
        self.data = _paired(asked, body)

    def _set_instructions(self, asked: Body, body: SetBreakpointsResponseBody) -> None:
        self.instructions = _paired(asked, body)


def _may_be_in(made: Breakpoint, path: str) -> bool:
    """Whether a breakpoint may be in a file; files are compared by their names, since adapters follow links."""
    told = str(made.get("source", {}).get("path") or path)
    return told.rpartition("/")[2] == path.rpartition("/")[2]


def _line(pair: tuple[WantedBreakpoint, Breakpoint]) -> int:
    return pair[0]["line"]


def _path(asked: Body) -> str:
    return str(as_object(asked.get("source")).get("path"))


def _merged(known: Breakpoint, changed: Breakpoint) -> Breakpoint:
    """Return the current state, without the reason why it was not verified before."""
    over = {"message", "reason"} if changed.get("verified") else set[str]()
    kept = {key: value for key, value in known.items() if key not in over}
    new = {key: value for key, value in changed.items() if key in Breakpoint.__annotations__}
    return cast("Breakpoint", {**kept, **new})


def _paired(asked: Body, body: SetBreakpointsResponseBody) -> list[tuple[Any, Breakpoint]]:
    wanted = as_array(asked.get("breakpoints"))
    return list(zip(wanted, map(_plain, body.get("breakpoints", ())), strict=False))


def _plain(made: Breakpoint) -> Breakpoint:
    """Return the state of a breakpoint with its reason, without colours."""
    return {**made, "message": uncoloured(made["message"])} if "message" in made else made
