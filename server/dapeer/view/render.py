"""Snapshots and lists as short text for a model or a person to read. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from dapeer.base.json_types import is_array
from dapeer.base.sources import relative_to_project
from dapeer.base.text.fitting import fitted, quoted, shortened
from dapeer.base.text.lines import indented, indented_after_first, lines_of
from dapeer.base.text.source_lines import cut_around
from dapeer.dap.requested_breakpoints import RequestedBreakpoint, RequestedFunction
from dapeer.dap.types import Breakpoint
from dapeer.mirror.frames import Frames
from dapeer.mirror.places import ThreadLocation
from dapeer.view.snapshot import KILLED, SOURCE_LINE, Snapshot
from dapeer.view.stacks import HEAD_NAME_CHARS


def snapshot(view: Snapshot, project: Path, *, only: bool = False) -> str:
    """Return the text of a snapshot, section by section, as an assistant or a person reads it.

    Paths are shown relative to `project`. `only` says that there is just one session, so its number is left out of the first line.
    Sections without content are left out.
    """
    head = {"stopped": _stopped, "ended": _ended}.get(view["state"], _running)
    parts = [
        head(view, project, _session_and_thread(view, only=only)),
        *(indented_after_first(f"Until: {each}") for each in view.get("until", ())),
        view.get("source", ""),
        _stack(view, project),
        _section("Locals", assignments(view.get("locals", {}))),
        _section(_changed(view), change_lines(view.get("changed", {}), view.get("locals", {}))),
        *(
            indented_after_first(f"Returned from {each}")
            for each in [view.get("returned", "")]
            if each
        ),
        *(indented_after_first(f"Raised in {each}") for each in [view.get("raised", "")] if each),
        _section("Values", values(view)),
        # What waits for what says most of where threads and tasks are.
        _section("Deadlock", view.get("deadlock", ())),
        _section("Waits", view.get("waits", ())),
        _section("Threads", view.get("threads", ())),
        _section("Tasks", view.get("tasks", ())),
        _section("Collected", view.get("collected", ())),
        _section("Log points", view.get("logged", ())),
        _output(view),
        *map(indented_after_first, outcomes(view.get("breakpoints", {}))),
        *(indented_after_first(f"({note})") for note in view.get("notes", ())),
    ]
    return "\n".join(part for part in parts if part)


def _stack(view: Snapshot, project: Path) -> str:
    """Return the section of the stack, with what its brackets mean (ids of frames); empty without lines.

    If the first line of the stack is the place of the snapshot itself, it is left out, and the title is
    `Called by`; otherwise the title is `Stack`. ` [id]` follows the title if a line ends with a bracket. The
    snapshot's own file is not repeated in the lines: `main :36` is in that file. Paths in `view["stack"]` are
    relative to `project` already.
    """
    path = relative_to_project(view.get("file", ""), project)
    lines = list(view.get("stack", ()))
    called = lines[:1] == [f"{view.get('function')} {path}:{view.get('line')}"]
    lines = [line.replace(f" {path}:", " :") for line in lines[called:]]
    ids = any(line.endswith("]") for line in lines)
    return _section(f"{'Called by' if called else 'Stack'}{' [id]' if ids else ''}", lines)


def _changed(view: Snapshot) -> str:
    """Return the title of the section with changed variables."""
    return "Changed, perhaps in another call" if view.get("perhaps_another_call") else "Changed"


def outcomes(by_state: Mapping[str, Sequence[str]]) -> Iterable[str]:
    """Yield a line for each state of breakpoints that did not work as requested, with their places."""
    return (f"{state.capitalize()}: {', '.join(places)}" for state, places in by_state.items())


def _stopped(view: Snapshot, project: Path, which: str) -> str:
    """Return the first lines of a stopped program's text: why and where it has stopped, and its exception.

    `view` is what is shown of the program; of its `reason`, `description`, `file`, `line`, `function` and
    `exception` any may be missing, and is left out; `line` is left out without `file`. The file is shown relative to the folder `project` if it is in
    that. `which` names session and thread; it is empty or begins with a space.
    """
    place = location(view.get("file", ""), view.get("line"), view.get("function", ""), project)
    why = ": ".join(filter(None, (view.get("reason"), view.get("description"))))
    head = f"Stopped{f' ({why})' if why else ''}{place}{which}"
    lines = [
        indented_after_first(head),
        *(indented(each) for each in [view.get("exception", "")] if each),
    ]
    return "\n".join(lines)


def _ended(view: Snapshot, project: Path, which: str) -> str:
    """Return the first lines of an ended program's text: exit code, cause, and the last error it printed.

    `which` names session and thread; it is empty or begins with a space. Paths are shown relative to
    `project`. An exit code that is not known is said to be unknown, unless a signal has killed the program. A
    program that a tool has ended, without an exit code, gets one line that names the tool.
    """
    cause = view.get("cause", "")
    unknown = "" if cause.startswith(KILLED) else "exit code unknown"
    code = f"exit code {view['exit_code']}" if "exit_code" in view else unknown
    if cause.startswith("ended by") and "exit_code" not in view:
        return indented_after_first(f"E{cause[1:]}{which}")
    head = f"Ended{f', {code}' if code else ''}{f': {cause}' if cause else ''}{which}"
    if "file" not in view and "exception" not in view:
        return indented_after_first(head)
    exception = f": {view['exception']}" if "exception" in view else ""
    place = location(view.get("file", ""), view.get("line"), "", project)
    return lines_of([head, f"Error{place}{exception}"])


def _running(view: Snapshot, _project: Path, which: str) -> str:
    """Return the text on a program that runs, or whose pause is pending, and what to do next.

    `which` names session and thread; it is empty or begins with a space.
    """
    if view.get("pausing"):
        return (
            f"Not stopped yet{which}: all its threads are blocked, or run native code. The pause is pending: the program stops as soon as one "
            "runs on; dap_wait_until_paused waits for that. Until then dap_threads and dap_stacktrace show where they are"
            f"{', dap_variables and dap_evaluate what their frames hold' if 'frame_id' in str(view.get('threads')) else ''}."
        )
    return (
        f"Still {view['state']}{which}. "
        "Wait on with dap_wait_until_paused, or stop it with dap_pause."
    )


def _session_and_thread(view: Snapshot, *, only: bool) -> str:
    """Return ` [session 2, thread 3]` for what distinguishes a snapshot; empty if nothing does.

    The session's number is left out with `only`, the thread's unless another thread than the program's first is shown.
    """
    parts = [] if only else [f"session {view['session_id']}"]
    parts += [f"child of {view['parent']}"] if "parent" in view else []
    parts += [f"thread {view.get('thread_id')}"] if view.get("other_thread") else []
    return f" [{', '.join(parts)}]" if parts else ""


def location(path: str, line: int | None, function: str, project: Path) -> str:
    """Return ` at FILE:LINE in FUNCTION` with what is known of these; empty strings and None are left out.

    The path is shown relative to `project`.

    >>> location("/p/a.py", 3, "f", Path("/p"))
    ' at a.py:3 in f'
    >>> location("/p/a.py", None, "f", Path("/p"))
    ' at a.py in f'
    """
    number = "" if line is None else f":{line}"
    place = f" at {relative_to_project(path, project)}{number}" if path else ""
    return place + (f" in {function}" if function else "")


def place_of_thread(each: ThreadLocation, frames: Frames, project: Path) -> str:
    """Return where a thread or task is, such as ` at a.py:3 in f, inside g`; empty without frames.

    The text begins with a space, and names the innermost frame of the user's code, or without one the innermost
    frame; without a path it only names the function. For a thread, `inside` names the innermost frame; for a task
    (no `thread_id`), the frame that the named frame has called. `inside` is left out if that is the named frame
    itself. `frames` knows which frames are the user's: their paths are shown relative to `project`, those of others
    from within the library.
    """
    if not each.frames:
        return ""
    frame = frames.innermost_users_frame(each.frames) or each.frames[0]
    # What a task awaits is known by the name under which it is called.
    called = list(each.frames).index(frame) - 1 if each.thread_id is None else 0
    top = each.frames[max(called, 0)]
    path = str(frame.get("source", {}).get("path") or "")
    path = path if frames.is_users(frame) else frames.path_in_library(path)
    inside = f", inside {shortened(top['name'], HEAD_NAME_CHARS)}" if top is not frame else ""
    return (
        location(path, frame["line"], shortened(frame["name"], HEAD_NAME_CHARS), project) + inside
    )


MAX_LISTED_VALUES = 20
"""Values of an option that are told."""


def assignments(values: Mapping[str, str]) -> list[str]:
    """Return a line `NAME = VALUE` for each value."""
    return [f"{name} = {value}" for name, value in values.items()]


def change_lines(
    changed: Mapping[str, Sequence[str | None]], shown: Collection[str] = ()
) -> list[str]:
    """Return a line for each changed variable: `name: before → after`, or `name = value (new)`.

    `changed` has both values by name; None before says that the variable is new. A new one whose name is in
    `shown`, because its value stands elsewhere, gives `name: new`. A name that begins with `(`, as that of a return
    value, goes without `(new)` after its value.

    >>> change_lines({"a": ["1", "2"], "b": [None, "3"], "c": [None, "4"]}, {"b"})
    ['a: 1 → 2', 'b: new', 'c = 4 (new)']
    """
    return [
        f"{name}: {old} → {new}"
        if old is not None
        else f"{name}: new"
        if name in shown
        else f"{name} = {new}{_new(name)}"
        for name, (old, new) in changed.items()
    ]


def _new(name: str) -> str:
    # A return value is always new.
    return "" if name.startswith("(") else " (new)"


def values(view: Snapshot) -> list[str]:
    """Return a line for each expression that the caller asked for: its value, or why it has none."""
    failed = [f"{expression}: {why}" for expression, why in view.get("failed", {}).items()]
    return assignments(view.get("values", {})) + failed


def breakpoint_line(requested: RequestedBreakpoint, made: Breakpoint | None, text: str) -> str:
    """Return a breakpoint as one line: line number, state, adapter's message, options, and source text.

    The number is followed by `:COLUMN` if a column was requested, and the state by the line to which the adapter
    has moved the breakpoint; the file is not named. `requested` is the breakpoint as it was set. `made` is the
    breakpoint of the adapter's response, None if no session has got it yet. `text` is the source line, or empty; it
    is stripped, and cut around the column if there is one.
    """
    line = requested["line"]
    state = breakpoint_state(made)
    actual = made.get("line") if made else None
    moved = f", moved to line {actual}" if actual not in (None, line) else ""
    reason = made.get("message") if made else None
    message = f": {reason}" if reason else ""
    column = requested.get("column", 0)
    shown = cut_around(text, column, SOURCE_LINE) if column else text
    place = f"{line}:{column}" if column else f"{line}"
    return f"{place} {state}{moved}{message}{options(requested)}" + (
        f" | {shown.strip()}" if shown.strip() else ""
    )


def options(requested: RequestedBreakpoint | RequestedFunction) -> str:
    """Return the options of a breakpoint, such as ` (if n > 3; hits 2)`; empty if it has none.

    `expect` is shown in place of `collect`. Lists are cut to `MAX_LISTED_VALUES`.
    """
    parts = [
        f"{label} {_option(value)}"
        for key, label in _OPTIONS
        if (value := requested.get(key)) not in (None, [])
        and not (key == "collect" and "expect" in requested)
    ]
    return f" ({'; '.join(parts)})" if parts else ""


def _option(value: object) -> str:
    """Return the value of one option as text, shortened; the values of a list are separated by commas."""
    return (
        ", ".join(quoted(str(each)) for each in value[:MAX_LISTED_VALUES])
        if is_array(value)
        else quoted(f"{value}")
    )


_OPTIONS = (
    ("condition", "if"),
    ("hitCondition", "hits"),
    ("logMessage", "logs"),
    ("expect", "expects"),
    ("collect", "collects"),
    ("maxHits", "at most"),
)


def breakpoint_state(made: Breakpoint | None) -> str:
    """Return `verified`, `pending` or `rejected`; if `made` is None, that it is waiting for a session."""
    return "waiting for a session" if made is None else answered_state(made)


def answered_state(made: Breakpoint) -> Literal["verified", "pending", "rejected"]:
    """Return whether an adapter's breakpoint is `verified`, `pending` or `rejected`.

    An adapter that says "not verified" without a reason will often verify the breakpoint when the code is loaded, so it is pending.
    """
    if made.get("verified"):
        return "verified"
    return "rejected" if made.get("message") and not _is_pending(made) else "pending"


_PENDING = ("pending", "unbound", "provisional", "locations: 0")
"""Messages of adapters that lack `reason`, which is new in DAP."""


def _is_pending(made: Breakpoint) -> bool:
    """Return whether an adapter's reason or message says that the breakpoint may be verified later."""
    message = str(made.get("message")).lower()
    return made.get("reason") == "pending" or any(word in message for word in _PENDING)


def _section(title: str, lines: Sequence[str]) -> str:
    """Return a section: its title, and its lines indented below; empty if there are no lines."""
    return (
        "\n".join([f"{title}:", *(indented(indented_after_first(line)) for line in lines)])
        if lines
        else ""
    )


def _output(view: Snapshot) -> str:
    """Return the section of the program's new output, each line indented; empty if there is none.

    It begins with the line `Output:`, and has no line end at its end.
    """
    printed = view.get("output", "")
    return (
        "Output:\n"
        + "".join(f"  {line}" for line in printed.splitlines(keepends=True)).rstrip("\n")
        if printed
        else ""
    )


def value(text: str, limit: int, hint: str) -> str:
    """Return a value's text, cut to about `limit` characters; only if it was cut, with `hint` below.

    >>> value("abc", 10, "ask again")
    'abc'
    """
    return text if len(text) <= limit else f"{fitted(text, limit)}\n({hint})"
