"""A stop of a program, readable also after the program has resumed or ended."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from dapeer.base.text.fitting import fitted
from dapeer.dap.messages import Body
from dapeer.dap.types import Scope, StackFrame, Variable
from dapeer.mirror.stops.handles import Handles
from dapeer.mirror.stops.unfolding import FIRST_MEMBERS, Unfolding

KEPT_FRAMES = 20
KEPT_VARIABLES = 1000
KEPT_VALUE = 400
"""Characters of a value that outlive their stop."""
_REWRITTEN = "@py_"
"""Prefix of the names that pytest gives to the parts of an assertion."""
_PLANNED = frozenset({
    "breakpoint", "data breakpoint", "entry", "function breakpoint", "goto", "instruction breakpoint",
    "step",
})  # fmt: skip
"""Reasons of stops at a requested location."""
_SHOWN = frozenset({"arguments", "locals", "returnValue"})
"""Hints of adapters at scopes of which a person looks at all variables."""
_MODULE = "Module"
"""How js-debug names the scope of an ES module, which it calls expensive."""


WrittenValues = dict[tuple[int, str], tuple[str, Variable]]
_WRITTEN = ("value", "type", "variablesReference")  # from the response to `setVariable`


@dataclass(slots=True)
class Stop:
    """One suspension of the debuggee: the adapter's event, and what was fetched while it lasted."""

    number: int
    """The epoch: counts stops of the session from 1."""
    body: Body
    """Body of the `stopped` event."""
    thread_id: int
    output_start: int
    """Cursor of the first output shown with this stop: that since the previous one, if not shown yet."""
    left_at: int = 0
    """Cursor at which the previous stop's output ended."""
    output_shown: int | None = None
    """Cursor up to which that output was shown."""
    output_flows: bool = False
    """Whether more of that output is arriving, as far as known."""
    frames: dict[int, list[StackFrame]] = field(default_factory=dict[int, list[StackFrame]])
    """Frames by thread id, the innermost first."""
    raised: str = ""
    """Why it really stopped, where the adapter speaks of a breakpoint."""
    signal: str = ""
    """Name of the program's signal, if the adapter does not report it."""
    withheld: str = ""
    """Why the adapter has no locals for the frame to look at first."""
    front: int | None = 0
    """Number of the frame to look at first; None: the user's own is not among those that are known."""
    outer: list[StackFrame] = field(default_factory=list[StackFrame])
    """The outermost frames of the thread that stopped, where those before them are not fetched."""
    outermost: StackFrame | None = None
    """The outermost frame of the user's own code that is known of the thread that stopped."""
    left_out: str = ""
    """A note on how many frames of that thread its adapter leaves out, and why; empty if none are known."""
    total_frames: dict[int, int] = field(default_factory=dict[int, int])
    """How many frames a thread has, where the adapter said."""
    scopes: dict[int, list[Scope]] = field(default_factory=dict[int, list[Scope]])
    """Scopes by frame id."""
    variables: dict[int, list[Variable]] = field(default_factory=dict[int, list[Variable]])
    """Children by variablesReference."""
    set_aside: list[Variable] | None = None
    """The locals of the first frame to look at, where the adapter now uses their reference for another."""
    parts: Unfolding = field(default_factory=Unfolding)
    """The first members of folded values."""
    elements: dict[int, int] = field(default_factory=dict[int, int])
    """Containers' numbers of elements (DAP: `indexedVariables`), by variablesReference, where known."""
    lazy: set[int] = field(default_factory=set[int])
    """References of lazy variables: a request for their children computes them, as a getter does."""
    outdated: set[int] = field(default_factory=set[int])
    """Of these containers the children may have changed since they were fetched."""
    written: WrittenValues = field(default_factory=WrittenValues)
    """By variablesReference and name, the variables that were set: the value before, and the variable now."""
    exception: Body | None = None
    """Body of the `exceptionInfo` response."""
    source: tuple[int, list[str]] | None = None
    """The lines around the place as they were then: number of the first, and their text."""
    outdated_source: str = ""
    """A note if the file has changed since the program loaded it."""
    left_by: str = ""
    """The name of the client that has resumed the program; empty if unknown."""
    folded: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    """The locals that were expanded, by name: how many containers, and the adapter's own value."""
    left_with: str = ""
    """The request that resumed its thread; `continue` if it was another thread's, empty if unknown."""
    settled: bool = False
    """Whether the program has resumed, and the locals are those kept for history."""
    handles: Handles = field(default_factory=Handles)
    """The ids that callers see of its frames and containers of variables."""

    @property
    def reason(self) -> str:
        """Why the program stopped; free text of the adapter."""
        return self.raised or str(self.body.get("reason") or "unknown")

    @property
    def all_threads(self) -> bool:
        """Whether every thread stopped, not only `thread_id`."""
        return bool(self.body.get("allThreadsStopped"))

    @property
    def planned(self) -> bool:
        """Whether the program has stopped at a requested location."""
        return self.reason in _PLANNED

    @property
    def top(self) -> StackFrame | None:
        """The frame to look at first, of the thread that stopped.

        That is the innermost; at an unplanned stop, or where data was written, the innermost of the user's code.
        """
        frames = self.frames.get(self.thread_id)
        return frames[self.front or 0] if frames else None

    def frame(self, frame_id: int | None) -> StackFrame | None:
        """Return a frame by its id; None if it is not known."""
        known = itertools.chain(*self.frames.values(), self.outer)
        return next((each for each in known if each["id"] == frame_id), None)

    def local_scopes(self, frame_id: int) -> list[Scope]:
        """Return the scopes of a frame whose variables are shown."""
        known = self.scopes.get(frame_id, ())
        # In JavaScript the variables of a module are those of its statements outside of functions.
        outermost = not any(scope["name"].startswith("Local") for scope in known)
        scopes = [
            scope
            for scope in known
            if (outermost and scope["name"] == _MODULE)
            or not (scope.get("expensive") or scope.get("presentationHint") == "registers")
        ]
        if hinted := [
            scope
            for scope in scopes
            if scope.get("presentationHint") in _SHOWN or scope["name"] == _MODULE
        ]:
            return hinted
        named = [s for s in scopes if s["name"].lower().startswith(("local", "arg"))]
        # GDB has no scope of locals where a function has none.
        return named or [s for s in scopes if not s["name"].lower().startswith("global")][:1]

    def take_scopes(self, frame_id: int, scopes: list[Scope]) -> None:
        """Apply the scopes of a frame.

        lldb-dap gives the scopes of all frames the same references, which then stand for the frame
        that was asked for last: what is known of another frame by them is not true any more.
        """
        references = {scope["variablesReference"] for scope in scopes}
        for other, known in list(self.scopes.items()):
            if other != frame_id and any(s["variablesReference"] in references for s in known):
                if self.top is not None and other == self.top["id"]:
                    self.set_aside = self.locals()
                del self.scopes[other]
                for reference in references:
                    self.variables.pop(reference, None)
        self.scopes[frame_id] = scopes

    def locals(self, frame_id: int | None = None) -> list[Variable]:
        """Return the local variables and arguments of a frame, default `top`, as far as fetched."""
        top = self.top
        if frame_id is None:
            if top is None:
                return []
            if self.set_aside is not None and top["id"] not in self.scopes:
                return self.set_aside
            frame_id = top["id"]
        return [
            variable
            for scope in self.local_scopes(frame_id)
            for variable in self.variables.get(scope["variablesReference"], ())
            if not variable["name"].startswith(_REWRITTEN)
        ]

    def take_variables(self, arguments: Body, variables: list[Variable]) -> None:
        """Keep a variable's children, if they are all of a container: a page of a long one is its caller's."""
        reference = arguments["variablesReference"]
        if self.written:
            variables = [self._as_written(reference, each) for each in variables]
        self.lazy |= {
            each["variablesReference"]
            for each in variables
            if each.get("presentationHint", {}).get("lazy")
        }
        if not arguments.keys() & {"filter", "start", "count"}:
            self.variables[reference] = variables
            self.outdated.discard(reference)
        elif arguments.get("start") == 0:
            self.parts.take(reference, variables, int(arguments.get("count") or FIRST_MEMBERS))

    def take_written(self, arguments: Body, body: Body) -> None:
        """Keep a variable's new value: some adapters report the old one until the program resumes."""
        key = arguments.get("variablesReference", 0), str(arguments.get("name"))
        for variable in self.variables.get(key[0], ()):
            if variable["name"] == key[1] and "value" in body:
                before = self.written.get(key, (variable["value"],))[0]
                now = {**variable, **{each: body[each] for each in _WRITTEN if each in body}}
                self.written[key] = before, cast("Variable", now)

    def _as_written(self, reference: int, variable: Variable) -> Variable:
        was, now = self.written.get((reference, variable["name"]), ("", variable))
        return now if variable["value"] == was else variable

    def shown(self, variable: Variable) -> str:
        """Return a variable's value; if the adapter folds it, with its first elements as far as fetched."""
        # Most have nothing to unfold.
        return self.parts.shown(variable) if variable["variablesReference"] else variable["value"]

    def brief(self, variable: Variable) -> str:
        """Return a variable's value as history shows it."""
        if variable["variablesReference"]:
            return self.parts.brief(variable, KEPT_VALUE)
        return fitted(variable["value"], KEPT_VALUE)

    def arguments(self) -> set[str]:
        """Return the names of the innermost frame's arguments, if the adapter marks them."""
        top = self.top
        scopes = self.local_scopes(top["id"]) if top else []
        of_scopes = {
            variable["name"]
            for scope in scopes
            if scope.get("presentationHint") == "arguments" or scope["name"].startswith("Arg")
            for variable in self.variables.get(scope["variablesReference"], ())
        }
        hinted = (
            v for v in self.locals() if v.get("presentationHint", {}).get("kind") == "argument"
        )
        return of_scopes | {variable["name"] for variable in hinted}

    def settle(self) -> None:
        """Keep only what history shows, once the program has resumed."""
        opened = self.locals() if self.parts else ()
        self.folded = {v["name"]: self.depth_and_value(v) for v in opened if self.parts.opened(v)}
        self.settled = True
        self.frames = {
            t: frames[: (self.front or 0) + KEPT_FRAMES]
            for t, frames in self.frames.items()
            if t == self.thread_id
        }
        self.outer = []
        top = self.top
        kept = self.local_scopes(top["id"]) if top else []
        self.scopes = {top["id"]: kept} if top and kept else {}
        references = {scope["variablesReference"] for scope in kept}
        self.variables = {
            r: self.kept(self.variables[r]) for r in references if r in self.variables
        }
        self.set_aside = self.kept(self.set_aside) if self.set_aside and not kept else None
        self.parts.forget()
        self.handles.forget()

    def depth_and_value(self, variable: Variable) -> tuple[int, str]:
        """Return how far a local is expanded, and what the adapter says of it."""
        if self.settled:
            return self.folded.get(variable["name"], (0, variable["value"]))
        return self.parts.opened(variable), fitted(variable["value"], KEPT_VALUE)

    def compared(self) -> dict[str, tuple[str, tuple[int, str]]]:
        """Return the locals that history shows, by name: each as it is shown, and its `depth_and_value`."""
        told: dict[str, tuple[str, tuple[int, str]]] = {}
        for each in self.locals()[:KEPT_VARIABLES]:
            said = self.depth_and_value(each)
            opened = said[0] > 0 and not self.settled
            value = each["value"] if self.settled else said[1]
            told[each["name"]] = self.brief(each) if opened else value, said
        return told

    def kept(self, variables: Sequence[Variable]) -> list[Variable]:
        """Return the part of variables that history shows."""
        return [
            Variable(name=v["name"], value=self.brief(v), variablesReference=0)
            for v in variables[:KEPT_VARIABLES]
        ]
