"""The shown frames of a stack, as lines: the innermost, the user's outermost, how many between. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from dapeer.base.sources import relative_to_project
from dapeer.base.text.fitting import shortened
from dapeer.dap.types import StackFrame
from dapeer.mirror.frames import FrameRun, Frames, count, is_label
from dapeer.mirror.stops import Stop

MAX_STACK_LINES = 5
"""Lines of a stack in a snapshot that are not its outermost frame or a label."""

MIN_FOLDED_FRAMES = 3
"""Frames of a library, or of a function that calls itself, from which on they are one line."""
NAME_CHARS = 120
"""Characters of the name of a function in a stack."""
HEAD_NAME_CHARS = 80
"""Characters of the name of a function elsewhere."""


def frame_path(frame: StackFrame) -> str:
    """Return the path of a frame's file; empty if the adapter reports none."""
    return str(frame.get("source", {}).get("path") or "")


def path_of(filename: str) -> str:
    """Return the path that a file name or a `file://` URI names; only a URI's escapes are decoded.

    >>> path_of("file:///home/me/my%20shop/a.mjs"), path_of("src/a%20b.py")
    ('/home/me/my shop/a.mjs', 'src/a%20b.py')
    """
    path = filename.removeprefix("file://")
    return filename if path == filename else unquote(path)


def frame_line(frame: StackFrame, project: Path, path: str = "") -> str:
    """Return a frame as one line: function, file and line; only the function if no file is known.

    `path` replaces the frame's own path if it is not empty. It is shown relative to `project`.
    """
    path = path or frame_path(frame) or str(frame.get("source", {}).get("name") or "")
    name = shortened(frame["name"], NAME_CHARS)
    return f"{name} {relative_to_project(path, project)}:{frame['line']}" if path else name


def frames_left_out(
    reported: Sequence[StackFrame], known: Sequence[StackFrame]
) -> list[StackFrame]:
    """Return the frames that the program itself reports and its adapter leaves out, the innermost first.

    `reported` are the program's, `known` the adapter's, both with the innermost first; frames with the same
    name and line are the same. Frames of `known` that are only labels do not count. Only frames inside of
    (called by) the outermost common one are returned. The list is empty if `known` has no frames, or has
    frames that `reported` lacks or has in another order, since nothing can be inferred then.
    """
    others: list[StackFrame] = []
    left = [(each["name"], each["line"]) for each in known if not is_label(each)]
    for frame in reported:
        if left and (frame["name"], frame["line"]) == left[0]:
            del left[0]
        elif left:
            others.append(frame)
    # The two stacks differ otherwise, so nothing can be inferred.
    return [] if left else others


def left_out_text(frames: Sequence[StackFrame], frame_owners: Frames, why: str) -> str:
    """Return a text such as `3 frames of asyncio left out by the adapter`; empty if `frames` is.

    `frames` are those that were left out, `frame_owners` knows their owners, `why` names who leaves them out.
    """
    owners = dict.fromkeys(owner for each in frames if (owner := frame_owners.owner(each)))
    run = FrameRun(tuple(owners) or ("the program",), frames)
    return f"{run.describe()} left out by {why}" if frames else ""


class StackRow(NamedTuple):
    """A line of a stack."""

    first: int
    """Number of its first frame; the innermost is 0."""
    run: FrameRun

    @property
    def end(self) -> int:
        """Number of the frame behind it."""
        return self.first + len(self.run.frames)


def numbered(
    frames: Sequence[StackFrame], frame_owners: Frames, first: int = 0
) -> Iterator[StackRow]:
    """Yield the lines of a stack whose first frame has the number `first`; neighbours may share a line."""
    for run in frame_owners.runs(frames):
        yield StackRow(first, run)
        first += len(run.frames)


def _rows(stop: Stop, frames: Sequence[StackFrame], frame_owners: Frames) -> Iterator[StackRow]:
    """Yield the lines of a stop's stack, from the innermost frame on; neighbours may share a line.

    `frames` are the stack's, the innermost first; `frame_owners` tells which are the user's. If `stop.stack.default_index`,
    the number of the frame to look at first, is 0 or None, each frame before the user's innermost one has a
    line of its own. The frames after those, or all if `default_index` is higher, are folded: neighbours of one library
    share a line, and so do `MIN_FOLDED_FRAMES` or more of a function that calls itself. Without a frame of the
    user's nothing is folded.
    """
    users = frame_owners.innermost_users_frame(frames)
    seen = len(frames) if users is None else 0 if stop.stack.default_index else frames.index(users)
    yield from (
        StackRow(number, FrameRun((), [frame])) for number, frame in enumerate(frames[:seen])
    )
    for row in numbered(frames[seen:], frame_owners, seen):
        if row.run.owners or len(row.run.frames) >= MIN_FOLDED_FRAMES:
            yield row
        else:
            numbers = range(row.first, row.end)
            yield from (StackRow(number, FrameRun((), [frames[number]])) for number in numbers)


def _is_real(row: StackRow) -> bool:
    """Return whether a line of a stack has frames of the user's own code."""
    return not row.run.is_label and not row.run.owners


def _first_rows(rows: Iterable[StackRow]) -> list[StackRow]:
    """Return the first lines of a stack, as many as it takes to know that more follow than are shown.

    `rows` are all lines, the innermost first; they are taken only as far as needed. The result ends with the (`MAX_STACK_LINES` + 3)-th
    line of the user's code, or has all.
    """
    found: list[StackRow] = []
    real = 0
    for row in rows:
        found.append(row)
        real += _is_real(row)
        if real > MAX_STACK_LINES + 2:
            break
    return found


def has_enough_frames(stop: Stop, frame_owners: Frames) -> bool:
    """Return whether enough frames were fetched to show the first lines of the stack, and to know of more."""
    rows = _first_rows(_rows(stop, stop.stack.frames.get(stop.thread_id, []), frame_owners))
    return sum(map(_is_real, rows)) > MAX_STACK_LINES + 2


def stack_lines(stop: Stop, frame_owners: Frames, project: Path) -> list[str]:
    """Return the stack of the stopped thread as lines, the innermost frame first; empty without frames.

    `frame_owners` tells the user's frames from others; files in `project` are relative to it. Only frames
    that are fetched already are listed. At most `MAX_STACK_LINES` + 2 lines of the user's are shown if these
    are all; else the first `MAX_STACK_LINES` of them, then how many frames follow and how to get them, then
    the outermost frame if it is known. Lines of libraries between them are shown, too. A frame's line ends
    with its frame_id in brackets, a handle of the stop that is made here, except that of the frame to look at
    first, and those of a stop that is over. Folded neighbours of a library have no id.

    Raises:
        ArgumentError: The stop has as many handles as it may have, and a new one would be needed.
    """
    frames = stop.stack.frames.get(stop.thread_id, [])
    if not frames:
        return []
    rows = _first_rows(_rows(stop, frames, frame_owners))
    total = stop.stack.total_frames.get(stop.thread_id)
    # Frames between the user's are listed, but take none of their room.
    real = [n for n, row in enumerate(rows) if _is_real(row)]
    if total == len(frames) and len(real) <= MAX_STACK_LINES + 2:
        # A group of one frame is listed, not counted.
        return [_line(stop, row, frame_owners, project) for row in rows]
    head = rows[: real[MAX_STACK_LINES - 1] + 1] if len(real) > MAX_STACK_LINES else rows
    end = head[-1].end if head else 0
    outermost = stop.stack.outermost
    beyond = outermost is not None and outermost not in frames[:end]
    left = None if total is None else total - len(frames) + count(frames[end:]) - beyond
    lines = [_line(stop, row, frame_owners, project) for row in head]
    if left != 0:
        lines.append(f"… {left or ''} more: dap_stacktrace start_frame={end}".replace("  ", " "))
    if beyond and outermost is not None:
        lines.append(_line(stop, StackRow(end, FrameRun((), [outermost])), frame_owners, project))
    return lines


def _line(stop: Stop, row: StackRow, frame_owners: Frames, project: Path) -> str:
    """Return one line of a stack: a frame with its frame_id, several frames counted, or a label.

    `row` is the line: a frame, or neighbours that share it. `frame_owners` knows to whom frames belong (the
    user, or a library); paths are shown relative to `project`. The frame_id is a handle of the stop, in
    brackets at the line's end, and is made here if there is none yet. The frame to look at first has none,
    nor have labels, neighbours of a library that are counted, and the frames of a stop that is over.

    Raises:
        ArgumentError: The stop has as many handles as it may have, and a new one would be needed.
    """
    frame, number = row.run.frames[0], len(row.run.frames)
    if row.run.is_label:
        return f"({shortened(frame['name'], NAME_CHARS)})"
    path = (
        frame_path(frame)
        if frame_owners.is_users(frame)
        else frame_owners.path_in_library(frame_path(frame))
    )
    line = frame_line(frame, project, path)
    if row.run.owners and number > 1:
        return row.run.describe() if row.first else f"{row.run.describe()}: {line} …"
    times = f" ({number} times)" if number > 1 else ""
    known = stop.values.is_settled or frame is stop.default_frame
    return (
        line
        + times
        + ("" if known else f" [{stop.presentation.handles.handle_for('frame_id', frame['id'])}]")
    )
