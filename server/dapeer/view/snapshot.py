"""The snapshot of a program that has stopped, runs or has ended, as data of limited size. Pure.

The same data is the structured result of a tool and, rendered, its text: one cannot say more than
the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NotRequired, cast

# Until Python 3.12 pydantic makes no schema of typing's own.
from typing_extensions import TypedDict

from dapeer.base.text.excerpt import dedented
from dapeer.base.text.fitting import shortened
from dapeer.base.text.line_places import cut_around
from dapeer.dap.types import ExceptionDetails
from dapeer.mirror.failures import PATCH
from dapeer.mirror.mirror import Mirror
from dapeer.mirror.stops.stops import Stop
from dapeer.view import stacks
from dapeer.view.activations import compare_locals
from dapeer.view.output import failure_lines, log_point_lines, new_output
from dapeer.view.returns import last_of_raised, last_of_returned
from dapeer.view.stacks import frame_path, path_of
from dapeer.view.variables import VALUE_CHARS, changes_in, locals_of

SOURCE_AROUND = 3
"""Lines of source shown before and after the place."""
SOURCE_LINE = 160
EXCEPTION_CHARS = 600
ASSERTION = "failed assertion"
_ASSERTION = re.compile(r"\w*Assert(ion)?\w*Err|Error: \S*\bexpect(\.\w+)?\(")
"""How the exceptions of assertions begin; Jest's are called `Error`."""
ONLY_PRINTED = "the place is that of the printed report: the debugger's stack has no frame of it, so it has no locals"
KILLED = "killed by "
"""The beginning of an end's cause that is a signal; an exit code then means nothing."""


class Snapshot(TypedDict):
    """One look at a session. Lines are 1-based; `file` is absolute, other paths relative to the project."""

    session_id: int
    state: str
    parent: NotRequired[int]
    stop: NotRequired[int]
    reason: NotRequired[str]
    description: NotRequired[str]
    thread_id: NotRequired[int]
    other_thread: NotRequired[bool]
    """It is not the first one of the program."""
    file: NotRequired[str]
    line: NotRequired[int]
    function: NotRequired[str]
    exception: NotRequired[str]
    until: NotRequired[list[str]]
    """What became of a run until something."""
    source: NotRequired[str]
    stack: NotRequired[list[str]]
    locals: NotRequired[dict[str, str]]
    changed: NotRequired[dict[str, list[str | None]]]
    returned: NotRequired[str]
    """The function that has returned since the stop before, and its locals there."""
    raised: NotRequired[str]
    """The function that an exception has ended since the stop before, that, and the locals there."""
    perhaps_another_call: NotRequired[bool]
    """Changes that may come from another call of the function."""
    values: NotRequired[dict[str, str]]
    """The values of the expressions that a caller has asked for."""
    failed: NotRequired[dict[str, str]]
    """By expression why it could not be evaluated."""
    output: NotRequired[str]
    logged: NotRequired[list[str]]
    """Messages of log points: location, number of the message, text."""
    collected: NotRequired[list[str]]
    """What was collected since the caller was told last, summarised."""
    exit_code: NotRequired[int]
    cause: NotRequired[str]
    pausing: NotRequired[bool]
    """A pause was asked for, and has not stopped the program yet."""
    threads: NotRequired[list[str]]
    """Where the threads are of a program that runs."""
    tasks: NotRequired[list[str]]
    deadlock: NotRequired[list[str]]
    """What each member of a deadlock waits for, and who holds that."""
    waits: NotRequired[list[str]]
    """What other threads and tasks wait for."""
    breakpoints: NotRequired[dict[str, list[str]]]
    """By state, breakpoints that did not work as requested.

    The states: rejected, moved, pending, stops anyway, never bound, not hit, never called, never ended, not known, renamed.
    """
    notes: NotRequired[list[str]]


class Summary(TypedDict):
    """One line of facts about a session."""

    session_id: int
    name: str
    type: str
    state: str
    reason: NotRequired[str]
    file: NotRequired[str]
    line: NotRequired[int]
    function: NotRequired[str]
    exit_code: NotRequired[int]
    cause: NotRequired[str]
    feed: NotRequired[str]
    """The feed of a session of a Neovim: `tap` or `listeners`."""
    neovim_id: NotRequired[int]
    """Which of several Neovims it is."""
    interpreter: NotRequired[str]
    """The interpreter of the program, where there is a choice."""
    parent: NotRequired[int]
    """The session that it is a child of."""
    stale: NotRequired[str]
    """Why the state may be outdated."""
    problem: NotRequired[str]
    """An error in the adapter's messages."""


def snapshot_of_stop(session_id: int, mirror: Mirror, stop: Stop, project: Path) -> Snapshot:
    """Return the snapshot of a stop: location, source, stack, locals, changes, new output and notes.

    Nothing is requested: what was not fetched is missing. The stop and the mirror are not changed. Empty fields are left out,
    except `stack` and `locals`.
    """
    notes = [*filter(None, (stop.found.outdated_source, stop.found.left_out))]
    if stop.found.place is not None:
        notes.append(ONLY_PRINTED)
    if stop.reported.output_flows:
        notes.append("more output is arriving: dap_program_output wait_ms=5000")
    comparison = compare_locals(mirror.history, stop)
    changed, notes = comparison.changes, [*notes, *comparison.notes]
    since = stop.reported.output_from(mirror.output.shown)
    until = mirror.history.output_end(stop)
    optional = Snapshot(
        session_id=session_id,
        state="stopped",
        stop=stop.number,
        reason=stop.reason,
        description=shortened(_description(stop), EXCEPTION_CHARS),
        thread_id=stop.thread_id,
        **_place(stop),
        exception=shortened(exception_text(stop), EXCEPTION_CHARS),
        source=_source(stop),
        stack=stacks.stack_lines(stop, mirror.frames, project),
        locals=locals_of(stop, changed, notes),
        changed=changes_in(changed, notes),
        returned=last_of_returned(mirror.history, stop),
        raised=last_of_raised(mirror.history, stop),
        output=new_output(session_id, mirror, since, until, notes),
        logged=log_point_lines(session_id, mirror, project, since, until, notes),
        notes=notes + failure_lines([f for f in mirror.failures if f.count != f.reported], project),
    )
    if stop.thread_id != next(iter(mirror.threads), 1):
        optional["other_thread"] = True
    if comparison.perhaps_another:
        optional["perhaps_another_call"] = True
    # Empty fields are left out: a model reads every byte. But missing locals are a fact.
    kept = {k: v for k, v in optional.items() if v not in _EMPTY or k in {"stack", "locals"}}
    return cast("Snapshot", kept)


_EMPTY: tuple[object, ...] = ("", [], {})


class Place(TypedDict, total=False):
    """Where a frame is."""

    file: str
    line: int
    function: str


def _place(stop: Stop) -> Place:
    """Return file, line and function of a stop; empty if its frame is unknown.

    Where the program itself printed its place, that one is returned, without a function.
    """
    if stop.found.place is not None:
        file, line = stop.found.place
        return Place(file=file, line=line)
    frame = stop.top
    if frame is None:
        return Place()
    return Place(
        file=frame_path(frame), line=frame["line"], function=shortened(frame["name"], VALUE_CHARS)
    )


def _source(stop: Stop) -> str:
    """Return the source around a stop, with line numbers and an arrow; empty if it is unknown."""
    mark = _place(stop).get("line")
    if stop.found.source is None:
        return ""
    first, lines = stop.found.source
    shown = dedented(lines)
    here = (mark or 0) - first
    removed = len(lines[here]) - len(shown[here]) if 0 <= here < len(lines) else 0
    column = stop.top.get("column", 0) - removed if stop.top else 0
    return numbered(first, shown, mark, column)


def snapshot_of_running(session_id: int, mirror: Mirror, since: int, project: Path) -> Snapshot:
    """Return the snapshot of a session that runs, with its output since the cursor `since`."""
    snapshot = Snapshot(session_id=session_id, state=mirror.phase.value)
    if mirror.pausing:
        snapshot["pausing"] = True
    return _with_output(snapshot, mirror, project, since)


def snapshot_of_end(
    session_id: int,
    mirror: Mirror,
    since: int,
    cause: str | None,
    project: Path,
    *,
    by_us: bool = False,
    error: re.Match[str] | None = None,
) -> Snapshot:
    """Return the snapshot of a session's end: exit code, cause, output since `since`, failed expressions.

    `cause` is why it ended, as far as known. The exit code is left out if dapeer ended the program (`by_us`) or a signal killed it.
    `error` is the last error that the program has printed, as a match with the groups `file`, `line` and perhaps `error`; it is
    left out if the exit code is 0.
    """
    snapshot = Snapshot(session_id=session_id, state="ended")
    if mirror.exit_code is not None and not by_us and not (cause or "").startswith(KILLED):
        snapshot["exit_code"] = mirror.exit_code
    if cause:
        snapshot["cause"] = cause
    if error is not None and mirror.exit_code != 0:
        _add_error(snapshot, error, project)
    _with_output(snapshot, mirror, project, since)
    unsaid = [each for each in mirror.failures if each.kind != PATCH or each.count != each.reported]
    if unsaid:
        snapshot["notes"] = [*snapshot.get("notes", ()), *failure_lines(unsaid, project)]
    return snapshot


def _add_error(snapshot: Snapshot, error: re.Match[str], project: Path) -> None:
    """Set file, line and exception of `snapshot` to those of an error in the program's output.

    `error` has the groups `file`, `line` and perhaps `error`.
    """
    found = error.groupdict()
    if found["file"]:
        file = project / path_of(found["file"])
        snapshot["file"], snapshot["line"] = f"{file}", int(found["line"])
    if found.get("error"):
        snapshot["exception"] = shortened(found["error"], EXCEPTION_CHARS)


def numbered(first: int, lines: Sequence[str], mark: int | None = None, column: int = 0) -> str:
    """Return source lines with their numbers, of which `first` is the first, and an arrow at line `mark`.

    Of the marked line, if it is long, the part around `column` is shown.

        >>> print(numbered(9, ["a", "b"], mark=10))
           9 a
        → 10 b
    """
    width = len(str(first + len(lines) - 1))
    return "\n".join(
        f"{'→' if number == mark else ' '} {number:>{width}} "
        f"{_fitted_line(line, column if number == mark else 0)}".rstrip()
        for number, line in enumerate(lines, first)
    )


def _fitted_line(line: str, column: int) -> str:
    """Return a line of source, cut to `SOURCE_LINE` characters around `column`; from its start for 0 or 1."""
    return cut_around(line, column, SOURCE_LINE) if column > 1 else shortened(line, SOURCE_LINE)


def exception_text(stop: Stop) -> str:
    """Return the type and message of the exception that a stop is at; empty if it is at none."""
    if stop.exception is None:
        return str(stop.body.get("text") or "") if stop.reason == "exception" else ""
    details: ExceptionDetails = stop.exception.get("details") or {}
    name = str(details.get("typeName") or stop.exception.get("exceptionId") or "")
    message = str(details.get("message") or stop.exception.get("description") or "")
    # lldb's exceptionId of "signal SIGSEGV" is "signal".
    is_named = message.lower().startswith(name.lower())
    # What stands on the next line is no message, but says more of the exception.
    between = "" if message.startswith("\n") else ": "
    return f"{name}{between}{message}" if name and message and not is_named else message or name


def _description(stop: Stop) -> str:
    """Return the adapter's description of a stop if it says more than reason and exception; else empty.

    At a signal it is the signal's name; at a failed assertion it is `ASSERTION`.
    """
    if stop.found.signal or stop.raised:
        return stop.found.signal
    # js-debug's "Paused on debugger statement" has the reason "pause" without a request.
    description = str(stop.body.get("description") or "")
    description = description.removeprefix("Paused").removeprefix(" on ")
    reason = f"{stop.reason} {exception_text(stop)}".lower()
    if description.lower() in reason or stop.reason.lower() in description.lower():
        return ""
    # What has failed is worth more than how it reaches the debugger, a rejected promise, say.
    return ASSERTION if _ASSERTION.match(exception_text(stop)) else description


def _with_output(snapshot: Snapshot, mirror: Mirror, project: Path, since: int) -> Snapshot:
    """Add output, log messages and their notes since the cursor `since` to `snapshot`, and return it.

    Notes that the snapshot had before are replaced.
    """
    notes: list[str] = []
    printed = new_output(snapshot["session_id"], mirror, since, None, notes)
    if printed:
        snapshot["output"] = printed
    if messages := log_point_lines(snapshot["session_id"], mirror, project, since, None, notes):
        snapshot["logged"] = messages
    if notes:
        snapshot["notes"] = notes
    return snapshot
