"""The snapshot of a program that has stopped, runs or has ended, as data of limited size. Pure.

The same data is the structured result of a tool and, rendered, its text: one cannot say more than
the other.
"""

from __future__ import annotations

import itertools
import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, cast

from typing_extensions import TypedDict

from dapeer.base.sources import relative_to_project
from dapeer.base.text.fitting import shortened
from dapeer.base.text.source_lines import cut_around, dedented
from dapeer.dap.types import ExceptionDetails
from dapeer.mirror.failures import PATCH, Failure
from dapeer.mirror.mirror import Mirror
from dapeer.mirror.output import LogMessage, squeezed
from dapeer.mirror.stops import Stop
from dapeer.view import stacks
from dapeer.view.activations import NOT_COMPARED, compare_locals
from dapeer.view.stacks import frame_path, path_of
from dapeer.view.variables import (
    VALUE_CHARS,
    changes_in,
    describe_raising_function,
    describe_returned_function,
    locals_of,
    one_line,
)

# A program's output, log messages and failures since the last answer, as limited text. Pure.

OUTPUT_LINES = 10
OUTPUT_CHARS = 600
"""Characters of new output."""
FAILURES = 20
PATCH_OFF = 600
"""Characters of what is lost without a patch of ours, and why."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""A model needs no colours; `dap_program_output(raw=true)` returns the output unchanged."""


def new_output(
    session_id: int, mirror: Mirror, since: int, until: int | None, notes: list[str]
) -> str:
    """Return the last lines that a session printed between two cursors, without colours; empty if none.

    `since` and `until` are cursors of the program's output; None stands for its end. `session_id` is named in the
    note unless it is 1. What exceeds `OUTPUT_LINES` and `OUTPUT_CHARS` is left out, and a note on how to read it is
    appended to `notes`. Messages of log points are not contained, and long runs of blanks are replaced by their
    number.
    """
    log = mirror.output
    end = log.end if until is None else until
    if end <= since:
        return ""
    pieces = [each for each in log.between(since, end) if each.category != "log"]
    # A loop may have printed millions of characters: only the end of them is looked at.
    shown = last_lines("".join(each.text for each in pieces[-OUTPUT_CHARS:]))
    left = sum(len(each.text) for each in pieces) - len(shown)
    if left > 0:
        more = f"dap_program_output since={max(since, log.start)}{_session_argument(session_id)}"
        notes.append(f"{left} more characters of output: {more}")
    return squeezed(_COLOUR.sub("", shown))


def last_lines(text: str) -> str:
    r"""Return the last lines of a text, at most `OUTPUT_LINES` and `OUTPUT_CHARS`.

    A line that is cut by `OUTPUT_CHARS` is left out, unless no line feed is behind it but one at the end: then
    its end is returned. For `OUTPUT_LINES`, lines also end where `str.splitlines` ends them, as at a CR.

    >>> last_lines("progress 10%\r" * 100)[-13:]
    'progress 10%\r'
    """
    *_, last = text.splitlines(keepends=True)[-OUTPUT_LINES:] or [""]
    cut = text[-OUTPUT_CHARS:]
    starts_within = (
        len(text) > OUTPUT_CHARS and text[-OUTPUT_CHARS - 1] != "\n" and len(last) < OUTPUT_CHARS
    )
    # A bar of progress ends no line: then its end is shown.
    whole = (cut.partition("\n")[2] or cut) if starts_within else cut
    return "".join(whole.splitlines(keepends=True)[-OUTPUT_LINES:])


def _session_argument(session_id: int) -> str:
    """Return ` session_id=N` for a call in a hint; empty for the first session."""
    return f" session_id={session_id}" if session_id > 1 else ""


def log_point_lines(
    session_id: int, mirror: Mirror, project: Path, since: int, until: int | None, notes: list[str]
) -> list[str]:
    """Return messages of log points between two cursors, at most the last `OUTPUT_LINES`, each a line.

    The newest message of each log point is taken before older ones of others. A line is `PATH:LINE #NUMBER TEXT`,
    where the number counts the messages of that log point; of neighbours from one place only the first has
    `PATH:LINE`, with the path relative to `project`. The list is in the order of output, and empty if there are
    no messages. A message counts if it begins at the cursor `since` of the program's output or later, and before
    `until`; None stands for its end. If there are more, a note on how to read them is appended to `notes`; it
    names `session_id` if that is above 1.
    """
    end = mirror.output.end if until is None else until
    if end <= since:
        return []
    messages, left = mirror.output_intake.log_points.last_messages(since, end, OUTPUT_LINES)
    if left:
        more = f"dap_program_output category=log since={max(since, mirror.output.start)}"
        notes.append(f"{left} more messages of log points: {more}{_session_argument(session_id)}")
    return list(_messages(messages, project))


def _messages(messages: Sequence[LogMessage], project: Path) -> Iterator[str]:
    """Yield a line for each message of a log point; of several from one place only the first names it."""
    for place, group in itertools.groupby(messages, lambda each: (each.path, each.line)):
        texts = [f"#{each.number} {one_line(each.text)}" for each in group]
        yield f"{relative_to_project(place[0], project)}:{place[1]} {texts[0]}"
        yield from texts[1:]


def failure_lines(failures: Sequence[Failure], project: Path) -> list[str]:
    """Return a line for each failed expression of a breakpoint, at most `FAILURES`, and a count of others."""
    left = len(failures) - FAILURES
    lines = [_failure(each, project) for each in failures[:FAILURES]]
    return [*lines, f"{left:,} more expressions of breakpoints failed"] if left > 0 else lines


def _failure(failure: Failure, project: Path) -> str:
    """Return one line: the kind of failure, its expression, how often, where, and the error.

    A patch of dapeer's that is off gets a sentence of its own.
    """
    if failure.kind == PATCH:
        return (
            f"dapeer's patch `{failure.expression}` is off: {shortened(failure.error, PATCH_OFF)}"
        )
    times = "" if failure.count == 1 else f" {failure.count} times"
    place = (
        f" at {relative_to_project(failure.path, project)}:{failure.line}" if failure.path else ""
    )
    named = f" `{shortened(failure.expression, VALUE_CHARS)}`" if failure.expression else ""
    return f"{failure.kind}{named} failed{times}{place}: {shortened(failure.error, VALUE_CHARS)}"


# Until Python 3.12 pydantic makes no schema of typing's own.


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

    Nothing is requested: what was not fetched is missing. The frames in `stack` get handles of the stop; else
    neither stop nor mirror is changed. `session_id` is the session's id; paths are relative to `project`, but
    for `file`. Long texts are shortened. Empty fields are left out, except `stack` and `locals`.

    Raises:
        ArgumentError: The stop has as many handles as it may have, and a frame needs a new one.
    """
    notes = [*filter(None, (stop.findings.outdated_source, stop.findings.left_out_note))]
    if stop.findings.printed_place is not None:
        notes.append(ONLY_PRINTED)
    if stop.presentation.is_output_arriving:
        notes.append("more output is arriving: dap_program_output wait_ms=5000")
    comparison = compare_locals(mirror.history, stop)
    changed, notes = comparison.changes, [*notes, *comparison.notes]
    since = stop.presentation.output_from(mirror.output.shown_end)
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
        returned=describe_returned_function(mirror.history, stop),
        raised=describe_raising_function(mirror.history, stop),
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


class FramePlace(TypedDict, total=False):
    """Where a frame is."""

    file: str
    line: int
    function: str


def _place(stop: Stop) -> FramePlace:
    """Return file, line and function of a stop; empty if they are unknown.

    Where the program itself printed its place, that file and line are returned, without a function. Else they are
    those of the frame to look at first; a long function name is shortened.
    """
    if stop.findings.printed_place is not None:
        file, line = stop.findings.printed_place
        return FramePlace(file=file, line=line)
    frame = stop.default_frame
    if frame is None:
        return FramePlace()
    return FramePlace(
        file=frame_path(frame), line=frame["line"], function=shortened(frame["name"], VALUE_CHARS)
    )


def _source(stop: Stop) -> str:
    """Return the source around a stop, with line numbers and an arrow; empty if it is unknown.

    The indentation that all lines share is left out, and long lines are cut. There is no arrow if the stop's
    line is unknown or not among these lines.
    """
    mark = _place(stop).get("line")
    if stop.findings.source is None:
        return ""
    first, lines = stop.findings.source
    shown = dedented(lines)
    here = (mark or 0) - first
    removed = len(lines[here]) - len(shown[here]) if 0 <= here < len(lines) else 0
    column = stop.default_frame.get("column", 0) - removed if stop.default_frame else 0
    return numbered(first, shown, mark, column)


def snapshot_of_running(session_id: int, mirror: Mirror, since: int, project: Path) -> Snapshot:
    """Return the snapshot of a session that runs, with its output since the cursor `since`."""
    snapshot = Snapshot(session_id=session_id, state=mirror.phase.value)
    if mirror.is_pausing:
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

    `cause` is why it ended; None: not known. `since` is a cursor in the output. The exit code is left out if it
    is not known, dapeer ended the program (`by_us`), or a signal killed it. `error` is the last error that the
    program has printed, as a match with the groups `file`, `line` and perhaps `error`; it is left out if it is
    None or the exit code is 0. `notes` has at most `FAILURES` failed expressions, with dapeer's patches that
    are off and were not reported yet, and a count of the others; notes on the output come before. Paths in
    `project` are relative to it there.
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

    `error` has the groups `file`, `line` and perhaps `error`. Where `file` is empty, file and line of `snapshot` stay as they were, without
    `error` the exception does. A relative file is one below `project`; that it exists is not checked. A long error is shortened.
    """
    found = error.groupdict()
    if found["file"]:
        file = project / path_of(found["file"])
        snapshot["file"], snapshot["line"] = f"{file}", int(found["line"])
    if found.get("error"):
        snapshot["exception"] = shortened(found["error"], EXCEPTION_CHARS)


def numbered(first: int, lines: Sequence[str], mark: int | None = None, column: int = 0) -> str:
    """Return source lines with their numbers, of which `first` is the first, and an arrow at line `mark`.

    There is one line of text for each, or an empty text without lines. Long lines are cut; of the marked one
    the part around `column` is shown, which counts from 1 (0: unknown, the start is shown). `mark` is a
    line's number as `first` is; None, or a number of none of the lines: no arrow.

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
    """Return the type and message of the exception that a stop is at; empty if it is at none.

    They are those of the `exceptionInfo` response, if that was fetched, as `TYPE: MESSAGE`; the type is left out if
    the message begins with it, in any case of letters, and either part if it is missing. Else it is the `text` of
    the `stopped` event, which may be empty.
    """
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

    A description says more if their text does not contain it, and it does not contain the reason; upper and lower
    case are the same, and "Paused on" at its beginning is dropped. At a failed assertion `ASSERTION` is returned
    instead of one that says more. Where `stop.findings` has a signal, the result is its name; it is empty at any
    other stop whose reason was found in its innermost frame (`stop.real_reason`).
    """
    if stop.findings.signal or stop.real_reason:
        return stop.findings.signal
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

    The object `snapshot` itself is changed: it gets `output`, `logged` and `notes`, each only if there is something. `notes` replaces all
    notes that it had before. The cursor is not kept in it.
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


# A short form of a snapshot. Pure.


_OF_THEM = re.compile(r"(?:\d+ more (?:frame|local)s?|also .*): dap_\w+")
"""A note on where to read what is left out."""
_MARK = "→"
_LINE = re.compile(r"^\W+(\d+)\b", re.MULTILINE)
_INDENT = re.compile(r"^(\W+\d+ )\s+")
_FRAME_ID = re.compile(r" \[(?:frame_id )?\d+\]$")
_RETURNED = re.compile(r"\W*return", re.IGNORECASE)
MAX_REMEMBERED_PLACES = 20
"""Places whose shown facts are remembered for a reader."""


@dataclass(frozen=True, slots=True)
class _ShownFrame:
    """What was shown to a reader of one frame."""

    stop: int
    lines: frozenset[int]
    """The lines of source."""
    locals: dict[str, str]


class SnapshotReader:
    """A reader of successive stops: facts of a frame that were shown are not repeated."""

    def __init__(self) -> None:
        self._shown_frames: OrderedDict[tuple[object, ...], _ShownFrame] = OrderedDict()
        self._noted_calls: OrderedDict[tuple[int, str], int] = OrderedDict()
        """By session and note: the stop at which the note on another call of a function was shown."""

    def mark_read(self, view: Snapshot) -> None:
        """Record that the reader was shown a whole snapshot; only one of a stopped program is recorded.

        `without_read_parts` leaves these facts out later: the source lines and locals shown for the frame, and notes that
        are shown once. Those of the `MAX_REMEMBERED_PLACES` last frames are kept, and as many notes.
        """
        if view["state"] != "stopped":
            return
        for note in view.get("notes", ()):
            if note.endswith(NOT_COMPARED):
                self._noted_calls.setdefault((view["session_id"], note), view.get("stop", 0))
        while len(self._noted_calls) > MAX_REMEMBERED_PLACES:
            self._noted_calls.popitem(last=False)
        place, lines = _brief_place(view), set(map(int, _LINE.findall(view.get("source", ""))))
        if (before := self._shown_frames.pop(place, None)) is not None:
            lines |= before.lines
        shown = view.get("locals", {})
        self._shown_frames[place] = _ShownFrame(view.get("stop", 0), frozenset(lines), shown)
        if len(self._shown_frames) > MAX_REMEMBERED_PLACES:
            self._shown_frames.popitem(last=False)

    def without_read_parts(self, view: Snapshot) -> Snapshot:
        """Return a snapshot without what the reader was shown at an earlier stop in the same frame.

        The stack and those locals are left out that are as before or are in `changed`; what a function has
        returned stays, unless `changed` has it. The source is cut to the current line if the reader was shown
        that line, and a note says what is as before; notes on further frames and locals are left out. A
        snapshot of the same stop, of a frame that was not shown, or of a program that is not stopped, loses
        only notes that are shown once and were shown at another stop. Neither `view` nor the reader is changed,
        and `view` itself is returned if there is nothing to leave out; `mark_read` records what was shown.
        """
        view = self._without_repeated_notes(view)
        known = self._shown_frames.get(_brief_place(view))
        if view["state"] != "stopped" or known is None or known.stop == view.get("stop"):
            return view
        found, changed = view.get("locals", {}), view.get("changed", {})
        returned = {name for name in found if is_returned(name)}
        same = {name for name in found if known.locals.get(name) == found[name]}
        kept = shorten_snapshot(view)
        kept["locals"] = {
            n: v
            for n, v in found.items()
            if n in returned - changed.keys() or n not in same | changed.keys()
        }
        if "source" in view and view.get("line") not in known.lines:
            kept["source"] = view["source"]
        count = len(same - returned - changed.keys())
        unchanged = ["stack", f"{count} local{'' if count == 1 else 's'}"][: 1 + bool(count)]
        kept["notes"] = [*kept.get("notes", ()), f"as before: {', '.join(unchanged)}"]
        return kept

    def _without_repeated_notes(self, view: Snapshot) -> Snapshot:
        """Return a snapshot without the notes that are shown once and were first shown at another stop.

        Which those are, `mark_read` has recorded; nothing is recorded here. `view` is not changed: a shallow copy is
        returned, which has no key `notes` if no note is left, or `view` itself if there is nothing to leave out.
        """
        session, stop, notes = view["session_id"], view.get("stop"), view.get("notes", ())
        news = [note for note in notes if self._noted_calls.get((session, note), stop) == stop]
        if len(news) == len(notes):
            return view
        kept = view.copy()
        kept.pop("notes")
        if news:
            kept["notes"] = news
        return kept


def _brief_place(view: Snapshot) -> tuple[object, ...]:
    """Return a key of the frame that a snapshot shows; it is the same while the frame's callers are."""
    callers = (_FRAME_ID.sub("", line) for line in view.get("stack", ())[1:])
    who = view["session_id"], view.get("thread_id"), view.get("file"), view.get("function")
    return (*who, *callers)


def is_returned(name: str) -> bool:
    """Return whether a local's name is one by which adapters show the value that a function returned.

    >>> is_returned("(return) total"), is_returned("Return value"), is_returned("[return value]"), is_returned("total")
    (True, True, True, False)
    """
    return _RETURNED.match(name) is not None and not name.isidentifier()


def shorten_snapshot(view: Snapshot) -> Snapshot:
    """Return a short form of a stopped program's snapshot: location, current line, changes and events.

    Stack and locals are left out, except unchanged values that functions returned, and so are the notes on
    where to read more of them; other notes, such as why there are no locals, stay. `view` is not changed; it is
    returned itself if the program is not stopped.
    """
    if view["state"] != "stopped":
        return view
    kept = view.copy()
    kept.pop("stack", None)
    kept.pop("locals", None)
    changed = view.get("changed", {})
    returned = {n: v for n, v in view.get("locals", {}).items() if is_returned(n)}
    if any(name not in changed for name in returned):
        kept["locals"] = {n: v for n, v in returned.items() if n not in changed}
    if "source" in view:
        kept["source"] = marked_line(view["source"])
    if "notes" in view:
        kept["notes"] = [note for note in view["notes"] if not _OF_THEM.match(note)]
    return kept


def marked_line(source: str) -> str:
    r"""Return the line with an arrow of numbered source, without indentation; empty without such a line.

    >>> marked_line("  9 while a:\n→ 10     b()")
    '→ 10 b()'
    """
    lines = (line for line in source.splitlines() if line.startswith(_MARK))
    return "\n".join(_INDENT.sub(r"\1", line) for line in lines)
