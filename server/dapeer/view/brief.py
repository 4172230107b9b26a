"""A short form of a snapshot. Pure."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass

from dapeer.view.activations import NOT_COMPARED
from dapeer.view.snapshot import Snapshot

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
class _Known:
    """What was shown to a reader of one frame."""

    stop: int
    lines: frozenset[int]
    """The lines of source."""
    locals: dict[str, str]


class Reader:
    """A reader of successive stops: facts of a frame that were shown are not repeated."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[object, ...], _Known] = OrderedDict()
        self._noted: OrderedDict[tuple[int, str], int] = OrderedDict()
        """By session and note: the stop at which the note on another call of a function was shown."""

    def mark_read(self, view: Snapshot) -> None:
        """Record that the reader was shown a whole snapshot; only one of a stopped program is recorded.

        It keeps the source lines and locals shown for the frame, and notes that are shown once; at most `MAX_REMEMBERED_PLACES` of each.
        """
        if view["state"] != "stopped":
            return
        for note in view.get("notes", ()):
            if note.endswith(NOT_COMPARED):
                self._noted.setdefault((view["session_id"], note), view.get("stop", 0))
        if len(self._noted) > MAX_REMEMBERED_PLACES:
            self._noted.popitem(last=False)
        place, lines = _place(view), set(map(int, _LINE.findall(view.get("source", ""))))
        if (before := self._known.pop(place, None)) is not None:
            lines |= before.lines
        shown = view.get("locals", {})
        self._known[place] = _Known(view.get("stop", 0), frozenset(lines), shown)
        if len(self._known) > MAX_REMEMBERED_PLACES:
            self._known.popitem(last=False)

    def unread(self, view: Snapshot) -> Snapshot:
        """Return a snapshot without what the reader was shown at an earlier stop in the same frame.

        Stack, unchanged locals and known source are left out, and a note says so; notes that are shown once are left out, too. A
        snapshot of the same stop, of an unknown frame, or of a program that is not stopped, stays whole otherwise. `view` is not
        changed.
        """
        view = self._with_news(view)
        known = self._known.get(_place(view))
        if view["state"] != "stopped" or known is None or known.stop == view.get("stop"):
            return view
        found, changed = view.get("locals", {}), view.get("changed", {})
        returned = {name for name in found if is_returned(name)}
        same = {name for name in found if known.locals.get(name) == found[name]}
        kept = brief(view)
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

    def _with_news(self, view: Snapshot) -> Snapshot:
        """Return a snapshot without the notes that are shown once and were shown at another stop.

        `view` itself is returned if there are none of those.
        """
        session, stop, notes = view["session_id"], view.get("stop"), view.get("notes", ())
        news = [note for note in notes if self._noted.get((session, note), stop) == stop]
        if len(news) == len(notes):
            return view
        kept = view.copy()
        kept.pop("notes")
        if news:
            kept["notes"] = news
        return kept


def _place(view: Snapshot) -> tuple[object, ...]:
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


def brief(view: Snapshot) -> Snapshot:
    """Return a short form of a stopped program's snapshot: location, current line, changes and events.

    Stack and locals are left out, except unchanged values that functions returned. `view` is not changed; it is returned itself if
    the program is not stopped.
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
        kept["source"] = marked(view["source"])
    if "notes" in view:
        kept["notes"] = [note for note in view["notes"] if not _OF_THEM.match(note)]
    return kept


def marked(source: str) -> str:
    r"""Return the line with an arrow of numbered source, without indentation; empty without such a line.

    >>> marked("  9 while a:\n→ 10     b()")
    '→ 10 b()'
    """
    lines = (line for line in source.splitlines() if line.startswith(_MARK))
    return "\n".join(_INDENT.sub(r"\1", line) for line in lines)
