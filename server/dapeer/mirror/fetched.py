"""Keeps an adapter's answers about a stopped program with their stop. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from dapeer.dap.bodies import ScopesResponseBody, StackTraceResponseBody, VariablesResponseBody
from dapeer.dap.messages import Body
from dapeer.dap.shapes import EventHandler, ResponseHandler
from dapeer.mirror.breakpoint_status import Placed
from dapeer.mirror.frames import Frames
from dapeer.mirror.threads import Suspended


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
        """Add the frames of a `stackTrace` response to the stop that holds its thread; ignore it if none does.

        If they are of the thread that stopped, the stop's first frame to look at is found anew; a new innermost frame marks
        breakpoints on its line as reached.
        """
        stop = self._suspended.stop_of(arguments.get("threadId", -1))
        if stop is None:
            return
        known = stop.stack.take(arguments, body)
        if known:
            frames = body.get("stackFrames", [])
            if frames and known[0] is frames[0]:
                self._placed.record_frame(known[0])
            stop.place(self._frames)

    def _scopes(self, arguments: Body, body: ScopesResponseBody) -> None:
        """Add the scopes of a `scopes` response to the current stop, by the `frameId` that was asked for."""
        stop = self._suspended.stop
        if stop is not None:
            scopes = body.get("scopes", [])
            stop.values.take_scopes(arguments["frameId"], scopes, stop.top_id)

    def _variables(self, arguments: Body, body: VariablesResponseBody) -> None:
        """Add the children of a `variables` response to the current stop."""
        stop = self._suspended.stop
        if stop is not None:
            stop.values.take(arguments, body.get("variables", []))

    def _variable_set(self, arguments: Body, body: Body) -> None:
        """Apply the response of a request that writes or evaluates: all variables known may be outdated.

        An evaluation for a hover, or for the clipboard without a frame, changes nothing: only the number of its value's elements is kept.
        """
        # An evaluation for the clipboard or a hover without a frame changes nothing.
        looks = arguments.get("context") == "hover" or (
            arguments.get("context") == "clipboard" and "frameId" not in arguments
        )
        if not looks:
            self._written(body, arguments)
        elif (stop := self._suspended.stop) is not None:
            stop.values.take_size(body)

    def _written(self, body: Body, arguments: Body | None = None) -> None:
        """Mark all variables of the current stop as outdated, since a write may change any of them.

        `body` and `arguments` are of a response, or `body` of a `memory` or `invalidated` event; a new value in them is kept.
        """
        stop = self._suspended.stop
        if stop is not None:
            stop.values.apply_write(arguments or {}, body)

    def _exception_info(self, arguments: Body, body: Body) -> None:
        """Set the exception of the stop that holds the thread, unless it is known from the program itself."""
        stop = self._suspended.stop_of(arguments.get("threadId", -1))
        # What the program itself says of it is more.
        if stop is not None and stop.exception is None:
            stop.take_exception(body)
