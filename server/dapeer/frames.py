"""Whose code a stack frame runs: the user's own, or that of a runtime or a library. Pure."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

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
    """Is found in their names."""

    def has(self, path: str, function: str) -> bool:
        """Whether a frame of this file (empty: none is known) and function is one of them."""
        if self.path is not None and self.path.search(path):
            return True
        return self.function is not None and self.function.search(function) is not None


class Raised(NamedTuple):
    """A breakpoint by which an adapter stops at exceptions, and does not say so."""

    reason: str
    """What such a stop is told as: `panic`."""
    function: re.Pattern[str]
    """Is found in the name of the innermost function."""


class Run(NamedTuple):
    """Frames that lie side by side on a stack: one of the user's, or all up to the user's next."""

    owners: tuple[str, ...]
    """Whom they belong to; empty: the user."""
    frames: Sequence[StackFrame]

    def of(self) -> str:
        """Return what they are, such as `3 frames of the Go runtime`."""
        known = [each for each in self.owners if each != _WITHOUT_SOURCE] or list(self.owners)
        whose = " and ".join(filter(None, (", ".join(known[:-1]), known[-1])))
        return f"{len(self.frames)} frame{'' if len(self.frames) == 1 else 's'} of {whose}"


@dataclass(frozen=True, slots=True)
class Frames:
    """Tells the user's frames from others: by what the definition of an adapter says, and by the adapter's hints.

    A file in the project is judged by its path there, so a project may itself be one that others
    have as a library.
    """

    foreign: tuple[Foreign, ...] = ()
    project: Path | None = None
    raised: tuple[Raised, ...] = ()

    def reason(self, innermost: StackFrame) -> str:
        """Return why a program has really stopped at a breakpoint in a frame, empty: it is just that."""
        reasons = (each.reason for each in self.raised if each.function.search(innermost["name"]))
        return next(reasons, "")

    def owner(self, frame: StackFrame) -> str:
        """Return whom a frame belongs to, such as `the Go runtime`; empty: the user."""
        source = frame.get("source", {})
        path = str(source.get("path") or source.get("name") or "")
        for foreign in self.foreign:
            if foreign.has(self._inside(path), frame["name"]):
                return foreign.of
        if not path and not source.get("sourceReference"):
            return _WITHOUT_SOURCE
        hints = {frame.get("presentationHint"), source.get("presentationHint")}
        return _SET_ASIDE if hints & _ASIDE else ""

    def is_librarys(self, path: str) -> bool:
        """Whether a file lies where the definition has the files of a runtime or a library."""
        return any(each.path is not None and each.path.search(path) for each in self.foreign)

    def _inside(self, path: str) -> str:
        """Return the path of a file of the project as if the project were all there is."""
        folder = f"{self.project or ''}".rstrip(os.sep)
        return path[len(folder) :] if path.startswith(folder + os.sep) else path

    def is_users(self, frame: StackFrame) -> bool:
        """Whether a frame runs the user's own code."""
        return not self.owner(frame)

    def foremost(self, frames: Sequence[StackFrame]) -> StackFrame | None:
        """Return the innermost frame of the user's own code, None where there is none."""
        return next(filter(self.is_users, frames), None)

    def runs(self, frames: Iterable[StackFrame]) -> Iterator[Run]:
        """Yield the frames of a stack, those of others together."""
        for users, group in itertools.groupby(frames, self.is_users):
            side_by_side = list(group)
            if users:
                yield from (Run((), [frame]) for frame in side_by_side)
            else:
                yield Run(tuple(dict.fromkeys(map(self.owner, side_by_side))), side_by_side)
