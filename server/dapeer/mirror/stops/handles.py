"""The ids of frames and variables that callers see: handles, counted over a session's stops. Pure.

Adapters number frames and variables anew at each stop, some from 1 again. So that an id of an earlier stop can never be
mistaken for one of a later stop, callers get handles instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dapeer.base.errors import ArgumentError, StaleReference

HANDLES_PER_STOP = 100_000
"""Ids that callers may be given at one stop."""

Kind = Literal["frame_id", "variables_reference"]
Target = tuple[Kind, int, int | None]
"""The target of a handle: the adapter's id, and the frame of a scope."""


@dataclass(slots=True)
class HandleNumbers:
    """Gives the numbers of a session's handles, none twice."""

    given: int = 0
    """The last number that was given."""

    def another(self) -> int:
        """Return the next number, which no handle of the session has had."""
        self.given += 1
        return self.given


@dataclass(slots=True)
class Handles:
    """The handles of one stop: `handle_for` gives them, and `resolve` takes them back."""

    numbers: HandleNumbers = field(default_factory=HandleNumbers)
    """Of the session's handles."""
    given_before: int = 0
    """The last handle that was given at the stops before."""
    _handles: dict[Target, int] = field(default_factory=dict[Target, int])
    _targets: dict[int, Target] = field(default_factory=dict[int, Target])

    def handle_for(self, kind: Kind, adapters_id: int, frame_id: int | None = None) -> int:
        """Return the handle of a frame or a container of variables at this stop, a new one at the first call.

        `kind` says which of the two `adapters_id` is; `frame_id` is the adapter's id of the frame, given for a scope only.

        Raises:
            ArgumentError: The stop has `HANDLES_PER_STOP` handles already.
        """
        key = (kind, adapters_id, frame_id)
        if key not in self._handles:
            if len(self._handles) + 1 >= HANDLES_PER_STOP:
                raise ArgumentError("Too many ids at one stop.", "Go on to the next stop.")
            self._handles[key] = handle = self.numbers.another()
            self._targets[handle] = key
        return self._handles[key]

    def resolve(self, kind: Kind, handle: int) -> int:
        """Return the adapter's id behind a handle of this stop; `kind` says what the handle has to be of.

        Raises:
            StaleReference: The handle belongs to an earlier stop.
            ArgumentError: There is no handle of this kind and number.
        """
        if 0 < handle <= self.given_before:
            raise StaleReference(
                f"{kind} {handle} belongs to an earlier stop; the program has run since.",
                "Ids live for one stop only: take a new one from dap_stacktrace, dap_scopes or dap_variables.",
            )
        found = self._targets.get(handle)
        if found is None or found[0] != kind:
            raise ArgumentError(
                f"There is no {kind} {handle} at this stop.",
                "Take one from dap_stacktrace, dap_scopes or dap_variables, or name a variable by `path`.",
            )
        return found[1]

    def frame_of_scope(self, handle: int) -> int | None:
        """Return the adapter's id of the frame whose scope the handle stands for; None if it is no scope's."""
        found = self._targets.get(handle)
        return found[2] if found else None

    def forget(self) -> None:
        """Drop all handles of the stop, once the program has resumed; none resolves any more."""
        self._handles.clear()
        self._targets.clear()
