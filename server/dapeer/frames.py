"""Whose code a stack frame runs: the user's own, or that of a runtime or a library. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dapeer.dap.types import StackFrame

_ASIDE = frozenset({"subtle", "label", "deemphasize"})
"""Hints of adapters that a person would rather not look at a frame, or at a source."""
_WITHOUT_SOURCE = "code without source"
_SET_ASIDE = "a library"


@dataclass(frozen=True, slots=True)
class Foreign:
    """Frames that are not the user's, and what to call whom they belong to."""

    of: str
    """Such as `the Go runtime`."""
    path: re.Pattern[str] | None = None
    """Is found in the paths of their files."""
    function: re.Pattern[str] | None = None
    """Is found in the names of those that have no file."""

    def has(self, path: str, function: str) -> bool:
        """Whether a frame of this file (empty: none is known) and function is one of them."""
        pattern, text = (self.path, path) if path else (self.function, function)
        return pattern is not None and pattern.search(text) is not None


class Frames:
    """Tells the user's frames from others: by what the definition of an adapter says, and by the adapter's hints.

    A file in the project is judged by its path there, so a project may itself be one that others
    have as a library.
    """

    def __init__(self, foreign: Iterable[Foreign] = (), project: Path | None = None) -> None:
        self._foreign = tuple(foreign)
        self._project = f"{project}".rstrip(os.sep) + os.sep if project is not None else ""

    def owner(self, frame: StackFrame) -> str:
        """Return whom a frame belongs to, such as `the Go runtime`; empty: the user."""
        source = frame.get("source", {})
        path = str(source.get("path") or source.get("name") or "")
        for foreign in self._foreign:
            if foreign.has(self._inside(path), frame["name"]):
                return foreign.of
        if not path and not source.get("sourceReference"):
            return _WITHOUT_SOURCE
        hints = {frame.get("presentationHint"), source.get("presentationHint")}
        return _SET_ASIDE if hints & _ASIDE else ""

    def _inside(self, path: str) -> str:
        """Return the path of a file of the project as if the project were all there is."""
        known = self._project and path.startswith(self._project)
        return path[len(self._project) - 1 :] if known else path

    def is_users(self, frame: StackFrame) -> bool:
        """Whether a frame runs the user's own code."""
        return not self.owner(frame)

    def foremost(self, frames: Sequence[StackFrame]) -> StackFrame | None:
        """Return the innermost frame of the user's own code, None where there is none."""
        return next(filter(self.is_users, frames), None)
