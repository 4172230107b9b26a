"""The tool that lists the frames of a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from dapeer.base.errors import ArgumentError
from dapeer.base.text.fitting import shortened
from dapeer.base.text.lines import indented, lines_of
from dapeer.dap.types import StackFrame
from dapeer.mirror.frames import is_label
from dapeer.mirror.places import ThreadLocation
from dapeer.mirror.stops import Stop
from dapeer.sessions.core.session import Session
from dapeer.sessions.core.views import inspected_stop
from dapeer.tools.base.arguments import CallTarget, ThreadId, thread_of
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.report import describe_silence
from dapeer.tools.base.tool import Section, tool
from dapeer.view.stacks import (
    MAX_STACK_LINES,
    MIN_FOLDED_FRAMES,
    NAME_CHARS,
    StackRow,
    frame_line,
    frame_path,
    numbered,
)


@tool("Stack trace", section=Section.LOOK, read_only=True, group_state="stopped")
async def dap_stacktrace(
    call: Call,
    thread_id: ThreadId = None,
    start_frame: Annotated[int, Field(ge=0)] = 0,
    levels: Annotated[int, Field(ge=1, le=100)] = 20,
    *,
    target: CallTarget,
) -> Reply:
    """List a thread's frames, innermost first, with their frame_id; of a running one where the adapter can.

    The thread is `thread_id`, by default that of the stop; of a running program by default all threads and tasks
    are listed. `levels` frames are listed from number `start_frame` (0: the innermost); longer runs of library
    frames are folded into one line, and count as one. The data has `thread_id`, `total_frames` and `frames`, where
    folded frames are one object with their number, `folded`; of a running program `state` and `threads`, each
    with `thread_id` (None for a task), `name` and `frames`.

    Raises:
        NotStopped: The program or the thread runs, and its frames cannot be read; or the program has ended.
        ArgumentError: There is no such thread, or frame ids were given to too many frames of this stop.
        DapeerError: There is no such session, or the adapter rejects a request or does not answer.
    """
    session = call.session(target.session_id)
    if session.mirror.stop is None and session.thread_locator.sees_running:
        return await _running_stacks(call, session, thread_id, start_frame, levels)
    thread = thread_of(session, thread_id)
    with inspected_stop(session, thread) as stop:
        await session.inspect.whole_stack(thread)
        await session.inspect.stack_trace(thread, start_frame, levels)
    frames = stop.stack.frames.get(thread, [])
    rows = _first_rows(list(numbered(frames[start_frame:], session.frames, start_frame)), levels)
    written = partial(_frame_text, call, stop)
    lines = [line for row in rows for line in _row_lines(call, row, start_frame, written)]
    end = rows[-1].end if rows else start_frame
    total = stop.stack.total_frames.get(thread)
    known = dict(enumerate(frames))
    if thread == stop.thread_id and total:
        known |= dict(enumerate(stop.stack.outer, total - len(stop.stack.outer)))
    lines += _more_frames_notes(call, session, stop, known, end, total)
    if thread == stop.thread_id and stop.findings.left_out_note:
        lines.append(f"({stop.findings.left_out_note})")
    listed = len(frames) if total is None else total

    def facts() -> dict[str, Any]:
        data_of = partial(_frame_data, session, stop)
        rest = [each for row in rows for each in _row_data(row, start_frame, data_of)]
        return {"thread_id": thread, "total_frames": listed, "frames": rest}

    return Reply(lines_of(lines) or "No frames.", facts)


def _listed(row: StackRow, start: int) -> int:
    """Return how many frames of a row are listed one by one; the others of it are folded into one line.

    All are if they are few, or the caller's `start` selects the row; else only the innermost frame of the stack.
    """
    if len(row.run.frames) < MIN_FOLDED_FRAMES or (row.first == start and start > 0):
        return len(row.run.frames)
    # The location within a library is shown as well.
    return int(row.first == 0)


def _row_data(
    row: StackRow, start: int, facts: Callable[[StackFrame], Mapping[str, Any]]
) -> Iterator[Mapping[str, Any]]:
    """Yield the data of a row's frames: one for each frame listed singly, and one for all that are folded.

    The caller makes the data of a listed frame by `facts`; frames that are only labels are left out. The data
    of the folded frames come last: `folded` (their number), `of` (whose they are as text, or the place of the
    first if all are of one function) and `start_frame` (the number of the first folded frame). `start` is the
    number of the frame at which the shown part of the stack begins: a row that begins there is not folded,
    unless `start` is 0, the innermost frame.
    """
    listed = _listed(row, start)
    for frame in row.run.frames[:listed]:
        if not is_label(frame):
            yield facts(frame)
    if folded := row.run.frames[listed:]:
        of = row.run.describe() if row.run.owners else frame_place(folded[0])
        yield {"folded": len(folded), "of": of, "start_frame": row.first + listed}


def _first_rows(rows: Sequence[StackRow], levels: int) -> list[StackRow]:
    """Return the first rows, as many as list `levels` frames; the last of these may be cut.

    A row is a frame, or several that follow each other and belong together. One that is folded (`_listed`) counts as one frame, and keeps
    all of its frames.
    """
    start = rows[0].first if rows else 0
    kept: list[StackRow] = []
    for row in rows:
        if levels <= 0:
            break
        listed = _listed(row, start)
        frames = row.run.frames[:levels] if listed > 1 else row.run.frames
        kept.append(row._replace(run=row.run._replace(frames=frames)))
        levels -= max(min(listed, levels), 1)
    return kept


def _row_lines(
    call: Call, row: StackRow, start: int, write: Callable[[int, StackFrame], str]
) -> Iterator[str]:
    """Yield the lines of a row: one from `write` for each listed frame, and one for all folded frames.

    `write` gets the number of a frame and the frame, and returns the line. A row with `MIN_FOLDED_FRAMES`
    frames or more is folded, but for the innermost frame of the stack (number 0), unless the row begins at
    frame `start`, the one with which the caller's list begins, and `start` is not 0. A row of a library (with
    `owners`) that has several listed frames gets a heading first. A row that is a label of the adapter's, not
    frames, is one line.
    """
    if row.run.is_label:
        yield indented(f"({shortened(row.run.frames[0]['name'], NAME_CHARS)})")
        return
    frames = list(enumerate(row.run.frames, row.first))
    listed = frames[: _listed(row, start)]
    if row.run.owners and len(listed) > 1:
        yield f"{row.run.describe()}:"
    yield from (write(number, frame) for number, frame in listed)
    folded = frames[len(listed) :]
    if folded:
        what = (
            row.run._replace(frames=[frame for _, frame in folded]).describe()
            if row.run.owners
            else (f"{frame_line(folded[0][1], call.debugger.project)} ({len(folded)} times)")
        )
        yield f"#{folded[0][0]} to #{folded[-1][0]} {what}: start_frame={folded[0][0]}"


def _more_frames_notes(
    call: Call,
    session: Session,
    stop: Stop,
    known: Mapping[int, StackFrame],
    end: int,
    total: int | None,
) -> Iterator[str]:
    """Yield a note on how many frames follow the last listed one, and the user's outermost of these.

    The note (`(12 more frames: start_frame=20)`) is left out if `total` is known and no further frames
    follow. It counts neither labels (frames that only describe those after them) nor the user's outermost
    frame, which follows as a line of its own, with a handle, if it is among the known frames that are not
    listed.

    Args:
        call: The call of the tool.
        session: The session, which knows what is the user's code.
        stop: The stop of the thread, which gives the frame a handle.
        known: The frames that are known, by number from the innermost, which is 0.
        end: The number of the first frame that is not listed.
        total: The number of all frames; None: it is not known, so only known ones are counted, and the note
            comes without a number if none of them follows.

    Raises:
        ArgumentError: The stop can have no further handles.
    """
    users = (n for n in sorted(known, reverse=True) if session.frames.is_users(known[n]))
    number = next(users, -1)
    beyond = number >= end
    labels = sum(is_label(frame) for n, frame in known.items() if n >= end)
    left = max(0, (total or len(known)) - end - labels - beyond)
    if left > 0 or total is None:
        yield f"({left or ''} more frames: start_frame={end})".replace("( ", "(")
    if beyond:
        yield _frame_text(call, stop, number, known[number])


async def _running_stacks(
    call: Call, session: Session, thread_id: int | None, start: int, levels: int
) -> Reply:
    """Return the frames of a thread that is not stopped, as a reply; without a thread, those of all.

    The threads are read in the running program now, or from outside by another program if the former does
    not answer; reading takes up to `SECONDS_TO_LOOK_AROUND`, and `SECONDS_TO_SPY` more. `thread_id` None
    means all threads and tasks. `levels` frames are listed of each, from number `start`, where 0 is the
    innermost; of all threads and tasks at most `MAX_STACK_LINES` each. Frames that are folded into one line
    count as one. The text says how many frames follow, and whether the program did not answer. The data has
    `state` (of the session) and `threads`, a list: each with `thread_id` (None for a task), `name` and
    `frames` (see `_row_data`).

    Raises:
        ArgumentError: There is no such thread.
        NotStopped: The program has ended, or dapeer has detached from it.
    """
    session.mirror.require_live()
    seen = await session.thread_locator.locate_threads()
    chosen = [each for each in seen.threads if thread_id in {None, each.thread_id}]
    if thread_id is None:
        chosen += seen.tasks
    if thread_id is None:
        levels = min(levels, MAX_STACK_LINES)
    elif not chosen:
        listed = ", ".join(str(each.thread_id) for each in seen.threads)
        raise ArgumentError(f"There is no thread {thread_id}.", f"Threads: {listed}.")
    lines = ["Not stopped: these frames have no variables."]
    if session.thread_locator.reads_running and not seen.has_timed_out:
        lines = ["Not stopped: dap_variables and dap_evaluate read a frame while it stays there."]
    data: list[Mapping[str, Any]] = []
    for each in chosen:
        written = partial(_running_frame, call, session, each)
        rows = _first_rows(list(numbered(each.frames[start:], session.frames, start)), levels)
        lines.append(f"{'task ' if each.thread_id is None else ''}{each.label}:")
        lines += [f"  {line}" for row in rows for line in _row_lines(call, row, start, written)]
        end = rows[-1].end if rows else start
        more = "" if each.thread_id is None else ": thread_id={}, start_frame={}"
        if (left := len(each.frames) - end) > 0:
            lines.append(f"  ({left} more frames{more.format(each.thread_id, end)})")
        frames = [facts for row in rows for facts in _row_data(row, start, frame_place)]
        data.append({"thread_id": each.thread_id, "name": each.name, "frames": frames})
    if seen.has_timed_out:
        lines.append(f"({describe_silence(session, seen)})")
    return Reply(lines_of(lines), {"state": session.mirror.phase.value, "threads": data})


def _running_frame(
    call: Call, session: Session, place: ThreadLocation, number: int, frame: StackFrame
) -> str:
    """Return a frame of a running thread or task as one line, with a frame_id if it can be read.

    `number` counts from the innermost frame.
    """
    readable = (
        session.thread_locator.reads_running and place.own_id and session.frames.is_users(frame)
    )
    own = f" [frame_id {session.thread_locator.give_frame_id(place, number)}]" if readable else ""
    return f"#{number} {frame_line(frame, call.debugger.project)}{own}"


def _frame_text(call: Call, stop: Stop, number: int, frame: StackFrame) -> str:
    """Return a frame of a stopped thread as one line, with its handle.

    The frame that is shown is marked as default, unless it is the innermost.
    """
    handle = stop.presentation.handles.handle_for("frame_id", frame["id"])
    reference = _reference(frame)
    more = f", source_reference {reference}" if reference else ""
    more += ", default" if number and frame is stop.default_frame else ""
    return f"#{number} {frame_line(frame, call.debugger.project)} [frame_id {handle}{more}]"


def _reference(frame: StackFrame) -> int:
    """Return the number by which `dap_source` shows an adapter's own source; 0 if it is a file."""
    return frame.get("source", {}).get("sourceReference") or 0


def _frame_data(session: Session, stop: Stop, frame: StackFrame) -> Mapping[str, Any]:
    """Return a frame of a stopped thread as data: `frame_id`, `function`, `file`, `line`, and more.

    `source_reference` is there for an adapter's own source, `of`, the owner's name, for a frame that is not of the
    user's code. A handle, `frame_id`, which callers use in place of the adapter's id, is made for the frame if it has
    none yet.

    Raises:
        ArgumentError: The frame has no handle yet, and the stop has too many handles for another.
    """
    reference = _reference(frame)
    owner = session.frames.owner(frame)
    return {
        "frame_id": stop.presentation.handles.handle_for("frame_id", frame["id"]),
        **frame_place(frame),
        **({"source_reference": reference} if reference else {}),
        **({"of": owner} if owner else {}),
    }


def frame_place(frame: StackFrame) -> Mapping[str, Any]:
    """Return where a frame is, as data with `function`, `file` and `line`."""
    return {
        "function": frame["name"],
        "file": frame_path(frame),
        "line": frame["line"],
    }
