"""Frames of running threads and tasks: read as they are now, without running code of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dapeer.base.errors import NotStopped, RequestFailed
from dapeer.base.json_types import Value, as_array
from dapeer.base.text.fitting import fitted
from dapeer.base.text.lines import continued, indented, lines_of
from dapeer.mirror.places import ThreadLocation
from dapeer.sessions.core.session import Session
from dapeer.tools.base.call import Reply
from dapeer.tools.base.evaluation import RESULT_CHARS, Evaluated
from dapeer.view.variables import VALUE_CHARS


def frame_id_mark(session: Session, place: ThreadLocation) -> str:
    """Return ` [frame_id N]` of the innermost frame of the user's code in a running thread or task.

    Empty: frames of running threads cannot be read there, the thread is stopped, or runs no code of the user.
    """
    if not session.where.reads_running or place.stopped or not place.own_id:
        return ""
    found = _users(session, place)
    return "" if found is None else f" [frame_id {found}]"


def _users(session: Session, place: ThreadLocation) -> int | None:
    """Return the id of the innermost frame of the user's code in a running thread or task, or None."""
    users = (number for number, each in enumerate(place.frames) if session.frames.is_users(each))
    number = next(users, None)
    return None if number is None else session.where.frame_id(place, number)


async def frame_to_read(session: Session, given: int | None) -> int | None:
    """Return the id of the frame to read in a thread that is not stopped.

    `given` is the frame that the caller names, or None. If `given` is None while a pause does not stop the program, it is the user's
    innermost frame of the first thread that has one. None: the frame is a stopped thread's, and is to be read through the adapter, or no
    frame can be read.

    Raises:
        NotStopped: No thread runs code of the user.
    """
    mirror = session.mirror
    if mirror.ended or not session.where.reads_running:
        return None
    if mirror.stop is not None:
        # At a stop, too, a task waits somewhere, and has a frame of its own.
        return given if given is not None and session.where.has_frame(given) else None
    if given is not None or not mirror.pausing:
        return given
    seen = await session.where.look()
    found = next(filter(None, (_users(session, each) for each in seen.threads)), None)
    if found is None:
        raise NotStopped(
            "No thread runs code of the program now.", "dap_stacktrace lists all frames."
        )
    return found


async def variables_of_frame(
    session: Session, frame: int, path: str | None, kind: str | None, start: int, count: int
) -> Reply:
    """Return the variables of a running thread's frame, or the value at a path with its members.

    The reply says that the thread is not stopped.

    Args:
        session: The session of the thread.
        frame: The frame's id, from `frame_id_mark` or `frame_to_read`.
        path: The variable to show, such as `order.items`; None: all variables of the frame.
        kind: `indexed` or `named`: only elements, or only members, are shown; None: both.
        start: The index of the first variable to show.
        count: How many to show at most.

    Raises:
        NotStopped: The frame or the path cannot be read.
    """
    answer = await session.where.read(frame, path or "")
    if error := answer.get("error"):
        raise NotStopped(f"Not read: {error}.", "dap_stacktrace lists the frames as they are now.")
    known = [*map(_row, as_array(answer.get("variables")))]
    rows = [
        each
        for each in known
        if kind in {None, "indexed" if each[0].strip("[]").isdigit() else "named"}
    ]
    shown = rows[start : start + count]
    lines = [_line(_row(answer["value"]), RESULT_CHARS)] if answer.get("value") else []
    lines += [_line(each, VALUE_CHARS) for each in shown]
    if (left := len(rows) - start - len(shown)) > 0:
        lines.append(f"({left} more: start={start + len(shown)})")
    data = {
        "variables": [dict(zip(("name", "value", "type"), each, strict=True)) for each in shown]
    }
    note = f"({session.where.line_of(frame, session.project)}, not stopped: as it is now)"
    return Reply(lines_of([*map(indented, map(continued, lines or ["No variables."])), note]), data)


async def evaluate_in_frame(session: Session, frame: int, expressions: Sequence[str]) -> Reply:
    """Evaluate expressions in a frame of a running thread, and return a reply with their results.

    What cannot be read is run by another thread of the program. `frame` is the frame's id, from `frame_id_mark` or `frame_to_read`.

    Raises:
        RequestFailed: There is one expression only, and it fails; of several, each has its own error.
    """
    found = [await _evaluated(session, frame, each) for each in expressions]
    if len(found) == 1 and found[0].error:
        raise RequestFailed("evaluate", found[0].error)
    place = session.where.line_of(frame, session.project)
    lines = (
        [found[0].text(RESULT_CHARS)]
        if len(found) == 1
        else [each.line(VALUE_CHARS) for each in found]
    )
    data: dict[str, Any] = {"values": [each.data(RESULT_CHARS) for each in found], "frame": place}
    if len(found) == 1:
        data = {**found[0].data(RESULT_CHARS), "frame": place}
    note = f"({place}, not stopped: as it is now)"
    return Reply(lines_of([*map(indented, map(continued, lines)), note]), data)


async def _evaluated(session: Session, frame: int, expression: str) -> Evaluated:
    """Read or run one expression in a frame of a running thread; return its value or its error."""
    answer = await session.where.read(frame, expression, runs=True)
    if error := answer.get("error"):
        return Evaluated(expression, error=str(error))
    _name, value, kind = _row(answer.get("value"))
    return Evaluated(expression, value, kind)


def _row(row: Value) -> tuple[str, str, str]:
    """Return the (name, value, type) of a row that the debuggee has sent; three empty texts if it is none."""
    match row:
        case [str(name), str(value), str(kind)]:
            return name, value, kind
        case _:
            return "", "", ""


def _line(row: tuple[str, str, str], limit: int) -> str:
    """Return the line `name = value` of a (name, value, type), with the value cut to `limit` characters."""
    name, value, _kind = row
    return f"{name} = {fitted(value, limit)}"
