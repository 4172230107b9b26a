"""Tells the frames of the user's code from those of runtimes and libraries. Pure."""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from dapeer.dap.types import StackFrame

_ASIDE = frozenset({"subtle", "deemphasize"})
"""Hints of adapters that a person would rather not look at a frame, or at a source."""
_WITHOUT_SOURCE = "code without source"
_SET_ASIDE = "a library"
_MAX_REMEMBERED_FRAMES = 200
"""Frames whose owner is remembered: a stop asks for each several times, and so does the next one."""


@dataclass(frozen=True, slots=True)
class ForeignFrames:
    """Frames outside of the user's code, with the name of their owner."""

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
    """A breakpoint by which an adapter stops at exceptions without saying so."""

    reason: str
    """The reason to report for such a stop: `panic`."""
    function: re.Pattern[str]
    """Is found in the name of the innermost function."""


class FrameRun(NamedTuple):
    """Neighbouring frames of a stack: some of the user's at one place, or all up to the user's next."""

    owners: tuple[str, ...]
    """Their owner; empty: the user."""
    frames: Sequence[StackFrame]

    @property
    def is_label(self) -> bool:
        """Whether it begins with DAP's `label`: a text that describes the frames after it."""
        return is_label(self.frames[0])

    def describe(self) -> str:
        """Return a description of frames that are not the user's, such as `3 frames of the Go runtime`."""
        known = [each for each in self.owners if each != _WITHOUT_SOURCE] or list(self.owners)
        whose = " and ".join(filter(None, (", ".join(known[:-1]), known[-1])))
        number = count(self.frames)
        return f"{number} frame{'' if number == 1 else 's'} of {whose}"


def is_label(frame: StackFrame) -> bool:
    """Whether a frame is DAP's `label`: it describes the frames after it, such as who awaits those before."""
    return frame.get("presentationHint") == "label"


def count(frames: Iterable[StackFrame]) -> int:
    """Return the number of frames, without labels."""
    return sum(not is_label(each) for each in frames)


@dataclass(frozen=True, slots=True)
class Frames:
    """Tells the user's frames from others, by the adapter's definition and its hints.

    A file in the project is judged by its path there, so a project may itself be one that others
    have as a library.
    """

    foreign: tuple[ForeignFrames, ...] = ()
    project: Path | None = None
    raised: tuple[Raised, ...] = ()
    _owner: Callable[..., str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Set up the cache of owners, by which `owner` does not search the patterns again for the same frame."""
        remembered = functools.lru_cache(_MAX_REMEMBERED_FRAMES)(self._found_owner)
        object.__setattr__(self, "_owner", remembered)

    def reason(self, innermost: StackFrame) -> str:
        """Return the real reason of a stop that its adapter reports as a breakpoint, such as `panic`.

        It is that of the first pattern in `raised` that the name of the `innermost` frame has; empty if none fits: the
        program has stopped at a breakpoint.
        """
        reasons = (each.reason for each in self.raised if each.function.search(innermost["name"]))
        return next(reasons, "")

    def owner(self, frame: StackFrame) -> str:
        """Return the owner of a frame, such as `the Go runtime` or `a library`; empty: the user.

        The patterns of the adapter's definition count before the hints that the adapter gives with the frame.
        """
        source = frame.get("source", {})
        path = str(source.get("path") or source.get("name") or "")
        sourced = bool(path or source.get("sourceReference"))
        hints = frame.get("presentationHint"), source.get("presentationHint")
        return self._owner(path, frame["name"], sourced, *hints)

    def _found_owner(self, path: str, function: str, sourced: bool, *hints: str | None) -> str:
        """Return a frame's owner from its path and function, uncached; empty: the user.

        An owner is a text such as `the Go runtime`. `path` is that of the frame's source, or its name; `function` is the
        frame's name. `sourced`: the frame has a path or a `sourceReference`. `hints`: the `presentationHint` of the frame
        and of its source. The first matching pattern of the adapter's definition decides: its `of` is the owner.
        Otherwise a frame that is not `sourced` is `code without source`, and one with the hint `subtle` or `deemphasize`
        is `a library`.
        """
        inside = self._project_relative(path)
        for foreign in self.foreign:
            if foreign.has(inside, function):
                return foreign.of
        if not sourced:
            return _WITHOUT_SOURCE
        return "" if _ASIDE.isdisjoint(hints) else _SET_ASIDE

    def is_librarys(self, path: str) -> bool:
        """Return whether a file's path fits a pattern of a runtime's or a library's files."""
        return any(each.path is not None and each.path.search(path) for each in self.foreign)

    def path_in_library(self, path: str) -> str:
        """Return a path from where a pattern of a runtime's or a library's files ends in it.

        It is the whole path if none fits.
        """
        found = (each.path.search(path) for each in self.foreign if each.path is not None)
        return next((path[each.end() :] for each in found if each), "") or path

    def _project_relative(self, path: str) -> str:
        """Return a project file's path without the project's folder, whose own name shall fit no pattern.

        Any other path comes back as it is.
        """
        folder = f"{self.project or ''}".rstrip(os.sep)
        return path[len(folder) :] if path.startswith(folder + os.sep) else path

    def is_users(self, frame: StackFrame) -> bool:
        """Whether a frame runs the user's own code."""
        return not is_label(frame) and not self.owner(frame)

    def innermost_users_frame(self, frames: Sequence[StackFrame]) -> StackFrame | None:
        """Return the innermost frame of the user's code.

        The result is None if there is none. `frames` have the innermost first.
        """
        return next(filter(self.is_users, frames), None)

    def outermost_users_frame(self, frames: Sequence[StackFrame]) -> StackFrame | None:
        """Return the outermost frame of the user's code.

        The result is None if there is none. `frames` have the innermost first.
        """
        return self.innermost_users_frame(frames[::-1])

    def runs(self, frames: Sequence[StackFrame]) -> Iterator[FrameRun]:
        """Yield the runs of a stack's frames, in their order: groups of neighbours that are shown together.

        An owner is whose code a frame runs, as a text such as `a library`; empty: the user's. Neighbours that are not
        the user's are one run, whose `owners` has each of their owners once, in order. Of the user's frames only
        neighbours with the same function, line and source, such as those of a recursion, are one run, with empty
        `owners`. A label (a frame that is only a heading) is in the run of the others' frames around it. It is a run of
        its own, with empty `owners`, if a frame of the user's is between it and the label before or behind it (or the
        stack's end), or if it is the first frame or follows a label directly.
        """
        for users, group in itertools.groupby(self._placed(frames), itemgetter(0)):
            side_by_side = list(map(itemgetter(1), group))
            if users is None:
                owners = map(self.owner, filter(lambda each: not is_label(each), side_by_side))
                yield FrameRun(tuple(dict.fromkeys(owners)), side_by_side)
            else:
                yield FrameRun((), side_by_side)

    def _placed(self, frames: Sequence[StackFrame]) -> Iterator[tuple[object, StackFrame]]:
        """Yield pairs of a key and a frame, in order; neighbours of one run share a key.

        The key is None for a frame that is not the user's: another owner's, or a label within such frames. A user's
        frame has function, line and source as its key; a label that is shown by itself, as between user's frames,
        has its own index.
        """
        latest: tuple[object, ...] = ()
        place: tuple[object, ...] | None = None
        for number, frame in enumerate(frames):
            if is_label(frame):
                yield (number if self._parts_users(frames, number) else None), frame
                continue
            what = frame["name"], frame["line"], frame.get("source"), frame.get("presentationHint")
            # A recursion has many frames at one place.
            if what != latest:
                latest, place = what, what[:3] if self.is_users(frame) else None
            yield place, frame

    def _parts_users(self, frames: Sequence[StackFrame], label: int) -> bool:
        """Return whether the label at index `label` is shown by itself, not within other owners' frames.

        That is so if no frame is between it and the label before it (or the start), or if one of the user's is before or behind
        it, up to the next label.
        """
        before = [*itertools.takewhile(lambda each: not is_label(each), frames[:label][::-1])]
        behind = itertools.takewhile(lambda each: not is_label(each), frames[label + 1 :])
        return not before or any(map(self.is_users, itertools.chain(before, behind)))
