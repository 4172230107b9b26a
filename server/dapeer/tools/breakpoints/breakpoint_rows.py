"""Breakpoints as they are told: each with its state in the adapters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dapeer.base.sources import line_text, relative
from dapeer.base.text.fitting import quoted
from dapeer.base.text.lines import lines_of
from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.dap.types import Breakpoint
from dapeer.sessions.breakpoints.breakpoints import answered, unsupported
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.outcomes.outcomes import MAX_LISTED_BREAKPOINTS, as_loaded
from dapeer.tools.base.call import Call
from dapeer.tools.base.collect_arguments import is_of_another
from dapeer.view import render

_TEXTS = (
    ("condition", "condition"),
    ("hit_condition", "hitCondition"),
    ("log_message", "logMessage"),
)
"""Our names of options that are texts, and DAP's."""


@dataclass(frozen=True, slots=True)
class BreakpointRow:
    """A breakpoint of the set, and its state in one adapter."""

    path: str
    requested: RequestedBreakpoint
    made: Breakpoint | None = None
    """None if no adapter has got it."""
    ignored: Sequence[str] = ()
    """Its options that the adapter does not heed."""
    session: int | None = None
    """The adapter of this state, if states differ."""
    edition: Sequence[str] | None = None
    """The lines that the program has loaded, where the file has other ones now."""
    old_code: str = ""
    """Where code of the text runs from before the program has loaded the file again."""
    sign: int | None = None
    """The line of its sign in a Neovim whose buffer has unsaved changes."""
    another: bool = False
    """Another client collects there."""

    @property
    def is_odd(self) -> bool:
        """Whether there is more to say of the breakpoint than its place and state.

        It was moved, has a message of the adapter or options that this ignores, differs between sessions, or its sign is on another line.
        """
        made = self.made or {}
        moved = made.get("line") not in (None, self.requested["line"])
        return bool(moved or made.get("message") or self.ignored or self.session or self.sign)

    def text(self, debugger: Debugger) -> str:
        """Return the breakpoint as one line: place, state, text of the line, options, and all that is odd."""
        line = self.requested["line"]
        actual = self.made.get("line") if self.made and self.made.get("verified") else None
        text = self._source(actual or line) if debugger.files.shows(self.path) else ""
        shown = render.breakpoint_line(self.requested, self.made, text)
        note = f" (this adapter does not support {', '.join(self.ignored)})" if self.ignored else ""
        where = f" (session {self.session})" if self.session is not None else ""
        where += " (of the source that the program has loaded)" if self.edition else ""
        where += f" ({self.old_code})" if self.old_code else ""
        where += f" (its sign is on line {self.sign} of the unsaved buffer)" if self.sign else ""
        where += " (of another assistant)" if self.another else ""
        return f"{relative(self.path, debugger.project)}:{shown}{note}{where}"

    def _source(self, line: int) -> str:
        """Return the text of a 1-based line as the program has loaded it, or as it is on disk.

        Empty: there is no such line.
        """
        if self.edition is None:
            return line_text(self.path, line)
        return self.edition[line - 1] if line <= len(self.edition) else ""

    def data(self) -> dict[str, Any]:
        """Return the breakpoint as data: `filename`, `line`, `state`, and the options that it has.

        What is odd about it has keys of its own.
        """
        facts = {
            **{
                name: quoted(str(given))
                for name, key in _TEXTS
                if (given := self.requested.get(key))
            },
            "column": self.requested.get("column"),
            "collect": [*map(quoted, self.requested.get("collect", ()))] or None,
            "max_hits": self.requested.get("maxHits"),
            "actual_line": self.made.get("line") if self.made else None,
            "message": self.made.get("message") if self.made else None,
            "not_supported": list(self.ignored) or None,
            "session": self.session,
            "of_another": self.another or None,
            "sign_line": self.sign,
        }
        state = render.breakpoint_state(self.made)
        given = {key: value for key, value in facts.items() if value is not None}
        return {"filename": self.path, "line": self.requested["line"], "state": state, **given}


def rows_of(
    call: Call, path: str, chosen: Sequence[RequestedBreakpoint] | None = None
) -> Iterator[BreakpointRow]:
    """Yield the breakpoints of a file with their states in the adapters.

    One row stands for all sessions if they agree, else there is one for each session that has the breakpoint. `path` is the file; `chosen`
    limits the rows to breakpoints that are equal to one of these and still in the set; None: all.
    """
    debugger = call.debugger
    living = [s for s in debugger.sessions.values() if not s.mirror.ended]
    # A session that leaves its program to a child never stops, and knows no line.
    stopping = [each for each in living if each in each.program.debugged]
    only = None if chosen is None else {each["line"]: each for each in chosen}
    for point in debugger.breakpoints.of(path):
        if only is not None and only.get(point["line"]) != point:
            continue
        sign = call.peers.sign(path, point["line"])
        plain = BreakpointRow(path, point, sign=sign, another=is_of_another(call, point))
        rows = {
            session.id: replace(
                plain,
                made=made,
                ignored=unsupported(session.mirror, point),
                edition=_edition(session, path),
                old_code=old.words if (old := session.inspect.editions.old(path)) else "",
            )
            for session in stopping
            if (made := _made(session, path, point)) is not None
        }
        facts = [row.data() for row in rows.values()]
        if all(each == facts[0] for each in facts):
            # Adapters mostly agree, but for numbers of their own.
            yield next(iter(rows.values()), plain)
        else:
            yield from (replace(row, session=number) for number, row in rows.items())


def rows_text(rows: Sequence[BreakpointRow], debugger: Debugger) -> str:
    """Return rows as text, a line each; of many only the odd ones, the others counted by state.

    All rows must be of one file. Empty without rows.
    """
    if len(rows) <= MAX_LISTED_BREAKPOINTS:
        return lines_of(row.text(debugger) for row in rows)
    odd = [row for row in rows if row.is_odd]
    states = Counter(render.breakpoint_state(row.made) for row in rows if not row.is_odd)
    place = relative(rows[0].path, debugger.project)
    lines = [f"{place}: {number:,} breakpoints {state}" for state, number in states.items()]
    lines += [row.text(debugger) for row in odd[:MAX_LISTED_BREAKPOINTS]]
    more = len(odd) - MAX_LISTED_BREAKPOINTS
    return lines_of([*lines, *([f"and {more:,} more: dap_breakpoints"] if more > 0 else [])])


def rows_data(rows: Sequence[BreakpointRow]) -> dict[str, Any]:
    """Return rows as data: `set` is their number, `breakpoints` has the data of each.

    If there are more than `MAX_LISTED_BREAKPOINTS`, only the first odd ones are among `breakpoints`.
    """
    shown = (
        rows
        if len(rows) <= MAX_LISTED_BREAKPOINTS
        else [row for row in rows if row.is_odd][:MAX_LISTED_BREAKPOINTS]
    )
    return {"set": len(rows), "breakpoints": [row.data() for row in shown]}


def _made(session: Session, path: str, requested: RequestedBreakpoint) -> Breakpoint | None:
    """Return the adapter's answer for a breakpoint in a session; None: the adapter has not got it."""
    return answered(session.mirror, path, as_loaded(session, path, requested))


def _edition(session: Session, path: str) -> Sequence[str] | None:
    """Return the lines of a file as the session's program has loaded it.

    None: they are those on disk, or not known to be others.
    """
    change = session.inspect.editions.known_change(path)
    return change.then if change else None
