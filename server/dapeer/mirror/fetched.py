"""Keeps an adapter's answers about a stopped program with their stop. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dapeer.dap.bodies import ScopesResponseBody, StackTraceResponseBody, VariablesResponseBody
from dapeer.dap.messages import Body
from dapeer.dap.shapes import EventHandler, ResponseHandler
from dapeer.dap.types import StackFrame, Variable
from dapeer.mirror.breakpoint_status import Placed
from dapeer.mirror.frames import Frames
from dapeer.mirror.stops.stops import Stop
from dapeer.mirror.suspended import Suspended


class Fetched:
    """Adds fetched facts to the current stop."""

    def __init__(self, suspended: Suspended, frames: Frames, placed: Placed) -> None:
        self._suspended = suspended
        self._frames = frames
        self._placed = placed
        self.on_event: Mapping[str, EventHandler] = {
            "memory": self._written,
            "invalidated": self._written,
        }
        """The handlers of events."""
        self.on_response: Mapping[str, ResponseHandler] = {
            "stackTrace": self._stack_trace,
            "scopes": self._scopes,
            "variables": self._variables,
            "setVariable": self._variable_set,
            "setExpression": self._variable_set,
            "evaluate": self._variable_set,  # an expression may call anything
            "writeMemory": self._variable_set,
            "exceptionInfo": self._exception_info,
        }
        """What takes in each response."""

    def _stack_trace(self, arguments: Body, body: StackTraceResponseBody) -> None:
        stop = self._suspended.stop_of(arguments.get("threadId", -1))
        if stop is None:
            return
        frames = body.get("stackFrames", [])
        start, levels = _part(arguments, len(frames))
        known = stop.frames.setdefault(arguments["threadId"], [])
        whole = not levels or len(frames) < levels
        if start <= len(known):
            known[start : start + len(frames)] = frames
        elif whole and arguments["threadId"] == stop.thread_id:
            stop.outer = frames
        if not start and frames and arguments["threadId"] == stop.thread_id:
            self._placed.passed(frames[0])
        total = body.get("totalFrames")
        if isinstance(total, int) and total >= len(known):
            stop.total_frames[arguments["threadId"]] = total
        elif whole and start <= len(known):
            stop.total_frames[arguments["threadId"]] = len(known)
        if arguments["threadId"] == stop.thread_id and known:
            self._place(stop, known)

    def _place(self, stop: Stop, frames: Sequence[StackFrame]) -> None:
        """Say which frame is looked at first, now that some are known."""
        if stop.reason.endswith("breakpoint"):
            stop.raised = self._frames.reason(frames[0])
        stop.outermost = self._frames.outermost([*frames, *stop.outer])
        # Data are often written by a library for the user's code.
        if not stop.planned or stop.reason == "data breakpoint":
            users = self._frames.foremost(frames)
            stop.front = frames.index(users) if users else None

    def _scopes(self, arguments: Body, body: ScopesResponseBody) -> None:
        stop = self._suspended.stop
        if stop is not None:
            stop.take_scopes(arguments["frameId"], body.get("scopes", []))

    def _variables(self, arguments: Body, body: VariablesResponseBody) -> None:
        stop = self._suspended.stop
        if stop is not None:
            variables = body.get("variables", [])
            stop.take_variables(arguments, variables)
            for each in variables:
                _keep_size(stop, each)

    def _variable_set(self, arguments: Body, body: Body) -> None:
        # An evaluation for the clipboard or a hover without a frame changes nothing.
        looks = arguments.get("context") == "hover" or (
            arguments.get("context") == "clipboard" and "frameId" not in arguments
        )
        if not looks:
            self._written(body, arguments)
        elif (stop := self._suspended.stop) is not None:
            _keep_size(stop, body)

    def _written(self, body: Body, arguments: Body | None = None) -> None:
        """A write may change any other variable, so all are fetched again."""
        stop = self._suspended.stop
        if stop is not None:
            stop.take_written(arguments or {}, body)
            _keep_size(stop, body)
            stop.outdated = set(stop.variables)
            stop.parts.forget()

    def _exception_info(self, arguments: Body, body: Body) -> None:
        stop = self._suspended.stop_of(arguments.get("threadId", -1))
        if stop is not None:
            stop.exception = body


def _part(arguments: Body, count: int) -> tuple[int, int]:
    """Return from which frame on how many are told; some adapters tell all, whatever is asked."""
    start, levels = (int(arguments.get(each) or 0) for each in ("startFrame", "levels"))
    return (0, 0) if 0 < levels < count else (start, levels)


def _keep_size(stop: Stop, described: Variable | Body) -> None:
    """Keep how many elements a variable, or the value of an expression, has."""
    number = described.get("indexedVariables")
    if isinstance(number, int) and number > 0:
        stop.elements[described.get("variablesReference", 0)] = number
