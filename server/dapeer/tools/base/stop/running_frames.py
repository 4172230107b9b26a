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


def frame_id(session: Session, place: ThreadLocation) -> str:
    """Return ` [frame_id N]` of the user's innermost frame; empty where it cannot be read."""
    if not session.where.reads_running or place.stopped or not place.own_id:
        return ""
    found = _users(session, place)
    return "" if found is None else f" [frame_id {found}]"


def _users(session: Session, place: ThreadLocation) -> int | None:
    """Return the id of the user's innermost frame."""
    users = (number for number, each in enumerate(place.frames) if session.frames.is_users(each))
    number = next(users, None)
    return None if number is None else session.where.frame_id(place, number)


async def chosen(session: Session, given: int | None) -> int | None:
    """Return the id of the frame to read; None: it is a stopped thread's, or nothing can be read.

    By default it is the user's innermost frame of the first thread, where a pause could not stop the program.

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


async def variables(
    session: Session, frame: int, path: str | None, kind: str | None, start: int, count: int
) -> Reply:
    """Return a frame's variables, or the value at a path with its own; `kind`: only `indexed` or `named`."""
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


async def evaluated(session: Session, frame: int, expressions: Sequence[str]) -> Reply:
    """Evaluate expressions in a frame: what cannot be read is run by a thread of the debugger's."""
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
    answer = await session.where.read(frame, expression, runs=True)
    if error := answer.get("error"):
        return Evaluated(expression, error=str(error))
    _name, value, kind = _row(answer.get("value"))
    return Evaluated(expression, value, kind)


def _row(row: Value) -> tuple[str, str, str]:
    match row:
        case [str(name), str(value), str(kind)]:
            return name, value, kind
        case _:
            return "", "", ""


def _line(row: tuple[str, str, str], limit: int) -> str:
    name, value, _kind = row
    return f"{name} = {fitted(value, limit)}"
